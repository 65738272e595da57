# Retrieval: runs of every retriever, for the queries of each split.


wildcard_constraints:
    retriever=get_pattern(RETRIEVERS),
    encoder=get_pattern(ENCODERS),
    documents="documents|pool_documents",


rule build_index:
    """A Lucene index of one kind of a collection's texts."""
    input:
        documents="results/collections/{collection}/{documents}.tsv",
    output:
        index=directory("results/indexes/{collection}/{documents}"),
    log:
        text="results/logs/build_index/{collection}/{documents}.log",
        parameters="results/logs/build_index/{collection}/{documents}.json",
    benchmark:
        "results/benchmarks/build_index/{collection}/{documents}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(4000),
        runtime=get_growing(60),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json("build_index"),
    message:
        "Index the {wildcards.documents} of {wildcards.collection}"
    shell:
        get_command("build_index")
        + "--documents {input.documents} --index {output.index}"


rule search_bm25:
    """Runs by Lucene's BM25."""
    input:
        queries="results/collections/{collection}/queries.tsv",
        index=get_index,
    output:
        train="results/runs/{collection}/{retriever}/train.run.gz",
        dev="results/runs/{collection}/{retriever}/dev.run.gz",
        test="results/runs/{collection}/{retriever}/test.run.gz",
        no_hits="results/runs/{collection}/{retriever}/no_hits.tsv",
        manifest="results/runs/{collection}/{retriever}/manifest.json",
    log:
        text="results/logs/search_bm25/{collection}/{retriever}.log",
        parameters="results/logs/search_bm25/{collection}/{retriever}.json",
    benchmark:
        "results/benchmarks/search_bm25/{collection}/{retriever}.tsv"
    wildcard_constraints:
        retriever=get_pattern(n for n, r in RETRIEVERS.items() if r.kind == "bm25"),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=get_growing(4000),
        runtime=get_growing(60),
        cpus_per_task=STUDY.threads,
    params:
        json=lambda wildcards: get_stage_json(
            "search_bm25",
            **RETRIEVERS[wildcards.retriever].model_dump(include={"k1", "b", "depth"}),
        ),
    message:
        "Search {wildcards.collection} with {wildcards.retriever}"
    shell:
        get_command("search_bm25") + "--threads {threads} "
        "--queries {input.queries} --index {input.index} "
        "--train {output.train} --dev {output.dev} --test {output.test} "
        "--no-hits {output.no_hits} --manifest {output.manifest}"


rule encode_texts:
    """Vectors of every query and document by a bi-encoder."""
    input:
        unpack(get_encoder_inputs),
    output:
        documents_vectors="results/encodings/{collection}/{encoder}/documents.npy",
        queries_vectors="results/encodings/{collection}/{encoder}/queries.npy",
    log:
        text="results/logs/encode_texts/{collection}/{encoder}.log",
        parameters="results/logs/encode_texts/{collection}/{encoder}.json",
    benchmark:
        "results/benchmarks/encode_texts/{collection}/{encoder}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=get_growing(4000),
        runtime=get_growing(60),
        cpus_per_task=STUDY.threads,
        gpu=get_gpus(),
    params:
        json=lambda wildcards: get_stage_json(
            "encode_texts", **ENCODERS[wildcards.encoder]
        ),
        options=get_input_options,
    message:
        "Encode {wildcards.collection} with {wildcards.encoder} ({threads} threads, {resources.gpu} GPUs)"
    shell:
        get_command("encode_texts") + f"--device {STUDY.device} "
        "--threads {threads} {params.options} "
        "--documents-vectors {output.documents_vectors} --queries-vectors {output.queries_vectors}"


rule search_dense:
    """Runs by exact inner-product search over vectors."""
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
        text="results/logs/search_dense/{collection}/{retriever}.log",
        parameters="results/logs/search_dense/{collection}/{retriever}.json",
    benchmark:
        "results/benchmarks/search_dense/{collection}/{retriever}.tsv"
    wildcard_constraints:
        retriever=get_pattern(n for n, r in EXACT.items() if r.shards == 1),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=get_search_job_memory,
        search_mb=get_search_memory,
        runtime=get_growing(60),
        cpus_per_task=STUDY.threads,
    params:
        json=lambda wildcards: get_stage_json(
            "search_dense", depth=RETRIEVERS[wildcards.retriever].depth
        ),
    message:
        "Search {wildcards.collection} with {wildcards.retriever}"
    shell:
        get_command("search_dense")
        + "--threads {threads} --memory {resources.search_mb} "
        "--documents {input.documents} --queries {input.queries} "
        "--documents-vectors {input.documents_vectors} --queries-vectors {input.queries_vectors} "
        "--train {output.train} --dev {output.dev} --test {output.test} "
        "--no-hits {output.no_hits} --manifest {output.manifest}"
