"""The device and the threads that a job computes with: stated, checked, never guessed."""

import contextlib
import ctypes

import torch

from poolbias.errors import ToolError


def prepare(device: str, threads: int) -> torch.device:
    """Set the threads and deterministic kernels, and return the device.

    Raises:
        ToolError: if `device` is `cuda` and no such device is found.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise ToolError(
            "device is 'cuda', but torch finds no GPU on this machine; run the job where there is "
            "one, or set `device: cpu` in the study file."
        )
    if device == "cpu":
        _keep_memory()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True, warn_only=device == "cuda")
    # It would fill each new tensor with NaN first: a tenth of the time, and no other bytes.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return torch.device(device)


# glibc's malloc.h
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4


def _keep_memory() -> None:
    """Let the C library keep what tensors free, where it can (glibc).

    By default it hands large blocks back to the system and takes them again, page by page, at the
    next operation: a twentieth of the time of scoring, more of training (docs/performance.md).
    """
    with contextlib.suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_MAX, 0)
        mallopt(_TRIM_THRESHOLD, 2**31 - 1)
