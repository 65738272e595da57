# Helpers of the rule that chooses configurations on dev.
def get_changed(row):
    """Return the settings of a row's training that are not the study's, in words."""
    own, common = row.experiment.parameters["training"], STUDY.training.model_dump()
    return ", ".join(
        f"{name} {value}" for name, value in own.items() if value != common[name]
    )


def get_labelled_rankings():
    """Return the systems of the study's rows by labels, with the paths of their metrics."""
    return [row for row in get_rankings() if row["judgements"] == "labels"]


def get_tuning_inputs(wildcards):
    """Return what settings are chosen by: metrics by labels, and the queries' groups."""
    if STUDY.tuning is None:
        raise WorkflowError(
            "choose_configurations: this study chooses no settings, need the section `tuning`; "
            "use config/hpo-tuning.yaml, or add it to a study of dev."
        )
    return {
        "queries": [
            f"results/collections/{key}/queries.tsv" for key in get_collection_keys()
        ],
        "per_query": [system["path"] for system in get_labelled_rankings()],
    }


def get_tuning_json(wildcards):
    """Return the parameters of choosing settings."""
    return get_stage_json(
        "choose_configurations",
        measure=STUDY.tuning.measure,
        collections=get_collection_keys(),
        systems=pack(get_labelled_rankings()),
        families=[
            {
                "experiment": row.experiment.name,
                "retriever": row.retriever,
                "family": tuning.family(
                    row.method, row.experiment.parameters["weight"]
                ),
                "changed": get_changed(row),
            }
            for row in ROWS
        ],
    )


def get_chosen():
    """Return the experiments that the study named by `tables.chosen_by` chose, or none yet.

    Its table is looked for among the results, then among the published ones.
    """
    study = STUDY.tables.chosen_by
    folders = [Path("results"), Path(workflow.basedir) / "docs" / "results"]
    for folder in folders if study else ():
        path = folder / study / "configurations.tsv"
        if path.is_file():
            table = read_table(path, ["experiment", "chosen"])
            return table.loc[table["chosen"] == "yes", "experiment"].tolist()
    return []
