"""Entries of the debug information of a compiled library, and the source files that they name.

GCC and Clang write DWARF 4 or 5 beside the code (``-g``). This reads the few attributes that
``parameter_types`` asks for; all others are stepped over by their form.

Source: DWARF 5 (dwarfstd.org), 6.2.4 The Line Number Program Header, 7.5 Format of Debugging Information.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from memtile.cpp.symbols import HEADER, SECTION
from memtile.input_files import read_bytes

_COMPRESSED, _CHDR = 0x800, struct.Struct("<IIQQ")  # SHF_COMPRESSED, Elf64_Chdr
_ZLIB = 1  # ELFCOMPRESS_ZLIB
_VERSIONS = (4, 5)
_DAMAGED = (IndexError, KeyError, ValueError, OverflowError, struct.error, zlib.error)
_COMPILE_UNIT = 1  # DW_UT_compile
_WIDE = 0xFFFFFFFF  # an initial length of 64-bit DWARF, which neither compiler writes here


class UnreadableError(Exception):
    """Debug information that is not there, or of a form that is not read here; the text says which."""


class Tag(IntEnum):
    """``DW_TAG_*`` of entries that matter here."""

    ARRAY = 0x01
    CLASS = 0x02
    ENUMERATION = 0x04
    PARAMETER = 0x05
    MEMBER = 0x0D
    POINTER = 0x0F
    REFERENCE = 0x10
    STRUCTURE = 0x13
    TYPEDEF = 0x16
    UNION = 0x17
    INHERITANCE = 0x1C
    SUBRANGE = 0x21
    BASE = 0x24
    CONST = 0x26
    SUBPROGRAM = 0x2E
    VARIABLE = 0x34
    VOLATILE = 0x35
    RESTRICT = 0x37
    NAMESPACE = 0x39
    RVALUE_REFERENCE = 0x42
    ATOMIC = 0x47


class At(IntEnum):
    """``DW_AT_*`` of attributes that matter here."""

    LOCATION = 0x02
    NAME = 0x03
    BYTE_SIZE = 0x0B
    STMT_LIST = 0x10
    COMP_DIR = 0x1B
    UPPER_BOUND = 0x2F
    ABSTRACT_ORIGIN = 0x31
    COUNT = 0x37
    MEMBER_LOCATION = 0x38
    DECL_FILE = 0x3A
    DECL_LINE = 0x3B
    DECLARATION = 0x3C
    ENCODING = 0x3E
    EXTERNAL = 0x3F
    SPECIFICATION = 0x47
    TYPE = 0x49
    LINKAGE_NAME = 0x6E


_TAGS, _ATTRIBUTES = frozenset(Tag), frozenset(At)
_PARTS = frozenset((Tag.MEMBER, Tag.INHERITANCE, Tag.SUBRANGE))
# Forms by how they are stepped over: bytes; LEB128; a block whose length comes first, in bytes or as LEB128.
_FIXED: Mapping[int, int] = {
    0x01: 8, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x0E: 4, 0x10: 4, 0x11: 1, 0x12: 2, 0x13: 4,
    0x14: 8, 0x17: 4, 0x19: 0, 0x1E: 16, 0x1F: 4, 0x20: 8, 0x21: 0, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4,
    0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4,
}  # fmt: skip
_LEB = frozenset((0x0D, 0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23))
_BLOCKS: Mapping[int, int] = {0x03: 2, 0x04: 4, 0x0A: 1}
_LEB_BLOCKS = frozenset((0x09, 0x18))
_STRING, _STRP, _LINE_STRP, _IMPLICIT, _PRESENT = 0x08, 0x0E, 0x1F, 0x21, 0x19
_OF_UNIT = frozenset((0x11, 0x12, 0x13, 0x14, 0x15))  # references from the first byte of the unit
_TEXTS = frozenset((_STRING, _STRP, _LINE_STRP))


@dataclass(slots=True)
class Entry:
    """An entry, with the attributes that matter here.

    Attributes:
        tag: what it is.
        values: of its attributes; references are offsets among all entries.
        unit: offset of its unit.
        parameters: entries of its parameters, in order.
        parts: members and base classes of a class, bounds of an array.
        outer: namespace or class that it is in.
    """

    tag: int
    values: dict[int, Any]
    unit: int
    parameters: list[Entry] = field(default_factory=list)
    parts: list[Entry] = field(default_factory=list)
    outer: Entry | None = None


Shape = tuple[int, bool, list[tuple[int, int, int]]]
"""What an abbreviation says: tag, whether entries lie within, and attributes with form and constant."""


class DebugEntries:
    """The entries of a library.

    Args:
        library: an ELF file of 64 bits, little endian, that is linked.

    Attributes:
        entries: by offset.

    Raises:
        UnreadableError: it has none, or of a form that is not read here.
    """

    def __init__(self, library: Path) -> None:
        self.entries: dict[int, Entry] = {}
        self._abbreviations: dict[int, dict[int, Shape]] = {}
        try:
            self._sections = _sections(read_bytes(library))
            if not self._sections.get(".debug_info"):
                raise UnreadableError("it was compiled without debug information")
            self._read()
        except _DAMAGED as error:
            raise UnreadableError(f"its debug information is not read here ({error})") from error

    def file(self, unit: int, number: int) -> str:
        """A source file of a unit by its number; empty if nothing says it."""
        head = self.entries[unit]
        lines = head.values.get(At.STMT_LIST)
        if lines is None:
            return ""
        try:
            names = list(_files(_Bytes(self._sections[".debug_line"], lines), self._sections))
            return str(Path(head.values.get(At.COMP_DIR, ""), names[number]))
        except _DAMAGED:
            return ""

    def _read(self) -> None:
        data, at = _Bytes(self._sections[".debug_info"]), 0
        while at < len(data.bytes):
            data.at = at
            length, version = data.number(4), data.number(2)
            if length >= _WIDE or version not in _VERSIONS:
                raise UnreadableError(f"its debug information is DWARF {version}, of which 4 and 5 are read")
            end = at + 4 + length
            kind = data.number(1) if version == _VERSIONS[1] else _COMPILE_UNIT
            if version == _VERSIONS[1]:
                data.at += 1  # size of an address, here 8
            shapes = self._shapes(data.number(4))
            if version != _VERSIONS[1]:
                data.at += 1
            if kind == _COMPILE_UNIT:
                self._unit(data, at, end, shapes)
            at = end

    def _unit(self, data: _Bytes, start: int, end: int, shapes: Mapping[int, Shape]) -> None:
        """The entries of a unit; its own one has the offset of the unit."""
        outer: list[Entry | None] = []
        while data.at < end:
            at = data.at
            code = data.leb()
            if not code:
                if outer:
                    outer.pop()
                continue
            tag, has_children, attributes = shapes[code]
            values = self._values(data, start, attributes)
            entry = Entry(tag, values, start)
            if not self.entries.get(start):
                self.entries[start] = entry
            elif tag in _TAGS:
                self.entries[at] = entry
            self._within(outer[-1] if outer else None, entry)
            if has_children:
                outer.append(entry)

    @staticmethod
    def _within(outer: Entry | None, entry: Entry) -> None:
        if outer is None:
            return
        entry.outer = outer
        if outer.tag == Tag.SUBPROGRAM and entry.tag == Tag.PARAMETER:
            outer.parameters.append(entry)
        elif entry.tag in _PARTS:
            outer.parts.append(entry)

    def _values(self, data: _Bytes, unit: int, attributes: list[tuple[int, int, int]]) -> dict[int, Any]:
        found = dict[int, Any]()
        for name, form, constant in attributes:
            if name not in _ATTRIBUTES:
                data.skip(form)
            elif form in _TEXTS:
                found[name] = data.text(form, self._sections)
            elif form in _FIXED or form in _LEB:
                value = constant if form == _IMPLICIT else 1 if form == _PRESENT else data.value(form)
                found[name] = value + unit if form in _OF_UNIT else value
            elif form in _LEB_BLOCKS:
                found[name] = data.block()
            else:
                data.skip(form)
        return found

    def _shapes(self, offset: int) -> dict[int, Shape]:
        """The abbreviations of a unit, by code."""
        known = self._abbreviations.get(offset)
        if known is not None:
            return known
        data, found = _Bytes(self._sections[".debug_abbrev"], offset), dict[int, Shape]()
        while code := data.leb():
            tag, has_children = data.leb(), bool(data.number(1))
            attributes = []
            while True:
                name, form = data.leb(), data.leb()
                constant = data.leb(signed=True) if form == _IMPLICIT else 0
                if not name and not form:
                    break
                attributes.append((name, form, constant))
            found[code] = tag, has_children, attributes
        self._abbreviations[offset] = found
        return found


class _Bytes:
    """Bytes that are read from front to back.

    Args:
        data: all of them.
        at: where to begin.
    """

    __slots__ = ("at", "bytes")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.bytes, self.at = data, at

    def number(self, size: int) -> int:
        """A number of so many bytes."""
        self.at += size
        return int.from_bytes(self.bytes[self.at - size : self.at], "little")

    def step(self, size: int) -> None:
        """Go on by so many bytes."""
        self.at += size

    def leb(self, *, signed: bool = False) -> int:
        """A number of LEB128."""
        value = shift = 0
        while True:
            byte = self.bytes[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def zero_ended(self) -> str:
        """A text up to its zero."""
        end = self.bytes.index(b"\0", self.at)
        self.at, start = end + 1, self.at
        return self.bytes[start:end].decode("utf-8", "replace")

    def value(self, form: int) -> int:
        """The number of a form."""
        return self.leb(signed=form == 0x0D) if form in _LEB else self.number(_FIXED[form])

    def text(self, form: int, sections: Mapping[str, bytes]) -> str:
        """The text of a form."""
        if form == _STRING:
            return self.zero_ended()
        section = ".debug_str" if form == _STRP else ".debug_line_str"
        return _Bytes(sections[section], self.number(4)).zero_ended()

    def block(self) -> bytes:
        """A block whose length comes first as LEB128."""
        length = self.leb()
        self.at += length
        return self.bytes[self.at - length : self.at]

    def skip(self, form: int) -> None:
        """Step over the value of a form.

        Raises:
            UnreadableError: the form is not known.
        """
        if form in _FIXED:
            self.at += _FIXED[form]
        elif form in _LEB:
            self.leb()
        elif form in _BLOCKS or form in _LEB_BLOCKS:
            self.step(self.number(_BLOCKS[form]) if form in _BLOCKS else self.leb())
        elif form == _STRING:
            self.zero_ended()
        else:
            raise UnreadableError(f"its debug information has the form {form:#x}, which is not read here")


def _sections(data: bytes) -> dict[str, bytes]:
    """The sections of debug information by name, those that are compressed as they were."""
    header = HEADER.unpack_from(data)
    table, size, count, names = header[6], header[11], header[12], header[13]
    every = [SECTION.unpack_from(data, table + n * size) for n in range(count)]
    texts, found = _Bytes(data), {}
    for name, _, flags, _, offset, length, *_ in every:
        texts.at = every[names][4] + name
        if (title := texts.zero_ended()).startswith(".debug"):
            content = data[offset : offset + length]
            if flags & _COMPRESSED:
                kind = _CHDR.unpack_from(content)[0]
                if kind != _ZLIB:
                    raise UnreadableError(
                        f"its debug information is compressed in a way ({kind}) not read here"
                    )
                content = zlib.decompress(content[_CHDR.size :])
            found[title] = content
    return found


def _files(data: _Bytes, sections: Mapping[str, bytes]) -> Iterator[str]:
    """The source files of a unit in the order of their numbers."""
    _, version = data.number(4), data.number(2)
    if version < _VERSIONS[1]:
        yield from _old_files(data)
        return
    data.at += 2 + 4 + 5  # sizes of addresses, length, then numbers that lines are coded with
    data.step(data.number(1) - 1)  # lengths of the opcodes
    folders = list(_table(data, sections))
    for name, folder in _table(data, sections):
        yield str(Path(folders[folder][0], name))


def _table(data: _Bytes, sections: Mapping[str, bytes]) -> Iterator[tuple[str, int]]:
    """Folders or files of DWARF 5: each a name, and the number of a folder."""
    formats = [(data.leb(), data.leb()) for _ in range(data.number(1))]
    for _ in range(data.leb()):
        name, folder = "", 0
        for content, form in formats:
            if content == 1:
                name = data.text(form, sections)
            elif content == 2:
                folder = data.value(form)
            else:
                data.skip(form)
        yield name, folder


def _old_files(data: _Bytes) -> Iterator[str]:
    """Files of DWARF 4, from number 1 on."""
    data.at += 4 + 5
    data.step(data.number(1) - 1)  # lengths of the opcodes
    folders = [""]
    while name := data.zero_ended():
        folders.append(name)
    yield ""
    while name := data.zero_ended():
        folder = data.leb()
        data.leb()
        data.leb()
        yield str(Path(folders[folder], name))
