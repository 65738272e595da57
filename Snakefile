# The study as a table of contents. Targets: `snakemake --list`; settings: config/README.md.
from snakemake.utils import min_version

min_version("9.20")


include: "rules/common.smk"
include: "rules/given.smk"
include: "rules/inputs.smk"
include: "rules/methods.smk"
include: "rules/sources.smk"
include: "rules/collections.smk"
include: "rules/tokens.smk"
include: "rules/vectors.smk"
include: "rules/searched.smk"
include: "rules/retrieval.smk"
include: "rules/shards.smk"
include: "rules/retrievers.smk"
include: "rules/negatives.smk"
include: "rules/training.smk"
include: "rules/ranking.smk"
include: "rules/evaluation.smk"
include: "rules/chosen.smk"
include: "rules/tuning.smk"
include: "rules/shown.smk"
include: "rules/probe.smk"
include: "rules/figures.smk"
include: "rules/tabled.smk"
include: "rules/tables.smk"
include: "rules/measured.smk"
include: "rules/claims.smk"
include: "rules/filters.smk"
include: "rules/report.smk"


# Light enough for a login node: they read tables and draw. On one machine this changes nothing.
localrules:
    choose_configurations,
    claims,
    figure_1,
    figure_3,
    figure_4,
    figure_5,
    join_halves,
    measure_premises,
    report,
    summarise_metrics,
    table_1,
    table_2,
    table_3,
    table_4,
    table_filters,


rule figures:
    """Every figure of the study; redraws without retraining."""
    input:
        rules.figure_1.output,
        rules.figure_3.output,
        rules.figure_4.output,
        rules.figure_5.output,
    localrule: True


rule tables:
    """Every table of the study; remade without retraining."""
    input:
        rules.table_1.output,
        rules.table_2.output,
        rules.table_3.output,
        rules.table_4.output,
        rules.table_filters.output,
    localrule: True


rule all:
    """Everything that the study file asks for (the default)."""
    default_target: True
    input:
        rules.figures.input,
        rules.tables.input,
        rules.summarise_metrics.output,
        rules.measure_premises.output,
        rules.claims.output,
        rules.report.output,
    localrule: True


rule cost:
    """What the study takes before anyone pays: GPU hours, disk and memory, by table."""
    log:
        text="results/logs/cost/cost.log",
    localrule: True
    conda:
        "workflow/envs/poolbias.yaml"
    params:
        overrides=get_json(dict(workflow.config_settings.config or {})),
        configfile=get_configfile(),
    shell:
        "python -m poolbias cost --configfile {params.configfile:q} "
        "--overrides {params.overrides:q} 2>&1 | tee {log.text}"


rule doctor:
    """What this machine lacks for the study, and how to mend it; fails if it cannot run."""
    log:
        text="results/logs/doctor/doctor.log",
    localrule: True
    conda:
        "workflow/envs/poolbias.yaml"
    params:
        overrides=get_json(dict(workflow.config_settings.config or {})),
        configfile=get_configfile(),
    shell:
        "python -m poolbias doctor --configfile {params.configfile:q} "
        "--overrides {params.overrides:q} 2>&1 | tee {log.text}"


include: "rules/sharing.smk"
