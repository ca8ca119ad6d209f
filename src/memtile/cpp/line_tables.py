"""Lines of compiled code where no addr2line is installed, from its debug information by pyelftools.

The package ``pyelftools`` reads DWARF and comes with ``memtile[cpp]``. Where a function that was inlined was
called is in the entries of its unit (DWARF 5, 3.3.8), the line of each instruction in its line table (6.2).
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

_CALLED = {"DW_TAG_subprogram", "DW_TAG_inlined_subroutine"}
_OF_ANOTHER = ("DW_AT_abstract_origin", "DW_AT_specification")


class Frame(NamedTuple):
    """A function that was at work.

    Attributes:
        function: its name.
        file: source, empty if nothing knows it.
        line: of the source; 0 = unknown.
    """

    function: str
    file: str
    line: int


def readable() -> bool:
    """Whether the package that reads debug information is installed."""
    return find_spec("elftools") is not None


def places(library: Path, offsets: Sequence[int]) -> list[Frame]:
    """The places of addresses within a library, of each one the innermost function first.

    Args:
        library: compiled with debug information.
        offsets: of instructions; unknown ones give nothing.
    """
    with library.open("rb") as file:
        dwarf = import_module("elftools.elf.elffile").ELFFile(file).get_dwarf_info()
        units = [_Unit(dwarf, unit) for unit in dwarf.iter_CUs()]
        return [place for offset in offsets for unit in units for place in unit.places(offset)]


class _Unit:
    """A source that was compiled, with all that it includes."""

    def __init__(self, dwarf: Any, unit: Any) -> None:
        self._dwarf, self._unit = dwarf, unit
        self._top = unit.get_top_DIE()
        self._program = dwarf.line_program_for_CU(unit)
        self._rows = sorted(self._read_rows()) if self._program else []

    def places(self, offset: int) -> Iterator[Frame]:
        """The places of an address; none if it is not of this unit."""
        row = bisect_right(self._rows, (offset, 1 << 63)) - 1
        if row < 0 or offset >= self._rows[row][1]:
            return
        _, _, file, line = self._rows[row]
        holding = [each for each in self._functions if each[0] <= offset < each[1]]
        if not holding:  # padding between two functions
            yield Frame("", self._file(file), line)
        for *_, entry in sorted(holding, key=itemgetter(2), reverse=True):
            yield Frame(self._name(entry), self._file(file), line)
            if entry.tag == "DW_TAG_inlined_subroutine":
                file, line = self._number(entry, "DW_AT_call_file"), self._number(entry, "DW_AT_call_line")

    def _read_rows(self) -> Iterator[tuple[int, int, int, int]]:
        """First address, the one behind the last, file number and line of each row of the table."""
        before: Any = None
        for entry in self._program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before is not None and state.address > before.address:
                yield before.address, state.address, before.file, before.line
            before = None if state.end_sequence else state

    @cached_property
    def _functions(self) -> list[tuple[int, int, int, Any]]:
        """First address, the one behind the last, depth and entry of each piece of a function."""
        return list(self._below(self._top, 0))

    def _below(self, entry: Any, depth: int) -> Iterator[tuple[int, int, int, Any]]:
        for child in entry.iter_children():
            if child.tag in _CALLED:
                for first, end in self._ranges(child):
                    yield first, end, depth, child
            if child.has_children:
                yield from self._below(child, depth + 1)

    def _ranges(self, entry: Any) -> list[tuple[int, int]]:
        """The addresses of an entry: first, and one behind the last."""
        found = entry.attributes
        if "DW_AT_ranges" in found:
            return self._listed(found["DW_AT_ranges"].value)
        if "DW_AT_low_pc" not in found or "DW_AT_high_pc" not in found:
            return []
        first, high = found["DW_AT_low_pc"].value, found["DW_AT_high_pc"]
        return [(first, high.value if high.form == "DW_FORM_addr" else first + high.value)]

    def _listed(self, at: int) -> list[tuple[int, int]]:
        low = self._top.attributes.get("DW_AT_low_pc")
        base, pairs = low.value if low else 0, []
        for each in self._dwarf.range_lists().get_range_list_at_offset(at, self._unit):
            if hasattr(each, "base_address"):
                base = each.base_address
            else:
                start = 0 if getattr(each, "is_absolute", False) else base
                pairs.append((start + each.begin_offset, start + each.end_offset))
        return pairs

    def _name(self, entry: Any) -> str:
        """The name of a function, which may stand at the entry that this one is a copy of."""
        for _ in range(8):
            if "DW_AT_name" in entry.attributes:
                return str(entry.attributes["DW_AT_name"].value.decode("utf-8", "replace"))
            origin = next((name for name in _OF_ANOTHER if name in entry.attributes), None)
            if origin is None:
                return ""
            entry = entry.get_DIE_from_attribute(origin)
        return ""

    def _number(self, entry: Any, name: str) -> int:
        return int(entry.attributes[name].value) if name in entry.attributes else 0

    def _file(self, number: int) -> str:
        """The path of a file by its number, which counts from 1 before DWARF 5."""
        header = self._program.header
        newer = int(header["version"]) >= 5
        entries = header["file_entry"]
        index = number if newer else number - 1
        if not 0 <= index < len(entries):
            return ""
        entry, folders = entries[index], header["include_directory"]
        own = self._top.attributes.get("DW_AT_comp_dir")
        compiled_in = _text(own.value) if own else ""
        folder_number = int(entry.dir_index)
        if newer:
            folder = _text(folders[folder_number]) if folder_number < len(folders) else ""
        else:
            folder = _text(folders[folder_number - 1]) if folder_number else ""
        return os.path.normpath(os.path.join(compiled_in, folder, _text(entry.name)))


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
