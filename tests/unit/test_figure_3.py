"""Figure 3: its table by hand, and what is drawn of it."""

import json

import pandas as pd
import pytest
from drawings import ROOT, misplaced, run_script, texts

from poolbias.errors import DataError
from poolbias.figures.figure_3 import build_data, caption, draw, read_data
from poolbias.formats.tsv import read_table, write_table

PAPER = read_table(ROOT / "config" / "paper_tables.tsv", ["place"])
METHODS = ["naive", "cet-paper-tau1", "cet-released-tau10"]
QUERIES = ["a", "b", "c", "d"]
GROUPS = ["g", "g", "h", "h"]


def system(method, values, retriever="dense", seed=1, **also):
    about = {"experiment": f"{retriever}.{method}", "collection": "hpo", "pool": "outside"}
    about |= {"retriever": retriever, "method": method, "name": method.split("-")[0]}
    about |= {"ranker": "bert", "seed": seed, "judgements": "truth", "measure": "RR@10"}
    frame = pd.DataFrame({"query_id": QUERIES, "group": GROUPS, "value": values})
    return frame.assign(**(about | also))


SYSTEMS = pd.concat(
    [
        system("naive", [0.5, 0.5, 0.5, 0.5]),
        system("naive", [0.7, 0.7, 0.3, 0.3], seed=2),
        system("cet-paper-tau1", [1.0, 1.0, 0.5, 0.5]),
        system("cet-paper-tau1", [1.0, 1.0, 0.5, 0.5], seed=2),
        system("naive", [0.25, 0.25, 0.25, 0.25], judgements="labels"),
        system("naive", [0.1, 0.2, 0.3, 0.4], retriever="bm25"),
    ]
)


def build(systems=SYSTEMS, retrievers=("dense", "bm25"), methods=METHODS, **changes):
    chosen = {"collections": ["hpo"], "measures": {"truth": ["RR@10"], "labels": ["RR@10"]}}
    return build_data(
        PAPER, systems, retrievers=retrievers, methods=methods, resamples=500, **(chosen | changes)
    )


def pick(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def test_bars_by_hand():
    frame = build()
    bars = pick(frame, panel="a", retriever="dense", status="mean")
    assert bars["method"].tolist() == ["naive", "cet-paper-tau1"]
    assert bars["value"].tolist() == pytest.approx([0.5, 0.75])
    assert bars["seeds"].tolist() == ["1 2", "1 2"]
    assert bars[["queries", "groups"]].to_numpy().tolist() == [[4, 2], [4, 2]]
    # with paper: groups of 1.0 and .5; both seeds agree
    assert bars.iloc[1][["low", "high"]].tolist() == pytest.approx([0.5, 1.0])
    # naive: seed 2 has .7 and .3, seed 1 always .5; of two seeds one is drawn
    assert bars.iloc[0][["low", "high"]].tolist() == pytest.approx([0.3, 0.7])
    seeds = pick(frame, panel="a", retriever="dense", status="seed", method="naive")
    assert seeds[["seeds", "value"]].to_numpy().tolist() == [["1", 0.5], ["2", 0.5]]
    one = pick(frame, panel="a", retriever="bm25", method="naive")
    assert one["status"].tolist() == ["mean"]  # a single seed is no dot
    assert one["value"].tolist() == pytest.approx([0.25])


def test_gains_by_hand():
    gains = pick(build(), status="gain")
    assert gains[["panel", "retriever", "method"]].to_numpy().tolist() == [
        ["a", "dense", "cet-paper-tau1"]
    ]
    gain = gains.iloc[0]
    assert gain["value"] == pytest.approx(0.25)
    # least: group h, naive's seed 1: 0; most: group g, seed 1: .5
    assert gain[["low", "high"]].tolist() == pytest.approx([0.0, 0.5])
    assert gain["note"] == "less naive"


def test_what_is_lacking_is_not_run_with_a_reason():
    frame = build(retrievers=["dense", "ance"])
    lacking = pick(frame, status="not run", panel="a")
    assert lacking[["retriever", "method"]].to_numpy().tolist() == [
        ["dense", "cet-released-tau10"],
        *([["ance", method] for method in METHODS]),
    ]
    assert set(lacking["note"]) == {"no such row in this study"}
    asked = {"truth": ["RR@10", "nDCG@10"], "labels": []}
    other = pick(build(measures=asked), panel="b")
    assert set(other["status"]) == {"not run"}
    assert set(other["note"]) == {"nDCG@10 is not among evaluation.measures"}
    none = build(SYSTEMS[:0])
    assert set(pick(none, source="ours")["status"]) == {"not run"}
    assert set(none["panel"]) == {"a", "b", "paper"}


def test_panels_are_the_judgements_that_a_collection_has():
    sparse = system("naive", [1, 1, 1, 1], collection="marco", judgements="labels")
    frame = build(pd.concat([SYSTEMS, sparse]), collections=["hpo", "marco"])
    shown = pick(frame, source="ours").drop_duplicates("panel")
    assert shown[["panel", "collection", "judgements"]].to_numpy().tolist() == [
        ["a", "hpo", "truth"],
        ["b", "hpo", "labels"],
        ["c", "marco", "labels"],
    ]


def test_paper_values_are_those_of_its_table():
    paper = pick(build(), source="paper")
    bars = paper[paper["measure"] != "relative gain"]
    assert bars[["collection", "method", "value", "status"]].to_numpy().tolist() == [
        ["msmarco-passage/dev", "naive", 0.3403, "printed"],
        ["msmarco-passage/dev", "cet", 0.3638, "printed"],
        ["msmarco-document/dev", "naive", 0.4091, "printed"],
        ["msmarco-document/dev", "cet", 0.4233, "printed"],
        ["trec-dl-2019-passage", "naive", 0.6971, "printed"],
        ["trec-dl-2019-passage", "cet", 0.7243, "printed"],
        ["trec-dl-2019-document", "naive", 0.6268, "printed"],
        ["trec-dl-2019-document", "cet", 0.6416, "printed"],
    ]
    assert pick(paper, measure="relative gain")["value"].tolist() == [0.085, 0.035]


def test_no_panel_of_ours_leaves_the_papers():
    frame = build(measures={"truth": [], "labels": []})
    assert set(frame["panel"]) == {"paper"}
    assert "no ranker has run yet" in caption(frame)
    assert "Paper: ANCE, without and with CET (its form is not known)" in texts(draw(frame))


def test_two_rankers_of_one_name_are_told():
    twice = pd.concat([SYSTEMS, system("naive", [0, 0, 0, 0], seed=3, experiment="other")])
    with pytest.raises(DataError, match=r"dense naive is of several rankers \(dense\.naive and"):
        build(twice)


def test_rows_order_changes_nothing():
    shuffled = SYSTEMS.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(build(shuffled), build())


def test_table_survives_its_file(tmp_path):
    frame = build()
    write_table(tmp_path / "figure_3.tsv", frame)
    read = read_data(tmp_path / "figure_3.tsv")
    pd.testing.assert_frame_equal(read, frame, check_dtype=False)
    assert caption(read) == caption(frame)


def test_caption_tells_seeds_queries_and_the_paper():
    told = caption(build())
    assert "Ours: hpo, 4 queries by truth, 4 queries by labels; mean of 2 seeds" in told
    assert "over 2 groups of queries and over seeds" in told
    assert "8.5% on MS MARCO passages and 3.5% on MS MARCO documents" in told
    one = caption(build(pick(SYSTEMS, seed=1)))
    assert "one seed only" in one
    assert "over seeds" not in one
    assert "no ranker has run yet" in caption(build(SYSTEMS[:0]))


def test_drawing_shows_the_table():
    figure = draw(build())
    bars, gains, labels, _, paper = figure.axes
    assert [bar.get_width() for bar in bars.patches] == pytest.approx([0.5, 0.75, 0.25])
    assert [text.get_text() for text in bars.texts] == [
        *(".500", ".750", "not run", ".250", "not run", "not run")
    ]
    assert bars.get_title(loc="left") == "(a) MRR@10 by truth"
    assert labels.get_title(loc="left") == "(b) MRR@10 by labels"
    assert [text.get_text() for text in gains.texts] == ["not run"]  # bm25 has no gain
    assert [label.get_text() for label in gains.get_yticklabels()] == ["Dense", "BM25"]
    assert [text.get_text() for text in paper.texts][:2] == [".3403", ".3638"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *("naive", "CET paper, τ = 1", "CET released, τ = 10", "one seed")
    ]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_no_text_leaves_the_page_or_lies_on_another(count):
    retrievers = ["bm25", "dense", "repbert", "tct-colbert-v2"][:count]
    systems = [
        system(method, [0.9, 0.8, 0.7, 0.9], retriever, seed, judgements=judgements)
        for retriever in retrievers
        for method in METHODS
        for seed in (1, 2)
        for judgements in ("truth", "labels")
    ]
    both = {"truth": ["RR@10", "nDCG@10"], "labels": ["RR@10"]}
    figure = draw(build(pd.concat(systems), retrievers, measures=both))
    assert "nDCG@10 is not among evaluation.measures" in texts(figure)
    assert misplaced(figure) == []


def test_fresh_processes_write_the_same_bytes_and_load_nothing_heavy(tmp_path):
    systems = []
    for number, (keys, part) in enumerate(
        SYSTEMS.groupby(["retriever", "method", "seed", "judgements"], sort=False)
    ):
        write_table(tmp_path / f"{number}.tsv", part[["query_id", "measure", "value"]])
        retriever, method, seed, judgements = keys
        about = part.iloc[0][["experiment", "collection", "pool", "name", "ranker"]].to_dict()
        about |= {"retriever": retriever, "method": method, "judgements": judgements}
        systems.append(about | {"seed": int(seed)})
    queries = pd.DataFrame({"query_id": QUERIES, "group": GROUPS})
    write_table(tmp_path / "queries.tsv", queries)
    parameters = {"systems": systems, "collections": ["hpo"], "retrievers": ["dense", "bm25"]}
    parameters |= {"methods": METHODS, "by_truth": ["RR@10"], "by_labels": ["RR@10"]}
    (tmp_path / "parameters.json").write_text(json.dumps(parameters))
    written = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        options = {"parameters": tmp_path / "parameters.json", "queries": tmp_path / "queries.tsv"}
        options |= {"per-query": [tmp_path / f"{number}.tsv" for number in range(len(systems))]}
        options |= {"paper-tables": ROOT / "config" / "paper_tables.tsv"}
        options |= {kind: out / f"figure_3.{kind}" for kind in ("pdf", "svg", "png")}
        done = run_script("figure_3", options | {"table": out / "figure_3.tsv"}, hash_seed=seed)
        assert done.returncode == 0, done.stderr
        written.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert sorted(written[0]) == [f"figure_3.{kind}" for kind in ("pdf", "png", "svg", "tsv")]
    assert written[0] == written[1]
    assert b"<!-- not run -->" in written[0]["figure_3.svg"]
    assert b"<!-- .750 -->" in written[0]["figure_3.svg"]
