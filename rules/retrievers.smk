# Retrievers that the study trains or that ran elsewhere, and the gate that all must pass.


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
