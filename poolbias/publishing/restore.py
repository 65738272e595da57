"""Taking up published metrics: so that what was measured once is not trained again.

They go to a place of their own, `results/restored/`, under the path that they would have among the
results. The rules read them there as long as nothing of that path was made here, and as long as the
code of now would make the same; a stage that would make them is then not run.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from poolbias import records
from poolbias.errors import DataError
from poolbias.files import atomic_path, sha256_of
from poolbias.publishing import archives, manifest
from poolbias.publishing.lineage import stale

FOLDER = "restored"  # below results/


@dataclass
class Restored:
    """What was restored, and what was refused, by the stages whose code differs.

    Attributes:
        study: the published study's name.
        files: files that may be used, by their path from `results` on.
        refused: the stages of other code, by file.
        commits: the commits that made what was refused.
    """

    study: str
    files: list[str] = field(default_factory=list)
    refused: dict[str, list[str]] = field(default_factory=dict)
    commits: set[str] = field(default_factory=set)

    def sentence(self) -> str:
        """Return what was refused, why, and what to do; nothing where nothing was."""
        if not self.refused:
            return ""
        stages = ", ".join(sorted({stage for each in self.refused.values() for stage in each}))
        commits = ", ".join(sorted(commit.rstrip("+")[:12] for commit in self.commits))
        return (
            f"study {self.study}: {len(self.refused)} of its published files are not used, since "
            f"other code than is here made them ({stages}): work at commit {commits}, or make them "
            "again."
        )


def restore(folder: Path, results: Path, root: Path) -> Restored:
    """Unpack a published study's metrics below `results/restored/`, where the rules find them.

    Args:
        folder: the published study.
        results: the folder of results.
        root: folder of the repository, whose code must be that which made the files.

    Raises:
        DataError: if an archive or a file in it is not as the manifest says; nothing is written
            then.
    """
    found = manifest.read(folder / manifest.NAME)
    done = _sorted_out(found, root)
    contents = _unpacked(folder, found)
    for name in done.files:
        path = results / FOLDER / name
        with atomic_path(path) as temporary:
            temporary.write_bytes(contents[name])
        made = found.files[name].made.to_json()
        made_by = {"stage": records.RESTORE, "parameters": {"made": made}, "inputs": {}}
        records.write(path, made_by | {"commit": ", ".join(made["commits"])})
    kept = {name: found.files[name] for name in done.files}
    index = manifest.Manifest(found.study, kept, found.archives)
    index.write(results / FOLDER / f"{found.study}.json")
    return done


def usable(results: Path, root: Path) -> list[Restored]:
    """Return per restored study the files that stand in for results, and those that may not.

    A file of this folder's own, at its own path, comes first: its restored like is not listed.

    Args:
        results: the folder of results.
        root: folder of the repository.

    Raises:
        DataError: if an index of what was restored is damaged.
    """
    found = []
    for index in sorted((results / FOLDER).glob("*.json")):
        done = _sorted_out(manifest.read(index), root)
        done.files = [
            name
            for name in done.files
            if (results / FOLDER / name).is_file() and not (results / name).exists()
        ]
        found.append(done)
    return found


def _sorted_out(found: manifest.Manifest, root: Path) -> Restored:
    done = Restored(found.study)
    for name, entry in found.files.items():
        if others := stale(entry.made, root):
            done.refused[name] = others
            done.commits |= set(entry.made.commits)
        else:
            done.files.append(name)
    return done


def _unpacked(folder: Path, found: manifest.Manifest) -> dict[str, bytes]:
    """Return the contents of all files, each as its manifest says."""
    contents: dict[str, bytes] = {}
    for archive, digits in found.archives.items():
        path = folder / archive
        if path.is_file() and sha256_of(path) != digits:
            raise DataError(
                f"{path}: SHA-256 is {sha256_of(path)[:12]}…, need {digits[:12]}… as the manifest "
                "beside it says; restore the archive."
            )
        contents |= archives.unpack(path)
    for name, entry in found.files.items():
        if not archives.inside(name) or name not in contents:
            raise DataError(f"{folder / entry.archive}: holds no {name}; restore the archive.")
        if hashlib.sha256(contents[name]).hexdigest() != entry.sha256:
            raise DataError(f"{folder / entry.archive}: holds another {name}; restore the archive.")
    return contents
