# Helpers of the rules that make tables: which rows, and where their numbers lie.
def get_table_systems(table):
    """Return the systems that a table shows, each with the path of its metrics.

    Tables of methods are about the ranker of the study's first experiment.
    """
    first = ROWS[0].experiment.ranker
    chosen = {
        "table_1": lambda row: row.experiment.ranker == first,
        "table_3": lambda row: row.experiment.ranker == first
        and row.method in table_rows.TABLE_3,
        "table_4": lambda row: row.method in (table_rows.NAIVE, table_rows.CET),
    }
    return get_baselines() if table == "table_2" else get_rankings(chosen[table])


def get_table_inputs(table):
    """Return the input files of a table."""
    return {
        "queries": [
            f"results/collections/{key}/queries.tsv" for key in get_collection_keys()
        ],
        "per_query": [system["path"] for system in get_table_systems(table)],
    }


def get_table_json(table, **parameters):
    """Return the parameters of a table, some of its own among them."""
    used = dict.fromkeys(row.retriever for row in ROWS)
    return get_stage_json(
        table,
        study=STUDY.study,
        split=SPLIT,
        ranker=ROWS[0].experiment.ranker,
        lexical=[name for name in used if STUDY.retrievers[name].kind == "bm25"],
        reason=get_not_run_reason(),
        collections=get_collection_keys(),
        changed={
            row.experiment.name: changed
            for row in ROWS
            if (changed := get_changed(row))
        },
        chosen=get_chosen(),
        systems=pack(get_table_systems(table)),
        **parameters,
    )


def get_not_run_reason():
    """Return why a row that the study does not hold was not run: another study holds it, or none."""
    return STUDY.tables.elsewhere or "not in this study"


def get_missing_rankers():
    """Return the paper's rankers, and for each why it is not run where the study lacks it."""
    return {
        name: reason or get_not_run_reason()
        for name, reason in table_rows.RANKERS.items()
    }


def get_filters():
    """Return the candidates tables of the study's rows: what made each, and its counts' path."""
    found = {}
    for row in ROWS:
        for experiment in row.experiment.halves or (row.experiment,):
            key = naming.candidates_key(STUDY, experiment)
            about = found.setdefault(
                key,
                {
                    "collection": get_collection_key(experiment),
                    "pool": experiment.pool,
                    "retriever": experiment.retriever,
                    "name": experiment.method,
                    "method": experiment.label,
                    "shared": [],
                    "path": get_result(f"results/metrics/candidates/{key}.tsv"),
                },
            )
            if row.method not in about["shared"]:
                about["shared"].append(row.method)
    return list(found.values())


def get_filters_json():
    """Return the parameters of the table of filters."""
    used = dict.fromkeys(row.retriever for row in ROWS)
    return get_stage_json(
        "table_filters",
        study=STUDY.study,
        lexical=[name for name in used if STUDY.retrievers[name].kind == "bm25"],
        reason=get_not_run_reason(),
        collections=get_collection_keys(),
        filters=get_without_path(get_filters()),
    )
