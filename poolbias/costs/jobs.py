"""The expensive jobs of a study, each with its operations, bytes and memory."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from poolbias.config import experiments as naming
from poolbias.config.experiments import Experiment
from poolbias.config.study import Study
from poolbias.costs.throughput import OTHER, Encoder, Sizes, Throughput
from poolbias.sources import Source
from poolbias.token_shards import bytes_of

TRAINING = 3.0  # a forward and a backward pass, in forward passes
POSITIONS = 512  # of an encoder
SPECIAL = 3  # word pieces of a sequence beside query and document
RUN_BYTES = 16  # of a compressed line of a run; our estimate
CANDIDATE_BYTES = 12  # document, rank and probability of a candidate
FEW = 2_000_000_000  # bytes that Python, torch and a job's buffers take; our estimate


@dataclass(frozen=True, slots=True)
class Job:
    """One expensive job.

    Attributes:
        name: its rule and what it makes; equal names are one job.
        flops: expected operations on the device.
        most_flops: those if every sequence were as long as its limits allow.
        bytes: what it leaves on disk.
        memory: bytes that it holds at once.
    """

    name: str
    flops: float = 0.0
    most_flops: float = 0.0
    bytes: float = 0.0
    memory: float = field(default=FEW)


def of_experiment(
    study: Study, row: naming.Ranked, table: Throughput, official: Mapping[str, Source]
) -> Iterator[Job]:
    """Yield the jobs that one row of a study needs, those of its seeds among them."""
    experiment = row.experiment
    yield from of_collection(study, experiment.collection, table, official)
    yield from of_run(study, experiment.collection, row.retriever, table)
    for part in experiment.halves or (experiment,):
        yield from _trained(study, part, table)
        for seed in study.seeds:
            yield _ranking(study, part, row.retriever, table, seed)


def depth_of(study: Study, collection: str) -> int:
    """Return how many documents of a run are re-ranked on a collection."""
    own = getattr(study.collections[collection], "reranked", None)
    return int(own or study.evaluation.depth)


def of_collection(
    study: Study, name: str, table: Throughput, official: Mapping[str, Source]
) -> Iterator[Job]:
    """Yield the downloads, texts and tokens of a collection."""
    section = study.collections[name]
    sizes = table.sizes(section.kind)
    for source in getattr(section, "sources", []):
        found = official.get(source.rstrip("/"))
        yield Job(f"retrieve_source {source}", bytes=(found.size if found else None) or 0)
    text = sizes.documents * sizes.text_bytes
    yield Job(f"build_collection {name}", bytes=text)
    for start in {getattr(ranker, "start", OTHER) for ranker in study.rankers.values()}:
        size = bytes_of(sizes.documents, sizes.document_tokens, table.encoder(start).vocabulary)
        yield Job(f"build_tokens {name} {start}", bytes=size)


def of_run(study: Study, collection: str, retriever: str, table: Throughput) -> Iterator[Job]:
    """Yield the encoding and the runs of a retriever on a collection."""
    section = study.retrievers[retriever]
    sizes = table.sizes(study.collections[collection].kind)
    if section.kind == "dense":
        encoder = table.encoder(section.model)
        length = min(sizes.document_tokens, 256) + 2
        flops = encoder.flops(sizes.documents * length, length)
        most = encoder.flops(sizes.documents * 258, 258)
        size = sizes.documents * encoder.width * 4.0
        yield Job(f"encode_texts {collection} {section.model}", flops, most, size, FEW + size)
    queries = sizes.training_queries + _tested(study, collection, table)
    run = queries * section.depth * RUN_BYTES
    yield Job(f"search {collection} {retriever}", bytes=run)


def _trained(study: Study, experiment: Experiment, table: Throughput) -> Iterator[Job]:
    """Yield the negatives and trainings of an experiment, and those of its teacher."""
    given = experiment.parameters
    sizes = table.sizes(study.collections[experiment.collection].kind)
    chosen = given["negatives"]
    if experiment.teacher:
        yield from _trained(study, experiment.teacher, table)
        scored = given["teacher"]["scored"] or chosen["depth"]
        pairs = sizes.training_queries * scored + sizes.labels
        flops, most = _pass(given, sizes, table, pairs)
        name = f"score_candidates {experiment.teacher.name} {experiment.retriever} {scored}"
        yield Job(name, flops, most, pairs * 12.0, FEW + pairs * 60.0)
    depth = chosen.get("depth") or chosen.get("size") or 0
    key = naming.candidates_key(study, experiment)
    yield Job(f"build_candidates {key}", bytes=sizes.training_queries * depth * CANDIDATE_BYTES)
    training = given["training"]
    sequences = training["steps"] * training["pairs"] * (1 + given.get("negatives_per_positive", 1))
    flops, most = _pass(given, sizes, table, sequences)
    times = TRAINING * (table.coupled[_weights_from(given)] if experiment.coupled else 1.0)
    models = 2 if experiment.coupled else 1
    parameters = table.encoder(given["ranker"]["start"]).parameters
    steps = [step for step in study.probe.steps if step < training["steps"]]
    kept = models * parameters * 4.0 * (1 + (len(steps) if experiment.coupled else 0))
    memory = FEW + models * parameters * 16.0  # weights, gradients, AdamW's two averages
    for seed in study.seeds:
        name = f"train {experiment.name} seed {seed}"
        yield Job(name, times * flops, times * most, kept, memory)


def _ranking(
    study: Study, experiment: Experiment, retriever: str, table: Throughput, seed: int
) -> Job:
    sizes = table.sizes(study.collections[experiment.collection].kind)
    depth = depth_of(study, experiment.collection)
    pairs = _tested(study, experiment.collection, table) * depth
    flops, most = _pass(experiment.parameters, sizes, table, pairs)
    name = f"rerank {experiment.name} {retriever} seed {seed}"
    return Job(name, flops, most, pairs * RUN_BYTES, FEW + pairs * 100.0)


def _pass(
    given: Mapping[str, Any], sizes: Sizes, table: Throughput, pairs: float
) -> tuple[float, float]:
    """Return the operations of a forward pass over pairs: expected, and at the limits' length."""
    ranker = given["ranker"]
    encoder: Encoder = table.encoder(ranker["start"])
    found = []
    for query, document in (
        (sizes.query_tokens, sizes.document_tokens),
        (ranker["query_tokens"], ranker["document_tokens"]),
    ):
        parts, length = _sequences(
            min(query, ranker["query_tokens"]), min(document, ranker["document_tokens"]), ranker
        )
        found.append(encoder.flops(pairs * parts * length, length, ranker.get("layers")))
    return found[0], found[1]


def _sequences(query: float, document: float, ranker: Mapping[str, Any]) -> tuple[float, float]:
    """Return how many sequences a pair is, and how long each is."""
    if "most_parts" in ranker:  # parade_max
        part, stride = ranker["part_tokens"], ranker["stride_tokens"]
        parts = min(math.ceil(max(document - part, 0) / stride) + 1, ranker["most_parts"])
        return parts, query + min(document, part) + SPECIAL
    whole = query + document + SPECIAL
    if "sequence_tokens" not in ranker:  # cedr_knrm
        parts = math.ceil(document / (POSITIONS - SPECIAL - query))
        return parts, query + document / parts + SPECIAL
    return 1, min(ranker["sequence_tokens"] or whole, whole)


def _weights_from(given: Mapping[str, Any]) -> str:
    return str(given["weight"].get("weights_from", "eval"))


def _tested(study: Study, collection: str, table: Throughput) -> int:
    section = study.collections[collection]
    sets = getattr(section, "sets", {})
    known = table.tested
    return sum(known.get(n, known.get(k, known[OTHER])) for k, n in sets.items()) or known[OTHER]
