"""The objects of a description by id, and how messages name them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import chain
from math import prod

from memtile.adf.description import (
    Connection,
    Description,
    Gmio,
    Graph,
    Kernel,
    MemoryObject,
    Packets,
    Plio,
    Port,
    Table,
)

Owner = Graph | Kernel | MemoryObject | Packets | Plio | Gmio
Named = Owner | Port | Table

BUFFERS = frozenset({"buffer", "async_buffer", "window"})
"""Kinds of ports of kernels that have a buffer in data memory."""
PARAMETERS = frozenset({"parameter", "parameter_array"})
RATED = BUFFERS | {"memory"}
"""Kinds of ports that pass a fixed number of elements in a turn."""


class Objects:
    """A description, with its objects by id.

    Attributes:
        description: as recorded.
        ports: by id.
        kernels: by id.
        memories: by id.
        packets: by id.
        tables: by id.
    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.ports: dict[int, Port] = {port.id: port for port in description.ports}
        self.kernels: dict[int, Kernel] = {kernel.id: kernel for kernel in description.kernels}
        self.memories: dict[int, MemoryObject] = {memory.id: memory for memory in description.memories}
        self.packets: dict[int, Packets] = {one.id: one for one in description.packets}
        self.tables: dict[int, Table] = {table.id: table for table in description.tables}

    @cached_property
    def all(self) -> dict[int, Named]:
        """Everything that has an id and a name."""
        found = self.description
        objects: Iterable[Named] = chain(
            *(found.graphs, found.kernels, found.memories, found.packets, found.plios, found.gmios),
            *(found.tables, found.ports),
        )
        return {one.id: one for one in objects}

    @cached_property
    def connections(self) -> dict[int, Connection]:
        """The connections by id."""
        return {one.id: one for one in self.description.connections}

    def name(self, number: int) -> str:
        """The user's name of an object or a port."""
        return self.all[number].name

    def where(self, number: int, line: str = "") -> str:
        """Its line and name, as messages begin."""
        one = self.all[number]
        place = line or getattr(one, "line", "")
        return f"{place}, {one.name}" if place else one.name

    def kernel_of(self, port: Port) -> Kernel | None:
        """The kernel that a port belongs to."""
        return self.kernels.get(port.owner)

    def memory_of(self, port: Port) -> MemoryObject | None:
        """The memory object that a port belongs to."""
        return self.memories.get(port.owner)

    def dimensions(self, port: Port) -> tuple[int, ...]:
        """Of the buffer behind a port, elements; empty = not said."""
        memory = self.memory_of(port)
        return memory.dimensions if memory else port.dimensions

    def element_bytes(self, port: Port) -> int:
        """Of an element of a port; 0 = not said."""
        memory = self.memory_of(port)
        return memory.element_bytes if memory else port.element_bytes

    def buffer_bytes(self, port: Port) -> int:
        """Of one buffer behind a port, without margin."""
        return prod(self.dimensions(port)) * self.element_bytes(port)
