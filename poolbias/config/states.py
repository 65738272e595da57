"""The experiments of a study with their states, as a table for people."""

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from poolbias.config.experiments import Experiment, expand
from poolbias.config.problems import shown
from poolbias.config.study import Study
from poolbias.errors import DataError
from poolbias.files import read_json

Given = Callable[[Experiment, int], dict[str, Any]]
DONE, MISSING, STALE = "done", "missing", "stale"
NAMES = ("collection", "pool", "retriever", "method", "ranker")
OPTIONS = ("negatives", "loss", "weight", "training")


def state(experiment: Experiment, seed: int, results: Path, given: Given) -> str:
    """Return whether a ranker is there as the study asks for it.

    Args:
        experiment: what is asked for.
        seed: likewise.
        results: the folder of results.
        given: returns the parameters that its training would get, its code's fingerprint included.

    Returns:
        `done` if its manifest holds these parameters, `stale` if it holds others or is damaged,
        `missing` if there is no manifest.
    """
    path = results / "rankers" / experiment.name / f"seed-{seed}" / "manifest.json"
    if not path.exists():
        return MISSING
    try:
        manifest = read_json(path)
    except DataError:  # damaged: whatever made the ranker, it is not known
        return STALE
    asked = json.loads(json.dumps(given(experiment, seed)))
    found = manifest.get("parameters") if isinstance(manifest, dict) else None
    return DONE if found == asked else STALE


def table(study: Study, results: Path, given: Given) -> str:
    """Return a study's experiments: name, seed, state, and the parameters in which they differ."""
    experiments = expand(study)
    parameters = [_flat(experiment) for experiment in experiments]
    keys = list(dict.fromkeys(key for each in parameters for key in each))
    values = {key: [each.get(key, "-") for each in parameters] for key in keys}
    differing = [key for key in keys if len(set(values[key])) > 1]
    rows = [["experiment", "seed", "state", *differing]]
    for number, experiment in enumerate(experiments):
        told = [values[key][number] for key in differing]
        for seed in study.seeds:
            rows.append(
                [experiment.name, str(seed), state(experiment, seed, results, given), *told]
            )
    same = "; ".join(f"{key} {values[key][0]}" for key in keys if key not in differing)
    counts = Counter(row[2] for row in rows[1:])
    total = ", ".join(f"{counts[name]} {name}" for name in (DONE, STALE, MISSING))
    return "\n".join(
        [
            *_aligned(rows),
            "",
            *textwrap.wrap(f"The same in all: {same}.", 100, break_on_hyphens=False),
            f"Study {study.study}: {len(experiments)} experiments, {len(rows) - 1} trainings: "
            f"{total}.",
        ]
    )


def _flat(experiment: Experiment) -> dict[str, str]:
    """Return what tells experiments of one study apart, by dotted keys."""
    flat = {name: str(getattr(experiment, name)) for name in NAMES}
    for name in OPTIONS:
        flat |= dict(_leaves(name, experiment.parameters[name]))
    return flat


def _leaves(key: str, value: Any) -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(f"{key}.{name}", item)
    else:
        yield key, value if isinstance(value, str) else shown(value)


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
