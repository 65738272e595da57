# Helpers of collections with judgements of their own: their files, their sets of test queries.
import shlex

from poolbias import sources
from poolbias.config import given_runs
from poolbias.sources import read_sources


def get_collection_sources(wildcards):
    """Return the files that a collection is made from, but for those of installed packages."""
    collection = COLLECTIONS[wildcards.collection]
    if isinstance(collection, Given):
        return get_given_sources(collection)
    if collection.kind != "wordnet":
        return []
    try:
        found = wordnet.find_database(collection.folder)
    except PoolbiasError as error:
        raise WorkflowError(str(error)) from None
    here = [f"results/sources/wordnet-3.0/{name}" for name in wordnet.FILES]
    return [str(path) for path in found or here]


def get_collection_json(wildcards):
    """Return the parameters of building a collection."""
    collection = COLLECTIONS[wildcards.collection]
    return get_stage_json(
        "build_collection", choices=[KINDS[collection.kind]], **collection.model_dump()
    )


def get_given_sources(collection):
    """Return the files of a collection with judgements: official ones, or the user's."""
    files = []
    for what, path in getattr(collection, "files", {}).items():
        found = [name for name in (path, f"{path}.gz") if Path(name).is_file()]
        if found:
            files.append(found[0])
        elif not what.endswith("?"):
            raise WorkflowError(
                f"collections: found no {path} (nor {path}.gz), which a collection of kind "
                f"{collection.kind} needs; correct the study file."
            )
    official = collection.sources
    for name in [name.rstrip("/") for name in official]:
        if name not in SOURCES:
            raise WorkflowError(
                f"{SOURCES_FILE}: lists no {name}, which a collection of kind {collection.kind} "
                "needs; add it."
            )
    return files + [
        (
            f"results/sources/unpacked/{name.rstrip('/')}"
            if name.endswith("/")
            else f"results/sources/{name}"
        )
        for name in official
    ]


def get_sources_file():
    """Return the list of official files."""
    default = Path(workflow.basedir) / "config" / "sources.yaml"
    return str(STUDY.sources.file or default)


def get_sources():
    """Return the official files by name."""
    try:
        return read_sources(get_sources_file())
    except PoolbiasError as error:
        raise WorkflowError(str(error)) from None


SOURCES_FILE = get_sources_file()
SOURCES = get_sources()


def get_source_json(wildcards):
    """Return what says which bytes of an official file are right; not how it is fetched.

    A file that is there does not come anew because an address or the code that fetches changed.
    """
    told = sources.parameters_of(SOURCES[wildcards.source])
    return get_json({name: told[name] for name in ("size", "hash")})


def get_folder_command():
    """Return how a command tells of the user's folder: no parameter, since it changes no bytes."""
    folder = STUDY.sources.folder
    return f"export POOLBIAS_SOURCES={shlex.quote(folder)} && " if folder else ""


def get_sets(collection):
    """Return the names of a collection's sets of evaluated queries, each with its mark in paths.

    A collection of several test sets stands in tables as one collection each.
    """
    section = STUDY.collections[collection]
    key = naming.folder(section)
    sets = getattr(section, "sets", {}) if SPLIT == "test" else {}
    if not sets:
        return {key: ""}
    alike = [c for c in STUDY.collections.values() if c.kind == section.kind]
    mark = f"-{key}" if len(alike) > 1 else ""
    return {f"{name}{mark}": f".{kind}" for kind, name in sets.items()}


def get_depth(collection):
    """Return how many documents of a run are re-ranked on a collection."""
    own = getattr(STUDY.collections[collection], "reranked", None)
    return own or STUDY.evaluation.depth


def get_first_set(collection):
    """Return the name and the mark of a collection's first set of evaluated queries."""
    return next(iter(get_sets(collection).items()))


def get_knows_truth(collection):
    """Return whether all that is relevant to a training query of a collection is known."""
    return getattr(STUDY.collections[collection], "knows_truth", True)


FOLDERS = {
    name: naming.folder(STUDY.collections[c])
    for c in STUDY.collections
    for name in get_sets(c)
}


def get_labels_json(wildcards):
    """Return the parameters of labelling: the annotators', or the grades that are labels."""
    pool = POOLS[wildcards.pool].model_dump(exclude={"retrievers"})
    section = COLLECTIONS[wildcards.collection]
    own = isinstance(section, Given) and not POOLS[wildcards.pool].retrievers
    return get_stage_json(
        "build_labels",
        **pool,
        **({"relevant_from": section.relevant_from} if own else {}),
    )


def get_given_run(wildcards):
    """Return the files of a run that nobody searches for."""
    retriever, section = (
        RETRIEVERS[wildcards.retriever],
        COLLECTIONS[wildcards.collection],
    )
    if retriever.official:
        names = given_runs.sources(section.kind, [*section.test, *section.dev_sets])
        return [f"results/sources/{name}" for name in names]
    found = sorted(Path(retriever.folder).glob(f"{section.kind}.*"))
    if not found:  # a dry run is possible without them; the job then says so and fails
        logger.warning(
            f"retrievers: found no {retriever.folder}/{section.kind}.*, need the runs of the "
            f"collection of kind {section.kind} there before any job reads them."
        )
    return [str(path) for path in found]


def get_given_run_json(wildcards):
    """Return the parameters of bringing in a run."""
    retriever = RETRIEVERS[wildcards.retriever]
    kind = COLLECTIONS[wildcards.collection].kind
    return get_stage_json(
        "bring_run",
        depth=retriever.depth,
        ranked=given_runs.is_ranked(retriever, kind),
        tag=given_runs.name_of(retriever, kind),
    )


SHARDED = {
    key: section.shards
    for key, section in COLLECTIONS.items()
    if getattr(section, "shards", 1) > 1
}


def get_token_shards(wildcards):
    """Return the shards of a large collection's tokens, in order."""
    shards = SHARDED[wildcards.collection]
    folder = f"results/tokens/{wildcards.collection}/shards/{wildcards.tokenizer}"
    return [f"{folder}/{number}-of-{shards}" for number in range(shards)]


def is_large(wildcards):
    """Return whether a job is about an official collection: one made from official files."""
    held = dict(wildcards.items())
    if "candidates" in held:
        key = get_collection_key(CANDIDATES[held["candidates"]])
    elif "experiment" in held:
        key = get_collection_key(RANKED[held["experiment"]])
    elif "ranked" in held:
        kind, name = held["ranked"].split("/")[:2]
        key = name if kind == "runs" else get_collection_key(RANKED[name])
    else:
        key = held.get("collection")
    return bool(getattr(COLLECTIONS.get(key), "sources", []))
