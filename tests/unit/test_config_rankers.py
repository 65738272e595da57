"""Rankers of a study file: kinds, defaults, limits, names that stay, and mistakes."""

import pytest

from poolbias.config.check_rankers import check
from poolbias.config.experiments import expand, folder
from poolbias.config.generate import CONFIG, ROOT
from poolbias.config.load import load
from poolbias.config.model import BertRanker, HpoCollection
from poolbias.config.rankers import CedrKnrmRanker, ErnieRanker, ParadeMaxRanker, PropRanker
from poolbias.tables.rows import RANKERS

STUDY = """\
study: mine
collections: {hpo: {kind: hpo, documents: definition_and_branch}}
retrievers: {bm25: {kind: bm25}, outside: {kind: bm25, documents: pool_documents}}
pools: {outside: {retrievers: [outside]}}
rankers:
  prop: {kind: prop}
  ernie: {kind: ernie}
  cedr_knrm: {kind: cedr_knrm}
  parade_max: {kind: parade_max}
training: {}
evaluation: {}
figures: {figure_1: {retrievers: [bm25]}}
experiments:
  - {retriever: bm25, method: naive, ranker: [prop, ernie, cedr_knrm, parade_max]}
"""


def test_a_study_names_every_kind(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(STUDY)
    found = {e.ranker: e for e in expand(load(path))}
    assert {name: e.limits for name, e in found.items()} == {
        "prop": {"query": 16, "document": 64, "sequence": None},
        "ernie": {"query": 32, "document": 384, "sequence": 384},
        "cedr_knrm": {"query": 20, "document": 800, "sequence": None},
        "parade_max": {"query": 64, "document": 10_000, "sequence": None},
    }
    parade = found["parade_max"].parameters["ranker"]
    assert (parade["part_tokens"], parade["stride_tokens"], parade["most_parts"]) == (150, 100, 16)
    assert found["cedr_knrm"].parameters["ranker"]["head_learning_rate"] == 1e-3
    assert set(RANKERS) - {"bert"} < set(found)


FIRST = """\
study: mine
collections: {hpo: {kind: hpo}}
retrievers: {bm25: {kind: bm25}, outside: {kind: bm25, documents: pool_documents}}
pools: {outside: {retrievers: [outside]}}
rankers:
  plain: {kind: bert}
  cedr_knrm: {kind: cedr_knrm, layers: 3, first_stage: plain}
training: {}
evaluation: {}
figures: {figure_1: {retrievers: [bm25]}}
experiments:
  - retriever: bm25
    ranker: cedr_knrm
    method: [{name: naive, depth: 50}, {name: cet, depth: 50}, {name: rocketqa, depth: 50}, random]
"""


def expanded(folder, text):
    path = folder / "mine.yaml"
    path.write_text(text)
    return expand(load(path))


def test_a_first_stage_is_trained_by_naive_before_all_that_start_from_it(tmp_path):
    found = expanded(tmp_path, FIRST)
    assert [(e.ranker, e.label) for e in found] == [
        ("cedr_knrm", "naive"),
        ("cedr_knrm", "cet-paper-tau1"),
        ("cedr_knrm", "rocketqa-pair-eta0.1"),
        ("cedr_knrm", "random"),
        ("plain", "naive"),
        ("plain", "naive"),  # of `random`, which has no ranks: naive's own depth
    ]
    assert [e.parameters["negatives"].get("depth") for e in found] == [50, 50, 50, None, 50, 100]
    naive, cet, rocketqa, random = found[:4]
    assert naive.first_stage == cet.first_stage == rocketqa.first_stage == found[4]
    assert rocketqa.teacher == naive  # a teacher has a first stage of its own
    assert random.first_stage == found[5]
    assert cet.parameters["first_stage"] == found[4].name
    other = expanded(tmp_path, FIRST.replace("plain", "another"))
    assert [e.name for e in other] == [e.name for e in found]
    longer = expanded(tmp_path, FIRST.replace("kind: bert", "kind: bert, query_tokens: 20"))
    assert not {e.name for e in longer} & {e.name for e in found}
    without = expanded(tmp_path, FIRST.replace(", first_stage: plain", ""))
    assert "first_stage" not in without[0].parameters
    assert "first_stage" not in without[0].parameters["ranker"]
    assert len(without) == 4


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("none", "found 'none', need a ranker `bert` of this study ('thin' or 'whole')"),
        ("cedr", "found 'cedr', need a ranker `bert` of this study ('thin' or 'whole')"),
        ("thin", "found 'thin' with start all-MiniLM-L6-v2 and layers 2, need those of this"),
        ("whole", None),
        (None, None),
    ],
)
def test_a_first_stage_is_a_plain_ranker_over_the_same_encoder(first, told):
    rankers = {
        "thin": BertRanker(layers=2),
        "whole": PropRanker(start="all-MiniLM-L6-v2"),
        "cedr": CedrKnrmRanker(first_stage=first),
    }
    found = [problem.text for problem in check(rankers, "cpu")]
    assert [text.startswith(told or "?") for text in found] == ([True] if told else [])


def test_documents_as_they_were_keep_their_names():
    assert folder(HpoCollection()) == "hpo"
    assert "documents" not in HpoCollection(seed=2).model_dump()
    joined = HpoCollection(documents="definition_and_branch")
    assert joined.model_dump()["documents"] == "definition_and_branch"
    assert folder(joined).startswith("hpo-")
    names = [experiment.name for experiment in expand(load(ROOT / CONFIG))]
    assert "hpo.bm25.naive.bert-" in names[0]


@pytest.mark.parametrize(
    ("ranker", "told"),
    [
        (PropRanker(start="PROP"), "found 'PROP', need all-MiniLM-L6-v2 or the id of a published"),
        (PropRanker(start="../models"), "found '../models', need all-MiniLM-L6-v2 or the id"),
        (PropRanker(), None),
        (ErnieRanker(), None),
        (ErnieRanker(sequence_tokens=35), "found 35, need at least 36"),
        (PropRanker(document_tokens=494), "found sequences of up to 513 word pieces"),
        (PropRanker(document_tokens=493), None),
        (CedrKnrmRanker(document_tokens=5000), None),
        (ParadeMaxRanker(part_tokens=100), None),
        (ParadeMaxRanker(part_tokens=99), "found 100, need at most part_tokens (99)"),
        (BertRanker(), None),
    ],
)
def test_what_does_not_fit_is_told(ranker, told):
    found = [problem.text for problem in check({"mine": ranker}, "cpu")]
    assert [text.startswith(told or "?") for text in found] == ([True] if told else [])


def test_the_packed_engine_is_for_a_cpu():
    assert len(list(check({"mine": CedrKnrmRanker()}, "cuda"))) == 1
    assert list(check({"mine": CedrKnrmRanker(engine="plain")}, "cuda")) == []
