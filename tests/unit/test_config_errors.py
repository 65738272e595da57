"""Each kind of wrong study file, and the sentence that a person gets for it."""

import pytest
import yaml

from poolbias.config.entries import METHODS
from poolbias.config.generate import CONFIG, ROOT
from poolbias.config.load import load
from poolbias.config.problems import either
from poolbias.errors import ConfigError, DataError

DEFAULT = (ROOT / CONFIG).read_text(encoding="utf-8")
HEAD = DEFAULT.split("experiments:\n")[0]


@pytest.fixture
def told(tmp_path):
    """Return a function that gives the sentences about a text, without the file's folder."""

    def told(text, overrides=None):
        path = tmp_path / "mine.yaml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError) as error:
            load(path, overrides)
        return str(error.value).replace(f"{tmp_path}/", "").split("\n")

    return told


def changed(*pairs):
    """Return the default study with texts replaced, each of which it must hold."""
    text = DEFAULT
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def line_of(text, part):
    return next(n for n, line in enumerate(text.split("\n"), start=1) if part in line)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "steps: 400",
            "stps: 400",
            "training.stps: this key is not known here; did you mean 'steps'?",
        ),
        (
            "k1: 0.9",
            "k2x: 0.9",
            "retrievers.bm25.k2x: this key is not known here; correct or remove it (known: kind, "
            "k1, b, documents, depth, expected).",
        ),
        (
            "precision: bf16",
            "precision: fp16",
            "precision: found 'fp16', need 'bf16' or 'float32'; did you mean 'bf16'?",
        ),
        (
            "kind: dense",
            "kind: dnese",
            "retrievers.dense.kind: found 'dnese', need 'bm25', 'dense', 'checkpoint', "
            "'run', 'trained' or 'given'; "
            "did you mean 'dense'?",
        ),
        (
            "kind: dense",
            "kind: 7",
            "retrievers.dense.kind: found 7, need 'bm25', 'dense', 'checkpoint', "
            "'run', 'trained' or 'given'; "
            "correct the value.",
        ),
        (
            "dropout: 0.1",
            "dropout: 1.5",
            "rankers.bert.dropout: found 1.5, need a number of at least 0 and below 1; correct the "
            "value.",
        ),
        (
            "layers: 3",
            "layers: 25",
            "rankers.bert.layers: found 25, need a whole number from 1 to 24; correct the value.",
        ),
        (
            "layers: 3",
            "layers: 7",
            "rankers.bert.layers: found 7, need at most 6, the layers of all-MiniLM-L6-v2; lower "
            "it.",
        ),
        (
            "layers: 3",
            "layers: '3'",
            "rankers.bert.layers: found '3', need a whole number from 1 to 24; write it without "
            "quotes.",
        ),
        (
            "steps: 400",
            "steps: 1e3",
            "training.steps: found 1000.0, need a whole number of at least 1; write 1000.",
        ),
        (
            "learning_rate: 1.0e-4",
            "learning_rate: 1e999",
            "training.learning_rate: found inf, need a number above 0; correct the value.",
        ),
        (
            "learning_rate: 1.0e-4",
            "learning_rate: true",
            "training.learning_rate: found true, need a number above 0; correct the value.",
        ),
        (
            "maximum_queries: null",
            "maximum_queries: 2",
            "collections.hpo.maximum_queries: found 2, need a whole number of at least 3, or null; "
            "correct the value.",
        ),
        (
            "seeds: [1]",
            "seeds: 1",
            "seeds: found 1, need a list of at least 1, each item a whole number of at least 0; "
            "write [1].",
        ),
        (
            "seeds: [1]",
            "seeds: [1, 2, 1]",
            "seeds: found [1, 2, 1], need each value once (1 stands twice); keep one.",
        ),
        (
            "seeds: [1]",
            "seeds: [1, -1]",
            "seeds, item 2: found -1, need a whole number of at least 0; correct the value.",
        ),
        (
            "study: hpo",
            "study: 7",
            "study: found 7, need a name (small letters, digits, _, + and -, with a letter first); "
            "write '7' in quotes if it is text.",
        ),
        (
            "  bert:",
            "  my bert.2:",
            "rankers.my bert.2: found 'my bert.2', need a name (small letters, digits, _, + and -, "
            "with a letter first); correct the value.",
        ),
        (
            "threads: 1",
            "threads: 042",
            "threads: found 042, a number with a leading zero, which some programs read as octal; "
            "write 42, or '042' in quotes if it is text.",
        ),
        (
            "device: cpu",
            "device: on",
            "device: found on, which is true for some programs and text for others; write true, or "
            "'on' in quotes if it is text.",
        ),
        (
            "device: cpu",
            "device: cpu\ndevice: cuda",
            "device: this key stands twice (first on line 8); keep one.",
        ),
        (
            "betas: [0.9, 0.999]",
            "betas: [0.9]",
            "training.betas: found [0.9], need a list of 2, each item a number of at least 0 and "
            "below 1; correct the value.",
        ),
        (
            "root: HP:0000001",
            "root: HP:1",
            "collections.hpo.root: found 'HP:1', need the id of a term such as HP:0000001; correct "
            "the value.",
        ),
        (
            "minimum_relevant: 5",
            "minimum_relevant: 201",
            "collections.hpo.minimum_relevant: found 201, need at most maximum_relevant (200); "
            "correct one.",
        ),
        (
            "train: 0.7",
            "train: 0.6",
            "collections.hpo.shares: found shares that add up to 0.9, need 1; correct one.",
        ),
        (
            "sequence_tokens: null",
            "sequence_tokens: 19",
            "rankers.bert.sequence_tokens: found 19, need at least 20: query_tokens (16), 3 "
            "special tokens and one of the document; raise it or lower query_tokens.",
        ),
        (
            "device: cpu",
            "device: cuda",
            "rankers.bert.engine: found 'packed', which runs on a CPU only, need 'plain' where "
            "device is cuda; write it.",
        ),
        (
            "retrievers: [outside]",
            "retrievers: [outsid]",
            "pools.outside.retrievers, item 1: found 'outsid', need a retriever of this study "
            "('bm25', 'dense' or 'outside'); did you mean 'outside'?",
        ),
        (
            "retrievers: [bm25, dense]",
            "retrievers: [bm25, ance]",
            "figures.figure_1.retrievers, item 2: found 'ance', need a retriever of this study "
            "('bm25', 'dense' or 'outside'); correct it or define it.",
        ),
        (
            "retrievers: [bm25, dense]",
            "retrievers: [outside]",
            "figures.figure_1.retrievers, item 1: found 'outside', which searches pool_documents, "
            "need a retriever that searches documents (only a pool may search other texts); name "
            "another.",
        ),
        (
            "shares_depths: [10, 20, 50, 100]",
            "shares_depths: [10, 201]",
            "figures.figure_1.shares_depths: found [10, 201], need at most 200, the depth of "
            "retriever 'bm25'; lower it or raise retrievers.bm25.depth.",
        ),
        (
            "recall_cut: 100",
            "recall_cut: 50",
            "evaluation.measures: found no R@50, which figure_1 shows; add it or change "
            "figures.figure_1.recall_cut.",
        ),
        (
            "RR@10,",
            "MRR@10,",
            "evaluation.measures, item 1: found 'MRR@10', need a measure as ir-measures spells it, "
            "such as RR@10, nDCG@10 or R@100; did you mean 'RR@10'?",
        ),
        (
            "steps: [400]",
            "steps: [200, 401]",
            "probe.steps: found step 401, need at most 400, the steps of the training of "
            "experiments, item 2; lower it or train longer.",
        ),
        (
            "form: [paper, released]",
            "form: papr",
            "experiments, item 2, method.form: found 'papr', need 'paper' or 'released'; did you "
            "mean 'paper'?",
        ),
        (
            "form: [paper, released]",
            "temperature: 0",
            "experiments, item 2, method.temperature: found 0, need a number above 0, or null; "
            "correct the value.",
        ),
        (
            "form: [paper, released]",
            "temperature: [1.0, 1]",
            "experiments, item 2, method, item 2, temperature: found [1.0, 1], need each value "
            "once (1.0 and 1 are one value); keep one.",
        ),
        (
            "form: [paper, released]",
            "form: []",
            "experiments, item 2, method, item 2, form: found [], need at least one value; add one "
            "or remove the key.",
        ),
        (
            "method: naive",
            "method: niave",
            f"experiments, item 1, method: found 'niave', need {either(METHODS)}; did you mean "
            "'naive'?",
        ),
        (
            "method: naive",
            "method: {depth: 50}",
            f"experiments, item 1, method.name: this key is missing, need {either(METHODS)}; add "
            "it (docs/configuration.md).",
        ),
        (
            "method: naive",
            "method: {name: naive, depth: 201}",
            "experiments, item 1, method.depth: found 201, need at most 200, the depth of "
            "retriever 'bm25'; lower it or raise retrievers.bm25.depth.",
        ),
        (
            "method: naive",
            "method: naive\n    training: {lerning_rate: 1.0}",
            "experiments, item 1, training.lerning_rate: this key is not known here; did you mean "
            "'learning_rate'?",
        ),
        (
            "method: naive",
            "method: naive\n    training: {steps: [100, 0]}",
            "experiments, item 1, training.steps: found 0, need a whole number of at least 1; "
            "correct the value.",
        ),
        (
            "  - retriever: [bm25, dense]\n    method",
            "  - method",
            "experiments, item 1, retriever: this key is missing, need a retriever (bm25, dense, "
            "outside); add it.",
        ),
        (
            "  - retriever: [bm25, dense]",
            "  - retriever: [bm25, dens]",
            "experiments, item 1, retriever: found 'dens', need a retriever of this study ('bm25', "
            "'dense' or 'outside'); did you mean 'dense'?",
        ),
        (
            "  - retriever: [bm25, dense]",
            "  - retriever: outside",
            "experiments, item 1, retriever: found 'outside', which searches pool_documents, need "
            "a retriever that searches documents (only a pool may search other texts); name "
            "another.",
        ),
        (
            "training:\n",
            "training:\nsteps_of_training:\n",
            "training: found null (no value), need `key: value` lines; write {} for its defaults.",
        ),
    ],
)
def test_one_mistake_gives_its_sentence(told, old, new, sentence):
    sentences = [line.split(": ", 1)[1] for line in told(changed((old, new)))]

    assert sentence in sentences


def test_a_sentence_names_the_line(told):
    text = changed(("dropout: 0.1", "dropout: 2"), ("form: [paper", "form: [papr"))

    first, second = told(text)

    assert first.startswith(f"mine.yaml:{line_of(text, ' dropout: 2')}: rankers.bert.dropout: ")
    assert second.startswith(f"mine.yaml:{line_of(text, 'papr')}: experiments, item 2, method.form")


def test_all_problems_are_told_at_once_in_the_order_of_the_file(told):
    text = changed(
        ("threads: 1", "threads: 02"),
        ("seeds: [1]", "seeds: []"),
        ("k1: 0.9", "k: 0.9"),
        ("steps: 400", "stps: 400"),
        ("method: naive", "method: niave"),
        ("form: [paper, released]", "fom: paper"),
    )

    places = [line.split(": ")[1] for line in told(text)]

    assert places == [
        "threads",
        "seeds",
        "retrievers.bm25.k",
        "training.stps",
        "experiments, item 1, method",
        "experiments, item 2, method.fom",
    ]


def test_problems_of_values_and_of_what_does_not_fit_together_are_told_with_the_experiments(told):
    text = changed(("seeds: [1]", "seeds: [1, 1]"), ("method: naive", "method: niave"))

    assert len(told(text)) == 2


def test_no_word_of_the_validator_reaches_a_person(told):
    text = changed(
        ("kind: dense", "kind: [dense]"),
        ("k1: 0.9", "k1: {a: 1}"),
        ("layers: 3", "layers: []"),
        ("retrievers: [outside]", "retrievers: {outside: 1}"),
        ("form: [paper, released]", "form: 3"),
    )

    words = "\n".join(told(text)).lower()

    assert len(told(text)) == 5
    for jargon in ("input", "tag", "literal", "valid ", "pydantic", "str_", "dictionary", "union"):
        assert jargon not in words
    assert "retrievers.bm25.bm25" not in words


def test_long_values_are_cut(told):
    text = changed(("seeds: [1]", f"seeds: {{{', '.join(f'key{n}: {n}' for n in range(50))}}}"))

    (sentence,) = told(text)

    assert "found {key0: 0, key1: 1, " in sentence
    assert len(sentence) < 200


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "mine.yaml: found nothing, need `key: value` lines"),
        ("# only a comment\n", "mine.yaml: found nothing, need `key: value` lines"),
        ("- study: x\n", "mine.yaml: found a list at the top, need `key: value` lines"),
        ("hello", "mine.yaml: found a single value at the top, need `key: value` lines"),
        ("study: x\nseeds: [1\ndevice: cpu", "mine.yaml:3: not YAML ("),
        ("study: a\n---\nstudy: b\n", "mine.yaml:2: not YAML ("),
    ],
)
def test_files_that_are_no_study_at_all(told, text, sentence):
    (found,) = told(text)

    assert found.startswith(sentence)


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        load(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"study: \xff\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(tmp_path / "bytes.yaml")
    with pytest.raises(ConfigError, match="give the path of a study file"):
        load(tmp_path)


def test_missing_sections_are_named_once_and_do_not_drown_in_what_follows(told):
    found = told(DEFAULT.replace("\nretrievers:", "\nretreivers:"))

    assert [line.split(": ", 2)[1] for line in found] == ["retrievers", "retreivers"]


@pytest.mark.parametrize(
    ("experiments", "sentence"),
    [
        ("", "experiments: this key is missing, need a list of at least 1"),
        ("experiments: []", "experiments: found [], need a list of at least 1"),
        ("experiments: {retriever: dense}", "experiments: found {retriever: dense}, need a list"),
        ("experiments: [naive]", "experiments, item 1: found 'naive', need `key: value` lines"),
    ],
)
def test_experiments_that_are_no_list_of_sections(told, experiments, sentence):
    (found,) = told(HEAD + experiments)

    assert sentence in found


def test_a_name_is_asked_for_only_where_the_study_has_several(told):
    two = changed(("collections:\n", "collections:\n  small: {kind: hpo, maximum_queries: 99}\n"))

    found = told(two)

    entries = len(yaml.safe_load(DEFAULT)["experiments"])
    assert [line.split(": ", 1)[1] for line in found] == [
        f"experiments, item {item}, collection: this key is missing, need a collection "
        "(small, hpo); add it."
        for item in range(1, entries + 1)
    ]


def test_one_experiment_twice_is_refused_however_it_is_spelled(told):
    spelled = "  - {method: {depth: 100, name: naive}, retriever: dense, pool: outside}\n"

    (found,) = told(DEFAULT + spelled)

    last = len(yaml.safe_load(DEFAULT)["experiments"]) + 1
    assert f"experiments, item {last}: found the experiment hpo.dense.naive.bert-" in found
    assert "which experiments, item 1 makes already" in found


def test_one_experiment_twice_within_an_item_is_refused(told):
    (found,) = told(changed(("form: [paper, released]", "temperature: [1.0, null]")))

    assert "which this item makes already" in found


def test_depths_left_to_their_defaults_are_told_as_such(told):
    found = told(changed(("depth: 200", "depth: 60")))

    told_of_method = [line for line in found if "experiments, item 1, method.depth" in line]
    assert "found 100 (the default), need at most 60" in told_of_method[0]
    assert any("evaluation.depth: found 100, need at most 60" in line for line in found)
    assert any("recall_cut: found 100, need at most 60" in line for line in found)


def test_a_pool_deeper_than_its_retriever_is_refused(told):
    (found,) = told(changed(("depth: 10 ", "depth: 201 ")))

    assert "pools.outside.depth: found 201, need at most 200, the depth of retriever" in found


def test_values_of_the_command_line_are_read_as_yaml_and_win(tmp_path):
    # Snakemake hands over the texts within a list or a section as texts
    given = {"training": {"steps": "500", "learning_rate": "3e-6"}, "seeds": ["1", "2"]}

    study = load(ROOT / CONFIG, given)

    assert (study.training.steps, study.training.learning_rate) == (500, 3e-6)
    assert study.training.pairs == 32
    assert study.seeds == [1, 2]


def test_mistakes_of_the_command_line_are_said_to_be_there(told):
    found = told(DEFAULT, {"training": {"stps": "5", "pairs": "032"}, "sedes": [1]})

    assert found == [
        "--config: training.pairs: found 032, a number with a leading zero, which some programs "
        "read as octal; write 32, or '032' in quotes if it is text.",
        "--config: training.stps: this key is not known here; did you mean 'steps'?",
        "--config: sedes: this key is not known here; did you mean 'seeds'?",
    ]
