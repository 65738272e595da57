"""Disks that fill up, files that change, jobs that die: one sentence, and the next run completes.

Every fault is injected into the stages of the smoke study, with the commands that Snakemake starts.
"""

import hashlib
import random
import re
import time

import pytest
from conftest import Workflow
from faults import (
    bring,
    can_mount,
    command_of,
    cut,
    flip,
    killed_when,
    options_of,
    remove_outputs,
    run,
    start,
)
from pages import copy_repository


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def result(study, pattern):
    """Return the name of the first result that fits a pattern."""
    return str(sorted(study.folder.glob(pattern))[0].relative_to(study.folder))


def stage_of(smoke, folder, pattern):
    """Return the command of the stage that makes a result, its inputs brought to a folder."""
    command = command_of(smoke, result(smoke, pattern))
    return bring(smoke, folder, command)


def sentences(told):
    """Return what a stage said went wrong; a traceback is none of it."""
    assert "Traceback" not in told, told
    return re.findall(r"ERROR (.+)", told)


INPUTS = {
    "train_coupled_ranker": {"--tokens", "--candidates", "--parameters", "--log"},
    "rerank": {"--ranker", "--run", "--queries", "--documents", "--tokens"},
    "encode_texts": {"--documents", "--queries"},
}


def same(smoke, folder, command, *names):
    """Check that results have the bytes of those that nothing disturbed."""
    options = options_of(command)[1]
    for path in [path for name in names for path in options[f"--{name}"]]:
        assert digest(folder / path) == digest(smoke.folder / path), path


CET = "results/rankers/*.dense.cet-paper-tau1.*/seed-1/R/model.safetensors"


def test_a_training_killed_between_any_steps_ends_with_the_same_bytes(smoke, tmp_path):
    command = stage_of(smoke, tmp_path, CET)
    remove_outputs(tmp_path, command, INPUTS["train_coupled_ranker"])
    often = command.replace("--checkpoint-minutes 10.0", "--checkpoint-minutes 0.00001")
    assert often != command
    moments = random.Random(3)
    resumed, kills = set(), 0
    while True:
        process = start(tmp_path, often)
        before = newest(tmp_path)
        if not killed_when(process, lambda before=before: newest(tmp_path) > before):
            break
        time.sleep(moments.uniform(0, 0.05))
        kills += 1
        resumed.add(newest(tmp_path))
        remove_outputs(tmp_path, command, INPUTS["train_coupled_ranker"])
    told = (tmp_path / "told").read_text()
    assert process.returncode == 0, told
    assert kills >= 3
    assert len(re.findall("goes on after step", told)) >= 3
    same(smoke, tmp_path, command, "r", "s", "training", "snapshots")
    assert list((tmp_path / "results/checkpoints").iterdir()) == []


def newest(folder):
    """Return the step of a training's last checkpoint."""
    found = folder.glob("results/checkpoints/*/step-*/SHA256SUMS")
    return max((int(path.parent.name[5:]) for path in found), default=0)


def test_a_training_that_is_told_to_end_keeps_what_it_did(smoke, tmp_path):
    command = stage_of(smoke, tmp_path, CET)
    remove_outputs(tmp_path, command, INPUTS["train_coupled_ranker"])
    process = start(tmp_path, command)
    while "starts, parameters" not in (tmp_path / "told").read_text():
        time.sleep(0.01)
    while not list(tmp_path.glob("results/rankers/*/*/.lease/*")):
        time.sleep(0.01)
    process.terminate()  # the job's shell, as Snakemake and Slurm do
    assert process.wait() in (143, 0)
    assert run(tmp_path, command)[0] == 0
    same(smoke, tmp_path, command, "r", "s", "training")


SHARDED = """
import runpy, sys
from poolbias import shards
shards.ROWS = {rows}
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize(
    ("pattern", "rows", "outputs"),
    [
        ("results/rankings/*.dense.cet-paper-tau1.*/*/*/*/test.run.gz", 20, ["ranking"]),
        ("results/encodings/*/*/documents.npy", 100, ["documents-vectors", "queries-vectors"]),
    ],
)
def test_scoring_and_encoding_go_on_shard_by_shard(smoke, tmp_path, pattern, rows, outputs):
    command = stage_of(smoke, tmp_path, pattern)
    stage = options_of(command)[0]
    remove_outputs(tmp_path, command, INPUTS[stage])
    (tmp_path / "sharded.py").write_text(SHARDED.format(rows=rows))
    sharded = command.replace("exec python ", "exec python sharded.py ")

    def shards():
        return len(list(tmp_path.glob("results/checkpoints/*/[!.]*.shard")))

    kills = 0
    while True:
        process, before = start(tmp_path, sharded), shards()
        if not killed_when(process, lambda before=before: shards() > before):
            break
        kills += 1
        remove_outputs(tmp_path, command, INPUTS[stage])
        if kills == 3:
            flip(next(tmp_path.glob("results/checkpoints/*/*.shard")), place=0.9)
    told = (tmp_path / "told").read_text()
    assert process.returncode == 0, told
    assert kills >= 3
    assert "shards are there" in told
    assert "is damaged and made again" in told
    same(smoke, tmp_path, command, *outputs)


@pytest.mark.parametrize(
    ("pattern", "option", "file", "damage"),
    [
        ("results/runs/*/bm25*/test.run.gz", "--index", "*.fdt", cut),
        ("results/runs/*/bm25*/test.run.gz", "--index", "segments_*", flip),
        (CET, "--candidates", "documents.npy", flip),
        (CET, "--tokens", "documents.ids.npy", cut),
        ("results/rankings/*.cet-paper-tau1.*/*/*/*/test.run.gz", "--ranker", "", flip),
        ("results/rankings/*.cet-paper-tau1.*/*/*/*/test.run.gz", "--ranker", "config.json", cut),
        ("results/rankings/*.cet-paper-tau1.*/*/*/*/test.run.gz", "--run", "", flip),
        ("results/metrics/rankings/*.cet-paper-tau1.*/*/*/*/*truth*.tsv", "--runs", "", cut),
    ],
)
def test_a_result_that_changed_is_not_used(smoke, tmp_path, pattern, option, file, damage):
    command = stage_of(smoke, tmp_path, pattern)
    stage, options = options_of(command)
    target = tmp_path / options[option][0]
    within = target if target.is_dir() else target.parent
    damaged = next(within.glob(file)) if file else target
    damage(damaged)
    status, told = run(tmp_path, command)
    assert status == 1
    (sentence,) = sentences(told)
    whole = target if target.is_dir() else damaged
    if target.suffix == ".safetensors":  # a model is its folder
        whole = target.parent
    name, whole = damaged.relative_to(tmp_path), whole.relative_to(tmp_path)
    told = rf"{stage}: {re.escape(str(name))}: found \d+ bytes .*, need \d+ bytes .* left it"
    assert re.match(told, sentence)
    assert f"delete {whole} and run again" in sentence


def test_snakemake_tells_of_a_damaged_result_and_completes_once_it_is_gone(smoke, tmp_path):
    copy = Workflow(copy_repository(tmp_path, smoke), root=tmp_path)
    ranking = result(copy, "results/rankings/*.bm25.naive.*/seed-1/bm25*/top-*/test.run.gz")
    metrics = [
        path
        for path in copy.folder.glob("results/metrics/rankings/*.bm25.naive.*/*/bm25*/*/*.tsv")
        if "truth" in path.name
    ]
    before = [digest(path) for path in metrics]
    for path in metrics:
        path.unlink()
    content = copy.folder.joinpath(ranking).read_bytes()
    flip(copy.folder / ranking)
    names = [str(path.relative_to(copy.folder)) for path in metrics]
    output = copy.run(*names, check=False)
    assert f"{ranking}: found" in output
    assert f"delete {ranking} and run again" in output
    (copy.folder / ranking).unlink()
    copy.run(*names)
    assert [digest(path) for path in metrics] == before
    assert (copy.folder / ranking).read_bytes() == content


FULL = r"(No space left on device|File too large); (free some space|raise the limit)"


@pytest.mark.parametrize(
    ("pattern", "size", "outputs"),
    [
        ("results/collections/*/documents.tsv", "64k", ["documents", "truth"]),
        ("results/tokens/*/*", "32k", ["tokens"]),
        ("results/encodings/*/*/documents.npy", "200k", ["documents-vectors", "queries-vectors"]),
        (CET, "60m", ["r", "s", "training"]),
        ("results/rankings/*.cet-paper-tau1.*/*/*/*/test.run.gz", "4k", ["ranking"]),
    ],
)
def test_a_disk_that_fills_up_in_the_middle_of_a_write(smoke, tmp_path, pattern, size, outputs):
    command = stage_of(smoke, tmp_path, pattern)
    options = options_of(command)[1]
    # The outputs lie on a disk of their own, which is too small and then grows.
    moved = {path: f"disk/{path}" for name in outputs for path in options[f"--{name}"]}
    script = command
    for path, target in moved.items():
        script = script.replace(f" {path} ", f" {target} ").replace(f" {path}\n", f" {target}\n")
        script = re.sub(rf" {re.escape(path)}$", f" {target}", script)
    script = script.replace("exec python", "python")
    script = re.sub(r"--checkpoints \S+ ", "", script)
    (tmp_path / "disk").mkdir()
    for target in moved.values():
        (tmp_path / target).parent.mkdir(parents=True, exist_ok=True)
    folders = " ".join({str((tmp_path / target).parent) for target in moved.values()})
    names = " ".join(moved.values())
    shown = f"find disk -type f; for f in {names}; do test ! -f $f || sha256sum $f; done"
    if can_mount():
        disk = tmp_path / "disk"
        inside = (
            f"mount -t tmpfs -o size={size} tmpfs {disk}; mkdir -p {folders}\n"
            f"( {script} ) && exit 9\n echo AFTER; {shown}; echo MORE\n"
            f"mount -o remount,size=2g {disk}\n( {script} )\n echo THEN; {shown}"
        )
        (tmp_path / "inside.sh").write_text(inside)
        whole = "unshare -rm bash -uo pipefail inside.sh"
    else:
        limit = int(size[:-1]) * {"k": 1, "m": 1024}[size[-1]] // 4 or 1
        whole = (
            f"( ulimit -f {limit}; {script} ) && exit 9\n echo AFTER; {shown}; echo MORE\n"
            f"( {script} )\n echo THEN; {shown}"
        )
        whole = f"set +e\n{whole}"
    status, told = run(tmp_path, whole)
    assert status == 0, told
    first, after, then = re.split("AFTER|MORE", told)
    (sentence,) = sentences(first)
    assert re.search(FULL, sentence)
    half = [line for line in after.splitlines() if re.search(r"/\.[^/]+\.[a-z0-9_]{8}$", line)]
    assert half == []  # nothing half-written is left
    whole_ones = dict(line.split("  ")[::-1] for line in then.splitlines() if "  " in line)
    for path, target in moved.items():
        source = smoke.folder / path
        if source.is_file():
            assert whole_ones[target] == digest(source)
        else:
            assert f"{target}/" in then


def test_results_that_cannot_be_written_are_told_of_before_any_job(smoke, tmp_path):
    copy = Workflow(copy_repository(tmp_path, smoke), root=tmp_path)
    target = result(copy, "results/smoke/figures/figure_1.tsv")
    (copy.folder / target).unlink()
    results = tmp_path / "results"
    call = (
        f"python -m snakemake {target} --cores 1 --configfile config/smoke.yaml "
        f"--snakefile {tmp_path}/Snakefile"
    )
    if can_mount():
        inside = f"mount --bind {results} {results}; mount -o remount,bind,ro {results}; {call}"
        (tmp_path / "inside.sh").write_text(inside)
        call = "unshare -rm bash -uo pipefail inside.sh"
    else:
        results.chmod(0o555)
    status, told = run(tmp_path, call)
    results.chmod(0o755)
    assert status == 1
    assert re.search(r"results/\.runs\S*: (Read-only file system|Permission denied); make", told)
    assert "Traceback" not in told
    copy.run(target)
    assert (copy.folder / target).exists()


def test_what_a_killed_job_left_is_no_obstacle_and_goes_in_time(smoke, tmp_path):
    command = stage_of(smoke, tmp_path, "results/tokens/*/*")
    (tokens,) = options_of(command)[1]["--tokens"]
    remove_outputs(tmp_path, command, {"--documents", "--queries"})
    left = (tmp_path / tokens).parent / f".{(tmp_path / tokens).name}.abcd1234"

    def half_written():
        return any(left.parent.glob(f".{(tmp_path / tokens).name}.*/*/*.npy"))

    process = start(tmp_path, command)
    assert killed_when(process, half_written)
    assert not (tmp_path / tokens).exists()
    assert run(tmp_path, command)[0] == 0
    assert (tmp_path / tokens / "special.json").exists()
