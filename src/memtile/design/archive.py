"""Archives of arrays (``.npz``) from outside: every member is looked at before memory is taken for it.

NumPy takes as much memory as the header of a member asks for. Here an archive is a list of members, each with
its type and shape, from which the caller chooses; nothing is read that the file does not have, nothing is
unpickled, and all of it together has a limit. The header of a saved array has the form that ``forms`` wants.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from memtile.arch.ports import PORTS
from memtile.arch.timing import Timing
from memtile.errors import InputFileError
from memtile.forms import Each, Either, Form, NamedForms, Such, misfit
from memtile.limits import how_to_raise, limit

_SUFFIX = ".npy"
_MAGIC = b"\x93NUMPY\x01\x00"  # version 1.0, as np.savez writes arrays of plain numbers
_HEADER = re.compile(
    r"\{'descr': '([<>|=][biufcV][0-9]{1,3})', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n"
)
_BLOCK = 1 << 20  # bytes that are read at a time
MOST_DIMENSIONS = 32  # of an array, in all versions of NumPy
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # as NumPy packs them
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)


@dataclass(frozen=True, slots=True)
class Member:
    """An array of an archive, not read yet.

    Attributes:
        name: in the archive.
        dtype: of its elements.
        shape: of the array.
        by_columns: its elements are in Fortran order.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    by_columns: bool

    @property
    def bytes(self) -> int:
        """Its length."""
        return prod(self.shape) * self.dtype.itemsize


class Archive:
    """The members of an open archive; see :func:`opened`."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path, self._file, self._total = path, file, 0
        self.members: dict[str, Member] = {}
        for info in file.infolist():
            self._add(info)

    def read(self, name: str) -> npt.NDArray[Any]:
        """A member as an array of its own.

        Raises:
            InputFileError: its bytes are damaged.
        """
        member = self.members[name]
        made = np.empty(prod(member.shape), member.dtype)
        with damage_named(self._path, name), self._file.open(name + _SUFFIX) as stored:
            _head(stored)
            into, at = made.view(np.uint8) if made.size else np.empty(0, np.uint8), 0
            while at < len(into) and (block := stored.read(min(len(into) - at, _BLOCK))):
                into[at : at + len(block)] = np.frombuffer(block, np.uint8)
                at += len(block)
            if at < len(into) or stored.read(1):
                raise ValueError("its length is not that of its header")
        return made.reshape(member.shape, order="F" if member.by_columns else "C")

    def _add(self, info: zipfile.ZipInfo) -> None:
        name = info.filename.removesuffix(_SUFFIX)
        if name == info.filename or name in self.members:
            raise self._refused(info.filename, "is there twice" if name in self.members else "is no array")
        if info.compress_type not in _PACKED:
            raise self._refused(name, "is packed in a way that NumPy does not use")
        with damage_named(self._path, name), self._file.open(info) as stored:
            member = _member(name, _head(stored))
        self._total += member.bytes
        if self._total > (most := limit("saved_bytes")):
            says = f"its member {name!r} makes the arrays longer than {most:,} bytes"
            raise InputFileError(f"{self._path}: {says}. {how_to_raise('saved_bytes')}")
        self.members[name] = member

    def _refused(self, name: str, says: str) -> InputFileError:
        return refused(self._path, name, says)


def refused(path: Path | str, name: str, says: str) -> InputFileError:
    """The error of a file whose member ``name`` cannot be used: what it does or is, as ``says``."""
    return InputFileError(
        f"{path}: the file is not an array that memtile saved: its member {name!r} {says}. Save it again."
    )


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """An archive of arrays.

    Args:
        path: of the file.

    Raises:
        InputFileError: it cannot be read, is no archive, a member is no array of plain numbers, or all
            arrays together are longer than the limit ``saved_bytes``.
    """
    try:
        with path.open("rb") as stored, _zip(path, stored) as file:
            yield Archive(path, file)
    except OSError as error:
        raise InputFileError(f"{path}: the file cannot be read: {error.strerror or error}.") from None


def _zip(path: Path, stored: BinaryIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(stored)
    except _DAMAGED as error:
        raise InputFileError(f"{path}: the file is not an array that memtile saved: {error}.") from None


@contextmanager
def damage_named(path: Path, name: str) -> Iterator[None]:
    """Context in which what the libraries of archives report of a damaged member is one sentence."""
    try:
        yield
    except _DAMAGED as error:
        raise refused(path, name, f"is damaged: {error}") from None


def _head(stored: Any) -> str:
    """The header of a member, which is at its beginning."""
    first = stored.read(len(_MAGIC) + 2)
    if first[: len(_MAGIC)] != _MAGIC:
        raise ValueError("it is no array of NumPy in format 1.0")
    return str(stored.read(int.from_bytes(first[len(_MAGIC) :], "little")).decode("latin1"))


def _member(name: str, header: str) -> Member:
    found = _HEADER.fullmatch(header)
    if found is None:
        raise ValueError("its header is not that of an array of plain numbers")
    shape = tuple(int(length) for length in found[3].replace(" ", "").split(",") if length)
    if len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"it has {len(shape)} dimensions")
    try:
        dtype = np.dtype(found[1])
    except TypeError:
        raise ValueError(f"{found[1]!r} is no type of plain numbers") from None
    return Member(name, dtype, shape, found[2] == "True")


_DTYPE = re.compile(r"[<>|=][biufcV][0-9]{1,3}")
_COUNT = range(1 << 53)
_NUMBER = range(1 << 10)  # of a lock, BD, channel or stream
_LINE = range(1 << 8)  # a column or row of the array


def _is_number(text: str) -> bool:
    """Whether a key is a number of the model: digits, as few as that takes."""
    return text.isascii() and text.isdigit() and len(text) <= len(str(_COUNT[-1])) and text == str(int(text))


def _is_dtype(value: Any) -> bool:
    if not isinstance(value, str) or not _DTYPE.fullmatch(value):
        return False
    try:
        return np.dtype(value).itemsize > 0
    except TypeError:
        return False


_TYPE = Such(_is_dtype, "the type of a plain number, such as '<i4'")
_PLACE: Form = (_LINE, _LINE)
_SHAPE = Each(_COUNT, MOST_DIMENSIONS)
_PORT_NAMES = {kind: {*ports.slaves, *ports.masters} for kind, ports in PORTS.items()}
_PORT = Such(
    lambda port: (
        misfit(port, (str, _LINE, _LINE, bool, str)) is None and port[4] in _PORT_NAMES.get(port[0], ())
    ),
    "a port: kind of tile, column, row, true for a master, name",
)
_TEXT_OR_NONE = Either((str, None))
_FLOW: Form = (str, _PORT, Each(_PORT), _TEXT_OR_NONE, Each(_NUMBER))
_END: Form = (_PLACE, bool, Either((_NUMBER, str)))
_BUFFERS = Each((str, _COUNT, Each(range(1, _COUNT.stop), MOST_DIMENSIONS), _TYPE))
_UPSETS = Each((_COUNT, _COUNT, _COUNT, Each(range(64))))
_CHANNEL: Form = {
    "claimed": bool,
    "begun": bool,
    "packets": Each(Either((_NUMBER, None))),
    "moves": Each((str, _TYPE)),
    "shapes": Each(_SHAPE),
    "dtype": _TYPE,
    "taken": bool,
    "fed": bool,
}
_TILE: Form = {
    "memory": {"buffers": _BUFFERS, "reserved": _BUFFERS},
    "locks": Each((_NUMBER, str)),
    "bds": Each((_NUMBER, str)),
    "channels": Each(_CHANNEL),
}
_FIFO: Form = {
    "name": str,
    "depths": Each(_COUNT),
    "repeat": _COUNT,
    "shape": _SHAPE,
    "dtype": _TYPE,
    "ends": Each((_END, Each(str), Either(((), (_NUMBER, _NUMBER))))),
    "flow": _FLOW,
}
HEADER: Form = {
    "format": str,
    "sources": str,
    "device": str,
    "columns": range(1, 1 << 8),
    "timing": {field.name: _COUNT for field in fields(Timing)},
    "engine": {
        "locks": NamedForms(str, _is_number),
        "channels": NamedForms(str, _is_number),
        "logic": NamedForms(str, _is_number),
        "external": NamedForms((range(1 << 48), bool)),
        "upsets": _UPSETS,
        "struck": _UPSETS,
        "kernels": NamedForms((str, Either((bool, None)), Each(_COUNT)), _is_number),
    },
    "tiles": Each((_PLACE, _TILE)),
    "circuits": {
        "trees": Each((_FLOW, Each((_PORT, _PORT)))),
        "taken": Each((_PORT, str)),
        "drivers": Each((_PORT, _PORT)),
        "arbiters": Each((_PLACE, Each(str))),
    },
    "buses": Each((str, bool, Each((_NUMBER, _END, Each(_END), _FLOW)))),
    "fifos": Each(_FIFO),
    "fifo_names": Each(str),
    "configured": _COUNT,
    "run_until": _COUNT,
    "listening": Each(_COUNT),
    "expected": Each((_PLACE, str)),
    "compared": Each((str, str)),
}
