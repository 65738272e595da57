"""Atomic writing, hashes of values, and the harness of the stages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from poolbias.errors import DataError
from poolbias.files import atomic_path, hash_of, read_json, sha256_of, write_json, write_text

ROOT = Path(__file__).resolve().parents[2]


def test_a_write_that_fails_leaves_what_stood_there(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), write_text(path) as text:
        text.write(f"half {1 / 0}")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_is_whole_and_has_usual_permissions(tmp_path):
    mask = os.umask(0o022)
    try:
        with atomic_path(tmp_path / "deep" / "file") as temporary:
            temporary.write_text("new")
            assert not (tmp_path / "deep" / "file").exists()
    finally:
        os.umask(mask)
    assert (tmp_path / "deep" / "file").read_text() == "new"
    assert (tmp_path / "deep" / "file").stat().st_mode & 0o777 == 0o644


def test_equal_values_have_equal_hashes_however_they_are_spelled():
    assert hash_of({"a": 1, "b": [1, 2]}) == hash_of({"b": [1.0, 2.0], "a": 1.0})
    assert hash_of({"a": 1}) != hash_of({"a": True})
    assert hash_of({"a": 1}) != hash_of({"a": "1"})
    assert hash_of({"a": None}) != hash_of({})
    assert len(hash_of(1, 16)) == 16


def test_the_hash_of_a_folder_is_that_of_its_files(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "file").write_text("abc")
    (tmp_path / "one" / ".hidden").write_text("a time stamp")
    assert sha256_of(tmp_path / "one") == sha256_of(tmp_path / "other")
    (tmp_path / "one" / "deep" / "file").rename(tmp_path / "one" / "file")
    assert sha256_of(tmp_path / "one") != sha256_of(tmp_path / "other")


def test_json_survives_and_refuses_nan(tmp_path):
    write_json(tmp_path / "x.json", {"ü": [1, 2.5]})
    assert read_json(tmp_path / "x.json") == {"ü": [1, 2.5]}
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", float("nan"))
    assert read_json(tmp_path / "x.json") == {"ü": [1, 2.5]}
    (tmp_path / "bad.json").write_text('{"a": 1,\n oops}')
    with pytest.raises(DataError, match=r"bad\.json:2: not JSON"):
        read_json(tmp_path / "bad.json")


SCRIPT = """
import sys
from poolbias import stage
from poolbias.errors import DataError

def main(job):
    if job.parameters.get("fail"):
        raise DataError("x.tsv:3: found a, need b; correct it.")
    if job.parameters.get("needs"):
        job.parameters["depth"]
    if job.parameters.get("full"):
        raise OSError(28, "No space left on device", "x.tsv")
    job.path("out").write_text("done")
    job.report(lines=3, share=0.123456)

stage.run(main, "A toy.", inputs=["source"], outputs=["out", "manifest?"])
"""


def stage(tmp_path, parameters, *options):
    (tmp_path / "toy.py").write_text(SCRIPT)
    (tmp_path / "source").write_text("abc")
    write_json(tmp_path / "p.json", parameters)
    return subprocess.run(
        [
            *(sys.executable, tmp_path / "toy.py", "--parameters", tmp_path / "p.json"),
            *("--out", tmp_path / "out", "--log", tmp_path / "toy.log", *options),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_stage_logs_its_figures_and_writes_its_manifest(tmp_path):
    done = stage(
        tmp_path,
        {"seed": 4, "code": "1f"},
        "--source",
        tmp_path / "source",
        "--manifest",
        tmp_path / "m.json",
    )
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "toy.log").read_text()
    assert "'seed': 4" in log
    assert "lines 3, share 0.1235" in log
    manifest = read_json(tmp_path / "m.json")
    assert manifest["parameters"] == {"seed": 4, "code": "1f"}
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert manifest["inputs"] == {str(tmp_path / "source"): abc}
    assert manifest["figures"]["lines"] == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fail": True}, "toy: x.tsv:3: found a, need b; correct it."),
        ({"full": True}, "toy: x.tsv: No space left on device; free some space"),
        ({"needs": True}, "toy: --parameters: the key 'depth' is missing (found: needs)"),
        ([1], "toy: --parameters: found [1], need a JSON object"),
    ],
)
def test_a_users_mistake_is_one_sentence_and_exit_code_1(tmp_path, parameters, message):
    done = stage(tmp_path, parameters, "--source", tmp_path / "source")
    assert done.returncode == 1
    assert message in done.stderr
    assert message in (tmp_path / "toy.log").read_text()
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_missing_input_is_named(tmp_path):
    done = stage(tmp_path, {}, "--source", tmp_path / "nowhere")
    assert done.returncode == 1
    assert "nowhere: no such input" in done.stderr
    assert "Traceback" not in done.stderr
