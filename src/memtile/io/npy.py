"""NumPy files of one array, whose header is checked against the bytes that follow it."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, BinaryIO

from memtile.errors import InputFileError
from memtile.input_files import read_bytes
from memtile.limits import how_to_raise, limit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_LIMIT = "file_bytes"
_NUMBERS = "biufcV"  # kinds; V is how NumPy stores the types of extensions, bfloat16 among them
_NO_NUMBERS = "the file is not a NumPy file of numbers"


def read_array(file: Path | str) -> npt.NDArray[Any]:
    """Return the array of a ``.npy`` file; ``-`` is standard input.

    Raises:
        InputFileError: it cannot be read, is no NumPy file of numbers, is larger than the limit
            ``file_bytes``, or has fewer bytes than its header says.
    """
    return array_of(read_bytes(file, _LIMIT), str(file))


def _check_header(name: str, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
    if dtype.hasobject or dtype.kind not in _NUMBERS or not dtype.itemsize:
        raise InputFileError(f"{name}: {_NO_NUMBERS}: its type is {dtype}.")
    if any(size not in range(1 << 63) for size in shape):
        raise InputFileError(f"{name}: {_NO_NUMBERS}: its shape is {shape}.")


def array_of(data: bytes, name: str) -> npt.NDArray[Any]:
    """Return the array that the bytes of a ``.npy`` file hold.

    Args:
        data: of the file.
        name: of the file, for messages.

    Raises:
        InputFileError: as for :func:`read_array`.
    """
    import numpy as np

    stream = io.BytesIO(data)
    try:
        shape, order, dtype = _header(stream)
    except (ValueError, EOFError, SyntaxError, TypeError, MemoryError, RecursionError, TokenError) as error:
        says = str(error).split("\n")[0] or type(error).__name__
        raise InputFileError(f"{name}: {_NO_NUMBERS}: {says[:200].rstrip('.')}.") from None
    _check_header(name, shape, dtype)
    count, there = math.prod(shape), len(data) - stream.tell()
    if count * dtype.itemsize > limit(_LIMIT):
        says = f"its array has {count * dtype.itemsize:,} bytes, allowed are 0..{limit(_LIMIT):,}"
        raise InputFileError(f"{name}: {says}. {how_to_raise(_LIMIT)}")
    if count * dtype.itemsize > there:
        says = f"its header promises {count * dtype.itemsize} bytes, and {there} follow"
        raise InputFileError(f"{name}: {_NO_NUMBERS}: {says}.")
    flat = np.frombuffer(data, dtype, count, stream.tell())
    try:
        return flat.reshape(shape, order="F" if order else "C").copy("A")
    except ValueError:  # no elements, and more dimensions or larger ones than NumPy has
        raise InputFileError(f"{name}: {_NO_NUMBERS}: its shape is {shape}.") from None


def _header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type that a header says."""
    from numpy.lib import format as npy

    version = npy.read_magic(stream)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"its version is {version[0]}.{version[1]}; known are 1.0 and 2.0")
    return readers[version](stream)
