"""Rankers of long documents through the whole workflow, up to Table 4."""

import json

import pandas as pd
import pytest
import yaml
from conftest import SMOKE, Workflow

from poolbias import models

RANKERS = {
    "bert": {"kind": "bert", "layers": 1},
    "cedr_knrm": {
        "kind": "cedr_knrm", "layers": 1, "query_tokens": 16, "document_tokens": 800,
        "first_stage": "bert",
    },
    "parade_max": {
        "kind": "parade_max", "layers": 1, "query_tokens": 16, "part_tokens": 32,
        "stride_tokens": 24, "most_parts": 3,
    },
}  # fmt: skip
METHODS = [{"name": "naive", "depth": 20}, {"name": "cet", "depth": 20}]


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A finished study of three rankers on the smoke study's terms, joined with their branches."""
    workflow = Workflow(tmp_path_factory.mktemp("long"))
    study = yaml.safe_load(SMOKE.read_text()) | {
        "study": "long",
        "rankers": RANKERS,
        "training": {"steps": 2, "pairs": 2},
        "evaluation": {"depth": 10, "measures": ["RR@10", "nDCG@10", "R@50"]},
        "figures": {"figure_1": {"retrievers": ["bm25"], "recall_cut": 50, "shares_depths": [10]}},
        "experiments": [{"retriever": "bm25", "ranker": list(RANKERS), "method": METHODS}],
    }
    del study["retrievers"]["dense"], study["probe"]
    study["collections"]["hpo"]["documents"] = "definition_and_branch"
    path = workflow.folder / "long.yaml"
    path.write_text(yaml.safe_dump(study))
    workflow.run("table_4", configfile=path)
    return workflow


def test_table_4_has_every_ranker_without_and_with_cet(long):
    table = pd.read_csv(long.path("long/tables/table_4.tsv"), sep="\t")
    ours = table[table["source"] == "ours"]
    assert set(ours["status"]) == {"mean"}
    told = list(dict.fromkeys(zip(ours["ranker"], ours["method"], strict=True)))
    assert told == [(ranker, method) for ranker in RANKERS for method in ("naive", "cet")]
    assert ours["mean"].between(0, 1).all()
    assert ours["mean"].nunique() > 3


@pytest.mark.parametrize("method", ["naive", "cet-paper-tau1"])
def test_a_second_stage_starts_from_the_first_and_each_ranker_loads(long, method):
    found = {
        name: long.path(f"rankers/*bm25.{method}.{name}-*/seed-1/R/model.safetensors")
        for name in RANKERS
    }
    manifests = {
        name: json.loads((path.parents[1] / "manifest.json").read_text())
        for name, path in found.items()
    }
    first = str(
        long.path("rankers/*bm25.naive.bert-*/seed-1/R/model.safetensors").relative_to(long.folder)
    )
    assert first in manifests["cedr_knrm"]["inputs"]
    assert all(first not in manifests[name]["inputs"] for name in ("bert", "parade_max"))
    for name, path in found.items():
        assert models.kind_of(path.parent) == name
        assert sum(value.numel() for value in models.load(path.parent).parameters()) > 1_000_000
