"""What the functions of a compiled library take and give back, in C++, as its debug information says it.

A C name has no types in it, so these come from where debuggers get them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from memtile.cpp.debug_entries import At, DebugEntries, Entry, Tag, UnreadableError
from memtile.cpp.symbols import by_content

Kind = Literal["signed", "unsigned", "bool", "float", "bf16", "class", "void", "pointer"]
"""What a value is: numbers by how they are held, ``class`` whatever has parts, ``void`` nothing."""
_ENCODINGS: Mapping[int, Kind] = {
    0x02: "bool",
    0x04: "float",
    0x05: "signed",
    0x06: "signed",
    0x07: "unsigned",
    0x08: "unsigned",
    0x10: "unsigned",
}
"""``DW_ATE_*``: boolean, float, signed, signed_char, unsigned, unsigned_char, UTF."""
_QUALIFIERS: Mapping[int, str] = {
    Tag.CONST: "const",
    Tag.VOLATILE: "volatile",
    Tag.RESTRICT: "",
    Tag.ATOMIC: "",
}
_POINTERS: Mapping[int, str] = {Tag.POINTER: "*", Tag.REFERENCE: "&", Tag.RVALUE_REFERENCE: "&&"}
_POINTER_BYTES = 8
_BF16 = "bfloat16"
_DEEPEST = 32  # types within types


class CppType(NamedTuple):
    """A type of C++.

    Attributes:
        text: as the source has it, without ``restrict``: ``const int8_t *``.
        kind: what a value is.
        size: bytes of a value; 0 = nobody says.
        is_const: a value is not written through this name.
        element: what a pointer points to; None of others.
    """

    text: str
    kind: Kind
    size: int
    is_const: bool = False
    element: CppType | None = None


class CppSignature(NamedTuple):
    """A function of C++.

    Attributes:
        parameters: types, in order.
        result: type; None = it gives nothing back.
        place: file and line that define it, ``kernel.cc:3``.
    """

    parameters: tuple[CppType, ...]
    result: CppType | None
    place: str

    @property
    def text(self) -> str:
        """Its parameters, for messages."""
        return ", ".join(each.text for each in self.parameters)


@by_content
def signatures_of(library: Path) -> tuple[Mapping[str, CppSignature], str]:
    """The functions that a library defines, by symbol; or none, and why nobody knows them."""
    try:
        return dict(_signatures(DebugEntries(library))), ""
    except UnreadableError as error:
        return {}, str(error)


def _signatures(debug: DebugEntries) -> Iterator[tuple[str, CppSignature]]:
    types, found = _Types(debug.entries), set[object]()
    for entry in debug.entries.values():
        if entry.tag != Tag.SUBPROGRAM or entry.values.get(At.DECLARATION):
            continue
        name = _said(debug.entries, entry, At.LINKAGE_NAME) or _said(debug.entries, entry, At.NAME)
        known = all(At.TYPE in each.values for each in entry.parameters)  # else it is the copy of another
        if not name or name in found or not known or At.ABSTRACT_ORIGIN in entry.values:
            continue
        if not _said(debug.entries, entry, At.EXTERNAL):
            continue
        found.add(name)
        given = _said(debug.entries, entry, At.TYPE)
        yield (
            str(name),
            CppSignature(
                tuple(types.of(each.values[At.TYPE]) for each in entry.parameters),
                types.of(given) if isinstance(given, int) else None,
                _place(debug, entry),
            ),
        )


def _said(entries: Mapping[int, Entry], entry: Entry, name: At) -> object:
    """An attribute of an entry, or of the declaration that it completes."""
    while name not in entry.values and At.SPECIFICATION in entry.values:
        entry = entries[entry.values[At.SPECIFICATION]]
    return entry.values.get(name)


def _place(debug: DebugEntries, entry: Entry) -> str:
    line, number = (_said(debug.entries, entry, each) for each in (At.DECL_LINE, At.DECL_FILE))
    file = debug.file(entry.unit, number) if isinstance(number, int) else ""
    return f"{Path(file).name}:{line}" if file and line else ""


class _Types:
    """Types by the offsets of their entries.

    Args:
        entries: all entries that matter, by offset.
    """

    def __init__(self, entries: Mapping[int, Entry]) -> None:
        self._entries = entries

    def of(self, offset: int | None, depth: int = 0) -> CppType:
        """The type of an entry; None is ``void``."""
        entry = None if offset is None else self._entries.get(offset)
        if entry is None or depth > _DEEPEST:
            return CppType("void" if offset is None else "?", "void", 0)
        tag, inner = entry.tag, entry.values.get(At.TYPE)
        name = str(entry.values.get(At.NAME, "?"))
        if tag in _POINTERS:
            to = self.of(inner, depth + 1)
            text = f"{to.text}{'' if to.text[-1] in '*&' else ' '}{_POINTERS[tag]}"
            return CppType(text, "pointer", _POINTER_BYTES, element=to)
        if tag in _QUALIFIERS:
            return self._qualified(self.of(inner, depth + 1), _QUALIFIERS[tag])
        if tag == Tag.TYPEDEF:
            named = self.of(inner, depth + 1)._replace(text=name)
            return named._replace(kind="bf16") if name == _BF16 else named
        return self._plain(entry, name, inner, depth)

    @staticmethod
    def _qualified(of: CppType, word: str) -> CppType:
        if not word:
            return of
        text = f"{of.text}{word}" if of.text[-1] in "*&" else f"{word} {of.text}"
        return of._replace(text=text, is_const=of.is_const or word == "const")

    def _plain(self, entry: Entry, name: str, inner: int | None, depth: int) -> CppType:
        size = int(entry.values.get(At.BYTE_SIZE, 0))
        if entry.tag == Tag.BASE:
            return CppType(name, _ENCODINGS.get(entry.values.get(At.ENCODING, 0), "class"), size)
        if entry.tag == Tag.ENUMERATION:
            under = self.of(inner, depth + 1)
            return CppType(name, under.kind if inner is not None else "unsigned", size or under.size)
        if entry.tag == Tag.ARRAY:
            element = self.of(inner, depth + 1)
            return element._replace(text=f"{element.text}[]")
        return CppType(name, "bf16" if name == _BF16 else "class", size)
