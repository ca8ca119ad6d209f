"""Trace files as words: hexadecimal text as mlir-aie writes, raw little-endian binary, NumPy arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.formats.npy import array_of

TraceFormat = Literal["hex", "bin", "npy"]
Words = npt.NDArray[np.uint32]

_SOURCE = "trace file conventions of mlir-aie"
_HEX = re.compile(r"(?:0[xX])?[0-9a-fA-F]{1,8}")
_NUMPY = b"\x93NUMPY"
_TEXT = frozenset(b"\t\n\r") | frozenset(range(ord(" "), ord("~") + 1))


def read_words(data: bytes, name: str, format: TraceFormat | None = None) -> Words:
    """The words of a trace file, uint32.

    Args:
        data: all bytes of the file.
        name: of the file, for messages.
        format: of the file; None = find out: a NumPy array begins with its magic, all else that is plain
            ASCII is hexadecimal text.

    Raises:
        InputFileError: it is not a file of that format; all wrong lines at once.
    """
    return _READERS[format or _format_of(data)](data, name)


def _format_of(data: bytes) -> TraceFormat:
    if data.startswith(_NUMPY):
        return "npy"
    return "hex" if _TEXT.issuperset(data) else "bin"


def _read_hex(data: bytes, name: str) -> Words:
    lines = enumerate(data.decode("ascii", "replace").splitlines(), 1)
    items = [(number, item) for number, line in lines for item in line.split()]
    wrong = [
        Problem(
            "word",
            repr(item),
            "one to eight hexadecimal digits",
            reason="trace_word",
            where=f"{name}, line {n}",
            source=_SOURCE,
        )
        for n, item in items
        if not _HEX.fullmatch(item)
    ]
    raise_if(wrong, InputFileError)
    return np.array([int(item, 16) for _, item in items], dtype=np.uint32)


def _read_bin(data: bytes, name: str) -> Words:
    if len(data) % WORD_BYTES:
        raise InputFileError.of(
            "length",
            f"{len(data)} bytes",
            f"whole words of {WORD_BYTES} bytes",
            f"the file has {len(data)} bytes; it must have whole words of {WORD_BYTES} bytes",
            reason="trace_bytes",
            where=name,
            source=_SOURCE,
        )
    return np.frombuffer(data, dtype="<u4").astype(np.uint32)


def _read_npy(data: bytes, name: str) -> Words:
    array = array_of(data, name)
    if array.dtype.kind not in "iu" or array.dtype.itemsize != WORD_BYTES:
        raise InputFileError.of(
            "array",
            f"dtype {array.dtype}",
            "uint32 or int32",
            f"the array is of {array.dtype}; it must be of uint32 or int32",
            reason="trace_dtype",
            where=name,
            source=_SOURCE,
        )
    return array.reshape(-1).astype(np.uint32)


_READERS: Mapping[TraceFormat, Callable[[bytes, str], Words]] = MappingProxyType(
    {"hex": _read_hex, "bin": _read_bin, "npy": _read_npy}
)
