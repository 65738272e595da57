"""Data-parallel training: processes that share each step, by torch.distributed.

Every process draws all of a step's pairs, keyed as ever, and trains on its own run of them; summed
gradients make the same step in all. So with any number of processes a step is about the same pairs
and, but for rounding and the masks of dropout, has the same losses and weights.
"""

import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn

from poolbias.errors import ToolError, TrainingError
from poolbias.training.draws import Triples

# One process waits so long for the others at most: for the first to write a checkpoint, say.
PATIENCE = timedelta(minutes=30)


@dataclass(frozen=True)
class Share:
    """One process of several that train together; alone, every method returns what it is given.

    Attributes:
        number: of this process, from 0.
        processes: how many there are.
    """

    number: int = 0
    processes: int = 1

    def of(self, triples: Triples) -> Triples:
        """Return this process's run of a step's pairs.

        Raises:
            TrainingError: if the pairs cannot be shared equally.
        """
        pairs = len(triples.queries)
        if pairs % self.processes:
            raise TrainingError(
                f"a step of {pairs} pairs cannot be shared equally by {self.processes} processes; "
                "choose training.pairs as a multiple of processes."
            )
        size = pairs // self.processes
        own = slice(self.number * size, (self.number + 1) * size)
        false = triples.false_negative
        return Triples(
            queries=triples.queries[own],
            positives=triples.positives[own],
            negatives=triples.negatives[own],
            false_negative=None if false is None else false[own],
        )

    def key(self) -> list[int]:
        """Return what dropout's key has besides seed, step and model: masks differ by process."""
        return [self.number] if self.processes > 1 else []

    def gather(self, values: Tensor) -> Tensor:
        """Return the values of all processes in the order of the pairs, [all pairs, ...].

        Without gradient; `values` is [own pairs, ...] and of one shape in every process.
        `TrainingError` if another process ended.
        """
        values = values.detach().contiguous()
        if self.processes == 1:
            return values
        found = [torch.empty_like(values) for _ in range(self.processes)]
        with _exchange():
            distributed.all_gather(found, values)
        return torch.cat(found)

    def sum_gradients(self, model: nn.Module) -> None:
        """Replace each parameter's gradient by its sum over processes, in one message."""
        if self.processes == 1:
            return
        gradients = [one.grad for one in model.parameters() if one.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        with _exchange():
            distributed.all_reduce(flat)
        start = 0
        for gradient in gradients:
            summed = flat[start : start + gradient.numel()]
            gradient.copy_(summed.view_as(gradient))
            start += len(summed)

    def agree(self, count: int, device: torch.device) -> None:
        """Check that a number is the same in all processes; `TrainingError` if not."""
        found = self.gather(torch.tensor([count], device=device)).tolist()
        if len(set(found)) > 1:
            raise TrainingError(
                f"the processes of the training go on from different steps ({found}); delete the "
                "checkpoints of this training and run it again."
            )

    def total(self, count: int, device: torch.device) -> int:
        """Return the sum of a number over processes."""
        return int(self.gather(torch.tensor([count], device=device)).sum())


ALONE = Share()


@contextlib.contextmanager
def _exchange() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise TrainingError(
            "a process of the training ended before the others, or did not answer; see what it "
            f"said above ({reason}), and run the job again: it goes on from its last checkpoint."
        ) from error


def device_of(device: str, share: Share) -> torch.device:
    """Return where a process's models run: each has a GPU of its own.

    Raises:
        ToolError: if there are too few GPUs.
    """
    if device == "cpu" or share.processes == 1:
        return torch.device(device)
    found = torch.cuda.device_count()
    if found < share.processes:
        raise ToolError(
            f"processes is {share.processes}, but torch finds {found} GPUs on this machine, need "
            "one for each; lower processes or run the job where there are more."
        )
    torch.cuda.set_device(share.number)
    return torch.device("cuda", share.number)


@contextlib.contextmanager
def together(
    processes: int, device: str, follow: Callable[..., None], *given: Any
) -> Iterator[None]:
    """Run the other processes of a training beside this one, the first, until it leaves.

    Args:
        processes: how many in all; with 1 nothing is started.
        device: `cpu` (they talk through gloo) or `cuda` (through NCCL).
        follow: what the others run: a function at the top of a module, called with the share and
            `given`.
        given: arguments of `follow`.
    """
    if processes == 1:
        yield
        return
    context = torch.multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="poolbias-") as folder:
        place = Path(folder) / "store"
        shares = [Share(number, processes) for number in range(1, processes)]
        arguments = [(share, device, place, follow, given) for share in shares]
        others = [context.Process(target=_follow, args=a, daemon=True) for a in arguments]
        for other in others:
            other.start()
        try:
            with _joined(Share(0, processes), device, place):
                yield
        finally:  # whatever ends the first, a signal too, ends the others, which may wait for it
            for other in others:
                other.kill()
                other.join()


def _follow(
    share: Share, device: str, place: Path, follow: Callable[..., None], given: tuple[Any, ...]
) -> None:
    """Take part as another process: it ends with the first, which signals are for."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(TrainingError), _joined(share, device, place):  # the first tells it
        follow(share, *given)
        signal.pause()  # the first may still read what was sent, and ends this one


def _end_with_parent() -> None:
    parent = torch.multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def _joined(share: Share, device: str, place: Path) -> Iterator[None]:
    """Take part in the group of processes that meet at a file (no port, no name of a machine)."""
    distributed.init_process_group(
        "gloo" if device == "cpu" else "nccl",
        init_method=f"file://{place}",
        rank=share.number,
        world_size=share.processes,
        timeout=PATIENCE,
    )
    try:
        yield
    finally:
        distributed.destroy_process_group()
