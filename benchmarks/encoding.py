"""Encoding: the retriever's vectors, against sentence-transformers' `encode`."""

from functools import partial
from pathlib import Path

from benchmarks.setting import Outcome, Setting
from benchmarks.texts import START, load
from benchmarks.timing import Work, ratio, rounds
from benchmarks.workers import Side, workers
from poolbias.models.pretrained import folder_of

TEXTS = 512


def ours(folder: Path, count: int) -> Work:
    """Return the study's encoding of documents, in float32 as by default."""
    from poolbias.models.minilm import minilm
    from poolbias.retrieval.encode import encode

    return partial(encode, load(folder).documents[:count], minilm())


def peer(folder: Path, count: int) -> Work:
    """Return the peer's encoding of the same documents by the same model."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder_of(START)), device="cpu")
    return partial(model.encode, load(folder).documents[:count], show_progress_bar=False)


def encoding(setting: Setting) -> Outcome:
    """Measure documents per second."""
    count = setting.at_most(TEXTS)
    sides = {
        "ours": Side(partial(ours, setting.texts, count), ours=True),
        "peer": Side(partial(peer, setting.texts, count)),
    }
    with workers(sides, setting.threads) as works:
        found = rounds(works, setting.repeats)
    rates = [found.rate(name, count, "documents") for name in ("ours", "peer")]
    title = "encoding: ours / sentence-transformers, both float32"
    note = f"{rates[0]} against {rates[1]}"
    return Outcome([ratio(title, found.seconds["ours"], found.seconds["peer"], None, note)])
