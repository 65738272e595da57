"""Figure 4: how much a measure moves with CET's τ and with RocketQA's η.

`build_data` makes one table of everything that is shown; `draw` draws from that table alone.
"""

import math
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from poolbias.figures import parts, style
from poolbias.figures.figure_4_data import (
    COLUMNS,
    COUNTS,
    ETA,
    NUMBERS,
    RATIO,
    REFERENCE,
    TAU,
    build_data,
)

__all__ = ["build_data", "caption", "draw", "read_data"]

_LEAST, _MOST = 0.1, 1000.0  # the ratio's axis
_DASHED: dict[str, Any] = {"linestyle": (0, (4, 2)), "linewidth": 1.0}


def read_data(path: Path | str) -> pd.DataFrame:
    """Read the table of `build_data`, with its columns; `DataError` if the file is damaged."""
    return parts.read_data(path, COLUMNS, NUMBERS, COUNTS)


def draw(frame: pd.DataFrame) -> Figure:
    """Draw Figure 4 from its table (`build_data`, `read_data`), ready for `style.save`."""
    ours = frame[frame["source"] == "ours"]
    judged = list(dict.fromkeys(ours["judgements"]))
    series = list(dict.fromkeys(ours.loc[ours["panel"].isin([TAU, ETA]), "series"]))
    with style.context():
        figure = Figure(
            figsize=(style.WIDTH, 1.75 * len(judged) + 0.9),
            layout=ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.05),
        )
        grid = figure.add_gridspec(len(judged), 3, width_ratios=[1, 1, 0.95])
        for row, judgements in enumerate(judged):
            own = ours[ours["judgements"] == judgements]
            for column, panel in enumerate((TAU, ETA)):
                axis = figure.add_subplot(grid[row, column])
                _draw_points(axis, own[own["panel"] == panel], series)
                _draw_reference(axis, own[own["panel"] == REFERENCE])
                _set_range(axis, own[own["panel"].isin([TAU, ETA, REFERENCE])])
                method = "CET" if panel == TAU else "RocketQA"
                axis.set_title(f"({parts.letter(2 * row + column)}) {method}, by {judgements}")
                axis.tick_params(labelleft=column == 0)
                if column == 0:
                    axis.set_ylabel(style.measure_name(str(own["measure"].iloc[0])))
        _draw_ratios(figure.add_subplot(grid[:, 2]), frame[frame["panel"] == RATIO])
        figure.legend(handles=_legend(ours, series), loc="outside upper left", ncols=6)
        parts.add_caption(figure, caption(frame))
        return style.freeze(figure)


def caption(frame: pd.DataFrame) -> str:
    """Say in words what the table (`build_data`) rests on: queries, groups, seeds, the paper."""
    ours = frame[(frame["source"] == "ours") & (frame["status"] == "mean")]
    means = ours[ours["panel"] != RATIO]
    said = []
    if means.empty:
        said.append("No ranker has run yet.")
    else:
        seeds = int(means["seeds"].max())
        left = (
            "the variance of seeds is taken off"
            if seeds > 1
            else ("with one seed its variance cannot be taken off")
        )
        said.append(
            f"{parts.spread(means['queries'])} queries; {parts.told_seeds(seeds)}. "
            f"Whiskers: {parts.told_interval(means['groups'], seeds)}. "
            "All points share their queries; (e), the variance over the values of η by that over "
            f"the values of τ, makes use of that; {left}."
        )
    for row in frame[(frame["panel"] == RATIO) & (frame["source"] == "paper")].to_dict("records"):
        said.append(
            f"Paper: about {row['value']:g} times on MS MARCO passages, by labels; its values of τ "
            "and η, and the scale of η, are not given."
        )
    return " ".join(said)


def _draw_points(axis: Axes, rows: pd.DataFrame, series: list[str]) -> None:
    means = rows[rows["status"] == "mean"]
    keys = sorted({(row["option"] == "eta", row["x"]) for row in means.to_dict("records")})
    for number, (name, own) in enumerate(means.groupby("series", sort=False)):
        shift = 0.14 * (number - (means["series"].nunique() - 1) / 2)
        look = _look(str(name), series)
        places = [keys.index((row["option"] == "eta", row["x"])) for row in own.to_dict("records")]
        axis.plot([place + shift for place in places], own["value"], **look, zorder=3)
        for place, row in zip(places, own.to_dict("records"), strict=True):
            parts.whisker(axis, row, place + shift, look["color"], up=True)
        for row in rows[(rows["status"] == "seed") & (rows["series"] == name)].to_dict("records"):
            place = keys.index((row["option"] == "eta", row["x"]))
            axis.plot([place + shift + 0.12], [row["value"]], **parts.DOT)
    axis.set_xticks(range(len(keys)), [_tick(is_eta, x, rows) for is_eta, x in keys])
    axis.set_xlim(-0.5, max(len(keys) - 0.5, 0.5))
    axis.grid(axis="y")
    removed = "share_removed" in set(means["option"])
    axis.set_xlabel("τ" if _is_tau(rows) else "share of candidates removed" if removed else "η")
    if means.empty:
        notes = sorted(set(rows["note"]) - {""})
        parts.say(axis, f"{parts.NOT_RUN}{f' ({notes[0]})' if notes else ''}")


def _is_tau(rows: pd.DataFrame) -> bool:
    return set(rows["panel"]) == {TAU}


def _tick(is_eta: bool, x: float, rows: pd.DataFrame) -> str:
    if _is_tau(rows):
        return f"{x:g}"
    mixed = len(set(rows["option"])) > 1
    return f"{'η ' if mixed else ''}{x:g}" if is_eta else f"{100 * x:g}%"


def _draw_reference(axis: Axes, rows: pd.DataFrame) -> None:
    for value in rows.loc[rows["status"] == "mean", "value"]:
        axis.axhline(value, color=style.GREY, **_DASHED, zorder=1)


def _set_range(axis: Axes, rows: pd.DataFrame) -> None:
    """Give the axis the range of all rows, so that panels side by side have the same."""
    low = rows[["value", "low"]].min().min()
    high = rows[["value", "high"]].max().max()
    if pd.isna(low):
        axis.set_yticks([])
        return
    room = 0.08 * max(high - low, 0.1)
    axis.set_ylim(low - room, high + room)


def _draw_ratios(axis: Axes, rows: pd.DataFrame) -> None:
    axis.set_title("(e) Variance ratio, η to τ")
    ours = rows[rows["source"] == "ours"].to_dict("records")
    axis.set_xscale("log")
    axis.set_xlim(_LEAST, _MOST)
    axis.axvline(1, color=style.BLACK, linewidth=0.6)
    for row in rows[rows["source"] == "paper"].to_dict("records"):
        axis.axvline(row["value"], color=style.PURPLE, **_DASHED)
        axis.annotate(
            f"paper, about {row['value']:g}",
            (row["value"], len(ours) - 0.55),
            xytext=(3, 0),
            textcoords="offset points",
            fontsize=parts.SMALL,
            va="center",
        )
    for place, row in enumerate(ours):
        if row["status"] == parts.NOT_RUN or math.isnan(row["value"]):
            text = f"{parts.NOT_RUN}: {row['note']}"
            parts.write(axis, 1.3 * _LEAST, place, text, lacking=True)
            continue
        colour = style.method_colour(row["series"].partition(" / ")[2])
        inside = {name: min(max(row[name], _LEAST), _MOST) for name in ("value", "low", "high")}
        marker = "o" if inside["value"] == row["value"] else ">" if row["value"] > 1 else "<"
        axis.plot(
            [inside["value"]], [place], marker=marker, ls="", color=colour, ms=4, clip_on=False
        )
        parts.whisker(axis, inside, place, colour)
        bounds = f"[{_short(row['low'])}, {_short(row['high'])}]"
        parts.write(axis, 1.3 * _LEAST, place - 0.3, f"{_short(row['value'])} {bounds}")
    axis.set_yticks(range(len(ours)), [_ratio_name(row) for row in ours])
    axis.set_ylim(max(len(ours), 1) - 0.3, -0.7)
    axis.tick_params(axis="y", length=0)
    axis.set_xticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1,000"])
    axis.minorticks_off()
    axis.grid(axis="x")
    if not ours:
        parts.say(axis, parts.NOT_RUN)


def _ratio_name(row: dict[Any, Any]) -> str:
    return f"{_name(row['series'].partition(' / ')[2])}\nby {row['judgements']}"


def _name(series: str) -> str:
    """Return a series for people: `cet-paper` is CET paper, `rocketqa-pair` RocketQA (pair)."""
    method, _, option = series.partition("-")
    return f"CET {option}" if method == "cet" else f"RocketQA ({option})"


def _short(value: float) -> str:
    return "?" if math.isnan(value) else "∞" if math.isinf(value) else f"{value:.2g}"


def _look(name: str, series: list[str]) -> dict[str, Any]:
    """Return a series' line: the colour of its method, a marker of its own."""
    line = style.line(series.index(name))
    return line | {"color": style.method_colour(name), "linewidth": 1.2}


def _legend(ours: pd.DataFrame, series: list[str]) -> list[Any]:
    handles: list[Any] = [
        Line2D([], [], **_look(name, series), label=_name(name)) for name in series if name
    ]
    handles.append(Line2D([], [], color=style.GREY, **_DASHED, label="naive"))
    if "seed" in set(ours["status"]):
        handles.append(Line2D([], [], **parts.DOT, label="one seed"))
    return handles
