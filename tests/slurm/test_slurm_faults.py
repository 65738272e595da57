"""Jobs that die, a cluster that falters, a Snakemake that is stopped: the same bytes in the end.

Each test runs a cut of the smoke study and compares with a local run that nothing happened to. A
training is stopped (SIGSTOP) as soon as it has its lease, so that it is surely there to be hit.
"""

import os
import signal

from clusters import HURRY, cluster, hold, read, states_of, tool, wait_for


def go_on(process):
    os.kill(process, signal.SIGCONT)


def test_jobs_that_are_cancelled_time_out_or_are_requeued(cut):
    study = cut("bm25.naive", "dense.oracle", "dense.cet-paper-tau1")
    run = study.snakemake(*study.rankers, *HURRY)
    cancelled, late, requeued = [job for _, job in hold(*study.trainings)]
    tool("scancel", cancelled)
    tool("scontrol", "update", f"jobid={late}", "endtime=now+1")  # Slurm looks each 30 s
    tool("scontrol", "requeue", requeued)
    output = study.end(run)
    for job, state in ((cancelled, "CANCELLED"), (late, "TIMEOUT")):
        assert f"SLURM-job '{job}' failed, SLURM status is: '{state}'" in output
        assert states_of(job) == [state]
    assert states_of(requeued)[-1] == "COMPLETED"
    assert len(states_of(requeued)) == 2
    assert output.count("Trying to restart job") == 2
    study.check(trained=3)


def test_a_preempted_job_a_lost_node_and_a_restarted_controller(cut):
    study = cut("bm25.naive", "dense.oracle")
    run = study.snakemake(*study.rankings, *HURRY, "--default-resources", "slurm_partition=frail")
    first, second = study.trainings
    preempted, lost = hold(first, second)
    cluster("restart")
    urgent = tool(
        *("sbatch", "--parsable", "--partition=urgent", f"--nodelist={node_of(preempted[1])}"),
        *("--exclusive", "--output=/dev/null", "--wrap", "sleep 1"),
    ).strip()
    wait_for(lambda: "COMPLETED" in states_of(urgent))
    ((process, job),) = hold(first, but=[preempted[0]])
    assert job == preempted[1]  # Slurm started the job anew
    go_on(process)
    node = node_of(lost[1])
    cluster("down", node)
    try:
        study.end(run)
    finally:
        cluster("up", node)
    for _, job in (preempted, lost):
        assert states_of(job)[-1] == "COMPLETED"
    assert "PREEMPTED" in states_of(preempted[1])
    assert "NODE_FAIL" in states_of(lost[1])
    study.check(trained=2, rankings=study.rankings)


def node_of(job):
    return tool("squeue", "--noheader", f"--jobs={job}", "--format=%N").strip()


def start_and_finish_one(study):
    """Start Snakemake, wait until it saw the first training end; hold the second."""
    run = study.snakemake(*study.rankers, *HURRY)
    ((process, job),) = hold(study.trainings[1])
    wait_for(lambda: "(Rule: train_ranker)" in run.told())
    return run, process, job


def test_an_interrupted_snakemake_cancels_its_jobs_and_goes_on_when_it_is_started_again(cut):
    study = cut("bm25.naive", "dense.cet-paper-tau1")
    run, _, job = start_and_finish_one(study)
    run.send_signal(signal.SIGINT)
    assert "Terminating processes on user request" in study.end(run, code=1)
    wait_for(lambda: states_of(job) == ["CANCELLED"])
    assert "1 of 1 steps" in study.finish(study.rankers[1], *HURRY)
    study.check(trained=2)


def test_a_snakemake_that_is_told_to_end_lets_its_jobs_end(cut):
    study = cut("bm25.naive", "dense.oracle")
    run, process, job = start_and_finish_one(study)
    run.send_signal(signal.SIGTERM)
    go_on(process)
    study.end(run, code=1)
    assert states_of(job) == ["COMPLETED"]
    assert "1 of 1 steps" in study.finish(study.rankings[1], *HURRY)  # the ranking alone
    study.check(trained=2, rankings=study.rankings[1:])


def test_a_killed_snakemake_leaves_jobs_that_the_next_one_waits_for(cut):
    study = cut("bm25.naive", "dense.oracle")
    run = study.snakemake(*study.rankings, *HURRY)
    ended, running = hold(*study.trainings)
    study.kill(run)
    go_on(ended[0])
    wait_for(lambda: states_of(ended[1]) == ["COMPLETED"])  # and no Snakemake saw it
    again = study.snakemake(*study.rankings, *HURRY)
    told = f"process {running[0]} on {os.uname().nodename}, Slurm job {running[1]} works on it"
    log = study.folder / "results/logs/train_ranker" / study.trainings[1].name / "seed-1.log"
    wait_for(lambda: told in read(log))  # a duplicate waits for the lease
    go_on(running[0])
    study.end(again)
    assert states_of(running[1]) == ["COMPLETED"]
    study.check(trained=2, taken=1, rankings=study.rankings)
    assert "Nothing to be done" in study.finish("--dry-run", *study.rankings)


def test_local_orphans_are_waited_for_or_taken_over(cut):
    """Without Slurm: Snakemake is killed, its trainings live on, and one of them is killed too."""
    study = cut("bm25.naive", "dense.oracle")
    run = study.snakemake(*study.rankers, "--cores", "2")
    orphans = [process for process, _ in hold(*study.trainings)]
    study.kill(run)
    again = study.snakemake(*study.rankers, "--cores", "2")
    for orphan in orphans:
        told = f"process {orphan} on {os.uname().nodename} works on it, this job waits"
        wait_for(lambda told=told: told in again.told())
    os.kill(orphans[1], signal.SIGKILL)
    go_on(orphans[0])
    study.end(again)
    study.check(trained=2, taken=1)
