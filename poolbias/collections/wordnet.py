"""WordNet's nouns as a retrieval collection whose relevance is complete.

Source: `data.noun` and `index.noun` of WordNet 3.0, from a folder that the study file names, from
Debian's package wordnet-base, or from the official archive. Documents are all noun synsets,
`lemmas: gloss`; queries are the synsets with 8 to 200 hyponyms, by the first lemma and that of the
first hypernym, `hunting dog (dog)`; relevant to a query are all its hyponyms, at any depth. What
this leaves open is settled here, is our choice, and is counted in `statistics`:

- Instances count as hyponyms (`instances: true`; an instance "is a specific form of hyponym", says
  wngloss(7WN) of WordNet 3.0): the Amazon is relevant to "river" (`instance_pointers`). Without
  them (`false`) they are documents that are relevant to nothing.
- A synset is not among its own hyponyms, so that its document is irrelevant to its query, although
  it names it; with `own_document: true` it is relevant too, and counts for no bound.
- Where two synsets share lemma and first hypernym's lemma their queries have one text and different
  truths; they stay (`queries_repeating_a_text`).
- The annotators' search reads no gloss: a synset's lemmas and those of its direct hypernyms, once
  each but for case. The compared retrievers share the lemmas with it, but not the hypernyms, nor
  does it have the gloss. Its own taste is for direct kinds.
- The branches are the queries that have no other query above them; with `split: branch` a query
  under several goes to the first of train, dev, test that holds one
  (`queries_under_several_branches`).
- What of the test queries has a training query above or below it is told for either split
  (`share_of_test_terms_below_training`, `share_of_test_terms_above_training`).

Every query is a group (the unit that intervals resample) of its own; its kind is `lemma`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
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
from poolbias.collections.synsets import Synsets, document_id, document_text
from poolbias.errors import ConfigError, DataError
from poolbias.files import sha256_of
from poolbias.formats.wordnet import Nouns, read_nouns

RELEASE = "3.0"
# The official archive; size and hash as recipes of package managers give them (Spack's wordnet).
ARCHIVE = {
    "url": "https://wordnetcode.princeton.edu/3.0/WordNet-3.0.tar.gz",
    "size": 11_537_239,
    "sha256": "640db279c949a88f61f851dd54ebbb22d003f8b90b85267042ef85a3781d3a52",
    "members": {"data": "WordNet-3.0/dict/data.noun", "index": "WordNet-3.0/dict/index.noun"},
}
FILES = ("data.noun", "index.noun")
DEBIAN = Path("/usr/share/wordnet")  # where the package wordnet-base puts them
# Counts of the release (wnstats(7WN)); queries are ours, counted with default parameters.
EXPECTED = {
    "synsets": 82_115,
    "words": 117_798,
    "senses": 146_312,
    "queries with 8 to 200 hyponyms, instances among them": 4_011,
    "queries with 8 to 200 hyponyms, instances left out": 3_817,
}


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a study file says of this collection.

    Attributes:
        split: `term` (each query by its own draw) or `branch` (whole branches).
        minimum_relevant: least number of hyponyms of a query.
        maximum_relevant: greatest number of hyponyms of a query.
        instances: whether instances count as hyponyms.
        own_document: whether a query's own synset is relevant too.
        seed: keys the splits and the cut.
        shares: share of queries for each of train, dev and test.
        maximum_queries: keep a keyed part of at most so many queries; all documents stay.
    """

    split: str
    minimum_relevant: int
    maximum_relevant: int
    instances: bool
    own_document: bool
    seed: int
    shares: dict[str, float]
    maximum_queries: int | None = None

    def __post_init__(self) -> None:
        check_shares(self.shares)
        check_unit(self.split)
        check_bounds(self.minimum_relevant, self.maximum_relevant)


def build(parameters: Mapping[str, Any], sources: Sequence[Path]) -> Collection:
    """Build the collection from a WordNet database; `parameters` as in `Parameters`.

    Args:
        parameters: what the study file says.
        sources: the files `data.noun` and `index.noun`.

    Raises:
        ConfigError: for parameters that are unknown, missing or out of range, or other sources.
        DataError: if the files are damaged, another release or without the counts of `EXPECTED`.
    """
    chosen = read_parameters("wordnet", Parameters, parameters)
    if len(sources) != 2:
        raise ConfigError(
            f"--sources: found {len(sources)} files, need {' and '.join(FILES)}; give both."
        )
    nouns = read_nouns(*sources)
    check(nouns, EXPECTED)
    collection = collect(Synsets(nouns, chosen.instances), chosen)
    for path in sources:
        collection.statistics[f"sha256 of {path.name}"] = sha256_of(path)
    return collection


def find_database(folder: str | None) -> list[Path] | None:
    """Return the database's files in a named folder or else in Debian's, or None if there is none.

    Raises:
        ConfigError: if a folder is named and lacks one of them.
    """
    files = [Path(folder or DEBIAN) / name for name in FILES]
    lacking = [path.name for path in files if not path.is_file()]
    if folder and lacking:
        raise ConfigError(
            f"collections: found no {lacking[0]} in the folder {folder}, need {' and '.join(FILES)}"
            " of WordNet 3.0 there; correct `folder`."
        )
    return None if lacking else files


def check(nouns: Nouns, expected: Mapping[str, int]) -> None:
    """Compare release and counts with those that the study was planned on.

    Raises:
        DataError: naming what was found and what is needed.
    """
    found = {
        "synsets": len(nouns.synsets),
        "words": len(nouns.senses),
        "senses": sum(map(len, nouns.senses.values())),
    }
    for instances, told in ((True, "instances among them"), (False, "instances left out")):
        asked = Synsets(nouns, instances).asked(8, 200)
        found[f"queries with 8 to 200 hyponyms, {told}"] = len(asked)
    if nouns.release != RELEASE:
        raise DataError(f"{nouns.path}: release {nouns.release}, need WordNet {RELEASE}; get that.")
    for what, number in expected.items():
        if found[what] != number:
            raise DataError(
                f"{nouns.path}: found {found[what]} {what}, need {number} as in WordNet {RELEASE}; "
                "copy the database anew."
            )


def collect(synsets: Synsets, parameters: Parameters) -> Collection:
    """Build the frames and statistics of a collection from any nouns of this shape.

    Raises:
        ConfigError: if no query is left, or the cut leaves a split without queries.
    """
    asked = synsets.asked(parameters.minimum_relevant, parameters.maximum_relevant)
    if not asked:
        raise ConfigError(
            f"minimum_relevant: no synset has {parameters.minimum_relevant} to "
            f"{parameters.maximum_relevant} hyponyms; give wider bounds."
        )
    ids = {offset: document_id(synsets.nouns.synsets[offset]) for offset in synsets.parents}
    branches = synsets.branches(asked)
    splits = _split(asked, branches, parameters)
    rows = [
        (f"{ids[offset]}.lemma", synsets.query_text(offset), splits[offset], ids[offset], "lemma")
        for offset in asked
    ]
    columns = ["query_id", "text", "split", "group", "kind"]
    queries = pd.DataFrame(rows, columns=columns, dtype="str")
    if parameters.maximum_queries is not None:
        queries = cut_queries(queries, parameters.maximum_queries, parameters.seed)
    relevant = {
        ids[offset]: sorted(
            ids[below]
            for below in synsets.below[offset] | ({offset} if parameters.own_document else set())
        )
        for offset in asked
    }
    pairs = [
        (query, document, 1)
        for query, group in zip(queries["query_id"], queries["group"], strict=True)
        for document in relevant[group]
    ]
    truth = pd.DataFrame(pairs, columns=["query_id", "document_id", "grade"])
    return Collection(
        documents=_texts({n: document_text(found) for n, found in synsets.documents.items()}),
        pool_documents=_texts({ids[n]: synsets.pool_text(n) for n in synsets.parents}),
        queries=queries,
        truth=truth.astype({"query_id": "str", "document_id": "str", "grade": "int64"}),
        statistics=statistics(synsets, queries, branches, relevant),
    )


def statistics(
    synsets: Synsets,
    queries: pd.DataFrame,
    branches: Mapping[str, frozenset[str]],
    relevant: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return counts of the file and the queries, and how close test and training queries lie.

    Args:
        synsets: the hierarchy.
        queries: columns `query_id`, `text`, `split`, `group` (the synset's document id).
        branches: of each query, by offset.
        relevant: documents by group.
    """
    groups = dict(zip(queries["group"].str.removeprefix("n"), queries["split"], strict=True))
    train, test = (
        {offset for offset, split in groups.items() if split == part} for part in ("train", "test")
    )
    under = frozenset[str]().union(*(synsets.below[offset] for offset in train))
    over = {offset for offset in test if synsets.below[offset] & train}
    counts = queries["group"].map({group: len(found) for group, found in relevant.items()})
    found = synsets.nouns.synsets.values()
    return {
        "release": synsets.nouns.release,
        "documents": len(found),
        "words": len(synsets.nouns.senses),
        "instance_pointers": sum(len(synset.instance_of) for synset in found),
        "synsets_with_several_parents": sum(len(p) > 1 for p in synsets.parents.values()),
        "queries": len(queries),
        "terms": len(groups),
        "queries_by_split": {name: int(n) for name, n in Counter(queries["split"]).items()},
        "queries_repeating_a_text": int(queries["text"].str.casefold().duplicated().sum()),
        "branches": len(frozenset[str]().union(*(branches[offset] for offset in groups))),
        "queries_under_several_branches": sum(len(branches[offset]) > 1 for offset in groups),
        "relevant_documents_per_query_mean": float(counts.mean()),
        "relevant_documents_per_query_median": float(counts.median()),
        "share_of_test_terms_below_training": len(test & under) / max(1, len(test)),
        "share_of_test_terms_above_training": len(over) / max(1, len(test)),
    }


def _split(
    asked: list[str], branches: dict[str, frozenset[str]], parameters: Parameters
) -> dict[str, str]:
    if parameters.split == "term":
        return split_by_key(asked, parameters.shares, parameters.seed)
    return split_by_branch(branches, parameters.shares, parameters.seed)


def _texts(texts: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(list(texts.items()), columns=["document_id", "text"], dtype="str")
