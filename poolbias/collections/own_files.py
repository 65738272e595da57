"""The user's own files: a folder in BEIR's layout, files named one by one, or `ir_datasets`."""

import importlib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from poolbias.collections.given import Given, query_texts
from poolbias.errors import ConfigError, ToolError
from poolbias.formats.texts import one_line, read_judgements, read_texts, repaired

SPLITS = ("train", "dev", "test")


def build(parameters: Mapping[str, Any], sources: Sequence[Path] = ()) -> Given:
    """Return the collection of a `beir`, `files` or `ir_datasets` section.

    Args:
        parameters: what the study file says, `kind` among it.
        sources: the files of `beir` (known by their names) and `files` (in the order documents,
            queries, judgements of train, dev, test, those there are).

    Raises:
        DataError: as the readers do, or for a query id that stands twice.
        ToolError: if ir_datasets is not installed.
    """
    make = {"beir": _beir, "files": _files, "ir_datasets": _package}[parameters["kind"]]
    given = make(parameters, sources)
    if parameters["repair"] == "mojibake":
        given.documents = ((name, repaired(text)) for name, text in given.documents)
        given.queries = {name: repaired(text) for name, text in given.queries.items()}
    return given


def _beir(parameters: Mapping[str, Any], sources: Sequence[Path]) -> Given:
    by_name = {path.name.removesuffix(".gz"): path for path in sources}
    stem = f"{parameters['prefix']}-" if parameters["prefix"] else ""
    judgements = {
        split: read_judgements(by_name[name])
        for split in SPLITS
        if (name := f"{parameters[split]}.tsv") in by_name
    }
    return Given(
        read_texts(by_name["corpus.jsonl"], ("title", "text"), parameters["separator"]),
        query_texts(read_texts(by_name[f"{stem}queries.jsonl"], ("text",))),
        judgements,
        ["test"],
    )


def _files(parameters: Mapping[str, Any], sources: Sequence[Path]) -> Given:
    rest = list(sources)
    documents = [rest.pop(0) for _ in parameters["documents"]]
    queries = [rest.pop(0) for _ in parameters["queries"]]
    splits = [split for split in SPLITS if parameters[split]]
    return Given(
        chain.from_iterable(read_texts(path) for path in documents),
        query_texts(chain.from_iterable(read_texts(path, ("text",)) for path in queries)),
        {split: read_judgements(path) for split, path in zip(splits, rest, strict=True)},
        ["test"],
    )


def _package(parameters: Mapping[str, Any], sources: Sequence[Path]) -> Given:
    try:
        package = importlib.import_module("ir_datasets")
    except ImportError as error:
        raise ToolError(
            "ir_datasets: is not installed; run `pip install ir_datasets`, or take the files by "
            "kind: files."
        ) from error
    loaded = {}
    for split in SPLITS:
        if name := parameters[split]:
            try:
                loaded[split] = package.load(name)
            except KeyError as error:
                raise ConfigError(f"{split}: ir_datasets has no {name!r}; correct it.") from error
    lacking = [
        f"{parameters[split]} has no {what}"
        for split, found in loaded.items()
        for what in ("qrels", "queries", *(["docs"] if split == "test" else []))
        if not getattr(found, f"has_{what}")()
    ]
    if lacking:
        raise ConfigError(f"ir_datasets: {lacking[0]}, which it needs here; name another id.")
    texts = (
        (query.query_id, one_line(query.default_text()))
        for found in loaded.values()
        for query in found.queries_iter()
    )
    return Given(
        ((item.doc_id, one_line(item.default_text())) for item in loaded["test"].docs_iter()),
        query_texts(texts),
        {
            split: ((row.query_id, row.doc_id, row.relevance) for row in found.qrels_iter())
            for split, found in loaded.items()
        },
        ["test"],
    )
