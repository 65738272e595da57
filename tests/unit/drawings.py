"""What tests ask of a drawn figure: its texts, where they lie, and its stage in a fresh process."""

import os
import subprocess
import sys
from pathlib import Path

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text

ROOT = Path(__file__).resolve().parents[2]
# Runs a script as its own program, and stops if it has loaded what no figure needs.
LIGHT = """
import runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    assert not end.code
heavy = {"torch", "transformers", "jnius", "pyserini", "matplotlib.pyplot"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""


def texts(figure: Figure) -> list[str]:
    """Return every text of a figure that is shown, in no particular order."""
    return [text.get_text() for text in shown(figure)]


def shown(figure: Figure) -> list[Text]:
    """Return the text objects that are drawn; ticks out of an axis' range are not."""
    hidden = set()
    for axis in figure.findobj(Axis):
        low, high = sorted(axis.get_view_interval())
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        outside = [tick for tick in ticks if not low <= tick.get_loc() <= high]
        hidden |= {id(label) for tick in outside for label in (tick.label1, tick.label2)}
    found = [text for text in figure.findobj(Text) if id(text) not in hidden]
    return [text for text in found if text.get_text() and text.get_visible()]


def misplaced(figure: Figure) -> list[str]:
    """Return texts that leave the page or lie on one another."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown(figure)]
    boxes = [(text, box) for text, box in boxes if box.width]
    page, wrong = figure.bbox, []
    for number, (text, box) in enumerate(boxes):
        if min(box.x0, box.y0) < 0 or box.x1 > page.x1 or box.y1 > page.y1:
            wrong.append(f"{text!r} leaves the page")
        wrong += [
            f"{text!r} lies on {other!r}"
            for other, before in boxes[:number]
            if box.overlaps(before) and other != text
        ]
    return wrong


def run_script(name: str, options: dict[str, object], light: bool = True, hash_seed: str = "0"):
    """Run a stage's script in a fresh process; a list in the options is several paths."""
    words = []
    for option, value in options.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{option}", *map(str, values)]
    script = str(ROOT / "workflow" / "scripts" / f"{name}.py")
    command = [sys.executable, *(["-c", LIGHT] if light else []), script, *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
