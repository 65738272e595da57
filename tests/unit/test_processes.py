"""Data-parallel training: two processes that talk through gloo against one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from test_training import coupled, table, train

from poolbias.errors import ToolError, TrainingError
from poolbias.training import processes
from poolbias.training.draws import Drawer
from poolbias.training.processes import ALONE, Share, together

UNIT = Path(__file__).parent
# The arguments of test_training.train: each kind of weight, and an adjustment over all weights.
WEIGHTS = {
    "naive": ({"name": "one"}, ("R",), {}),
    "cet": (coupled(), ("R", "S"), {}),
    "train": (coupled("released", 10.0, "train"), ("R", "S"), {}),
    "normalised": (
        coupled() | {"adjust": {"clip": 1.2, "normalise": "running_mean"}}, ("R", "S"), {},
    ),
    "dropout": ({"name": "one"}, ("R",), {"dropout": 0.5}),
}  # fmt: skip


def records(share=ALONE):
    """Train under each of `WEIGHTS`; return the steps' rows and all weights at the end."""
    found = {}
    for name, (weight, names, options) in WEIGHTS.items():
        toys, rows = train(json.loads(json.dumps(weight)), names=names, share=share, **options)
        weights = {one: toy.weight.detach().tolist() for one, toy in toys.items()}
        found[name] = {"rows": rows, "weights": weights}
    return found


def fail(share):
    raise SystemExit(3)


def follow(share, folder):
    found = records(share)
    torch.distributed.barrier()
    (Path(folder) / f"{share.number}.json").write_text(json.dumps(found))
    torch.distributed.barrier()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Records of one process alone, and of each of two."""
    folder = tmp_path_factory.mktemp("processes")
    with together(2, "cpu", follow, str(folder)):
        first = records(Share(0, 2))
        torch.distributed.barrier()
        torch.distributed.barrier()
    return records(), json.loads(json.dumps(first)), json.loads((folder / "1.json").read_text())


def numbers(found):
    return np.array([list(row.values()) for row in found["rows"]])


@pytest.mark.parametrize("name", [name for name in WEIGHTS if name != "dropout"])
def test_two_processes_have_the_losses_and_weights_of_one(both, name):
    alone, first, _ = (found[name] for found in both)
    assert [list(row) for row in first["rows"]] == [list(row) for row in alone["rows"]]
    np.testing.assert_allclose(numbers(first), numbers(alone), rtol=2e-5, atol=1e-7)
    for one, weight in alone["weights"].items():
        np.testing.assert_allclose(first["weights"][one], weight, rtol=1e-4, atol=1e-6)
    assert numbers(alone).std(axis=0).max() > 0.01  # the losses move


def test_all_processes_have_the_same_weights_to_the_bit(both):
    _, first, second = both
    assert {n: f["weights"] for n, f in first.items()} == {
        n: f["weights"] for n, f in second.items()
    }
    assert numbers(first["cet"]).tolist() == numbers(second["cet"]).tolist()


def test_masks_of_dropout_are_those_of_the_process(both):
    alone, first, _ = (found["dropout"] for found in both)
    assert not np.allclose(numbers(first), numbers(alone))
    assert (Share(0, 2).key(), Share(1, 2).key(), ALONE.key()) == ([0], [1], [])


def test_a_step_is_about_the_same_pairs_for_any_number_of_processes():
    triples = Drawer(table(), 3).draw(1, 6, 2)
    for number in (1, 2, 3, 6):
        parts = [Share(one, number).of(triples) for one in range(number)]
        for name in ("queries", "positives", "negatives", "false_negative"):
            joined = np.concatenate([getattr(part, name) for part in parts])
            np.testing.assert_array_equal(joined, getattr(triples, name))
    with pytest.raises(TrainingError, match="6 pairs cannot be shared equally by 4 processes"):
        Share(0, 4).of(triples)


def test_alone_nothing_is_exchanged():
    values = torch.tensor([1.0, 2.0], requires_grad=True)
    assert ALONE.gather(values).tolist() == [1.0, 2.0]
    assert not ALONE.gather(values).requires_grad
    assert ALONE.total(7, torch.device("cpu")) == 7
    ALONE.agree(3, torch.device("cpu"))
    with together(1, "cpu", fail):
        assert not torch.distributed.is_initialized()


def test_a_process_that_ends_is_told_in_a_sentence():
    with (
        pytest.raises(TrainingError, match="a process of the training ended before the others"),
        together(2, "cpu", fail),
    ):
        Share(0, 2).total(1, torch.device("cpu"))


def differ(share):
    share.agree(share.number, torch.device("cpu"))


def test_processes_that_go_on_from_different_steps_stop():
    with (
        pytest.raises(TrainingError, match=r"go on from different steps \(\[0, 1\]\)"),
        together(2, "cpu", differ),
    ):
        Share(0, 2).agree(0, torch.device("cpu"))


def test_each_process_needs_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ToolError, match="processes is 2, but torch finds 1 GPUs"):
        processes.device_of("cuda", Share(0, 2))
    assert processes.device_of("cpu", Share(1, 2)) == torch.device("cpu")
    assert processes.device_of("cuda", ALONE) == torch.device("cuda")


def wait(share):
    print(os.getpid(), flush=True)
    signal.pause()


def test_others_end_with_a_first_process_that_is_killed():
    code = (
        "import sys, torch; sys.path.insert(0, sys.argv[1]); import test_processes as t\n"
        "if __name__ == '__main__':\n"
        "    with t.together(2, 'cpu', t.wait):\n        t.signal.pause()\n"
    )
    command = [sys.executable, "-c", code, str(UNIT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        other = int(first.stdout.readline())
        os.kill(other, signal.SIGTERM)  # is for the first
        os.kill(other, 0)
        first.kill()
        assert first.stdout.read() == ""  # ends when the other, which holds it too, has ended
