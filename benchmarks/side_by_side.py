"""A queue of trainings: side by side with a thread each, or in turn with all threads."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from benchmarks.setting import Outcome, Setting
from benchmarks.timing import Taken, Timed, ratio, rounds
from benchmarks.training import NAIVE, ours
from benchmarks.workers import Side, workers

STEPS = 3


def together(works: list[Timed]) -> Taken:
    """Call works at the same time; return the seconds until the last one ended."""
    started = time.perf_counter()
    with ThreadPoolExecutor(len(works)) as pool:
        found = list(pool.map(lambda work: work(), works))
    return Taken(time.perf_counter() - started, found)


def queue(setting: Setting) -> Outcome:
    """Measure as many trainings as there are threads, either way."""
    count, steps = setting.threads, setting.at_most(STEPS)
    side = Side(partial(ours, setting.texts, NAIVE, "R", steps), ours=True)
    with (
        workers({str(number): side for number in range(count)}, 1) as single,
        workers({"all": side}, count) as whole,
    ):
        found = rounds(
            {
                "together": partial(together, list(single.values())),
                "in turn": lambda: Taken(sum(whole["all"]().seconds for _ in range(count)), None),
            },
            setting.repeats,
        )
    note = f"{found.median('together'):.1f} s against {found.median('in turn'):.1f} s"
    title = f"queue: {count} trainings with a thread each / in turn with {count} threads"
    times = found.seconds
    return Outcome([ratio(title, times["together"], times["in turn"], None, note)])
