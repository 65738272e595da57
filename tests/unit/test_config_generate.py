"""What is written from the model does not drift from it, and says all that it should."""

import json
import re
from typing import get_origin

import jsonschema
import pytest
import yaml as pyyaml

from poolbias.config import generate, yaml
from poolbias.config.base_retriever import Expected, Faiss
from poolbias.config.collections import WordnetCollection
from poolbias.config.entries import METHODS
from poolbias.config.experiments import expand
from poolbias.config.fields import shape_of_field, unit_of
from poolbias.config.given import BeirCollection, FilesCollection, IrDatasetsCollection
from poolbias.config.given_runs import GivenRuns
from poolbias.config.load import load
from poolbias.config.official import (
    DuReaderCollection,
    MsMarcoDocument,
    MsMarcoPassage,
    MsPas,
    NaturalQuestions,
    TriviaQa,
)
from poolbias.config.rankers import CedrKnrmRanker, ErnieRanker, ParadeMaxRanker, PropRanker
from poolbias.config.retrievers import CheckpointRetriever, RunRetriever
from poolbias.config.trained import Coupling, RetrieverTraining, TrainedRetriever
from poolbias.config.tuning import Tuning
from poolbias.errors import ConfigError

SECTIONS = [section for _, section in generate._sections()]
FIELDS = [(s.__name__, name, f) for s in SECTIONS for name, f in s.model_fields.items()]
STUDIES = ["config.yaml", "smoke.yaml"]
# By the default study.
UNUSED = {WordnetCollection, Tuning, PropRanker, ErnieRanker, CedrKnrmRanker, ParadeMaxRanker}
UNUSED |= {GivenRuns, BeirCollection, FilesCollection, IrDatasetsCollection, MsMarcoPassage}
UNUSED |= {MsMarcoDocument, DuReaderCollection, NaturalQuestions, TriviaQa, MsPas}
UNUSED |= {CheckpointRetriever, RunRetriever, TrainedRetriever}
UNUSED |= {Coupling, Expected, Faiss, RetrieverTraining}


@pytest.fixture
def copy(tmp_path):
    """Return a folder that holds the generated files as they are."""
    for name in (generate.CONFIG, generate.SCHEMA, generate.DOCS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = (generate.ROOT / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_files_hold_what_the_model_says():
    difference = generate.drift()

    assert not difference, f"run `{generate.COMMAND}`:\n{difference}"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (generate.CONFIG, "steps: 400 ", "steps: 300 "),
        (generate.SCHEMA, '"maximum": 6', '"maximum": 12'),
        (generate.DOCS, "Optimiser steps.", "Steps of the optimiser."),
    ],
)
def test_drift_is_shown_as_a_diff_and_mended(copy, name, old, new):
    text = (copy / name).read_text(encoding="utf-8")
    assert old in text
    (copy / name).write_text(text.replace(old, new), encoding="utf-8")

    difference = generate.drift(copy)

    assert f"--- {name} (as it is)" in difference
    removed = [line for line in difference.split("\n") if line.startswith("-") and new in line]
    added = [line for line in difference.split("\n") if line.startswith("+") and old in line]
    assert removed
    assert added
    assert generate.write(copy) == [name]
    assert (copy / name).read_text(encoding="utf-8") == text
    assert generate.write(copy) == []


def test_a_changed_default_of_the_model_shows(copy, monkeypatch):
    from poolbias.config.model import BertRanker
    from poolbias.config.study import Study

    monkeypatch.setattr(BertRanker.model_fields["layers"], "default", 4)
    BertRanker.model_rebuild(force=True)
    Study.model_rebuild(force=True)
    try:
        assert "| `layers` | whole number | `4` |" in generate.drift(copy)
    finally:
        monkeypatch.undo()
        BertRanker.model_rebuild(force=True)
        Study.model_rebuild(force=True)
    assert generate.drift(copy) == ""


def test_hand_written_parts_of_the_docs_stay(copy):
    path = copy / generate.DOCS
    path.write_text("# Mine\n" + path.read_text(encoding="utf-8") + "after\n", encoding="utf-8")

    assert generate.write(copy) == []


def test_docs_without_their_marks_are_refused(copy):
    (copy / generate.DOCS).write_text("# Configuration\n", encoding="utf-8")

    with pytest.raises(ConfigError, match="found no line <!-- begin"):
        generate.write(copy)


@pytest.mark.parametrize(("section", "name", "field"), FIELDS)
def test_every_field_has_a_sentence_and_numbers_a_unit(section, name, field):
    assert field.description, f"{section}.{name}"
    assert field.description.endswith(".")
    shape = shape_of_field(field)
    base = shape.item.base if get_origin(shape.base) is list else shape.base
    assert bool(unit_of(field)) == (base in (int, float))


def test_the_default_file_holds_every_key_with_its_sentence():
    text = (generate.ROOT / generate.CONFIG).read_text(encoding="utf-8")
    words = " ".join(text.replace("#", " ").split())

    for section in SECTIONS:
        for name, field in section.model_fields.items():
            if section not in {*METHODS.values(), *UNUSED}:
                assert re.search(rf"^[ #]*{name}\b", text, flags=re.MULTILINE), name
                assert " ".join(field.description.split()) in words, name
    for name in METHODS:
        assert f"#   {name} (" in text
    assert max(map(len, text.split("\n"))) <= 100


def test_the_default_file_is_complete_and_every_yaml_reader_agrees():
    path = generate.ROOT / generate.CONFIG
    read = yaml.load(path)

    assert read == pyyaml.safe_load(path.read_text(encoding="utf-8"))
    study = load(path)
    dumped = study.model_dump()
    # left out of names and hashes where it is the default
    dumped["rankers"]["bert"]["shown"] = None
    dumped["collections"]["hpo"]["documents"] = study.collections["hpo"].documents
    for name, section in study.retrievers.items():  # likewise, or because they change no result
        dumped["retrievers"][name] |= {
            key: getattr(section, key) for key in read["retrievers"][name]
        }
    assert {key: read[key] for key in dumped if key != "experiments"} == {
        key: value for key, value in dumped.items() if key != "experiments"
    }


@pytest.mark.parametrize("name", STUDIES)
def test_studies_load_and_their_editors_schema_accepts_them(name):
    path = generate.ROOT / "config" / name
    schema = json.loads((generate.ROOT / generate.SCHEMA).read_text(encoding="utf-8"))

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.load(path), schema)
    assert expand(load(path))
    assert path.read_text(encoding="utf-8").startswith(
        "# yaml-language-server: $schema=schemas/study.schema.json\n"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"precison": "bf16"},
        {"threads": 0},
        {"retrievers": {"bm25": {"kind": "bm25", "k2": 1}}},
        {"experiments": [{"method": "naive"}]},
        {"experiments": [{"retriever": "dense", "method": "niave"}]},
        {"experiments": [{"retriever": "dense", "method": {"name": "cet", "form": "papr"}}]},
        {"experiments": [{"retriever": "dense", "method": "cet", "training": {"steps": [0]}}]},
    ],
)
def test_the_schema_refuses_what_the_model_refuses(wrong):
    study = yaml.load(generate.ROOT / generate.CONFIG)

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(study | wrong, generate.json_schema())


def test_the_docs_name_every_key_and_method():
    docs = (generate.ROOT / generate.DOCS).read_text(encoding="utf-8")

    for _, name, field in FIELDS:
        assert re.search(rf"\| `{name}` \|.*\| {re.escape(field.description)} \|", docs)
    for name in METHODS:
        assert f"### Method `{name}`" in docs
