"""Figure 5: w_r against relevance, for one query as in the paper, over training, and for all.

`build_data` makes one table of everything that is shown; `draw` draws from that table alone.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from poolbias.figures import parts, style
from poolbias.figures.figure_5_data import (
    CASE,
    COLUMNS,
    COUNTS,
    KINDS,
    NUMBERS,
    PAIRED,
    PREMISES,
    TOP,
    TRAINING,
    Coupled,
    build_data,
    read_training,
)

__all__ = ["Coupled", "build_data", "caption", "draw", "read_data", "read_training"]

_WIDE = 30.0  # greatest w_r by the smallest from which the axis is logarithmic
_RELEVANT: dict[str, Any] = {"marker": "o", "color": style.BLUE, "ls": "", "ms": 4.5}
_IRRELEVANT: dict[str, Any] = {"marker": "x", "color": style.VERMILION, "ls": "", "ms": 4.5}
_LABELLED: dict[str, Any] = {"marker": "s", "mfc": "none", "mec": "black", "ls": "", "ms": 7}
_CURVES: dict[str, dict[str, Any]] = {
    KINDS["false"]: {"color": style.BLUE, "linestyle": "-"},
    KINDS["true"]: {"color": style.VERMILION, "linestyle": (0, (4, 1.5))},
}


def read_data(path: Path | str) -> pd.DataFrame:
    """Read the table of `build_data`, with its columns; `DataError` if the file is damaged."""
    return parts.read_data(path, COLUMNS, NUMBERS, COUNTS)


def draw(frame: pd.DataFrame) -> Figure:
    """Draw Figure 5 from its table (`build_data`, `read_data`), ready for `style.save`."""
    ours = frame[frame["source"] != "paper"]
    methods = list(dict.fromkeys(ours["method"]))
    premises = frame[(frame["panel"] == PREMISES) & (frame["measure"] == "AUC")]
    names = list(dict.fromkeys(premises["name"]))
    heights = [1.65 * len(methods) + 0.1, 0.2 * max(len(names), 2) + 0.75]
    with style.context():
        figure = Figure(
            figsize=(style.WIDTH, sum(heights) + 0.95),
            layout=ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.05),
        )
        halves = figure.add_gridspec(2, 1, height_ratios=heights)
        upper, lower = figure.add_subfigure(halves[0]), figure.add_subfigure(halves[1])
        _draw_methods(upper, ours, methods)
        _draw_premises(lower.add_subplot(), premises, names, methods)
        figure.legend(handles=_legend(), loc="outside upper left", ncols=5)
        parts.add_caption(figure, caption(frame))
        return style.freeze(figure)


def caption(frame: pd.DataFrame) -> str:
    """Say in words what the table (`build_data`) rests on: the query, queries, seeds, the paper."""
    said = []
    case = frame[(frame["panel"] == CASE) & frame["status"].isin([TOP, PAIRED])]
    if not case.empty:
        said.append(_told_case(case))
    means = frame[(frame["panel"] == PREMISES) & (frame["status"] == "mean")]
    if not means.empty:
        seeds = int(means["seeds"].max())
        said.append(
            f"Below: AUC per query, then its mean over {parts.spread(means['queries'])} queries "
            f"(up to {int(means['left_out'].max()):,} have documents of one kind only); "
            f"{parts.told_seeds(seeds, dots=False)}; "
            f"{parts.told_interval(means['groups'], seeds)}."
        )
        said += [
            f"Spearman of w_r and relevance, {style.method_name(str(row['method']))}: "
            f"{parts.number(row['value'], 2)} [{parts.number(row['low'], 2)}, "
            f"{parts.number(row['high'], 2)}]."
            for row in means[means["measure"] == "Spearman"].to_dict("records")
        ]
    for row in frame[(frame["panel"] == CASE) & (frame["source"] == "paper")].to_dict("records"):
        said.append(
            f"Paper's query: {row['value']:g} {row['name']}; its w_r is drawn, not printed."
        )
    return " ".join(said)


def _told_case(case: pd.DataFrame) -> str:
    first = case[case["step"] == case["step"].max()]
    first = first[first["method"] == first["method"].iloc[0]]
    top, pair = first[first["status"] == TOP], first[first["paired"] == 1].iloc[0]
    lost = int((~_drawable(case.loc[case["status"] == TOP, "value"])).sum())
    where = "that the run lacks" if pd.isna(pair["rank"]) else f"at rank {pair['rank']}"
    return (
        f"Left: query {pair['query_id']} “{pair['note']}”, {int(top['relevant'].sum())} of "
        f"{len(top)} relevant, paired with the labelled document {where}; seed {pair['seed']}, "
        f"step {pair['step']}.{f' Weights of 0 or infinity, not drawn: {lost}.' if lost else ''}"
    )


def _draw_methods(figure: SubFigure, ours: pd.DataFrame, methods: list[str]) -> None:
    """Draw a row of panels per method: w_r of one query's documents, and over training."""
    grid = figure.add_gridspec(len(methods), 2, width_ratios=[1.5, 1])
    for row, method in enumerate(methods):
        own = ours[ours["method"] == method]
        last = row == len(methods) - 1
        for column, panel in enumerate((CASE, TRAINING)):
            axis = figure.add_subplot(grid[row, column])
            rows = own[own["panel"] == panel]
            name = style.method_name(method)
            axis.set_title(f"({parts.letter(2 * row + column)}) {name}")
            axis.set_ylabel("$w_r$")
            axis.grid(axis="y")
            if panel == CASE:
                _draw_case(axis, rows[rows["step"] == rows["step"].max()])
                axis.set_xlabel("rank by the retriever" if last else "")
            else:
                _draw_training(axis, rows[rows["status"] != parts.NOT_RUN])
                axis.set_xlabel("step of the training" if last else "")


def _draw_case(axis: Axes, rows: pd.DataFrame) -> None:
    top = rows[(rows["status"] == TOP) & _drawable(rows["value"])]
    if top.empty:
        parts.say(axis, parts.NOT_RUN)
        return
    for relevant, look in ((1, _RELEVANT), (0, _IRRELEVANT)):
        own = top[top["relevant"] == relevant]
        axis.plot(own["rank"].astype(int), own["value"], **look)
    labelled = top[top["labelled"] == 1]
    axis.plot(labelled["rank"].astype(int), labelled["value"], **_LABELLED)
    axis.set_xlim(0, int(top["rank"].max()) + 1)
    _scale(axis, top["value"])


def _draw_training(axis: Axes, rows: pd.DataFrame) -> None:
    rows = rows[_drawable(rows["value"])]
    if rows.empty:
        parts.say(axis, parts.NOT_RUN)
        return
    for name, look in _CURVES.items():
        own = rows[rows["name"] == name]
        axis.plot(own["step"].astype(int), own["value"], **look, label=name)
    _scale(axis, rows["value"])


def _drawable(values: "pd.Series[float]") -> "pd.Series[bool]":
    """Return which weights fit any axis: neither 0 nor infinite, as float32 may make them."""
    return (values > 0) & np.isfinite(values)


def _scale(axis: Axes, values: "pd.Series[float]") -> None:
    """Take a logarithmic axis for weights far apart, else one of at least a tenth of them."""
    low, high = float(values.min()), float(values.max())
    if high / low > _WIDE:
        axis.set_yscale("log")
        return
    middle, half = (low + high) / 2, max((high - low) / 2, 0.05 * high)
    axis.set_ylim(middle - 1.12 * half, middle + 1.12 * half)


def _draw_premises(axis: Axes, rows: pd.DataFrame, names: list[str], methods: list[str]) -> None:
    axis.set_title(f"({parts.letter(2 * len(methods))}) Premises")
    axis.axvline(0.5, color=style.BLACK, linewidth=0.6)
    for row in rows.to_dict("records"):
        shift = (methods.index(row["method"]) - (len(methods) - 1) / 2) * 0.5 / len(methods)
        height = names.index(row["name"]) + shift
        if row["status"] == parts.NOT_RUN:
            parts.write(axis, 0.01, height, parts.NOT_RUN, lacking=True)
            continue
        axis.plot([row["value"]], [height], **_marker(row["method"], methods))
        parts.whisker(axis, row, height, style.method_colour(row["method"]))
    spelled = {row["name"]: _statement(row) for row in rows.to_dict("records")}
    axis.set_yticks(range(len(names)), [spelled[name] for name in names], fontsize=parts.SMALL)
    axis.set_ylim(max(len(names), 1) - 0.5, -0.5)
    axis.set_xlim(0, 1)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x")
    axis.set_xlabel("AUC: right of .5 as stated, left the opposite")
    if not names:
        axis.set_yticks([])
        parts.say(axis, parts.NOT_RUN)
        return
    handles = [Line2D([], [], **_marker(m, methods), label=style.method_name(m)) for m in methods]
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.2}
    axis.legend(handles=handles, ncols=3, **place)


def _marker(method: str, methods: list[str]) -> dict[str, Any]:
    marker = style.line(methods.index(method))["marker"]
    return {"marker": marker, "ls": "", "color": style.method_colour(method), "ms": 3.5}


def _statement(row: dict[Any, Any]) -> str:
    among = "" if row["among"] == "all" else f", of the {row['among']}"
    told = row["statement"].removesuffix(" documents").replace("w_r", "$w_r$")
    return f"{row['source']}: {told}{among}"


def _legend() -> list[Any]:
    return [
        Line2D([], [], **_RELEVANT, label="relevant"),
        Line2D([], [], **_IRRELEVANT, label="irrelevant"),
        Line2D([], [], **_LABELLED, label="labelled"),
        *(Line2D([], [], **look, label=name) for name, look in _CURVES.items()),
    ]
