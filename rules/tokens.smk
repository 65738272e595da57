# The token store of large collections, in parts side by side.


wildcard_constraints:
    number=r"\d+",
    shards=r"\d+",


rule build_token_shard:
    """Token ids of one part of a large collection's documents."""
    input:
        documents="results/collections/{collection}/documents.tsv",
    output:
        shard=directory(
            "results/tokens/{collection}/shards/{tokenizer}/{number}-of-{shards}"
        ),
    log:
        text="results/logs/build_token_shard/{collection}/{tokenizer}/{number}-of-{shards}.log",
        parameters="results/logs/build_token_shard/{collection}/{tokenizer}/{number}-of-{shards}.json",
    benchmark:
        "results/benchmarks/build_token_shard/{collection}/{tokenizer}/{number}-of-{shards}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(120),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json(
            "build_token_shard",
            start=wildcards.tokenizer,
            number=int(wildcards.number),
            shards=int(wildcards.shards),
        ),
    message:
        "Tokenise part {wildcards.number} of {wildcards.shards} of {wildcards.collection}"
    shell:
        get_command("build_token_shard")
        + "--documents {input.documents} --shard {output.shard}"


rule join_tokens:
    """The shards of a large collection as one token store."""
    input:
        queries="results/collections/{collection}/queries.tsv",
        shards=get_token_shards,
    output:
        tokens=directory("results/tokens/{collection}/{tokenizer}"),
    log:
        text="results/logs/join_tokens/{collection}/{tokenizer}.log",
        parameters="results/logs/join_tokens/{collection}/{tokenizer}.json",
    benchmark:
        "results/benchmarks/join_tokens/{collection}/{tokenizer}.tsv"
    wildcard_constraints:
        collection=get_pattern(SHARDED),
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(120),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_stage_json("join_tokens", start=wildcards.tokenizer),
    message:
        "Join the tokens of {wildcards.collection}"
    shell:
        get_command("join_tokens")
        + "--queries {input.queries} --shards {input.shards} --tokens {output.tokens}"
