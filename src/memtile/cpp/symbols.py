"""Functions of a compiled library by name, the C++ ones too, and the lines of their code.

The table of symbols is read here; lines come from ``addr2line`` or ``llvm-addr2line``, where one is there,
else from the debug information itself (``line_tables``).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from memtile.cpp import line_tables
from memtile.cpp.build import INCLUDE, RUNTIME
from memtile.cpp.line_tables import Frame
from memtile.errors import InputFileError
from memtile.input_files import read_bytes

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # Elf64_Ehdr
SECTION = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr
_SEGMENT = struct.Struct("<IIQQQQQQ")  # Elf64_Phdr
_SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym
_ALL_SYMBOLS, _DYNAMIC_SYMBOLS, _LOADED, _FUNCTION, _GLOBAL = 2, 11, 1, 2, (1, 2)
_MANGLED = re.compile(r"_Z([0-9]+)")
_LINE_TOOLS = ("addr2line", "llvm-addr2line")
_SECONDS = 20
_MOST_WORDS = 1000  # addresses that one call of a tool gets
_DAMAGED = (IndexError, ValueError, OverflowError, struct.error)
T = TypeVar("T", bound=Callable[..., Any])


@contextmanager
def _reading(library: Path) -> Iterator[None]:
    """A context in which tables of a library are read; raises ``InputFileError`` where they are damaged."""
    try:
        yield
    except _DAMAGED as error:
        raise InputFileError(
            f"{library}: the compiled file is damaged ({error}). Delete it; memtile compiles it again."
        ) from error


def by_content(read: T) -> T:
    """A function of a library that reads it once, and again when it was compiled anew.

    Args:
        read: its first argument is the path of the library.
    """
    kept = cache(lambda _stamp, *given: read(*given))

    @wraps(read)
    def known(library: Path, *more: Any) -> Any:
        found = library.stat()
        return kept((found.st_ino, found.st_mtime_ns), library, *more)

    return cast(T, known)


@by_content
def _tables(library: Path) -> tuple[frozenset[str], int]:
    """Names of the functions that a library exports, and bytes that it takes in memory."""
    data = read_bytes(library)
    with _reading(library):
        return _exported(data)


def _exported(data: bytes) -> tuple[frozenset[str], int]:
    header = HEADER.unpack_from(data)
    segments, sections = header[5], header[6]
    segment_size, segment_count, section_size, section_count = header[9:13]
    end = 0
    for n in range(segment_count):
        kind, _, _, address, _, _, size, _ = _SEGMENT.unpack_from(data, segments + n * segment_size)
        end = max(end, address + size) if kind == _LOADED else end
    table = [SECTION.unpack_from(data, sections + n * section_size) for n in range(section_count)]
    names = set[str]()
    for section in table:
        if section[1] == _DYNAMIC_SYMBOLS:
            names.update(_names(data, section[4], section[5], table[section[6]][4]))
    return frozenset(names), end


def _names(data: bytes, at: int, size: int, texts: int) -> Iterator[str]:
    for place in range(at, at + size, _SYMBOL.size):
        name, info, _, section, _, _ = _SYMBOL.unpack_from(data, place)
        if section and info & 0xF == _FUNCTION and info >> 4 in _GLOBAL:
            first = texts + name
            yield data[first : data.index(b"\0", first)].decode("utf-8", "replace")


def linkage(compiled: Path) -> tuple[set[str], set[str]]:
    """Symbols that an object file defines for others, and those that it needs of others.

    Raises:
        InputFileError: the file is damaged.
    """
    data = read_bytes(compiled)
    with _reading(compiled):
        return _linked(data)


def _linked(data: bytes) -> tuple[set[str], set[str]]:
    header = HEADER.unpack_from(data)
    at, size, count = header[6], header[11], header[12]
    sections = [SECTION.unpack_from(data, at + n * size) for n in range(count)]
    defined, needed = set[str](), set[str]()
    for section in sections:
        if section[1] != _ALL_SYMBOLS:
            continue
        texts = sections[section[6]][4]
        for place in range(section[4], section[4] + section[5], _SYMBOL.size):
            name, info, _, home, _, _ = _SYMBOL.unpack_from(data, place)
            if name and info >> 4 in _GLOBAL:
                first = texts + name
                text = data[first : data.index(b"\0", first)].decode("utf-8", "replace")
                (defined if home else needed).add(text)
    return defined, needed


def functions_of(library: Path) -> list[str]:
    """Names of the functions that a library exports for its users.

    Raises:
        InputFileError: the file is damaged.
    """
    return sorted(
        name for name in _tables(library)[0] if not name.startswith(("memtile_", "__", "_init", "_fini"))
    )


def loaded_bytes(library: Path) -> int:
    """Bytes from the first to the last that a library takes in memory."""
    return _tables(library)[1]


def symbols_for(library: Path, name: str) -> list[str]:
    """Symbols that a function of a name has: the name itself, or C++ functions outside of a namespace."""
    names = functions_of(library)
    return [name] if name in names else [each for each in names if plain_name(each) == name]


def plain_name(symbol: str) -> str:
    """Name of a C++ function by its symbol, without its arguments; others as they are."""
    found = _MANGLED.match(symbol)
    return symbol if found is None else symbol[found.end() : found.end() + int(found[1])]


def lines(library: Path, offsets: tuple[int, ...]) -> list[Frame]:
    """The functions and lines of addresses within a library, inlined ones first, without those of memtile."""
    ours = (str(INCLUDE), str(RUNTIME))
    return [
        frame for frame in _every_line(library, offsets) if frame.line and not frame.file.startswith(ours)
    ]


def _every_line(library: Path, offsets: tuple[int, ...]) -> list[Frame]:
    """The functions and lines of addresses, those of memtile among them."""
    tool = next(filter(None, map(shutil.which, _LINE_TOOLS)), None)
    if not offsets:
        return []
    if tool is None:
        return line_tables.places(library, offsets) if line_tables.readable() else []
    words = [tool, "-e", str(library), "-i", "-f", "-C", *map(hex, offsets)]
    try:
        done = subprocess.run(
            words, capture_output=True, check=True, timeout=_SECONDS, text=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return []
    said = done.stdout.splitlines()
    return [_frame(function, place) for function, place in zip(said[::2], said[1::2], strict=False)]


def frames(program: Path, offsets: Sequence[int]) -> list[Frame | None]:
    """The user's innermost line of each address within a program; None = no line is known.

    Without a tool and without pyelftools there are no lines.
    """
    tool = next(filter(None, map(shutil.which, _LINE_TOOLS)), None)
    if tool is None:
        each = [line_tables.places(program, [offset]) for offset in offsets] if line_tables.readable() else []
        return [_first_own(places) for places in each] or [None] * len(offsets)
    found = list[Frame | None]()
    for start in range(0, len(offsets), _MOST_WORDS):
        part = offsets[start : start + _MOST_WORDS]
        words = [tool, "-e", str(program), "-i", "-f", "-a", *map(hex, part)]
        done = subprocess.run(words, capture_output=True, check=True, timeout=_SECONDS, text=True)
        places = list[list[Frame]]()
        said = iter(done.stdout.splitlines())
        for line in said:
            if line.startswith("0x"):
                places.append([])
            else:
                places[-1].append(_frame(line, next(said)))
        found += map(_first_own, places)
    return found


def _first_own(places: Sequence[Frame]) -> Frame | None:
    return next((each for each in places if each.line and not each.file.startswith(str(INCLUDE))), None)


def own_frame(library: Path, offsets: Sequence[int]) -> Frame | None:
    """The user's function that was at work: the innermost one in a file that is no header of the system.

    Args:
        library: compiled kernels.
        offsets: of the code in it, innermost first; others are of other libraries.

    Returns:
        The innermost one that has a line, where none is the user's; None if no line is known.
    """
    end = loaded_bytes(library)
    found = lines(library, tuple(each for each in offsets if 0 <= each < end))
    own = _files(library)
    return next((each for each in found if os.path.realpath(each.file) in own), next(iter(found), None))


@by_content
def _files(library: Path) -> frozenset[str]:
    """The files that a library was made of, without headers of the system, which compilers leave out."""
    inputs = json.loads(library.with_name("inputs.json").read_text("utf-8"))
    return frozenset(map(os.path.realpath, inputs))


@by_content
def place_in(library: Path, offset: int) -> str:
    """``kernel.cc:12`` for an address within a library; empty if nothing knows it."""
    found = own_frame(library, [offset])
    return f"{Path(found.file).name}:{found.line}" if found else ""


def _frame(function: str, place: str) -> Frame:
    file, _, line = place.partition(" ")[0].rpartition(":")
    return Frame(function, "" if file == "??" else file, int(line) if line.isdigit() else 0)
