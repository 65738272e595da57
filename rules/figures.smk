# Figures: redrawn from metrics alone.


rule figure_1:
    """Figure 1: the recall of retrievers beside the MRR@10 of naive rankers trained on them."""
    input:
        **get_figure_1_inputs(),
    output:
        pdf=f"results/{STUDY.study}/figures/figure_1.pdf",
        svg=f"results/{STUDY.study}/figures/figure_1.svg",
        png=f"results/{STUDY.study}/figures/figure_1.png",
        table=f"results/{STUDY.study}/figures/figure_1.tsv",
        manifest=f"results/{STUDY.study}/figures/figure_1.manifest.json",
    log:
        text=f"results/logs/figure_1/{STUDY.study}.log",
        parameters=f"results/logs/figure_1/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/figure_1/{STUDY.study}.tsv"
    priority: 3  # the first figure is there before coupled rankers are trained
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_figure_1_json(),
        paper_tables_hash=sha256_of(
            Path(workflow.basedir) / "config" / "paper_tables.tsv"
        ),
    message:
        "Draw Figure 1"
    shell:
        get_command("figure_1")
        + '--paper-tables "$POOLBIAS_ROOT"/config/paper_tables.tsv '
        "--queries {input.queries} "
        "--recall {input.recall} --rankings {input.rankings} --shares {input.shares} "
        "--pdf {output.pdf} --svg {output.svg} --png {output.png} --table {output.table} "
        "--manifest {output.manifest}"


rule figure_3:
    """Figure 3: rankers trained with and without CET on the negatives of each retriever."""
    input:
        queries=get_queries(get_collection_keys()),
        per_query=[system["path"] for system in get_figure_3_systems()],
    output:
        pdf=f"results/{STUDY.study}/figures/figure_3.pdf",
        svg=f"results/{STUDY.study}/figures/figure_3.svg",
        png=f"results/{STUDY.study}/figures/figure_3.png",
        table=f"results/{STUDY.study}/figures/figure_3.tsv",
        manifest=f"results/{STUDY.study}/figures/figure_3.manifest.json",
    log:
        text=f"results/logs/figure_3/{STUDY.study}.log",
        parameters=f"results/logs/figure_3/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/figure_3/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_figure_3_json(),
        paper_tables_hash=get_paper_tables_hash(),
    message:
        "Draw Figure 3"
    shell:
        get_command("figure_3")
        + '--paper-tables "$POOLBIAS_ROOT"/config/paper_tables.tsv '
        "--queries {input.queries} --per-query {input.per_query} "
        "--pdf {output.pdf} --svg {output.svg} --png {output.png} --table {output.table} "
        "--manifest {output.manifest}"


rule figure_4:
    """Figure 4: MRR@10 over the values of CET's τ and of RocketQA's η."""
    input:
        queries=get_queries([get_collection_key(get_reference().experiment)]),
        per_query=[system["path"] for system in get_systems(get_figure_4_rows())],
    output:
        pdf=f"results/{STUDY.study}/figures/figure_4.pdf",
        svg=f"results/{STUDY.study}/figures/figure_4.svg",
        png=f"results/{STUDY.study}/figures/figure_4.png",
        table=f"results/{STUDY.study}/figures/figure_4.tsv",
        manifest=f"results/{STUDY.study}/figures/figure_4.manifest.json",
    log:
        text=f"results/logs/figure_4/{STUDY.study}.log",
        parameters=f"results/logs/figure_4/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/figure_4/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_figure_4_json(),
        paper_tables_hash=get_paper_tables_hash(),
    message:
        "Draw Figure 4"
    shell:
        get_command("figure_4")
        + '--paper-tables "$POOLBIAS_ROOT"/config/paper_tables.tsv '
        "--queries {input.queries} --per-query {input.per_query} "
        "--pdf {output.pdf} --svg {output.svg} --png {output.png} --table {output.table} "
        "--manifest {output.manifest}"


rule figure_5:
    """Figure 5: the weights of CET against relevance: one query, over training, all queries."""
    input:
        premises=rules.measure_premises.output.premises,
        queries=get_queries([get_collection_key(get_reference().experiment)]),
        probes=[probe["path"] for probe in get_probes()],
        trainings=[probe["training"] for probe in get_probes()],
    output:
        pdf=f"results/{STUDY.study}/figures/figure_5.pdf",
        svg=f"results/{STUDY.study}/figures/figure_5.svg",
        png=f"results/{STUDY.study}/figures/figure_5.png",
        table=f"results/{STUDY.study}/figures/figure_5.tsv",
        manifest=f"results/{STUDY.study}/figures/figure_5.manifest.json",
    log:
        text=f"results/logs/figure_5/{STUDY.study}.log",
        parameters=f"results/logs/figure_5/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/figure_5/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_figure_5_json(),
        paper_tables_hash=get_paper_tables_hash(),
    message:
        "Draw Figure 5"
    shell:
        get_command("figure_5")
        + '--paper-tables "$POOLBIAS_ROOT"/config/paper_tables.tsv '
        "--premises {input.premises} --queries {input.queries} "
        "--probes {input.probes} --trainings {input.trainings} "
        "--pdf {output.pdf} --svg {output.svg} --png {output.png} --table {output.table} "
        "--manifest {output.manifest}"
