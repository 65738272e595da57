"""The table behind Figure 4: a measure over CET's τ and RocketQA's η, and how much it varies."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from poolbias.errors import DataError
from poolbias.evaluation.means import Mean, mean
from poolbias.evaluation.sensitivity import Variance, ratio, variance
from poolbias.figures.parts import LABELS, NOT_RUN, TRUTH

COLUMNS = [
    *("panel", "series", "option", "x", "retriever", "judgements", "measure", "source"),
    *("status", "value", "low", "high", "queries", "groups", "seeds", "note"),
]
NUMBERS = ["x", "value", "low", "high"]
COUNTS = ["queries", "groups", "seeds"]
TAU, ETA, REFERENCE, VARIANCE, RATIO = "tau", "eta", "reference", "variance", "ratio"
OPTIONS = {"temperature": TAU, "share_removed": ETA, "eta": ETA}
FEW = "needs two values"
_PLACE, _PAPER_RATIO = "Section 6.4", "variance over eta"


def build_data(
    paper: pd.DataFrame,
    systems: pd.DataFrame,
    points: pd.DataFrame,
    *,
    measure: str = "RR@10",
    resamples: int = 2000,
) -> pd.DataFrame:
    """Return the table of Figure 4.

    Args:
        paper: columns of `config/paper_tables.tsv`; the ratio of section 6.4 is used.
        systems: columns of `poolbias.evaluation.per_query.read_systems`: the rankers of the points,
            and the naive one on the same retriever.
        points: columns `experiment`, `series` (points that differ in the option alone), `option`
            (`temperature`, `share_removed` or `eta`) and `x`, its value.
        measure: as ir-measures spells it.
        resamples: number of resamples behind each interval.

    Returns:
        A frame with the columns `COLUMNS`, per judgements. `panel`: `tau` and `eta` (a row per
        point, status `mean`, and per seed), `reference` (naive), `variance` (per series, status
        `left` once the part `of seeds` is taken off what was `observed`), `ratio` (the variance of
        a series over η by that of one over τ; infinite if the latter is 0). What cannot be shown is
        `not run`, `note` says why. `low`, `high`: 95% interval over groups and seeds.

    Raises:
        DataError: as `mean` and `ratio`, or if two points of a series have one value.
    """
    _check_points(points)
    first = {name: number for number, name in enumerate(dict.fromkeys(points["series"]))}
    ordered = points.assign(first=points["series"].map(first)).sort_values(["first", "option", "x"])
    rows: list[dict[str, Any]] = []
    for judgements in (TRUTH, LABELS):
        own = systems[(systems["measure"] == measure) & (systems["judgements"] == judgements)]
        about = {"judgements": judgements, "measure": measure, "source": "ours"}
        about["retriever"] = " ".join(sorted(set(systems["retriever"].astype("str"))))
        series: Series = {}
        for point in ordered.to_dict("records"):
            system = own[own["experiment"] == point["experiment"]]
            told = about | {name: point[name] for name in ("series", "option", "x")}
            told["panel"] = OPTIONS[point["option"]]
            rows += _means(told, system, resamples)
            series.setdefault((point["series"], told["panel"]), []).append(system)
        for panel in sorted({TAU, ETA} - {panel for _, panel in series}):
            rows.append(about | {"panel": panel, "status": NOT_RUN, "note": "no such row"})
        naive = own[own["name"] == "naive"]
        rows += _means(about | {"panel": REFERENCE, "series": "naive"}, naive, resamples)
        rows += _variances(about, series)
        rows += _ratios(about, series, resamples)
    frame = pd.DataFrame([*rows, *_paper(paper)], columns=COLUMNS)
    frame = frame.astype(dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(NUMBERS, "float64"))
    return frame.fillna({"series": "", "option": "", "retriever": "", "note": ""})


Series = dict[tuple[str, str], list[pd.DataFrame]]  # by name and panel, a system per value


def _check_points(points: pd.DataFrame) -> None:
    twice = points.duplicated(["series", "option", "x"])
    if twice.any():
        point = points[twice].iloc[0]
        raise DataError(
            f"figure_4: {point['series']} has two rankers for {point['option']} {point['x']:g}, "
            "need one; give the points of one."
        )


def _means(about: dict[str, Any], system: pd.DataFrame, resamples: int) -> list[dict[str, Any]]:
    if system.empty:
        note = f"no {about['measure']} by {about['judgements']}"
        return [about | {"status": NOT_RUN, "note": note}]
    seeds = system.groupby("seed")["value"].mean()
    rows = [about | {"status": "mean"} | _numbers(mean(system, resamples=resamples))]
    if len(seeds) > 1:
        rows += [
            about | {"status": "seed", "value": float(value), "note": f"seed {seed}"}
            for seed, value in seeds.items()
        ]
    return rows


def _numbers(found: Mean) -> dict[str, Any]:
    return {"value": found.mean, **{n: v for n, v in found._asdict().items() if n != "mean"}}


def _run(series: Series, panel: str) -> Iterator[tuple[str, list[pd.DataFrame]]]:
    """Yield the name and the measured points of each series of a panel."""
    for (name, of), points in series.items():
        if of == panel:
            yield name, [system for system in points if not system.empty]


def _variances(about: dict[str, Any], series: Series) -> Iterator[dict[str, Any]]:
    for panel in (TAU, ETA):
        for name, points in _run(series, panel):
            told = about | {"panel": VARIANCE, "series": name, "option": panel}
            if len(points) < 2:
                yield told | {"status": NOT_RUN, "note": FEW}
                continue
            means = [point.groupby("seed")["value"].mean().to_numpy(np.float64) for point in points]
            yield from _variance(told, variance(np.stack(means)))


def _variance(about: dict[str, Any], found: Variance) -> Iterator[dict[str, Any]]:
    note = f"{found.points} values"
    values = {"left": found.value, "observed": found.observed, "of seeds": found.by_seeds}
    for status, value in values.items():
        yield about | {"status": status, "value": value, "seeds": found.seeds, "note": note}


def _ratios(about: dict[str, Any], series: Series, resamples: int) -> Iterator[dict[str, Any]]:
    for tau, over_tau in _run(series, TAU):
        for eta, over_eta in _run(series, ETA):
            told = about | {"panel": RATIO, "series": f"{eta} / {tau}"}
            if len(over_tau) < 2 or len(over_eta) < 2:
                yield told | {"status": NOT_RUN, "note": FEW}
                continue
            found, above, _ = ratio(over_eta, over_tau, resamples=resamples)
            note = "no variance over either" if np.isnan(found.value) else ""
            own = over_eta[0]  # all points have the same queries
            counts = {"queries": own["query_id"].nunique(), "groups": own["group"].nunique()}
            told |= {"status": "mean", "note": note, "seeds": above.seeds} | counts
            yield told | found._asdict()


def _paper(paper: pd.DataFrame) -> Iterator[dict[str, Any]]:
    chosen = paper[(paper["place"] == _PLACE) & paper["system"].str.startswith(_PAPER_RATIO)]
    for row in chosen.to_dict("records"):
        about = {"panel": RATIO, "series": "rocketqa / cet", "judgements": LABELS}
        told = {"measure": "RR@10", "source": "paper", "status": row["status"]}
        note = f"{row['collection']}: {row['note']}"
        yield about | told | {"value": float(row["value"]), "note": note}
