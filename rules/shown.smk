# Helpers of figures 3 to 5: which of the study's rows each shows.
COUPLED = [row for row in ROWS if row.method == "cet"]


def get_alike(reference):
    """Return the rows on a row's collection, pool and ranker, by retriever and label.

    Of several with one label (they differ in their training), it is the first of the study.
    """
    about = ("collection", "pool", "ranker")
    found = {}
    for row in ROWS:
        if all(
            getattr(row.experiment, name) == getattr(reference.experiment, name)
            for name in about
        ):
            found.setdefault((row.retriever, row.label), row)
    return found


def get_systems(rows):
    """Return the systems of some rows of the study, as `get_rankings` tells them."""
    chosen = {(row.experiment.name, row.retriever, row.label) for row in rows}
    return get_rankings(
        lambda row: (row.experiment.name, row.retriever, row.label) in chosen
    )


def get_paper_tables_hash():
    """Return the hash of the numbers that the paper prints: they are no input file."""
    return sha256_of(Path(workflow.basedir) / "config" / "paper_tables.tsv")


def get_figure_3_systems():
    """Return the systems of Figure 3: per collection those alike to its first row."""
    figure = STUDY.figures.figure_3
    references = {}
    for row in ROWS:
        references.setdefault(row.experiment.collection, row)
    rows = [
        row
        for reference in references.values()
        for (retriever, label), row in get_alike(reference).items()
        if label in figure.methods and retriever in get_figure_3_retrievers()
    ]
    return get_systems(rows)


def get_figure_3_retrievers():
    """Return the retrievers of Figure 3: those of its section, or all that are re-ranked."""
    named = STUDY.figures.figure_3.retrievers
    return named or list(dict.fromkeys(row.retriever for row in ROWS))


def get_figure_3_json():
    """Return the parameters of Figure 3."""
    return get_stage_json(
        "figure_3",
        collections=get_collection_keys(),
        systems=get_without_path(get_figure_3_systems()),
        **STUDY.figures.figure_3.model_dump(exclude={"retrievers"}),
        retrievers=get_figure_3_retrievers(),
    )


def get_reference():
    """Return the row that figures 4 and 5 are about: the first coupled one, or the first."""
    return (COUPLED or ROWS)[0]


def get_point(row):
    """Return the series, option and value of a row of Figure 4, or None if it is no point.

    A point has the standard values of all options but this one: its label tells no other.
    """
    parameters = row.experiment.parameters
    if row.method == "cet":
        form, value = (parameters["weight"][name] for name in ("form", "temperature"))
        series, option = f"cet-{form}", "temperature"
        label = f"{series}-tau{value:g}"
    elif row.method == "rocketqa":
        chosen = parameters["negatives"]
        option = "eta" if chosen["share_removed"] is None else "share_removed"
        series, value = f"rocketqa-{chosen['scale']}", chosen[option]
        mark = {"eta": "eta", "share_removed": "removed"}[option]
        label = f"{series}-{mark}{value:g}"
    else:
        return None
    return (series, option, value) if label == row.label else None


def get_figure_4_rows():
    """Return the rows of Figure 4: the points, and the naive ranker."""
    reference = get_reference()
    shown = STUDY.figures.figure_4.retriever or reference.retriever
    return [
        row
        for (retriever, label), row in get_alike(reference).items()
        if retriever == shown and (label == "naive" or get_point(row))
    ]


def get_figure_4_systems():
    """Return the systems of Figure 4, on the first set of evaluated queries."""
    about, _ = get_first_set(get_reference().experiment.collection)
    return [s for s in get_systems(get_figure_4_rows()) if s["collection"] == about]


def get_figure_4_json():
    """Return the parameters of Figure 4."""
    rows = get_figure_4_rows()
    return get_stage_json(
        "figure_4",
        collection=get_first_set(get_reference().experiment.collection)[0],
        measure=STUDY.figures.figure_4.measure,
        systems=get_without_path(get_figure_4_systems()),
        points=[
            [row.experiment.name, *point] for row in rows if (point := get_point(row))
        ],
    )


def get_probes():
    """Return what Figure 5 and the premises look at: coupled rankers, each with its files."""
    figure = STUDY.figures.figure_5
    reference = get_reference()
    shown = figure.retriever or reference.retriever
    key = hash_of(
        [STUDY.probe.model_dump(exclude={"depth"}), STUDY.figures.figure_5.query]
    )
    return [
        {
            "experiment": row.experiment.name,
            "retriever": row.retriever,
            "pool": row.experiment.pool,
            "method": row.label,
            "seed": seed,
            "path": get_result(
                f"results/probes/{row.experiment.name}/seed-{seed}/"
                f"top-{STUDY.probe.depth}-{key}/{SPLIT}.tsv.gz"
            ),
            "training": get_result(
                f"results/rankers/{row.experiment.name}/seed-{seed}/training.tsv"
            ),
        }
        for (retriever, label), row in get_alike(reference).items()
        if retriever == shown and label in figure.methods and row.experiment.coupled
        for seed in STUDY.seeds
    ]


def get_probed_systems():
    """Return what each probe is of."""
    names = ("experiment", "retriever", "pool", "method", "seed")
    return [{name: probe[name] for name in names} for probe in get_probes()]


def get_probe_steps(experiment):
    """Return the steps at which a coupled training is probed: those of the study, and its last."""
    last = experiment.parameters["training"]["steps"]
    return sorted({step for step in STUDY.probe.steps if step < last} | {last})


def get_probe_models(experiment, seed, name):
    """Return the files of R or S at each step that is probed; the last is the trained model."""
    folder = f"results/rankers/{experiment.name}/seed-{seed}"
    *earlier, _ = get_probe_steps(experiment)
    snapshots = [f"snapshots/step-{step}/{name}" for step in earlier]
    return [f"{folder}/{part}/model.safetensors" for part in [*snapshots, name]]


def get_probe_inputs(wildcards):
    """Return what a probe reads: both models, the run, and what is known of its documents."""
    experiment = EXPERIMENTS[wildcards.experiment]
    key = get_collection_key(experiment)
    collection = f"results/collections/{key}"
    pool = f"{collection}/pools/{naming.pool_key(STUDY, experiment.pool)}"
    retriever = get_retriever_key(experiment.retriever)
    return {
        "r": get_probe_models(experiment, wildcards.seed, "R"),
        "s": get_probe_models(experiment, wildcards.seed, "S"),
        "run": f"results/runs/{key}/{retriever}/{wildcards.split}.run.gz",
        "queries": f"{collection}/queries.tsv",
        "documents": f"{collection}/documents.tsv",
        "truth": f"{collection}/truth.qrels",
        "labels": f"{pool}/labels.qrels",
        "pool": f"{pool}/pool.tsv",
        "tokens": get_tokens(experiment),
    }


def get_probe_json(wildcards):
    """Return the parameters of a probe."""
    experiment = EXPERIMENTS[wildcards.experiment]
    weight = experiment.parameters["weight"]
    return get_stage_json(
        "probe_weights",
        choices=[models.RANKERS[experiment.parameters["ranker"]["kind"]]],
        steps=get_probe_steps(experiment),
        depth=STUDY.probe.depth,
        sample=STUDY.probe.sample,
        query=STUDY.figures.figure_5.query,
        limits=experiment.limits,
        **{name: weight[name] for name in ("form", "temperature")},
        **{
            name: experiment.parameters[name]
            for name in ("device", "precision", "threads")
        },
    )


def get_figure_5_json():
    """Return the parameters of Figure 5."""
    return get_stage_json(
        "figure_5",
        systems=get_probed_systems(),
        depth=STUDY.probe.depth,
        **STUDY.figures.figure_5.model_dump(include={"methods", "query"}),
    )
