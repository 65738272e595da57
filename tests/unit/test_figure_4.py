"""Figure 4: its table by hand, and what is drawn of it."""

import json

import numpy as np
import pandas as pd
import pytest
from drawings import ROOT, misplaced, run_script, texts

from poolbias.errors import DataError
from poolbias.figures.figure_4 import build_data, caption, draw, read_data
from poolbias.formats.tsv import read_table, write_table

PAPER = read_table(ROOT / "config" / "paper_tables.tsv", ["place", "system"])
QUERIES = pd.DataFrame({"query_id": ["a", "b", "c", "d"], "group": ["g", "g", "h", "h"]})


def system(experiment, value, seed=1, judgements="truth", measure="RR@10"):
    """A ranker whose queries all have one value, so that drawing groups moves nothing."""
    name = experiment.split("-")[0]
    about = {"experiment": experiment, "collection": "hpo", "pool": "outside", "method": experiment}
    about |= {"retriever": "dense", "name": name, "ranker": "bert", "seed": seed}
    return QUERIES.assign(**about, judgements=judgements, measure=measure, value=value)


POINTS = pd.DataFrame(
    [
        ("cet-10", "cet-paper", "temperature", 10.0),
        ("cet-1", "cet-paper", "temperature", 1.0),
        ("rocketqa-3", "rocketqa-pair", "share_removed", 0.3),
        ("rocketqa-7", "rocketqa-pair", "share_removed", 0.7),
        ("rocketqa-9", "rocketqa-pair", "share_removed", 0.9),
    ],
    columns=["experiment", "series", "option", "x"],
)
VALUES = {  # by truth, seeds 1 and 2
    "naive": (0.5, 0.5),
    "cet-1": (0.6, 0.6),
    "cet-10": (0.7, 0.7),
    "rocketqa-3": (0.55, 0.65),
    "rocketqa-7": (0.5, 0.4),
    "rocketqa-9": (0.2, 0.2),
}
SYSTEMS = pd.concat(
    [
        *(
            system(name, value, seed)
            for name, v in VALUES.items()
            for seed, value in enumerate(v, 1)
        ),
        *(system(name, 0.1, judgements="labels") for name in ("naive", "cet-1", "cet-10")),
    ]
)


def build(systems=SYSTEMS, points=POINTS, **changes):
    return build_data(PAPER, systems, points, resamples=200, **changes)


def pick(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def test_points_by_hand():
    frame = pick(build(), judgements="truth", source="ours")
    tau = pick(frame, panel="tau", status="mean")
    assert tau[["x", "value"]].to_numpy().tolist() == pytest.approx(np.array([[1, 0.6], [10, 0.7]]))
    eta = pick(frame, panel="eta", status="mean")
    assert eta["x"].tolist() == [0.3, 0.7, 0.9]
    assert eta["value"].tolist() == pytest.approx([0.6, 0.45, 0.2])
    assert eta.iloc[0][["low", "high"]].tolist() == pytest.approx([0.55, 0.65])  # seeds alone
    assert eta[["queries", "groups", "seeds"]].to_numpy().tolist() == [[4, 2, 2]] * 3
    dots = pick(frame, panel="eta", status="seed", x=0.3)
    assert dots["value"].tolist() == pytest.approx([0.55, 0.65])
    naive = pick(frame, panel="reference", status="mean")
    assert naive["value"].tolist() == pytest.approx([0.5])


def test_variances_and_their_ratio_by_hand():
    frame = pick(build(), judgements="truth", source="ours")
    tau = pick(frame, panel="variance", series="cet-paper").set_index("status")["value"]
    # .6 and .7: (.05² + .05²) / 1; seeds agree
    assert tau.to_dict() == pytest.approx({"left": 0.005, "observed": 0.005, "of seeds": 0.0})
    eta = pick(frame, panel="variance", series="rocketqa-pair").set_index("status")["value"]
    # means .6, .45, .2 about .41667: (.033611 + .001111 + .046944) / 2
    observed = (0.18333333**2 + 0.03333333**2 + 0.21666667**2) / 2
    # residuals of (.55 .65), (.5 .4), (.2 .2): seeds' means .41667 each, so ±.05, ±.05, 0
    seeds = 4 * 0.05**2 / (2 * 1) / 2
    assert eta.to_dict() == pytest.approx(
        {"left": observed - seeds, "observed": observed, "of seeds": seeds}
    )
    ratio = pick(frame, panel="ratio").iloc[0]
    assert ratio["series"] == "rocketqa-pair / cet-paper"
    assert ratio["value"] == pytest.approx((observed - seeds) / 0.005)
    assert ratio["low"] < ratio["value"] < ratio["high"]
    assert ratio[["queries", "groups", "seeds", "retriever"]].tolist() == [4, 2, 2, "dense"]


def test_one_seed_takes_no_variance_off():
    frame = pick(build(pick(SYSTEMS, seed=1)), judgements="truth", source="ours")
    tau = pick(frame, panel="variance", series="cet-paper").set_index("status")["value"]
    assert tau["left"] == tau["observed"] == pytest.approx(0.005)
    assert np.isnan(tau["of seeds"])
    # .55, .5, .2 about .41667
    eta = (0.13333333**2 + 0.08333333**2 + 0.21666667**2) / 2
    ratio = pick(frame, panel="ratio").iloc[0]
    assert ratio[["value", "low", "high"]].tolist() == pytest.approx([eta / 0.005] * 3)


def test_the_paper_says_about_ten():
    (row,) = pick(build(), source="paper").to_dict("records")
    assert (row["panel"], row["value"], row["status"]) == ("ratio", 10.0, "printed")
    assert "about 10 times" in row["note"]


def test_what_is_lacking_is_not_run():
    frame = build(points=POINTS[POINTS["option"] == "temperature"])
    assert set(pick(frame, panel="eta")["status"]) == {"not run"}
    assert pick(frame, panel="ratio", source="ours").empty
    one = build(points=POINTS[POINTS["experiment"] != "cet-1"])
    assert (
        pick(one, panel="variance", series="cet-paper")["note"].tolist() == ["needs two values"] * 2
    )
    assert set(pick(one, panel="ratio", source="ours")["status"]) == {"not run"}
    labels = pick(build(), judgements="labels", source="ours")  # no rocketqa was judged so
    assert set(pick(labels, panel="eta")["note"]) == {"no RR@10 by labels"}
    assert pick(labels, panel="ratio")["status"].tolist() == ["not run"]
    none = build(SYSTEMS[:0], POINTS[:0])
    assert set(pick(none, source="ours")["status"]) == {"not run"}


def test_no_variance_over_tau_makes_an_infinite_ratio():
    flat = SYSTEMS.assign(value=SYSTEMS["value"].where(SYSTEMS["name"] != "cet", 0.6))
    ratio = pick(build(flat), panel="ratio", source="ours", judgements="truth").iloc[0]
    assert ratio[["value", "high"]].tolist() == [np.inf, np.inf]
    assert any(text.startswith("∞ [") for text in texts(draw(build(flat))))


def test_two_rankers_of_one_value_are_told():
    twice = pd.concat([POINTS, POINTS[:1].assign(experiment="other")])
    with pytest.raises(DataError, match=r"cet-paper has two rankers for temperature 10, need one"):
        build(points=twice)


def test_order_of_rows_and_points_changes_nothing():
    frame = build(SYSTEMS.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(frame, build())
    turned = build(points=POINTS.iloc[[1, 0, 4, 2, 3]])
    pd.testing.assert_frame_equal(turned, build())


def test_table_survives_its_file(tmp_path):
    frame = build(SYSTEMS.assign(value=SYSTEMS["value"].where(SYSTEMS["name"] != "cet", 0.6)))
    assert np.isinf(frame["value"]).any()
    write_table(tmp_path / "figure_4.tsv", frame)
    read = read_data(tmp_path / "figure_4.tsv")
    pd.testing.assert_frame_equal(read, frame, check_dtype=False)
    assert caption(read) == caption(frame)


def test_caption_tells_of_seeds():
    assert "mean of 2 seeds" in caption(build())
    assert "the variance of seeds is taken off" in caption(build())
    one = caption(build(pick(SYSTEMS, seed=1)))
    assert "with one seed its variance cannot be taken off" in one
    assert "Paper: about 10 times" in one
    assert "No ranker has run yet." in caption(build(SYSTEMS[:0], POINTS[:0]))


def test_drawing_shows_the_table():
    figure = draw(build())
    tau, eta, tau_labels, eta_labels, ratios = figure.axes
    (line,) = [line for line in tau.lines if line.get_marker() == "o" and len(line.get_xdata()) > 1]
    assert line.get_ydata().tolist() == pytest.approx([0.6, 0.7])
    assert [label.get_text() for label in tau.get_xticklabels()] == ["1", "10"]
    assert [label.get_text() for label in eta.get_xticklabels()] == ["30%", "70%", "90%"]
    assert tau.get_ylim() == eta.get_ylim()
    assert tau_labels.get_ylim() == eta_labels.get_ylim() != tau.get_ylim()
    assert eta_labels.texts[0].get_text().startswith("not run")
    assert "not run: needs two values" in [text.get_text() for text in ratios.texts]
    assert "paper, about 10" in [text.get_text() for text in ratios.texts]


def test_values_of_eta_itself_stand_on_their_own_scale():
    points = POINTS.replace({"option": {"share_removed": "eta"}})
    eta = draw(build(points=points)).axes[1]
    assert [label.get_text() for label in eta.get_xticklabels()] == ["0.3", "0.7", "0.9"]
    assert eta.get_xlabel() == "η"


@pytest.mark.parametrize("points", [POINTS, POINTS[:2], POINTS[2:], POINTS[:0]])
def test_no_text_leaves_the_page_or_lies_on_another(points):
    released = POINTS[:2].assign(series="cet-released")
    labels = SYSTEMS[SYSTEMS["judgements"] == "truth"].assign(judgements="labels")
    systems = pd.concat([SYSTEMS[SYSTEMS["judgements"] == "truth"], labels])
    figure = draw(build(systems, pd.concat([points, released]) if len(points) else points))
    assert misplaced(figure) == []


def test_fresh_processes_write_the_same_bytes_and_load_nothing_heavy(tmp_path):
    systems = []
    for number, (keys, part) in enumerate(
        SYSTEMS.groupby(["experiment", "seed", "judgements"], sort=False)
    ):
        write_table(tmp_path / f"{number}.tsv", part[["query_id", "measure", "value"]])
        about = part.iloc[0][["collection", "pool", "retriever", "method", "name", "ranker"]]
        experiment, seed, judgements = keys
        told = {"experiment": experiment, "seed": int(seed), "judgements": judgements}
        systems.append(about.to_dict() | told)
    write_table(tmp_path / "queries.tsv", QUERIES)
    parameters = {"systems": systems, "collection": "hpo", "measure": "RR@10"}
    parameters["points"] = POINTS.to_numpy().tolist()
    (tmp_path / "parameters.json").write_text(json.dumps(parameters))
    written = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        options = {"parameters": tmp_path / "parameters.json", "queries": tmp_path / "queries.tsv"}
        options |= {"per-query": [tmp_path / f"{number}.tsv" for number in range(len(systems))]}
        options |= {"paper-tables": ROOT / "config" / "paper_tables.tsv"}
        options |= {kind: out / f"figure_4.{kind}" for kind in ("pdf", "svg", "png")}
        done = run_script("figure_4", options | {"table": out / "figure_4.tsv"}, hash_seed=seed)
        assert done.returncode == 0, done.stderr
        written.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert written[0] == written[1]
    assert sorted(written[0]) == [f"figure_4.{kind}" for kind in ("pdf", "png", "svg", "tsv")]
    assert b"<!-- paper, about 10 -->" in written[0]["figure_4.svg"]
