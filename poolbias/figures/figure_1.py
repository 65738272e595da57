"""Figure 1: the recall of each retriever beside the MRR of its own naive ranker.

`build_data` makes one table of everything that is shown; `draw` draws from that table alone.
"""

import textwrap
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from poolbias.figures import style
from poolbias.figures.figure_1_data import LABELS, TRUTH, PerQuery, build_data, read_data

__all__ = ["PerQuery", "build_data", "draw", "read_data"]

_HATCHED: dict[str, Any] = {
    "facecolor": "white",
    "edgecolor": style.LABELS,
    "hatch": style.NOT_OURS,
}
_DOT: dict[str, Any] = {
    "marker": "o",
    "mfc": "white",
    "mec": "black",
    "ms": 3,
    "mew": 0.6,
    "ls": "",
}
_FEW = 3  # lines that leave room for their names among them
_TEXTS = {"not run": "not run", "unknown": "not printed (bar only)"}


def draw(frame: pd.DataFrame) -> Figure:
    """Draw Figure 1 from its table (`build_data`, `read_data`), ready for `style.save`."""
    with style.context():
        ours, paper = _names(frame, "a"), _names(frame, "c")
        height = 2.1 + 0.4 * len(ours) + 0.24 * len(paper)
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.05)
        figure = Figure(figsize=(style.WIDTH, height), layout=layout)
        rows = [len(ours) + 0.5, 0.6 * len(paper) + 0.5]
        grid = figure.add_gridspec(2, 3, height_ratios=rows, width_ratios=[1, 1, 1.05])
        panels = {panel: frame[frame["panel"] == panel] for panel in "abcd"}
        is_recall = panels["c"]["measure"].str.startswith("R@")
        for place, rows_shown, names, title in [
            (grid[0, 0], panels["a"], ours, "(a) {}"),
            (grid[0, 1], panels["b"], ours, "(b) {}, naive ranker"),
            (grid[1, 0], panels["c"][is_recall], paper, "(c) Paper: {}"),
            (grid[1, 1], panels["c"][~is_recall], paper, "Paper: {}"),
        ]:
            axis = figure.add_subplot(place)
            axis.set_title(title.format(style.measure_name(rows_shown["measure"].iloc[0])))
            axis.tick_params(labelleft=place.colspan.start == 0)
            _draw_bars(axis, rows_shown, names)
        few = len(ours) <= _FEW
        depths = figure.add_subplot(grid[:, 2] if few else grid[0, 2])
        beside = (
            None if few else figure.add_subplot(grid[1, 2], frame_on=False, xticks=[], yticks=[])
        )
        _draw_depths(depths, panels["d"], ours, beside)
        figure.legend(handles=_legend(frame), loc="outside upper left", ncols=5)
        text = textwrap.fill(caption(frame), 140)
        figure.supxlabel(text, x=0.012, ha="left", fontsize=6.5, color=style.GREY)
        return style.freeze(figure)


def caption(frame: pd.DataFrame) -> str:
    """Say in words what the table (`build_data`) rests on: queries, groups, seeds, intervals."""
    means = frame[frame["status"] == "mean"]
    bars = means[means["panel"].isin(["a", "b"])]
    counts = [
        f"{_range(rows['queries'])} queries by {judgements}"
        for judgements in (TRUTH, LABELS)
        if not (rows := bars[bars["judgements"] == judgements]).empty
    ]
    seeds = max((len(text.split()) for text in bars["seeds"]), default=0)
    told = {
        0: "no ranker has run yet",
        1: "one seed only, so the whiskers do not hold the variation between seeds",
    }.get(seeds, f"mean of {seeds} seeds, dots: single seeds")
    parts = [f"(a, b) {_listed(frame, 'ours')}: {', '.join(counts) or 'none'}; {told}."]
    parts.append("(b) Each ranker is trained and tested on that retriever's results.")
    depths = means[means["panel"] == "d"]
    if not depths.empty:
        parts.append(f"(d) {_range(depths['queries'])} train queries that have a label.")
    if not means.empty:
        groups = _range(means["groups"])
        parts.append(f"Whiskers: 95% bootstrap interval over {groups} groups of queries.")
    parts.append(f"(c) {_listed(frame, 'paper')}, by labels.")
    return " ".join(parts)


def _draw_bars(axis: Axes, rows: pd.DataFrame, retrievers: list[str]) -> None:
    kinds = [kind for kind in (TRUTH, LABELS) if kind in set(rows["judgements"])]
    thickness = 0.76 / len(kinds) if len(kinds) > 1 else 0.55
    reach = rows[["value", "high"]].max().max()
    reach = 1.0 if pd.isna(reach) else float(reach)
    for (retriever, kind), own in rows.groupby(["retriever", "judgements"], sort=False):
        offset = kinds.index(str(kind)) - (len(kinds) - 1) / 2
        height = retrievers.index(str(retriever)) + offset * thickness
        single = own[own["status"] == "seed"]
        axis.plot(single["value"], [height] * len(single), **_DOT, zorder=4)
        bar = own[own["status"] != "seed"].iloc[0].to_dict()
        end = own[["value", "high"]].max().max()
        _draw_bar(axis, bar, height, thickness * 0.94)
        axis.text(
            (0.0 if pd.isna(end) else end) + 0.03 * reach,
            height,
            _text(bar),
            va="center",
            fontsize=6.5,
            style="italic" if pd.isna(end) else "normal",
            color=style.GREY if pd.isna(end) else style.BLACK,
        )
    axis.set_xlim(0, reach * 1.32)
    axis.set_ylim(len(retrievers) - 0.5, -0.5)
    axis.set_yticks(range(len(retrievers)), [style.retriever_label(name) for name in retrievers])
    axis.tick_params(axis="y", length=0)
    ticks = [tick for tick in MaxNLocator(4).tick_values(0, reach) if tick <= reach]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])  # none at the next panel's edge
    axis.grid(axis="x")


def _draw_bar(axis: Axes, bar: dict[Any, Any], height: float, thickness: float) -> None:
    if pd.isna(bar["value"]):
        return
    look: dict[str, Any] = {"color": style.TRUTH if bar["judgements"] == TRUTH else style.LABELS}
    if bar["status"] in ("derived", "elsewhere"):
        look = _HATCHED
    axis.barh(height, bar["value"], thickness, **look)
    if bar["status"] == "mean":
        bounds = [[bar["value"] - bar["low"]], [bar["high"] - bar["value"]]]
        axis.errorbar(
            bar["value"], height, xerr=bounds, fmt="none", ecolor="black", lw=0.8, capsize=1.8
        )


def _text(bar: dict[Any, Any]) -> str:
    """Write a bar's value without its leading zero; a range as such; a lack in words."""
    if pd.isna(bar["value"]):
        return _TEXTS.get(bar["status"], str(bar["status"]))
    if bar["source"] == "paper" and not pd.isna(bar["low"]):
        numbers = [bar["low"], bar["high"]]
    else:
        numbers = [bar["value"]]
    digits = 4 if bar["status"] in ("printed", "elsewhere") else 3
    return "–".join(f"{number:.{digits}f}".removeprefix("0") for number in numbers)


def _draw_depths(
    axis: Axes, rows: pd.DataFrame, retrievers: list[str], beside: Axes | None
) -> None:
    run = rows[rows["status"] == "mean"]
    depths = sorted({_depth(measure) for measure in run["measure"]})
    lines: list[tuple[float, Any]] = []
    for index, retriever in enumerate(retrievers):
        own = run[run["retriever"] == retriever]
        if own.empty:
            continue
        shift = (index - (len(retrievers) - 1) / 2) * 0.07  # so that whiskers stand side by side
        line = axis.errorbar(
            [depths.index(_depth(measure)) + shift for measure in own["measure"]],
            own["value"],
            yerr=[own["value"] - own["low"], own["high"] - own["value"]],
            label=style.retriever_name(retriever),
            elinewidth=0.8,
            capsize=1.8,
            **style.line(index),
        )
        lines.append((float(own["value"].iloc[0]), line))
    axis.set_title("(d) False negatives")
    axis.set_xticks(range(len(depths)), [str(depth) for depth in depths])
    axis.set_xlabel("depth k of the candidates")
    axis.set_ylabel("relevant, as a share of the unlabelled")
    axis.set_ylim(bottom=0)
    axis.grid(axis="y")
    if lines:  # named from the top line to the lowest
        lines.sort(key=lambda pair: -pair[0])
        (beside or axis).legend(handles=[line for _, line in lines], loc="best")
    else:
        axis.text(0.5, 0.5, "not run", transform=axis.transAxes, ha="center", style="italic")


def _legend(frame: pd.DataFrame) -> list[Any]:
    handles: list[Any] = [
        Patch(color=style.TRUTH, label="by truth"),
        Patch(color=style.LABELS, label="by labels"),
    ]
    statuses = set(frame["status"])
    if statuses & {"derived", "elsewhere"}:
        handles.append(Patch(**_HATCHED, label="by labels, not printed: derived or from elsewhere"))
    if "seed" in statuses:
        handles.append(Line2D([], [], **_DOT, label="one seed"))
    return handles


def _names(frame: pd.DataFrame, panel: str) -> list[str]:
    return list(dict.fromkeys(frame.loc[frame["panel"] == panel, "retriever"]))


def _listed(frame: pd.DataFrame, source: str) -> str:
    return ", ".join(dict.fromkeys(frame.loc[frame["source"] == source, "collection"]))


def _depth(measure: str) -> int:
    return int(measure.partition("@")[2])


def _range(counts: "pd.Series[int]") -> str:
    low, high = counts.min(), counts.max()
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
