"""Start-up: how long each stage's script takes until its first line of work, and what it loads."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.setting import Outcome, Setting
from benchmarks.timing import Rounds, Work, here, of_rounds, rounds

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "workflow" / "scripts"
BARE, TORCH = "python -c pass", "python -c 'import torch'"
# The stages that compute with a model; the others must not pay for loading torch.
WITH_TORCH = {
    "encode_texts",
    "probe_weights",
    "rerank",
    "score_candidates",
    "search_dense",
    "search_shard",
    "train_coupled_ranker",
    "train_ranker",
    "train_retriever",
}
_IMPORT = """
import json, runpy, sys, time
started = time.perf_counter()
runpy.run_path(sys.argv[1])
print(json.dumps({"seconds": time.perf_counter() - started, "torch": "torch" in sys.modules}))
"""


def scripts() -> dict[str, Path]:
    """Return the stages' scripts by their names."""
    return {path.stem: path for path in sorted(SCRIPTS.glob("*.py"))}


def python(*arguments: str) -> str:
    """Run this Python with the library of this checkout, and return what it printed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def imports(script: Path) -> tuple[float, bool]:
    """Return the seconds that importing a script takes, and whether that loads torch."""
    found = json.loads(python("-c", _IMPORT, str(script)))
    return float(found["seconds"]), bool(found["torch"])


def startup(setting: Setting) -> Outcome:
    """Measure `--help` of each script between a bare Python and the import of torch."""
    known = scripts()
    chosen = dict(list(known.items())[:: 8 if setting.quick else 1])
    commands: dict[str, Work] = {
        BARE: partial(python, "-c", "pass"),
        TORCH: partial(python, "-c", "import torch"),
    }
    commands |= {name: partial(python, str(path), "--help") for name, path in chosen.items()}
    found = rounds(here(commands), min(setting.repeats, 3))
    frame = table(found, {name: imports(path) for name, path in chosen.items()})
    light = [name for name in chosen if name not in WITH_TORCH]
    slowest = max(light, key=found.median)
    values = np.asarray(found.seconds[TORCH]) / np.asarray(found.seconds[slowest])
    note = f"{found.median(TORCH):.2f} s against {found.median(slowest):.2f} s, {slowest}"
    wrong = list(frame.loc[frame["loads_torch"] != frame["needs_torch"], "script"])
    if wrong:
        note += f"; loads what it does not need, or the other way round: {', '.join(wrong)}"
    name = "start-up: import torch / the slowest script that needs none"
    return Outcome([of_rounds(name, list(values), 1.0, note)], {"startup": frame})


def table(found: Rounds, imported: dict[str, tuple[float, bool]]) -> pd.DataFrame:
    """Return a row per script, and of the two bare commands.

    Args:
        found: seconds of each command.
        imported: seconds of importing each script, and whether that loads torch.

    Returns:
        Columns script, help_seconds, low, high (quartiles), import_seconds, loads_torch,
        needs_torch.
    """
    rows = []
    for name, seconds in found.seconds.items():
        low, median, high = np.quantile(seconds, [0.25, 0.5, 0.75])
        import_seconds, loads = imported.get(name, (np.nan, name == TORCH))
        needs = name in WITH_TORCH or name == TORCH
        rows.append((name, median, low, high, import_seconds, loads, needs))
    columns = ["script", "help_seconds", "low", "high", "import_seconds"]
    return pd.DataFrame(rows, columns=[*columns, "loads_torch", "needs_torch"])
