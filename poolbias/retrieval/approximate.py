"""Search by an index of faiss (Johnson et al.), an optional package; torch is never imported here.

Both bring a runtime of OpenMP of their own, so that this has a stage, and a process, of its own.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolbias.errors import ToolError
from poolbias.retrieval.vectors import VectorFile

BLOCK = 2**14


def search(
    queries: NDArray[np.float32],
    documents: VectorFile,
    depth: int,
    options: dict[str, Any],
    tie_order: NDArray[np.int64],
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the documents that an index finds for each query, scored again exactly.

    `flat` compares with every document, `ivf` with those of the lists nearest to the query, `hnsw`
    walks a graph. What is found is scored as the exact search scores it: in float64, each pair by
    itself, rounded to float32.

    Args:
        queries: float32 [n, dimension].
        documents: the file of float32 or float16 [m, dimension].
        depth: how many documents per query.
        options: `kind`; of `ivf` also `lists` and `probes`, of `hnsw` `neighbours`, `construction`
            and `breadth`.
        tie_order: int64 [m], of equal scores the lower comes first.
        threads: of faiss.

    Returns:
        Rows of `documents`, int64 [n, min(depth, m)], best first, and their scores, float32; where
        an index finds fewer the last rows are −1.

    Raises:
        ToolError: if faiss is not installed.
    """
    faiss = _faiss()
    faiss.omp_set_num_threads(threads)
    index = _filled(faiss, documents, options)
    keep = min(depth, len(documents))
    _, rows = index.search(np.ascontiguousarray(queries, np.float32), keep)
    rows = rows.astype(np.int64)
    scores = np.full(rows.shape, -np.inf, np.float32)
    # the documents found are read in the order of the file, each once for all its queries
    order = np.argsort(rows, axis=None, kind="stable")
    order = order[np.searchsorted(rows.ravel()[order], 0) :]
    flat, asked = rows.ravel(), queries.astype(np.float64)
    for start in range(0, len(documents), BLOCK):
        first, last = np.searchsorted(flat[order], [start, start + BLOCK])
        places = order[first:last]
        block = documents[start : start + BLOCK].astype(np.float64)
        pairs = asked[places // keep], block[flat[places] - start]
        scores.reshape(-1)[places] = np.vecdot(*pairs).astype(np.float32)
    ties = np.where(rows < 0, len(documents), tie_order[rows])
    best = np.lexsort((ties, -scores), axis=1)
    return np.take_along_axis(rows, best, axis=1), np.take_along_axis(scores, best, axis=1)


def _filled(faiss: Any, documents: VectorFile, options: dict[str, Any]) -> Any:
    """Return an index that holds all documents."""
    dimension, metric = documents.shape[1], faiss.METRIC_INNER_PRODUCT
    if options["kind"] == "flat":
        index = faiss.IndexFlatIP(dimension)
    elif options["kind"] == "ivf":
        lists = min(options["lists"], max(len(documents) // 39, 1))  # faiss asks for 39 each
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimension), dimension, lists, metric)
        index.nprobe = min(options["probes"], lists)
        step = max(len(documents) // (lists * 256), 1)  # as many as its clustering looks at
        blocks = range(0, len(documents), BLOCK)
        sample = [documents[start : start + BLOCK][::step].astype(np.float32) for start in blocks]
        index.train(np.concatenate(sample))
    else:
        index = faiss.IndexHNSWFlat(dimension, options["neighbours"], metric)
        index.hnsw.efConstruction = options["construction"]
        index.hnsw.efSearch = options["breadth"]
    for start in range(0, len(documents), BLOCK):
        index.add(np.ascontiguousarray(documents[start : start + BLOCK], np.float32))
    return index


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ToolError(
            "faiss is not installed, need it for a retriever with `faiss`; install it (pip install "
            "--require-hashes --no-deps -r requirements/faiss.lock), or leave `faiss` out for the "
            "exact search."
        ) from error
    return faiss
