"""Arrays in files of NumPy, mapped into memory."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolbias.errors import DataError


def read_array(path: Path, kind: str = "iu") -> NDArray[Any]:
    """Return the array [n] of a `.npy` file, mapped into memory.

    Args:
        path: the file.
        kind: NumPy's letters for the kinds of numbers that are right: `iu` integers, `f` floats.

    Raises:
        DataError: if it is not such a file, whatever NumPy's reader makes of it.
    """
    again = f"delete {path.parent} and make it again"
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # its header is parsed as Python: anything can come of damage
        try:
            array = np.load(path, allow_pickle=False)  # an array without numbers cannot be mapped
        except Exception:
            raise DataError(f"{path}: cannot be read ({error}); {again}.") from error
    if array.ndim != 1 or array.dtype.kind not in kind:
        found = f"{array.dtype} {list(array.shape)}"
        raise DataError(f"{path}: found {found}, need a row of numbers of kind {kind}; {again}.")
    return array


def finish_array(raw: Path, path: Path, kind: "np.dtype[Any]", count: int) -> None:
    """Turn `count` numbers of a kind, written end to end, into an array file; `raw` goes.

    The numbers are copied once, a block at a time, behind a header.
    """
    with raw.open("rb") as numbers, path.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False}
        np.lib.format.write_array_header_1_0(file, header | {"shape": (count,)})
        shutil.copyfileobj(numbers, file, 1 << 24)
    raw.unlink()
