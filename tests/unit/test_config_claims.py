"""A file of claims with mistakes: one clear sentence for each, with file, line and key."""

import pytest
from test_documents import ROOT

from poolbias.config.claims import kinds, read_claims
from poolbias.config.load import load
from poolbias.errors import ConfigError, DataError

SOUND = """\
columns:
  all_truth:
    hpo: [truth nDCG@10]
    others: [truth nDCG@10, labels RR@10]
  more:
    hpo: [truth nDCG@10, truth RR@10]
claims:
  cet_helps:
    sentence: CET helps.
    source: paper, Section 6
    columns: [all_truth, more]
    check:
      kind: difference
      of: {method: [cet], options: ['cet-paper-.+']}
      over: {method: [naive]}
    paper: {of: ["ance {of}"], over: ["ance {over}"]}
"""


def write(folder, text):
    path = folder / "claims.yaml"
    path.write_text(text)
    return path


def test_a_sound_file_is_read_with_its_columns_in_place(tmp_path):
    claims = read_claims(write(tmp_path, SOUND))
    assert list(claims) == ["cet_helps"]
    assert claims["cet_helps"]["columns"] == {
        "hpo": ["truth nDCG@10", "truth RR@10"],
        "others": ["truth nDCG@10", "labels RR@10"],
    }
    check = claims["cet_helps"]["check"]
    assert (check["side"], check["threshold"], check["same"]) == ("above", 0.0, "row")
    assert check["over"]["retriever"] == ["each"]
    assert claims["cet_helps"]["paper"]["measure"] is None


MISTAKES = [
    (
        "method: [naive]",
        "metod: [naive]",
        ":15: claims.cet_helps.check.over.metod: this key is not",
    ),
    ("kind: difference", "kind: diference", ":13: claims.cet_helps.check.kind: found 'diference'"),
    (
        "    source: paper, Section 6\n",
        "",
        "claims.cet_helps.source: this key is missing, need text",
    ),
    ("columns: [all_truth, more]", "columns: [all_truht]", "did you mean 'all_truth'?"),
    ("[truth nDCG@10]", "[nDCG@10]", ":3: columns.all_truth.hpo, item 1: found 'nDCG@10', need"),
    ("[truth nDCG@10]", "truth nDCG@10", ":3: columns.all_truth.hpo: found 'truth nDCG@10', need"),
    (
        "kind: difference",
        "kind: difference\n      side: within",
        "need a number above 0, the bound",
    ),
    ("kind: difference", "kind: stable", "need 'within' for kind 'stable'"),
    (
        "kind: difference",
        "kind: difference\n      side: over",
        "need 'above', 'below' or 'within'",
    ),
    ("kind: difference", "kind: difference\n      threshold: '0'", "write it without quotes"),
    ("cet-paper-.+", "cet-paper-(", ":14: claims.cet_helps.check.of.options, item 1: found"),
    ("ance {of}", "ance {method}", "need no other braces than {of}, {over}, {ranker}"),
    ("  cet_helps:", "  Cet helps:", "need a name"),
    ("    sentence: CET helps.\n", "    sentence: CET helps.\n" * 2, "this key stands twice"),
    ("columns:\n", "columns: [\n", "not YAML"),
]


@pytest.mark.parametrize(("right", "wrong", "words"), MISTAKES)
def test_a_mistake_is_told_in_a_sentence(tmp_path, right, wrong, words):
    assert right in SOUND
    path = write(tmp_path, SOUND.replace(right, wrong, 1))
    with pytest.raises(ConfigError) as caught:
        read_claims(path)
    (line,) = [line for line in str(caught.value).splitlines() if words in line]
    assert line.startswith(f"{path}:")
    assert line.endswith((".", "?"))
    assert "configuration.md" not in line


def test_all_mistakes_are_told_at_once_in_the_order_of_lines(tmp_path):
    text = SOUND.replace("[truth nDCG@10]", "[nDCG@10]").replace("[cet]", "[]")
    text = text.replace("source: paper, Section 6", "source: 6")
    with pytest.raises(ConfigError) as caught:
        read_claims(write(tmp_path, text))
    numbers = [int(line.split(":")[1]) for line in str(caught.value).splitlines()]
    assert numbers == [10, 14]  # what is of the wrong kind, before what does not fit together


def test_a_missing_key_points_to_the_page_about_claims(tmp_path):
    path = write(tmp_path, SOUND.replace("    source: paper, Section 6\n", ""))
    with pytest.raises(ConfigError, match=r"add it \(docs/claims\.md\)\."):
        read_claims(path)


@pytest.mark.parametrize("text", ["", "claims: {}\ncolumns: {}\n", "- a\n"])
def test_a_file_without_claims_is_refused(tmp_path, text):
    with pytest.raises(ConfigError, match="need"):
        read_claims(write(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"claims\.yaml"):
        read_claims(tmp_path / "claims.yaml")


def test_the_page_about_claims_tells_every_kind_and_claim():
    page = (ROOT / "docs" / "claims.md").read_text()
    assert len(kinds()) == 8
    assert [kind for kind in kinds() if f"| `{kind}` |" not in page] == []


def test_the_file_of_claims_is_sound_and_names_what_exists():
    claims = read_claims(ROOT / "config" / "claims.yaml")
    assert len(claims) > 30
    table = (ROOT / "config" / "paper_tables.tsv").read_text()
    named = {name for claim in claims.values() for name in claim["columns"]} - {"others"}
    assert [name for name in named if f"\t{name}" not in table] == []
    for claim in claims.values():
        assert claim["sentence"].endswith(".")
        assert claim["source"].startswith(("paper, ", "ours"))


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("cet-paper-tau2", "did you mean 'cet-paper-tau1'?"),
        ("naive", "need a coupled method of this study ('cet-paper-tau1"),
    ],
)
def test_a_selection_model_must_be_one_of_the_studys(label, words):
    changes = {"evaluation": {"selection_models": ["cet-paper-tau1", label]}}
    with pytest.raises(ConfigError) as caught:
        load(ROOT / "config" / "smoke.yaml", changes)
    assert f"evaluation.selection_models, item 2: found '{label}'" in str(caught.value)
    assert words in str(caught.value)


def test_a_study_without_coupled_methods_has_no_selection_model():
    changes = {"experiments": [{"retriever": "bm25", "method": {"name": "naive", "depth": 50}}]}
    with pytest.raises(ConfigError, match=r"of which this study has none; remove it\."):
        load(ROOT / "config" / "smoke.yaml", changes)
