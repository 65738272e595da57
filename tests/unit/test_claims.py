"""Claims on a hand-made folder of metrics: every kind of check, every verdict, known numbers."""

import copy
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from poolbias.claims.build import COLUMNS, Sources, build
from poolbias.claims.systems import Store, base_name
from poolbias.claims.verdict import Finding, decide, judge
from poolbias.config.claims import read_claims
from poolbias.evaluation.resampling import ratio
from poolbias.evaluation.significance import compare
from poolbias.files import write_text

SEEDS = (1, 2, 3)
GROUPS = {f"q{n}": f"g{n // 2}" for n in range(12)}  # six groups of two queries
PAPER = pd.DataFrame(
    [
        ("msmarco-passage/dev", "ance cet", "MRR@10", "0.3638"),
        ("msmarco-passage/dev", "ance naive", "MRR@10", "0.3403"),
        ("msmarco-passage/dev", "ance", "Recall@1000", "0.9587"),
    ],
    columns=["collection", "system", "measure", "value"],
)
SYSTEMS = {"options": [], "retriever": ["each"], "ranker": ["each"], "pool": ["first"]}


class Folder:
    """Per-query files of a study that is made up line by line."""

    def __init__(self, path):
        self.path, self.paths, self.systems = path, [], []
        self.changed, self.pools, self.groups = {}, {}, dict(GROUPS)

    def add(self, name, value, *, retriever="dense", seeds=SEEDS, label=None, **said):
        """Add a system whose mean over queries is `value`, a number, or one of query and seed."""
        about = {"collection": "hpo", "pool": "outside", "ranker": "bert", "judgements": "truth"}
        about |= {"name": name, "method": label or name, "retriever": retriever}
        measure = said.pop("measure", "nDCG@10")
        about |= said
        experiment = said.get("experiment", "-".join(map(str, about.values())))
        for seed in seeds:
            path = self.path / f"{len(self.paths)}.tsv"
            with write_text(path) as text:
                text.write("query_id\tmeasure\tvalue\n")
                for query in self.groups:
                    number = value(query, seed) if callable(value) else value
                    text.write(f"{query}\t{measure}\t{number!r}\n")
            self.paths.append(path)
            self.systems.append(about | {"experiment": experiment, "seed": seed})
        return self

    def run(self, retriever, recall, **said):
        """Add a bare run with a recall."""
        more = {"seeds": [0], "measure": "R@100", "experiment": "run", "ranker": "-"}
        return self.add("run", recall, retriever=retriever, **more | said)

    def candidates(self, retriever, false, pool="outside", unlabelled=10):
        """Add counts of false negatives at depth 20: `false` is a number, or one of the query."""
        path = self.path / f"{len(self.paths)}.tsv"
        with write_text(path) as text:
            text.write("query_id\tdepth\tunlabelled\tfalse_negatives\tshare\n")
            for n, query in enumerate(self.groups):
                count = false(n) if callable(false) else false
                size = unlabelled(n) if callable(unlabelled) else unlabelled
                text.write(f"{query}\t20\t{size}\t{count}\t\n")
        self.paths.append(path)
        about = {"experiment": "run", "collection": "hpo", "pool": pool, "ranker": "-", "seed": 0}
        about |= {"name": "candidates", "method": "candidates", "judgements": "truth"}
        self.systems.append(about | {"retriever": retriever})
        return self

    def store(self):
        collections = dict.fromkeys(system["collection"] for system in self.systems)
        queries = pd.DataFrame(
            [(name, query, group) for name in collections for query, group in self.groups.items()],
            columns=["collection", "query_id", "group"],
        )
        return Store(self.paths, self.systems, queries, changed=self.changed, pools=self.pools)


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def systems(*methods, **said):
    return SYSTEMS | {"method": list(methods), "training": "study"} | said


def claim(kind, columns=("truth nDCG@10",), collection="others", **check):
    """Return one claim as `read_claims` would."""
    check = {"kind": kind, "side": "above", "threshold": 0.0, "same": "row"} | check
    return {
        "sentence": "A sentence.",
        "source": "ours",
        "columns": {collection: list(columns)},
        "check": check,
        "paper": check.pop("paper", None),
        "note": "",
    }


def rows(folder, *claims, tables=None):
    """Return the table of claims as a list of dictionaries."""
    named = {f"claim_{number}": each for number, each in enumerate(claims)}
    frame = build(named, Sources(folder.store(), PAPER, tables or {}, "hpo"))
    assert list(frame.columns) == COLUMNS
    return frame.to_dict("records")


def only(folder, *claims, **more):
    (row,) = rows(folder, *claims, **more)
    return row


# ---- verdicts


@pytest.mark.parametrize(
    ("low", "high", "side", "threshold", "verdict"),
    [
        (0.01, 0.02, "above", 0, "reproduced"),
        (0.0, 0.02, "above", 0, "inconclusive"),  # touches
        (-0.01, 0.02, "above", 0, "inconclusive"),
        (-0.02, 0.0, "above", 0, "inconclusive"),
        (-0.02, -0.01, "above", 0, "contradicted"),
        (0.06, 0.07, "above", 0.05, "reproduced"),
        (0.01, 0.04, "above", 0.05, "contradicted"),
        (-0.02, -0.01, "below", 0, "reproduced"),
        (0.01, 0.02, "below", 0, "contradicted"),
        (0.001, 0.004, "below", 0.005, "reproduced"),
        (-0.005, 0.009, "within", 0.01, "reproduced"),
        (-0.005, 0.01, "within", 0.01, "inconclusive"),
        (0.011, 0.02, "within", 0.01, "contradicted"),
        (-0.02, -0.011, "within", 0.01, "contradicted"),
        (-0.02, 0.02, "within", 0.01, "inconclusive"),
    ],
)
def test_a_verdict_needs_the_whole_interval_on_one_side(low, high, side, threshold, verdict):
    assert judge(low, high, side, threshold) == verdict


def test_a_side_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="beside"):
        judge(0, 1, "beside", 0)


def test_one_seed_is_inconclusive_and_no_seed_is_not_one():
    found = Finding(0.1, 0.05, 0.15, seeds=1, queries=9, groups=3, about={})
    assert decide(found, "above", 0) == ("inconclusive", "one seed says nothing of the next")
    untrained = Finding(0.1, 0.05, 0.15, seeds=0, queries=9, groups=3, about={})
    assert decide(untrained, "above", 0) == ("reproduced", "")
    nothing = Finding(0.1, math.nan, math.nan, seeds=2, queries=9, groups=3, about={})
    assert decide(nothing, "above", 0) == ("inconclusive", "no interval")
    crossing = Finding(0.1, -0.1, 0.3, seeds=2, queries=9, groups=3, about={})
    assert decide(crossing, "within", 0.2)[1] == "the interval is on neither side of ±0.2"


# ---- kinds of checks


OVER_NAIVE = {"of": systems("cet"), "over": systems("naive")}


@pytest.mark.parametrize(
    ("cet", "seeds", "verdict"),
    [
        (0.6, SEEDS, "reproduced"),
        (0.4, SEEDS, "contradicted"),
        (lambda query, seed: 0.5 + 0.3 * (-1) ** int(GROUPS[query][1:]), SEEDS, "inconclusive"),
        (0.6, [1], "inconclusive"),
    ],
)
def test_a_difference_has_each_verdict(folder, cet, seeds, verdict):
    folder.add("cet", cet, seeds=seeds).add("naive", 0.5, seeds=seeds)
    row = only(folder, claim("difference", **OVER_NAIVE))
    assert row["verdict"] == verdict
    assert (row["seeds"], row["queries"], row["groups"]) == (len(seeds), 12, 6)
    assert (row["systems"], row["retriever"], row["ranker"]) == ("cet over naive", "dense", "bert")
    if not callable(cet):
        assert row["effect"] == pytest.approx(cet - 0.5)


def test_a_differences_numbers_are_those_of_the_comparison(folder):
    generator = np.random.default_rng(5)
    values = {(q, s): generator.random() for q in GROUPS for s in SEEDS}
    folder.add("cet", lambda query, seed: values[query, seed] + 0.2).add("naive", 0.5)
    row = only(folder, claim("difference", **OVER_NAIVE))
    frames = [
        pd.DataFrame([(q, GROUPS[q], s, value(q, s)) for q in GROUPS for s in SEEDS])
        for value in (lambda q, s: values[q, s] + 0.2, lambda q, s: 0.5)
    ]
    names = dict(enumerate(["query_id", "group", "seed", "value"]))
    found = compare(*(frame.rename(columns=names) for frame in frames))
    assert row["effect"] == pytest.approx(np.mean(list(values.values())) - 0.3)
    assert (row["low"], row["high"]) == (found.low, found.high)
    assert (row["p_t"], row["p_randomisation"]) == (found.p_t, found.p_randomisation)
    assert row["smallest_detectable"] == found.smallest_detectable
    assert row["low"] < row["effect"] < row["high"]


def test_systems_are_paired_by_retriever_unless_both_name_one(folder):
    for retriever, cet in (("bm25", 0.7), ("dense", 0.6)):
        folder.add("cet", cet, retriever=retriever).add("naive", 0.5, retriever=retriever)
        folder.run(retriever, 0.4 if retriever == "bm25" else 0.8)
    effects = [row["effect"] for row in rows(folder, claim("difference", **OVER_NAIVE))]
    assert effects == pytest.approx([0.2, 0.1])
    strong = {"of": systems("cet", retriever=["ance", "strongest"]), "over": systems("naive")}
    assert only(folder, claim("difference", **strong))["effect"] == pytest.approx(0.1)
    crossed = {
        "of": systems("cet", retriever=["strongest"]),
        "over": systems("cet", retriever=["weakest"]),
    }
    row = only(folder, claim("difference", **crossed))
    assert row["effect"] == pytest.approx(-0.1)
    assert row["retriever"] == "dense over bm25"


def test_the_order_of_retrievers_is_by_truth_not_by_labels(folder):
    for retriever, truth, labels in (("a", 0.3, 0.9), ("b", 0.5, 0.1)):
        folder.run(retriever, truth).run(retriever, labels, judgements="labels")
    assert folder.store().by_recall("hpo") == ["a", "b"]


def test_a_run_joins_every_seed_and_seeds_that_are_not_shared_are_left_out(folder):
    folder.run("dense", 0.4, measure="nDCG@10")
    folder.add("naive", lambda query, seed: 0.5 + seed / 100, seeds=(2, 3, 9))
    folder.add("cet", lambda query, seed: 0.6 + seed / 100, seeds=(1, 2, 3))
    row = only(folder, claim("difference", of=systems("naive"), over=systems("run")))
    assert (row["seeds"], row["verdict"]) == (3, "reproduced")
    assert row["effect"] == pytest.approx(0.1 + (2 + 3 + 9) / 300)
    row = only(folder, claim("difference", **OVER_NAIVE))
    assert (row["seeds"], row["effect"]) == (2, pytest.approx(0.1))
    folder.add("rance", 0.5, seeds=(7, 8))
    row = only(folder, claim("difference", of=systems("rance"), over=systems("cet")))
    assert row["reason"] == "the systems share no seed"


def test_options_choose_labels_and_other_training_is_left_out(folder):
    folder.add("cet", 0.6, label="cet-paper-tau1").add("cet", 0.9, label="cet-paper-tau10")
    folder.add("cet", 0.1, label="cet-paper-tau1", experiment="fast").add("naive", 0.5)
    folder.changed["fast"] = "learning_rate 0.001"
    chosen = systems("cet", options=["cet-paper-tau1"])
    row = only(folder, claim("difference", of=chosen, over=systems("naive")))
    assert row["effect"] == pytest.approx(0.1)
    anything = chosen | {"training": "any"}
    both = rows(folder, claim("difference", of=anything, over=systems("naive")))
    assert [row["systems"] for row in both] == [
        "cet-paper-tau1 over naive",
        "cet-paper-tau1 (learning_rate 0.001) over naive",
    ]


def test_r_and_s_of_one_training_are_paired(folder):
    for experiment, r, s in (("one", 0.6, 0.605), ("two", 0.7, 0.5)):
        folder.add("cet", r, experiment=experiment, label=f"cet-{experiment}")
        folder.add("cet_selection", s, experiment=experiment, label=f"cet-{experiment} (S)")
    check = {"of": systems("cet"), "over": systems("cet_selection")}
    within = {"same": "experiment", "side": "within", "threshold": 0.01}
    one, two = rows(folder, claim("difference", **check, **within))
    assert (one["effect"], two["effect"]) == pytest.approx((-0.005, 0.2))
    assert (one["verdict"], two["verdict"]) == ("reproduced", "contradicted")


def test_a_trend_is_the_slope_over_retrievers_by_recall(folder):
    for retriever, recall, mean in (("a", 0.3, 0.7), ("b", 0.9, 0.4), ("c", 0.5, 0.6)):
        folder.run(retriever, recall).add("naive", mean, retriever=retriever)
    row = only(folder, claim("trend", of=systems("naive"), side="below"))
    assert row["retriever"] == "a, c, b"
    assert row["effect"] == pytest.approx((-1 * 0.7 + 0 * 0.6 + 1 * 0.4) / 2)
    assert row["verdict"] == "reproduced"


def test_shares_of_false_negatives_have_a_trend_without_seeds(folder):
    folder.run("a", 0.3).run("b", 0.9)
    folder.candidates("a", 2).candidates("b", 5)
    check = claim("trend", columns=["truth FN@20"], of=systems("candidates"))
    row = only(folder, check)
    assert row["effect"] == pytest.approx(0.3)
    assert (row["seeds"], row["verdict"]) == (0, "reproduced")


def test_the_value_of_a_share_has_the_mean_and_the_interval_of_the_ratio(folder):
    generator = np.random.default_rng(2)
    folder.groups = {f"q{n:03}": f"g{n // 2}" for n in range(200)}
    sizes = generator.integers(5, 20, 200)
    counts = generator.binomial(sizes, 0.3)
    folder.candidates("a", lambda n: counts[n], unlabelled=lambda n: sizes[n])
    store = folder.store()
    (ranked,) = store.find("hpo", systems("candidates"))
    frame = store.frame(ranked, "truth", "FN@20")
    table = pd.DataFrame({"numerator": counts, "denominator": sizes})
    want = ratio(table.assign(group=list(folder.groups.values())))
    assert frame["value"].mean() == pytest.approx(counts.sum() / sizes.sum())
    found = compare(frame, frame.assign(value=0.0))
    assert (found.low, found.high) == pytest.approx((want.low, want.high), abs=0.004)
    assert want.high - want.low > 0.03


def test_swapped_pools_move_the_difference(folder):
    folder.pools = {"by_a": ["a"], "by_b": ["b"], "both": ["a", "b"]}
    harm = {("by_a", "a"): 0.01, ("by_a", "b"): 0.09, ("by_b", "a"): 0.07, ("by_b", "b"): 0.02}
    for (pool, retriever), loss in harm.items():
        folder.add("oracle", 0.6, pool=pool, retriever=retriever)
        folder.add("naive", 0.6 - loss, pool=pool, retriever=retriever)
        folder.candidates(retriever, int(100 * loss), pool=pool)
    pools = {"pool": ["each"]}
    check = {"of": systems("oracle", **pools), "over": systems("naive", **pools)}
    row = only(folder, claim("swap", **check))
    assert row["effect"] == pytest.approx((0.09 - 0.01) - (0.02 - 0.07))
    assert (row["pool"], row["verdict"]) == ("by_a, by_b", "reproduced")
    shares = {"of": systems("candidates", **pools), "over": None}
    row = only(folder, claim("swap", columns=["truth FN@20"], **shares))
    assert row["effect"] == pytest.approx((9 - 1 - 2 + 7) / 10)


GAP = OVER_NAIVE | {"goal": systems("oracle")}


@pytest.mark.parametrize(
    ("cet", "oracle", "share", "verdict"),
    [
        (0.6, 0.7, 0.5, "reproduced"),
        (0.4, 0.7, -0.5, "contradicted"),
        (0.6, 0.4, -1, "contradicted"),
    ],
)
def test_the_share_of_a_gap(folder, cet, oracle, share, verdict):
    folder.add("cet", cet).add("naive", 0.5).add("oracle", oracle)
    row = only(folder, claim("gap", **GAP))
    assert (row["effect"], row["low"], row["high"]) == pytest.approx((share, share, share))
    assert (row["verdict"], row["systems"]) == (verdict, "cet between naive and oracle")
    assert len(row["sources"].split("; ")) == 3


def test_a_gap_that_may_be_none_has_no_share(folder):
    wide = {query: 0.5 + 0.3 * (-1) ** int(group[1:]) for query, group in GROUPS.items()}
    folder.add("cet", 0.6).add("naive", 0.5).add("oracle", lambda query, seed: wide[query])
    row = only(folder, claim("gap", **GAP))
    assert math.isnan(row["effect"])
    assert row["verdict"] == "inconclusive"
    assert row["reason"].startswith("the gap itself, ")
    assert row["reason"].endswith(", holds 0")


FAMILY = {
    "of": systems("cet"),
    "over": systems("cet", options=["cet-1"]),
    "side": "within",
    "threshold": 0.01,
}


@pytest.mark.parametrize(
    ("others", "effect", "verdict"),
    [
        ((0.605, 0.597), 0.005, "reproduced"),
        ((0.605, 0.62), 0.02, "contradicted"),
        ((0.605, 0.61), 0.01, "inconclusive"),
        ((0.605, 0.59), -0.01, "inconclusive"),
    ],
)
def test_a_family_is_stable_if_all_its_members_are(folder, others, effect, verdict):
    folder.add("cet", 0.6, label="cet-1")
    for number, mean in enumerate(others, start=2):
        folder.add("cet", mean, label=f"cet-{number}")
    row = only(folder, claim("stable", **FAMILY))
    assert row["effect"] == pytest.approx(effect)
    assert row["verdict"] == verdict or verdict == "inconclusive"  # 0.61 - 0.6 is not quite 0.01
    assert row["systems"].endswith("(of 2)")


@pytest.mark.parametrize(
    ("etas", "effect", "verdict"),
    [
        ((0.6, 0.4), -0.1, "reproduced"),
        ((0.6, 0.51), 0.01, "contradicted"),
        ((0.6, 0.5), 0.0, "inconclusive"),
    ],
)
def test_the_worst_of_a_family(folder, etas, effect, verdict):
    folder.groups = {f"q{n}": f"g{n}" for n in range(8)}
    folder.add("naive", 0.5)
    for number, mean in enumerate(etas):
        folder.add("rocketqa", mean, label=f"rocketqa-{number}")
    check = {"of": systems("rocketqa"), "over": systems("naive"), "side": "below"}
    row = only(folder, claim("worst", **check))
    assert (row["effect"], row["verdict"]) == (pytest.approx(effect), verdict)
    # eight groups, all differences alike: 2 of 256 flips are as extreme; Holm doubles the smaller p
    assert row["p_randomisation"] == pytest.approx(1 if verdict == "inconclusive" else 2 * 2 / 256)


def test_the_worst_of_many_needs_more_than_one_clear_interval(folder):
    folder.groups = {f"q{n}": f"g{n}" for n in range(8)}
    folder.add("naive", 0.5)
    for number in range(9):
        folder.add("rocketqa", 0.4 + number / 1000, label=f"rocketqa-{number}")
    check = {"of": systems("rocketqa"), "over": systems("naive"), "side": "below"}
    row = only(folder, claim("worst", **check))
    assert row["p_randomisation"] == pytest.approx(9 * 2 / 256)
    assert (row["high"] < 0, row["verdict"]) == (True, "inconclusive")


def test_a_gain_on_one_collection_against_another(folder):
    folder.add("cet", 0.55, collection="msmarco-passage")
    folder.add("naive", 0.5, collection="msmarco-passage")
    folder.add("cet", 0.52, collection="msmarco-document-0a1b2c")
    folder.add("naive", 0.5, collection="msmarco-document-0a1b2c")
    check = OVER_NAIVE | {"than": "msmarco-document"}
    row = only(folder, claim("gains", collection="msmarco-passage", **check))
    assert row["effect"] == pytest.approx(0.1 - 0.04)
    assert row["verdict"] == "reproduced"


def test_a_value_is_read_from_a_figures_table(folder):
    folder.add("naive", 0.5)
    table = pd.DataFrame(
        [
            ("ratio", "truth", "RR@10", "12.5", "6", "inf", "5", ""),
            ("ratio", "labels", "RR@10", "", "", "", "", "not run"),
            ("tau", "truth", "RR@10", "0.1", "0", "1", "5", ""),
        ],
        columns=["panel", "judgements", "measure", "value", "low", "high", "seeds", "status"],
    )
    said = {"file": "figure_4", "where": {"panel": "ratio"}, "value": "value", "threshold": 5.0}
    check = claim("reading", ["truth RR@10", "labels RR@10", "truth RR@100"], **said)
    truth, labels, lacking = rows(folder, check, tables={"figure_4": table})
    assert (truth["effect"], truth["low"], truth["high"]) == (12.5, 6, math.inf)
    assert (truth["verdict"], truth["seeds"]) == ("reproduced", 5)
    assert (labels["verdict"], labels["reason"]) == ("not run", "figure_4.tsv: not run")
    assert lacking["reason"].startswith("figure_4.tsv has no row with judgements truth, measure")
    elsewhere = build({"a": check}, Sources(folder.store(), PAPER, {"figure_4": table}, "mine"))
    assert set(elsewhere["reason"]) == {"figure_4.tsv is about mine"}
    missing = only(folder, claim("reading", **said))
    assert missing["reason"] == "the study makes no figure_4.tsv"
    other = claim("reading", **said | {"where": {"pane": "ratio"}})
    assert only(folder, other, tables={"figure_4": table})["reason"] == (
        "figure_4.tsv has no column pane"
    )


# ---- what is not run, the paper's numbers, the table


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (OVER_NAIVE | {"of": systems("rance")}, "the study has no rance on hpo"),
        (
            OVER_NAIVE | {"of": systems("cet", options=["cet-paper-tau9"])},
            "the study has no cet-paper-tau9 on hpo",
        ),
        (
            OVER_NAIVE | {"of": systems("cet", ranker=["prop"])},
            "the study has no cet with ranker prop",
        ),
        (
            OVER_NAIVE | {"of": systems("cet", retriever=["ance", "de"])},
            "the study has no cet on ance or de",
        ),
        (
            OVER_NAIVE | {"over": systems("cet")},
            "the study has no cet and cet that share pool, retriever, ranker",
        ),
    ],
)
def test_what_the_study_lacks_is_not_run_and_said(folder, check, reason):
    folder.add("cet", 0.6).add("naive", 0.5)
    row = only(folder, claim("difference", **check))
    assert row["verdict"] == "not run"
    assert reason in row["reason"]
    assert math.isnan(row["effect"])
    assert math.isnan(row["p_holm"])
    assert pd.isna(row["seeds"])


def test_other_lacks_are_said_too(folder):
    folder.add("cet", 0.6).add("naive", 0.5).run("dense", 0.5)
    measure, judgements, trend, swapped = rows(
        folder,
        claim("difference", ["truth RR@10"], **OVER_NAIVE),
        claim("difference", ["labels nDCG@10"], **OVER_NAIVE),
        claim("trend", of=systems("naive")),
        claim("swap", **OVER_NAIVE),
    )
    assert measure["reason"] == "RR@10 was not measured for cet on dense"
    assert judgements["reason"] == "cet on dense was not measured by labels"
    assert trend["reason"] == "a trend needs two retrievers, the study has naive on one"
    assert swapped["reason"].startswith("the study has no two pools")


def test_a_collection_that_is_missing_keeps_the_papers_number(folder):
    folder.add("cet", 0.6).add("naive", 0.5)
    paper = {"of": ["de {of}", "ance {of}"], "over": ["ance {over}"], "measure": None}
    check = claim("difference", ["labels RR@10"], "msmarco-passage", paper=paper, **OVER_NAIVE)
    row = only(folder, check)
    assert (row["verdict"], row["paper"]) == ("not run", "+0.0235")  # 0.3638 - 0.3403
    assert row["reason"] == "the study has no collection msmarco-passage"
    assert row["systems"] == "cet over naive"


def test_others_are_the_collections_that_no_claim_names(folder):
    for collection in ("hpo-1a2b3c", "msmarco-passage", "mine"):
        folder.add("cet", 0.6, collection=collection).add("naive", 0.5, collection=collection)
    named = claim("difference", collection="msmarco-passage", **OVER_NAIVE)
    found = rows(folder, named, claim("difference", **OVER_NAIVE))
    assert [row["collection"] for row in found] == ["msmarco-passage", "hpo-1a2b3c", "mine"]
    assert base_name("hpo-1a2b3c") == "hpo"
    assert base_name("trec-dl-2019-passage") == "trec-dl-2019-passage"


def test_several_methods_and_rankers_are_a_row_each(folder):
    for ranker in ("bert", "prop"):
        folder.add("cet", 0.6, ranker=ranker).add("naive", 0.5, ranker=ranker)
    folder.add("rance", 0.4)
    both = ["bert", "prop"]
    check = {"of": systems("cet", ranker=both), "over": systems("naive", "rance", ranker=both)}
    found = rows(folder, claim("difference", **check))
    assert [(row["systems"], row["ranker"], row["verdict"]) for row in found] == [
        ("cet over naive", "bert", "reproduced"),
        ("cet over rance", "bert", "reproduced"),
        ("cet over naive", "prop", "reproduced"),
        ("cet over rance", "prop", "not run"),
    ]
    against = {"of": systems("cet", ranker=["prop"]), "over": systems("naive", ranker=["bert"])}
    assert only(folder, claim("difference", **against))["ranker"] == "prop over bert"


def test_p_values_are_adjusted_over_the_rows_of_a_claim(folder):
    folder.add("naive", 0.5)
    mixed = {query: 0.05 + 0.1 * (n % 12 > 1) for n, query in enumerate(GROUPS)}
    folder.add("cet", 0.6, label="cet-1")
    folder.add("cet", lambda query, seed: 0.4 + mixed[query] / 2, label="cet-2")
    found = rows(folder, claim("difference", **OVER_NAIVE))
    raw = [row["p_randomisation"] for row in found]
    assert raw == pytest.approx([2 / 64, 2 / 64])
    assert [row["p_holm"] for row in found] == pytest.approx([4 / 64, 4 / 64])


def test_equal_inputs_give_equal_tables(folder):
    folder.add("cet", lambda query, seed: (hash(query) % 7 + seed) / 20).add("naive", 0.5)
    check = copy.deepcopy(claim("difference", **OVER_NAIVE))
    assert str(rows(folder, check)) == str(rows(folder, check))


def test_every_claim_of_the_file_gets_a_verdict(folder):
    folder.add("cet", 0.6, label="cet-paper-tau1").add("naive", 0.5).run("dense", 0.5)
    claims = read_claims(Path(__file__).resolve().parents[2] / "config" / "claims.yaml")
    frame = build(claims, Sources(folder.store(), PAPER))
    assert set(frame["claim"]) == set(claims)
    assert set(frame["verdict"]) == {"reproduced", "not run"}
    assert (frame["reason"] != "")[frame["verdict"] == "not run"].all()
