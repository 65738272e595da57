"""WordNet: its reader on a miniature in the official format, and the collection made of it."""

import re
from pathlib import Path

import pytest

from poolbias import collections
from poolbias.collections import wordnet
from poolbias.collections.base import read_parameters
from poolbias.collections.synsets import Synsets
from poolbias.errors import ConfigError, DataError
from poolbias.formats.wordnet import read_nouns

LICENCE = [
    "  1 This software and database is being provided to you, the LICENSEE, by  ",
    "  2 WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved.  ",
]
# name: words, pointers (symbol, name), gloss. Animal > dog (with Fido, its instance) > hunting dog
# > hound, pointer; animal > cat > hunting cat, which is a hunter too; hunter > hound.
SYNSETS = {
    "animal": (["animal", "living_thing"], [("~", "dog"), ("~", "cat")], "what lives"),
    "dog": (
        ["dog", "Canis_familiaris"],
        [("@", "animal"), ("~", "hunting dog"), ("~i", "fido"), ("#p", "animal"), ("+", "cat")],
        'a tame | animal; "the dog barked all night"',
    ),
    "fido": (["Fido"], [("@i", "dog")], "a dog of long ago"),
    "hunting dog": (["hunting_dog"], [("@", "dog")], "a dog used in hunting game"),
    "hound": (["hound", "Hound_dog"], [("@", "hunting dog"), ("@", "hunter")], "a dog that runs"),
    "pointer": (["pointer"], [("@", "hunting dog")], "a dog that points"),
    "cat": (["cat"], [("@", "animal")], "a small feline"),
    "hunter": (["hunter"], [("@", "animal")], "what hunts"),
    "mouser": (["mouser", "cat"], [("@", "cat"), ("@", "hunter")], "a cat that hunts"),
}


def lines_of(synsets):
    """Return the lines of data.noun, and the offset of each synset; offsets have a fixed width."""
    offset = sum(len(line) + 1 for line in LICENCE)
    unplaced, offsets = {}, {}
    for name, (words, pointers, gloss) in synsets.items():
        told = " ".join(f"{symbol} {{{target}}} n 0000" for symbol, target in pointers)
        told = told.replace("+ {cat} n 0000", "+ {cat} v 0101")
        spelled = " ".join(f"{word} {number:x}" for number, word in enumerate(words))
        head = f"05 n {len(words):02x} {spelled} {len(pointers):03d} {told}".rstrip()
        unplaced[name] = f"{head} | {gloss}  "
        offsets[name] = f"{offset:08d}"
        placed = re.sub(r"\{[^}]+\}", "12345678", unplaced[name])
        offset += len(f"12345678 {placed}\n")
    lines = [
        f"{offsets[name]} " + re.sub(r"\{([^}]+)\}", lambda match: offsets[match[1]], line)
        for name, line in unplaced.items()
    ]
    return lines, offsets


def write(folder, synsets=SYNSETS, data=None, index=None):
    """Write both files and return their paths; `data` and `index` change the lines."""
    lines, offsets = lines_of(synsets)
    words = {}
    for name, (spelled, *_) in synsets.items():
        for word in dict.fromkeys(word.lower() for word in spelled):
            words.setdefault(word, []).append(offsets[name])
    entries = [
        f"{word} n {len(found)} 1 @ {len(found)} 0 {' '.join(found)}  "
        for word, found in sorted(words.items())
    ]
    folder.mkdir(exist_ok=True)
    for name, content, change in (("data.noun", lines, data), ("index.noun", entries, index)):
        text = "\n".join([*LICENCE, *content]) + "\n"
        (folder / name).write_bytes((change(text) if change else text).encode("latin-1"))
    return [folder / "data.noun", folder / "index.noun"], offsets


def parameters(**changes):
    given = {"split": "term", "minimum_relevant": 2, "maximum_relevant": 4, "instances": True}
    given |= {"own_document": False, "seed": 1, "shares": {"train": 0.6, "dev": 0.2, "test": 0.2}}
    return read_parameters("wordnet", wordnet.Parameters, given | changes)


def collect(folder, **changes):
    files, offsets = write(folder)
    synsets = Synsets(read_nouns(*files), changes.get("instances", True))
    return wordnet.collect(synsets, parameters(**changes)), offsets


def test_the_files_of_the_miniature_are_as_the_manual_page_says(tmp_path):
    files, offsets = write(tmp_path)
    raw = files[0].read_bytes()
    for name, offset in offsets.items():
        assert raw[int(offset) :].startswith(f"{offset} 05 n ".encode()), name
    hound, hunting, hunter = (offsets[name] for name in ("hound", "hunting dog", "hunter"))
    expected = (
        f"{hound} 05 n 02 hound 0 Hound_dog 1 002 "
        f"@ {hunting} n 0000 @ {hunter} n 0000 | a dog that runs  \n"
    )
    assert expected.encode() in raw


def test_a_synset_is_read_with_its_words_hypernyms_and_gloss(tmp_path):
    files, at = write(tmp_path)

    nouns = read_nouns(*files)

    assert nouns.release == "3.0"
    assert list(nouns.synsets) == list(at.values())
    dog = nouns.synsets[at["dog"]]
    assert (dog.offset, dog.line) == (at["dog"], 4)
    assert dog.lemmas == ("dog", "Canis familiaris")
    assert (dog.hypernyms, dog.instance_of) == ((at["animal"],), ())
    assert dog.gloss == 'a tame | animal; "the dog barked all night"'
    assert nouns.synsets[at["fido"]].instance_of == (at["dog"],)
    assert nouns.synsets[at["hound"]].hypernyms == (at["hunting dog"], at["hunter"])
    assert nouns.senses["cat"] == (at["cat"], at["mouser"])
    assert nouns.senses["canis familiaris"] == (at["dog"],)
    assert len(nouns.senses) == 12


def replaced(old, new, count=1):
    def change(text):
        assert old in text
        return text.replace(old, new, count)

    return change


@pytest.mark.parametrize(
    ("change", "line", "told"),
    [
        (lambda text: text.replace("\n", "\r\n"), 3, "not ASCII, or CRLF"),
        (replaced("what lives", "wh\xe4t lives"), 3, "not ASCII, or CRLF"),
        (replaced("what lives", "what lived once"), 4, "the byte at which this line begins"),
        (replaced(" | what lives  ", ""), 3, "offset file n words"),
        (replaced("what lives", "          "), 3, "offset file n words"),
        (replaced(" 05 n 02 animal", " 05 v 02 animal"), 3, "an offset of 8 digits"),
        (replaced(" 05 n 02 animal", " 05 n 0g animal"), 3, "a hexadecimal number"),
        (replaced(" 05 n 02 animal", " 05 n 00 animal"), 3, "as many words"),
        (replaced(" 05 n 02 animal", " 05 n ff animal"), 3, "as many words"),
        (replaced(" 05 n 02 animal", " 05 n 01 animal"), 3, "found 'living_thing', need a number"),
        (replaced(" 002 ~", " 003 ~"), 3, "12 fields for 3 pointers"),
        (replaced(" @i ", " @ i "), 5, "5 fields after the words"),
        (lambda text: re.sub(r"@ (\d{8}) n 0000", r"@ \1 v 0000", text, count=1), 4, "@ … n 0000"),
        (lambda text: re.sub(r"@i \d{8}", "@i 00000001", text), 5, "the offset of a synset"),
        (lambda text: text[:-1], 11, "without a line end"),
        (lambda text: text.replace("WordNet 3.0 Copyright", "WordNet"), 1, "names a release"),
        (lambda text: "\n".join(LICENCE) + "\n", 1, "found no synset"),
    ],
)
def test_a_line_of_data_that_is_not_of_the_format_is_named(tmp_path, change, line, told):
    files, _ = write(tmp_path, data=change)
    with pytest.raises(DataError) as error:
        read_nouns(*files)
    assert str(error.value).startswith(f"{files[0]}:{line}: found ")
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (replaced("cat n 2 1", "cat n 3 1"), r":5: found 2 offsets for 3 senses"),
        (replaced("cat n 2 1", "cat v 2 1"), r":5: found 'cat v 2 1"),
        (replaced("cat n 2 1", "cat n x 1"), r":5: found 'x', need a number"),
        (replaced("cat n 2", "cart n 2"), r":5: found cart at \d{8}, need the offset of a synset"),
        (replaced("dog n 1", "cat n 1"), r"found cat at \d{8}|found cat again"),
        (
            lambda text: re.sub(r"\npointer n .*", "", text),
            r"does not lead from 'pointer' to the synset \d{8}, need both files of one database",
        ),
    ],
)
def test_an_index_that_does_not_fit_the_data_is_named(tmp_path, change, told):
    files, _ = write(tmp_path, index=change)
    with pytest.raises(DataError, match=told) as error:
        read_nouns(*files)
    assert str(error.value).startswith(str(files[1]))


def test_a_file_that_is_not_there_and_a_circle_are_named(tmp_path):
    with pytest.raises(DataError, match=r"data\.noun: No such file or directory; give the path"):
        read_nouns(tmp_path / "data.noun", tmp_path / "index.noun")
    round_about = SYNSETS | {"animal": (["animal", "living_thing"], [("@", "hound")], "what lives")}
    files, at = write(tmp_path, round_about)
    with pytest.raises(DataError, match=r"data\.noun:\d+: hypernyms run in a circle") as error:
        Synsets(read_nouns(*files), True)
    assert at["animal"] in str(error.value)


def test_a_tiny_collection_by_hand(tmp_path):
    built, at = collect(tmp_path)
    n = {name: f"n{offset}" for name, offset in at.items()}

    documents = dict(built.documents.itertuples(index=False))
    assert list(documents) == list(n.values())
    assert documents[n["dog"]] == (
        'dog, Canis familiaris: a tame | animal; "the dog barked all night"'
    )
    pool = dict(built.pool_documents.itertuples(index=False))
    assert list(pool) == list(documents)
    assert pool[n["hound"]] == "hound; Hound dog; hunting dog; hunter"
    assert pool[n["fido"]] == "Fido; dog; Canis familiaris"
    assert pool[n["mouser"]] == "mouser; cat; hunter"
    assert pool[n["animal"]] == "animal; living thing"
    queries = built.queries.set_index("query_id")
    assert queries["text"].to_dict() == {
        f"{n['dog']}.lemma": "dog (animal)",
        f"{n['hunting dog']}.lemma": "hunting dog (dog)",
        f"{n['hunter']}.lemma": "hunter (animal)",
    }
    assert queries["group"].tolist() == [n[name] for name in ("dog", "hunting dog", "hunter")]
    assert set(queries["kind"]) == {"lemma"}
    truth = built.truth.groupby("query_id")["document_id"].apply(set).to_dict()
    assert truth == {
        f"{n['dog']}.lemma": {n[x] for x in ("fido", "hunting dog", "hound", "pointer")},
        f"{n['hunting dog']}.lemma": {n["hound"], n["pointer"]},
        f"{n['hunter']}.lemma": {n["hound"], n["mouser"]},
    }
    assert built.truth["grade"].unique().tolist() == [1]
    expected = {
        "release": "3.0",
        "documents": 9,
        "words": 12,
        "instance_pointers": 1,
        "synsets_with_several_parents": 2,
        "queries": 3,
        "branches": 2,
        "queries_under_several_branches": 0,
        "queries_repeating_a_text": 0,
        "relevant_documents_per_query_mean": 8 / 3,
        "relevant_documents_per_query_median": 2.0,
    }
    assert {name: built.statistics[name] for name in expected} == expected


def test_instances_count_as_hyponyms_unless_left_out(tmp_path):
    built, at = collect(tmp_path, instances=False)
    dog = built.truth[built.truth["query_id"] == f"n{at['dog']}.lemma"]
    assert set(dog["document_id"]) == {f"n{at[x]}" for x in ("hunting dog", "hound", "pointer")}
    pool = built.pool_documents.set_index("document_id")["text"]
    assert pool[f"n{at['fido']}"] == "Fido"
    assert len(built.documents) == 9


def test_a_synset_is_relevant_to_itself_where_the_study_says_so(tmp_path):
    built, at = collect(tmp_path, own_document=True)
    sizes = built.truth["query_id"].value_counts().to_dict()
    assert sizes == {
        f"n{at[name]}.lemma": n for name, n in {"dog": 5, "hunting dog": 3, "hunter": 3}.items()
    }


def test_bounds_of_hyponyms_are_inclusive(tmp_path):
    files, at = write(tmp_path)
    synsets = Synsets(read_nouns(*files), True)
    assert synsets.asked(4, 4) == [at["dog"]]
    assert synsets.asked(3, 3) == []
    assert synsets.asked(8, 8) == [at["animal"]]
    with pytest.raises(ConfigError, match="minimum_relevant: no synset has 9 to 9 hyponyms"):
        wordnet.collect(synsets, parameters(minimum_relevant=9, maximum_relevant=9))


def test_branches_are_the_queries_without_one_above_them(tmp_path):
    files, at = write(tmp_path)
    synsets = Synsets(read_nouns(*files), True)
    asked = synsets.asked(1, 4)
    assert asked == [at[name] for name in ("dog", "hunting dog", "cat", "hunter")]
    assert synsets.branches(asked) == {
        at["dog"]: {at["dog"]},
        at["hunting dog"]: {at["dog"]},
        at["cat"]: {at["cat"]},
        at["hunter"]: {at["hunter"]},
    }
    everything = synsets.asked(0, 8)
    under = synsets.branches(everything)
    assert under[at["hound"]] == under[at["animal"]] == {at["animal"]}
    low = [at[name] for name in ("hunting dog", "hunter", "hound")]
    assert synsets.branches(low)[at["hound"]] == {at["hunting dog"], at["hunter"]}


def test_the_release_is_checked_by_its_counts(tmp_path):
    files, _ = write(tmp_path)
    nouns = read_nouns(*files)
    right = {"synsets": 9, "words": 12, "senses": 13}
    wordnet.check(nouns, right)
    with pytest.raises(DataError, match=r"found 9 synsets, need 82115 as in WordNet 3\.0"):
        wordnet.check(nouns, wordnet.EXPECTED)
    with pytest.raises(DataError, match="found 13 senses, need 14"):
        wordnet.check(nouns, right | {"senses": 14})
    older = replaced("WordNet 3.0 Copyright", "WordNet 2.1 Copyright")
    files, _ = write(tmp_path, data=older)
    with pytest.raises(DataError, match=r"release 2\.1, need WordNet 3\.0"):
        wordnet.check(read_nouns(*files), right)


def test_build_finds_the_module_hands_on_the_files_and_keeps_their_hashes(tmp_path, monkeypatch):
    files, _ = write(tmp_path)
    monkeypatch.setattr(wordnet, "EXPECTED", {"synsets": 9})
    given = {"split": "term", "minimum_relevant": 2, "maximum_relevant": 4, "instances": True}
    given |= {"own_document": False, "seed": 1, "shares": {"train": 0.6, "dev": 0.2, "test": 0.2}}
    given["minimum_relevant"] = 1
    given["shares"] = {"train": 0.3, "dev": 0.4, "test": 0.3}
    built = collections.build("wordnet", given, files)
    assert len(built.queries) == 4
    assert len(built.statistics["sha256 of data.noun"]) == 64
    with pytest.raises(ConfigError, match=r"--sources: found 1 files, need data\.noun and index"):
        collections.build("wordnet", given, files[:1])
    with pytest.raises(ConfigError, match="instance: the collection wordnet has no such key"):
        collections.build("wordnet", given | {"instance": True}, files)


def test_the_database_is_looked_for_where_the_study_says_or_debian_puts_it(tmp_path, monkeypatch):
    files, _ = write(tmp_path / "mine")
    assert wordnet.find_database(str(tmp_path / "mine")) == files
    files[1].unlink()
    with pytest.raises(ConfigError, match=r"found no index\.noun in the folder .*mine, need"):
        wordnet.find_database(str(tmp_path / "mine"))
    monkeypatch.setattr(wordnet, "DEBIAN", tmp_path / "none")
    assert wordnet.find_database(None) is None
    files, _ = write(tmp_path / "none")
    assert wordnet.find_database(None) == files
    assert Path(wordnet.ARCHIVE["members"]["data"]).name == wordnet.FILES[0]
