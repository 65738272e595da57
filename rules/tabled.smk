# Helpers of the rules that make tables: which rows, and where their numbers lie.
def get_table_systems(table):
    """Return the systems that a table shows, each with the path of its metrics.

    Tables of methods are about the ranker of the study's first experiment; Table 3 is about
    DuReader_retrieval and its first ranker, where the study has that collection. Table 4, whose
    measures look at 100 ranks, leaves out collections that are re-ranked less deep than others.
    """
    first, third = get_ranker_name(ROWS[0]), get_table_3_rows()
    chosen = {
        "table_1": lambda row: get_ranker_name(row) == first,
        "table_3": lambda row: row in third and row.method in table_rows.TABLE_3,
        "table_4": lambda row: row.method in (table_rows.NAIVE, table_rows.CET)
        and get_depth(row.experiment.collection) >= min(100, STUDY.evaluation.depth),
    }
    return get_baselines() if table == "table_2" else get_rankings(chosen[table])


def get_table_3_rows():
    """Return the rows that Table 3 is about: one ranker's, on DuReader_retrieval if it is there."""
    chinese = [
        row
        for row in ROWS
        if STUDY.collections[row.experiment.collection].kind == "dureader-retrieval"
    ]
    rows = chinese or ROWS
    return [row for row in rows if get_ranker_name(row) == get_ranker_name(rows[0])]


def get_table_inputs(table):
    """Return the input files of a table."""
    return {
        "queries": get_queries(get_collection_keys()),
        "per_query": [system["path"] for system in get_table_systems(table)],
    }


def get_table_json(table, **parameters):
    """Return the parameters of a table, some of its own among them."""
    used = dict.fromkeys(row.retriever for row in ROWS)
    return get_stage_json(
        table,
        study=STUDY.study,
        split=SPLIT,
        ranker=get_ranker_name((get_table_3_rows() if table == "table_3" else ROWS)[0]),
        lexical=get_lexical(used),
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


def get_lexical(names):
    """Return those retrievers that match terms: BM25, and the official runs."""
    held = {name: STUDY.retrievers[name] for name in names}
    return [
        n for n, r in held.items() if r.kind == "bm25" or getattr(r, "official", None)
    ]


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
                    "collection": get_first_set(experiment.collection)[0],
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
        lexical=get_lexical(used),
        reason=get_not_run_reason(),
        collections=get_collection_keys(),
        filters=get_without_path(get_filters()),
    )
