# Official files: the only rules but retrieve_wordnet that need the network.


wildcard_constraints:
    source=get_pattern(SOURCES),


rule retrieve_source:
    """One official file: from the user's folder, or from the first address that gives it."""
    output:
        file="results/sources/{source}",
    log:
        text="results/logs/retrieve_source/{source}.log",
        parameters="results/logs/retrieve_source/{source}.json",
    benchmark:
        "results/benchmarks/retrieve_source/{source}.tsv"
    localrule: True  # compute nodes have no network
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(1000),
        runtime=get_growing(720),
        cpus_per_task=1,
        downloads=1,
    params:
        json=get_source_json,
    message:
        "Retrieve {wildcards.source}"
    shell:
        get_folder_command()
        + get_command("retrieve_source")
        + f"--list {shlex.quote(SOURCES_FILE)} --file {{output.file}}"


rule unpack_source:
    """An official archive unpacked: plain files only, nothing outside its folder."""
    input:
        archive="results/sources/{source}",
    output:
        folder=directory("results/sources/unpacked/{source}"),
    log:
        text="results/logs/unpack_source/{source}.log",
        parameters="results/logs/unpack_source/{source}.json",
    benchmark:
        "results/benchmarks/unpack_source/{source}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(1000),
        runtime=get_growing(240),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json(
            "unpack_source", most_bytes=SOURCES[wildcards.source].most_bytes
        ),
    message:
        "Unpack {wildcards.source}"
    shell:
        get_command("unpack_source")
        + "--archive {input.archive} --folder {output.folder}"


rule bring_run:
    """Runs from files, official or a user's."""
    input:
        queries="results/collections/{collection}/queries.tsv",
        files=get_given_run,
    output:
        train="results/runs/{collection}/{retriever}/train.run.gz",
        dev="results/runs/{collection}/{retriever}/dev.run.gz",
        test="results/runs/{collection}/{retriever}/test.run.gz",
        no_hits="results/runs/{collection}/{retriever}/no_hits.tsv",
        manifest="results/runs/{collection}/{retriever}/manifest.json",
    log:
        text="results/logs/bring_run/{collection}/{retriever}.log",
        parameters="results/logs/bring_run/{collection}/{retriever}.json",
    benchmark:
        "results/benchmarks/bring_run/{collection}/{retriever}.tsv"
    wildcard_constraints:
        retriever=get_pattern(n for n, r in RETRIEVERS.items() if r.kind == "given"),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(4000),
        runtime=get_growing(720),
        cpus_per_task=1,
    params:
        json=get_given_run_json,
    message:
        "Bring in the runs {wildcards.retriever} of {wildcards.collection}"
    shell:
        get_command("bring_run") + "--queries {input.queries} --files {input.files} "
        "--train {output.train} --dev {output.dev} --test {output.test} "
        "--no-hits {output.no_hits} --manifest {output.manifest}"
