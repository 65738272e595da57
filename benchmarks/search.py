"""Exact search: against faiss' exact index."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.setting import Outcome, Setting
from benchmarks.timing import Work, ratio, rounds
from benchmarks.workers import Side, workers
from poolbias.retrieval.search import search as exact

DOCUMENTS, QUERIES, DIMENSION, DEPTH = 2**15, 2**10, 384, 100
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
    return Outcome(
        [
            ratio(
                "search: ours / faiss, both exact",
                times["ours"],
                times["faiss"],
                None,
                f"{rates[0]} against {rates[1]}; ours sums again in float64",
            )
        ]
    )
