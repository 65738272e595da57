"""Records of results, and what a stage does with them, from the command line as a user would."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poolbias import records
from poolbias.errors import DataError
from poolbias.files import sweep, write_json
from poolbias.machine import path_here
from poolbias.parameters import by_hand, code
from poolbias.stage import Job

ROOT = Path(__file__).resolve().parents[2]
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of FIPS 180-4


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results" / "runs"
    (folder / "index" / "part").mkdir(parents=True)
    (folder / "a.tsv").write_text("abc")
    (folder / "index" / "b").write_text("b")
    (folder / "index" / "part" / "c").write_text("cc")
    (folder / "index" / ".stamp").write_text("Snakemake's")
    for name in ("a.tsv", "index"):
        records.write(folder / name, {"stage": "toy", "inputs": {"results/x": "1f"}})
    return folder


def test_a_result_is_known_by_its_bytes_wherever_its_folder_goes(results, tmp_path, monkeypatch):
    assert records.check(results / "a.tsv") == ABC
    assert records.read(results / "a.tsv")["stage"] == "toy"
    assert (tmp_path / "results/.records/runs/a.tsv.json").is_file()
    moved = results.parent.rename(tmp_path / "elsewhere") / "runs"
    assert records.check(moved / "a.tsv") == ABC
    (moved / "a.tsv").write_text("abd")
    with pytest.raises(DataError, match=r"elsewhere/runs/a\.tsv: found 3 bytes"):
        records.check(moved / "a.tsv")
    assert records.name(moved / "a.tsv") == "results/runs/a.tsv"
    assert records.locate("results/x", moved / "a.tsv") == tmp_path / "elsewhere" / "x"
    monkeypatch.chdir(moved)
    with pytest.raises(DataError):
        records.check(Path("../runs/a.tsv"))


def test_a_changed_byte_is_found_though_size_and_time_stay(results):
    file = results / "a.tsv"
    before = file.stat()
    file.write_text("abd")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    told = hashlib.sha256(b"abd").hexdigest()[:12]
    with pytest.raises(DataError) as error:
        records.check(file)
    assert f"found 3 bytes with SHA-256 {told}..., need 3 bytes with SHA-256 {ABC[:12]}" in str(
        error.value
    )
    assert f"delete {file} and run again" in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("part/c", "c", "part/c: found 1 bytes"),
        ("part/c", None, "part/c: found no file, need 2 bytes"),
        ("part/d", "d", "part/d: found 1 bytes with SHA-256 18ac3e7343f0..., need no file"),
    ],
)
def test_of_a_folder_the_file_that_differs_is_named(results, name, content, told):
    index = results / "index"
    (index / ".stamp").write_text("changed, and no part of it")
    records.check(index)
    (index / name).unlink(missing_ok=True)
    if content is not None:
        (index / name).write_text(content)
    with pytest.raises(DataError, match="as toy left it") as error:
        records.check(index)
    assert f"{index}/{told}" in str(error.value)
    assert f"delete {index} and run again" in str(error.value)


@pytest.mark.parametrize(
    ("content", "told"), [("{", "found 1 bytes"), (None, "found no file, need 2 bytes")]
)
def test_a_model_is_all_files_of_its_folder(results, content, told):
    model = results / "R"
    model.mkdir()
    files = {"config.json": "{}", "model.safetensors": "abc"}
    for name, text in files.items():
        (model / name).write_text(text)
        records.write(model / name, {"stage": "train"})
    (model / "README.md").write_text("of the user's own")
    names = ["README.md", *files]
    assert records.check_model(model) == {
        model / name: records.check(model / name) for name in names
    }
    (model / "config.json").unlink()
    if content is not None:
        (model / "config.json").write_text(content)
    job = Job("rerank", {}, {}, [], {})
    with pytest.raises(DataError, match="as train left it") as error:
        job.check(model / "model.safetensors")
    assert f"{model}/config.json: {told}" in str(error.value)
    assert f"delete {model} and run again" in str(error.value)
    records.forget(model / "model.safetensors")  # it is made again: with it all that it had
    assert records.read(model / "config.json") is None
    job.check(model / "model.safetensors")


def test_what_has_no_record_or_a_damaged_one_is_taken_as_it_is(results, tmp_path, caplog):
    (tmp_path / "mine.tsv").write_text("abc")
    assert records.check(tmp_path / "mine.tsv") == ABC
    assert records.place(tmp_path / "mine.tsv") is None
    (results / "mine.tsv").write_text("abc")
    assert records.check(results / "mine.tsv") == ABC
    records.place(results / "a.tsv").write_text("{")
    (results / "a.tsv").write_text("other")
    records.check(results / "a.tsv")
    assert "used unchecked" in caplog.text
    records.forget(results / "index")
    assert records.read(results / "index") is None


SCRIPT = """
import os, sys, time
{imports}
from poolbias import stage

def main(job):
    job.path("target").write_text(job.path("source").read_text() * job.parameters["times"])
    limits = job.parameters["limits"]
    limits["document"]
    (job.path("target").parent / "beside").write_text("beside")
    job.also_made(job.path("target").parent / "beside")
    if job.parameters.get("keeps"):
        exec(KEEPS)
    if job.parameters.get("dies"):
        os._exit(9)

stage.run(main, "A toy.", inputs=["source"], outputs=["target"])
"""


def start(folder, parameters, imports="", **options):
    """Start a toy stage of a repository of its own, which has the library beside it."""
    script = folder / "workflow" / "scripts" / "toy.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(SCRIPT.format(imports=imports))
    if not (folder / "poolbias").exists():
        (folder / "poolbias").symlink_to(ROOT / "poolbias")
    source = folder / "results" / "source"
    source.parent.mkdir(exist_ok=True)
    if not source.exists():
        source.write_text("ab")
    write_json(folder / "parameters.json", parameters)
    return subprocess.Popen(
        [
            *(sys.executable, "workflow/scripts/toy.py", "--parameters", "parameters.json"),
            *("--source", "results/source", "--target", "results/target", "--log", "toy.log"),
            *("--checkpoints", "kept"),
        ],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def run(folder, parameters, **options):
    process = start(folder, parameters, **options)
    told = process.communicate()[1]
    return process.returncode, told


GOOD = {"times": 2, "limits": {"document": 4}}


def test_a_stage_keeps_records_of_what_it_made_and_from_what(tmp_path):
    assert run(tmp_path, GOOD)[0] == 0
    record = records.read(tmp_path / "results" / "target")
    assert record["stage"] == "toy"
    assert record["bytes"] == 4
    assert record["sha256"] == hashlib.sha256(b"abab").hexdigest()
    assert record["parameters"] == GOOD
    assert record["inputs"] == {"results/source": hashlib.sha256(b"ab").hexdigest()}
    assert {"toy", "choices"} <= set(record["modules"])
    assert records.check(tmp_path / "results" / "beside")


def test_a_damaged_input_stops_a_stage_with_one_sentence_and_the_way_out(tmp_path):
    source = tmp_path / "results" / "source"
    source.parent.mkdir()
    source.write_text("ab")
    records.write(source, {"stage": "first"})
    source.write_text("ax")
    status, told = run(tmp_path, GOOD)
    assert status == 1
    assert "results/source: found 2 bytes" in told
    assert "as first left it" in told
    assert "Traceback" not in told
    assert not (tmp_path / "results" / "target").exists()
    records.forget(source)  # as the sentence says
    assert run(tmp_path, GOOD)[0] == 0


def test_a_job_that_died_leaves_no_record_that_speaks_of_other_bytes(tmp_path):
    assert run(tmp_path, GOOD)[0] == 0
    assert run(tmp_path, {**GOOD, "times": 3, "dies": True})[0] == 9
    assert (tmp_path / "results" / "target").read_text() == "ababab"
    assert records.read(tmp_path / "results" / "target") is None
    records.check(tmp_path / "results" / "target")


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        (
            {"times": 2, "limits": {"query": 1}},
            "the key 'limits.document' is missing (found: q",
        ),
        ({"times": 2.5, "limits": {"document": 1}}, "changed by hand, and a value of them cannot"),
        ({**GOOD, "precision": "fp8"}, "precision is 'fp8', need bf16, float32; correct it."),
        ({**GOOD, "device": "tpu"}, "device is 'tpu', need cpu, cuda; correct it."),
    ],
)
def test_mistakes_in_parameters_by_hand_are_one_sentence(tmp_path, parameters, told):
    status, output = run(tmp_path, parameters)
    assert status == 1
    assert told in output
    assert "Traceback" not in output


def test_a_fault_of_ours_has_its_traceback_and_what_was_changed_by_hand_is_known(tmp_path):
    wrong = {"times": 2.5, "limits": {"document": 1}}
    given = {"code": code("1f", [], wrong), **wrong}
    assert not by_hand(given)
    assert by_hand(given | {"times": 2})
    assert by_hand(wrong)
    status, output = run(tmp_path, given)
    assert status == 1
    assert "Traceback" in output


def test_records_tell_of_the_code_that_truly_ran(tmp_path):
    status, output = run(tmp_path, {"code": code("1f", [], GOOD), **GOOD})
    assert status == 0
    assert "the code that runs is not that which the parameters tell of" in output
    record = records.read(tmp_path / "results" / "target")
    told = record["parameters"]["code"]["fingerprint"]
    assert len(told) == 16
    again = {"code": code(told, [], GOOD), **GOOD}
    assert "is not that" not in run(tmp_path, again)[1]


def test_a_stage_interrupted_while_it_imports_says_nothing(tmp_path):
    slow = "import poolbias; print('here', file=sys.stderr, flush=True); time.sleep(30)"
    process = start(tmp_path, GOOD, imports=slow)
    assert process.stderr.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1] == ""
    assert process.returncode == -signal.SIGINT


def test_other_programs_keep_their_handler():
    told = "import signal, poolbias; print(signal.getsignal(signal.SIGINT).__name__)"
    done = subprocess.run(
        [sys.executable, "-c", told], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "default_int_handler\n"


def test_what_killed_jobs_left_is_removed_once_it_is_old(tmp_path):
    for name in (".a.tsv.abcd1234", ".a.tsv.new45678", ".a.tsv.longer_than_8", ".b.tsv.abcd1234"):
        (tmp_path / name).write_text("half")
    (tmp_path / ".a.tsv.folder_1" / "x").mkdir(parents=True)
    day_ago = time.time() - 86_401
    for path in tmp_path.iterdir():
        if "new" not in path.name:
            os.utime(path, (day_ago, day_ago))
    sweep(tmp_path / "a.tsv")
    left = {".a.tsv.new45678", ".a.tsv.longer_than_8", ".b.tsv.abcd1234"}
    assert {path.name for path in tmp_path.iterdir()} == left
    sweep(tmp_path / "nowhere" / "a.tsv")


def test_a_record_is_json_for_people_too(results):
    text = (results.parent / ".records" / "runs" / "index.json").read_text()
    assert json.loads(text)["files"]["part/c"]["bytes"] == 2
    assert text.startswith('{\n "bytes": 3,')


def test_unfinished_work_is_named_by_all_that_makes_the_result(tmp_path):
    def folder(**changes):
        fields = {"parameters": {"a": 1}, "modules": {"m": "1"}, "hashes": {Path("x"): "1f"}}
        fields |= {"checkpoints": tmp_path} | changes
        job = Job("toy", fields.pop("parameters"), {"in": [Path("x")]}, ["in"], {}, **fields)
        return job.unfinished()

    assert folder().parent == tmp_path
    assert folder().name.startswith("toy-")
    assert folder() == folder(parameters={"a": 1.0})  # one value, two spellings
    changes = [{"parameters": {"a": 2}}, {"modules": {"m": "2"}}, {"hashes": {Path("x"): "2e"}}]
    assert len({folder(), *(folder(**change) for change in changes)}) == 4
    assert folder(checkpoints=None) is None


def test_what_was_unfinished_is_removed_when_the_stage_has_finished(tmp_path):
    unfinished = "job.unfinished().mkdir(parents=True); print(job.unfinished(), file=sys.stderr)"
    status, told = run(tmp_path, {**GOOD, "keeps": True}, imports=f"KEEPS = {unfinished!r}")
    assert status == 0
    kept = [line for line in told.splitlines() if line.startswith("kept/toy-")]
    assert len(kept) == 1
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_manifest_names_files_of_the_repository_by_their_path_in_it():
    assert path_here(ROOT / "config" / "paper_tables.tsv") == "config/paper_tables.tsv"
    assert path_here(Path("results/hpo/metrics.tsv")) == "results/hpo/metrics.tsv"
    assert path_here(Path("/elsewhere/a.tsv")) == "/elsewhere/a.tsv"
