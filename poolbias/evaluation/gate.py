"""The gate before training: a retriever must reach what it is known to reach."""

import re
from typing import Any

import pandas as pd

from poolbias.errors import DataError
from poolbias.evaluation.measures import evaluate, missing

CAUSES = (
    "the wrong qrels file",
    "a list that is not ranked",
    "the wrong depth",
    "an Indri run in BM25's place",
    "grade ≥ 1 against ≥ 2 as relevant",
)


def check(
    run: pd.DataFrame, qrels: pd.DataFrame, expected: dict[str, Any], where: str
) -> dict[str, float]:
    """Return the value that a run reaches, if it is the one expected.

    Args:
        run: columns `query_id`, `document_id`, `score`.
        qrels: columns `query_id`, `document_id`, `grade`, of the queries that count.
        expected: `measure`, `value` and the `tolerance` within which it is reached.
        where: what is measured, for the message.

    Returns:
        `found`, `expected` and `tolerance`.

    Raises:
        DataError: naming both values, what was noticed and what are likely causes, if it is not.
    """
    measure, value, tolerance = (expected[name] for name in ("measure", "value", "tolerance"))
    found = _mean(run, qrels, measure)
    # a float has no exact tenths: what is off by the tolerance itself passes
    if abs(found - value) <= tolerance + 1e-12:
        return {"found": found, "expected": value, "tolerance": tolerance}
    noticed = [*_notices(run, qrels, measure, value, tolerance)]
    told = f"noticed: {'; '.join(noticed)}; " if noticed else ""
    raise DataError(
        f"{where}: {measure} is {found:.4f}, need {value:.4f} within {tolerance:g}; {told}likely "
        f"causes: {', '.join(CAUSES)}; mend the run or correct `expected`."
    )


def _notices(
    run: pd.DataFrame, qrels: pd.DataFrame, measure: str, value: float, tolerance: float
) -> list[str]:
    """Return what is seen of the likely causes."""
    noticed = []
    lacking = len(missing(run, qrels))
    if lacking:
        noticed.append(
            f"{lacking} of {qrels['query_id'].nunique()} judged queries have no list (qrels of "
            "other queries?)"
        )
    cut = re.search(r"@(\d+)$", measure)
    deepest = int(run.groupby("query_id").size().max())
    if cut and deepest < int(cut[1]):
        noticed.append(f"the deepest list has {deepest} documents, {measure} looks at {cut[1]}")
    scores = run.groupby("query_id")["score"]
    if (scores.nunique() == 1).mean() > 0.5 and deepest > 1:
        noticed.append("most lists have one score throughout, so they are not ranked")
    bare = re.sub(r"\(rel=\d+\)", "", measure)
    for grade in (1, 2):
        other = bare if grade == 1 else re.sub(r"^(\w+)", rf"\1(rel={grade})", bare)
        if bare.startswith(("R@", "RR", "P@", "AP", "Success")) and other != measure:
            there = _mean(run, qrels, other)
            if abs(there - value) <= tolerance and (qrels["grade"] >= grade).any():
                noticed.append(f"with grade ≥ {grade} as relevant it is {there:.4f}")
    return noticed


def _mean(run: pd.DataFrame, qrels: pd.DataFrame, measure: str) -> float:
    return float(evaluate(run, qrels, [measure])["value"].mean())
