"""Archives that are well, damaged, or made to write where they must not."""

import io
import stat
import tarfile
import zipfile

import pytest

from poolbias.errors import DataError
from poolbias.unpacking import extract, unpack


def tar(path, *members, kind=tarfile.REGTYPE, mode="w:gz"):
    with tarfile.open(path, mode) as opened:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size, info.type = (len(content) if kind == tarfile.REGTYPE else 0), kind
            info.linkname = "/etc/passwd"
            opened.addfile(info, io.BytesIO(content))
    return path


def zipped(path, *members, mode=0):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            opened.writestr(info, content)
    return path


MEMBERS = [("d/train/a.tsv", b"one\n"), ("d/readme.md", b"two")]


@pytest.mark.parametrize("make", [tar, zipped])
def test_members_come_out_as_they_are(tmp_path, make):
    archive = make(tmp_path / "archive", *MEMBERS)
    assert unpack(archive, tmp_path / "out", 100) == [name for name, _ in MEMBERS]
    assert (tmp_path / "out/d/train/a.tsv").read_bytes() == b"one\n"
    assert (tmp_path / "out/d/readme.md").read_bytes() == b"two"


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize("name", ["../up", "/etc/own", "d/../../up", "d\\..\\up", "C:/own"])
def test_names_outside_the_folder_are_refused_and_nothing_is_left(tmp_path, make, name):
    archive = make(tmp_path / "archive", ("fine", b"x"), (name, b"x"))
    with pytest.raises(DataError, match="would lie outside the folder"):
        unpack(archive, tmp_path / "new" / "out", 100)
    assert not list((tmp_path / "new").iterdir())
    assert not (tmp_path / "up").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_links_and_devices_of_a_tar_are_refused(tmp_path, kind):
    archive = tar(tmp_path / "archive", ("link", b""), kind=kind)
    with pytest.raises(DataError, match="is a link or a device"):
        unpack(archive, tmp_path / "out", 100)


def test_links_of_a_zip_are_refused(tmp_path):
    archive = zipped(tmp_path / "archive", ("link", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777)
    with pytest.raises(DataError, match="is a link or a device"):
        unpack(archive, tmp_path / "out", 100)


@pytest.mark.parametrize("make", [tar, zipped])
def test_more_bytes_than_promised_stop_it(tmp_path, make):
    archive = make(tmp_path / "archive", ("a", b"0" * 60), ("b", b"0" * 41))
    with pytest.raises(DataError, match="b goes beyond the 100 bytes"):
        unpack(archive, tmp_path / "out", 100)
    assert unpack(archive, tmp_path / "out", 101) == ["a", "b"]


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_is_refused(tmp_path, make):
    archive = make(tmp_path / "archive", ("a", b"1"), ("a", b"2"))
    with pytest.raises(DataError, match="a stands twice"):
        unpack(archive, tmp_path / "out", 100)


def test_what_is_no_archive_a_broken_one_and_an_empty_one_are_told(tmp_path):
    whole = tar(tmp_path / "archive", ("a", bytes(range(256)) * 4000)).read_bytes()
    for content in (b"text", whole[: len(whole) // 2], b""):
        (tmp_path / "archive").write_bytes(content)
        with pytest.raises(DataError, match=r"archive: "):
            unpack(tmp_path / "archive", tmp_path / "out", 10**7)
    with pytest.raises(DataError, match="holds no file"):
        unpack(tar(tmp_path / "none"), tmp_path / "out", 100)
    assert not (tmp_path / "out").exists()


# Single members


def mixed(path, kind="w:gz"):
    with tarfile.open(path, kind) as opened:
        for name in ("top/a", "top/b", "../outside"):
            member = tarfile.TarInfo(name)
            member.size = 3
            opened.addfile(member, io.BytesIO(b"abc"))
        link = tarfile.TarInfo("top/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        opened.addfile(link)
    return path


def test_only_what_is_named_leaves_an_mixed(tmp_path):
    found = tmp_path / "out" / "a"
    extract(mixed(tmp_path / "x.tar.gz"), {"top/a": found})
    assert found.read_bytes() == b"abc"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "out", "x.tar.gz"]


@pytest.mark.parametrize(
    ("member", "told"),
    [
        ("top/c", r"x\.tar\.gz: holds no top/c; get the archive anew"),
        ("top/link", r"top/link is no plain file"),
    ],
)
def test_a_member_that_is_missing_or_no_file_is_named(tmp_path, member, told):
    with pytest.raises(DataError, match=told):
        extract(mixed(tmp_path / "x.tar.gz"), {member: tmp_path / "out"})
    assert not (tmp_path / "out").exists()


def test_a_damaged_archive_is_named(tmp_path):
    path = mixed(tmp_path / "x.tar.gz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"x\.tar\.gz: "):
        extract(path, {"top/b": tmp_path / "b"})
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="is no tar archive"):
        extract(path, {"top/b": tmp_path / "b"})
