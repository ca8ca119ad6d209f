"""Names of a graph's objects: those of the user's variables, from debug information and memory.

A variable of a user holds an object (``kernel k_mean``). Its address is known; which variable lies there
is in the debug information: a global one of a class, whose members have offsets. Pointers and ``std::vector``
are followed in the memory of the running program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from memtile.cpp.debug_entries import At, DebugEntries, Entry, Tag

Peek = Callable[[Sequence[tuple[int, int]]], list[bytes]]
"""Bytes of the program's memory at addresses, each with a number of bytes."""

_ADDRESS = 0x03  # DW_OP_addr
_POINTER = 8
_PAGE = 1 << 12
_CLASSES = (Tag.CLASS, Tag.STRUCTURE, Tag.UNION)
_POINTERS = (Tag.POINTER, Tag.REFERENCE, Tag.RVALUE_REFERENCE)
_SAME = (Tag.TYPEDEF, Tag.CONST, Tag.VOLATILE, Tag.RESTRICT, Tag.ATOMIC)
_PLAIN = (Tag.BASE, Tag.ENUMERATION)
_ENDS_OF_VECTOR = (("_M_start", "_M_finish"), ("__begin_", "__end_"))  # of libstdc++ and of libc++
_HANDLE = "handle"  # of memtile's adf.h: the base of all variables that hold an object
_MOST = 1 << 16  # elements of a vector: more are no vector of a graph
_SUFFIX = re.compile(r"(?<=\d)(?:u|l|ul|ull|ll)\b|\((?:unsigned |signed )?\w[\w: ]*\)(?=-?\d)|\s+")


@dataclass(slots=True)
class Names:
    """Names by address of a variable, and the graph that each lies in.

    Attributes:
        of: address of a handle or graph -> name.
        within: address -> address of the graph whose member it is.
    """

    of: dict[int, str] = field(default_factory=dict)
    within: dict[int, int] = field(default_factory=dict)


def names_of(
    debug: DebugEntries, base: int, handles: Sequence[int], graphs: Mapping[int, str], peek: Peek
) -> Names:
    """Name what a program's variables hold.

    Args:
        debug: of the program.
        base: address that it is loaded at.
        handles: addresses of variables that hold an object.
        graphs: address of each graph -> name of its class.
        peek: reads the program's memory.
    """
    walk = _Walk(_Types(debug), frozenset(handles), graphs, peek)
    for entry, address in walk.types.globals:
        walk.go(entry.values.get(At.TYPE), base + address, walk.types.name(entry), 0)
    for address, type_name in graphs.items():
        if address not in walk.names.of:
            walk.go_class(walk.types.named(type_name), address, walk.types.local_name(type_name))
    return walk.names


class _Types:
    """Types and variables of a program."""

    def __init__(self, debug: DebugEntries) -> None:
        self._entries = debug.entries

    @cached_property
    def globals(self) -> list[tuple[Entry, int]]:
        """Variables at fixed addresses."""
        found = []
        for entry in self._entries.values():
            place = entry.values.get(At.LOCATION)
            if entry.tag == Tag.VARIABLE and isinstance(place, bytes) and place[:1] == bytes([_ADDRESS]):
                found.append((self._declared(entry), int.from_bytes(place[1:9], "little")))
        return found

    def _declared(self, entry: Entry) -> Entry:
        """The declaration of a variable, which has its name and type."""
        origin = entry.values.get(At.SPECIFICATION, entry.values.get(At.ABSTRACT_ORIGIN))
        return entry if At.NAME in entry.values or origin is None else self._entries.get(origin, entry)

    def name(self, entry: Entry) -> str:
        """Name of an entry; empty if it has none."""
        return str(entry.values.get(At.NAME, ""))

    def behind(self, reference: int | None) -> Entry | None:
        """The type itself, behind its other names and qualifiers."""
        entry = self._entries.get(reference) if reference is not None else None
        while entry is not None and entry.tag in _SAME:
            entry = self._entries.get(entry.values.get(At.TYPE, -1))
        return entry

    @cached_property
    def _classes(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for entry in self._entries.values():
            if entry.tag in _CLASSES and At.DECLARATION not in entry.values and self.name(entry):
                found.setdefault(_normal(self._qualified(entry)), entry)
        return found

    def _qualified(self, entry: Entry) -> str:
        outer = entry.outer
        above = (
            self._qualified(outer) if outer is not None and outer.tag in (Tag.NAMESPACE, *_CLASSES) else ""
        )
        return f"{above}::{self.name(entry)}" if above else self.name(entry)

    def named(self, name: str) -> Entry | None:
        """The class of a name, as the linker writes it."""
        return self._classes.get(_normal(name))

    def local_name(self, type_name: str) -> str:
        """Name of the one variable that is or points to an object of a class; else that of the class."""
        wanted, found = self.named(type_name), set[str]()
        for entry in self._entries.values():
            if entry.tag == Tag.VARIABLE and wanted is not None:
                kind = self.behind(entry.values.get(At.TYPE))
                if kind is not None and kind.tag in _POINTERS:
                    kind = self.behind(kind.values.get(At.TYPE))
                if kind is wanted:
                    found.add(self.name(entry))
        found.discard("")
        return found.pop() if len(found) == 1 else type_name.rpartition("::")[2]

    def size(self, entry: Entry | None) -> int:
        """Bytes of a type; 0 = unknown."""
        if entry is None:
            return 0
        if entry.tag == Tag.ARRAY:
            count = 1
            for each in self.bounds(entry):
                count *= each
            return count * self.size(self.behind(entry.values.get(At.TYPE)))
        return int(entry.values.get(At.BYTE_SIZE, _POINTER if entry.tag in _POINTERS else 0))

    def bounds(self, array: Entry) -> list[int]:
        """Elements of each dimension of an array."""
        found = []
        for part in array.parts:
            upper, count = part.values.get(At.UPPER_BOUND), part.values.get(At.COUNT)
            if isinstance(count, int):
                found.append(count)
            else:
                found.append(upper + 1 if isinstance(upper, int) and upper < 1 << 31 else 0)
        return found

    def is_handle(self, entry: Entry | None) -> bool:
        """Whether a class is ``adf::handle``, or derives from it; one that is not known counts as one."""
        if entry is None or self.name(entry) == _HANDLE:
            return True
        bases = [part for part in entry.parts if part.tag == Tag.INHERITANCE]
        return any(self.is_handle(self.behind(part.values.get(At.TYPE))) for part in bases)

    def field(self, entry: Entry, name: str, at: int = 0) -> tuple[int, Entry] | None:
        """Offset and entry of a member of a class, or of a part of it."""
        for part in entry.parts:
            offset = part.values.get(At.MEMBER_LOCATION)
            if not isinstance(offset, int):
                continue
            if self.name(part) == name:
                return at + offset, part
            inner = self.behind(part.values.get(At.TYPE))
            if inner is not None and inner.tag in _CLASSES:
                found = self.field(inner, name, at + offset)
                if found:
                    return found
        return None


def _normal(name: str) -> str:
    """A class's name without what compilers write differently: suffixes, casts of numbers, blanks."""
    return _SUFFIX.sub("", name)


@dataclass(slots=True)
class _Walk:
    """A way through the variables of a program; the first name of an object stays."""

    types: _Types
    handles: frozenset[int]
    graphs: Mapping[int, str]
    peek: Peek
    names: Names = field(default_factory=Names)
    _memory: dict[int, bytes] = field(default_factory=dict)

    def go(self, reference: int | None, address: int, path: str, graph: int) -> None:
        """Name what lies in a variable or member of a type."""
        entry = self.types.behind(reference)
        if entry is None or entry.tag in _PLAIN:
            return
        if entry.tag in _POINTERS:
            self._follow(entry, address, path, graph)
        elif entry.tag == Tag.ARRAY:
            self._elements(entry, address, path, graph)
        elif entry.tag in _CLASSES:
            self.go_class(entry, address, path, graph)

    def go_class(self, entry: Entry | None, address: int, path: str, graph: int = 0) -> None:
        """Name an object and its members; without its class only the object.

        A handle that comes first in an array or a class of the user has the address of that.
        """
        is_first = address in self.handles and not self.types.is_handle(entry)
        if not is_first:
            self._note(address, path, graph)
        if entry is None or (address in self.handles and not is_first):
            return
        if address in self.graphs:
            graph = address
        if vector := self._vector(entry):
            self._vector_elements(vector, address, path, graph)
            return
        for part in entry.parts:
            offset = part.values.get(At.MEMBER_LOCATION, 0 if entry.tag == Tag.UNION else None)
            if isinstance(offset, int):
                name = self.types.name(part) if part.tag == Tag.MEMBER else ""
                inner = f"{path}.{name}" if name and not name.startswith("_") else path
                self.go(part.values.get(At.TYPE), address + offset, inner, graph)
        if is_first:
            self._note(address, path, graph)  # of a class whose members are not known

    def _note(self, address: int, path: str, graph: int) -> bool:
        """Give a handle or a graph its name, if it has none."""
        if address in self.names.of or (address not in self.handles and address not in self.graphs):
            return False
        self.names.of[address] = path
        if graph and graph != address:
            self.names.within[address] = graph
        return True

    def _follow(self, entry: Entry, address: int, path: str, graph: int) -> None:
        """Name what a pointer points to: an object, or the first of several."""
        target = self._pointer(address)
        if target in self.graphs and target not in self.names.of:
            kind = self.types.named(self.graphs[target]) or self.types.behind(entry.values.get(At.TYPE))
            self.go_class(kind, target, path, graph)
            return
        kind = self.types.behind(entry.values.get(At.TYPE))
        is_class = target in self.handles and kind is not None and kind.tag in _CLASSES
        if is_class and not self.types.is_handle(kind):
            if target not in self.names.of:
                self.go_class(kind, target, path, graph)
            return
        if not self._note(target, path, graph):
            return
        step, number = self.types.size(kind), 1
        while step and target + number * step in self.handles:  # new kernel[n]
            self._note(target + number * step, f"{path}[{number}]", graph)
            number += 1
        if number > 1:
            self.names.of[target] = f"{path}[0]"

    def _elements(self, array: Entry, address: int, path: str, graph: int) -> None:
        kind = self.types.behind(array.values.get(At.TYPE))
        size = self.types.size(kind)
        if kind is None or kind.tag in _PLAIN or not size:
            return
        for number, place in enumerate(_places(self.types.bounds(array))):
            self.go(array.values.get(At.TYPE), address + number * size, path + place, graph)

    def _vector(self, entry: Entry) -> tuple[int, int, Entry] | None:
        """Offsets of the first and the last pointer of a ``std::vector``, and the entry of the first."""
        if not self.types.name(entry).startswith("vector<"):
            return None
        for first, last in _ENDS_OF_VECTOR:
            begin, end = self.types.field(entry, first), self.types.field(entry, last)
            if begin and end:
                return begin[0], end[0], begin[1]
        return None

    def _vector_elements(self, vector: tuple[int, int, Entry], address: int, path: str, graph: int) -> None:
        pointer = self.types.behind(vector[2].values.get(At.TYPE))
        reference = pointer.values.get(At.TYPE) if pointer is not None else None
        kind = self.types.behind(reference)
        size = self.types.size(kind)
        if kind is None or kind.tag in _PLAIN or not size:
            return
        begin, end = self._pointer(address + vector[0]), self._pointer(address + vector[1])
        for number in range(min((end - begin) // size, _MOST)):
            self.go(reference, begin + number * size, f"{path}[{number}]", graph)

    def _pointer(self, address: int) -> int:
        """The pointer at an address, of a page of memory that is read once."""
        start = address & -_PAGE
        offset = address - start
        if offset + _POINTER > _PAGE:
            return int.from_bytes(self.peek([(address, _POINTER)])[0], "little")
        if start not in self._memory:
            self._memory[start] = self.peek([(start, _PAGE)])[0]
        return int.from_bytes(self._memory[start][offset : offset + _POINTER], "little")


def _places(bounds: Sequence[int]) -> Iterator[str]:
    """``[0][0]``, ``[0][1]`` and so on through an array."""
    if not bounds:
        yield ""
        return
    for number in range(bounds[0]):
        for inner in _places(bounds[1:]):
            yield f"[{number}]{inner}"
