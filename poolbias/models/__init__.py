"""Models: rankers (cross-encoders) and bi-encoders.

A ranker's module has `start(parameters, seed)`, `scores(ranker, batches, precision)`,
`save(ranker, folder)` and `load(folder)`.
"""

from pathlib import Path
from typing import Any

from poolbias.errors import DataError
from poolbias.files import read_json
from poolbias.registry import resolve

RANKERS = {
    "bert": "poolbias.models.bert",
    "prop": "poolbias.models.bert",
    "ernie": "poolbias.models.bert",
    "cedr_knrm": "poolbias.models.cedr_knrm",
    "parade_max": "poolbias.models.parade_max",
}
# The architecture that a saved ranker's config.json names, and the module that reads it.
ARCHITECTURES = {
    "BertForSequenceClassification": "bert",
    "CedrKnrm": "cedr_knrm",
    "ParadeMax": "parade_max",
}


def ranker(kind: str) -> Any:
    """Return the module of the rankers of `kind`; `ConfigError` if there is none."""
    return resolve("ranker", RANKERS, kind)


def load(folder: Path | str) -> Any:
    """Load a ranker that this study saved, in evaluation mode.

    Raises:
        DataError: if the folder holds no ranker of a known architecture, or a damaged one.
    """
    return ranker(kind_of(folder)).load(folder)


def kind_of(folder: Path | str) -> str:
    """Return the kind of the ranker saved in `folder`, as its config.json tells.

    Raises:
        DataError: if there is no config.json, or it names another architecture than these.
    """
    names = read_json(Path(folder) / "config.json").get("architectures") or ["none"]
    if names[0] not in ARCHITECTURES:
        raise DataError(
            f"{folder}/config.json: architecture is {names[0]}, need one of "
            f"{', '.join(ARCHITECTURES)}; point to a ranker of this study."
        )
    return ARCHITECTURES[names[0]]
