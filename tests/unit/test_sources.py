"""The list of official files: ours, and lists that are wrong."""

from pathlib import Path

import pytest
import yaml

from poolbias.errors import ConfigError
from poolbias.sources import parameters_of, read_sources, source_of

ROOT = Path(__file__).resolve().parents[2]
GIVEN = {
    "addresses": ["https://example.org/a.gz", "http://example.org/a.gz"],
    "size": 12,
    "hash": "md5:" + "0" * 32,
    "licence": "research only",
}


def test_our_list_reads_and_holds_what_is_published():
    found = read_sources(ROOT / "config" / "sources.yaml")
    archive = found["collectionandqueries.tar.gz"]
    assert (archive.size, archive.digits) == (1057717952, "31644046b18952c1386cd4564ba2ae69")
    assert len(archive.addresses) == 3
    assert all(source.licence and source.addresses for source in found.values())
    assert sum(1 for source in found.values() if source.digits) >= 20
    for name, source in found.items():
        assert source_of(name, parameters_of(source), name).by_hand == source.by_hand


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"addresses": []}, "x.addresses: need a list"),
        ({"addresses": ["ftp://example.org/a"]}, "x.addresses: need a list of http"),
        ({"addresses": "https://example.org/a"}, "x.addresses"),
        ({"size": 0}, "x.size: found 0, need bytes or unknown"),
        ({"size": None}, "x.size: found None"),
        ({"hash": "md5:12"}, "x.hash: found 'md5:12', need md5:<32 digits>"),
        ({"hash": "sha1:" + "0" * 40}, "x.hash"),
        ({"licence": " "}, "x.licence: need the terms"),
        ({"most_bytes": -1}, "x.most_bytes"),
        ({"md5": "0"}, "x.md5: no such key"),
    ],
)
def test_what_is_wrong_with_a_source_is_told(change, told):
    with pytest.raises(ConfigError) as error:
        source_of("a.gz", GIVEN | change, "x")
    assert told in str(error.value)


def test_unknown_is_a_value_and_names_are_bare():
    source = source_of("a.gz", GIVEN | {"size": "unknown", "hash": "unknown"}, "x")
    assert (source.size, source.digits, source.by_hand) == (None, "", "any length")
    for name in ("../a", "a/b", ".a", ""):
        with pytest.raises(ConfigError, match="need a file's bare name"):
            source_of(name, GIVEN, "x")


def test_a_list_without_files_is_refused(tmp_path):
    path = tmp_path / "sources.yaml"
    for text in ("", "[1]", yaml.safe_dump({"files": []}), "a: [", yaml.safe_dump({"a": 1})):
        path.write_text(text)
        with pytest.raises(ConfigError, match=r"sources\.yaml"):
            read_sources(path)
