# Helpers of retrievers that are trained, imported, gated or searched in parts.
def get_shards(wildcards):
    """Return what the searches of all parts of a collection found."""
    count = RETRIEVERS[wildcards.retriever].shards
    folder = f"results/searches/{wildcards.collection}/{wildcards.retriever}"
    parts = [f"{folder}/{number}-of-{count}" for number in range(count)]
    return {
        name: [f"{part}.{name}.npy" for part in parts] for name in ("rows", "scores")
    }


def get_shard_json(wildcards):
    """Return the parameters of searching one part of a collection."""
    number, count = wildcards.shard.split("-of-")
    depth = RETRIEVERS[wildcards.retriever].depth
    return get_stage_json(
        "search_shard", depth=depth, shard=int(number), shards=int(count)
    )


def get_retriever_inputs(wildcards):
    """Return what a retriever is trained on."""
    retriever = TRAINED[wildcards.retriever]
    folder = f"results/collections/{wildcards.collection}"
    pool = naming.pool_key(STUDY, retriever.pool)
    inputs = {
        "queries": f"{folder}/queries.tsv",
        "documents": f"{folder}/documents.tsv",
        "labels": f"{folder}/pools/{pool}/labels.qrels",
    }
    if retriever.negatives_from:
        other = get_retriever_key(retriever.negatives_from)
        inputs["run"] = f"results/runs/{wildcards.collection}/{other}/train.run.gz"
    if retriever.start in STUDY.retrievers:
        other = get_retriever_key(retriever.start)
        inputs["start"] = get_model(wildcards.collection, other)
    return inputs


def get_retriever_json(wildcards):
    """Return the parameters of training a retriever; what it is made from are its inputs."""
    retriever = TRAINED[wildcards.retriever]
    # names that the study file gives are no parameters
    start = None if retriever.start in STUDY.retrievers else retriever.start
    names = set(type(retriever).model_fields) - {
        "start",
        *(
            "kind",
            "pool",
            "depth",
            "faiss",
            "shards",
            "memory",
            "expected",
            "negatives_from",
        ),
    }
    return get_stage_json(
        "train_retriever",
        **{
            name: value.model_dump() if hasattr(value, "model_dump") else value
            for name, value in (
                (name, getattr(retriever, name)) for name in sorted(names)
            )
        },
        start=start,
        device=STUDY.device,
        threads=STUDY.threads,
    )


def get_run_inputs(wildcards):
    """Return the files of a retriever that ran elsewhere."""
    retriever = RETRIEVERS[wildcards.retriever]
    folder = f"results/collections/{wildcards.collection}"
    inputs = {
        "queries": f"{folder}/queries.tsv",
        "documents": f"{folder}/documents.tsv",
        "runs": retriever.splits,
    }
    for name in ("query_map", "document_map"):
        if getattr(retriever, name):
            inputs[name] = getattr(retriever, name)
    return inputs


def get_run_json(wildcards):
    """Return the parameters of taking up runs from elsewhere."""
    retriever = RETRIEVERS[wildcards.retriever]
    return get_stage_json(
        "import_run", coverage=retriever.coverage, depth=retriever.depth
    )


def get_gate_inputs(wildcards):
    """Return the run that is expected to reach a value, and what it is judged by."""
    expected = RETRIEVERS[wildcards.retriever].expected
    folder = f"results/collections/{wildcards.collection}"
    judgements = f"{folder}/truth.qrels"
    if expected.pool:
        pool = naming.pool_key(STUDY, expected.pool)
        judgements = f"{folder}/pools/{pool}/labels.qrels"
    run = f"results/runs/{wildcards.collection}/{wildcards.retriever}"
    return {
        "queries": f"{folder}/queries.tsv",
        "run": f"{run}/{expected.split}.run.gz",
        "judgements": judgements,
    }


def get_gate(experiment):
    """Return the gate of the retriever whose run negatives come from, if the study expects any."""
    if experiment.retriever is None:
        return {}
    retriever = STUDY.retrievers[experiment.retriever]
    if retriever.expected is None:
        return {}
    key = get_collection_key(experiment)
    return {"gate": f"results/gates/{key}/{naming.folder(retriever)}.json"}
