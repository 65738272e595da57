# Training: one ranker per experiment and seed.


wildcard_constraints:
    experiment=get_pattern(EXPERIMENTS),
    seed=r"\d+",


rule train_ranker:
    """A ranker trained on its own."""
    input:
        unpack(get_training_inputs),
    output:
        r="results/rankers/{experiment}/seed-{seed}/R/model.safetensors",
        config="results/rankers/{experiment}/seed-{seed}/R/config.json",
        training="results/rankers/{experiment}/seed-{seed}/training.tsv",
        timing="results/rankers/{experiment}/seed-{seed}/timing.tsv",
        manifest="results/rankers/{experiment}/seed-{seed}/manifest.json",
    log:
        text="results/logs/train_ranker/{experiment}/seed-{seed}.log",
        parameters="results/logs/train_ranker/{experiment}/seed-{seed}.json",
    benchmark:
        "results/benchmarks/train_ranker/{experiment}/seed-{seed}.tsv"
    wildcard_constraints:
        experiment=get_pattern(name for name, e in EXPERIMENTS.items() if not e.coupled),
    priority: 1
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads * STUDY.processes
    resources:
        mem_mb=get_growing(6000 * STUDY.processes, large=16000 * STUDY.processes),
        runtime=get_growing(120, large=2880),
        cpus_per_task=STUDY.threads * STUDY.processes,
        gpu=get_gpus(STUDY.processes),
    params:
        json=get_training_json,
        options=get_input_options,
    message:
        "Train {wildcards.experiment}, seed {wildcards.seed} ({threads} threads, {resources.gpu} GPUs)"
    shell:
        get_command("train_ranker") + "{params.options} --r {output.r} "
        "--training {output.training} --timing {output.timing} --manifest {output.manifest}"


rule train_coupled_ranker:
    """A relevance model R and a selection model S that weight each other's pairs."""
    input:
        unpack(get_training_inputs),
    output:
        r="results/rankers/{experiment}/seed-{seed}/R/model.safetensors",
        config="results/rankers/{experiment}/seed-{seed}/R/config.json",
        s="results/rankers/{experiment}/seed-{seed}/S/model.safetensors",
        training="results/rankers/{experiment}/seed-{seed}/training.tsv",
        timing="results/rankers/{experiment}/seed-{seed}/timing.tsv",
        manifest="results/rankers/{experiment}/seed-{seed}/manifest.json",
        snapshots=expand(
            "results/rankers/{{experiment}}/seed-{{seed}}/snapshots/step-{step}/{model}/model.safetensors",
            step=STUDY.probe.steps,
            model=["R", "S"],
        ),
    log:
        text="results/logs/train_coupled_ranker/{experiment}/seed-{seed}.log",
        parameters="results/logs/train_coupled_ranker/{experiment}/seed-{seed}.json",
    benchmark:
        "results/benchmarks/train_coupled_ranker/{experiment}/seed-{seed}.tsv"
    wildcard_constraints:
        experiment=get_pattern(name for name, e in EXPERIMENTS.items() if e.coupled),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: STUDY.threads * STUDY.processes
    resources:
        mem_mb=get_growing(8000 * STUDY.processes, large=24000 * STUDY.processes),
        runtime=get_growing(240, large=5760),
        cpus_per_task=STUDY.threads * STUDY.processes,
        gpu=get_gpus(STUDY.processes),
    params:
        json=get_training_json,
        options=get_input_options,
    message:
        "Train {wildcards.experiment}, seed {wildcards.seed}, with its selection model ({threads} threads, {resources.gpu} GPUs)"
    shell:
        get_command("train_coupled_ranker")
        + "{params.options} --r {output.r} --s {output.s} "
        "--training {output.training} --timing {output.timing} --manifest {output.manifest} "
        "--snapshots {output.snapshots}"


onsuccess:
    forget_finished()


onerror:
    forget_finished()
