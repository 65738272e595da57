# The study as a table of contents. Targets: `snakemake --list`; settings: config/README.md.
from snakemake.utils import min_version

min_version("9.20")


include: "rules/common.smk"
include: "rules/inputs.smk"
include: "rules/collections.smk"
include: "rules/retrieval.smk"
include: "rules/negatives.smk"
include: "rules/training.smk"
include: "rules/ranking.smk"
include: "rules/evaluation.smk"
include: "rules/figures.smk"


rule figures:
    """Every figure of the study; redraws without retraining."""
    input:
        rules.figure_1.output,
    localrule: True


rule all:
    """Everything that the study file asks for (the default)."""
    default_target: True
    input:
        rules.figures.input,
        rules.summarise_metrics.output,
    localrule: True
