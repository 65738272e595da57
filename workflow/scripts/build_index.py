"""Index a collection's documents with Lucene, for BM25."""

from poolbias import stage
from poolbias.retrieval import bm25


def main(job: stage.Job) -> None:
    indexed = bm25.build_index(job.path("documents"), job.path("index"))
    job.report(documents=indexed)


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["documents"], outputs=["index", "manifest?"])
