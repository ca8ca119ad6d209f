"""Descriptions of graphs, made by hand: a sketch is a graph.h in a few calls of Python.

    g = Sketch()
    a, k, z = g.plio("in"), g.kernel("k", [buffer("int32", 128)], [buffer("int32", 128)]), g.plio("out")
    g.connect(a, k.ins[0])
    g.connect(k.outs[0], z)
    g.place(k, tile(3, 0))
    plan_of(g.description(), "xcve2802")

A plain number is the id of a port or of an object; each call has a line of ``graph.h`` of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from memtile.adf.description import (
    Connection,
    Description,
    Gmio,
    Graph,
    Kernel,
    Location,
    MemoryObject,
    NotEqual,
    Packets,
    Place,
    Plio,
    Port,
    Table,
)

BYTES = {"int8": 1, "uint8": 1, "int16": 2, "bfloat16": 2, "int32": 4, "cint16": 4, "float": 4, "cint32": 8}
ROOT = 0


@dataclass(frozen=True)
class Made:
    """An object of a sketch and its ports' ids."""

    id: int
    ins: tuple[int, ...] = ()
    outs: tuple[int, ...] = ()


def port(kind: str, element: str = "int32", *dimensions: int, **more: Any) -> dict[str, Any]:
    """What a port is, before it belongs to something."""
    return {
        "kind": kind,
        "element": element,
        "element_bytes": BYTES[element],
        "dimensions": dimensions,
        **more,
    }


def buffer(element: str = "int32", *dimensions: int, **more: Any) -> dict[str, Any]:
    """A port of a kernel that has buffers."""
    return port("buffer", element, *dimensions, **more)


def stream(element: str = "int32", **more: Any) -> dict[str, Any]:
    """A stream of a kernel."""
    return port("stream", element, **more)


def packet_stream() -> dict[str, Any]:
    """A stream of packets of a kernel."""
    return port("packet_stream")


def cascade() -> dict[str, Any]:
    """A cascade of a kernel."""
    return port("cascade")


def parameter(element: str = "int32", count: int = 0, **more: Any) -> dict[str, Any]:
    """A parameter of a kernel; with a count, an array."""
    return port("parameter_array" if count else "parameter", element, *([count] if count else []), **more)


def tile(column: int, row: int) -> Place:
    """A core: row 0 is the first row of them."""
    return Place("tile", column, row)


def address(column: int, row: int, offset: int) -> Place:
    """A byte of a tile's memory."""
    return Place("address", column, row, offset)


def bank(column: int, row: int, number: int) -> Place:
    """A bank of a tile's memory."""
    return Place("bank", column, row, number)


def offset(number: int) -> Place:
    """A byte of the memory of the kernel's tile."""
    return Place("offset", number=number)


def dma(kind: str, column: int, row: int, channel: int) -> Place:
    """A DMA channel."""
    return Place("dma_channel", column, row, channel, tile_kind=kind)


def shim(column: int, channel: int = -1) -> Place:
    """An interface tile."""
    return Place("shim", column, number=channel)


def area(column: int, row: int, last_column: int, last_row: int, kind: str = "aie_tile") -> Place:
    """A rectangle of tiles."""
    return Place("area", column, row, tile_kind=kind, last_column=last_column, last_row=last_row)


def beside(other: Made | int, columns: int = 0, rows: int = 0, what: str = "kernel") -> Place:
    """The place of another object, moved."""
    number = other.id if isinstance(other, Made) else other
    return Place("same", columns, rows, other=number, what=what)


class Sketch:
    """A description that grows call by call."""

    def __init__(self) -> None:
        self._next = 1
        self._line = 0
        self._parts: dict[str, list[Any]] = {
            name: []
            for name in (
                *("graphs", "kernels", "memories", "plios", "gmios", "packets", "tables"),
                *("ports", "connections", "locations", "not_equal"),
            )
        }
        self._parts["graphs"].append(Graph(ROOT, "gr"))

    def _id(self) -> int:
        self._next += 1
        return self._next - 1

    def _where(self) -> str:
        self._line += 1
        return f"graph.h:{self._line}"

    def _port(self, owner: int, name: str, direction: str, number: int, what: dict[str, Any]) -> int:
        given = {"direction": direction, **what}
        made = Port(id=self._id(), name=f"{name}.{direction}[{number}]", owner=owner, number=number, **given)
        self._parts["ports"].append(replace(made, line=f"graph.h:{self._line}"))
        return made.id

    def _all_ports(
        self, owner: int, name: str, direction: str, what: list[dict[str, Any]]
    ) -> tuple[int, ...]:
        return tuple(self._port(owner, name, direction, n, one) for n, one in enumerate(what))

    def graph(self, name: str, parent: int = ROOT) -> int:
        """A graph within another; its id."""
        made = Graph(self._id(), f"gr.{name}", parent)
        self._parts["graphs"].append(made)
        return made.id

    def graph_port(self, name: str, direction: str, graph: int = ROOT) -> int:
        """A port of a graph."""
        self._where()
        return self._port(graph, name, direction, 0, {"kind": "graph"})

    def kernel(
        self,
        name: str,
        ins: list[dict[str, Any]] | tuple[()] = (),
        outs: list[dict[str, Any]] | tuple[()] = (),
        graph: int = ROOT,
        **more: Any,
    ) -> Made:
        """A kernel with its ports, in the order of the function's parameters."""
        line, number, full = self._where(), self._id(), f"gr.{name}"
        made = Made(
            number,
            self._all_ports(number, full, "in", list(ins)),
            self._all_ports(number, full, "out", list(outs)),
        )
        given = {"runtime_ratio": 0.9, **more}
        self._parts["kernels"].append(
            Kernel(
                number,
                full,
                graph,
                f"{name}_function",
                f"{name}.cc",
                (),
                made.ins + made.outs,
                line=line,
                **given,
            )
        )
        return made

    def shared(
        self,
        name: str,
        element: str,
        dimensions: tuple[int, ...],
        ins: int | list[Any],
        outs: int | list[Any],
        **more: Any,
    ) -> Made:
        """A shared buffer; ``ins`` and ``outs`` count ports, or list their tilings (a list each)."""
        line, number, full = self._where(), self._id(), f"gr.{name}"
        base = {"kind": "memory", "element": element, "element_bytes": BYTES[element]}
        writes = [base | {"write_access": tuple(t)} for t in ([[]] * ins if isinstance(ins, int) else ins)]
        reads = [base | {"read_access": tuple(t)} for t in ([[]] * outs if isinstance(outs, int) else outs)]
        made = Made(
            number, self._all_ports(number, full, "in", writes), self._all_ports(number, full, "out", reads)
        )
        given = {"external": False, "graph": ROOT, **more}
        self._parts["memories"].append(
            MemoryObject(
                number,
                full,
                element=element,
                element_bytes=BYTES[element],
                dimensions=dimensions,
                inputs=made.ins,
                outputs=made.outs,
                line=line,
                **given,
            )
        )
        return made

    def plio(self, name: str, direction: str = "in", width: int = 32, graph: int = ROOT, **more: Any) -> int:
        """``input_plio`` or ``output_plio``; the id of its port."""
        return self._outside("plios", Plio, name, direction, graph, width=width, **more)

    def gmio(self, name: str, direction: str = "in", graph: int = ROOT, **more: Any) -> int:
        """``input_gmio`` or ``output_gmio``; the id of its port."""
        return self._outside("gmios", Gmio, name, direction, graph, **more)

    def _outside(self, part: str, kind: Any, name: str, direction: str, graph: int, **more: Any) -> int:
        line, number, full = self._where(), self._id(), f"gr.{name}"
        ours = "out" if direction == "in" else "in"  # what comes in leaves its port
        made = self._port(number, full, ours, 0, {"kind": part[:-1]})
        self._parts[part].append(kind(number, full, graph, direction, made, name, line=line, **more))
        return made

    def packets(self, kind: str, name: str, ways: int, packets: tuple[int, ...] = ()) -> Made:
        """``pktsplit<ways>``, ``pktmerge<ways>`` or ``pktorderedmerge<ways>`` with its ``packet_count``."""
        line, number, full = self._where(), self._id(), f"gr.{name}"
        counts = (1, ways) if kind == "split" else (ways, 1)
        made = Made(
            number,
            self._all_ports(
                number,
                full,
                "in",
                [{"kind": "packet", "packets": n} for n in packets or (1,) * counts[0]],
            ),
            self._all_ports(number, full, "out", [{"kind": "packet"}] * counts[1]),
        )
        self._parts["packets"].append(
            Packets(number, full, ROOT, kind, made.ins, made.outs, line=line)  # type: ignore[arg-type]
        )
        return made

    def table(self, name: str, element: str, count: int, is_here: bool = True) -> int:
        """A look-up table of zeros, or one that a kernel's source defines; its id, for ``tables=``."""
        size = BYTES[element]
        data, nbytes = ("00" * size * count, 0) if is_here else ("", size * count)
        self._parts["tables"].append(Table(self._id(), f"gr.{name}", name, element, size, data, nbytes))
        return int(self._parts["tables"][-1].id)

    def connect(self, source: int, target: int, kind: str = "", **more: Any) -> int:
        """``connect<kind>(source, target)``; the id of the connection."""
        made = Connection(self._id(), source, target, kind, line=self._where(), **more)  # type: ignore[arg-type]
        self._parts["connections"].append(made)
        return made.id

    def place(self, of: Made | int, *places: Place, what: str = "kernel", exclusive: bool = False) -> None:
        """``location<what>(of) = places``."""
        number = of.id if isinstance(of, Made) else of
        self._parts["locations"].append(Location(what, number, places, exclusive, self._where()))

    def owner(self, port_id: int) -> int:
        """The id of the object that a port belongs to, as locations of PLIO need it."""
        return next(int(one.owner) for one in self._parts["ports"] if one.id == port_id)

    def repeat(self, kernel: Made, count: int) -> None:
        """``repetition_count(kernel) = count``."""
        kernels = self._parts["kernels"]
        kernels[:] = [replace(each, repetition=count) if each.id == kernel.id else each for each in kernels]

    def not_equal(self, *of: Made) -> None:
        """``not_equal`` of places."""
        self._parts["not_equal"].append(NotEqual(tuple(one.id for one in of), self._where()))

    def description(self) -> Description:
        """What the sketch says so far."""
        return Description(program="graph.cpp", **{name: tuple(all_) for name, all_ in self._parts.items()})
