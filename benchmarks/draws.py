"""Draws of training triples: against a plain loop over pairs."""

from typing import Any

import numpy as np

from benchmarks.setting import Outcome, Setting
from benchmarks.texts import load
from benchmarks.timing import here, ratio, rounds
from poolbias.candidates import Candidates
from poolbias.training.draws import Drawer

PAIRS, STEPS = 32, 64


def plain(candidates: Candidates, generator: np.random.Generator) -> list[tuple[Any, Any, Any]]:
    """Return the triples (query, positive, negative) of one step, each drawn by itself."""
    found = []
    for _ in range(PAIRS):
        pair = int(generator.integers(len(candidates.positives)))
        query = int(np.searchsorted(candidates.positive_offsets, pair, side="right")) - 1
        start, end = candidates.offsets[query], candidates.offsets[query + 1]
        negative = generator.choice(
            candidates.documents[start:end], p=candidates.probability[start:end]
        )
        found.append((candidates.query_rows[query], candidates.positives[pair], negative))
    return found


def draws(setting: Setting) -> Outcome:
    """Measure triples per second against the plain loop."""
    candidates, steps = load(setting.texts).candidates, setting.at_most(STEPS)
    drawer, generator = Drawer(candidates, seed=1), np.random.default_rng(1)
    works = here(
        {
            "ours": lambda: [drawer.draw(step, PAIRS) for step in range(1, steps + 1)],
            "plain": lambda: [plain(candidates, generator) for _ in range(steps)],
        }
    )
    found = rounds(works, setting.repeats)
    rates = {name: found.rate(name, PAIRS * steps, "triples") for name in works}
    note = f"{rates['ours']} against {rates['plain']}"
    times = found.seconds
    return Outcome(
        [ratio("draws: ours / a loop of choices", times["ours"], times["plain"], None, note)]
    )
