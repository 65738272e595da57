"""Models, collections' sources and Anserini's jar: what the study reads and does not make."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from poolbias.config.experiments import expand
from poolbias.config.given import Given
from poolbias.config.study import Study
from poolbias.doctor.finding import BAD, DOUBT, Finding
from poolbias.errors import DataError, PoolbiasError
from poolbias.files import sha256_of
from poolbias.models.pretrained import folder_of
from poolbias.retrieval.java import find_jar

INSTALL = "run `make environment`"
# Bytes of all but rankers: indexes, vectors, runs, rankings, metrics, logs. Our choice: several
# times what the default study takes.
OTHER = 1e9
CHECKPOINT = 3  # a model and AdamW's two averages
CHECKPOINTS = 2


def models(study: Study) -> Finding:
    """Return whether the published models of a study are there, by path, size and hash."""
    return _all("models", sorted(models_of(study)), folder_of)


def jar(study: Study) -> Finding:
    """Return whether Anserini's jar is there, if the study has BM25."""
    if not has_bm25(study):
        return Finding("Anserini", "not looked for", "none by this study")
    return _all("Anserini", ["the jar"], lambda _: find_jar())


def sources(study: Study) -> Finding:
    """Return whether what the study's collections are made from is there."""
    collections: dict[str, Any] = {item.kind: item for item in study.collections.values()}
    return _all("collections", sorted(collections), lambda kind: _source(collections[kind]))


def bytes_needed(study: Study, results: Path, jobs: int) -> float:
    """Return an estimate of the bytes that a study's missing results take, at most.

    Args:
        study: the study.
        results: the folder of results; rankers that are there count no more.
        jobs: trainings at a time, which keep checkpoints.
    """
    model = max((_size(folder_of(name)) for name in models_of(study)), default=0)
    total, most = 0.0, 0
    for experiment in expand(study):
        learners = 2 if experiment.coupled else 1
        kept = learners * (1 + len(study.probe.steps) * experiment.coupled)
        for seed in study.seeds:
            folder = results / "rankers" / experiment.name / f"seed-{seed}"
            if not (folder / "manifest.json").exists():
                total += kept * model
                most = max(most, learners)
    return total + most * CHECKPOINT * CHECKPOINTS * model * jobs + OTHER


def models_of(study: Study) -> set[str]:
    """Return the names of the published models that a study's rankers and retrievers start from."""
    retrievers = study.retrievers.values()
    dense: set[str] = {item.model for item in retrievers if item.kind == "dense"}
    starts = {item.start for item in retrievers if item.kind == "trained"}
    dense |= starts - set(study.retrievers)
    return dense | {ranker.start for ranker in study.rankers.values()}


def has_bm25(study: Study) -> bool:
    """Return whether a study searches with BM25."""
    return any(item.kind == "bm25" for item in study.retrievers.values())


def _source(collection: Any) -> Path | None:
    """Return where a collection is made from; None if that is downloaded first.

    Raises:
        PoolbiasError: if it is missing or is not what the study used.
    """
    if collection.kind == "wordnet":
        from poolbias.collections.wordnet import find_database

        found = find_database(collection.folder)
        return found[0] if found else None
    if isinstance(collection, Given):
        files = getattr(collection, "files", {})
        lacking = [
            path for what, path in files.items() if not what.endswith("?") and not _there(path)
        ]
        if lacking:
            raise DataError(f"found no {lacking[0]}")
        official = [Path("results/sources") / name.rstrip("/") for name in collection.sources]
        return None if not all(path.exists() for path in official) else Path()
    from poolbias.collections import hpo

    path = hpo.find_ontology()
    if sha256_of(path) != hpo.SHA256:
        raise DataError(f"{path} is not the ontology of {hpo.RELEASE}")
    return path


def _there(path: str) -> bool:
    return Path(path).is_file() or Path(f"{path}.gz").is_file()


def _all(subject: str, names: Sequence[str], find: Callable[[str], Path | None]) -> Finding:
    needed = ", ".join(names)
    missing = []
    for name in names:
        try:
            if find(name) is None:
                missing.append(name)
        except PoolbiasError as error:
            return Finding(subject, f"a fault: {str(error).rstrip('.')}", needed, BAD, INSTALL)
    if missing:
        fix = "start the study where there is a network: its `retrieve_` rules fetch them"
        return Finding(subject, f"no {', '.join(missing)} yet", needed, DOUBT, fix)
    return Finding(subject, "all there, unchanged", needed)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
