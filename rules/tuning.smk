# Tuning: one setting of each method, chosen on dev by labels.
from poolbias.evaluation.listing import pack


rule choose_configurations:
    """The setting of each method with the highest mean by labels on dev."""
    input:
        unpack(get_tuning_inputs),
    output:
        table=f"results/{STUDY.study}/configurations.tsv",
        manifest=f"results/{STUDY.study}/configurations.manifest.json",
    log:
        text=f"results/logs/choose_configurations/{STUDY.study}.log",
        parameters=f"results/logs/choose_configurations/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/choose_configurations/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=get_tuning_json,
    message:
        "Choose the setting of each method"
    shell:
        get_command("choose_configurations")
        + "--queries {input.queries} --table {output.table} --manifest {output.manifest}"
