"""Which code made a result: that of its own stage and of every stage before it.

It is read from the records that stages leave beside their results, and compared with the code that
is here now. What a file rests on is named by its path, so code is all that there is to compare.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from poolbias import records
from poolbias.errors import DataError
from poolbias.files import read_json
from poolbias.fingerprint import fingerprint


@dataclass(frozen=True, order=True)
class Step:
    """A stage with the choices that it ran with, and the fingerprint of the code that ran."""

    stage: str
    choices: tuple[str, ...]
    fingerprint: str


T = TypeVar("T", str, Step)


@dataclass(frozen=True)
class Made:
    """What made a file: the steps to it, the commits they ran at, the machines that trained."""

    steps: tuple[Step, ...]
    commits: tuple[str, ...]
    hardware: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        steps = [[step.stage, list(step.choices), step.fingerprint] for step in self.steps]
        return {"commits": list(self.commits), "hardware": list(self.hardware), "steps": steps}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Made":
        """Return what `to_json` wrote."""
        steps = tuple(
            Step(stage, tuple(chosen), digits) for stage, chosen, digits in value["steps"]
        )
        return cls(steps, tuple(value["commits"]), tuple(value["hardware"]))


def stale(made: Made, root: Path) -> list[str]:
    """Return the stages whose code is another one now than the one that ran, in order.

    Args:
        made: what made a file.
        root: folder of the repository.
    """
    return list(dict.fromkeys(s.stage for s in made.steps if _now(root, s) != s.fingerprint))


@functools.cache
def _now(root: Path, step: Step) -> str:
    try:
        return fingerprint(root, step.stage, step.choices)
    except OSError:  # there is no such stage any more
        return ""


@dataclass
class Lineages:
    """What made each file of a results folder, from its records; each is read once."""

    results: Path
    known: dict[str, Made] = field(default_factory=dict)

    def of(self, name: str) -> Made:
        """Return what made a result.

        Args:
            name: its path from `results` on, such as `metrics/runs/hpo/bm25/test.truth.tsv`.

        Raises:
            DataError: if it or something that it was made from has no record, or was made again
                since, with other bytes.
        """
        if name not in self.known:
            self.known[name] = self._read(name)
        return self.known[name]

    def _read(self, name: str) -> Made:
        record = records.read(self.results / name)
        if record is None:
            raise DataError(
                f"{self.results / name}: nothing is known of what made it (no record); "
                "make it again."
            )
        if record["stage"] == records.RESTORE:  # as it was when it was published
            return Made.from_json(record["parameters"]["made"])
        code = record["parameters"].get("code", {})
        step = Step(record["stage"], tuple(code.get("choices", ())), code.get("fingerprint", ""))
        before = [self._input(name, *each) for each in sorted(record["inputs"].items())]
        machines = [m for each in record["inputs"] if (m := self._machine(each))]
        return Made(
            _sorted([step, *(s for made in before for s in made.steps)]),
            _sorted([record["commit"], *(c for made in before for c in made.commits)]),
            _sorted([*machines, *(m for made in before for m in made.hardware)]),
        )

    def _input(self, name: str, given: str, digits: str) -> Made:
        """Return what made an input; of a file that is no result nothing is known."""
        folder, _, rest = given.partition("/")
        if folder != records.RESULTS or not rest:
            return Made((), (), ())
        record = records.read(self.results / rest)
        if record is not None and record.get("sha256") != digits:
            raise DataError(
                f"{self.results / name}: was made from another {given} than the one that is there "
                "now; make it again."
            )
        return self.of(rest)

    def _machine(self, given: str) -> str | None:
        """Return the machine that trained a ranker, from the manifest beside it."""
        parts = given.split("/")
        if parts[:2] != [records.RESULTS, "rankers"] or len(parts) < 4:
            return None
        manifest = self.results.joinpath(*parts[1:4], "manifest.json")
        try:
            return str(read_json(manifest)["hardware"])
        except (DataError, KeyError, TypeError):
            return None


def _sorted(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(sorted(set(values)))
