"""Bi-encoders in folders: ours, and those of published layouts."""

from pathlib import Path

from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from poolbias.errors import DataError
from poolbias.files import atomic_folder, read_json, write_json
from poolbias.models.biencoder import ARCHITECTURES, BiEncoder, Tower
from poolbias.models.layout import load_weights, pretrained_network

DESCRIPTION = "biencoder.json"
VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json")


def save(model: BiEncoder, folder: Path) -> None:
    """Write a folder: weights, the encoder's config.json, the tokenizer and `biencoder.json`."""
    with atomic_folder(folder) as temporary:
        weights = {name: part.contiguous() for name, part in model.state_dict().items()}
        save_file(weights, temporary / "model.safetensors", {"format": "pt"})
        model.tower("query").network.config.save_pretrained(temporary)
        model.tokenizer.no_truncation()
        model.tokenizer.save(str(temporary / "tokenizer.json"))
        told = {"architecture": model.name, "limits": list(model.limits)}
        write_json(temporary / DESCRIPTION, told)


def load(folder: Path) -> BiEncoder:
    """Load a bi-encoder that `save` wrote, in evaluation mode.

    Raises:
        DataError: if a file is missing or damaged, or a weight is missing or has no place.
    """
    told = read_json(folder / DESCRIPTION)
    try:
        name, limits = str(told["architecture"]), (int(told["limits"][0]), int(told["limits"][1]))
    except (KeyError, TypeError, ValueError, IndexError):
        name = ""
    if name not in ARCHITECTURES:
        raise DataError(
            f"{folder}/{DESCRIPTION}: does not tell a known bi-encoder (found {str(told)[:80]}); "
            "delete the folder and train again."
        )
    return load_published(folder, name, limits)


def load_published(
    folder: Path, name: str, limits: tuple[int, int], lower_case: bool = False
) -> BiEncoder:
    """Load a bi-encoder from a folder of a published layout, in evaluation mode.

    Args:
        folder: with `config.json`, the weights (`layout.load_weights`) and the tokenizer's files.
        name: of the architecture.
        limits: most word pieces of a query and of a document.
        lower_case: whether texts are put into small letters first.

    Raises:
        DataError: if a file is missing or damaged, or a weight is missing or has no place.
    """
    architecture = ARCHITECTURES[name]
    towers = [
        Tower(pretrained_network(folder, None, weights=False), architecture.head)
        for _ in range(2 if architecture.twin else 1)
    ]
    model = BiEncoder(name, towers, _tokenizer(folder), limits)
    model.lower_case = lower_case
    load_weights(model, folder)
    return model.eval()


def _tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of a folder, also of one that has only a vocabulary's files."""
    if (folder / "tokenizer.json").exists():
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    if not any((folder / name).exists() for name in VOCABULARIES):  # it would make an empty one
        raise DataError(
            f"{folder}: has no tokenizer ({', '.join(VOCABULARIES)}), need the files that were "
            "published with the weights; fetch them."
        )
    tokenizer: Tokenizer = AutoTokenizer.from_pretrained(
        folder, local_files_only=True
    ).backend_tokenizer
    return tokenizer
