"""The default study: what config/config.yaml says beyond the model's own defaults."""

from typing import Any

STUDY: dict[str, Any] = {
    "study": "hpo",
    "device": "cpu",
    "precision": "bf16",
    "threads": 1,
    "seeds": [1],
    "collections": {"hpo": {"kind": "hpo"}},
    "retrievers": {
        "bm25": {"kind": "bm25"},
        "dense": {"kind": "dense"},
        "outside": {"kind": "bm25", "documents": "pool_documents"},
    },
    "pools": {"outside": {"retrievers": ["outside"]}},
    "rankers": {"bert": {"kind": "bert"}},
    "training": {"steps": 400},
    "evaluation": {},
    "probe": {"steps": [400]},
    "tables": {"elsewhere": "hpo-seeds"},
    "experiments": [
        {"retriever": ["bm25", "dense"], "method": "naive"},
        {
            "retriever": "dense",
            "method": ["oracle", {"name": "cet", "form": ["paper", "released"]}],
        },
        {"retriever": "dense", "method": "zhan"},
        # Figure 4: with the above three points each of τ and η.
        {"retriever": "dense", "method": {"name": "cet", "form": "paper", "temperature": [0.5, 2]}},
        {
            "retriever": "dense",
            "method": {"name": "rocketqa", "share_removed": [0.1, 0.5, 0.9]},
        },
    ],
}
