# Helpers of the rules of methods: what trainings, negatives and rankings of halves come from.
HALVED = {name: e for name, e in RANKED.items() if e.halves}


def get_training_inputs(wildcards):
    """Return what an experiment's training reads: tokens, candidates, a first stage if any."""
    experiment = EXPERIMENTS[wildcards.experiment]
    first = experiment.first_stage
    trained = first and f"results/rankers/{first.name}/seed-{wildcards.seed}/R"
    return {
        "tokens": get_tokens(experiment),
        "candidates": f"results/candidates/{naming.candidates_key(STUDY, experiment)}",
        **({"first_stage": f"{trained}/model.safetensors"} if trained else {}),
        **get_gate(experiment),
    }


def get_training_json(wildcards):
    """Return the parameters of one training."""
    return get_json(
        stages.given_training(EXPERIMENTS[wildcards.experiment], int(wildcards.seed))
    )


def get_candidates_inputs(wildcards):
    """Return what a candidates table is made from: for each experiment what its negatives read."""
    experiment = CANDIDATES[wildcards.candidates]
    key = get_collection_key(experiment)
    collection = f"results/collections/{key}"
    pool = f"{collection}/pools/{naming.pool_key(STUDY, experiment.pool)}"
    inputs = {
        "queries": f"{collection}/queries.tsv",
        "documents": f"{collection}/documents.tsv",
        "labels": f"{pool}/labels.qrels",
    }
    if get_knows_truth(experiment.collection):
        inputs["truth"] = f"{collection}/truth.qrels"
    if experiment.retriever:
        retriever = get_retriever_key(experiment.retriever)
        inputs["run"] = f"results/runs/{key}/{retriever}/train.run.gz"
    if experiment.teacher:
        inputs["scores"] = get_scores(experiment)
    if "pool" in experiment.reads:
        inputs["pool"] = f"{pool}/pool.tsv"
    if "rank_relevance" in experiment.reads:
        inputs["rank_relevance"] = get_rank_relevance(experiment)
    return inputs


def get_candidates_json(wildcards):
    """Return the parameters of choosing negatives."""
    chosen = CANDIDATES[wildcards.candidates].parameters["negatives"]
    choices = [negatives.REGISTRY[chosen["name"]]]
    section = STUDY.collections[CANDIDATES[wildcards.candidates].collection]
    left_out = getattr(section, "judged_irrelevant", "negatives") == "left_out"
    told = {"judged_irrelevant": "left_out"} if left_out else {}
    return get_stage_json("build_candidates", choices=choices, **chosen, **told)


def get_scores(experiment):
    """Return the scores of an experiment's teacher."""
    teacher = experiment.parameters["teacher"]
    scored = "" if teacher["scored"] is None else f"-scored-{teacher['scored']}"
    return (
        f"results/scores/{experiment.teacher.name}/seed-{teacher['seed']}/"
        f"{get_retriever_key(experiment.retriever)}."
        f"top-{experiment.parameters['negatives']['depth']}{scored}"
    )


def get_teacher_inputs(wildcards):
    """Return what a teacher's scoring of its candidates reads."""
    experiment = EXPERIMENTS[wildcards.experiment]
    key = get_collection_key(experiment)
    collection = f"results/collections/{key}"
    pool = naming.pool_key(STUDY, experiment.pool)
    return {
        "ranker": f"results/rankers/{wildcards.experiment}/seed-{wildcards.seed}/R/model.safetensors",
        "run": f"results/runs/{key}/{wildcards.retriever}/train.run.gz",
        "queries": f"{collection}/queries.tsv",
        "documents": f"{collection}/documents.tsv",
        "labels": f"{collection}/pools/{pool}/labels.qrels",
        "tokens": get_tokens(experiment),
    }


def get_teacher_json(wildcards):
    """Return the parameters of a teacher's scoring."""
    depth, scored = re.fullmatch(r"top-(\d+)(?:-scored-(\d+))?", wildcards.top).groups()
    experiment = EXPERIMENTS[wildcards.experiment]
    return get_stage_json(
        "score_candidates",
        choices=[models.RANKERS[experiment.parameters["ranker"]["kind"]]],
        depth=int(depth),
        scored=scored and int(scored),
        seed=int(wildcards.seed),
        limits=experiment.limits,
        **{
            name: experiment.parameters[name]
            for name in ("device", "precision", "threads")
        },
    )


def get_rank_relevance(experiment):
    """Return how likely each rank of the run behind an experiment's negatives is relevant."""
    chosen = experiment.parameters["negatives"]
    half = f"-half-{chosen['half']}" if chosen.get("half") else ""
    return (
        f"results/metrics/runs/{get_collection_key(experiment)}/"
        f"{get_retriever_key(experiment.retriever)}/"
        f"{chosen['queries']}.rank-relevance{half}.tsv"
    )


def get_deep(key, split):
    """Return the sets of queries that are judged deeply, where a collection tells them."""
    found = getattr(COLLECTIONS[key], "deep", {}).get(split)
    return {"kinds": found} if found else {}


def get_rank_relevance_json(wildcards):
    """Return the parameters of estimating how likely each rank is relevant."""
    return get_stage_json(
        "estimate_rank_relevance",
        split=wildcards.split,
        half=int(wildcards.half.rpartition("-")[2]) if wildcards.half else None,
        depth=RETRIEVERS[wildcards.retriever].depth,
        **get_deep(wildcards.collection, wildcards.split),
    )


def get_half_rankings(wildcards):
    """Return the rankings of the two rankers of a method that takes each half for the other."""
    return expand(
        "results/rankings/{half}/seed-{seed}/{retriever}/top-{depth}/{split}.run.gz",
        half=[half.name for half in HALVED[wildcards.halved].halves],
        **{name: wildcards[name] for name in ("seed", "retriever", "depth", "split")},
    )


def get_halved_queries(wildcards):
    """Return the queries that a ranking of two halves is about."""
    collection = get_collection_key(HALVED[wildcards.halved])
    return f"results/collections/{collection}/queries.tsv"
