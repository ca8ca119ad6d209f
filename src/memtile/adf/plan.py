"""Where a graph goes: nets, repetition counts, tiles, buffers, channels; nothing is left open.

``plan_of`` (nets, rates, placement) makes it, the lowering turns it into an array. Columns and rows are those
of the array: row 0 has interface tiles, then come memory tiles, then cores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from memtile.adf.description import Description, Tiling
from memtile.arch.core import DEFAULT_STACK_BYTES

Tile = tuple[int, int]  # column, row
Transport = Literal[
    "memory",  # both ends are kernels that reach the same data memory: one set of buffers, no stream
    "stream",  # switches, from a core or a DMA channel to cores and DMA channels
    "cascade",
]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Buffers of a port: where its elements lie.

    Attributes:
        tile: that has them.
        offsets: first byte of each; one = a single buffer, two = ping and pong.
        nbytes: of each, with the margin before its elements.
        tiles: of each, where ping and pong lie in different tiles; empty = all in ``tile``. A buffer that
            ends beyond a memory tile goes on in its eastern neighbour.
    """

    tile: Tile
    offsets: tuple[int, ...]
    nbytes: int
    tiles: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """One end of a net.

    Attributes:
        port: id of the port of a kernel, memory, PLIO or GMIO; never one of a graph or of packets.
        tile: where it is.
        channel: DMA channel; -1 = no DMA: a core's stream or cascade, or a PLIO. Of a kernel's buffer it is
            of the tile that has the buffer (``blocks.tile``), which may be a neighbour of the core's.
        blocks: its buffers; None = a stream, or a net in memory where the target's are used.
        elements: that pass in one turn: of a call of the kernel, or of the buffer.
        turns: in one iteration of the graph.
        shim_port: switch port number of a PLIO; -1 = none.
        branch: which way of a pktsplit or pktmerge; -1 = none.
        packet_id: in headers; -1 = no packets.
        tilings: of the port, in order; empty = in a row.
    """

    port: int
    tile: Tile
    channel: int = -1
    blocks: Blocks | None = None
    elements: int = 0
    turns: int = 1
    shim_port: int = -1
    branch: int = -1
    packet_id: int = -1
    tilings: tuple[Tiling, ...] = ()


@dataclass(frozen=True, slots=True)
class Net:
    """What one source sends to its targets; with packets, what several send.

    Attributes:
        sources: one, or those of a merge.
        targets: all that get it (multicast), or those of a split.
        element_bytes: of an element.
        packets: ids of the packet objects that it passes.
        fifo_depth: the largest that its connections ask for, words; 0 = none.
        connections: ids of those that it is made of.
    """

    name: str
    transport: Transport
    sources: tuple[End, ...]
    targets: tuple[End, ...]
    element_bytes: int
    packets: tuple[int, ...] = ()
    fifo_depth: int = 0
    connections: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedKernel:
    """A kernel in its core.

    Attributes:
        kernel: its id.
        tile: of the core.
        repetition: calls in one iteration of the graph.
        order: place among the kernels of its core.
        stack_bytes: of its core.
        stack: where the stack and the heap of its core lie; None = not planned.
    """

    kernel: int
    tile: Tile
    repetition: int
    order: int = 0
    stack_bytes: int = DEFAULT_STACK_BYTES
    stack: Blocks | None = None


@dataclass(frozen=True, slots=True)
class PlannedMemory:
    """A shared buffer in a memory tile (or its two buffers in two), or an external buffer.

    Attributes:
        memory: its id.
        blocks: where it is; None = external memory.
        turns: of the buffer in one iteration of the graph.
    """

    memory: int
    blocks: Blocks | None
    turns: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A description and its placement.

    Attributes:
        device: name of the device.
        columns: that it needs, from column 0 on.
        parameters: id of a parameter port -> its bytes in the data memory of its core.
        notes: choices that the graph left open, one sentence each.
        tables: (kernel, table) -> bytes of the look-up table in data memory that the kernel's core reaches.
    """

    description: Description
    device: str
    columns: int
    kernels: tuple[PlannedKernel, ...]
    memories: tuple[PlannedMemory, ...]
    nets: tuple[Net, ...]
    parameters: dict[int, Blocks] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    tables: dict[tuple[int, int], Blocks] = field(default_factory=dict)
