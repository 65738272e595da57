# Retrievers that the study trains, that ran elsewhere, or whose search is shared by several jobs.


wildcard_constraints:
    shard=r"\d+-of-\d+",


def get_encoder_inputs(wildcards):
    """Return what vectors are made from: texts, and the model where the study trained it."""
    folder = f"results/collections/{wildcards.collection}"
    inputs = {
        "documents": f"{folder}/documents.tsv",
        "queries": f"{folder}/queries.tsv",
    }
    if wildcards.encoder in TRAINED:
        inputs["model"] = get_model(wildcards.collection, wildcards.encoder)
    return inputs


def get_model(collection, retriever):
    """Return the weights of a trained retriever."""
    return f"results/retrievers/{collection}/{retriever}/model/model.safetensors"


def get_search_memory(wildcards):
    """Return the memory that a search's arrays may take, MB."""
    return RETRIEVERS[wildcards.retriever].memory


def get_search_job_memory(wildcards, attempt):
    """Return the memory of a search's job, MB: its arrays, ids and the program."""
    return (get_search_memory(wildcards) + 3000) * attempt


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
    names = set(type(retriever).model_fields) - {
        *("kind", "pool", "depth", "shards", "memory", "expected"),
    }
    return get_stage_json(
        "train_retriever",
        **{
            name: (
                retriever.training.model_dump()
                if name == "training"
                else getattr(retriever, name)
            )
            for name in sorted(names)
        },
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
        options=get_options,
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
        json=lambda wildcards: get_stage_json(
            "import_run",
            **RETRIEVERS[wildcards.retriever].model_dump(
                include={"coverage", "depth"}
            ),
        ),
        options=get_options,
    message:
        "Take up the runs of {wildcards.retriever} for {wildcards.collection}"
    shell:
        get_command("import_run") + "{params.options} "
        "--train {output.train} --dev {output.dev} --test {output.test} "
        "--no-hits {output.no_hits} --manifest {output.manifest}"


rule search_shard:
    """The best documents of one part of a collection."""
    input:
        unpack(get_vectors),
        documents="results/collections/{collection}/documents.tsv",
        queries="results/collections/{collection}/queries.tsv",
    output:
        rows="results/searches/{collection}/{retriever}/{shard}.rows.npy",
        scores="results/searches/{collection}/{retriever}/{shard}.scores.npy",
    log:
        text="results/logs/search_shard/{collection}/{retriever}/{shard}.log",
        parameters="results/logs/search_shard/{collection}/{retriever}/{shard}.json",
    benchmark:
        "results/benchmarks/search_shard/{collection}/{retriever}/{shard}.tsv"
    wildcard_constraints:
        retriever=get_pattern(EXACT),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=get_search_job_memory,
        search_mb=get_search_memory,
        runtime=get_growing(60),
        cpus_per_task=STUDY.threads,
    params:
        json=get_shard_json,
    message:
        "Search part {wildcards.shard} of {wildcards.collection} with {wildcards.retriever}"
    shell:
        get_command("search_shard")
        + "--threads {threads} --memory {resources.search_mb} "
        "--documents {input.documents} --queries {input.queries} "
        "--documents-vectors {input.documents_vectors} --queries-vectors {input.queries_vectors} "
        "--rows {output.rows} --scores {output.scores}"


rule merge_shards:
    """Runs of a search that several jobs shared, the bytes those of one."""
    input:
        unpack(get_shards),
        documents="results/collections/{collection}/documents.tsv",
        queries="results/collections/{collection}/queries.tsv",
    output:
        train="results/runs/{collection}/{retriever}/train.run.gz",
        dev="results/runs/{collection}/{retriever}/dev.run.gz",
        test="results/runs/{collection}/{retriever}/test.run.gz",
        no_hits="results/runs/{collection}/{retriever}/no_hits.tsv",
        manifest="results/runs/{collection}/{retriever}/manifest.json",
    log:
        text="results/logs/merge_shards/{collection}/{retriever}.log",
        parameters="results/logs/merge_shards/{collection}/{retriever}.json",
    benchmark:
        "results/benchmarks/merge_shards/{collection}/{retriever}.tsv"
    wildcard_constraints:
        retriever=get_pattern(n for n, r in EXACT.items() if r.shards > 1),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(4000),
        runtime=get_growing(30),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json(
            "merge_shards", depth=RETRIEVERS[wildcards.retriever].depth
        ),
    message:
        "Merge the searches of {wildcards.collection} with {wildcards.retriever}"
    shell:
        get_command("merge_shards")
        + "--documents {input.documents} --queries {input.queries} "
        "--rows {input.rows} --scores {input.scores} "
        "--train {output.train} --dev {output.dev} --test {output.test} "
        "--no-hits {output.no_hits} --manifest {output.manifest}"


rule search_faiss:
    """Runs by an index of faiss, in a process without torch."""
    input:
        unpack(get_vectors),
        documents="results/collections/{collection}/documents.tsv",
        queries="results/collections/{collection}/queries.tsv",
    output:
        train="results/runs/{collection}/{retriever}/train.run.gz",
        dev="results/runs/{collection}/{retriever}/dev.run.gz",
        test="results/runs/{collection}/{retriever}/test.run.gz",
        no_hits="results/runs/{collection}/{retriever}/no_hits.tsv",
        manifest="results/runs/{collection}/{retriever}/manifest.json",
    log:
        text="results/logs/search_faiss/{collection}/{retriever}.log",
        parameters="results/logs/search_faiss/{collection}/{retriever}.json",
    benchmark:
        "results/benchmarks/search_faiss/{collection}/{retriever}.tsv"
    wildcard_constraints:
        retriever=get_pattern(n for n in SEARCHED if n not in EXACT),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=get_growing(16000),
        runtime=get_growing(120),
        cpus_per_task=STUDY.threads,
    params:
        json=lambda wildcards: get_stage_json(
            "search_faiss",
            depth=RETRIEVERS[wildcards.retriever].depth,
            faiss=RETRIEVERS[wildcards.retriever].faiss.model_dump(),
        ),
    message:
        "Search {wildcards.collection} with {wildcards.retriever} by an index"
    shell:
        get_command("search_faiss") + "--threads {threads} "
        "--documents {input.documents} --queries {input.queries} "
        "--documents-vectors {input.documents_vectors} --queries-vectors {input.queries_vectors} "
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
