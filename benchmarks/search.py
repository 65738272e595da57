"""Exact search: against faiss' exact index, and its memory against what it was given."""

import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.growth import peak_of
from benchmarks.setting import Outcome, Setting
from benchmarks.timing import Work, ratio, rounds
from benchmarks.workers import Side, measure, workers
from poolbias.retrieval.search import search as exact
from poolbias.retrieval.vectors import VectorFile

DOCUMENTS, QUERIES, DIMENSION, DEPTH = 100_000, 1000, 384, 1000
ON_DISK, BUDGETS = 2_000_000, (256, 512)  # documents, MB
Vectors = NDArray[np.float32]


def vectors(queries: int) -> tuple[Vectors, Vectors]:
    """Return unit vectors of queries and documents, float32 [n, dimension] each."""
    generator = np.random.default_rng(1)
    drawn = generator.normal(size=(queries + DOCUMENTS, DIMENSION)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn[:queries], drawn[queries:]


def ours(queries: int) -> Work:
    """Return the study's search."""
    return partial(exact, *vectors(queries), DEPTH)


def peer(queries: int, threads: int) -> Work:
    """Return the search of faiss' `IndexFlatIP`, filled beforehand."""
    import faiss

    faiss.omp_set_num_threads(threads)
    asked, documents = vectors(queries)
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(documents)
    return partial(index.search, asked, DEPTH)


def search(setting: Setting) -> Outcome:
    """Measure queries per second against faiss."""
    queries = setting.at_most(QUERIES)
    sides = {
        "ours": Side(partial(ours, queries), ours=True),
        "faiss": Side(partial(peer, queries, setting.threads)),
    }
    with workers(sides, setting.threads) as works:
        found = rounds(works, setting.repeats)
    rates = [found.rate(name, queries, "queries") for name in ("ours", "faiss")]
    times = found.seconds
    found_ratio = ratio(
        "search: ours / faiss, both exact",
        times["ours"],
        times["faiss"],
        1.0,
        f"{rates[0]} against {rates[1]}; ours sums again in float64",
    )
    return Outcome([found_ratio], {"search_memory": memory(setting)})


def memory(setting: Setting) -> pd.DataFrame:
    """Return what a search of vectors on disk takes, by its budget and the number of documents.

    Columns: documents, megabytes (on disk), budget (MB), peak (MB beyond what was held before),
    seconds.
    """
    rows = []
    most = setting.at_most(ON_DISK)
    with tempfile.TemporaryDirectory() as folder:
        for documents in (most // 8, most):
            path = Path(folder) / f"{documents}.npy"
            write(path, documents)
            size = path.stat().st_size / 1e6
            for budget in BUDGETS:
                side = Side(partial(on_disk, path, budget), ours=True)
                peak, seconds = measure(side, setting.threads)
                rows.append((documents, size, budget, peak, seconds))
    return pd.DataFrame(rows, columns=["documents", "megabytes", "budget", "peak", "seconds"])


def write(path: Path, documents: int) -> None:
    """Write random unit vectors, float16, block by block."""
    generator = np.random.default_rng(2)
    file = np.lib.format.open_memmap(path, "w+", np.float16, (documents, DIMENSION))
    for start in range(0, documents, 2**14):
        block = generator.normal(size=(min(2**14, documents - start), DIMENSION))
        file[start : start + len(block)] = block / np.linalg.norm(block, axis=1, keepdims=True)
    file.flush()


def on_disk(path: Path, budget: int) -> Work:
    """Return a work: search the file, and return its peak memory (MB) and seconds."""
    asked = vectors(256)[0]
    exact(asked[:2], vectors(2)[1][:100], 10)  # what a first call loads

    def work() -> tuple[float, float]:
        start = time.perf_counter()
        peak = peak_of(lambda: exact(asked, VectorFile(path), DEPTH, memory=budget))
        return peak, time.perf_counter() - start

    return work
