"""Figure 5: its table by hand, and what is drawn of it."""

import json

import numpy as np
import pandas as pd
import pytest
from drawings import ROOT, misplaced, run_script, texts

from poolbias import probe
from poolbias.errors import DataError
from poolbias.evaluation import premises
from poolbias.figures.figure_5 import Coupled, build_data, caption, draw, read_data, read_training
from poolbias.formats.tsv import read_table, write_table

PAPER = read_table(ROOT / "config" / "paper_tables.tsv", ["place"])
METHODS = ["cet-paper-tau1", "cet-released-tau10"]
TEXTS = {"p": "Joint inflammation", "q": "Big head"}
QUERIES = pd.DataFrame({"query_id": ["p", "q"], "group": ["t", "u"], "text": TEXTS.values()})
DEPTH = 4


def probed(step=400, factor=1.0):
    """Two queries: p with three relevant of four, q with two, each with one paired below."""
    rows = []
    for query, relevant in (("p", [1, 0, 1, 1]), ("q", [1, 1, 0, 0])):
        for rank, is_relevant in enumerate(relevant, start=1):
            labelled = int(rank == 1)
            weight = factor * (rank + 4 * is_relevant) / 8
            facts = (is_relevant, labelled, int(rank < 3), 0)
            rows.append((step, query, f"{query}{rank}", rank, *facts, 1.0, 2.0, weight, 1.0))
        rows.append((step, query, f"{query}9", 7, 1, 1, 1, 1, 0.0, 0.0, 1.0, 1.0))
    frame = pd.DataFrame(rows, columns=probe.COLUMNS)
    return frame.astype(dict.fromkeys(["rank", *probe.FACTS], "Int64"))


def training(steps=80, false=2.0, true=0.5):
    at = np.arange(1, steps + 1)
    return pd.DataFrame(
        {
            "step": at,
            "w_r_false_negatives_mean": np.where(at % 2, false, np.nan),
            "w_r_true_negatives_mean": true * at,
        }
    )


def coupled(method, seed=1, probe_frame=None, steps=None):
    return Coupled(
        method,
        seed,
        probed() if probe_frame is None else probe_frame,
        training() if steps is None else steps,
    )


TRAININGS = [coupled(METHODS[0], 2), coupled(METHODS[0], 1), coupled(METHODS[1], 1)]


def table_of(trainings):
    """The premises as their stage writes them."""
    about = {"experiment": "e", "retriever": "dense", "pool": "outside"}
    probes = [(about | {"method": t.method, "seed": t.seed}, t.probed) for t in trainings]
    values, systems = premises.measure(probes, DEPTH)
    return premises.summarise(values, systems, QUERIES, resamples=100)


def build(trainings=TRAININGS, methods=METHODS, table=None, **changes):
    table = table_of(trainings) if table is None else table
    given = {"methods": methods, "depth": DEPTH} | changes
    return build_data(table, trainings, TEXTS, PAPER, **given)


def pick(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def test_case_by_hand():
    case = pick(build(), panel="case", method=METHODS[0])
    assert case[["document_id", "rank", "relevant", "status"]].to_numpy().tolist() == [
        ["p1", 1, 1, "top"],
        ["p2", 2, 0, "top"],
        ["p3", 3, 1, "top"],
        ["p4", 4, 1, "top"],
        ["p9", 7, 1, "paired"],
    ]
    assert case["value"].tolist() == pytest.approx([5 / 8, 2 / 8, 7 / 8, 1.0, 1.0])
    assert set(case["seed"]) == {1}  # the first of two seeds, whatever their order
    assert set(case["note"]) == {"Joint inflammation"}
    other = pick(build(query="q"), panel="case", method=METHODS[0])
    assert set(other["query_id"]) == {"q"}


def test_all_steps_of_the_case_are_kept_and_the_last_chooses_it():
    early = probed(step=100, factor=2.0)
    frame = build([coupled(METHODS[0], 1, pd.concat([probed(), early]))])
    case = pick(frame, panel="case", method=METHODS[0])
    assert case["step"].tolist() == [100] * 5 + [400] * 5
    assert case["value"].iloc[0] == pytest.approx(10 / 8)
    assert set(pick(frame, panel="premises", status="mean")["step"]) == {400}


def test_training_by_hand():
    own = pick(build(), panel="training", method=METHODS[1])
    true = pick(own, name="true negatives")
    assert true["step"].tolist() == list(range(2, 81, 2))  # 40 stretches of two steps
    assert true["value"].tolist() == pytest.approx([0.5 * (step - 0.5) for step in range(2, 81, 2)])
    false = pick(own, name="false negatives")  # steps without one are left out
    assert false["step"].tolist() == list(range(1, 81, 2))
    assert set(false["value"]) == {2.0}
    seeds = [coupled(METHODS[0], 1), coupled(METHODS[0], 2, steps=training(true=1.5))]
    both = pick(build(seeds), panel="training", name="true negatives")
    assert both["value"].iloc[0] == pytest.approx((0.5 + 1.5) / 2 * 1.5)
    few = pick(build([coupled(METHODS[0], steps=training(3))]), panel="training")
    assert pick(few, name="true negatives")["step"].tolist() == [1, 2, 3]


def test_truth_that_training_does_not_know_is_not_run():
    unknown = training().drop(columns="w_r_false_negatives_mean")
    own = pick(build([coupled(METHODS[0], steps=unknown)]), panel="training", method=METHODS[0])
    lacking = pick(own, status="not run")
    assert lacking["name"].tolist() == ["false negatives"]
    assert "truth of training queries is not known" in lacking["note"].iloc[0]


def test_a_training_is_read_from_its_file(tmp_path):
    path = tmp_path / "training.tsv"
    write_table(path, training(4).assign(loss_r=1.0))
    read = read_training(path)
    pd.testing.assert_frame_equal(read[training().columns.tolist()], training(4))
    write_table(path, training(4)[["step"]])
    assert read_training(path).columns.tolist() == ["step"]
    write_table(path, training(4).astype("object").assign(w_r_true_negatives_mean="x"))
    with pytest.raises(DataError, match=r"training\.tsv: .*train this ranker again"):
        read_training(path)


def test_premises_are_those_of_the_table():
    table = table_of(TRAININGS)
    frame = pick(build(table=table), panel="premises", method=METHODS[0])
    own = table[table["method"] == METHODS[0]]
    assert frame["name"].tolist() == own["premise"].tolist()
    assert frame["value"].tolist() == pytest.approx(own["mean"].tolist(), nan_ok=True)
    # p: w_r .625 .875 1 against .25; q: .625 .75 against .375 .5: relevant ones all higher
    assert pick(frame, name="weight")["value"].iloc[0] == 0.0
    assert pick(frame, name="weight")["seeds"].iloc[0] == 2


def test_a_method_without_training_is_not_run():
    frame = build([coupled(METHODS[0])])
    lacking = pick(frame, method=METHODS[1])
    assert lacking[["panel", "status"]].to_numpy().tolist() == [
        ["case", "not run"],
        ["training", "not run"],
        ["premises", "not run"],
    ]
    nothing = build([], table=table_of([]))
    assert set(pick(nothing, source="")["status"]) == {"not run"}


def test_the_papers_case_is_told():
    (row,) = pick(build(), source="paper").to_dict("records")
    assert (row["name"], row["value"], row["status"]) == ("relevant in top 50", 45.0, "printed")
    assert "query 168216" in row["note"]


def test_table_survives_its_file(tmp_path):
    frame = build()
    write_table(tmp_path / "figure_5.tsv", frame)
    read = read_data(tmp_path / "figure_5.tsv")
    pd.testing.assert_frame_equal(read, frame, check_dtype=False)
    assert caption(read) == caption(frame)


def test_caption_tells_query_seeds_and_correlation():
    told = caption(build())
    assert "query p “Joint inflammation”, 3 of 4 relevant" in told
    assert "paired with the labelled document at rank 7; seed 1, step 400" in told
    assert "mean of 2 seeds" in told
    # p: ranks of w_r 2 1 3 4 with relevance 1 0 1 1: .7746; q: 3 4 1 2 with 1 1 0 0: .8944
    assert "Spearman of w_r and relevance, CET paper, τ = 1: .83 [.77, .89]" in told
    assert "Paper's query: 45 relevant in top 50" in told
    assert "not drawn: " not in told
    lost = probed().assign(w_r=[np.inf, 0.0, 1, 1, 1, 1, 1, 1, 1, 1])
    assert "Weights of 0 or infinity, not drawn: 2." in caption(
        build([coupled(METHODS[0], probe_frame=lost)])
    )


def test_drawing_shows_the_table():
    figure = draw(build([coupled(METHODS[0])]))
    case, curves, lacking_case, lacking_curves, below = figure.axes
    relevant, irrelevant, labelled = case.lines
    assert relevant.get_xdata().tolist() == [1, 3, 4]
    assert relevant.get_ydata().tolist() == pytest.approx([5 / 8, 7 / 8, 1.0])
    assert irrelevant.get_xdata().tolist() == [2]
    assert labelled.get_xdata().tolist() == [1]
    assert [line.get_label() for line in curves.lines] == ["false negatives", "true negatives"]
    assert curves.get_yscale() == "log"  # .75 to 39.75
    assert case.get_yscale() == "linear"
    for axis in (lacking_case, lacking_curves):
        assert [text.get_text() for text in axis.texts] == ["not run"]
    names = [label.get_text() for label in below.get_yticklabels()]
    assert names[0] == "Figure 5: $w_r$ is lower for relevant"
    assert "Eq. 17: S is higher for pooled, of the relevant" in names
    assert len(names) == len(premises.PREMISES) - 1  # Spearman is in the caption


def test_weights_far_apart_get_a_logarithmic_axis():
    for highest, scale in ((29.0, "linear"), (31.0, "log")):
        spread = probed().assign(w_r=[1.0, highest] + [2.0] * 8)
        axis = draw(build([coupled(METHODS[0], probe_frame=spread)])).axes[0]
        assert axis.get_yscale() == scale


@pytest.mark.parametrize("trainings", [TRAININGS, TRAININGS[2:], []])
def test_no_text_leaves_the_page_or_lies_on_another(trainings):
    figure = draw(build(trainings))
    assert misplaced(figure) == []
    if not trainings:
        assert "not run" in texts(figure)


def test_fresh_processes_write_the_same_bytes_and_load_nothing_heavy(tmp_path):
    write_table(tmp_path / "premises.tsv", table_of(TRAININGS), floats="%.6f")
    write_table(tmp_path / "queries.tsv", QUERIES)
    for number, one in enumerate(TRAININGS):
        write_table(tmp_path / f"probe-{number}.tsv.gz", one.probed)
        write_table(tmp_path / f"training-{number}.tsv", one.training)
    parameters = {"methods": METHODS, "depth": DEPTH, "query": None}
    parameters["systems"] = [{"method": t.method, "seed": t.seed} for t in TRAININGS]
    (tmp_path / "parameters.json").write_text(json.dumps(parameters))
    written = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        options = {"parameters": tmp_path / "parameters.json", "queries": tmp_path / "queries.tsv"}
        options |= {"premises": tmp_path / "premises.tsv"}
        options |= {"probes": [tmp_path / f"probe-{n}.tsv.gz" for n in range(3)]}
        options |= {"trainings": [tmp_path / f"training-{n}.tsv" for n in range(3)]}
        options |= {"paper-tables": ROOT / "config" / "paper_tables.tsv"}
        options |= {kind: out / f"figure_5.{kind}" for kind in ("pdf", "svg", "png")}
        done = run_script("figure_5", options | {"table": out / "figure_5.tsv"}, hash_seed=seed)
        assert done.returncode == 0, done.stderr
        written.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert written[0] == written[1]
    assert sorted(written[0]) == [f"figure_5.{kind}" for kind in ("pdf", "png", "svg", "tsv")]
    assert b"<!-- Eq. 17: S is higher for pooled -->" in written[0]["figure_5.svg"]
