"""A finished study that is made up: its results folder, and what the report is made from."""

import os
from pathlib import Path

import pandas as pd

from poolbias.claims.build import COLUMNS as CLAIMS
from poolbias.files import write_json, write_text
from poolbias.formats.tsv import write_table
from poolbias.report.page import Contents
from poolbias.tables.results import DATA

ROOT = Path(__file__).resolve().parents[2]
SVG = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="504pt" height="200pt"
 viewBox="0 0 504 200" xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata><a xmlns="http://some.where/">secret</a></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="figure_1"><defs><path id="m1" d="M 0 0 L 9 9"/></defs>
  <clipPath id="p1"><rect x="0" y="0" width="504" height="200"/></clipPath>
  <rect width="504" height="200" style="fill: #ffffff"/>
  <g clip-path="url(#p1)"><use xlink:href="#m1" x="4" y="5"/></g>
 </g>
</svg>
"""
SEEDS = (1, 2)
FORM = "hpo.dense.cet-paper-tau1.bert-0a1b2c"
RELEASED = "hpo.dense.cet-released-tau10.bert-0d1e2f"
NAIVE = "hpo.dense.naive.bert-3a4b5c"
_SETTINGS = {"study": "sample", "seeds": list(SEEDS), "training": {"learning_rate": 1e-4}}
_CALLED = {FORM: ("cet", "cet-paper-tau1"), RELEASED: ("cet", "cet-released-tau10")}


def make(folder: Path, svg: str = SVG) -> tuple[Contents, Path]:
    """Write the results of a study below `folder`, the working folder; return the page's path."""
    os.chdir(folder)
    systems = [system for e in (FORM, RELEASED, NAIVE) for system in _rankings(e)] + _runs()
    for system in systems:
        _touch(system["path"])
    own = Path("results/sample")
    write_table(own / "claims.tsv", claims())
    write_table(own / "metrics.tsv", _summary(systems))
    drawings, figures = [], []
    for name in ("figure_1", "figure_4"):
        drawings.append(own / "figures" / f"{name}.svg")
        with write_text(drawings[-1]) as text:
            text.write(svg)
        figures.append(own / "figures" / f"{name}.tsv")
        table = pd.DataFrame({"panel": ["a", "b"], "value": ["0.5", ""], "status": ["mean", "–"]})
        write_table(figures[-1], table)
        _touch(f"results/logs/{name}/sample.log")
    tables = [own / "tables" / "table_1.tsv", own / "tables" / "table_filters.tsv"]
    write_table(tables[0], _table())
    write_table(tables[1], pd.DataFrame({"method": ["rance"], "kept": ["12"], "share": ["0.25"]}))
    tables.append(own / "tables" / "table_2.tsv")
    write_table(tables[2], _recall())
    manifests = [own / "claims.manifest.json", own / "metrics.manifest.json"]
    for path in manifests:
        made = {"stage": path.name.partition(".")[0], "commit": "c0ffee" * 7, "wall_seconds": 1.5}
        made |= {"parameters_hash": "0123456789abcdef", "hardware": "x86_64, 2 cores"}
        write_json(path, made | {"versions": {"python": "3.11.7"}})
    contents = Contents(
        study="sample",
        settings=_SETTINGS,
        systems=systems,
        marks=("-1a2b3c", ""),
        claims=own / "claims.tsv",
        summary=own / "metrics.tsv",
        drawings=drawings,
        figures=figures,
        tables=tables,
        manifests=manifests,
        differences=ROOT / "docs" / "differences.md",
    )
    return contents, own / "report.html"


def claims() -> pd.DataFrame:
    """Return a table of claims with every verdict, columns of `poolbias.claims.build.COLUMNS`."""
    pair = f"{FORM}/hpo/outside/dense/cet-paper-tau1; {NAIVE}/hpo/outside/dense/naive"
    common = {"claim": "cet_helps", "sentence": "CET <b>helps</b> & more.", "source": "paper, §6"}
    common |= {"side": "above", "threshold": 0.0, "judgements": "truth", "measure": "nDCG@10"}
    common |= {"collection": "hpo", "pool": "outside", "retriever": "dense", "ranker": "bert"}
    run = {"systems": "cet-paper-tau1 over naive", "sources": pair, "seeds": 2, "queries": 700}
    run |= {"groups": 500, "p_holm": 0.5, "smallest_detectable": 0.01}
    rows = []
    for verdict, effect in (("reproduced", 0.02), ("contradicted", -0.02), ("inconclusive", 0.001)):
        numbers = {"effect": effect, "low": effect - 0.005, "high": effect + 0.005}
        rows.append(common | run | numbers | {"verdict": verdict, "reason": ""})
    rows[-1]["reason"] = "the interval is on neither side of 0"
    lacking = {"verdict": "not run", "reason": "the study has no rance on hpo", "paper": "+0.0110"}
    rows.append(common | lacking | {"systems": "rance over naive", "sources": ""})
    other = {"claim": "s_helps", "sentence": "So does S.", "note": "Our choice."}
    rows.append(common | lacking | other | {"sources": "", "systems": "-"})
    return pd.DataFrame(rows, columns=CLAIMS)


def _rankings(experiment: str) -> list[dict[str, object]]:
    name, label = _CALLED.get(experiment, ("naive", "naive"))
    about = {"experiment": experiment, "collection": "hpo", "pool": "outside", "ranker": "bert"}
    about |= {"retriever": "dense", "method": label, "name": name}
    stage = "train_coupled_ranker" if name == "cet" else "train_ranker"
    found = []
    for seed in SEEDS:
        below = f"rankings/{experiment}/seed-{seed}/dense/top-100"
        _touch(f"results/logs/rerank/{experiment}/seed-{seed}/dense/top-100/test.log")
        _touch(f"results/logs/{stage}/{experiment}/seed-{seed}.log")
        _touch(f"results/rankers/{experiment}/seed-{seed}/manifest.json")
        for judgements, file in (("truth", "truth"), ("labels", "labels-outside")):
            _touch(f"results/logs/evaluate/{below}/test.{file}.log")
            path = f"results/metrics/{below}/test.{file}-1a2b3c.tsv"
            found.append(about | {"seed": seed, "judgements": judgements, "path": path})
    return found


def _runs() -> list[dict[str, object]]:
    about = {"experiment": "run", "collection": "hpo", "pool": "outside", "retriever": "dense"}
    about |= {"ranker": "-", "seed": 0, "judgements": "truth"}
    folder = "runs/hpo/dense"
    _touch(f"results/logs/evaluate/{folder}/test.truth.log")
    _touch("results/logs/count_false_negatives/hpo/dense/train.outside.log")
    run = {
        "method": "run",
        "name": "run",
        "path": f"results/metrics/{folder}/test.truth-1a2b3c.tsv",
    }
    counted = {"method": "candidates", "name": "candidates"}
    counted["path"] = f"results/metrics/{folder}/train.false-negatives-outside.tsv"
    return [about | run, about | counted]


def _summary(systems: list[dict[str, object]]) -> pd.DataFrame:
    keys = ["experiment", "collection", "pool", "retriever", "method", "ranker", "judgements"]
    rows = [{key: system[key] for key in keys} for system in systems if system["seed"] in (0, 1)]
    numbers = {"mean": 0.5, "low": 0.45, "high": 0.55, "queries": 700, "groups": 500, "seeds": 2}
    measured = [row for row in rows if row["method"] != "candidates"]
    return pd.DataFrame(
        [row | {"measure": m} | numbers for row in measured for m in ("RR@10", "nDCG@10")]
    )


def _table() -> pd.DataFrame:
    about = {"collection": "hpo", "pool": "outside", "retriever": "dense", "ranker": "bert"}
    about |= {"judgements": "truth", "measure": "RR@10"}
    ours = about | {"source": "ours", "status": "mean", "low": 0.4, "high": 0.6, "seeds": 2}
    rows = [
        ours | {"method": "naive", "experiment": NAIVE, "mean": 0.5},
        ours
        | {"method": "cet", "options": "paper-tau1", "experiment": FORM, "mean": 0.7, "mark": "†"},
        about | {"source": "ours", "method": "rance", "status": "not run (no truth)"},
        about | {"source": "paper", "method": "cet", "status": "printed", "mean": 0.3638},
    ]
    return pd.DataFrame(rows, columns=DATA).astype({"seeds": "Int64", "queries": "Int64"})


def _recall() -> pd.DataFrame:
    numbers = {"mean": 0.5, "low": 0.4, "high": 0.6, "queries": 700, "mark": ""}
    row = {"collection": "hpo", "pool": "outside", "retriever": "dense", "measure": "R@100"}
    row |= {"status": "mean"} | {f"labels_{name}": value for name, value in numbers.items()}
    row |= {f"truth_{name}": value for name, value in (numbers | {"mean": 0.55}).items()}
    return pd.DataFrame([row | {"paper msmarco-passage/dev R@1000": 0.9587}])


def _touch(path: object) -> None:
    place = Path(str(path))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("")
