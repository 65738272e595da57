"""What is known of each result: its hash as it was written, and what it was made from.

The record of `results/a/b.tsv` is `results/.records/a/b.tsv.json`. Records are no outputs of rules
and move with their results folder. What has none (a file of the user's own) is taken as it is.
"""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poolbias.errors import DataError
from poolbias.files import files_within, read_json, sha256_of, sha256_of_files, write_json

log = logging.getLogger("poolbias")

RESULTS, FOLDER = "results", ".records"
WEIGHTS = ".safetensors"  # of a model, which is all files of their folder
RESTORE = "restore"  # what the record of a restored file names as its stage


def place(result: Path | str) -> Path | None:
    """Return where the record of a result lies; None for a file that is in no results folder.

    A results folder is called `results`, or has records already under whatever name it has now.
    """
    path = absolute(result)
    for folder in path.parents:
        if folder.name == RESULTS or (folder / FOLDER).is_dir():
            return folder / FOLDER / f"{path.relative_to(folder)}.json"
    return None


def name(file: Path | str) -> str:
    """Return how a file is called in records: from its results folder on, if it is in one."""
    path = place(file)
    if path is None:
        return str(file)
    folder = next(parent for parent in path.parents if parent.name == FOLDER)
    return f"{RESULTS}/{path.relative_to(folder).as_posix().removesuffix('.json')}"


def locate(known: str, result: Path | str) -> Path:
    """Return where a file that a result's record names lies now, wherever the folder was moved."""
    path = place(result)
    if path is None or not known.startswith(f"{RESULTS}/"):
        return Path(known)
    folder = next(parent for parent in path.parents if parent.name == FOLDER)
    return folder.parent / known.removeprefix(f"{RESULTS}/")


def absolute(path: Path | str) -> Path:
    """Return a path from the root, without `..`, links kept as they are."""
    return Path(os.path.normpath(Path(path).absolute()))


def read(result: Path | str) -> dict[str, Any] | None:
    """Return the record of a result, or None where there is none that can be read."""
    path = place(result)
    if path is None or not path.is_file():
        return None
    try:
        found = read_json(path)
    except DataError as error:
        log.warning("%s The result that it is of is used unchecked.", error)
        return None
    return found if isinstance(found, dict) else None


def restored(result: Path | str) -> str:
    """Return the commit that made a result that was restored, empty for one made here."""
    record = read(result) or {}
    return str(record.get("commit", "")) if record.get("stage") == RESTORE else ""


def write(result: Path, made_by: dict[str, Any]) -> None:
    """Keep a result's hash and what made it, if it lies in a results folder."""
    path = place(result)
    if path is not None:
        write_json(path, describe(result) | made_by)


def forget(result: Path) -> None:
    """Remove a result's record, before the result is made again; of weights all of the model's."""
    path = place(result)
    for record in _beside(result) if result.suffix == WEIGHTS else [path]:
        if record is not None:
            record.unlink(missing_ok=True)


def describe(result: Path) -> dict[str, Any]:
    """Return `sha256` and `bytes` of a file; of a folder also `files`, the same for each in it."""
    if not result.is_dir():
        return {"sha256": sha256_of(result), "bytes": result.stat().st_size}
    files = {str(file.relative_to(result)): describe(file) for file in files_within(result)}
    total = sum(entry["bytes"] for entry in files.values())
    whole = sha256_of_files({name: entry["sha256"] for name, entry in files.items()})
    return {"sha256": whole, "bytes": total, "files": files}


def check(result: Path, whole: Path | None = None) -> str:
    """Return the SHA-256 of a file or folder that is to be read.

    It is read whole, however large: a byte that was changed shows neither in size nor in time.

    Args:
        result: the file or folder.
        whole: what is to be made again if it is damaged; the result itself if not given.

    Raises:
        DataError: if it has a record that tells of other bytes.
    """
    found, known = describe(result) if result.exists() else {}, read(result)
    if known is not None and known.get("sha256") != found.get("sha256"):
        wrong, was, needed = _difference(result, found, known)
        raise DataError(
            f"{wrong}: found {was}, need {needed} as {known.get('stage', 'its stage')} left it; "
            f"it was damaged or changed since: delete {whole or result} and run again (or, if you "
            f"mean it, delete its record {place(result)})."
        )
    digits: str = found["sha256"]
    return digits


def check_model(folder: Path) -> dict[Path, str]:
    """Return the SHA-256 of each file of a saved model, which is of use only as a whole.

    Raises:
        DataError: if a file has a record that tells of other bytes, or is missing and has one.
    """
    known = {folder / path.name.removesuffix(".json") for path in _beside(folder / "any")}
    files = {*files_within(folder), *(file for file in known if read(file))}
    return {file: check(file, whole=folder) for file in sorted(files)}


def of_models(files: Sequence[Path]) -> list[Path]:
    """Return what lies beside the models among some files and is not among these: configuration."""
    folders = [file.parent for file in files if file.name == "model.safetensors"]
    beside = [f for folder in folders if folder.is_dir() for f in files_within(folder)]
    return sorted(set(beside) - set(files))


def _beside(result: Path) -> list[Path]:
    """Return the records of a result and of what lies in its folder."""
    path = place(result)
    return sorted(path.parent.glob("[!.]*.json")) if path else []


def _difference(
    result: Path, found: dict[str, Any], known: dict[str, Any]
) -> tuple[Path, str, str]:
    """Return which file differs from its record, what it is and what it was."""
    files, before = found.get("files", {}), known.get("files", {})
    for name in sorted({*files, *before}):
        if files.get(name) != before.get(name):
            return _difference(result / name, files.get(name, {}), before.get(name, {}))
    told = [
        f"{entry['bytes']} bytes with SHA-256 {entry['sha256'][:12]}..." if entry else "no file"
        for entry in (found, known)
    ]
    return result, told[0], told[1]
