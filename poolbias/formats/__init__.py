"""Readers and writers of the field's file formats; every reader checks and names file and line."""

from poolbias.formats.trec import read_qrels, read_run, write_qrels, write_run

__all__ = ["read_qrels", "read_run", "write_qrels", "write_run"]
