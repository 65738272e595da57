# Search of vectors shared by several jobs, or by an index.


wildcard_constraints:
    shard=r"\d+-of-\d+",


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
