import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from poolbias.errors import ConfigError, DataError
from poolbias.figures.figure_1 import PerQuery, build_data, caption, draw, read_data
from poolbias.formats.tsv import read_table, write_table

ROOT = Path(__file__).resolve().parents[2]
PAPER = read_table(ROOT / "config" / "paper_tables.tsv", ["place"])
QUERIES = pd.DataFrame({"query_id": list("pqrs"), "group": ["g1", "g1", "g2", "g2"]})


def values_of(measure, **values):
    rows = [(query, measure, value) for query, value in values.items()]
    return pd.DataFrame(rows, columns=["query_id", "measure", "value"])


def recall_of(retriever, judgements, **values):
    return PerQuery(values_of("R@100", **values), retriever, judgements, origin=f"{retriever}.tsv")


def ranking_of(retriever, judgements, seed, **values):
    name = f"{retriever}-{seed}.tsv"
    return PerQuery(values_of("RR@10", **values), retriever, judgements, seed, origin=name)


def shares_of(retriever, *rows):
    frame = pd.DataFrame(rows, columns=["query_id", "depth", "unlabelled", "false_negatives"])
    return PerQuery(frame, retriever, origin=f"{retriever}.shares.tsv")


RECALL = [
    recall_of("dense", "truth", p=1.0, q=1.0, r=0.5, s=0.5),
    recall_of("dense", "labels", p=1.0, q=0.0),
    recall_of("bm25", "labels", p=1.0, q=1.0),
    recall_of("bm25", "truth", p=0.5, q=0.5, r=0.5, s=0.5),
]
RANKINGS = [
    ranking_of("bm25", "truth", 2, p=1.0, q=1.0, r=0.0, s=0.0),
    ranking_of("bm25", "truth", 1, p=0.5, q=0.5, r=0.5, s=0.5),
    ranking_of("bm25", "labels", 1, p=0.25, q=0.25),
]
SHARES = [shares_of("bm25", ("p", 10, 8, 2), ("r", 10, 2, 1), ("p", 50, 40, 4), ("r", 50, 40, 4))]


def build(recall=RECALL, rankings=RANKINGS, shares=SHARES, retrievers=("dense", "bm25")):
    return build_data(
        PAPER, QUERIES, recall, rankings, shares, retrievers=retrievers, collection="hpo"
    )


def pick(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def test_ours_by_hand():
    frame = build()
    recall = pick(frame, panel="a")
    assert recall[
        ["retriever", "judgements", "value", "queries", "groups"]
    ].to_numpy().tolist() == [
        ["bm25", "truth", 0.5, 4, 2],
        ["bm25", "labels", 1.0, 2, 1],
        ["dense", "truth", 0.75, 4, 2],
        ["dense", "labels", 0.5, 2, 1],
    ]
    truth = recall[recall["judgements"] == "truth"]
    assert truth[["low", "high"]].to_numpy().tolist() == [[0.5, 0.5], [0.5, 1.0]]  # groups move
    assert set(recall["measure"]) == {"R@100"}
    rankers = pick(frame, panel="b", retriever="bm25")
    assert rankers[["judgements", "status", "value", "seeds"]].to_numpy().tolist() == [
        ["truth", "mean", 0.5, "1 2"],
        ["truth", "seed", 0.5, "1"],
        ["truth", "seed", 0.5, "2"],
        ["labels", "mean", 0.25, "1"],
    ]
    mean = pick(rankers, status="mean", judgements="truth").iloc[0]
    assert (mean["low"], mean["high"]) == (0.25, 0.75)  # groups' means over seeds: .75 and .25


def test_false_negatives_by_hand():
    shares = pick(build(), panel="d", retriever="bm25")
    assert shares["measure"].tolist() == ["FN@10", "FN@50"]
    assert shares["value"].tolist() == pytest.approx([3 / 10, 8 / 80])
    assert shares.iloc[0][["low", "high"]].tolist() == [2 / 8, 1 / 2]


def test_paper_values_are_those_of_its_table():
    paper = pick(build(), panel="c").set_index(["measure", "retriever"])
    assert paper["status"].to_dict() == {
        ("R@1000", "bm25"): "printed",
        ("R@1000", "repbert"): "derived",
        ("R@1000", "ance"): "printed",
        ("R@1000", "adore"): "elsewhere",
        ("RR@10", "bm25"): "printed",
        ("RR@10", "repbert"): "derived",
        ("RR@10", "ance"): "printed",
        ("RR@10", "adore"): "unknown",
    }
    assert paper.loc[("R@1000", "bm25"), "value"] == 0.8140
    assert paper.loc[("RR@10", "bm25"), "value"] == 0.3562
    assert paper.loc[("R@1000", "repbert"), ["value", "low", "high"]].tolist() == [
        0.94,
        0.936,
        0.944,
    ]
    assert math.isnan(paper.loc[("RR@10", "adore"), "value"])


def test_order_is_by_recall_by_truth_and_not_by_the_files_order():
    frame = build()
    pd.testing.assert_frame_equal(build(RECALL[::-1], RANKINGS[::-1], SHARES[::-1]), frame)
    for panel in "ab":
        assert list(dict.fromkeys(pick(frame, panel=panel)["retriever"])) == ["bm25", "dense"]


def test_what_is_not_there_is_not_run():
    frame = build(retrievers=["bm25", "dense", "ance"])
    lacking = frame[frame["status"] == "not run"]
    assert lacking[["panel", "retriever", "judgements"]].to_numpy().tolist() == [
        ["a", "ance", "truth"],
        ["a", "ance", "labels"],
        ["b", "dense", "truth"],
        ["b", "dense", "labels"],
        ["b", "ance", "truth"],
        ["b", "ance", "labels"],
        ["d", "dense", "truth"],
        ["d", "ance", "truth"],
    ]
    assert lacking["value"].isna().all()


def test_mistakes_are_named():
    with pytest.raises(DataError, match=r"bm25-1\.tsv: holds no RR@10 \(found: R@100\)"):
        build(rankings=[PerQuery(RECALL[0].values, "bm25", "truth", 1, origin="bm25-1.tsv")])
    with pytest.raises(DataError, match=r"dense\.tsv: query x is not in the collection's queries"):
        build([recall_of("dense", "truth", x=1.0)])
    with pytest.raises(DataError, match=r"bm25-2\.tsv: its queries are not those of bm25-1\.tsv"):
        build(
            rankings=[ranking_of("bm25", "truth", 1, p=1.0), ranking_of("bm25", "truth", 2, q=1.0)]
        )
    with pytest.raises(ConfigError, match=r"dense\.tsv and dense\.tsv are both said"):
        build([RECALL[0], RECALL[0]])
    with pytest.raises(DataError, match="Figure 1"):
        build_data(
            PAPER[PAPER["place"] == "Table 1"],
            QUERIES,
            RECALL,
            RANKINGS,
            SHARES,
            retrievers=["bm25"],
            collection="hpo",
        )


def test_table_survives_its_file(tmp_path):
    frame = build()
    write_table(tmp_path / "figure_1.tsv", frame)
    read = read_data(tmp_path / "figure_1.tsv")
    pd.testing.assert_frame_equal(read, frame, check_dtype=False)
    assert caption(read) == caption(frame)


def test_caption_says_how_many_seeds_and_queries():
    one = caption(build(rankings=RANKINGS[1:]))
    assert "one seed only" in one
    assert "(a, b) hpo: 4 queries by truth, 2 queries by labels" in one
    assert "(d) 2 train queries that have a label" in one
    assert "mean of 2 seeds" in caption(build())
    assert "no ranker has run yet" in caption(build(rankings=[]))


def texts_of(axis):
    return [text.get_text() for text in axis.texts]


def test_drawing_shows_the_table():
    figure = draw(build(retrievers=["bm25", "dense", "ance"]))
    recall, rankers, paper_recall, paper_rankers, depths = figure.axes
    assert [bar.get_width() for bar in recall.patches] == [0.5, 1.0, 0.75, 0.5]
    assert texts_of(recall) == [".500", "1.000", ".750", ".500", "not run", "not run"]
    assert [label.get_text() for label in recall.get_yticklabels()] == ["BM25", "Dense", "ANCE"]
    assert texts_of(rankers)[:3] == [".500", ".250", "not run"]
    assert texts_of(paper_recall) == [".8140", ".936–.944", ".9587", ".9688"]
    assert texts_of(paper_rankers) == [".3562", ".324", ".3403", "not printed (bar only)"]
    assert [bool(bar.get_hatch()) for bar in paper_recall.patches] == [False, True, False, True]
    assert [bar.get_hatch() for bar in recall.patches] == [None] * 4
    assert depths.get_legend().get_texts()[0].get_text() == "BM25"
    heights = [bar.get_y() + bar.get_height() / 2 for bar in recall.patches]
    assert heights == sorted(heights)  # truth above labels, weakest retriever on top


def test_many_retrievers_have_lines_of_their_own_that_are_named_beside_them():
    names = ["bm25", "dense", "repbert", "ance", "adore", "star", "de"]
    recall = [recall_of(name, "truth", p=0.9) for name in names]
    shares = [shares_of(name, ("p", 10, 8, 2), ("p", 50, 40, 4)) for name in names]
    for count, legends in ((3, [True]), (4, [False, True]), (7, [False, True])):
        figure = draw(build(recall, [], shares[:count], names[:count]))
        depths = figure.axes[4:]
        assert [axis.get_legend() is not None for axis in depths] == legends
        lines = [line for line in depths[0].lines if line.get_linestyle() != "None"]
        looks = {
            (line.get_color(), line.get_marker(), line.get_markerfacecolor()) for line in lines
        }
        assert len(looks) == count


@pytest.mark.parametrize("count", [1, 2, 5])
def test_no_text_leaves_the_page_or_lies_on_another(count):
    names = ["bm25", "dense", "repbert", "ance", "tct-colbert-v2"][:count]
    recall = [recall_of(name, kind, p=0.9, r=0.8) for name in names for kind in ("truth", "labels")]
    rankings = [
        ranking_of(name, kind, seed, p=0.9 - 0.1 * seed, r=0.5)
        for name in names
        for kind in ("truth", "labels")
        for seed in (1, 2)
    ]
    shares = [shares_of(name, ("p", 10, 8, 2), ("p", 50, 40, 4)) for name in names]
    figure = draw(build(recall, rankings, shares, names))
    shown = [figure._supxlabel, *(axis.title for axis in figure.axes)]
    shown += [axis._left_title for axis in figure.axes]
    shown += [text for axis in figure.axes for text in [*axis.texts, *axis.get_yticklabels()]]
    shown += [text for axis in figure.axes for text in axis.get_xticklabels()]
    boxes = [text.get_window_extent() for text in shown if text.get_text() and text.get_visible()]
    labels = [text.get_text() for text in shown if text.get_text() and text.get_visible()]
    page = figure.bbox
    for index, box in enumerate(boxes):
        if box.width == 0:
            continue
        assert box.x0 >= page.x0, labels[index]
        assert box.x1 <= page.x1, labels[index]
        assert box.y0 >= page.y0, labels[index]
        for other, label in zip(boxes[:index], labels, strict=False):
            assert other.width == 0 or not box.overlaps(other), (labels[index], label)


def command(folder, out):
    files, about = {"recall": [], "rankings": [], "shares": []}, {}
    for name, tables in [("recall", RECALL), ("rankings", RANKINGS), ("shares", SHARES)]:
        about[name] = []
        for number, table in enumerate(tables):
            path = folder / f"{name}-{number}.tsv"
            frame = table.values if name != "shares" else table.values.assign(share=0.0)
            write_table(path, frame)
            files[name].append(str(path))
            told = {"retriever": table.retriever}
            told |= {"judgements": table.judgements} if name != "shares" else {}
            about[name].append(told | ({"seed": table.seed} if name == "rankings" else {}))
    write_table(folder / "queries.tsv", QUERIES)
    parameters = about | {"retrievers": ["bm25", "dense"], "cut": 100, "seeds": [1, 2]}
    parameters |= {"measure": "RR@10", "collection": "hpo"}
    (folder / "parameters.json").write_text(json.dumps(parameters))
    return [
        str(ROOT / "workflow/scripts/figure_1.py"),
        *("--parameters", folder / "parameters.json", "--queries", folder / "queries.tsv"),
        *("--paper-tables", ROOT / "config/paper_tables.tsv"),
        *("--recall", *files["recall"], "--rankings", *files["rankings"]),
        *("--shares", *files["shares"], "--table", out / "figure_1.tsv"),
        *(
            part
            for kind in ("pdf", "svg", "png")
            for part in (f"--{kind}", out / f"figure_1.{kind}")
        ),
    ]


LOADED = """
import runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    assert not end.code
heavy = {"torch", "transformers", "jnius", "scipy", "pyserini", "matplotlib.pyplot"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""


def python(*arguments, hash_seed="0"):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True
    )


def test_fresh_processes_write_the_same_bytes_and_load_nothing_heavy(tmp_path):
    written = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        done = python("-c", LOADED, *command(tmp_path, out), hash_seed=seed)
        assert done.returncode == 0, done.stderr
        written.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert sorted(written[0]) == [f"figure_1.{kind}" for kind in ("pdf", "png", "svg", "tsv")]
    assert written[0] == written[1]


def test_script_names_a_list_that_does_not_fit_its_files(tmp_path):
    arguments = command(tmp_path, tmp_path)
    parameters = json.loads((tmp_path / "parameters.json").read_text())
    parameters["shares"] = []
    (tmp_path / "parameters.json").write_text(json.dumps(parameters))
    done = python(*arguments)
    assert done.returncode == 1
    assert "shares: found 1 files, parameters describe 0" in done.stderr
