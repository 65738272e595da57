"""The experiments of a study with their states, as a table for people."""

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from poolbias.config.experiments import Experiment, Ranked, expand, rows
from poolbias.config.problems import shown
from poolbias.config.study import Study
from poolbias.errors import DataError
from poolbias.files import read_json

Given = Callable[[Experiment, int], dict[str, Any]]
DONE, MISSING, STALE = "done", "missing", "stale"
OPTIONS = ("negatives", "negatives_per_positive", "loss", "loss_options", "weight", "training")


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
    """Return a study's experiments: name, seed, state, and the parameters in which they differ.

    An experiment has a line for each run that it re-ranks, and one that only serves others (a
    teacher, a first stage) has one.
    """
    named = rows(study)
    experiments = expand(study)
    lines = [
        (part, _flat(part, row))
        for row in named
        for part in row.experiment.halves or (row.experiment,)
    ]
    ranking = {experiment.name for experiment, _ in lines}
    lines += [(other, _flat(other)) for other in experiments if other.name not in ranking]
    keys = list(dict.fromkeys(key for _, told in lines for key in told))
    values = {key: [told.get(key, "-") for _, told in lines] for key in keys}
    differing = [key for key in keys if len(set(values[key])) > 1]
    states = {
        (experiment.name, seed): state(experiment, seed, results, given)
        for experiment in experiments
        for seed in study.seeds
    }
    cells = [["experiment", "seed", "state", *differing]]
    for number, (experiment, _) in enumerate(lines):
        told = [values[key][number] for key in differing]
        for seed in study.seeds:
            cells.append([experiment.name, str(seed), states[experiment.name, seed], *told])
    same = "; ".join(f"{key} {values[key][0]}" for key in keys if key not in differing)
    counts = Counter(states.values())
    total = ", ".join(f"{counts[name]} {name}" for name in (DONE, STALE, MISSING))
    return "\n".join(
        [
            *_aligned(cells),
            "",
            *textwrap.wrap(f"The same in all: {same}.", 100, break_on_hyphens=False),
            f"Study {study.study}: {len(experiments)} experiments, {len(states)} trainings: "
            f"{total}.",
        ]
    )


def _flat(experiment: Experiment, row: Ranked | None = None) -> dict[str, str]:
    """Return what tells the rows of one study apart, by dotted keys."""
    flat = {
        "collection": experiment.collection,
        "pool": experiment.pool,
        "retriever": row.retriever if row else "-",
        "method": row.method if row else f"{experiment.method} (for others)",
        "ranker": experiment.ranker,
    }
    if row is None or row.retriever != experiment.retriever:
        flat["negatives.retriever"] = experiment.retriever or "-"
    for name in OPTIONS:
        if name in experiment.parameters:
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
