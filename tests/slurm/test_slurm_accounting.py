"""With accounting: the smoke study, a cancelled job, and the two ways to ask for a GPU."""

import os
import signal

from clusters import HURRY, Study, digests, hold, read, states_of, tool, wait_for


def test_the_smoke_study_makes_the_bytes_of_a_local_run(smoke, tmp_path):
    study = Study(tmp_path / "study")
    try:
        study.finish(*HURRY)
    finally:
        study.clean_up()
    made, expected = digests(study.folder), digests(smoke)
    assert made == {name: digest for name, digest in expected.items() if name in made}
    assert {name.split("/")[1] for name in made} >= {
        *("collections", "runs", "candidates", "rankers", "rankings", "metrics", "smoke")
    }
    jobs = read_jobs(study)
    assert {state for ids in jobs.values() for job in ids for state in states_of(job)} == {
        "COMPLETED"
    }
    assert len(jobs["rule_train_ranker"]) >= 3
    assert "rule_figure_1" not in jobs  # on the machine that submits
    measured = len(list((study.folder / "results" / "logs" / "evaluate").rglob("*.log")))
    groups = sum(len(ids) for rule, ids in jobs.items() if rule.startswith("group_measures"))
    assert 1 <= groups <= measured // 4
    assert study.trained()[1] == 0
    assert "Nothing to be done" in study.finish("--dry-run")


def read_jobs(study):
    """Return the Slurm jobs of each rule or group, from the logs that Slurm wrote."""
    folder = study.folder / "results" / "logs" / "slurm"
    return {path.name: [log.stem for log in path.rglob("*.log")] for path in folder.iterdir()}


def test_a_cancelled_job_is_tried_again_and_jobs_have_their_gpus(cut):
    """With `sacct` Snakemake would wait for ever for the cancelled job (slurm/config.yaml)."""
    study = cut("bm25.naive", "dense.cet-paper-tau1")
    single, coupled = study.trainings
    asked = ("train_ranker:gpu=1", "train_coupled_ranker:gpu=0", "train_coupled_ranker:gres=gpu:1")
    run = study.snakemake(*study.rankers, *HURRY, "--set-resources", *asked)
    held = dict(zip(study.trainings, hold(*study.trainings), strict=True))
    for training, (process, job) in held.items():
        per = {single: "TresPerJob", coupled: "TresPerNode"}[training]  # --gpus, --gres
        assert f"{per}=gres:gpu:1" in tool("scontrol", "show", "job", job)
        assert environment_of(process)["CUDA_VISIBLE_DEVICES"] in {"0", "1"}
    cancelled = held[single][1]
    tool("scancel", cancelled)
    os.kill(held[coupled][0], signal.SIGCONT)
    output = study.end(run)
    asked = ("sacct", "--noheader", "--allocations", "--parsable2", "--format=JobID,State")
    # what the plugin would compare with CANCELLED
    wait_for(lambda: f"{cancelled}|CANCELLED by 0" in tool(*asked, f"--jobs={cancelled}"))
    assert f"SLURM-job '{cancelled}' failed, SLURM status is: 'CANCELLED'" in output
    study.check(trained=2)


def environment_of(process):
    """Return the variables of a process."""
    entries = read(f"/proc/{process}/environ").split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)
