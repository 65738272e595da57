"""Tables 1 to 4 from a hand-made folder of metrics: known cells, bold, daggers and reasons."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.evaluation.listing import pack
from poolbias.formats.tsv import read_table, write_table
from poolbias.tables import pages, render
from poolbias.tables.table_1 import table_1
from poolbias.tables.table_2 import table_2
from poolbias.tables.table_3 import table_3
from poolbias.tables.table_4 import table_4

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "config" / "paper_tables.tsv"
QUERIES = [f"q{number:02d}" for number in range(40)]  # two of each of 20 groups
SIDE = np.tile([1.0, -1.0], 20)  # the two queries of a group differ, and sum to 0
BASE = 0.3 + 0.1 * SIDE
BETWEEN = np.repeat(np.tile([1.0, -1.0], 10), 2)  # groups differ, and sum to 0


class Folder:
    """A folder of per-query files, and what each is of."""

    def __init__(self, path):
        self.path, self.systems = path, []
        groups = [f"t{number // 2:02d}" for number in range(40)]
        frame = pd.DataFrame({"query_id": QUERIES, "group": groups})
        write_table(path / "queries.tsv", frame)

    def add(self, retriever, method, judgements, ranker="bert", seeds=(1,), pool="p", **measures):
        """Write a system's files; a value of `measures` is one per query."""
        name = method.split("-")[0]
        for seed in seeds:
            system = {
                "experiment": "run" if name == "run" else f"c.{retriever}.{method}.{ranker}-1",
                **{"collection": "c", "pool": pool, "retriever": retriever, "method": method},
                **{"name": name, "ranker": ranker, "seed": seed, "judgements": judgements},
            }
            path = self.path / f"{'.'.join(str(value) for value in system.values())}.tsv"
            rows = [
                (query, measure.replace("_", "@"), value)
                for measure, values in measures.items()
                for query, value in zip(QUERIES, values + np.zeros(40), strict=True)
            ]
            write_table(path, pd.DataFrame(rows, columns=["query_id", "measure", "value"]))
            self.systems.append(system | {"path": str(path)})

    def parameters(self, **other):
        return {
            "study": "toy",
            "split": "test",
            "ranker": "bert",
            "lexical": ["bm25"],
            "reason": "hpo-seeds",
            "collections": ["c"],
            "changed": {},
            "chosen": [],
            "cut": 100,
            "rankers": {"prop": "its weights need a download", "bert": "not in this study"},
        } | other

    def read(self, **other):
        return pages.read(
            self.parameters(**other), self.systems, [self.path / "queries.tsv"], PAPER
        )


@pytest.fixture
def folder(tmp_path):
    """Return the methods of one run: by labels CET beats DML only, by truth RANCE too."""
    made = Folder(tmp_path)
    for retriever, more in (("dense", 0.0), ("bm25", 0.05)):
        made.add(retriever, "naive", "labels", RR_10=BASE + more)
        made.add(retriever, "naive", "truth", RR_10=BASE + more, nDCG_10=BASE + more)
    rows = {  # what is added to BASE: RR@10 by labels, by truth, nDCG@10 by truth
        "dml": (0, 0, 0),
        "rance-one_minus_p": (0.5 * BETWEEN, 0.05, 0.05),
        "cet-paper-tau1": (0.1 + 0.01 * SIDE, 0.1 + 0.01 * SIDE, -0.1 + 0.01 * SIDE),
        "cet-released-tau10": (0.01 * BETWEEN, 0.01 * BETWEEN, 0.01 * BETWEEN),
        "oracle": (0.6, 0.6, 0.6),
    }
    for method, (labels, truth, ndcg) in rows.items():
        made.add("dense", method, "labels", RR_10=BASE + labels)
        made.add("dense", method, "truth", RR_10=BASE + truth, nDCG_10=BASE + ndcg)
    return made


def cells(markdown, retriever, method):
    """Return the cells of the first row of a system."""
    lines = [line for line in markdown.splitlines() if line.startswith(f"| {retriever} | {method}")]
    return [cell.strip() for cell in lines[0].strip("|").split(" | ")][2:]


def test_table_1_has_the_known_cells_bold_and_daggers(folder):
    page = table_1(folder.read())
    text = render.markdown(page.tables)
    columns = "by labels: MRR@10 | by truth: MRR@10 | by truth: nDCG@10 | paper, MS MARCO passage"
    assert text.splitlines()[2].startswith(f"| retriever | method | {columns}")
    assert cells(text, "dense", "naive")[:3] == ["0.3000", "0.3000", "0.3000"]
    assert cells(text, "bm25", "naive")[:3] == ["0.3500", "0.3500", "**0.3500**"]
    assert cells(text, "dense", "rance")[:3] == ["0.3000", "0.3500", "**0.3500**"]  # a tie
    assert cells(text, "dense", "cet-paper-tau1")[:3] == ["**0.4000**†", "**0.4000**†‡", "0.2000"]
    assert cells(text, "dense", "cet-released-tau10")[:3] == ["0.3000", "0.3000", "0.3000"]
    assert cells(text, "dense", "oracle |")[:3] == ["0.9000", "0.9000", "0.9000"]  # never bold
    assert cells(text, "dense", "zhan")[:3] == ["not run (hpo-seeds)", "", ""]
    assert "Left out, since" in text
    assert "MRR@100 by labels, MRR@100 by truth, nDCG@100 by truth" in text


def test_rows_stand_in_the_papers_order_and_none_is_dropped(folder):
    data = table_1(folder.read()).data
    ours = data[(data["source"] == "ours") & (data["retriever"] == "dense")]
    assert list(dict.fromkeys(zip(ours["method"], ours["options"], strict=True))) == [
        *(("naive", ""), ("zhan", ""), ("rocketqa", ""), ("dml", ""), ("rance", "one_minus_p")),
        *((name, "") for name in ("random", "sieve", "percpos", "margin", "simans")),
        *(("cet_listwise", ""), ("cet", "paper-tau1"), ("cet", "released-tau10"), ("oracle", "")),
        *(("oracle_matched", ""), ("ideal_propensity", "")),
    ]
    assert set(data.loc[data["retriever"] == "bm25", "method"]) == {"naive"}
    lacking = ours[ours["method"] == "sieve"]
    assert set(lacking["status"]) == {"not run (hpo-seeds)"}
    assert lacking["mean"].isna().all()
    other = table_1(folder.read(reason="not in this study")).data
    assert "not run (not in this study)" in set(other["status"])


def test_the_paper_stands_beside_in_columns_of_its_own(folder):
    page = table_1(folder.read())
    text = render.markdown(page.tables)
    assert "paper, MS MARCO passage (BM25, ANCE): MRR@10" in text
    assert cells(text, "bm25", "naive")[3:5] == ["0.3562", "0.3642"]
    assert cells(text, "bm25", "naive")[-2:] == ["**0.6420**", "**0.5379**"]
    assert cells(text, "dense", "naive")[3:5] == ["0.3403", "0.3493"]
    assert cells(text, "dense", "zhan")[3:5] == ["0.3486", "0.3597"]  # though it was not run
    assert cells(text, "dense", "cet-paper")[3] == "**0.3638**†‡"
    assert cells(text, "dense", "cet-released")[3] == "–"  # the paper has one setting
    assert cells(text, "dense", "oracle |")[3] == "–"
    paper = page.data[page.data["source"] == "paper"]
    assert len(paper) == 56
    row = paper[(paper["method"] == "cet") & (paper["collection"] == "msmarco-passage/dev")].iloc[0]
    assert (row["retriever"], row["measure"], row["mean"], row["mark"]) == (
        *("ance", "RR@10", 0.3638, "†‡"),
    )


def test_a_study_on_the_papers_collection_shows_its_values_for_equal_systems(tmp_path):
    made = Folder(tmp_path)
    for retriever in ("bm25", "ance", "adore"):
        made.add(retriever, "naive", "labels", RR_10=BASE)
    for system in made.systems:
        system["collection"] = "msmarco-passage"
    page = table_1(made.read(collections=["msmarco-passage"], split="dev"))
    text = render.markdown(page.tables)
    assert "MS MARCO document" not in text
    assert cells(text, "ance", "naive") == ["**0.3000**", "0.3403", "0.3493"]
    assert cells(text, "adore", "naive") == ["**0.3000**", "–", "–"]
    assert cells(text, "bm25", "naive") == ["**0.3000**", "0.3562", "0.3642"]
    assert "for the same collection and system" in text
    for system in made.systems[:2]:
        made.systems.append(system | {"collection": "msmarco-document"})
    (tmp_path / "other.tsv").write_bytes((tmp_path / "queries.tsv").read_bytes())
    parameters = made.parameters(collections=["msmarco-passage", "msmarco-document"], split="dev")
    queries = [tmp_path / "queries.tsv", tmp_path / "other.tsv"]
    page = table_1(pages.read(parameters, made.systems, queries, PAPER))
    first, second = page.tables[0].sections
    shown = [[cell.text for cell in section.lines[1].cells[3:]] for section in (first, second)]
    assert shown == [["0.3403", "0.3493", "–", "–"], ["–", "–", "0.4091", "0.4165"]]


def tail_of_t(t, freedom):
    """Return the probability above `t`, the density summed by the trapezoid rule."""
    x = np.linspace(t, 60, 200_001)
    density = (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    factor = math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(freedom * math.pi)
    return factor * np.trapezoid(density, x)


def test_the_numbers_behind_are_those_of_a_hand_computation(folder):
    data = table_1(folder.read()).data
    here = (data["options"] == "paper-tau1") & (data["measure"] == "RR@10")
    rows = data[here & (data["judgements"] == "labels")].set_index("against")
    assert rows.index.tolist() == ["dense naive", "dense dml", "dense rance-one_minus_p"]
    row = rows.loc["dense dml"]
    assert row["difference"] == pytest.approx(0.1)
    assert (row["queries"], row["groups"], row["seeds"]) == (40, 20, 1)
    assert row["p_randomisation"] == 1 / 20_000  # all 20 groups rise by .2
    # Tests: 5 rows against naive, CET's two against DML and RANCE, in each of 3 columns.
    assert row["p_randomisation_holm"] <= 27 / 20_000
    assert data["p_t"].notna().sum() == 27
    assert row["mark"] == "†"
    against = rows.loc["dense rance-one_minus_p"]
    # .1 + .01 SIDE - .5 BETWEEN: a mean of .1 with the squares .2501 around it
    t = 0.1 / math.sqrt(0.2501 / 39)
    assert against["p_t"] == pytest.approx(2 * tail_of_t(t, 39), rel=1e-4)
    assert against["mark"] == ""
    assert set(data.loc[data["options"] == "one_minus_p", "mark"].dropna()) <= {"", "*"}
    worse = data[(data["options"] == "paper-tau1") & (data["measure"] == "nDCG@10")]
    assert worse.set_index("against").loc["dense naive", "mark"] == "*"  # worse, and surely so
    assert worse.set_index("against").loc["dense dml", "mark"] == ""


def test_one_seed_is_told_and_two_seeds_widen_the_interval(tmp_path):
    widths = []
    for seeds in ((1,), (1, 2)):
        made = Folder(tmp_path)
        made.add("dense", "naive", "truth", RR_10=BASE)
        for seed in seeds:
            made.add("dense", "oracle", "truth", seeds=(seed,), RR_10=BASE + 0.1 * seed)
        page = table_1(made.read())
        text = render.markdown(page.tables)
        assert "no verdict follows from it" in text  # naive has one seed
        found = page.data[page.data["method"] == "oracle"].iloc[0]
        widths.append(found["difference_high"] - found["difference_low"])
        assert ("Seeds of a row: 1 to 2." in text) == (len(seeds) == 2)
    assert widths[0] == pytest.approx(0, abs=1e-12)
    assert widths[1] == pytest.approx(0.1)


def test_a_mark_needs_an_interval_off_0_too(tmp_path):
    # Seeds of CET at -.1 and .5: their mean is surely better on these queries, training is not.
    made = Folder(tmp_path)
    made.add("dense", "naive", "truth", RR_10=BASE)
    made.add("dense", "dml", "truth", RR_10=BASE + 0.001 * BETWEEN)
    for seed, more in ((1, -0.1), (2, 0.5)):
        made.add("dense", "cet-paper-tau1", "truth", seeds=(seed,), RR_10=BASE + more)
    data = table_1(made.read()).data
    row = data[data["against"] == "dense dml"].iloc[0]
    assert row["p_t_holm"] < 0.05
    assert row["p_randomisation_holm"] < 0.05
    assert row["difference_low"] < 0 < row["difference_high"]
    assert row["mark"] == ""


def test_a_mark_needs_both_tests(tmp_path):
    # Four groups: the t-test over 40 queries is sure, the best p of 16 flips is 2/16.
    made = Folder(tmp_path)
    groups = [f"t{number // 10}" for number in range(40)]
    write_table(tmp_path / "queries.tsv", pd.DataFrame({"query_id": QUERIES, "group": groups}))
    made.add("dense", "naive", "truth", RR_10=BASE)
    made.add("dense", "cet-paper-tau1", "truth", RR_10=BASE + 0.1 + 0.01 * BETWEEN)
    row = table_1(made.read()).data.query("against == 'dense naive'").iloc[0]
    assert row["p_t_holm"] < 0.001
    assert row["p_randomisation_holm"] == 2 / 16
    assert row["difference_low"] > 0
    assert row["mark"] == ""


def test_settings_of_training_are_told_compared_with_their_like_and_chosen_on_dev(tmp_path):
    made = Folder(tmp_path)
    made.add("dense", "naive", "truth", RR_10=BASE)
    made.add("dense", "dml-mu0", "truth", RR_10=BASE + 0.2)
    made.add("dense", "dml-mu1", "truth", RR_10=BASE - 0.1 + 0.01 * BETWEEN)
    made.add("dense", "cet-paper-tau1", "truth", RR_10=BASE + 0.1 + 0.01 * BETWEEN)
    for system in [s for s in made.systems if s["name"] in ("naive", "cet")]:
        path = Path(system["path"]).with_suffix(".high.tsv")
        frame = read_table(system["path"], ["value"]).astype({"value": float})
        write_table(path, frame.assign(value=frame["value"] + 0.3))
        high = {"experiment": f"{system['experiment']}-high", "path": str(path)}
        made.systems.append(system | high)
    changed = {
        f"c.dense.{name}.bert-1-high": "learning_rate 1" for name in ("naive", "cet-paper-tau1")
    }
    plain = table_1(made.read(changed=changed))
    text = render.markdown(plain.tables)
    ours = plain.data[plain.data["source"] == "ours"]
    rows = ours[ours["method"] == "cet"].set_index(["changed", "against"])
    assert rows.index.tolist() == [
        *(("", "dense naive"), ("", "dense dml-mu0")),
        *(
            ("learning_rate 1", "dense naive (learning_rate 1)"),
            ("learning_rate 1", "dense dml-mu0"),
        ),
    ]
    assert rows["difference"].tolist() == pytest.approx([0.1, -0.1, 0.1, 0.2])
    assert "| dense | cet-paper-tau1 (learning\\_rate 1) |" in text
    assert "°" not in text
    chosen = table_1(made.read(changed=changed, chosen=["c.dense.dml-mu1.bert-1"]))
    assert "| dense | dml-mu1° |" in render.markdown(chosen.tables)
    rows = chosen.data[chosen.data["method"] == "cet"]
    assert "dense dml-mu1" in set(rows["against"])
    assert "dense dml-mu0" not in set(rows["against"])


def test_what_could_not_be_tested_is_told(tmp_path):
    made = Folder(tmp_path)
    made.add("dense", "naive", "truth", RR_10=BASE)
    made.add("dense", "dml", "truth", RR_10=BASE)
    made.add("dense", "cet-paper-tau1", "truth", RR_10=BASE)
    assert "one of the two was not run: ‡ (rance)." in render.markdown(table_1(made.read()).tables)


def test_pools_are_blocks_of_their_own_and_reasons_stand_in_the_first(folder):
    for method in ("naive", "toy"):
        folder.add("dense", method, "truth", pool="dense", RR_10=BASE, nDCG_10=BASE)
        folder.add("dense", method, "labels", pool="dense", RR_10=BASE)
    page = table_1(folder.read())
    text = render.markdown(page.tables)
    assert "\nc, pool dense\n" in text
    data = page.data
    assert data.loc[data["pool"] == "dense", "method"].unique().tolist() == ["naive", "toy"]
    assert (data["method"] == "sieve").sum() == 3  # columns
    folder.systems.pop()  # labels of toy: its row must not pass for measured
    told = r"dense toy, c\.dense\.toy\.bert-1, has no RR@10 by labels, which other systems"
    with pytest.raises(DataError, match=told):
        table_1(folder.read())


def test_table_2_has_a_row_per_retriever(tmp_path):
    made = Folder(tmp_path)
    for retriever, more in (("dense", 0.2), ("bm25", 0.1)):
        for judgements in ("labels", "truth"):
            values = BASE + more * (judgements == "truth")
            made.add(retriever, "run", judgements, ranker="-", seeds=(0,), R_100=values, R_10=BASE)
    page = table_2(made.read())
    assert page.data["retriever"].tolist() == ["bm25", "dense"]
    assert page.data["measure"].tolist() == ["R@100", "R@100"]
    assert page.data["labels_mean"].tolist() == pytest.approx([0.3, 0.3])
    assert page.data["truth_mean"].tolist() == pytest.approx([0.4, 0.5])
    assert page.data["truth_difference"].tolist()[1] == pytest.approx(0.1)
    assert page.data["truth_against"].tolist()[1] == "bm25 run"
    assert page.data["truth_mark"].tolist()[1] == "*"
    assert page.data["labels_mark"].tolist()[1] == ""
    assert page.data["paper msmarco-passage/dev R@1000"].tolist() == [0.8140, 0.9587]
    text = render.markdown(page.tables)
    assert "| retriever | by labels: Recall@100 | by truth: Recall@100 | paper, MS" in text
    assert "| dense | 0.3000 | 0.5000 | 0.9587 | 0.8927 | 0.6610 | 0.2664 |" in text
    assert "seed" not in text.partition("**Table 2, differences")[0]


def test_table_3_reads_hits_off_the_reciprocal_rank(tmp_path):
    made = Folder(tmp_path)
    first = np.where(np.arange(40) < 10, 1.0, 0.5)  # a quarter of the queries
    made.add("dense", "naive", "labels", RR_10=first)
    made.add("dense", "rocketqa-pair-eta0.1", "labels", RR_10=first)
    made.add("dense", "cet-paper-tau1", "labels", RR_10=np.ones(40))
    made.add("dense", "zhan", "labels", RR_10=first)
    page = table_3(made.read())
    text = render.markdown(page.tables)
    assert (
        "| by labels: MRR@10 | by labels: Recall@1 | paper, DuReader\\_retrieval (BM25, DE)" in text
    )
    assert cells(text, "dense", "naive")[:4] == ["0.6250", "0.2500", "0.7168", "0.6210"]
    assert cells(text, "dense", "cet")[:2] == ["**1.0000**†", "**1.0000**†"]
    assert cells(text, "dense", "cet")[2:] == ["**0.7323**†", "**0.6485**†"]
    assert "zhan" not in text
    ours = page.data[page.data["source"] == "ours"]
    assert ours["method"].unique().tolist() == ["naive", "dml", "rance", "rocketqa", "cet"]


def test_table_4_tells_why_a_ranker_is_not_there(tmp_path):
    made = Folder(tmp_path)
    for ranker, more in (("bert", 0.0), ("small", 0.1)):
        made.add("dense", "naive", "labels", ranker=ranker, RR_100=BASE + more)
    made.add("dense", "cet-paper-tau1", "labels", RR_100=BASE + 0.2)
    page = table_4(made.read())
    text = render.markdown(page.tables)
    lines = [line for line in text.partition("differences")[0].splitlines() if "| dense" in line]
    assert lines == [
        "| dense | bert | naive | 0.3000 | 0.4165 |",
        "| dense | bert | cet-paper-tau1 | 0.5000 | 0.4311 |",
        "| dense | small | naive | 0.4000 | – |",
        "| dense | small | cet | not run (hpo-seeds) | – |",
        "| dense | prop | naive | not run (its weights need a download) | 0.4293 |",
        "| dense | prop | cet | not run (its weights need a download) | 0.4400 |",
    ]
    found = page.data[page.data["against"].notna()]
    assert found["difference"].tolist() == pytest.approx([0.2])  # of the same ranker
    reasons = {"prop": "b", "cedr_knrm": "a", "small": "c", "bert": "d"}
    page = table_4(made.read(rankers=dict(sorted(reasons.items()))))
    order = ["bert", "small", "prop", "cedr_knrm"]
    assert list(dict.fromkeys(page.data.query("source == 'ours'")["ranker"])) == order


def test_a_table_without_a_system_is_a_table(tmp_path):
    text = render.markdown(table_4(Folder(tmp_path).read()).tables)
    assert "| retriever | ranker | method |" in text


def test_the_script_writes_the_same_bytes_whatever_the_order_of_rows(folder, tmp_path):
    written = []
    for turn in ("plain", "shuffled"):
        if turn == "shuffled":
            for system in folder.systems:
                frame = read_table(system["path"], ["value"])
                write_table(system["path"], frame.sample(frac=1, random_state=1))
        out = tmp_path / turn
        out.mkdir()
        parameters = folder.parameters(systems=pack(folder.systems))
        (out / "parameters.json").write_text(json.dumps(parameters))
        names = {"markdown": "t.md", "latex": "t.tex", "table": "t.tsv", "manifest": "t.json"}
        options = [part for name, file in names.items() for part in (f"--{name}", out / file)]
        inputs = ["--queries", folder.path / "queries.tsv", "--paper-tables", PAPER]
        script = ROOT / "workflow" / "scripts" / "table_1.py"
        command = [sys.executable, script, "--parameters", out / "parameters.json"]
        subprocess.run([*command, *inputs, *options], check=True, cwd=ROOT, capture_output=True)
        written.append([(out / name).read_bytes() for name in ("t.md", "t.tex", "t.tsv")])
        manifest = json.loads((out / "t.json").read_text())
        assert len(manifest["inputs"]) == len(folder.systems) + 2
    assert written[0] == written[1]
    assert "**0.4000**†‡" in written[0][0].decode()
