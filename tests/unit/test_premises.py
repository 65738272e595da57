"""The premises of CET against hand-made documents whose pool and relevance are known."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.evaluation import premises
from poolbias.formats.tsv import read_table, write_table

ROOT = Path(__file__).resolve().parents[2]
# Query p, four documents and its paired one below:  relevant labelled pooled   r    s   w_r
DOCUMENTS = [
    ("p", "a", 1, 1, 1, 1, 0, 4.0, 8.0, 0.5),
    ("p", "b", 2, 1, 0, 0, 0, 3.0, 2.0, 0.1),
    ("p", "c", 3, 0, 0, 1, 0, 1.0, 6.0, 0.4),
    ("p", "d", 4, 0, 0, 0, 0, 2.0, 4.0, 0.2),
    ("p", "e", 9, 1, 1, 1, 1, 9.0, 9.0, 9.0),
    # query q: all relevant, none of the four unlabelled ones pooled
    ("q", "f", 1, 1, 1, 1, 0, 1.0, 5.0, 1.0),
    ("q", "g", 2, 1, 0, 0, 0, 2.0, 4.0, 1.0),
    ("q", "h", 3, 1, 0, 0, 0, 3.0, 3.0, 1.0),
    ("q", "i", 7, 1, 1, 1, 1, 0.0, 0.0, 1.0),
]
COLUMNS = ["query_id", "document_id", "rank", "relevant", "labelled", "pooled", "paired"]
PROBE = pd.DataFrame(DOCUMENTS, columns=[*COLUMNS, "r", "s", "w_r"]).assign(step=6, w_s=1.0)
PROBE = PROBE.astype(dict.fromkeys(["rank", "relevant", "labelled", "pooled", "paired"], "Int64"))
QUERIES = pd.DataFrame({"query_id": ["p", "q"], "group": ["t", "u"]})
SYSTEM = {"experiment": "e", "retriever": "dense", "pool": "outside", "method": "cet-paper-tau1"}

BY_HAND = {
    ("weight", "p"): 0.5,  # w_r .5 and .1 against .4 and .2: 2 of 4 below
    ("weight_spearman", "p"): 0.0,
    ("selection", "p"): 1.0,  # 8 and 6 against 2 and 4
    ("selection", "q"): 1.0,  # 5 against 4 and 3
    ("selection_relevant", "p"): 1.0,  # 8 against 2
    ("selection_relevant", "q"): 1.0,
    ("selection_irrelevant", "p"): 1.0,  # 6 against 4
    ("selection_by_r", "p"): 0.5,  # 4 above 3 and 2, 1 above none
    ("selection_by_r", "q"): 0.0,
    ("relevance", "p"): 1.0,  # 4 and 3 against 1 and 2
    ("relevance_by_s", "p"): 0.5,  # 8 above 6 and 4, 2 above none
    ("irrelevant_if_selected", "p"): 1.0,  # of b, c, d: 6 and 4 above 2
    ("irrelevant_if_pooled", "p"): 0.75,  # c is pooled, d is not, and neither is b
    ("unselected_if_scored", "p"): 1.0,  # of b, c, d: b 3 and d 2 above c 1
    ("unselected_if_relevant", "p"): 0.75,  # b is relevant, d is not, and neither is c
}


def test_each_query_by_hand():
    found = premises.per_query(PROBE, 5)
    values = found.set_index(["premise", "query_id"])["value"].to_dict()
    assert values == pytest.approx(BY_HAND)
    assert set(found["step"]) == {6}
    assert {premise.name for premise in premises.PREMISES} == {name for name, _ in BY_HAND}


def test_documents_below_the_depth_do_not_count():
    deeper = premises.per_query(PROBE, 9).set_index(["premise", "query_id"])["value"]
    assert deeper["relevance", "p"] == 1.0
    assert deeper["weight", "p"] == pytest.approx(1 / 3)  # e's 9.0 is above both
    assert deeper["weight", "p"] != BY_HAND["weight", "p"]


def test_a_pool_that_is_not_known_leaves_its_premises_out():
    found = premises.per_query(PROBE.assign(pooled=pd.array([pd.NA] * 9, dtype="Int64")), 5)
    assert set(found["premise"]) == {
        *("weight", "weight_spearman", "relevance", "relevance_by_s", "irrelevant_if_selected")
    }


def measured(*probes, depth=5, resamples=2000):
    values, probed = premises.measure([(SYSTEM | {"seed": n}, p) for n, p in probes], depth)
    return premises.summarise(values, probed, QUERIES, resamples=resamples)


def test_means_intervals_and_queries_left_out_by_hand():
    found = measured((1, PROBE)).set_index("premise")
    row = found.loc["selection_by_r"]
    assert row[["mean", "low", "high"]].tolist() == [0.25, 0.0, 0.5]  # p .5, q 0, groups move
    assert row[["queries", "left_out", "groups", "seeds"]].tolist() == [2, 0, 2, 1]
    row = found.loc["irrelevant_if_selected"]
    assert row[["queries", "left_out", "groups", "seeds"]].tolist() == [1, 1, 1, 1]
    assert set(found["status"]) == {"mean"}
    assert found.loc["weight_spearman", "measure"] == "Spearman"


def test_seeds_are_averaged_and_steps_kept_apart():
    turned = PROBE.assign(r=-PROBE["r"])
    both = measured((1, PROBE), (2, turned)).set_index("premise")
    assert both.loc["relevance", ["mean", "seeds"]].tolist() == [0.5, 2]
    early = PROBE[PROBE["query_id"] == "p"].assign(step=3, r=-1.0)
    steps = measured((1, pd.concat([PROBE, early]))).set_index(["step", "premise"])
    assert steps.loc[(3, "relevance"), ["mean", "queries", "left_out"]].tolist() == [0.5, 1, 0]
    assert steps.loc[(6, "relevance"), ["mean", "queries", "left_out"]].tolist() == [1.0, 1, 1]


def test_what_nothing_can_tell_is_not_run():
    found = measured((1, PROBE[PROBE["query_id"] == "q"])).set_index("premise")
    row = found.loc["relevance"]
    assert (row["status"], row["left_out"]) == ("not run", 1)
    assert pd.isna(row["mean"])
    assert found.loc["selection", "status"] == "mean"
    none = premises.summarise(*premises.measure([], 5), QUERIES)
    assert none.empty
    assert none.columns.tolist() == premises.COLUMNS


def test_the_stage_writes_both_tables(tmp_path):
    write_table(tmp_path / "probe.tsv.gz", PROBE)
    write_table(tmp_path / "queries.tsv", QUERIES)
    parameters = {"systems": [SYSTEM | {"seed": 1}], "depth": 5}
    (tmp_path / "parameters.json").write_text(json.dumps(parameters))
    options = {"parameters": "parameters.json", "queries": "queries.tsv", "probes": "probe.tsv.gz"}
    options |= {"premises": "premises.tsv", "per-query": "per_query.tsv.gz"}
    words = [word for name, file in options.items() for word in (f"--{name}", tmp_path / file)]
    script = ROOT / "workflow" / "scripts" / "measure_premises.py"
    done = subprocess.run(
        [sys.executable, script, *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    again = premises.read_premises(tmp_path / "premises.tsv")
    pd.testing.assert_frame_equal(again, measured((1, PROBE)), check_dtype=False)
    table = read_table(tmp_path / "premises.tsv", premises.COLUMNS).set_index("premise")
    assert table.loc["selection_by_r", "mean"] == "0.250000"
    assert len(table) == len(premises.PREMISES)
    write_table(tmp_path / "wrong.tsv", again.astype("object").assign(mean="x"))
    with pytest.raises(DataError, match=r"wrong\.tsv: .*measure the premises again"):
        premises.read_premises(tmp_path / "wrong.tsv")
    values = read_table(tmp_path / "per_query.tsv.gz", ["seed", "step", "premise", "value"])
    assert len(values) == len(BY_HAND)
