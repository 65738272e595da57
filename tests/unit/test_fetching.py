"""Official files from a server that stalls, truncates, corrupts, redirects, refuses and moves."""

import dataclasses
import hashlib
import os
import signal
import time

import pytest
from broken_server import CONTENT, serving

from poolbias.errors import DataError, ToolError
from poolbias.fetching import Patience, check, retrieve
from poolbias.sources import Source

MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
QUICK = Patience(timeout=0.3, tries=3, first_wait=0.01, longest_wait=0.02)


@pytest.fixture
def server():
    with serving() as found:
        yield found


def source(server, *names, **changes):
    addresses = tuple(f"{server.address}/{name}" for name in names)
    given = Source("file.gz", addresses, len(CONTENT), "md5", MD5, "for tests")
    return dataclasses.replace(given, **changes)


def asked(server):
    return [path for path, _ in server.asked]


def test_a_file_is_fetched_once_and_then_there(server, tmp_path):
    path = tmp_path / "new" / "file.gz"
    assert retrieve(source(server, "whole"), path, patience=QUICK) == "fetched"
    assert path.read_bytes() == CONTENT
    assert retrieve(source(server, "whole"), path, patience=QUICK) == "there"
    assert server.asked == [("/whole", "")]
    assert [file.name for file in path.parent.iterdir()] == ["file.gz"]


@pytest.mark.parametrize(
    ("name", "ranges"),
    [
        ("stall-once", ["", "bytes=30000-"]),
        ("truncate-once", ["", "bytes=40000-"]),
        ("busy-once", ["", ""]),
    ],
)
def test_an_address_that_stalls_or_breaks_off_is_asked_for_the_rest(server, tmp_path, name, ranges):
    path = tmp_path / "file.gz"
    assert retrieve(source(server, name, "404"), path, patience=QUICK) == "fetched"
    assert path.read_bytes() == CONTENT
    assert server.asked == [(f"/{name}", found) for found in ranges]


def test_a_killed_download_leaves_nothing_under_the_name_and_the_next_goes_on(server, tmp_path):
    path = tmp_path / "file.gz"
    child = os.fork()
    if child == 0:
        try:
            retrieve(source(server, "stall-once"), path)  # it stalls for a second
        finally:
            os._exit(1)
    part = tmp_path / "file.gz.part"
    while not (part.exists() and part.stat().st_size):
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not path.exists()
    kept = part.stat().st_size
    assert retrieve(source(server, "stall-once"), path, patience=QUICK) == "fetched"
    assert path.read_bytes() == CONTENT
    assert not part.exists()
    assert server.asked[1:] == [("/stall-once", f"bytes={kept}-")]


def test_what_an_earlier_run_left_is_resumed(server, tmp_path):
    path = tmp_path / "file.gz"
    (tmp_path / "file.gz.part").write_bytes(CONTENT[:1000])
    retrieve(source(server, "whole"), path, patience=QUICK)
    assert path.read_bytes() == CONTENT
    assert server.asked == [("/whole", "bytes=1000-")]


@pytest.mark.parametrize("left", [b"x" * 1000, CONTENT[:-1] + b"?", CONTENT + b"more"])
def test_a_beginning_of_another_file_is_thrown_away(server, tmp_path, left):
    path = tmp_path / "file.gz"
    (tmp_path / "file.gz.part").write_bytes(left)
    retrieve(source(server, "whole"), path, patience=QUICK)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["no-ranges", "wrong-range"])
def test_an_address_that_cannot_resume_gives_the_file_from_its_start(server, tmp_path, name):
    path = tmp_path / "file.gz"
    (tmp_path / "file.gz.part").write_bytes(CONTENT[:1000])
    retrieve(source(server, name), path, patience=QUICK)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["409", "404", "410", "403", "circle", "elsewhere-by-file"])
def test_an_address_that_refuses_gives_way_at_once(server, tmp_path, name):
    path = tmp_path / "file.gz"
    assert retrieve(source(server, name, "whole"), path, patience=QUICK) == "fetched"
    assert path.read_bytes() == CONTENT
    assert asked(server)[-1] == "/whole"
    if name != "circle":  # which urllib itself follows a few times
        assert asked(server) == [f"/{name}", "/whole"]


@pytest.mark.parametrize("name", ["corrupt", "longer", "500", "truncate-always", "empty"])
def test_wrong_bytes_or_lasting_faults_give_way_to_the_next_address(server, tmp_path, name):
    path = tmp_path / "file.gz"
    retrieve(source(server, name, "whole"), path, patience=QUICK)
    assert path.read_bytes() == CONTENT


def test_redirects_are_followed(server, tmp_path):
    path = tmp_path / "file.gz"
    retrieve(source(server, "redirect"), path, patience=QUICK)
    assert path.read_bytes() == CONTENT
    assert asked(server) == ["/redirect", "/whole"]


def test_if_no_address_gives_the_file_all_answers_are_told_and_nothing_has_its_name(
    server, tmp_path
):
    path = tmp_path / "file.gz"
    with pytest.raises(ToolError) as error:
        retrieve(source(server, "404", "409", "corrupt", "500"), path, patience=QUICK)
    told = str(error.value)
    for words in (
        "/404 (HTTP 404",
        "/409 (HTTP 409",
        "/corrupt (gave other bytes (MD5 ",
        "3 times",
    ):
        assert words in told
    assert f"102400 bytes, MD5 {MD5}" in told
    assert str(path) in told
    assert not path.exists()


def test_nobody_listening_is_told(tmp_path):
    with serving() as gone:
        pass
    with pytest.raises(ToolError, match="refused, 3 times"):
        retrieve(source(gone, "whole"), tmp_path / "file.gz", patience=QUICK)


def test_a_users_own_file_is_linked_to_without_the_network(server, tmp_path):
    folder, path = tmp_path / "mine", tmp_path / "results" / "file.gz"
    folder.mkdir()
    (folder / "file.gz").write_bytes(CONTENT)
    assert retrieve(source(server, "404"), path, folder, QUICK) == "taken"
    assert path.is_symlink()
    assert path.read_bytes() == CONTENT
    assert server.asked == []


def test_a_users_own_file_of_other_bytes_is_refused_and_a_missing_one_fetched(server, tmp_path):
    (tmp_path / "file.gz").write_bytes(CONTENT[::-1])
    with pytest.raises(DataError, match=rf"found MD5 [0-9a-f]+, need {MD5}; it is the user's own"):
        retrieve(source(server, "whole"), tmp_path / "new", tmp_path, QUICK)
    assert retrieve(source(server, "whole"), tmp_path / "new", tmp_path / "no", QUICK) == "fetched"


def test_a_file_that_lies_there_with_other_bytes_is_refused(server, tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(CONTENT[:-5])
    with pytest.raises(DataError, match="found 102395 bytes, need 102400; remove it"):
        retrieve(source(server, "whole"), path, patience=QUICK)
    assert path.exists()


def test_where_no_hash_is_known_the_first_download_is_recorded_and_must_stay(server, tmp_path):
    path = tmp_path / "file.gz"
    unknown = source(server, "whole", size=None, algorithm="", digits="")
    (tmp_path / "file.gz.part").write_bytes(b"of another file")
    assert retrieve(unknown, path, patience=QUICK) == "fetched"
    assert path.read_bytes() == CONTENT
    record = tmp_path / "file.gz.sha256"
    assert record.read_text() == f"{SHA256}  file.gz\n"
    assert retrieve(unknown, path, patience=QUICK) == "there"
    path.write_bytes(CONTENT[::-1])
    with pytest.raises(DataError, match=f"need {SHA256}"):
        check(unknown, path, "remove it")
    path.unlink()
    other = source(server, "corrupt", size=None, algorithm="", digits="")
    with pytest.raises(DataError, match="of an earlier download"):
        retrieve(other, path, patience=QUICK)
    assert not path.exists()


def test_where_no_hash_is_known_a_broken_off_answer_is_still_noticed(server, tmp_path):
    path = tmp_path / "file.gz"
    unknown = source(server, "truncate-once", size=None, algorithm="", digits="")
    retrieve(unknown, path, patience=QUICK)
    assert path.read_bytes() == CONTENT
    assert server.asked == [("/truncate-once", ""), ("/truncate-once", "")]
