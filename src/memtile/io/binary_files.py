"""Little-endian binary files, read with errors that name the byte offset, and their records found at once.

Finding many records of a kind at once is the quick way through files in which nothing is unusual. Whatever
is, ends it without an answer; the readers of a file's format then say what is wrong, or read what only they
know.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError, Problem

_FORMAT = "the file's format"


class ByteReader:
    """The bytes of a file, or of a part of one, and its name for messages.

    Args:
        data: the bytes.
        name: of the file.
        origin: byte of the file at which ``data`` begins.
        whole: what ``data`` is, such as ``file`` or ``PDI``.
    """

    def __init__(self, data: bytes, name: str, origin: int = 0, whole: str = "file") -> None:
        self.data, self.name, self.origin, self.whole = data, name, origin, whole

    def part(self, at: int, size: int, what: str, source: str = _FORMAT) -> ByteReader:
        """The ``size`` bytes at byte ``at``; :class:`InputFileError` unless all of them are there."""
        self.check_part(at, size, what, source)
        return ByteReader(self.data[at : at + size], self.name, self.origin + at, what)

    def check_part(self, at: int, size: int, what: str, source: str = _FORMAT) -> None:
        """Raise :class:`InputFileError` unless the ``size`` bytes at byte ``at`` are all there."""
        if not (at >= 0 and size >= 0 and at + size <= len(self.data)):
            says = (
                f"the {what} is said to have {size} bytes at byte {at:#x} of the {self.whole}, "
                f"which has {len(self.data)}"
            )
            given = f"{size} bytes at {at:#x}"
            raise self.error("part", at, what, given, f"bytes of the {self.whole}", source, says)

    def unpack(self, layout: Struct, at: int, what: str) -> tuple[int, ...]:
        """The numbers of ``layout`` at byte ``at``; :class:`InputFileError` where the file ends before."""
        self.need(at, layout.size, what)
        return layout.unpack_from(self.data, at)

    def need(self, at: int, size: int, what: str) -> None:
        """Raise :class:`InputFileError` unless ``size`` bytes follow at byte ``at``."""
        left = len(self.data) - at
        if size > left:
            says = f"the {self.whole} ends within the {what}, of which {left} of {size} bytes are there"
            raise self.error("truncated", at, what, f"{left} bytes left", f"{size} bytes", says=says)

    def place(self, at: int) -> str:
        """A byte of the file for messages."""
        return f"{self.name}, byte {self.origin + at:#06x}"

    def error(
        self, reason: str, at: int, what: str, given: str, allowed: str, source: str = _FORMAT, says: str = ""
    ) -> InputFileError:
        """The error of what is at byte ``at``."""
        return InputFileError(self.problem(reason, at, what, given, allowed, source, says))

    def problem(
        self, reason: str, at: int, what: str, given: str, allowed: str, source: str = _FORMAT, says: str = ""
    ) -> Problem:
        """The problem of what is at byte ``at``."""
        return Problem(what, given, allowed, says, reason=reason, where=self.place(at), source=source)


Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint32]

_ALIKE = 8  # records of one width in a row after which many are looked at at once
_MOST = 1 << 16  # records looked at at once
_NONE = -1  # width of a record that there is not


def words_of(data: bytes, at: int) -> Words | None:
    """The words of a file from byte ``at`` on, little-endian; None where they are no whole words."""
    if sys.byteorder != "little" or at % WORD_BYTES or len(data) % WORD_BYTES or len(data) <= at:
        return None
    return np.frombuffer(data, np.uint32)[at // WORD_BYTES :]


class Records(NamedTuple):
    """How the records of a format are told.

    Attributes:
        mask: bits of the first word that say what a record is.
        widths: words of those records whose width that says; it is not looked at how many are left.
        width_of: words of the record of another kind at a word, 0 = an unusual one.
        alike: for the first words of a record and rows of words of the same width, which rows are records of
            the same kind and width.
    """

    mask: int
    widths: Mapping[int, int]
    width_of: Callable[[Any, int], int]
    alike: Callable[[Words, Words], npt.NDArray[np.bool_]]


def starts_of(words: Words, records: Records) -> Ints | None:
    """Number of the first word of each record; None where one is unusual, or the file ends within one."""
    view = memoryview(words.data)
    mask, widths, width_of, alike = records
    found: list[Ints] = []
    one_by_one: list[int] = []
    at, before, same, end = 0, _NONE, 0, len(words)
    while at < end:
        width = widths.get(view[at] & mask) or width_of(view, at)
        if width != before:
            if width == 0:
                return None
            before, same = width, 0
        elif same < _ALIKE:
            same += 1
        else:
            many = _how_many(words, at, width, alike)
            found += [np.array(one_by_one, np.int64), at + width * np.arange(many)]
            one_by_one, before = [], _NONE
            at += many * width
            continue
        one_by_one.append(at)
        at += width
    return np.concatenate([*found, np.array(one_by_one, np.int64)]) if at == end else None


def _how_many(
    words: Words, at: int, width: int, alike: Callable[[Words, Words], npt.NDArray[np.bool_]]
) -> int:
    """How many records of the kind and width of the one at ``at`` follow each other; at least that one."""
    first, records, at_once = words[at : at + width], 1, _ALIKE
    if len(first) < width:
        return records  # the file ends within it
    while True:
        begin = at + records * width
        rows = min(at_once, (len(words) - begin) // width)
        same = alike(first, words[begin : begin + rows * width].reshape(rows, width))
        if not same.all():
            return records + int(same.argmin())
        records += rows
        if rows < at_once:
            return records
        at_once = min(2 * at_once, _MOST)
