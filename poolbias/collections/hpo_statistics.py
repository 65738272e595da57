"""What the statistics of the collection `hpo` tell: of the file, of the queries, of the splits."""

from typing import Any

import pandas as pd

from poolbias.collections.phenotypes import (
    PHENOTYPIC_ABNORMALITY,
    Phenotypes,
    exact_texts,
    folded,
    layperson_texts,
    plain,
    pool_parts,
)
from poolbias.files import sha256_of
from poolbias.formats.obo import Term


def file_statistics(phenotypes: Phenotypes) -> dict[str, Any]:
    """Return what the whole file holds, and how often a decision touched it."""
    live, documents = phenotypes.terms.values(), phenotypes.documents.values()
    texts = [text for term in live for text in _texts_of(term)]
    layperson = [exact_texts(term, layperson=True) for term in live]
    return {
        "release": " ".join(phenotypes.ontology.header.get("data-version", ["none"])),
        "sha256": sha256_of(phenotypes.ontology.path),
        "live_terms": len(live),
        "obsolete_terms": len(phenotypes.ontology.terms) - len(live),
        "documents": len(documents),
        "empty_definitions": sum(
            term.definition is not None and not plain(term.definition) for term in live
        ),
        "texts_with_white_space_normalised": sum(text != plain(text) for text in texts),
        "layperson_equal_to_name": sum(map(len, layperson))
        - sum(len(layperson_texts(term)) for term in live),
        "pool_synonyms_left_out_as_repeats": sum(
            1 + len(exact_texts(term, layperson=False)) - len(pool_parts(term))
            for term in documents
        ),
    }


def query_statistics(phenotypes: Phenotypes, queries: pd.DataFrame) -> dict[str, Any]:
    """Return counts of the queries and, for the splits, how close test and training terms lie.

    Args:
        phenotypes: the ontology, or the part of it, that the queries come from.
        queries: columns `query_id`, `text`, `split`, `group` (the term's id), `kind`.
    """
    counts = queries["group"].map({name: len(ids) for name, ids in phenotypes.relevant.items()})
    groups = queries.drop_duplicates("group").set_index("group")["split"]
    train, test = (set(groups.index[groups == split]) for split in ("train", "test"))
    under = {term_id for above in train for term_id in phenotypes.below[above] if term_id != above}
    over = {term_id for term_id in test if phenotypes.below[term_id] & train}
    in_pool = [
        folded(text) in {folded(part) for part in pool_parts(phenotypes.terms[term_id])}
        for text, term_id in zip(queries["text"], queries["group"], strict=True)
    ]
    return {
        "queries": len(queries),
        "terms": len(groups),
        "queries_by_kind": _counts(queries["kind"]),
        "queries_by_split": _counts(queries["split"]),
        "terms_by_split": _counts(groups),
        "share_of_terms_by_split": _shares(groups),
        "share_of_queries_by_split": _shares(queries["split"]),
        "relevant_documents_per_query_mean": float(counts.mean()),
        "relevant_documents_per_query_median": float(counts.median()),
        "queries_without_own_document": int((~queries["group"].isin(phenotypes.documents)).sum()),
        "queries_repeating_a_text": int(queries["text"].map(folded).duplicated().sum()),
        "layperson_in_own_pool_document": sum(
            found
            for found, kind in zip(in_pool, queries["kind"], strict=True)
            if kind == "layperson"
        ),
        "terms_outside_phenotypic_abnormality": sum(
            term_id not in phenotypes.below.get(PHENOTYPIC_ABNORMALITY, ())
            for term_id in groups.index
        ),
        "terms_under_several_branches": sum(
            len(phenotypes.branches[term_id]) > 1 for term_id in groups.index
        ),
        "share_of_test_terms_below_training": len(test & under) / max(1, len(test)),
        "share_of_test_terms_above_training": len(over) / max(1, len(test)),
    }


def _counts(values: pd.Series) -> dict[str, int]:
    return {str(name): int(number) for name, number in values.value_counts().items()}


def _shares(values: pd.Series) -> dict[str, float]:
    return {name: number / len(values) for name, number in _counts(values).items()}


def _texts_of(term: Term) -> list[str]:
    exact = [synonym.text for synonym in term.synonyms if synonym.scope == "EXACT"]
    return [term.name, term.definition or "", *exact]
