"""Requests for external memory, ``ADDRESS:SIZE[=FILE.npy]``, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from memtile.arch.address_map import ARRAY_BASE, ARRAY_BYTES, NPI_BASE, NPI_BYTES
from memtile.arch.tiles import INTERFACE, WORD_BYTES
from memtile.errors import InputFileError, Problem

_FORM = re.compile(r"(?P<address>[^:=]+):(?P<size>[^:=]+?)(?P<unit>[kKmMgG]?)(=(?P<file>.+))?")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_END = INTERFACE.dma_address_words * WORD_BYTES
_SOURCE, _FILE_SOURCE = "AM025 DMA_BDn_1 and DMA_BDn_2 of the interface tile", "numpy.save"
_EXAMPLE = "ADDRESS:SIZE or ADDRESS:SIZE=FILE.npy, such as 0x100000000:64K"


class MemoryRequest(NamedTuple):
    """A memory that somebody asked for.

    Attributes:
        address: of its first byte.
        size: bytes, whole words.
        file: a ``.npy`` file with what it holds at first; None = zeros.
    """

    address: int
    size: int
    file: Path | None = None


def memory_problem(
    given: str, what: str, value: str, allowed: str, says: str = "", step: str = ""
) -> Problem:
    """What is wrong with the memory ``given``."""
    return Problem(
        what,
        value,
        allowed,
        says,
        step,
        reason=f"memory_{what.replace(' ', '_')}",
        where=f"memory {given}",
        source=_FILE_SOURCE if what == "file" else _SOURCE,
    )


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def parse_memories(texts: Sequence[str]) -> list[MemoryRequest]:
    """The requests in texts ``ADDRESS:SIZE[=FILE.npy]``: decimal or 0x, SIZE with K, M or G if wanted.

    Raises:
        InputFileError: one is not of this form, not whole words, not within 48 bits, or lies over the array,
            the NPI registers or another one; all problems at once.
    """
    requests: list[MemoryRequest] = []
    problems: list[Problem] = []
    for text in texts:
        try:
            requests.append(_parse(text))
        except InputFileError as error:
            problems += error.problems
    problems += _overlaps(requests)
    if problems:
        raise InputFileError(problems)
    return requests


def _overlaps(requests: Sequence[MemoryRequest]) -> Iterator[Problem]:
    """Memories that have a byte in common."""
    ordered = sorted(requests)
    for one, other in pairwise(ordered):
        if other.address < one.address + one.size:
            taken = f"{one.address:#x}..{one.address + one.size - 1:#x}"
            says = f"it would lie over the memory {taken}"
            yield memory_problem(
                f"{other.address:#x}", "place", f"{other.address:#x}", f"outside {taken}", says
            )


def _parse(text: str) -> MemoryRequest:
    found = _FORM.fullmatch(text)
    address, size = (_number(found[name]) for name in ("address", "size")) if found else (None, None)
    if found is None or address is None or size is None:
        says = f"{text!r} is no memory; it must be {_EXAMPLE}"
        raise InputFileError(memory_problem(text, "form", text, _EXAMPLE, says))
    request = MemoryRequest(
        address, size * _UNITS[found["unit"].lower()], Path(found["file"]) if found["file"] else None
    )
    problems = list(_faults(text, request))
    if problems:
        raise InputFileError(problems)
    return request


def _faults(text: str, request: MemoryRequest) -> Iterator[Problem]:
    address, size, file = request
    if size <= 0 or size % WORD_BYTES:
        says = f"the size is {size} bytes; it must be whole 32-bit words, at least one"
        yield memory_problem(text, "size", f"{size} bytes", "whole 32-bit words", says)
    if address % WORD_BYTES or not 0 <= address <= _END - max(size, 0):
        yield memory_problem(
            text, "address", hex(address), f"a multiple of 0x4 in 0x0..{_END - max(size, 0):#x}"
        )
    for name, base, length in (
        ("the array", ARRAY_BASE, ARRAY_BYTES),
        ("the NPI registers", NPI_BASE, NPI_BYTES),
    ):
        if address < base + length and base < address + size:
            taken = f"{base:#x}..{base + length - 1:#x}"
            says = f"it would lie over {name}, {taken}"
            yield memory_problem(text, "place", hex(address), f"outside {taken}", says)
    if file is not None and file.suffix != ".npy":
        says = f"{file} has no name that ends in .npy"
        yield memory_problem(
            text, "file", str(file), "a .npy file", says, "Write one with numpy.save, or map the memory."
        )
