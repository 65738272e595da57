"""Claims and the report on the smoke study: all claims told, S measured, links to real files."""

import json
import re

import pandas as pd
from conftest import ROOT, Workflow
from pages import copy_repository

from poolbias.config.claims import read_claims


def read(smoke):
    return pd.read_csv(smoke.path("smoke/claims.tsv"), sep="\t", keep_default_na=False)


def test_every_claim_has_its_rows_and_one_seed_decides_nothing_that_is_trained(smoke):
    claims = read(smoke)
    assert list(dict.fromkeys(claims["claim"])) == list(read_claims(ROOT / "config/claims.yaml"))
    assert set(claims.loc[claims["reason"] == "", "verdict"]) <= {"reproduced", "contradicted"}
    decided = claims[claims["verdict"].isin(["reproduced", "contradicted"])]
    assert set(decided["seeds"]) <= {"0"}
    ran = claims[claims["verdict"] == "inconclusive"]
    assert {"cet_beats_naive", "part_of_the_gap", "r_and_s_are_exchangeable"} <= set(ran["claim"])
    row = ran[ran["claim"] == "cet_beats_naive"].iloc[0]
    metrics = pd.read_csv(smoke.path("smoke/metrics.tsv"), sep="\t")
    means = [
        metrics.loc[
            (metrics["method"] == method)
            & (metrics["retriever"] == row["retriever"])
            & (metrics["judgements"] == row["judgements"])
            & (metrics["measure"] == row["measure"]),
            "mean",
        ].item()
        for method in row["systems"].split(" over ")
    ]
    assert float(row["effect"]) == round(means[0] - means[1], 6)


def test_a_selection_model_ranks_in_a_folder_of_its_own(smoke):
    r = smoke.path("rankings/*.cet-paper-tau1.bert-*/seed-1/dense*/top-10/test.run.gz")
    s = smoke.path("rankings/*.cet-paper-tau1.bert-*/seed-1/S/dense*/top-10/test.run.gz")
    assert r.read_bytes() != s.read_bytes()
    manifest = json.loads(s.with_name("test.manifest.json").read_text())
    assert any(name.endswith("/S/model.safetensors") for name in manifest["inputs"])
    assert not list(smoke.folder.glob("results/rankings/*released*/seed-1/S"))


def test_the_report_leads_to_files_that_are_there(smoke):
    page = smoke.path("smoke/report.html")
    html = page.read_text()
    links = set(re.findall(r'href="([^"#]+)"', html))
    assert len(links) > 100
    assert [link for link in links if not (page.parent / link).is_file()] == []
    folders = {link.split("/")[1] for link in links if link.startswith("../")}
    assert folders == {"logs", "metrics", "rankers"}
    for name in ("figure_1", "figure_3", "figure_4", "figure_5"):
        assert f'id="{name.replace("_", "-")}-title"' in html
    assert html.index("Verdicts</h2>") < html.index("Figures</h2>")


def test_a_mistake_in_the_claims_stops_what_needs_them_alone(tmp_path):
    copy = copy_repository(tmp_path / "repository")
    path = copy / "config" / "claims.yaml"
    path.write_text(path.read_text().replace("kind: trend", "kind: trent", 1))
    workflow = Workflow(tmp_path / "results", copy)
    workflow.folder.mkdir()
    output = workflow.run("claims", "--dry-run", check=False)
    assert re.search(r"claims\.yaml:\d+: claims\.stronger_retriever_lowers_mrr\.check", output)
    assert "did you mean 'trend'?" in output
    assert "Traceback (most recent call last)" not in output
    assert "/pydantic/" not in output
    assert "figure_1" in workflow.jobs("figure_1")
