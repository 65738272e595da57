"""Figure 3: rankers trained with and without CET on the negatives of each retriever.

`build_data` makes one table of everything that is shown; `draw` draws from that table alone.
"""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from poolbias.figures import parts, style
from poolbias.figures.figure_3_data import COLUMNS, COUNTS, NUMBERS, PAPER, build_data

__all__ = ["build_data", "caption", "draw", "read_data"]

_ACROSS = 3  # panels side by side
_PAPER_NAMES = {
    "msmarco-passage/dev": "MS MARCO passages",
    "msmarco-document/dev": "MS MARCO documents",
    "trec-dl-2019-passage": "TREC DL passages",
    "trec-dl-2019-document": "TREC DL documents",
}


def read_data(path: Path | str) -> pd.DataFrame:
    """Read the table of `build_data`, with its columns; `DataError` if the file is damaged."""
    return parts.read_data(path, COLUMNS, NUMBERS, COUNTS)


def draw(frame: pd.DataFrame) -> Figure:
    """Draw Figure 3 from its table (`build_data`, `read_data`), ready for `style.save`."""
    ours = frame[frame["source"] == "ours"]
    panels = [rows for _, rows in ours.groupby("panel", sort=False)]
    retrievers = list(dict.fromkeys(ours["retriever"]))
    methods = list(dict.fromkeys(ours["method"]))
    several = ours["collection"].nunique() > 1
    lines = max(1, -(-len(panels) // _ACROSS))
    group = 0.17 * len(methods) + 0.12  # inches of one retriever
    heights = [group * len(retrievers) + 0.3, 0.6 * group * len(retrievers) + 0.4]
    ours_height = lines * (sum(heights) + 0.4 + 0.15 * several)
    with style.context():
        figure = Figure(
            figsize=(style.WIDTH, ours_height + 2.5),
            layout=ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.05),
        )
        halves = figure.add_gridspec(2, 1, height_ratios=[ours_height, 1.6])
        upper, lower = figure.add_subfigure(halves[0]), figure.add_subfigure(halves[1])
        grid = upper.add_gridspec(2 * lines, _ACROSS, height_ratios=heights * lines)
        for number, rows in enumerate(panels):
            line, column = divmod(number, _ACROSS)
            bars = upper.add_subplot(grid[2 * line, column])
            gains = upper.add_subplot(grid[2 * line + 1, column])
            bars.set_title(_title(rows.iloc[0].to_dict(), several))
            _draw_bars(bars, rows, retrievers, methods)
            _draw_gains(gains, rows, retrievers, methods)
            for axis in (bars, gains):
                axis.tick_params(labelleft=column == 0)
        _draw_paper(lower.add_subplot(), frame[frame["panel"] == PAPER])
        figure.legend(handles=_legend(ours, methods), loc="outside upper left", ncols=5)
        parts.add_caption(figure, caption(frame))
        return style.freeze(figure)


def caption(frame: pd.DataFrame) -> str:
    """Say in words what the table (`build_data`) rests on: queries, groups, seeds, the paper."""
    ours = frame[(frame["source"] == "ours") & (frame["status"] == "mean")]
    seeds = max((len(text.split()) for text in ours["seeds"]), default=0)
    said = []
    if not ours.empty:
        collections = ", ".join(dict.fromkeys(ours["collection"]))
        counts = [
            f"{parts.spread(rows['queries'])} queries by {judgements}"
            for judgements in (parts.TRUTH, parts.LABELS)
            if not (rows := ours[ours["judgements"] == judgements]).empty
        ]
        said.append(f"Ours: {collections}, {', '.join(counts)}; {parts.told_seeds(seeds)}.")
        said.append(
            f"Whiskers: {parts.told_interval(ours['groups'], seeds)}. Lower row: the same rankers' "
            "gain over naive."
        )
    else:
        said.append("Ours: no ranker has run yet.")
    gains = frame[frame["measure"] == "relative gain"]
    if not gains.empty:
        told = " and ".join(
            f"{100 * row['value']:.1f}% on {_paper_name(row['collection'])}"
            for row in gains.to_dict("records")
        )
        said.append(
            "Paper: ANCE from its Table 1; the bars of RepBERT and ADORE are drawn but not "
            f"printed; mean gain over the three, its measure unnamed: {told}."
        )
    return " ".join(said)


def _title(first: dict[Any, Any], several: bool) -> str:
    shown = f"{style.measure_name(first['measure'])} by {first['judgements']}"
    return f"({first['panel']}) " + (f"{first['collection']}\n" if several else "") + shown


def _draw_bars(axis: Axes, rows: pd.DataFrame, retrievers: list[str], methods: list[str]) -> None:
    bars = rows[rows["status"].isin(["mean", parts.NOT_RUN])]
    reach = float(rows.loc[rows["status"] == "mean", ["value", "high"]].max().max())
    reach = 1.0 if pd.isna(reach) else reach
    for bar in bars.to_dict("records"):
        place = _place(bar, retrievers, methods)
        if bar["status"] == parts.NOT_RUN:
            parts.write(axis, 0.02 * reach, place, parts.NOT_RUN, lacking=True)
            continue
        thickness = 0.74 / len(methods)
        axis.barh(place, bar["value"], thickness, color=style.method_colour(bar["method"]))
        parts.whisker(axis, bar, place, style.BLACK)
        parts.write(axis, bar["high"] + 0.03 * reach, place, parts.number(bar["value"]))
    for bar in rows[rows["status"] == "seed"].to_dict("records"):
        axis.plot([bar["value"]], [_place(bar, retrievers, methods)], **parts.DOT, zorder=4)
    axis.set_xlim(0, 1.25 * reach)
    ticks = [tick for tick in MaxNLocator(4).tick_values(0, reach) if tick <= reach]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    _name_rows(axis, retrievers)
    if (bars["status"] == parts.NOT_RUN).all() and (notes := sorted(set(bars["note"]) - {""})):
        axis.set_xlabel(notes[0], fontsize=parts.SMALL, style="italic")


def _draw_gains(axis: Axes, rows: pd.DataFrame, retrievers: list[str], methods: list[str]) -> None:
    gains = rows[rows["status"] == "gain"]
    axis.axvline(0, color=style.BLACK, linewidth=0.6)
    for gain in gains.to_dict("records"):
        place = _place(gain, retrievers, methods[1:])
        colour = style.method_colour(gain["method"])
        axis.plot([gain["value"]], [place], marker="o", ls="", color=colour, ms=4, zorder=3)
        parts.whisker(axis, gain, place, colour)
    _name_rows(axis, retrievers)
    axis.set_xlabel(f"gain over {methods[0]}")
    reach = float(gains[["low", "high"]].abs().max().max())
    reach = 0.1 if pd.isna(reach) or reach == 0 else 1.15 * reach
    axis.set_xlim(-reach, reach)
    for retriever in set(retrievers) - set(gains["retriever"]):
        parts.write(axis, -0.95 * reach, retrievers.index(retriever), parts.NOT_RUN, lacking=True)
    ticks = [tick for tick in MaxNLocator(4).tick_values(-reach, reach) if abs(tick) < reach]
    axis.set_xticks(ticks, [f"{tick:+g}".replace("-", "−") if tick else "0" for tick in ticks])


def _draw_paper(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw what the paper prints of its panels: ANCE, without and with CET."""
    axis.set_title("Paper: ANCE, without and with CET (its form is not known)")
    bars = rows[rows["measure"] != "relative gain"]
    names = list(dict.fromkeys(zip(bars["collection"], bars["measure"], strict=True)))
    for bar in bars.to_dict("records"):
        row = names.index((bar["collection"], bar["measure"]))
        with_cet = bar["method"] != "naive"
        place = row + (0.19 if with_cet else -0.19)
        colour = style.method_colour("cet" if with_cet else "naive")
        axis.barh(place, bar["value"], 0.35, color=colour)
        parts.write(axis, bar["value"] + 0.01, place, parts.number(bar["value"], 4))
    axis.set_yticks(
        range(len(names)),
        [f"{_paper_name(name)}, {style.measure_name(measure)}" for name, measure in names],
    )
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.set_xlim(0, 0.85)
    axis.set_xticks([0, 0.2, 0.4, 0.6, 0.8], ["0", "0.2", "0.4", "0.6", "0.8"])
    axis.grid(axis="x")


def _place(row: dict[Any, Any], retrievers: list[str], methods: list[str]) -> float:
    """Return where a row stands on the vertical axis: methods below each other by retriever."""
    offset = methods.index(row["method"]) - (len(methods) - 1) / 2
    return retrievers.index(row["retriever"]) + 0.8 * offset / len(methods)


def _name_rows(axis: Axes, retrievers: list[str]) -> None:
    axis.set_ylim(len(retrievers) - 0.5, -0.5)
    axis.set_yticks(range(len(retrievers)), [style.retriever_label(name) for name in retrievers])
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x")


def _legend(ours: pd.DataFrame, methods: list[str]) -> list[Any]:
    handles: list[Any] = [
        Patch(color=style.method_colour(name), label=style.method_name(name)) for name in methods
    ]
    if "seed" in set(ours["status"]):
        handles.append(Line2D([], [], **parts.DOT, label="one seed"))
    return handles


def _paper_name(collection: str) -> str:
    return _PAPER_NAMES.get(collection, collection)
