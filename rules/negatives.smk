# Negatives: which unlabelled candidates may be drawn, how likely.


wildcard_constraints:
    candidates=get_pattern(CANDIDATES),


rule build_candidates:
    """The candidates table of a run, a pool and a choice of negatives."""
    input:
        unpack(get_candidates_inputs),
    output:
        candidates=directory("results/candidates/{candidates}"),
        statistics="results/candidates/{candidates}.json",
        per_query="results/metrics/candidates/{candidates}.tsv",
    log:
        text="results/logs/build_candidates/{candidates}.log",
        parameters="results/logs/build_candidates/{candidates}.json",
    benchmark:
        "results/benchmarks/build_candidates/{candidates}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(4000),
        runtime=get_growing(30),
        cpus_per_task=1,
    params:
        json=get_candidates_json,
        options=get_input_options,
    message:
        "Choose the negatives {wildcards.candidates}"
    shell:
        get_command("build_candidates")
        + "{params.options} --candidates {output.candidates} "
        "--statistics {output.statistics} --per-query {output.per_query}"


rule score_candidates:
    """A naive ranker's scores of the training candidates and labelled documents, made once."""
    input:
        unpack(get_teacher_inputs),
    output:
        scores=directory("results/scores/{experiment}/seed-{seed}/{retriever}.{top}"),
        manifest="results/scores/{experiment}/seed-{seed}/{retriever}.{top}.manifest.json",
    log:
        text="results/logs/score_candidates/{experiment}/seed-{seed}/{retriever}.{top}.log",
        parameters="results/logs/score_candidates/{experiment}/seed-{seed}/{retriever}.{top}.json",
    benchmark:
        "results/benchmarks/score_candidates/{experiment}/seed-{seed}/{retriever}.{top}.tsv"
    wildcard_constraints:
        experiment=get_pattern(EXPERIMENTS),
        seed=r"\d+",
        top=r"top-\d+(-scored-\d+)?",
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=get_growing(6000),
        runtime=get_growing(120),
        cpus_per_task=STUDY.threads,
        gpu=get_gpus(),
    params:
        json=get_teacher_json,
    message:
        "Score {wildcards.top} of {wildcards.retriever} with {wildcards.experiment} ({threads} threads, {resources.gpu} GPUs)"
    shell:
        get_command("score_candidates")
        + "--ranker {input.ranker} --run {input.run} --queries {input.queries} "
        "--documents {input.documents} --labels {input.labels} --tokens {input.tokens} "
        "--scores {output.scores} --manifest {output.manifest}"


rule estimate_rank_relevance:
    """How likely a document at each rank of a run is relevant, from judged queries."""
    input:
        queries="results/collections/{collection}/queries.tsv",
        truth="results/collections/{collection}/truth.qrels",
        run="results/runs/{collection}/{retriever}/{split}.run.gz",
    output:
        relevance="results/metrics/runs/{collection}/{retriever}/{split}.rank-relevance{half}.tsv",
    log:
        text="results/logs/estimate_rank_relevance/{collection}/{retriever}/{split}{half}.log",
        parameters="results/logs/estimate_rank_relevance/{collection}/{retriever}/{split}{half}.json",
    benchmark:
        "results/benchmarks/estimate_rank_relevance/{collection}/{retriever}/{split}{half}.tsv"
    wildcard_constraints:
        split="dev|test",
        half="(-half-[12])?",
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(20),
        cpus_per_task=1,
    params:
        json=get_rank_relevance_json,
    message:
        "Estimate how likely each rank of {wildcards.retriever} is relevant, {wildcards.split}"
    shell:
        get_command("estimate_rank_relevance")
        + "--queries {input.queries} --truth {input.truth} --run {input.run} "
        "--relevance {output.relevance}"
