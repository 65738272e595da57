"""The table of filters against counts made by hand."""

import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.tables.render import latex, markdown
from poolbias.tables.table_filters import EVERYWHERE, FILTERS, filters_of, table_filters

QUERIES = pd.DataFrame(
    [("c", "a", "t1"), ("c", "b", "t2"), ("c", "d", "t2"), ("other", "a", "t9")],
    columns=["collection", "query_id", "group"],
)
COLUMNS = [
    *("query_id", "candidates", "kept", "false_negatives", "false_negatives_kept"),
    "false_negative_draws",
]
PLAIN = pd.DataFrame(
    [("a", 4, 4, 2, 2, 0.5), ("b", 6, 6, 1, 1, 1 / 6), ("d", 0, 0, 0, 0, 0.0)], columns=COLUMNS
)
FILTERED = pd.DataFrame(
    [("a", 4, 2, 2, 1, 0.5), ("b", 6, 0, 1, 0, 0.0), ("d", 0, 0, 0, 0, 0.0)], columns=COLUMNS
)


def about(name, method, retriever="dense", pool="outside", shared=()):
    return {
        "collection": "c",
        "pool": pool,
        "retriever": retriever,
        "name": name,
        "method": method,
        "shared": list(shared),
    }


def page(told, counts, **changes):
    options = {"study": "toy", "lexical": ["bm25"], "reason": "hpo-seeds"} | changes
    return table_filters(filters_of(told, counts, QUERIES), **options)


def test_numbers_by_hand():
    told = [about("naive", "naive", shared=["naive", "cet"]), about("sieve", "sieve-30")]
    data = page(told, [PLAIN, FILTERED]).data.set_index("method")
    naive, sieve = data.loc["naive"], data.loc["sieve-30"]
    assert (naive["status"], naive["shared_by"]) == ("made", "naive cet")
    assert naive[["queries", "candidates", "kept", "removed"]].tolist() == [3, 10, 10, 0]
    assert naive["queries_without_candidates"] == 1
    assert naive["false_negative_share_before"] == naive["false_negative_share_after"] == 0.3
    assert naive["false_negative_draws"] == pytest.approx(1 / 3)
    assert pd.isna(naive["removed_precision"])  # nothing is removed
    assert naive["removed_recall"] == 0.0
    assert sieve[["kept", "removed", "queries_without_candidates"]].tolist() == [2, 8, 2]
    assert sieve["false_negative_share_after"] == 0.5
    assert sieve["false_negative_draws"] == 0.5  # over the query that is trained on
    assert sieve["removed_precision"] == 2 / 8
    assert sieve["removed_recall"] == pytest.approx(2 / 3)
    # two groups: resamples are both, twice the first, or twice the second
    assert (sieve["removed_recall_low"], sieve["removed_recall_high"]) == (0.5, 1.0)
    assert sieve["groups"] == 2


def test_what_the_study_lacks_stands_there_with_its_reason():
    made = page(
        [about("naive", "naive", "bm25"), about("naive", "naive"), about("sieve", "sieve-30")],
        [PLAIN, PLAIN, FILTERED],
    )
    data = made.data
    assert data["retriever"].tolist()[:2] == ["bm25", "dense"]
    dense = data[data["retriever"] == "dense"]
    assert dense["name"].tolist() == [name for name in FILTERS if name != "random"]
    lacking = data[data["status"] == "not run: hpo-seeds"]
    assert set(lacking["name"]) == set(FILTERS) - {"naive", "sieve"}
    assert data.iloc[-1][["retriever", "name"]].tolist() == [EVERYWHERE, "random"]
    text = markdown(made.tables)
    assert "| dense | sieve-30 | 3 | 2 | 2 | 8 | 0.300 \\[0.167, 0.500\\]" in text
    assert "| dense | oracle | not run: hpo-seeds |" in text
    assert "sieve-30 & 3 & 2 & 2 & 8" in latex(made.tables)


def test_another_pool_is_a_block_without_missing_rows_and_random_has_no_run():
    told = [
        about("naive", "naive"),
        about("naive", "naive", pool="bm25"),
        about("random", "random", None),
    ]
    data = page(told, [PLAIN, PLAIN, PLAIN]).data
    assert data.loc[data["pool"] == "bm25", "method"].tolist() == ["naive"]
    random = data[data["name"] == "random"]
    assert random[["pool", "retriever", "status"]].values.tolist() == [
        ["outside", EVERYWHERE, "made"]
    ]


def test_without_the_truth_only_counts_are_shown():
    counts = PLAIN[["query_id", "candidates", "kept"]]
    made = page([about("naive", "naive")], [counts])
    assert "removed_recall" not in made.data
    assert "| dense | naive | 3 | 1 | 10 | 0 | – | – | – | – | – |" in markdown(made.tables)


def test_methods_that_share_negatives_are_told_and_unknown_queries_refused():
    made = page([about("naive", "naive", shared=["naive", "zhan"])], [PLAIN])
    assert "zhan draws from the candidates of naive." in made.tables[0].notes
    with pytest.raises(DataError, match="query z of naive is not among the queries of c"):
        page([about("naive", "naive")], [PLAIN.assign(query_id=["a", "b", "z"])])
