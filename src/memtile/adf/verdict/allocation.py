"""Which DMA channel of a memory tile each port of its buffers has, as AMD's compiler chooses it.

Published of one input and one output: both on channel 0 (XD100, tiling parameters, message 77-6570), also
where the descriptors do not suffice. So a port has the lowest free channel, in the order of the ports, whose
descriptors suffice, else the lowest free one (DEV-ADF-61). A buffer without a place is judged alone: AMD's
mapper may find it a tile of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from memtile.adf.description import MemoryObject, Place, Port
from memtile.adf.objects import Objects
from memtile.adf.rates import access_of
from memtile.adf.verdict.descriptors import compiler_bds
from memtile.arch.devices import Device
from memtile.arch.tiles import TileKind

Places = Callable[[str, int], tuple[Place, ...]]


@dataclass(frozen=True, slots=True)
class Use:
    """A port of a shared buffer on a channel.

    Attributes:
        tile: column and row as the user counts them; the buffer's id where it has no place.
        direction: ``S2MM`` or ``MM2S``.
        channel: its number.
        bds: descriptors that AMD's compiler takes for it.
        fixed: the graph gives the channel.
    """

    memory: MemoryObject
    port: Port
    tile: tuple[int, ...]
    direction: str
    channel: int
    bds: int
    fixed: bool


def memory_tile_uses(objects: Objects, device: Device, places: Places) -> Iterator[Use]:
    """The ports of all shared buffers, in order, each with a channel; those beyond the last have none.

    Args:
        objects: of the description.
        device: that it is for.
        places: of ``location<what>(number)``.
    """
    kind = device.kind("memory")
    taken: dict[tuple[tuple[int, ...], str], set[int]] = defaultdict(set)
    ports = [(m, objects.ports[p]) for m in objects.description.memories if not m.external for p in _ports(m)]
    fixed: dict[int, tuple[tuple[int, ...], int]] = {}
    counts = {p.id: compiler_bds(access_of(p), objects.dimensions(p), kind.dimensions) for _, p in ports}
    used: dict[tuple[tuple[int, ...], int], int] = defaultdict(int)
    for memory, port in ports:
        for place in places("dma", port.id):
            if place.tile_kind == "memory_tile" and place.number >= 0:
                spot = place.column, place.row
                fixed[port.id] = spot, place.number
                taken[spot, _way(memory, port)].add(place.number)
                used[spot, place.number % len(kind.bd_banks)] += counts[port.id]
    for memory, port in ports:
        way, tile = _way(memory, port), _tile(memory, places)
        free = [n for n in range(kind.channels) if n not in taken[tile, way]]
        if port.id in fixed:
            tile, channel = fixed[port.id]
        elif free:
            channel = _chosen(kind, {n: used[tile, n % len(kind.bd_banks)] + counts[port.id] for n in free})
            used[tile, channel % len(kind.bd_banks)] += counts[port.id]
        else:
            continue
        taken[tile, way].add(channel)
        yield Use(memory, port, tile, way, channel, counts[port.id], port.id in fixed)


def _chosen(kind: TileKind, needed: Mapping[int, int]) -> int:
    """The first channel whose descriptors suffice for what its parity needs then, else the first."""
    return next((n for n, bds in needed.items() if bds <= len(kind.bd_bank(n))), min(needed))


def _ports(memory: MemoryObject) -> tuple[int, ...]:
    return (*memory.inputs, *memory.outputs)


def _way(memory: MemoryObject, port: Port) -> str:
    return "S2MM" if port.id in memory.inputs else "MM2S"


def _tile(memory: MemoryObject, places: Places) -> tuple[int, ...]:
    """The tile of the buffer's first half."""
    known = [p for p in places("buffer", memory.id) if p.kind in ("address", "bank") and p.column >= 0]
    return (known[0].column, known[0].row) if known else (memory.id,)
