"""CSV files of PLIO: each row is a word of the PLIO's width, or cycles without one.

UG1076, CSV file format: the header is ``CMD``, one ``D`` for each value of a line, then ``TLAST``, ``TKEEP``
and ``COMMENT`` where the file has them. ``DATA:n`` sends the row n times, ``STALL:n`` lets n cycles of the
PLIO's clock pass; n is 1 where it is absent, TLAST 0, TKEEP -1, which is all bytes. AM009: TKEEP is ignored
without TLAST, and with it keeps the first 32-bit words. A complex value has two columns (DEV-ADF-53).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memtile.errors import InputFileError, Problem
from memtile.input_files import name_of, read_bytes
from memtile.io.plio_elements import (
    WORD_BITS,
    Element,
    Words,
    allowed_values,
    element_of,
    integer_range,
    overflows,
    values_of_line,
    words_of,
)
from memtile.io.plio_text import Flags, PlioWords, beat_ends, texts_of
from memtile.io.plio_tokens import check_count
from memtile.output_files import output_file

SOURCE = "UG1076: CSV file format"
_EXTRA = ("TLAST", "TKEEP", "COMMENT")
_COMMAND = re.compile(r"(DATA|STALL)(?::([0-9]{1,9}))?", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
_KEEP = re.compile(r"-1|0[xX][0-9a-fA-F]{1,4}|[0-9]{1,5}", re.ASCII)
_SHOWN = 5  # problems of one file
_ALL = -1  # TKEEP: all bytes


class _Row(NamedTuple):
    """A command and the values of its columns, all of them text."""

    line: int
    command: str
    values: list[str]
    tlast: str
    tkeep: str


def read_plio_csv(file: Path | str, element: str, width_bits: int) -> PlioWords:
    """Return the contents of a PLIO CSV file.

    Args:
        file: its path; ``-`` is standard input.
        element: type of the connected kernel's argument, AMD's name.
        width_bits: of the PLIO: 32, 64 or 128.

    Raises:
        InputFileError: it cannot be read, is larger than a limit, or has an invalid row.
    """
    kind, name = element_of(element, width_bits), name_of(file)
    text = read_bytes(file, "text_bytes").decode("utf-8-sig", "replace")
    beats = _Beats(kind, width_bits, name)
    for row in _rows(text, values_of_line(kind, width_bits), name):
        beats.add(row)
    return beats.whole()


def _problem(name: str, line: int, given: str, says: str, allowed: str) -> Problem:
    return Problem(
        "row", given or "empty", allowed, says, reason="plio_csv", where=f"{name}:{line}", source=SOURCE
    )


def _rows(text: str, values: int, name: str) -> Iterator[_Row]:
    """The rows behind the header, without blank ones."""
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    try:
        header = [cell.strip().upper() for cell in next(reader, [])]
        extra = _columns(header, values, name)
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield _row(reader.line_num, cells, values, extra, name)
    except csv.Error as error:
        problem = _problem(name, reader.line_num, str(error), f"the row is no CSV: {error}", "cells, commas")
        raise InputFileError(problem) from None


def _columns(header: Sequence[str], values: int, name: str) -> dict[str, int]:
    """Where the columns behind the values are."""
    rest = header[values + 1 :]
    known = [each for each in _EXTRA if each in rest]
    if list(header[: values + 1]) != ["CMD", *["D"] * values] or sorted(rest) != sorted(known):
        allowed = f"CMD, {values} times D, then TLAST, TKEEP and COMMENT where there are any"
        shown = ",".join(header)[:80]
        says = f"the header is {shown!r}; for this type and width it is {allowed}"
        raise InputFileError(_problem(name, 1, shown, says, allowed))
    return {each: header.index(each) for each in known}


def _row(line: int, cells: list[str], values: int, extra: dict[str, int], name: str) -> _Row:
    if len(cells) > values + 1 + len(extra):
        says = f"the row has {len(cells)} cells; the header has {values + 1 + len(extra)}"
        raise InputFileError(_problem(name, line, str(len(cells)), says, "as many cells as the header"))
    cells += [""] * (values + 1 + len(extra) - len(cells))
    tlast, tkeep = (cells[extra[each]] if each in extra else "" for each in ("TLAST", "TKEEP"))
    return _Row(line, cells[0], cells[1 : values + 1], tlast, tkeep)


class _Beats:
    """Words of a PLIO as rows have them.

    Args:
        element: of its values.
        width_bits: of the PLIO.
        name: of the file.
    """

    def __init__(self, element: Element, width_bits: int, name: str) -> None:
        self._element, self._name = element, name
        self._words = width_bits // WORD_BITS
        self._texts: list[list[str]] = []
        self._lines: list[int] = []
        self._times: list[int] = []  # how often each is sent
        self._kept: list[int] = []  # words of each
        self._last: list[int] = []
        self._stalls: list[int] = []  # cycles before each
        self._waits = 0  # cycles since the last one
        self._sent = 0

    def add(self, row: _Row) -> None:
        """Append what a row says."""
        found = _COMMAND.fullmatch(row.command)
        if not found:
            raise self._wrong(row, row.command, "the command is", "DATA, DATA:n, STALL or STALL:n")
        count = int(found[2] or 1)
        if found[1] == "STALL":
            self._waits += count
            return
        self._sent += count * len(row.values)
        check_count(self._sent, self._name)
        if row.tlast not in ("", "0", "1"):
            raise self._wrong(row, row.tlast, "TLAST is", "0 or 1")
        last = row.tlast == "1"
        if count:
            self._texts.append(row.values)
            self._lines.append(row.line)
            self._times.append(count)
            self._kept.append(self._keeps(row) if last else self._words)
            self._last.append(int(last))
            self._stalls.append(self._waits)
            self._waits = 0

    def _keeps(self, row: _Row) -> int:
        """Words that TKEEP of a last row keeps."""
        keep = int(row.tkeep or "-1", 0) if _KEEP.fullmatch(row.tkeep or "-1") else None
        masks = {_ALL: self._words} | {(1 << 4 * n) - 1: n for n in range(1, self._words + 1)}
        if keep not in masks:
            allowed = ", ".join(["-1", *(hex(mask) for mask in masks if mask > 0)])
            raise self._wrong(row, row.tkeep, "TKEEP with TLAST is", f"one of {allowed} (AM009)")
        return masks[keep]

    def _wrong(self, row: _Row, given: str, what: str, allowed: str) -> InputFileError:
        return InputFileError(
            _problem(self._name, row.line, given, f"{what} {given[:40]!r}; it must be {allowed}", allowed)
        )

    def whole(self) -> PlioWords:
        """All words."""
        if not self._texts:
            return PlioWords(np.zeros(0, np.uint32), np.zeros(0, np.uint8))
        words = self._parsed().reshape(-1, self._words)
        times = np.array(self._times)
        words = np.repeat(words, times, axis=0)
        kept, last = np.repeat(self._kept, times), np.repeat(self._last, times)
        stalls = np.zeros(len(words), np.int64)
        stalls[np.cumsum(times) - times] = self._stalls
        place = np.arange(self._words)
        is_kept = place < kept[:, None]
        flags = ((place == kept[:, None] - 1) & (last[:, None] == 1)).astype(np.uint8)
        waits = np.where(place == 0, stalls[:, None], 0)
        return PlioWords(words[is_kept], flags[is_kept], None, waits[is_kept] if stalls.any() else None)

    def _parsed(self) -> Words:
        """Words of each row, once."""
        texts = [text for row in self._texts for text in row]
        is_number = _is_float if self._element.is_float else _INTEGER.fullmatch
        wrong = [at for at, text in enumerate(texts) if not is_number(text)]
        if not wrong:
            if self._element.is_float:
                values = np.array([float(text) for text in texts])
                wrong = np.flatnonzero(overflows(values, self._element)).tolist()
            else:
                values = np.array([int(text) for text in texts], object)
                low, high = integer_range(self._element)
                wrong = [at for at, value in enumerate(values.tolist()) if not low <= value <= high]
        if wrong:
            raise InputFileError([self._value_problem(at, texts[at]) for at in wrong[:_SHOWN]])
        return words_of(values, self._element)

    def _value_problem(self, at: int, text: str) -> Problem:
        line, allowed = self._lines[at // len(self._texts[0])], allowed_values(self._element)
        shown = repr(text[:40]) if text else "an empty cell"
        says = f"{shown} is not {allowed}, as {self._element.name} needs"
        return _problem(self._name, line, text[:40], says, allowed)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def write_plio_csv(file: Path | str, words: Words, tlast: Flags, element: str, width_bits: int) -> None:
    """Write a CSV file of a PLIO.

    Args:
        file: its path; ``-`` is standard output.
        words: of the stream, uint32.
        tlast: of each word.
        element: AMD's type of the kernel's argument.
        width_bits: of the PLIO.

    Raises:
        InputFileError: the file cannot be written.
    """
    kind = element_of(element, width_bits)
    full, per_word = width_bits // WORD_BITS, WORD_BITS / kind.bits
    texts = texts_of(words, kind)
    columns = values_of_line(kind, width_bits)
    begin = 0
    with output_file(file) as out:
        out.write(f"{','.join(['CMD', *['D'] * columns, 'TLAST', 'TKEEP'])}\n".encode("ascii"))
        for end in beat_ends(tlast, full).tolist():
            values = texts[int(begin * per_word) : int(end * per_word)]
            keep = -1 if end - begin == full else (1 << 4 * (end - begin)) - 1
            row = ["DATA", *values, *["0"] * (columns - len(values)), str(int(tlast[end - 1])), str(keep)]
            out.write(f"{','.join(row)}\n".encode("ascii"))
            begin = end
