"""Read ELF files, 32 and 64 bits, little-endian: sections, symbols, relocations and groups (ELF, gABI).

What is in the sections is the matter of others. Everything that a table points to is checked to be there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from struct import Struct
from typing import NamedTuple

from memtile.io.binary_files import ByteReader

SOURCE = "ELF"
MAGIC = b"\x7fELF"
_IDENT = Struct("<4sBBBBB")  # magic, class, byte order, version, system, version of its ABI
_LITTLE = 1
_TYPE = Struct("<HH")  # type, machine
_TYPE_AT = 0x10
NOBITS, SYMBOLS, RELOCATIONS, GROUP, DYNAMIC_SYMBOLS = 8, 2, 4, 17, 11
OBJECT, FUNCTION = 1, 2
_TYPE_OF_SYMBOL = 0xF


class _ElfLayout(NamedTuple):
    """How one class of files stores its tables; ``symbol_order`` is name, value, size, info, section."""

    table_at: int
    table: Struct
    counts_at: int
    section: Struct
    symbol: Struct
    symbol_order: tuple[int, ...]
    relocation: Struct
    symbol_shift: int


_COUNTS = Struct("<HHH")  # size of a section header, how many, which one has the names
_LAYOUTS = {
    1: _ElfLayout(
        0x20, Struct("<I"), 0x2E, Struct("<10I"), Struct("<IIIBxH"), (0, 1, 2, 3, 4), Struct("<IIi"), 8
    ),
    2: _ElfLayout(
        0x28,
        Struct("<Q"),
        0x3A,
        Struct("<IIQQQQIIQQ"),
        Struct("<IBxHQQ"),
        (0, 3, 4, 1, 2),
        Struct("<QQq"),
        32,
    ),
}


class Ident(NamedTuple):
    """What the first bytes of an ELF file say.

    Attributes:
        bits: 1 = 32, 2 = 64.
        order: 1 = little-endian.
        system: operating system or platform.
        version: of its ABI.
        kind: relocatable, executable, core.
        machine: whose code it is.
    """

    bits: int
    order: int
    system: int
    version: int
    kind: int
    machine: int


@dataclass(frozen=True)
class Section:
    """A section: its place among the others, its header, and its bytes."""

    index: int
    name: str
    kind: int
    link: int
    info: int
    body: ByteReader


@dataclass(frozen=True)
class ElfSymbol:
    """A symbol: what it is called, how large, its type, and the section (or other number) that it names."""

    name: str
    size: int
    kind: int
    section: int


@dataclass(frozen=True)
class Relocation:
    """A place that the loader changes.

    Attributes:
        at: byte of the section that the symbol names.
        symbol: with the name of what is put there.
        kind: how.
        addend: in bytes.
    """

    at: int
    symbol: ElfSymbol
    kind: int
    addend: int


def ident_of(file: ByteReader) -> Ident:
    """What the first bytes say; raises :class:`InputFileError` where the file ends before."""
    _, bits, order, _, system, version = file.unpack(_IDENT, 0, "ELF header")
    kind, machine = file.unpack(_TYPE, _TYPE_AT, "ELF header")
    return Ident(bits, order, system, version, kind, machine)


class ElfFile:
    """The sections of an ELF file.

    Args:
        file: all of it.

    Attributes:
        ident: what its first bytes say.
        sections: in their order.

    Raises:
        InputFileError: a class or byte order that is not known, or tables that are not all there.
    """

    def __init__(self, file: ByteReader) -> None:
        self.ident, self._file = ident_of(file), file
        if self.ident.bits not in _LAYOUTS:
            raise file.error("elf_class", 4, "class", str(self.ident.bits), "1 (32 bits) or 2 (64)", SOURCE)
        if self.ident.order != _LITTLE:
            raise file.error("elf_order", 5, "byte order", str(self.ident.order), "1 (little-endian)", SOURCE)
        self._layout = _LAYOUTS[self.ident.bits]
        self.sections = self._read_sections()

    def _read_sections(self) -> tuple[Section, ...]:
        file, layout = self._file, self._layout
        (at,) = file.unpack(layout.table, layout.table_at, "ELF header")
        size, count, names = file.unpack(_COUNTS, layout.counts_at, "ELF header")
        if count and size != layout.section.size:
            allowed = f"{layout.section.size} bytes"
            raise file.error(
                "elf_section", layout.counts_at, "size of a section header", f"{size} bytes", allowed, SOURCE
            )
        table = file.part(at, count * size, "table of sections", SOURCE)
        headers = [layout.section.unpack_from(table.data, number * size) for number in range(count)]
        if count and names >= count:
            where, allowed = layout.counts_at + 4, f"0..{count - 1}"
            raise file.error("elf_names", where, "section with the names", str(names), allowed, SOURCE)
        taken = sum(header[5] for header in headers if header[1] not in (0, NOBITS))
        if taken > len(file.data):
            says = f"the sections are said to have {taken} bytes together, the file has {len(file.data)}"
            given, allowed = f"{taken} bytes", f"{len(file.data)} or fewer"
            raise table.error("elf_section", 0, "sections", given, allowed, SOURCE, says)
        texts = self._body(headers[names], "section names") if count else file.part(0, 0, "section names")
        return tuple(
            Section(
                index,
                name := _text(texts, header[0]),
                header[1],
                header[6],
                header[7],
                self._body(header, name),
            )
            for index, header in enumerate(headers)
        )

    def _body(self, header: tuple[int, ...], name: str) -> ByteReader:
        """The bytes of a section; none where it has none in the file."""
        kind, offset, size = header[1], header[4], header[5]
        if kind in (0, NOBITS):
            return self._file.part(0, 0, f"section {name}")
        return self._file.part(offset, size, f"section {name}", SOURCE)

    def section(self, index: int, asked_by: Section) -> Section:
        """A section by its number, which another section has."""
        if index >= len(self.sections):
            given, allowed = str(index), f"0..{len(self.sections) - 1}"
            raise asked_by.body.error(
                "elf_link", 0, f"section named by {asked_by.name}", given, allowed, SOURCE
            )
        return self.sections[index]

    def symbol(self, table: Section, index: int) -> ElfSymbol:
        """A symbol of a table of symbols."""
        if table.index not in self._symbols:
            self._symbols[table.index] = self._read_symbols(table)
        symbols = self._symbols[table.index]
        if index >= len(symbols):
            given, allowed = str(index), f"0..{len(symbols) - 1}"
            raise table.body.error("elf_symbol", 0, f"symbol of {table.name}", given, allowed, SOURCE)
        return symbols[index]

    @cached_property
    def _symbols(self) -> dict[int, tuple[ElfSymbol, ...]]:
        return {}

    def _read_symbols(self, table: Section) -> tuple[ElfSymbol, ...]:
        layout = self._layout.symbol
        texts = self.section(table.link, table).body
        found = []
        for at in range(0, len(table.body.data) - layout.size + 1, layout.size):
            numbers = layout.unpack_from(table.body.data, at)
            name, _, size, info, section = (numbers[place] for place in self._layout.symbol_order)
            found.append(ElfSymbol(_text(texts, name), size, info & _TYPE_OF_SYMBOL, section))
        return tuple(found)

    def relocations(self) -> list[Relocation]:
        """All relocations with addends, in the order of the file."""
        layout, found = self._layout, []
        for table in self.sections:
            if table.kind != RELOCATIONS:
                continue
            symbols = self.section(table.link, table)
            size = layout.relocation.size
            for at in range(0, len(table.body.data) - size + 1, size):
                offset, info, addend = layout.relocation.unpack_from(table.body.data, at)
                symbol = self.symbol(symbols, info >> layout.symbol_shift)
                kind = info & (1 << layout.symbol_shift) - 1
                found.append(Relocation(offset, symbol, kind, addend))
        return found


def _text(texts: ByteReader, at: int) -> str:
    """The text that begins at byte ``at`` of a section of texts."""
    if not texts.data and not at:
        return ""
    if at >= len(texts.data):
        given, allowed = hex(at), f"below {len(texts.data):#x}"
        raise texts.error("elf_name", 0, "place of a name", given, allowed, SOURCE)
    return texts.data[at : texts.data.find(b"\0", at)].decode("ascii", "backslashreplace")
