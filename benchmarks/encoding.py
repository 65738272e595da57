"""Encoding: the retriever's vectors, against sentence-transformers' `encode`."""

from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.setting import Outcome, Setting
from benchmarks.texts import START, load
from benchmarks.timing import Work, ratio, rounds
from benchmarks.workers import Side, workers
from poolbias.models.pretrained import folder_of

TEXTS = 512


def ours(folder: Path, count: int, precision: Literal["float32", "bf16"]) -> Work:
    """Return the study's encoding of documents, in a precision."""
    from poolbias.models.minilm import minilm
    from poolbias.retrieval.encode import encode

    return partial(encode, load(folder).documents[:count], minilm(), precision=precision)


def peer(folder: Path, count: int, precision: str) -> Work:
    """Return the peer's encoding of the same documents by the same model."""
    import torch
    from sentence_transformers import SentenceTransformer

    kinds = {"float32": torch.float32, "bf16": torch.bfloat16}
    given = {"dtype": kinds[precision]}
    model = SentenceTransformer(str(folder_of(START)), device="cpu", model_kwargs=given)
    return partial(model.encode, load(folder).documents[:count], show_progress_bar=False)


def encoding(setting: Setting) -> Outcome:
    """Measure documents per second against the peer's better precision; and whether both agree."""
    count = setting.at_most(TEXTS)
    sides = {
        f"{name} {precision}": Side(partial(make, setting.texts, count, precision), name == "ours")
        for name, make in (("ours", ours), ("peer", peer))
        for precision in ("float32", "bf16")
    }
    with workers(sides, setting.threads) as works:
        found = rounds(works, setting.repeats)
    best = {
        name: min((side for side in sides if side.startswith(name)), key=found.median)
        for name in ("ours", "peer")
    }
    rates = [found.rate(best[name], count, f"documents ({best[name]})") for name in best]
    reference = np.asarray(found.results["peer float32"][0], np.float64)
    cosines = [
        float((_unit(found.results[side][0]) * _unit(reference)).sum(axis=1).min())
        for side in ("ours float32", "ours bf16")
    ]
    note = (
        f"{rates[0]} against {rates[1]}; least cosine with the peer's float32 {cosines[0]:.6f} "
        f"(float32), {cosines[1]:.6f} (bf16)"
    )
    seconds = found.seconds
    title = "encoding: ours / sentence-transformers"
    fastest = (seconds[best["ours"]], seconds[best["peer"]])
    return Outcome(
        [
            ratio(f"{title}, each at its best", fastest[0], fastest[1], 1.5, note),
            ratio(f"{title}, both float32", seconds["ours float32"], seconds["peer float32"]),
        ]
    )


def _unit(vectors: object) -> NDArray[np.float64]:
    array = np.asarray(vectors, np.float64)
    return np.asarray(array / np.linalg.norm(array, axis=1, keepdims=True))
