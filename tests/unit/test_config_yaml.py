"""YAML is read strictly, and written so that every reader agrees."""

import math

import pytest
import yaml as pyyaml
from hypothesis import given, settings
from hypothesis import strategies as st

from poolbias.config import yaml
from poolbias.config.places import spell
from poolbias.errors import ConfigError


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "file.yaml").write_text(text, encoding="utf-8")
        return yaml.load(tmp_path / "file.yaml")

    return read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3e-6", 3e-6),
        ("1E3", 1000.0),
        (".5", 0.5),
        ("-7", -7),
        ("0", 0),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("2020-01-01", "2020-01-01"),
        ("true", True),
        ("'on'", "on"),
        ("'042'", "042"),
        ("~", None),
        ("HP:0000001", "HP:0000001"),
    ],
)
def test_values_are_read_as_in_yaml_1_2(read, text, value):
    found = read(f"key: {text}")["key"]

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("word", ["on", "On", "OFF", "yes", "no"])
def test_words_that_readers_disagree_on_are_refused(read, word):
    with pytest.raises(ConfigError, match=rf"file.yaml:2: b.c, item 2: found {word}, which is"):
        read(f"a: 1\nb: {{c: [x, {word}]}}")


def test_a_doubtful_key_is_refused(read):
    with pytest.raises(ConfigError, match=r"file.yaml:1: on: found on, which is true"):
        read("on: push")


def test_all_doubts_are_told_at_once(read):
    with pytest.raises(ConfigError) as error:
        read("a: 042\nb: on\na: 1\n")

    assert [line.split(": ")[1] for line in str(error.value).split("\n")] == ["a", "b", "a"]


def test_a_key_that_stands_twice_is_refused_with_both_lines(read):
    with pytest.raises(ConfigError, match=r"yaml:4: a.b: this key stands twice \(first on line 2"):
        read("a:\n  b: 1\n  c: 2\n  b: 1\n")


def test_merging_keys_is_no_key_that_stands_twice(read):
    assert read("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}") == {
        "a": {"b": 1, "c": 2},
        "d": {"b": 1, "c": 3},
    }


@pytest.mark.parametrize(
    "text", ["a: &x [*x]", "{[1]: 2}", "a: [1", "a: @x", "a: !!python/name:os"]
)
def test_what_is_no_plain_yaml_is_refused_with_its_line(read, text):
    with pytest.raises(ConfigError, match=r"file.yaml:1: not YAML \("):
        read(text)


def test_a_control_character_is_named(read):
    with pytest.raises(ConfigError, match=r"file.yaml:2: found the character '\\x01'"):
        read("a: 1\nb: \x01\n")


def test_lines_of_places(tmp_path):
    (tmp_path / "file.yaml").write_text("a: 1\nb:\n  - x\n  - c: 2\n", encoding="utf-8")

    document = yaml.read(tmp_path / "file.yaml")

    assert document.line(("b", 1, "c")) == 4
    assert document.line(("b", 0, "nowhere")) == 3
    assert document.line(("nowhere",)) == 0


def test_places_are_spelled_as_a_person_says_them():
    assert spell(("experiments", 1, "method", "form")) == "experiments, item 2, method.form"
    assert spell(("seeds", 0)) == "seeds, item 1"
    assert spell(("a", "b1", "c")) == "a.b1.c"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3e-6, "3.0e-6"),
        (1e-4, "1.0e-4"),
        (2.5e-5, "2.5e-5"),
        (1e22, "1.0e+22"),
        (0.9, "0.9"),
        (1.0, "1.0"),
        (0.0, "0.0"),
        (None, "null"),
        (True, "true"),
        ("on", "'on'"),
        ("042", "'042'"),
        ("it's", "'it''s'"),
        ("RR@10", "RR@10"),
        ({"name": "cet", "form": ["paper", "released"]}, "{name: cet, form: [paper, released]}"),
    ],
)
def test_values_are_written_so_that_every_reader_agrees(value, text):
    assert yaml.flow(value) == text


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(min_codepoint=32, max_codepoint=126))
    | st.sampled_from(["on", "No", "1e3", "012", "1:30", "~", "null", "a: b", "a #b", "-", "<<"])
)


@settings(max_examples=60, deadline=None)
@given(st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner)))
def test_what_is_written_is_read_back_by_yaml_1_1_and_1_2(value):
    text = yaml.flow(value)

    assert same(pyyaml.safe_load(text), value)
    document = yaml._read(text, "text")
    assert same(document.value, value)
    assert not document.doubts


def same(first, second):
    if isinstance(second, float):
        return isinstance(first, float) and math.isclose(first, second, rel_tol=0, abs_tol=0)
    if isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in second)
    return type(first) is type(second) and first == second
