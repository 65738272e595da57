"""One look for all figures, and files that are equal byte for byte whenever the figure is equal.

Figures are built from `matplotlib.figure.Figure` directly: no pyplot, no window, no global state.
"""

import contextlib
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from poolbias.errors import DataError
from poolbias.files import atomic_path

WIDTH = 7.0  # inches: both columns of a two-column page

# Okabe and Ito (2008), told apart with any colour vision; the order also alternates in lightness.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, LIGHT = "#595959", "#D9D9D9"

TRUTH, LABELS = BLUE, ORANGE  # the two judgements, in every figure
NOT_OURS = "////"  # hatch of a value that was not printed but derived or taken from elsewhere

# Lines differ in colour, marker and dash, so that they can be followed in grey as well.
LINES: list[dict[str, Any]] = [
    {"color": BLACK, "marker": "o", "linestyle": "-"},
    {"color": GREEN, "marker": "s", "linestyle": (0, (5, 1.5))},
    {"color": VERMILION, "marker": "^", "linestyle": (0, (1, 1.2))},
    {"color": PURPLE, "marker": "D", "linestyle": (0, (5, 1.5, 1, 1.5))},
    {"color": SKY, "marker": "v", "linestyle": "-"},
    {"color": GREY, "marker": "P", "linestyle": (0, (3, 1, 1, 1, 1, 1))},
]

RC: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],  # ships with matplotlib: the same glyphs on every machine
    "mathtext.fontset": "dejavusans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": "#E5E5E5",
    "grid.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.7,
    "figure.dpi": 250,  # as saved, so that the layout of what is drawn is that of the file
    "savefig.dpi": 250,
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,  # whole outlines, as publishers ask
    "pdf.compression": 6,
    "svg.fonttype": "path",
    "svg.hashsalt": "poolbias",  # ids inside the file follow from what is drawn
}

# Nothing that says when, or by which copy of the program, a file was made.
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": "poolbias"},
    "svg": {"Date": None, "Creator": "poolbias"},
    "png": {"Software": None},
}

_NAMES = {
    "bm25": "BM25",
    "ance": "ANCE",
    "repbert": "RepBERT",
    "adore": "ADORE",
    "star": "STAR",
    "de": "DE",
    "dense": "Dense",
}
_MEASURES = {"RR": "MRR", "R": "Recall"}
# The colour of a method, by how its label begins; three levels of grey for the commonest three.
_METHODS = {
    "naive": GREY,
    "cet-paper": GREEN,
    "cet-released": SKY,
    "cet": PURPLE,  # where the form is not known
    "rocketqa": VERMILION,
}
_CET = re.compile(r"cet-(paper|released)-tau([0-9.]+(?:e[+-]?[0-9]+)?)(-.+)?")


@contextlib.contextmanager
def context() -> Iterator[None]:
    """Set the look for what is drawn inside the block; the settings outside stay as they were."""
    ours = {key: value for key, value in mpl.rcParamsDefault.items() if key != "backend"}
    with mpl.rc_context(ours | RC):  # a user's own matplotlibrc changes nothing
        yield


def freeze(figure: Figure) -> Figure:
    """Lay the figure out once and for all, so that saving it again gives the same bytes."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def save(figure: Figure, stem: Path | str) -> list[Path]:
    """Write `stem`.pdf, `stem`.svg and `stem`.png atomically.

    Returns:
        The three paths. Equal figures give equal bytes, in any process and at any time.
    """
    paths = []
    for kind, metadata in _METADATA.items():
        path = Path(f"{stem}.{kind}")
        with context(), atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind, metadata=metadata)
        paths.append(path)
    return paths


def save_as(figure: Figure, pdf: Path, svg: Path, png: Path) -> None:
    """Write the three files atomically, as `save` does.

    Raises:
        DataError: if their names differ in more than their endings.
    """
    wrong = [path for path in (pdf, svg, png) if path.with_suffix("") != pdf.with_suffix("")]
    if wrong:
        raise DataError(f"{wrong[0]}: need the name of {pdf} with another ending; name them alike.")
    save(figure, pdf.with_suffix(""))


def line(number: int) -> dict[str, Any]:
    """Return the look of a line by its number: of `LINES`, then the same with open markers."""
    look = LINES[number % len(LINES)]
    return look if number < len(LINES) else look | {"markerfacecolor": "white"}


def retriever_label(retriever: str) -> str:
    """Return a retriever's name for people on lines of at most 14 letters, for an axis."""
    return textwrap.fill(retriever_name(retriever), 14)


def retriever_name(retriever: str) -> str:
    """Return a retriever's name for people (`bm25` is BM25); one without a known name as it is."""
    return _NAMES.get(retriever, retriever)


def measure_name(measure: str) -> str:
    """Return a measure's name for people (`RR@10` is MRR@10, `R@100` is Recall@100)."""
    name, at, cut = measure.partition("@")
    return _MEASURES.get(name, name) + at + cut


def method_name(label: str) -> str:
    """Return a method's label for people (`cet-paper-tau1` is CET paper, τ = 1)."""
    if found := _CET.fullmatch(label):
        return f"CET {found[1]}, τ = {found[2]}{(found[3] or '').replace('-', ', ')}"
    return re.sub("^rocketqa", "RocketQA", label)


def method_colour(label: str) -> str:
    """Return the colour of a method in every figure, by how its label begins."""
    return next((colour for name, colour in _METHODS.items() if label.startswith(name)), YELLOW)
