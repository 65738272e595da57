"""Top-k answer accuracy, as on NQ and TriviaQA: does one of the first k documents hold an answer?

The comparison is that of DPR (facebookresearch/DPR, `has_answer`): texts are cut into tokens, put
into small letters, and an answer is held where its tokens stand in a row.
"""

import unicodedata
from collections.abc import Mapping, Sequence

import pandas as pd

from poolbias.errors import DataError
from poolbias.ranking import canonical


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text in small letters.

    After decomposition (NFD) a token is a run of letters, numbers and marks, or one other sign
    that is neither blank nor control.
    """
    found: list[str] = []
    run = ""
    for sign in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(sign)[0]
        if kind in "LNM":
            run += sign
            continue
        if run:
            found.append(run.lower())
            run = ""
        if kind not in "ZC":
            found.append(sign.lower())
    return [*found, run.lower()] if run else found


def holds(text: Sequence[str], answers: Sequence[Sequence[str]]) -> bool:
    """Return whether tokens of a text hold the tokens of one of the answers in a row.

    An answer without tokens is held by no text.
    """
    return any(
        list(answer) == list(text[start : start + len(answer)])
        for answer in answers
        if answer
        for start in range(len(text) - len(answer) + 1)
    )


def answer_accuracy(
    run: pd.DataFrame,
    texts: Mapping[str, str],
    answers: Mapping[str, Sequence[str]],
    cuts: Sequence[int],
) -> pd.DataFrame:
    """Return for each query whether one of its first k documents holds an answer.

    Every query with answers counts; one that the run lacks counts 0.

    Args:
        run: columns `query_id`, `document_id`, `score`.
        texts: of the documents, by id.
        answers: of the queries, by id.
        cuts: values of k.

    Returns:
        A frame with the columns `query_id`, `measure` (`Answer@k`) and `value` (0.0 or 1.0), sorted
        by query id, measures in the given order.

    Raises:
        DataError: for a document of the run without a text.
    """
    ordered = canonical(run)
    ordered = ordered[ordered["rank"] <= max(cuts)]
    first: dict[str, float] = {}
    wanted = {query: [tokens_of(answer) for answer in found] for query, found in answers.items()}
    cut = {document: tokens_of(texts[document]) for document in _known(ordered, texts)}
    rows = zip(ordered["query_id"], ordered["document_id"], ordered["rank"], strict=True)
    for query, document, rank in rows:
        if query in wanted and query not in first and holds(cut[document], wanted[query]):
            first[query] = rank
    table = [
        (query, f"Answer@{k}", float(first.get(query, float("inf")) <= k))
        for query in sorted(answers)
        for k in cuts
    ]
    return pd.DataFrame(table, columns=["query_id", "measure", "value"]).astype(
        {"query_id": "str", "measure": "str"}
    )


def _known(run: pd.DataFrame, texts: Mapping[str, str]) -> list[str]:
    documents: list[str] = run["document_id"].unique().tolist()
    lacking = [document for document in documents if document not in texts]
    if lacking:
        raise DataError(
            f"run: document {lacking[0]} has no text ({len(lacking)} have none), need the texts of "
            "its collection."
        )
    return documents
