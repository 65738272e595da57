"""The rounds of a bi-encoder's training: what negatives each has, and what is kept of each."""

import copy
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from poolbias.files import read_json, write_json
from poolbias.models.biencoder import ROLES, BiEncoder, start, turned_into
from poolbias.models.biencoder_files import load, save
from poolbias.models.pretrained import folder_of
from poolbias.retrieval.encode import encode
from poolbias.retrieval.search import search
from poolbias.retrieval.training.draws import HardNegatives, hard_negatives, labelled_pairs, of_run
from poolbias.retrieval.training.frozen import Frozen
from poolbias.retrieval.training.loop import RetrieverTrainer
from poolbias.stage import progress

log = logging.getLogger("poolbias")


@dataclass(frozen=True)
class Texts:
    """What a bi-encoder is trained on: `query_id`, `text`, `split`; `document_id`, `text`; labels.

    `run` is the one that gives `static` negatives, or None.
    """

    queries: pd.DataFrame
    documents: pd.DataFrame
    labels: pd.DataFrame
    run: pd.DataFrame | None = None


def first_model(parameters: dict[str, Any], folder: Path | None) -> BiEncoder:
    """Return the bi-encoder that training starts from.

    Args:
        parameters: of the study file: `architecture`, `start`, `layers`, `query_tokens`,
            `document_tokens`.
        folder: of the trained retriever that it starts from; None takes the published encoder.
    """
    name = parameters["architecture"]
    limits = (parameters["query_tokens"], parameters["document_tokens"])
    if folder is None:
        return start(name, folder_of(parameters["start"]), parameters["layers"], limits)
    model = load(folder)
    model.limits = limits
    return model if name == model.name else turned_into(model, name)


def train(
    parameters: dict[str, Any],
    texts: Texts,
    model: BiEncoder,
    kept: Path | None,
    device: torch.device,
) -> tuple[BiEncoder, list[dict[str, float]]]:
    """Train a bi-encoder over its rounds.

    A round starts with an optimiser of its own and depends on the weights before it alone, so that
    a training which was stopped goes on after the last whole round and ends in the same bytes.

    Args:
        parameters: of the study file.
        texts: what it is trained on.
        model: what it starts from.
        kept: folder for the weights of each round, or None.
        device: where it is trained.

    Returns:
        The trained bi-encoder, and a row per step.
    """
    rows: list[dict[str, float]] = []
    done = 0
    coupled = parameters.get("coupling") is not None
    selection = selection_model(model, parameters["seed"]) if coupled else None
    while kept is not None and (kept / f"round-{done}" / "rows.json").exists():
        rows += read_json(kept / f"round-{done}" / "rows.json")
        model = load(kept / f"round-{done}" / "model")
        selection = load(kept / f"round-{done}" / "selection") if coupled else None
        done += 1
    if done:
        log.info("training: goes on after %d of %d rounds", done, parameters["rounds"])
    model = model.to(device)
    selection = selection.to(device) if selection is not None else None
    labelled = labelled_pairs(texts.labels, texts.queries, texts.documents)
    tokens = {
        "queries": model.tokenize(texts.queries["text"].tolist(), "query"),
        "documents": model.tokenize(texts.documents["text"].tolist(), "document"),
    }
    for number in range(done, parameters["rounds"]):
        hard = frozen = None
        if parameters["negatives"] == "dynamic":
            vectors = torch.from_numpy(_encode(model, texts.documents, parameters)).to(device)
            frozen = Frozen(vectors, labelled, parameters["negatives_depth"])
        elif parameters["negatives"] == "static":
            assert texts.run is not None
            pairs = of_run(texts.run, parameters["negatives_depth"], texts.queries, texts.documents)
            hard = hard_negatives(*pairs, labelled, len(texts.queries))
        elif parameters["negatives"] == "refreshed":
            hard = found_now(model, texts, parameters)
        trainer = RetrieverTrainer(
            parameters,
            model,
            **tokens,
            labelled=labelled,
            number=number,
            hard=hard,
            frozen=frozen,
            selection=selection,
        )
        steps = parameters["training"]["steps"]
        new = list(progress(trainer.steps(), steps, f"training, round {number + 1}", "steps"))
        rows += new
        if kept is not None and parameters["rounds"] > 1:
            save(model, kept / f"round-{number}" / "model")
            if selection is not None:
                save(selection, kept / f"round-{number}" / "selection")
            write_json(kept / f"round-{number}" / "rows.json", new)
    return model, rows


def selection_model(model: BiEncoder, seed: int) -> BiEncoder:
    """Return CET's selection model: the relevance model with noise on its last layer's weights.

    Rankers differ by heads drawn at random. Bi-encoders may have none, and two equal models would
    stay equal; so noise of Normal(0, 0.02), as heads are drawn from, is our choice.
    """
    selection = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    towers = {id(tower): tower for tower in map(selection.tower, ROLES)}
    for tower in towers.values():
        weight = tower.network.encoder.layer[-1].output.dense.weight
        noise = torch.empty(weight.shape).normal_(std=0.02, generator=generator)
        with torch.no_grad():
            weight += noise.to(weight.device)
    return selection


def found_now(model: BiEncoder, texts: Texts, parameters: dict[str, Any]) -> HardNegatives:
    """Return the unlabelled documents that a model finds for the training queries."""
    rows = np.flatnonzero(texts.queries["split"].to_numpy() == "train")
    asked = encode(
        texts.queries["text"].iloc[rows].tolist(), model, "query", precision=parameters["precision"]
    )
    found, _ = search(
        asked, _encode(model, texts.documents, parameters), parameters["negatives_depth"]
    )
    labelled = labelled_pairs(texts.labels, texts.queries, texts.documents)
    queries = np.repeat(rows, found.shape[1])
    return hard_negatives(queries, found.ravel(), labelled, len(texts.queries))


def _encode(model: BiEncoder, documents: pd.DataFrame, parameters: dict[str, Any]) -> Any:
    return encode(
        documents["text"].tolist(), model.eval(), "document", precision=parameters["precision"]
    )
