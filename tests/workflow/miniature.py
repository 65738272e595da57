"""The paper's study made small: official files of a few texts, tiny checkpoints, runs at random."""

import hashlib
import random
import sys
from itertools import product
from pathlib import Path

import torch
import yaml
from safetensors.torch import save_file
from transformers import BertConfig, BertModel

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "unit"))  # the generators are there

from official_files import Official  # noqa: E402

KEPT = {  # of the paper's rows: collection, retriever, ranker, method
    ("passage", "bm25", "bert", "naive"),
    *(("passage", "ance", "bert", name) for name in ("naive", "rocketqa", "rance", "cet")),
    *(("document", "ance", name, "naive") for name in ("bert-document", "prop", "parade_max")),
    ("document", "ance", "cedr_knrm", "cet"),
    ("dureader", "de", "ernie", "naive"),
    ("dureader", "de", "ernie", "rance"),
}
PAPER = ROOT / "config" / "paper.yaml"
QUERY = "20000"  # the first of TREC DL 2019 there
SIZES = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
    "max_position_embeddings": 512,
}  # fmt: skip


def files(folder):
    """Write all official files of the study into a folder; return what the collections hold."""
    passages = Official(folder, seed=1).passages()
    year = (folder / "msmarco-test2020-queries.tsv.gz").read_bytes()
    documents = Official(folder / "documents", seed=2)
    made = documents.web_documents()
    # Queries of a year are one file for passages and documents, so the later one of each wins.
    sets = {}
    for number, first in ((2019, 20_000), (2020, 30_000)):
        documents.deep("docs", list(made["documents"]), number, first, sets)
    made["sets"] |= sets
    for path in (folder / "documents").iterdir():
        path.rename(folder / path.name)
    assert year  # replaced by a file of the same queries' ids
    return passages, made, Official(folder, seed=3).dureader()


def sources(folder, address):
    """Return a list of official files that says where a server has those of a folder."""
    listed = yaml.safe_load((ROOT / "config" / "sources.yaml").read_text())
    kept = {}
    for name, given in listed["files"].items():
        path = folder / name
        if not path.exists():
            continue
        content = path.read_bytes()
        known = given["hash"] != "unknown"
        digits = hashlib.md5(content, usedforsecurity=False).hexdigest()
        kept[name] = given | {
            "addresses": [f"{address}/409", f"{address}/{name}"],
            "size": len(content) if known else "unknown",
            "hash": f"md5:{digits}" if known else "unknown",
        }
    return {"files": kept}


def checkpoint(folder, style):
    """Write a tiny BERT in one of the layouts that checkpoints are published in."""
    folder.mkdir(parents=True)
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)] + list("0123456789")
    chinese = list("段落问题查询天地玄黄宇宙洪荒日月盈昃")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
    pieces += chinese
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    torch.manual_seed(len(folder.name))
    config = BertConfig(vocab_size=len(pieces), **SIZES)
    (folder / "config.json").write_text(config.to_json_string())
    weights = {name: value.contiguous() for name, value in BertModel(config).state_dict().items()}
    if style == "safetensors":
        save_file(
            {f"bert.{name}": value for name, value in weights.items()}, folder / "model.safetensors"
        )
    else:
        torch.save(
            {f"{style}.{name}": value for name, value in weights.items()},
            folder / "pytorch_model.bin",
        )


def run(path, queries, documents, seed):
    """Write a TREC run of 20 documents per query, drawn by a seed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = random.Random(seed)
    lines = [
        f"{query} Q0 {document} {rank} {20 - rank} {path.parent.name}\n"
        for query in queries
        for rank, document in enumerate(drawn.sample(documents, 20), start=1)
    ]
    path.write_text("".join(lines))


def study(folder, list_of_sources):
    """Return the paper's study file with sizes changed, and with fewer values of each sweep."""
    text = yaml.safe_load(PAPER.read_text())
    text |= {"study": "miniature", "device": "cpu", "precision": "float32", "threads": 1}
    text["sources"] = {"file": str(list_of_sources)}
    for section in text["collections"].values():
        section |= {"check": False, "held_out": 4, "shards": 2}
    for name, retriever in text["retrievers"].items():
        if "folder" in retriever:
            retriever["folder"] = str(folder / "runs" / name)
    for name, ranker in text["rankers"].items():
        ranker.pop("attention", None)
        ranker.update(document_tokens=24, query_tokens=8)
        if "sequence_tokens" in ranker or name == "ernie":
            ranker["sequence_tokens"] = 32
        if "layers" in ranker:
            ranker["layers"] = 2
        if name == "parade_max":
            ranker.update(part_tokens=12, stride_tokens=8)
    text["training"] |= {"steps": 2, "pairs": 2}
    text["probe"] = {"steps": [1], "depth": 5, "sample": 2}
    text["figures"]["figure_5"]["query"] = QUERY
    text["figures"]["figure_1"]["retrievers"] = ["bm25", "ance"]
    text["figures"]["figure_3"]["retrievers"] = ["ance"]
    text["experiments"] = list(smaller(text["experiments"]))
    path = folder / "miniature.yaml"
    path.write_text(yaml.safe_dump(text, sort_keys=False))
    return path


def smaller(entries):
    """Yield the experiments that between them execute every rule, with one value of each sweep."""
    seen = set()
    for entry in entries:
        retrievers, rankers = (as_list(entry[name]) for name in ("retriever", "ranker"))
        for retriever, ranker, method in product(retrievers, rankers, as_list(entry["method"])):
            short = shortened(method)
            key = (entry["collection"], retriever, ranker, short["name"])
            if key in KEPT and key not in seen:
                seen.add(key)
                yield {
                    **entry, "retriever": retriever, "ranker": ranker, "method": short,
                    "training": {},
                }  # fmt: skip
    assert seen == KEPT, KEPT - seen


def as_list(value):
    """Return a value, or the items of a list."""
    return value if isinstance(value, list) else [value]


def shortened(method):
    """Return a method with one value of what it sweeps."""
    short = dict(method)
    for name in ("temperature", "eta"):
        if isinstance(short.get(name), list):
            short[name] = short[name][0]
    if isinstance(short.get("form"), list):
        short["form"] = "paper"
    if short.get("scored"):
        short |= {"scored": 5, "eta": 0.9}  # a teacher of two steps scores everything near .5
    return short
