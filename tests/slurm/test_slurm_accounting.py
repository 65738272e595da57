"""With accounting, where the plugin could ask for states in a way that hangs; and GPUs."""

import pytest
from clusters import HURRY, digests, read, tool, wait_for

pytestmark = pytest.mark.usefixtures("accounting")


@pytest.mark.parametrize("mapping", [("gpu=1",), ("gpu=0", "gres=gpu:1")])
def test_a_cancelled_job_is_tried_again_and_has_its_gpu(study, reference, tmp_path, mapping):
    resources = ("--set-resources", *(f"train_ranker:{item}" for item in mapping))
    run = study.snakemake(*study.targets[:1], *HURRY, *resources)
    wait_for(lambda: study.is_training(0))
    cancelled = study.job(0)
    tool("scancel", cancelled)
    wait_for(lambda: study.job(0) not in (None, cancelled))
    wait_for(lambda: study.is_training(0))
    assert tool("squeue", "--noheader", f"--jobs={study.job(0)}", "--format=%b").strip() in (
        *("gres:gpu:1", "gpu:1"),
    )
    environment = read_environment(study.process(0))
    assert environment["CUDA_VISIBLE_DEVICES"] in {"0", "1"}
    output = study.end(run)
    states = tool("sacct", "--noheader", "--allocations", "--parsable2", "--format=JobID,State")
    assert f"{cancelled}|CANCELLED by 0" in states  # what the plugin compares with CANCELLED
    assert "SLURM status is: 'CANCELLED'" in output
    expected = {
        name: digest
        for name, digest in digests(reference.folder).items()
        if not any(target.split("/")[2] in name for target in study.targets[1:])
    }
    assert digests(study.folder) == expected
    assert study.trained() == (1, 0)


def read_environment(process):
    """Return the variables of a process."""
    entries = read(f"/proc/{process}/environ").split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)
