"""The token store: its build, and batches from it, against the tokenizer called text by text."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from benchmarks.setting import Outcome, Setting
from benchmarks.texts import LIMITS, LONGEST, Rows, Texts, load, tokenizer_file
from benchmarks.timing import Work, ratio, rounds
from benchmarks.workers import Side, workers
from poolbias import tokens

DOCUMENTS, SEQUENCES, BATCHES = 8192, 64, 32


def build(folder: Path, count: int, output: Path) -> Work:
    """Return the build of a store of so many documents and an eighth of that in queries."""
    documents, queries = _some(load(folder), count)
    return partial(tokens.build, documents, queries, tokenizer_file(), output / "store")


def plain_build(folder: Path, count: int, output: Path) -> Work:
    """Return the same by a loop over texts."""

    def work() -> None:
        tokenizer = Tokenizer.from_file(str(tokenizer_file()))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        for name, texts in zip(("documents", "queries"), _some(load(folder), count), strict=True):
            ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
            np.save(output / f"{name}.npy", np.concatenate([np.asarray(each) for each in ids]))

    return work


def batches(folder: Path, count: int) -> Work:
    """Return the making of so many batches from the store."""
    texts = load(folder)
    return lambda: [
        texts.store.sequences(queries, documents, LIMITS)
        for queries, documents in _pairs(texts, count)
    ]


def plain_batches(folder: Path, count: int) -> Work:
    """Return the making of the same batches by the tokenizer, padded."""
    texts = load(folder)
    tokenizer = Tokenizer.from_file(str(tokenizer_file()))
    tokenizer.enable_truncation(LONGEST)
    tokenizer.enable_padding()

    def batch(queries: Rows, documents: Rows) -> Any:
        pairs = zip(queries, documents, strict=True)
        found = tokenizer.encode_batch([(texts.queries[q], texts.documents[d]) for q, d in pairs])
        return np.asarray([(each.ids, each.attention_mask) for each in found])

    return lambda: [batch(*rows) for rows in _pairs(texts, count)]


def store(setting: Setting) -> Outcome:
    """Measure texts per second of the build, and sequences per second of batches."""
    documents, count = setting.at_most(DOCUMENTS), setting.at_most(BATCHES)
    with tempfile.TemporaryDirectory(prefix="poolbias-benchmark-") as name:
        output = Path(name)
        sides = {
            "build": Side(partial(build, setting.texts, documents, output), ours=True),
            "plain build": Side(partial(plain_build, setting.texts, documents, output)),
            "batches": Side(partial(batches, setting.texts, count), ours=True),
            "plain batches": Side(partial(plain_batches, setting.texts, count)),
        }
        with workers(sides, setting.threads) as works:
            found = rounds(works, setting.repeats)
    ratios = []
    for ours, each, total, unit in (
        ("build", "text", documents + documents // 8, "texts"),
        ("batches", "batch", SEQUENCES * count, "sequences"),
    ):
        other = f"plain {ours}"
        note = f"{found.rate(ours, total, unit)} against {found.rate(other, total, unit)}"
        title = f"tokens: {ours} / the tokenizer called for each {each}"
        ratios.append(ratio(title, found.seconds[ours], found.seconds[other], None, note))
    return Outcome(ratios)


def _some(texts: Texts, count: int) -> tuple[list[str], list[str]]:
    return texts.documents[:count], texts.queries[: count // 8]


def _pairs(texts: Texts, count: int) -> list[tuple[Rows, Rows]]:
    """Return the rows of queries and of documents of so many batches."""
    queries, documents = texts.pairs(SEQUENCES * count, seed=4)
    return list(zip(np.split(queries, count), np.split(documents, count), strict=True))
