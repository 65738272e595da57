# The probe: what the coupled weights do, and what CET takes for granted.


wildcard_constraints:
    probe=r"top-\d+-[0-9a-f]+",


rule probe_weights:
    """Scores and weights of the top of a run by both models of a coupled training."""
    input:
        unpack(get_probe_inputs),
    output:
        probe="results/probes/{experiment}/seed-{seed}/{probe}/{split}.tsv.gz",
        manifest="results/probes/{experiment}/seed-{seed}/{probe}/{split}.manifest.json",
    log:
        text="results/logs/probe_weights/{experiment}/seed-{seed}/{probe}/{split}.log",
        parameters="results/logs/probe_weights/{experiment}/seed-{seed}/{probe}/{split}.json",
    benchmark:
        "results/benchmarks/probe_weights/{experiment}/seed-{seed}/{probe}/{split}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads
    resources:
        mem_mb=get_growing(6000),
        runtime=get_growing(60),
        cpus_per_task=STUDY.threads,
        gpu=get_gpus(),
    params:
        json=get_probe_json,
    message:
        "Probe {wildcards.experiment}, seed {wildcards.seed} ({threads} threads, {resources.gpu} GPUs)"
    shell:
        get_command("probe_weights")
        + "--r {input.r} --s {input.s} --run {input.run} --queries {input.queries} "
        "--documents {input.documents} --truth {input.truth} --labels {input.labels} "
        "--pool {input.pool} --tokens {input.tokens} "
        "--probe {output.probe} --manifest {output.manifest}"


rule measure_premises:
    """What CET takes for granted, measured where the pool and the truth are known."""
    input:
        queries=get_queries([get_collection_key(get_reference().experiment)]),
        probes=[probe["path"] for probe in get_probes()],
    output:
        premises=f"results/{STUDY.study}/premises.tsv",
        per_query=f"results/{STUDY.study}/premises_per_query.tsv.gz",
        manifest=f"results/{STUDY.study}/premises.manifest.json",
    log:
        text=f"results/logs/measure_premises/{STUDY.study}.log",
        parameters=f"results/logs/measure_premises/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/measure_premises/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json(
            "measure_premises",
            systems=get_probed_systems(),
            depth=STUDY.probe.depth,
        ),
    message:
        "Measure the premises of coupled weights"
    shell:
        get_command("measure_premises")
        + "--queries {input.queries} --probes {input.probes} --premises {output.premises} "
        "--per-query {output.per_query} --manifest {output.manifest}"
