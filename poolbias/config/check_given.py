"""What must fit between a collection with judgements of its own, its pool and its methods."""

from collections.abc import Iterator

from poolbias.config.entries import Choice
from poolbias.config.given import Given
from poolbias.config.given_runs import OFFICIAL, GivenRuns, is_ranked
from poolbias.config.problems import Problem
from poolbias.config.study import Study

NEED_TRUTH = ("oracle", "oracle_matched", "ideal_propensity")


def check(study: Study, choice: Choice) -> Iterator[Problem]:
    """Yield what does not fit in one experiment."""
    collection, pool = study.collections[choice.collection], study.pools[choice.pool]
    method, retriever = choice.method, study.retrievers[choice.retriever]
    official = isinstance(retriever, GivenRuns) and retriever.official
    if official and collection.kind not in OFFICIAL:
        yield Problem(
            (*choice.place, "retriever"),
            f"found {choice.retriever!r}, the organisers' runs, with a collection of kind "
            f"{collection.kind}, need one of {', '.join(OFFICIAL)}; name another.",
        )
        return
    if not isinstance(collection, Given):
        if not pool.retrievers:
            yield Problem(
                ("pools", choice.pool, "retrievers"),
                f"found [], need a retriever: the collection {choice.collection!r} has no "
                "judgements but its truth; name what annotators see.",
            )
        return
    if pool.retrievers and not collection.knows_truth:
        yield Problem(
            ("pools", choice.pool, "retrievers"),
            f"found {pool.retrievers}, need []: in the collection {choice.collection!r} not all "
            "that is relevant is judged, so annotators cannot be simulated; write [].",
        )
    for name in pool.retrievers:
        if getattr(study.retrievers.get(name), "documents", "") == "pool_documents":
            yield Problem(
                ("pools", choice.pool, "retrievers"),
                f"found {name!r}, which searches pool_documents; the collection "
                f"{choice.collection!r} has none; name another.",
            )
    if method.method in NEED_TRUTH and not collection.knows_truth:
        yield Problem(
            (*choice.place, "method"),
            f"found {method.method!r} with the collection {choice.collection!r}, where not all that"
            " is relevant is judged; remove it, or say `complete: true` if everything is.",
        )
    if "pool" in method.reads and not pool.retrievers:
        yield Problem(
            (*choice.place, "method"),
            f"found {method.method!r}, which needs to know what annotators saw; files of judgements"
            " do not tell; remove it.",
        )
    yield from _ranks(study, choice, collection)


def _ranks(study: Study, choice: Choice, collection: Given) -> Iterator[Problem]:
    """Yield what keeps RANCE from its estimate: judgements that are too sparse, or no ranks."""
    method = choice.method
    if "rank_relevance" not in method.reads:
        return
    split = study.evaluation.split if method.halved else "dev"
    if not collection.knows_truth and not collection.deep.get(split):
        yield Problem(
            (*choice.place, "method"),
            f"found {method.method!r} with the collection {choice.collection!r}, which has no "
            f"deeply judged queries in {split} to estimate P_relevant(r) on; remove it, give the "
            "collection such a set, or say `complete: true` if everything is judged.",
        )
    retriever = study.retrievers[choice.retriever]
    if isinstance(retriever, GivenRuns) and not is_ranked(retriever, collection.kind):
        yield Problem(
            (*choice.place, "method"),
            f"found {method.method!r} with the retriever {choice.retriever!r}, whose official files"
            " list documents in random order, without ranks; use a run that has them, such as "
            "kind: bm25.",
        )
