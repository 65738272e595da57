# Collections: documents, queries, truth; the labels of simulated annotators; token ids.


wildcard_constraints:
    collection=get_pattern(COLLECTIONS),
    pool=get_pattern(POOLS),
    tokenizer=get_pattern({ranker.start for ranker in STUDY.rankers.values()}),


rule retrieve_wordnet:
    """The nouns of WordNet from the official archive, where no folder has them."""
    output:
        data="results/sources/wordnet-3.0/data.noun",
        index="results/sources/wordnet-3.0/index.noun",
    log:
        text="results/logs/retrieve_wordnet/wordnet-3.0.log",
        parameters="results/logs/retrieve_wordnet/wordnet-3.0.json",
    benchmark:
        "results/benchmarks/retrieve_wordnet/wordnet-3.0.tsv"
    localrule: True  # compute nodes have no network
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(1000),
        runtime=get_growing(30),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json("retrieve_wordnet", **wordnet.ARCHIVE),
    message:
        "Download WordNet"
    shell:
        get_command("retrieve_wordnet") + "--data {output.data} --index {output.index}"


rule build_collection:
    """Documents, queries, truth and splits of a collection."""
    input:
        sources=get_collection_sources,
    output:
        documents="results/collections/{collection}/documents.tsv",
        pool_documents="results/collections/{collection}/pool_documents.tsv",
        queries="results/collections/{collection}/queries.tsv",
        truth="results/collections/{collection}/truth.qrels",
        statistics="results/collections/{collection}/statistics.json",
    log:
        text="results/logs/build_collection/{collection}.log",
        parameters="results/logs/build_collection/{collection}.json",
    benchmark:
        "results/benchmarks/build_collection/{collection}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=get_collection_json,
    message:
        "Build the collection {wildcards.collection}"
    shell:
        get_command("build_collection") + "--sources {input.sources} "
        "--documents {output.documents} --pool-documents {output.pool_documents} "
        "--queries {output.queries} --truth {output.truth} --statistics {output.statistics}"


rule build_labels:
    """What simulated annotators label of the documents that a pool shows them."""
    input:
        queries="results/collections/{collection}/queries.tsv",
        truth="results/collections/{collection}/truth.qrels",
        runs=get_pool_runs,
    output:
        labels="results/collections/{collection}/pools/{pool}/labels.qrels",
        pool="results/collections/{collection}/pools/{pool}/pool.tsv",
        statistics="results/collections/{collection}/pools/{pool}/statistics.json",
    log:
        text="results/logs/build_labels/{collection}/{pool}.log",
        parameters="results/logs/build_labels/{collection}/{pool}.json",
    benchmark:
        "results/benchmarks/build_labels/{collection}/{pool}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json(
            "build_labels", **POOLS[wildcards.pool].model_dump(exclude={"retrievers"})
        ),
    message:
        "Label what the pool {wildcards.pool} shows of {wildcards.collection}"
    shell:
        get_command("build_labels")
        + "--queries {input.queries} --truth {input.truth} --runs {input.runs} "
        "--labels {output.labels} --pool {output.pool} --statistics {output.statistics}"


rule build_tokens:
    """Token ids of every query and document, memory-mapped."""
    input:
        documents="results/collections/{collection}/documents.tsv",
        queries="results/collections/{collection}/queries.tsv",
    output:
        tokens=directory("results/tokens/{collection}/{tokenizer}"),
    log:
        text="results/logs/build_tokens/{collection}/{tokenizer}.log",
        parameters="results/logs/build_tokens/{collection}/{tokenizer}.json",
    benchmark:
        "results/benchmarks/build_tokens/{collection}/{tokenizer}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(30),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json("build_tokens", start=wildcards.tokenizer),
    message:
        "Tokenise {wildcards.collection} for {wildcards.tokenizer}"
    shell:
        get_command("build_tokens")
        + "--documents {input.documents} --queries {input.queries} --tokens {output.tokens}"
