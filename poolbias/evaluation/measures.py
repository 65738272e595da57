"""Measures per query, their means, and the queries that a run lacks."""

import difflib
import logging
import math
from collections.abc import Sequence
from pathlib import Path

import ir_measures
import pandas as pd

from poolbias.errors import ConfigError, DataError
from poolbias.formats.tsv import read_table
from poolbias.ranking import canonical

log = logging.getLogger("poolbias")

# Two providers, both in this process: an extra that happens to be installed answers nothing.
_PROVIDERS = ir_measures.providers.FallbackProvider([ir_measures.pytrec_eval, ir_measures.msmarco])


def evaluate(run: pd.DataFrame, qrels: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """Compute measures for every judged query.

    The providers behind ir-measures break ties differently (pytrec_eval by descending, MS MARCO by
    ascending document id) and keep the last of duplicates, so they are given the canonical rank,
    negated, as the score: strictly decreasing, so that no provider has anything left to decide.

    Every query with at least one row in `qrels` counts, as in MS MARCO's official evaluation: a
    query missing from the run counts 0 (and is logged), and so does a query that is judged but has
    no relevant document. Queries of the run that are not judged are left out.

    Args:
        run: columns `query_id`, `document_id`, `score`, in any order of rows.
        qrels: columns `query_id`, `document_id`, `grade` (a whole number; relevant from 1 up).
        measures: names as ir-measures spells them (`RR@10`, `nDCG@100`, `RR(rel=2)@10`).

    Returns:
        A frame with columns `query_id` (str), `measure` (str) and `value` (float64), sorted by
        query id, measures in the given order.

    Raises:
        ConfigError: for a measure that is unknown, unsupported or spelled otherwise.
        DataError: as `canonical`; if a document is judged twice for one query; if run and qrels
            share no query.
    """
    parsed = {str(name): _parse(str(name)) for name in measures}
    judgements = _judgements(qrels)
    ranked = canonical(run)
    ranked = ranked[ranked["query_id"].isin(list(judgements))]
    if ranked.empty:
        raise DataError(
            f"run and judgements share no query (first judged: {next(iter(judgements), 'none')}, "
            f"first of the run: {next(iter(run['query_id']), 'none')}); "
            "give the run and the judgements of the same queries."
        )
    _log_missing(sorted(judgements.keys() - set(ranked["query_id"])))
    documents: dict[str, dict[str, float]] = {}
    rows = zip(ranked["query_id"], ranked["document_id"], ranked["rank"], strict=True)
    for query, document, rank in rows:
        documents.setdefault(query, {})[document] = -float(rank)
    found = {
        (metric.query_id, metric.measure): float(metric.value)
        for metric in _PROVIDERS.iter_calc(list(parsed.values()), judgements, documents)
    }
    table = [
        (query, name, found[query, measure])
        for query in sorted(judgements)
        for name, measure in parsed.items()
    ]
    return pd.DataFrame(table, columns=["query_id", "measure", "value"]).astype(
        {"query_id": "str", "measure": "str", "value": "float64"}
    )


def missing(run: pd.DataFrame, qrels: pd.DataFrame) -> list[str]:
    """Return the ids of the judged queries without a document in the run, sorted as text.

    Args:
        run: column `query_id`.
        qrels: column `query_id`.
    """
    return sorted(set(qrels["query_id"].astype("str")) - set(run["query_id"].astype("str")))


def summarise(per_query: pd.DataFrame) -> pd.DataFrame:
    """Average measures over queries.

    Args:
        per_query: what `evaluate` returns.

    Returns:
        A frame with columns `measure`, `mean` (float64, exactly rounded, so that the rows' order
        cannot change it) and `queries` (int64), a row per measure in order of appearance.
    """
    rows = [
        (measure, math.fsum(rows["value"]) / len(rows), len(rows))
        for measure, rows in per_query.groupby("measure", sort=False)
    ]
    return pd.DataFrame(rows, columns=["measure", "mean", "queries"])


def read_per_query(path: Path | str) -> pd.DataFrame:
    """Read a per-query file (`query_id`, `measure`, `value`) as `evaluate` returned it.

    Raises:
        DataError: naming file and line for a missing column or a value that is not a number.
    """
    frame = read_table(path, ["query_id", "measure", "value"])
    values = pd.to_numeric(frame["value"], errors="coerce")
    if values.isna().any():
        row = int(values.isna().to_numpy().argmax())
        raise DataError(
            f"{path}:{row + 2}: value is {frame['value'].iloc[row]!r}, need a number; "
            "evaluate this ranking again."
        )
    return frame.assign(value=values.astype("float64"))


def _parse(name: str) -> ir_measures.Measure:
    try:
        measure = ir_measures.parse_measure(name)
        measure.validate_params()
        is_mean = isinstance(measure.aggregator(), ir_measures.MeanAgg)
        known = is_mean and _PROVIDERS.supports(measure) and measure.params.get("cutoff", 1) >= 1
    except (NameError, ValueError, AssertionError, TypeError, KeyError):
        known = False
    if not known:
        raise ConfigError(
            f"measures: {name!r} is not a measure that can be averaged over queries here; "
            f"write one such as {', '.join(_near(name))}."
        )
    if str(measure) != name:
        raise ConfigError(f"measures: {name!r} is spelled {str(measure)!r}; write that.")
    return measure


def _near(name: str) -> list[str]:
    """Return measures that can be computed and are spelled nearly like `name`, or common ones."""
    common = ["RR@10", "RR@100", "nDCG@10", "nDCG@100", "R@100", "P@10", "AP", "Success@10"]
    lower = {known.lower(): known for known in common}
    aliases = {"mrr": "RR@10", "recall": "R@100", "map": "AP", "precision": "P@10"}
    stem = name.lower().split("@")[0].split("(")[0].strip()
    if stem in aliases:
        return [aliases[stem]]
    near = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)
    return [lower[word] for word in near] or common


def _judgements(qrels: pd.DataFrame) -> dict[str, dict[str, int]]:
    judgements: dict[str, dict[str, int]] = {}
    ids = zip(qrels["query_id"].astype("str"), qrels["document_id"].astype("str"), strict=True)
    for (query, document), grade in zip(ids, qrels["grade"], strict=True):
        documents = judgements.setdefault(query, {})
        if document in documents:
            raise DataError(
                f"judgements: document {document} is judged twice for query {query}, need each "
                "once; keep one of the rows."
            )
        documents[document] = int(grade)
    return judgements


def _log_missing(queries: list[str]) -> None:
    if queries:
        log.warning(
            "%d judged queries have no document in the run and count 0 (first: %s)",
            len(queries),
            ", ".join(queries[:5]),
        )
