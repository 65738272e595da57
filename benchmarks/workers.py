"""The sides of a ratio, each in a process of its own.

So neither has the other's settings: the study keeps freed memory and asks torch for deterministic
kernels, a peer runs as its users run it. What a side prints is shown only if it fails.
"""

import contextlib
import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.timing import Taken, Timed, Work, timed

Make = Callable[[], Work]


@dataclass(frozen=True)
class Side:
    """What a process is to do, picklable: `make` is called there once and returns the work.

    Attributes:
        make: a function of a module, or a `functools.partial` of one.
        ours: whether it runs with the study's own settings (`poolbias.device`).
    """

    make: Make
    ours: bool = False


@contextlib.contextmanager
def workers(sides: dict[str, Side], threads: int) -> Iterator[dict[str, Timed]]:
    """Start a process per side and yield how to call and time each; they end with the block.

    Raises:
        RuntimeError: if a side fails, with what it said.
    """
    context = multiprocessing.get_context("spawn")
    with contextlib.ExitStack() as stack:
        works = {}
        for name, side in sides.items():
            connection, other = context.Pipe()
            process = context.Process(target=_serve, args=(other, side, threads), daemon=True)
            process.start()
            stack.callback(process.join)
            stack.callback(connection.close)  # which ends the process
            other.close()
            works[name] = _caller(name, connection)
        yield works


def measure(side: Side, threads: int) -> Any:
    """Return what a side's work returns, called once in a fresh process."""
    with workers({"it": side}, threads) as works:
        return works["it"]().result


def _caller(name: str, connection: Connection) -> Timed:
    def call() -> Taken:
        try:
            connection.send(None)
            answer = connection.recv()
        except (EOFError, OSError) as error:
            raise RuntimeError(f"{name}: its process died ({error!r})") from error
        if isinstance(answer, str):
            raise RuntimeError(f"{name}: {answer}")
        return Taken(*answer)

    return call


def _serve(connection: Connection, side: Side, threads: int) -> None:
    """Answer every message with one timed call, until the other end closes."""
    with tempfile.TemporaryFile("w+") as said:
        for stream in (1, 2):
            os.dup2(said.fileno(), stream)
        work: Work | None = None
        while True:
            try:
                connection.recv()
            except EOFError:
                return
            try:
                if work is None:
                    _settle(side.ours, threads)
                    work = side.make()
                connection.send(tuple(timed(work)))
            except Exception:
                said.seek(0)
                connection.send(f"{said.read()}{traceback.format_exc()}")
                return


def _settle(ours: bool, threads: int) -> None:
    import torch

    from poolbias.device import prepare

    if ours:
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as `poolbias.environment` has it
        prepare("cpu", threads)
    else:
        torch.set_num_threads(threads)
