# Retrievers that the study trains or that ran elsewhere, and the gate that all must pass.


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


rule train_retriever:
    """A bi-encoder trained on the labels of a pool."""
    input:
        unpack(get_retriever_inputs),
    output:
        model="results/retrievers/{collection}/{retriever}/model/model.safetensors",
        training="results/retrievers/{collection}/{retriever}/training.tsv",
        manifest="results/retrievers/{collection}/{retriever}/manifest.json",
    log:
        text="results/logs/train_retriever/{collection}/{retriever}.log",
        parameters="results/logs/train_retriever/{collection}/{retriever}.json",
    benchmark:
        "results/benchmarks/train_retriever/{collection}/{retriever}.tsv"
    wildcard_constraints:
        retriever=get_pattern(TRAINED),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=get_growing(6000),
        runtime=get_growing(120),
        cpus_per_task=STUDY.threads,
        gpu=get_gpus(),
    params:
        json=get_retriever_json,
        options=get_input_options,
    message:
        "Train {wildcards.retriever} on {wildcards.collection} ({threads} threads, {resources.gpu} GPUs)"
    shell:
        get_command("train_retriever") + "{params.options} "
        "--model {output.model} --training {output.training} --manifest {output.manifest}"


rule import_run:
    """Runs of a retriever that ran elsewhere."""
    input:
        unpack(get_run_inputs),
    output:
        train="results/runs/{collection}/{retriever}/train.run.gz",
        dev="results/runs/{collection}/{retriever}/dev.run.gz",
        test="results/runs/{collection}/{retriever}/test.run.gz",
        no_hits="results/runs/{collection}/{retriever}/no_hits.tsv",
        manifest="results/runs/{collection}/{retriever}/manifest.json",
    log:
        text="results/logs/import_run/{collection}/{retriever}.log",
        parameters="results/logs/import_run/{collection}/{retriever}.json",
    benchmark:
        "results/benchmarks/import_run/{collection}/{retriever}.tsv"
    wildcard_constraints:
        retriever=get_pattern(n for n, r in RETRIEVERS.items() if r.kind == "run"),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(4000),
        runtime=get_growing(60),
        cpus_per_task=1,
    params:
        json=get_run_json,
        options=get_input_options,
    message:
        "Take up the runs of {wildcards.retriever} for {wildcards.collection}"
    shell:
        get_command("import_run") + "{params.options} "
        "--train {output.train} --dev {output.dev} --test {output.test} "
        "--no-hits {output.no_hits} --manifest {output.manifest}"


rule check_retrieval:
    """The gate: a retriever must reach what is expected of it before rankers are trained."""
    input:
        unpack(get_gate_inputs),
    output:
        gate="results/gates/{collection}/{retriever}.json",
    log:
        text="results/logs/check_retrieval/{collection}/{retriever}.log",
        parameters="results/logs/check_retrieval/{collection}/{retriever}.json",
    benchmark:
        "results/benchmarks/check_retrieval/{collection}/{retriever}.tsv"
    wildcard_constraints:
        retriever=get_pattern(n for n, r in RETRIEVERS.items() if r.expected),
    priority: 2
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(4000),
        runtime=get_growing(20),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json(
            "check_retrieval",
            **RETRIEVERS[wildcards.retriever].expected.model_dump(exclude={"pool"}),
        ),
    message:
        "Check what {wildcards.retriever} reaches on {wildcards.collection}"
    shell:
        get_command("check_retrieval")
        + "--queries {input.queries} --run {input.run} --judgements {input.judgements} "
        "--gate {output.gate}"
