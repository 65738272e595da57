"""Collecting what a study has finished into a folder that is committed."""

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from poolbias import records
from poolbias.config import experiments as naming
from poolbias.config.study import Study
from poolbias.errors import DataError
from poolbias.files import atomic_path, sha256_of
from poolbias.publishing import archives, manifest
from poolbias.publishing.lineage import Lineages, stale
from poolbias.publishing.manifest import Entry, Manifest
from poolbias.publishing.restore import FOLDER


@dataclass
class Published:
    """What was published, and a sentence for each file that was left out."""

    manifest: Manifest
    left_out: dict[str, str] = field(default_factory=dict)


def publish(study: Study, results: Path, folder: Path, root: Path) -> Published:
    """Pack the finished metrics of a study, and copy its figures, tables and claims.

    Only what the code of now has made is taken. What was published before and is not among the
    results here stays, if the code of now would still make it so.

    Args:
        study: the study.
        results: the folder of results.
        folder: where the published study is to lie; it gets `manifest.json`, `metrics/…` and what
            `results/<study>/` holds.
        root: folder of the repository.

    Raises:
        DataError: if a result differs from its record, or what was published before is damaged.
    """
    published = Published(Manifest(study.study))
    lineages = Lineages(results)
    contents: dict[str, bytes] = {}
    for place in ("", f"{FOLDER}/"):  # what was made here comes first
        for name in sorted(set(finished(study, results / place)) - contents.keys()):
            if entry := _entry(place + name, lineages, root, published.left_out):
                archive = archive_of(name)
                published.manifest.files[name] = Entry(entry.sha256, archive, entry.made)
                contents[name] = (results / place / name).read_bytes()
    contents |= _kept(folder, published, root)
    _write_archives(folder, published.manifest, contents)
    _copy_shown(results / study.study, folder, lineages, root, published)
    published.manifest.write(folder / manifest.NAME)
    _remove_others(folder, published.manifest)
    return published


def finished(study: Study, results: Path) -> Iterator[str]:
    """Yield the small files behind a study's figures, tables and claims that are there.

    They are the metrics of rankings, runs and candidates, and of coupled rankers the probes and
    the course of the training; each by its path from `results` on.
    """
    split, seeds = study.evaluation.split, {f"seed-{seed}" for seed in study.seeds}
    experiments = {e.name: e for e in naming.expand(study)}
    experiments |= {row.experiment.name: row.experiment for row in naming.rows(study)}
    patterns = [
        f"metrics/runs/{naming.folder(collection)}/{naming.folder(retriever)}/*.tsv"
        for collection in study.collections.values()
        for retriever in study.retrievers.values()
    ]
    for name, experiment in experiments.items():
        patterns.append(f"metrics/rankings/{name}/seed-*/**/{split}.*.tsv")
        patterns.append(f"metrics/candidates/{naming.candidates_key(study, experiment)}.tsv")
        if experiment.coupled:
            patterns.append(f"probes/{name}/seed-*/**/{split}.tsv.gz")
            patterns.append(f"rankers/{name}/seed-*/training.tsv")
    for pattern in patterns:
        for path in results.glob(pattern):
            found = path.relative_to(results).parts
            if found[1] in ("runs", "candidates") or seeds & set(found):
                yield "/".join(found)


def archive_of(name: str) -> str:
    """Return the archive that a file is packed into: one per experiment, one of all runs."""
    parts = name.split("/")
    kind = parts[1] if parts[0] == "metrics" else parts[0]
    own = parts[2] if parts[0] == "metrics" else parts[1]
    return f"metrics/{kind if kind in ('runs', 'candidates') else own}.tar.xz"


def _entry(name: str, lineages: Lineages, root: Path, left_out: dict[str, str]) -> Entry | None:
    digits = records.check(lineages.results / name)
    try:
        made = lineages.of(name)
    except DataError as error:
        left_out[name] = str(error)
        return None
    if others := stale(made, root):
        left_out[name] = _other_code(lineages.results / name, others)
        return None
    return Entry(digits, "", made)


def _other_code(path: Path, stages: list[str]) -> str:
    return f"{path}: was made by other code of {', '.join(stages)} than is here; make it again."


def _kept(folder: Path, published: Published, root: Path) -> dict[str, bytes]:
    """Return the contents of what was published before and is not here; note them as entries."""
    if not (folder / manifest.NAME).exists():
        return {}
    before = manifest.read(folder / manifest.NAME)
    kept: dict[str, bytes] = {}
    packed: dict[str, dict[str, bytes]] = {}
    for name, entry in before.files.items():
        if name in published.manifest.files or name in published.left_out:
            continue
        if others := stale(entry.made, root):
            published.left_out[name] = _other_code(folder / entry.archive, others)
            continue
        if entry.archive not in packed:
            packed[entry.archive] = archives.unpack(folder / entry.archive)
        content = packed[entry.archive].get(name, b"")
        if hashlib.sha256(content).hexdigest() != entry.sha256:
            raise DataError(f"{folder / entry.archive}: holds another {name}; restore the archive.")
        kept[name] = content
        published.manifest.files[name] = entry
    return kept


def _write_archives(folder: Path, found: Manifest, contents: dict[str, bytes]) -> None:
    packed: dict[str, dict[str, bytes]] = {}
    for name, entry in found.files.items():
        packed.setdefault(entry.archive, {})[name] = contents[name]
    for archive, files in sorted(packed.items()):
        archives.pack(folder / archive, files)
        found.archives[archive] = sha256_of(folder / archive)


def _copy_shown(
    source: Path, folder: Path, lineages: Lineages, root: Path, published: Published
) -> None:
    """Copy what the study shows, if it was made from what lies there now, by the code of now."""
    for path in sorted(file for file in source.rglob("*") if file.is_file()):
        name = str(path.relative_to(lineages.results))
        if path.name.startswith(".") or not _entry(name, lineages, root, published.left_out):
            continue
        target = folder / path.relative_to(source)
        with atomic_path(target) as temporary:
            shutil.copyfile(path, temporary)
        published.manifest.shown[str(target.relative_to(folder))] = sha256_of(target)


def _remove_others(folder: Path, found: Manifest) -> None:
    """Remove the files of an earlier publication that this one does not name."""
    named = {folder / name for name in [*found.archives, *found.shown, manifest.NAME, "README.md"]}
    for path in [file for file in folder.rglob("*") if file.is_file()]:
        if path not in named:
            path.unlink()
