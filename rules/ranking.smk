# Rankings: runs re-ordered by trained rankers.


wildcard_constraints:
    depth=r"\d+",


rule rerank:
    """The top of a run in the order of a ranker's scores."""
    input:
        unpack(get_rerank_inputs),
    output:
        ranking="results/rankings/{experiment}/seed-{seed}/{retriever}/top-{depth}/{split}.run.gz",
        manifest="results/rankings/{experiment}/seed-{seed}/{retriever}/top-{depth}/{split}.manifest.json",
    log:
        text="results/logs/rerank/{experiment}/seed-{seed}/{retriever}/top-{depth}/{split}.log",
        parameters="results/logs/rerank/{experiment}/seed-{seed}/{retriever}/top-{depth}/{split}.json",
    benchmark:
        "results/benchmarks/rerank/{experiment}/seed-{seed}/{retriever}/top-{depth}/{split}.tsv"
    priority: 2
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=6000,
        runtime=60,
        cpus_per_task=STUDY.threads,
        gpu=get_gpus(),
    params:
        json=get_rerank_json,
    message:
        "Re-rank {wildcards.split} of {wildcards.retriever} with {wildcards.experiment}, seed {wildcards.seed} ({threads} threads, {resources.gpu} GPUs)"
    shell:
        get_command("rerank")
        + "--ranker {input.ranker} --run {input.run} --queries {input.queries} "
        "--documents {input.documents} --tokens {input.tokens} "
        "--ranking {output.ranking} --manifest {output.manifest}"
