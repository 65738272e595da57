# Rankings: runs re-ordered by trained rankers.


wildcard_constraints:
    depth=r"\d+",


rule rerank:
    """The top of a run in the order of a ranker's scores; below S/ of those of a selection model."""
    input:
        unpack(get_rerank_inputs),
    output:
        ranking="results/rankings/{experiment}/seed-{seed}/{selection}{retriever}/top-{depth}/{split}.run.gz",
        manifest="results/rankings/{experiment}/seed-{seed}/{selection}{retriever}/top-{depth}/{split}.manifest.json",
    log:
        text="results/logs/rerank/{experiment}/seed-{seed}/{selection}{retriever}/top-{depth}/{split}.log",
        parameters="results/logs/rerank/{experiment}/seed-{seed}/{selection}{retriever}/top-{depth}/{split}.json",
    benchmark:
        "results/benchmarks/rerank/{experiment}/seed-{seed}/{selection}{retriever}/top-{depth}/{split}.tsv"
    wildcard_constraints:
        selection="|S/",
    priority: 2
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=get_growing(6000, large=24000),
        runtime=get_growing(60, large=720),
        cpus_per_task=STUDY.threads,
        gpu=get_gpus(),
    params:
        json=get_rerank_json,
    message:
        "Re-rank {wildcards.split} of {wildcards.selection}{wildcards.retriever} with {wildcards.experiment}, seed {wildcards.seed} ({threads} threads, {resources.gpu} GPUs)"
    shell:
        get_command("rerank")
        + "--ranker {input.ranker} --run {input.run} --queries {input.queries} "
        "--documents {input.documents} --tokens {input.tokens} "
        "--ranking {output.ranking} --manifest {output.manifest}"


rule join_halves:
    """One ranking of two rankers, each for the half of the queries that it was not made with."""
    input:
        rankings=get_half_rankings,
        queries=get_halved_queries,
    output:
        ranking="results/rankings/{halved}/seed-{seed}/{retriever}/top-{depth}/{split}.run.gz",
        manifest="results/rankings/{halved}/seed-{seed}/{retriever}/top-{depth}/{split}.manifest.json",
    log:
        text="results/logs/join_halves/{halved}/seed-{seed}/{retriever}/top-{depth}/{split}.log",
        parameters="results/logs/join_halves/{halved}/seed-{seed}/{retriever}/top-{depth}/{split}.json",
    benchmark:
        "results/benchmarks/join_halves/{halved}/seed-{seed}/{retriever}/top-{depth}/{split}.tsv"
    wildcard_constraints:
        halved=get_pattern(HALVED),
        split=SPLIT,
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json("join_halves", tag=wildcards.halved),
    message:
        "Join the rankings of the two halves of {wildcards.halved}, seed {wildcards.seed}"
    shell:
        get_command("join_halves")
        + "--rankings {input.rankings} --queries {input.queries} "
        "--ranking {output.ranking} --manifest {output.manifest}"
