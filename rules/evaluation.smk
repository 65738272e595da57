# Evaluation: measures per query, by truth and by labels; false negatives among candidates.


wildcard_constraints:
    ranked=get_ranked_pattern(),
    judgements=get_judgements_pattern(),
    split="train|dev|test",


rule evaluate:
    """Measures per query of a run or ranking, by the truth or by a pool's labels."""
    input:
        unpack(get_judgements),
        runs="results/{ranked}/{split}.run.gz",
    output:
        per_query=f"results/metrics/{{ranked}}/{{split}}.{{judgements}}{MEASURES}.tsv",
    log:
        text="results/logs/evaluate/{ranked}/{split}.{judgements}.log",
        parameters="results/logs/evaluate/{ranked}/{split}.{judgements}.json",
    benchmark:
        "results/benchmarks/evaluate/{ranked}/{split}.{judgements}.tsv"
    priority: 2
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000, large=16000),
        runtime=get_growing(20, large=120),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json(
            "evaluate",
            split=wildcards.split,
            measures=get_measures(wildcards),
            **get_set(wildcards),
        ),
    message:
        "Measure {wildcards.ranked}/{wildcards.split} by {wildcards.judgements}"
    shell:
        get_command("evaluate")
        + "--queries {input.queries} --judgements {input.judgements} --runs {input.runs} "
        "--per-query {output.per_query}"


rule count_false_negatives:
    """Unlabelled relevant documents among the candidates at the top of a run."""
    input:
        queries="results/collections/{collection}/queries.tsv",
        truth="results/collections/{collection}/truth.qrels",
        labels="results/collections/{collection}/pools/{pool}/labels.qrels",
        run="results/runs/{collection}/{retriever}/{split}.run.gz",
    output:
        shares=f"results/metrics/runs/{{collection}}/{{retriever}}/{{split}}.false-negatives-{{pool}}{DEPTHS}.tsv",
    log:
        text="results/logs/count_false_negatives/{collection}/{retriever}/{split}.{pool}.log",
        parameters="results/logs/count_false_negatives/{collection}/{retriever}/{split}.{pool}.json",
    benchmark:
        "results/benchmarks/count_false_negatives/{collection}/{retriever}/{split}.{pool}.tsv"
    priority: 2
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(20),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json(
            "count_false_negatives",
            split=wildcards.split,
            depths=STUDY.figures.figure_1.shares_depths,
        ),
    message:
        "Count false negatives at the top of {wildcards.retriever}, {wildcards.split}"
    shell:
        get_command("count_false_negatives")
        + "--queries {input.queries} --truth {input.truth} --labels {input.labels} "
        "--run {input.run} --shares {output.shares}"


rule summarise_metrics:
    """Mean and interval of every ranking of the study, by truth and by labels."""
    input:
        queries=get_queries(get_collection_keys()),
        per_query=[row["path"] for row in [*get_baselines(), *get_rankings()]],
    output:
        summary=f"results/{STUDY.study}/metrics.tsv",
        manifest=f"results/{STUDY.study}/metrics.manifest.json",
    log:
        text=f"results/logs/summarise_metrics/{STUDY.study}.log",
        parameters=f"results/logs/summarise_metrics/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/summarise_metrics/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_summary_json(),
    message:
        "Summarise the metrics of the study"
    shell:
        get_command("summarise_metrics")
        + "--queries {input.queries} --summary {output.summary} --manifest {output.manifest}"
