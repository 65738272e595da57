"""Natural Questions and TriviaQA in DPR's files, and MS MARCO passages in RocketQA's.

DPR's records have no ids: they are numbered (`train-0`, ...). A record's labels are its positive
contexts, the first alone or all of them, by option. Records without a positive are left out
(`records_without_positive_of_<set>`).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from poolbias.collections.given import Given, found, query_texts
from poolbias.errors import DataError
from poolbias.formats.texts import (
    Texts,
    checked,
    one_line,
    read_columns,
    read_json_array,
    read_judgements,
    read_texts,
)

DOCUMENTS = 21_015_324
RECORDS = {"nq": 58_880, "triviaqa": 78_785}  # of training
FILES = {"nq": "biencoder-nq", "triviaqa": "biencoder-trivia"}


def build(parameters: Mapping[str, Any], sources: Sequence[Path]) -> Given:
    """Return the collection of a `nq`, `triviaqa` or `ms-pas` section.

    Args:
        parameters: what the study file says, `kind` among it.
        sources: its files, known by their names.

    Raises:
        DataError: for a file that is missing or of another shape.
    """
    kind = parameters["kind"]
    if kind == "ms-pas":
        return _titled(parameters, sources)
    queries: dict[str, str] = {}
    statistics: dict[str, Any] = {}
    judgements = {}
    for name in ("train", "dev"):
        path = found(sources, f"{FILES[kind]}-{name}.json.gz")
        rows = list(read_records(path, name, parameters["positives"], queries, statistics))
        judgements[name] = rows
    expected = {"documents": DOCUMENTS, "records_of_train": RECORDS[kind]}
    return Given(
        read_wikipedia(found(sources, "psgs_w100.tsv.gz")),
        queries,
        judgements,
        ["dev"],
        statistics=statistics,
        expected=expected if parameters["check"] else {},
    )


def read_wikipedia(path: Path) -> Texts:
    """Yield (id, title and text) of psgs_w100.tsv: a header, then id, text, title.

    Raises:
        DataError: naming file and line for another number of columns.
    """
    for number, columns in read_columns(path, 3):
        if number == 1 and columns[0] == "id":
            continue
        text = one_line(columns[1].strip('"').replace('""', '"'))
        yield checked(columns[0], f"{path}:{number}"), f"{one_line(columns[2])} {text}"


def read_records(
    path: Path, name: str, positives: str, queries: dict[str, str], statistics: dict[str, Any]
) -> Iterator[tuple[str, str, int]]:
    """Yield the labels of one of DPR's files; fill `queries` and `statistics`.

    Args:
        path: the JSON array.
        name: the set, with which queries' ids begin.
        positives: `first` or `all` of a record's positive contexts.
        queries: gets texts by id.
        statistics: gets two counts.

    Raises:
        DataError: naming the member that is of another shape.
    """
    records = lacking = 0
    for number, record in enumerate(read_json_array(path)):
        records += 1
        try:
            asked = one_line(str(record["question"]))
            contexts = [
                str(context["passage_id"] if "passage_id" in context else context["psg_id"])
                for context in record["positive_ctxs"]
            ]
        except (KeyError, TypeError) as error:
            raise DataError(
                f"{path}: member {number + 1} lacks {error}, need question and positive_ctxs with "
                "passage_id or psg_id; get the file anew."
            ) from error
        if not contexts:
            lacking += 1
            continue
        query = f"{name}-{number}"
        queries[query] = asked
        chosen = contexts[:1] if positives == "first" else dict.fromkeys(contexts)
        yield from ((query, document, 1) for document in chosen)
    statistics[f"records_of_{name}"] = records
    statistics[f"records_without_positive_of_{name}"] = lacking


def _titled(parameters: Mapping[str, Any], sources: Sequence[Path]) -> Given:
    train = list(read_judgements(found(sources, "qrels.train.tsv")))
    if parameters["additional"]:
        train += read_judgements(found(sources, "qrels.train.addition.tsv"))
    texts = (
        pair
        for name in ("train.query.txt", "dev.query.txt")
        for pair in read_texts(found(sources, name))
    )
    return Given(
        join_titles(
            found(sources, "para.txt"), found(sources, "para.title.txt"), parameters["separator"]
        ),
        query_texts(texts),
        {
            "train": list(dict.fromkeys(train)),
            "dev": read_judgements(found(sources, "qrels.dev.tsv")),
        },
        ["dev"],
        expected={"documents": 8_841_823, "judged_queries_of_dev": 6_980}
        if parameters["check"]
        else {},
    )


def join_titles(texts: Path, titles: Path, separator: str) -> Texts:
    """Yield (id, title and text) of two files that hold the same ids in the same order.

    Raises:
        DataError: naming the first line where they do not.
    """
    pairs = zip(read_columns(texts, 2), read_columns(titles, 2), strict=False)
    for (number, text), (_, title) in pairs:
        if text[0] != title[0]:
            raise DataError(
                f"{titles}:{number}: found id {title[0]}, need {text[0]} as in {texts.name}; get "
                "both anew."
            )
        parts = (one_line(title[1]), one_line(text[1]))
        yield checked(text[0], f"{texts}:{number}"), separator.join(filter(None, parts))
