"""MS MARCO passages and documents, with the test queries of TREC Deep Learning.

Judgements are the official ones. Documents' texts are url, title and body, or some of them, joined
in the order and by the separator of the study file and cut to its number of characters (rankers
read the beginning: FirstP). Dev queries of the study are training queries held out by keyed draws,
so that nothing is ever chosen on queries that are tested.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from poolbias.collections.given import Given, found, query_texts
from poolbias.errors import DataError
from poolbias.formats.texts import (
    Texts,
    one_line,
    read_judgements,
    read_texts,
    read_trec_records,
    repaired,
)

# Counts of the official files, by the names of a collection's statistics.
PASSAGES = {
    "documents": 8_841_823,
    "judged_queries_of_train": 502_939,
    "judgements_of_train": 532_761,
    "judged_queries_of_dev-small": 6_980,
    "judged_queries_of_trec-dl-2019": 43,
    "judgements_of_trec-dl-2019": 9_260,
    "judged_queries_of_trec-dl-2020": 54,
    "judgements_of_trec-dl-2020": 11_386,
}
DOCUMENTS = {
    "documents": 3_213_835,
    "judged_queries_of_train": 367_013,
    "judged_queries_of_dev": 5_193,
    "judged_queries_of_trec-dl-2019": 43,
    "judgements_of_trec-dl-2019": 16_258,
    "judged_queries_of_trec-dl-2020": 45,
}
PARTS = ("url", "title", "body")


def build(parameters: Mapping[str, Any], sources: Sequence[Path]) -> Given:
    """Return the collection of a `msmarco-passage` or `msmarco-document` section.

    Args:
        parameters: what the study file says, `kind` among it.
        sources: the official files, known by their names; archives as unpacked folders.

    Raises:
        DataError: as the readers do, or if a file is not there.
    """
    if parameters["kind"] == "msmarco-passage":
        texts, queries, judgements = _short_texts(parameters, sources)
        expected = PASSAGES
    else:
        texts, queries, judgements = _documents(parameters, sources)
        expected = DOCUMENTS
    if parameters["repair"] == "mojibake":
        texts = ((name, repaired(text)) for name, text in texts)
    sets = {"train", *sets_of(parameters)}
    counted = {
        name: number
        for name, number in expected.items()
        if name == "documents" or name.partition("_of_")[2] in sets
    }
    return Given(
        texts,
        query_texts(chain.from_iterable(read_texts(path) for path in queries)),
        {name: read_judgements(path) for name, path in judgements.items()},
        list(parameters["test"]),
        [name for name in sets_of(parameters) if name not in parameters["test"]],
        expected=counted if parameters["check"] else {},
    )


def sets_of(parameters: Mapping[str, Any]) -> list[str]:
    """Return the sets of queries besides those for training: tested ones, and for estimates."""
    more = parameters["estimation"]
    tested = list(parameters["test"])
    return tested + ([more] if more and more not in tested else [])


def documents_of(path: Path, parts: Sequence[str], separator: str, characters: int | None) -> Texts:
    """Yield (id, text) of msmarco-docs.trec: url, title and body, a line each, then the rest.

    Raises:
        DataError: naming file and line for a record without these.
    """
    for where, identity, lines in read_trec_records(path):
        if len(lines) < 2:
            raise DataError(f"{where}: need url, title and body in <TEXT>; get the file anew.")
        held = {"url": lines[0], "title": lines[1], "body": " ".join(lines[2:])}
        texts = [one_line(held[part]) for part in parts]
        yield identity, separator.join(text for text in texts if text)[:characters]


def _short_texts(
    parameters: Mapping[str, Any], sources: Sequence[Path]
) -> tuple[Texts, list[Path], dict[str, Path]]:
    official = {
        "train": ("queries.train.tsv", "qrels.train.tsv"),
        "dev-small": ("queries.dev.small.tsv", "qrels.dev.small.tsv"),
    }
    queries, judgements = _judged(parameters, sources, official, "qrels-pass.txt")
    return read_texts(found(sources, "collection.tsv")), queries, judgements


def _documents(
    parameters: Mapping[str, Any], sources: Sequence[Path]
) -> tuple[Iterator[tuple[str, str]], list[Path], dict[str, Path]]:
    official = {
        split: (f"msmarco-doc{split}-queries.tsv.gz", f"msmarco-doc{split}-qrels.tsv.gz")
        for split in ("train", "dev")
    }
    queries, judgements = _judged(parameters, sources, official, "qrels-docs.txt")
    texts = documents_of(
        found(sources, "msmarco-docs.trec.gz"),
        parameters["fields"],
        parameters["separator"],
        parameters["characters"],
    )
    return texts, queries, judgements


def _judged(
    parameters: Mapping[str, Any],
    sources: Sequence[Path],
    official: Mapping[str, tuple[str, str]],
    ending: str,
) -> tuple[list[Path], dict[str, Path]]:
    """Return the files of queries, and those of judgements by their set.

    Args:
        parameters: of the collection.
        sources: its files.
        official: names of the files of MS MARCO's own sets: queries, judgements.
        ending: of the names of TREC Deep Learning's judgements, behind the year.
    """
    queries, judgements = [], {}
    for name in ("train", *sets_of(parameters)):
        year = name[-4:]
        trec = (f"msmarco-test{year}-queries.tsv.gz", f"{year}{ending}")
        asked, judged = official.get(name, trec)
        queries.append(found(sources, asked))
        judgements[name] = found(sources, judged)
    return queries, judgements
