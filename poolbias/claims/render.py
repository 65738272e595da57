"""The table of claims as Markdown: verdicts first, then the numbers of each claim."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from poolbias.claims.verdict import VERDICTS

_SIDES = {"above": "above {0}", "below": "below {0}", "within": "within ±{0}"}


def markdown(frame: pd.DataFrame, study: str) -> str:
    """Return the columns of `poolbias.claims.build.COLUMNS` as a page."""
    return "\n".join([*_head(frame, study), *_claims(frame)])


def counts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how often each verdict stands, columns `VERDICTS`, a row per claim in their order."""
    table = pd.crosstab(frame["claim"], frame["verdict"])
    return table.reindex(index=frame["claim"].unique(), columns=list(VERDICTS), fill_value=0)


def claimed(row: Mapping[Any, Any]) -> str:
    """Return where the effect is claimed to lie, in words."""
    return _SIDES[row["side"]].format(f"{row['threshold']:g}")


def number(value: Any, signed: bool = True) -> str:
    """Return a number with four decimals, `–` where there is none."""
    if value is None or pd.isna(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:+.4f}".replace("-", "−") if signed else f"{value:.4f}"


def interval(row: Mapping[Any, Any]) -> str:
    """Return an effect with its interval."""
    if pd.isna(row["effect"]):
        return "–"
    return f"{number(row['effect'])} [{number(row['low'])}, {number(row['high'])}]"


def _head(frame: pd.DataFrame, study: str) -> Iterator[str]:
    yield f"# Claims, study {study}"
    yield ""
    yield (
        "A verdict asks for the whole 95% interval (over groups of queries and over seeds) on one "
        "side; one seed is always inconclusive. Numbers of the paper are as printed."
    )
    yield ""
    yield f"| claim | {' | '.join(VERDICTS)} |"
    yield f"|---|{'---:|' * len(VERDICTS)}"
    sentences = dict(zip(frame["claim"], frame["sentence"], strict=True))
    for name, row in counts(frame).iterrows():
        cells = " | ".join(str(row[verdict]) for verdict in VERDICTS)
        yield f"| {_cell(sentences[str(name)])} | {cells} |"


def _claims(frame: pd.DataFrame) -> Iterator[str]:
    for name, rows in frame.groupby("claim", sort=False):
        first = rows.iloc[0].to_dict()
        yield from ("", f"## {first['sentence']}", "")
        note = f" {first['note']}" if first["note"] else ""
        yield f"`{name}`, {first['source']}. Claimed: {claimed(first)}.{note}"
        yield ""
        yield (
            "| collection | by | measure | pool | retriever | ranker | systems | verdict "
            "| effect [95%] | p (randomisation, Holm) | detectable | seeds | queries | groups "
            "| paper |"
        )
        yield f"|{'---|' * 8}{'---:|' * 7}"
        for row in rows.to_dict("records"):
            yield f"| {' | '.join(_cells(row))} |"


def _cells(row: Mapping[Any, Any]) -> list[str]:
    verdict = row["verdict"] + (f" ({row['reason']})" if row["reason"] else "")
    texts = [row[key] for key in ("collection", "judgements", "measure", "pool", "retriever")]
    texts += [row["ranker"], row["systems"], verdict, interval(row)]
    texts.append(number(row["p_holm"], signed=False))
    texts.append(number(row["smallest_detectable"], signed=False))
    texts += ["–" if pd.isna(row[key]) else str(row[key]) for key in ("seeds", "queries", "groups")]
    return [_cell(str(text)) for text in [*texts, row["paper"] or "–"]]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
