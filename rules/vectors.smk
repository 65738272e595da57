# Helpers of retrieval: which retrievers search vectors, and what makes these.
TRAINED = {name: r for name, r in RETRIEVERS.items() if r.kind == "trained"}
SEARCHED = {name: r for name, r in RETRIEVERS.items() if r.vectors}
EXACT = {name: r for name, r in SEARCHED.items() if r.faiss is None}
ENCODERS = {
    f"{r.model}.{r.precision}": r.model_dump(include={"model", "precision"})
    for r in STUDY.retrievers.values()
    if r.kind == "dense"
} | {name: {"precision": r.precision} for name, r in TRAINED.items()}
CHECKPOINTS = {n: r for n, r in RETRIEVERS.items() if r.kind == "checkpoint"}
GIVEN = {"architecture", "lower_case", "query_tokens", "document_tokens", "precision"}
ENCODERS |= {name: r.model_dump(include=GIVEN) for name, r in CHECKPOINTS.items()}


def get_encoder(retriever):
    """Return the folder's name of a retriever's vectors; published ones are one at any depth."""
    if retriever.kind in ("trained", "checkpoint"):
        return naming.folder(retriever)
    return f"{retriever.model}.{retriever.precision}"


def get_vectors(wildcards):
    """Return the vectors that a retriever searches."""
    folder = f"results/encodings/{wildcards.collection}/{get_encoder(RETRIEVERS[wildcards.retriever])}"
    return {
        f"{name}_vectors": f"{folder}/{name}.npy" for name in ("documents", "queries")
    }


def get_encoder_inputs(wildcards):
    """Return what vectors are made from: texts, and the model where the study trained it."""
    folder = f"results/collections/{wildcards.collection}"
    inputs = {
        "documents": f"{folder}/documents.tsv",
        "queries": f"{folder}/queries.tsv",
    }
    if wildcards.encoder in TRAINED:
        inputs["model"] = get_model(wildcards.collection, wildcards.encoder)
    if wildcards.encoder in CHECKPOINTS:
        folder = Path(CHECKPOINTS[wildcards.encoder].folder)
        safe, old = folder / "model.safetensors", folder / "pytorch_model.bin"
        inputs["model"] = str(old if old.exists() and not safe.exists() else safe)
    return inputs


def get_model(collection, retriever):
    """Return the weights of a trained retriever."""
    return f"results/retrievers/{collection}/{retriever}/model/model.safetensors"


def get_search_memory(wildcards):
    """Return the memory that a search's arrays may take, MB."""
    return RETRIEVERS[wildcards.retriever].memory


def get_search_job_memory(wildcards, attempt):
    """Return the memory of a search's job, MB: its arrays, ids and the program."""
    return (get_search_memory(wildcards) + 3000) * attempt
