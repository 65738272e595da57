import gzip

import pytest

from poolbias.errors import DataError
from poolbias.formats.obo import Synonym, read_obo

HEADER = """format-version: 1.4
data-version: test/1
synonymtypedef: layperson "layperson term"
"""

ODD = (
    HEADER
    + r"""
! a line that is only a comment
[Term]   ! the first
id: T:1 {source="x ! y"} ! its id
name: Wow! A \{big\} name\, with\Wblank {x} {since="1"} ! old
alt_id: T:100
alt_id: T:101 ! second
def: "A \"no\" [no list] ! here\nand\tthere \\ done." [A:1 "a, \"b\" ]", http://b/x\,y] {a=b, c="d"}
comment: unbalanced " quote { and [ bracket
synonym: "one [two] {three}" EXACT []
synonym: "lay" EXACT layperson [X:1, Y:2]
synonym: "lay by reference" EXACT [http://purl.org/hp#layperson, http://c.org/1]
synonym: "not by reference" NARROW [http://purl.org/hp#other]
synonym: "typed wins" BROAD abbreviation [http://purl.org/hp#layperson]
synonym: "no scope" [ ]
synonym: "related" RELATED [] {x="]"} ! tail
is_a: T:2 {x="y"} ! parent
is_a: T:3
weird-tag_1: whatever "it [holds
property_value: goes on \
in the next line

[Typedef]
id: T:2
id: not read
name: part of

[Term]
id: T:2
name: Two
is_obsolete: true

[Instance]
id: T:9

[Term]
name: Three
id: T:3
def: "" []
is_obsolete: false
"""
)


def write(tmp_path, text, name="x.obo"):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("variant", ["lf", "crlf", "bom", "gz"])
def test_every_oddity_is_read(tmp_path, variant):
    if variant == "gz":
        path = tmp_path / "x.obo.gz"
        path.write_bytes(gzip.compress(ODD.encode()))
    else:
        text = ODD.replace("\n", "\r\n") if variant == "crlf" else ODD
        path = write(tmp_path, "\ufeff" + text if variant == "bom" else text)
    ontology = read_obo(path)
    assert ontology.header["data-version"] == ["test/1"]
    one, two, three = ontology.terms
    assert (one.id, one.line) == ("T:1", 6)
    assert one.name == "Wow! A {big} name, with blank {x}"
    assert one.definition == 'A "no" [no list] ! here\nand\tthere \\ done.'
    assert one.alternative_ids == ("T:100", "T:101")
    assert one.parents == ("T:2", "T:3")
    assert one.synonyms == (
        Synonym("one [two] {three}", "EXACT", None, ()),
        Synonym("lay", "EXACT", "layperson", ("X:1", "Y:2")),
        Synonym(
            "lay by reference",
            "EXACT",
            "layperson",
            ("http://purl.org/hp#layperson", "http://c.org/1"),
        ),
        Synonym("not by reference", "NARROW", None, ("http://purl.org/hp#other",)),
        Synonym("typed wins", "BROAD", "abbreviation", ("http://purl.org/hp#layperson",)),
        Synonym("no scope", "RELATED", None, ()),
        Synonym("related", "RELATED", None, ()),
    )
    assert (two.id, two.obsolete, two.definition) == ("T:2", True, None)
    assert (three.id, three.obsolete, three.definition) == ("T:3", False, "")


@pytest.mark.parametrize(
    ("lines", "line", "part"),
    [
        (["no colon here"], 8, "no colon here"),
        (["[Term"], 8, "[Term"),
        (["name: Again"], 8, "second `name`"),
        (["id: T:2"], 8, "second `id`"),
        (['def: "a" []', 'def: "b" []'], 9, "second `def`"),
        (["def: no quotes []"], 8, "no quotes"),
        (['def: "no references"'], 8, "no references"),
        (['def: "a \\q b" []'], 8, "escape \\q"),
        (['def: "a" [] rest'], 8, "rest"),
        (['synonym: "a" EXCAT []'], 8, "EXACT, BROAD"),
        (['synonym: "a EXACT []'], 8, "a EXACT"),
        (['synonym: "a" EXACT'], 8, "references"),
        (['synonym: "a" EXACT [b,, c]'], 8, "set off by commas"),
        (['synonym: "a" EXACT [b,]'], 8, "set off by commas"),
        (["is_a: T:2 T:3"], 8, "T:2 T:3"),
        (["is_a: ! only a comment"], 8, "is_a"),
        (["is_obsolete: maybe"], 8, "true"),
        (["[Term]", "name: no id"], 8, "without `id`"),
        (["[Term]", "id: T:5"], 8, "without `name`"),
        (["[Term]", "id: T:1", "name: x"], 8, "T:1 again (first on line 5)"),
        (["comment: cut off \\"], 8, "backslash"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, lines, line, part):
    path = write(tmp_path, HEADER + "\n[Term]\nid: T:1\nname: One\n" + "\n".join(lines))
    with pytest.raises(DataError) as caught:
        read_obo(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "without a [Term]"),
        (HEADER, "without a [Term]"),
        ("[Term]\nid: T:1\nname: x\n", "format-version none"),
        ("format-version: 1.0\n\n[Term]\nid: T:1\nname: x\n", "format-version 1.0"),
    ],
)
def test_what_is_no_ontology_is_refused(tmp_path, text, part):
    with pytest.raises(DataError, match=r"x\.obo:\d+: ") as caught:
        read_obo(write(tmp_path, text))
    assert part in str(caught.value)


def test_bytes_that_are_not_utf8_are_refused(tmp_path):
    path = tmp_path / "x.obo"
    path.write_bytes((HEADER + "\n[Term]\nid: T:1\nname: ").encode() + b"\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_obo(path)
