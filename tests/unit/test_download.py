"""Downloads from a server on this machine: whole ones, broken ones, and archives."""

import hashlib
import http.server
import io
import os
import signal
import tarfile
import threading
import time

import pytest

from poolbias import download
from poolbias.errors import DataError, ToolError

CONTENT = b"0123456789" * 300
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Answers(http.server.BaseHTTPRequestHandler):
    """`/whole` is the content; `/half` breaks off; `/longer` goes on; `/other` has other bytes.

    `/slow` stops after half of it until the server is told to go on.
    """

    def do_GET(self):
        content = {"/other": CONTENT[::-1], "/longer": CONTENT + b"x" * 9}.get(self.path, CONTENT)
        self.server.asked.append(self.path)
        if self.path == "/none":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        half = content[: len(content) // 2]
        self.wfile.write(half if self.path in {"/half", "/slow"} else content)
        if self.path == "/slow":
            self.server.goes_on.wait(60)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as found:
        found.asked, found.goes_on = [], threading.Event()
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.goes_on.set()
        found.shutdown()
        thread.join()


def fetch(server, name, path, **changes):
    given = {"size": len(CONTENT), "sha256": SHA256} | changes
    return download.fetch(f"http://127.0.0.1:{server.server_port}/{name}", path, **given)


def test_a_file_is_fetched_once_and_has_its_name_when_it_is_right(server, tmp_path):
    path = tmp_path / "new" / "file"
    assert fetch(server, "whole", path) is True
    assert path.read_bytes() == CONTENT
    assert [file.name for file in path.parent.iterdir()] == ["file"]
    assert fetch(server, "whole", path) is False
    assert server.asked == ["/whole"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("half", "found 1500 bytes, need 3000; try again, or get it elsewhere"),
        ("longer", "found 3001 bytes, need 3000"),
        ("other", "as SHA-256, need " + SHA256),
    ],
)
def test_other_bytes_never_have_the_name(server, tmp_path, name, told):
    path = tmp_path / "file"
    with pytest.raises(DataError) as error:
        fetch(server, name, path)
    assert f"{path}.part: " in str(error.value)
    assert told in str(error.value)
    assert str(path) + "." in str(error.value)
    assert not path.exists()
    assert fetch(server, "whole", path) is True
    assert not (tmp_path / "file.part").exists()


def test_a_killed_download_leaves_nothing_under_the_name_and_the_next_completes(server, tmp_path):
    path = tmp_path / "file"
    child = os.fork()
    if child == 0:
        try:
            fetch(server, "slow", path)
        finally:
            os._exit(1)
    part = tmp_path / "file.part"
    while not part.exists():
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not path.exists()
    assert fetch(server, "whole", path) is True
    assert path.read_bytes() == CONTENT
    assert not part.exists()


def test_an_address_without_an_answer_tells_how_to_do_without(server, tmp_path):
    path = tmp_path / "file"
    with pytest.raises(ToolError, match=r"/none: cannot be fetched \(Not Found\)") as error:
        fetch(server, "none", path)
    assert f"(SHA-256 {SHA256}) and put it at {path}." in str(error.value)
    with pytest.raises(ToolError, match="cannot be fetched"):
        download.fetch("http://127.0.0.1:9/x", path, len(CONTENT), SHA256)
    assert not path.exists()


def test_a_file_put_there_by_hand_is_taken_if_it_is_right(server, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    assert fetch(server, "whole", path) is False
    assert server.asked == []
    path.write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(DataError, match=r"as SHA-256, need .*; remove it, or get it elsewhere"):
        fetch(server, "whole", path)
    assert path.read_bytes() == CONTENT[:-1] + b"x"


def archive(path, kind="w:gz"):
    with tarfile.open(path, kind) as opened:
        for name in ("top/a", "top/b", "../outside"):
            member = tarfile.TarInfo(name)
            member.size = 3
            opened.addfile(member, io.BytesIO(b"abc"))
        link = tarfile.TarInfo("top/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        opened.addfile(link)
    return path


def test_only_what_is_named_leaves_an_archive(tmp_path):
    found = tmp_path / "out" / "a"
    download.extract(archive(tmp_path / "x.tar.gz"), {"top/a": found})
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
        download.extract(archive(tmp_path / "x.tar.gz"), {member: tmp_path / "out"})
    assert not (tmp_path / "out").exists()


def test_a_damaged_archive_is_named(tmp_path):
    path = archive(tmp_path / "x.tar.gz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"x\.tar\.gz: "):
        download.extract(path, {"top/b": tmp_path / "b"})
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="is no tar archive"):
        download.extract(path, {"top/b": tmp_path / "b"})
