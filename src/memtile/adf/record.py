"""Turn what a graph program's constructors recorded into a description with names and source lines."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from memtile.adf import description
from memtile.adf.description import Description
from memtile.adf.host_program import Describe, Refuse
from memtile.adf.member_names import Names, Peek, names_of
from memtile.cpp.debug_entries import DebugEntries
from memtile.cpp.symbols import frames
from memtile.errors import InputFileError

_LISTS = (
    "graphs", "kernels", "memories", "plios", "gmios", "packets", "tables", "ports", "connections",
    "locations", "not_equal",
)  # fmt: skip
_NAMED = ("kernels", "memories", "plios", "gmios", "packets", "tables")
_WORDS = {
    "kernels": "kernel",
    "memories": "buffer",
    "plios": "plio",
    "gmios": "gmio",
    "packets": "packets",
    "tables": "table",
}
_WITH_GRAPH = ("kernels", "memories", "plios", "gmios", "packets")
_WITHOUT_LINE = ("graphs", "tables")
_IDLESS = ("locations", "not_equal")


def description_of(request: Describe, program: Path, peek: Peek, origin: str) -> Description:
    """What a program says of its graphs, with names and lines.

    Args:
        request: its answer.
        program: its executable.
        peek: reads its memory while it waits.
        origin: the user's sources, for messages.
    """
    raw = _Raw(request, program, peek, origin)
    return description.convert(raw.document(), origin)


def refusal(request: Refuse, program: Path, origin: str) -> InputFileError:
    """The error of a graph that its own call refuses."""
    line = line_in(program, request.base, request.origin)
    return InputFileError(f"{line or origin}: {request.reason}.")


def line_in(program: Path, base: int, address: int) -> str:
    """The line of a statement that asks, ``graph.h:23``; empty if it is not known.

    Args:
        program: the executable.
        base: the address that it is loaded at.
        address: behind the call, in its memory; 0 = not known.
    """
    return _line_at(program, address - base) if address > base else ""


@lru_cache(maxsize=256)
def _line_at(program: Path, offset: int) -> str:
    """The line of one call, asked for once however often it is made."""
    return _lines(program, 0, [offset]).get(offset, "")


def _lines(program: Path, base: int, addresses: Sequence[int]) -> dict[int, str]:
    """``graph.h:23`` by address in the program's memory."""
    wanted = sorted({each for each in addresses if each > base})
    found = frames(program, [each - 1 - base for each in wanted])
    return {
        address: f"{os.path.basename(frame.file)}:{frame.line}"
        for address, frame in zip(wanted, found, strict=True)
        if frame is not None
    }


@lru_cache(maxsize=2)
def _debug_entries(program: Path, _made: tuple[int, int]) -> DebugEntries:
    """The debug information of a program, read once where a graph is described, planned and run in turn."""
    return DebugEntries(program)


def living_around(graphs: Iterable[Mapping[str, Any]]) -> dict[int, int]:
    """Per graph itself or, if it is gone, the one in whose constructor it was made; -1 = none lives.

    Args:
        graphs: as recorded; those that live have an address.
    """
    within = {each["id"]: each.get("within", -1) for each in graphs}
    living = {each["id"] for each in graphs if "address" in each}
    found = dict[int, int]()
    for number in within:
        at = number
        while at >= 0 and at not in living:
            at = within[at]
        found[number] = at
    return found


class _Raw:
    """What a program recorded, on its way to a description."""

    def __init__(self, request: Describe, program: Path, peek: Peek, origin: str) -> None:
        self._base, self._program, self._peek, self._origin = request.base, program, peek, origin
        self._lists: dict[str, list[dict[str, Any]]] = {
            name: list(request.objects.get(name, ())) for name in _LISTS
        }
        self._variables: dict[int, int] = dict(request.objects["variables"])

    def document(self) -> dict[str, Any]:
        """The description as plain dictionaries and lists."""
        self._keep_living_graphs()
        self._give_lines()
        self._give_names()
        self._name_ports()
        self._strip()
        said = {"format": description.FORMAT, "version": description.VERSION, "program": self._origin}
        return said | self._lists

    def _keep_living_graphs(self) -> None:
        around = living_around(self._lists["graphs"])
        self._lists["graphs"] = [each for each in self._lists["graphs"] if "address" in each]
        for each in (one for objects in self._lists.values() for one in objects if "within" in one):
            each["within"] = around[each["within"]]
        held, used = set(self._variables.values()), set[int]()
        for each in self._lists["connections"]:
            used |= {each["source"], each["target"]}
        self._lists["ports"] = [
            each for each in self._lists["ports"] if each["owner"] >= 0 or each["id"] in held | used
        ]

    def _give_lines(self) -> None:
        every = [each for objects in self._lists.values() for each in objects]
        lines = _lines(self._program, self._base, [each["from"] for each in every])
        for each in every:
            each["line"] = lines.get(each.pop("from"), "")

    @cached_property
    def _names(self) -> Names:
        graphs = {each["address"]: each["type"] for each in self._lists["graphs"]}
        made = self._program.stat()
        debug = _debug_entries(self._program, (made.st_mtime_ns, made.st_ino))
        return names_of(debug, self._base, [*self._variables], graphs, self._peek)

    def _give_names(self) -> None:
        graph_at = {each["address"]: each["id"] for each in self._lists["graphs"]}
        names, owners = dict[int, str](), dict[int, int]()
        for address, name in self._names.of.items():
            node = graph_at.get(address, self._variables.get(address, -1))
            if node not in names:
                names[node] = name
                owners[node] = graph_at.get(self._names.within.get(address, 0), -1)
        living, unnamed = set(graph_at.values()), Counter[str]()
        for each in self._lists["graphs"]:
            each["name"] = names.get(each["id"], f"graph{each['id']}")
            each["parent"] = owners.get(each["id"], -1)
        self._graph_names = {each["id"]: each["name"] for each in self._lists["graphs"]}
        for kind in _NAMED:
            for each in self._lists[kind]:
                within = owners.get(each["id"], -1)
                if within < 0 and each.get("within") in living:
                    within = each["within"]
                if each["id"] not in names:
                    start = self._graph_names.get(within, "")
                    word = f"{start}.{_WORDS[kind]}".lstrip(".")
                    names[each["id"]] = f"{word}{unnamed[word]}"
                    unnamed[word] += 1
                each["name"] = names[each["id"]]
                if kind in _WITH_GRAPH:
                    each["graph"] = within
        self._by_id, self._owners = names, owners

    def _name_ports(self) -> None:
        for port in self._lists["ports"]:
            if port["owner"] < 0:
                port["owner"] = self._owners.get(port["id"], port.get("within", -1))
                port["name"] = self._by_id.get(port["id"], f"port{port['id']}")
                continue
            owner = self._by_id.get(port["owner"], "")
            way = "param" if port.get("is_member") else port["direction"]
            port["name"] = f"{owner}.{way}[{port['number']}]"

    def _strip(self) -> None:
        for kind, objects in self._lists.items():
            for each in objects:
                each.pop("within", None)
                if kind in _WITHOUT_LINE:
                    each.pop("line")
                if kind in _IDLESS:
                    each.pop("id")
        for each in self._lists["graphs"]:
            del each["address"]
