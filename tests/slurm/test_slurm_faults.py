"""Jobs that die, a cluster that falters, a Snakemake that is stopped: the same bytes in the end.

Each test runs three trainings and their rankings, and compares with a local run that nothing
happened to. `trained()` counts what Slurm's and Snakemake's own logs tell.
"""

import os
import signal

import pytest
from clusters import HURRY, cluster, digests, ended, tool, wait_for

pytestmark = pytest.mark.usefixtures("slurm")


def test_jobs_that_are_cancelled_time_out_or_are_requeued(study, reference):
    before = ended()
    run = study.snakemake(*study.targets, *HURRY)
    wait_for(lambda: study.is_training(0))
    cancelled = study.job(0)
    tool("scancel", cancelled)
    wait_for(lambda: study.is_training(1))
    late = study.job(1)
    os.kill(study.process(1), signal.SIGSTOP)  # it would be ready before Slurm looks (each 30 s)
    tool("scontrol", "update", f"jobid={late}", "endtime=now+1")
    wait_for(lambda: study.is_training(2))
    tool("scontrol", "requeue", study.job(2))
    output = study.end(run)
    assert digests(study.folder) == digests(reference.folder)
    assert study.trained() == (3, 0)
    for job, state in ((cancelled, "CANCELLED"), (late, "TIMEOUT")):
        assert f"SLURM-job '{job}' failed, SLURM status is: '{state}'" in output
        assert ended()[state] - before.get(state, 0) == 1
    assert output.count("Trying to restart job") == 2


def test_a_preempted_job_a_lost_node_and_a_restarted_controller(study, reference):
    run = study.snakemake(*study.targets, *HURRY)
    wait_for(lambda: study.is_training(0))
    cluster("restart")
    first = study.job(0)
    node = tool("squeue", "--noheader", f"--jobs={first}", "--format=%N").strip()
    urgent = tool(
        *("sbatch", "--parsable", "--partition=high", f"--nodelist={node}", "--exclusive"),
        *("--output=/dev/null", "--wrap", "sleep 3"),
    ).strip()
    wait_for(lambda: urgent in tool("squeue", "--noheader", "--states=running", "--format=%i"))
    wait_for(lambda: study.job(1) and study.is_training(1))
    node = tool("squeue", "--noheader", f"--jobs={study.job(1)}", "--format=%N").strip()
    cluster("down", node)
    try:
        study.end(run)
    finally:
        cluster("up", node)
    assert digests(study.folder) == digests(reference.folder)
    assert study.trained() == (3, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_snakemake_that_is_told_to_stop_goes_on_when_it_is_started_again(
    study, reference, number
):
    run = study.snakemake(*study.targets, *HURRY)
    wait_for(lambda: study.is_training(0))
    run.send_signal(number)
    output = study.end(run, code=1)
    assert "Terminating processes on user request" in output or number == signal.SIGTERM
    running = tool("squeue", "--noheader", "--states=running", "--format=%i")
    assert not running.strip()
    study.finish(*study.targets, *HURRY)
    assert digests(study.folder) == digests(reference.folder)
    assert study.trained() == (3, 0)


def test_a_killed_snakemake_leaves_jobs_that_the_next_one_waits_for(study, reference):
    run = study.snakemake(*study.targets, *HURRY)
    wait_for(lambda: study.is_training(0))
    run.kill()
    run.wait()
    locked = study.end(study.snakemake(*study.targets, *HURRY), code=1)
    assert "LockException" in locked
    assert "--unlock" in locked
    study.finish("--unlock")
    study.finish(*study.targets, *HURRY)
    assert digests(study.folder) == digests(reference.folder)
    trained, taken = study.trained()
    assert trained == 3
    assert taken >= 1
    assert study.finish("--dry-run", *study.targets).count("Nothing to be done") == 1


def test_a_job_that_ends_while_no_snakemake_looks_is_not_done_twice(study, reference):
    run = study.snakemake(*study.targets[:1], *HURRY)
    wait_for(lambda: study.is_training(0))
    run.kill()
    run.wait()
    wait_for(lambda: not tool("squeue", "--noheader", "--format=%i").strip())
    study.finish("--unlock")
    study.finish(*study.targets, *HURRY)
    assert digests(study.folder) == digests(reference.folder)
    assert study.trained()[0] == 3


def test_local_orphans_are_waited_for_or_taken_over(study, reference):
    """Without Slurm: Snakemake is killed, its trainings live on, and one of them is killed too."""
    run = study.snakemake(*study.targets, "--cores", "2")
    wait_for(lambda: sum(map(study.is_training, range(3))) == 2)
    run.kill()
    run.wait()
    first, second = [number for number in range(3) if study.is_training(number)]
    locked = study.end(study.snakemake(*study.targets, "--cores", "2"), code=1)
    assert "--unlock" in locked
    study.finish("--unlock")
    orphans = study.process(first), study.process(second)
    again = study.snakemake(*study.targets, "--cores", "2")
    wait_for(lambda: again.told().count("this job waits") == 2)
    os.kill(orphans[1], signal.SIGKILL)
    output = study.end(again)
    assert f"process {orphans[0]} on" in output
    assert digests(study.folder) == digests(reference.folder)
    assert study.trained() == (3, 1)
