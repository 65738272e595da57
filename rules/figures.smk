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
        mem_mb=2000,
        runtime=10,
        cpus_per_task=1,
    params:
        json=get_figure_1_json(),
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
