# The report: one page of all results.


rule report:
    """One self-contained page: verdicts, figures, tables, and the files behind every number."""
    input:
        claims=rules.claims.output.table,
        summary=rules.summarise_metrics.output.summary,
        drawings=get_report_figures()["svg"],
        figures=get_report_figures()["table"],
        tables=get_report_tables()["table"],
        manifests=[
            rules.claims.output.manifest,
            rules.summarise_metrics.output.manifest,
            *get_report_figures()["manifest"],
            *get_report_tables()["manifest"],
        ],
    output:
        page=f"results/{STUDY.study}/report.html",
    log:
        text=f"results/logs/report/{STUDY.study}.log",
        parameters=f"results/logs/report/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/report/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json(
            "report",
            study=STUDY.study,
            settings=json.dumps(STUDY.model_dump(mode="json")),
            systems=pack(get_measured()),
            marks=[MEASURES, DEPTHS],
        ),
        made_with=get_report_hash(),
    message:
        "Make the report"
    shell:
        get_command("report")
        + "--claims {input.claims} --summary {input.summary} --drawings {input.drawings} "
        "--figures {input.figures} --tables {input.tables} --manifests {input.manifests} "
        '--differences "$POOLBIAS_ROOT"/docs/differences.md --page {output.page}'
