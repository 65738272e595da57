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
    log:
        text="results/logs/build_candidates/{candidates}.log",
        parameters="results/logs/build_candidates/{candidates}.json",
    benchmark:
        "results/benchmarks/build_candidates/{candidates}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
        cpus_per_task=1,
    params:
        json=get_candidates_json,
    message:
        "Choose the negatives {wildcards.candidates}"
    shell:
        get_command("build_candidates")
        + "--queries {input.queries} --documents {input.documents} --run {input.run} "
        "--labels {input.labels} --truth {input.truth} "
        "--candidates {output.candidates} --statistics {output.statistics}"
