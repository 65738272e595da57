"""The files behind a number: per-query measures, logs and manifests of each system and seed."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from poolbias import records

_KEYS = ("experiment", "collection", "pool", "retriever", "method")
_COUNTS = ".false-negatives-"


@dataclass(frozen=True)
class Link:
    """Words that lead to a file; `href` is relative to the page."""

    text: str
    href: str


@dataclass
class System:
    """A measured system with the files behind its numbers, in lines of one seed each."""

    anchor: str
    id: str
    about: Mapping[str, str]
    lines: list[tuple[str, list[Link]]] = field(default_factory=list)


class Witnesses:
    """The systems of a study by id, and links to their files as far as these are there.

    Args:
        systems: as `poolbias.evaluation.listing.unpack` returns them.
        page: the page that links start from.
        marks: what names of files of measures, and of counts, end in before `.tsv`.
    """

    def __init__(
        self, systems: Iterable[Mapping[str, Any]], page: Path, marks: tuple[str, str]
    ) -> None:
        self._page, self._marks = page, marks
        self.systems: dict[str, System] = {}
        files: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
        for system in systems:
            name = system_id(system)
            if name not in self.systems:
                about = {key: str(system[key]) for key in (*_KEYS, "ranker")}
                self.systems[name] = System(f"files-{len(self.systems) + 1}", name, about)
            files.setdefault((name, int(system["seed"])), []).append(system)
        for (name, seed), measured in files.items():
            links = list(self._links(measured))
            self.systems[name].lines.append((f"seed {seed}" if seed else "no seed", links))

    def anchor(self, name: str) -> str:
        """Return the page's anchor of a system, empty if it is none of the study's."""
        return f"#{self.systems[name].anchor}" if name in self.systems else ""

    def link(self, text: str, path: str | PurePath) -> Iterator[Link]:
        """Yield a link to a file that is there, nothing for one that is not."""
        if Path(path).is_file():
            yield Link(text, relative(path, self._page))

    def _links(self, measured: Sequence[Mapping[str, Any]]) -> Iterator[Link]:
        """Yield the files of one seed: measures and their logs, then what was before them."""
        for system in measured:
            made = records.restored(system["path"])
            text = f"by {system['judgements']}{f', restored from {made[:12]}' if made else ''}"
            yield from self.link(text, system["path"])
        paths = [system["path"].replace("results/restored/", "results/", 1) for system in measured]
        for system, path in zip(measured, paths, strict=True):
            yield from self.link(f"log by {system['judgements']}", self._log(path))
        path = PurePosixPath(paths[0])
        if "rankings" not in path.parts:
            return
        below = path.parts[path.parts.index("rankings") + 1 :]
        split = path.name.partition(".")[0]
        logs = PurePosixPath("results/logs")
        for stage in ("rerank", "join_halves"):
            ranking = logs.joinpath(stage, *below[:-1], f"{split}.log")
            yield from self.link("log of ranking", ranking)
        for stage in ("train_ranker", "train_coupled_ranker"):
            yield from self.link("log of training", logs / stage / below[0] / f"{below[1]}.log")
        ranker = PurePosixPath("results/rankers").joinpath(*below[:2])
        yield from self.link("steps", ranker / "training.tsv")
        yield from self.link("manifest", ranker / "manifest.json")

    def _log(self, path: str) -> PurePosixPath:
        """Return the log of what measured a file of `results/metrics/`."""
        measures, counts = self._marks
        below = PurePosixPath(path).relative_to("results/metrics")
        stem = below.name.removesuffix(".tsv")
        if _COUNTS in stem:
            split, _, pool = stem.removesuffix(counts).partition(_COUNTS)
            folder = PurePosixPath("count_false_negatives", *below.parts[1:-1])
            return PurePosixPath("results/logs") / folder / f"{split}.{pool}.log"
        name = f"{stem.removesuffix(measures)}.log"
        return PurePosixPath("results/logs/evaluate") / below.parent / name


def system_id(system: Mapping[str, Any]) -> str:
    """Return what tells a system from others, as `poolbias.claims.systems.Ranked.id` does."""
    return "/".join(str(system[key]) for key in _KEYS)


def relative(path: str | PurePath, page: Path) -> str:
    """Return a path as seen from the folder of a page, with `/` between its parts."""
    return Path(os.path.relpath(path, page.parent)).as_posix()
