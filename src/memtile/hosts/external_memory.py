"""External memory of a served array: one file that the server and clients of the same machine map.

Beside the port file lie ``external_memory.bin``, the contents, and ``external_memory.txt``, a line for each
memory: its address, its bytes and where they begin in the contents, as ``0x`` and 16 hex digits each. Both
are gone when the server ends. On Linux the contents are in memory alone and sealed: an access to a mapped
file that was shortened ends a process, and a sealed one cannot be shortened.

It also has requests for external memory, ``ADDRESS:SIZE[=FILE.npy]``, and what is wrong with them.
"""

from __future__ import annotations

import math
import mmap
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.devices import ARRAY_BASE, ARRAY_BYTES, NPI_BASE, NPI_BYTES
from memtile.arch.tiles import INTERFACE, WORD_BYTES
from memtile.errors import InputFileError, Problem
from memtile.hosts.notices import Log
from memtile.hosts.own_files import PRIVATE, claimed, placed, write_private
from memtile.io.npy import read_array
from memtile.model.state.columns import Words
from memtile.output_files import make_folder, output_file
from memtile.sim.loop.engine import Engine
from memtile.system import system

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


CONTENTS, LIST = "external_memory.bin", "external_memory.txt"
"""Names of the two files, in the folder of the port file."""

_ALIGNED = 1 << 16  # where a memory begins in the contents: a page on any machine


class MemoryPlace(NamedTuple):
    """Where a memory is.

    Attributes:
        address: of its first byte.
        first: index of its first word in the contents.
        words: how many.
    """

    address: int
    first: int
    words: int


class ServedMemory:
    """The memories of a server: parts of one mapped file.

    Attributes:
        requests: the memories.
        words: the contents; uint32[words].
    """

    def __init__(self, requests: Sequence[MemoryRequest], words: Words) -> None:
        self.requests, self.words = requests, words
        self._parts = list(_parts(requests))
        self._loaded: dict[int, tuple[tuple[int, ...], np.dtype[Any]]] = {}  # by address: shape and type

    def attach(self, engine: Engine) -> None:
        """Let the interface tiles of ``engine`` reach the memories.

        Raises:
            DesignError: two memories have a byte in common.
        """
        for part in self._parts:
            words = self.words[part.first : part.first + part.words]
            engine.external.add(f"memory {part.address:#x}", words, part.address)

    def find(self, address: int) -> int | None:
        """The index in ``words`` of the word at byte ``address``; None if no memory has a word there."""
        for part in self._parts:
            if 0 <= address - part.address < part.words * WORD_BYTES and address % WORD_BYTES == 0:
                return part.first + (address - part.address) // WORD_BYTES
        return None

    def __str__(self) -> str:
        """The memories by their addresses."""
        return ", ".join(f"{r.address:#x}..{r.address + r.size - 1:#x}" for r in self.requests)

    def load(self, create: bool, log: Log) -> None:
        """Fill the memories that have a file; one that does not exist is left as zeros if ``create``."""
        for request, part in zip(self.requests, self._parts, strict=True):
            if request.file is not None and (request.file.exists() or not create):
                held = _array(request)
                self._loaded[request.address] = held.shape, held.dtype
                self._bytes(part, held.nbytes)[:] = np.frombuffer(held.tobytes(), np.uint8)
                shape = "x".join(map(str, held.shape)) or "one element"
                log(f"memory {request.address:#x}: {shape} of {held.dtype} from {request.file}")
            elif request.file is not None:
                log(f"memory {request.address:#x}: zeros, {request.file} does not exist yet")

    def save(self, log: Log) -> None:
        """Write what the memories hold to their files, in the shape and type that these had, or as words.

        Raises:
            InputFileError: a file cannot be written.
        """
        for request, part in zip(self.requests, self._parts, strict=True):
            if request.file is None:
                continue
            shape, dtype = self._loaded.get(request.address, ((part.words,), np.dtype(np.uint32)))
            kept = self._bytes(part, math.prod(shape) * dtype.itemsize).view(dtype).reshape(shape)
            make_folder(request.file.parent)
            with output_file(request.file) as file:
                np.save(file, kept)
            log(f"memory {request.address:#x}: written to {request.file}")

    def _bytes(self, part: MemoryPlace, count: int) -> npt.NDArray[np.uint8]:
        """The first bytes of a memory, a view."""
        return self.words[part.first : part.first + part.words].view(np.uint8)[:count]


def _array(request: MemoryRequest) -> npt.NDArray[Any]:
    """What the file of a request holds."""
    text, path = f"{request.address:#x}", request.file
    held = read_array(str(path))
    if held.nbytes > request.size:
        given = f"{held.nbytes} bytes"
        says = f"{path} holds {given}, allowed are 0..{request.size} bytes"
        raise InputFileError(
            memory_problem(
                text, "file", given, f"0..{request.size} bytes", says, "Give the memory a larger SIZE."
            )
        )
    return held


def _parts(requests: Sequence[MemoryRequest]) -> Iterator[MemoryPlace]:
    at = 0
    for address, size, _ in requests:
        yield MemoryPlace(address, at // WORD_BYTES, size // WORD_BYTES)
        at += -(-size // _ALIGNED) * _ALIGNED


@contextmanager
def served_memory(
    requests: Sequence[MemoryRequest], folder: Path, log: Log, *, keep: bool = False
) -> Iterator[ServedMemory]:
    """A context with the memories, filled and listed in ``folder``.

    Args:
        requests: the memories.
        folder: of the port file.
        log: gets a line of text about what is loaded and saved.
        keep: at the end write what memories with a file hold back to it.

    Raises:
        InputFileError: a file cannot be read or written, is too large, or there is no room for the contents.
    """
    if not requests:
        yield ServedMemory((), np.zeros(0, np.uint32))
        return
    contents, listed = folder / CONTENTS, folder / LIST
    with claimed(contents), ExitStack() as files:
        memory = ServedMemory(requests, _mapped(requests, contents, files))
        memory.load(keep, log)
        files.enter_context(placed(listed, lambda path: write_private(path, _listing(requests))))
        try:
            yield memory
        finally:
            if keep:
                memory.save(log)


def _listing(requests: Sequence[MemoryRequest]) -> str:
    """A line for each memory."""
    return "".join(
        f"0x{part.address:016x} 0x{part.words * WORD_BYTES:016x} 0x{part.first * WORD_BYTES:016x}\n"
        for part in _parts(requests)
    )


def _mapped(requests: Sequence[MemoryRequest], path: Path, files: ExitStack) -> Words:
    """A new file at ``path`` until ``files`` end, mapped; it takes room only where somebody writes."""
    size = sum(-(-request.size // _ALIGNED) * _ALIGNED for request in requests)
    held: list[mmap.mmap] = []

    def make(draft: Path) -> None:
        if sys.platform == "linux" and Path("/proc/self/fd").is_dir():
            files.callback(os.close, number := _sealed(size))
            system().symlink(f"/proc/{os.getpid()}/fd/{number}", draft)
        else:
            write_private(draft, "")
            os.truncate(draft, size)
        with draft.open("r+b") as file:
            held.append(mmap.mmap(file.fileno(), size))

    files.enter_context(placed(path, make))
    return np.frombuffer(held[0], dtype=np.uint32)


if sys.platform == "linux":
    import fcntl

    def _sealed(size: int) -> int:
        """The number of a file in memory whose size cannot be changed."""
        number = os.memfd_create(CONTENTS, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.fchmod(number, PRIVATE)
        os.truncate(number, size)
        fcntl.fcntl(number, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        return number
