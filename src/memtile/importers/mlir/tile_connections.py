"""What connects the tiles of a device: channels that they need, partners, and what must be beside what.

Read once, before logical tiles get places (``tile_placement``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from memtile.arch.core import CASCADE_STEPS, SIDE_STEPS
from memtile.arch.tiles import Role
from memtile.importers.mlir.description import DeviceDescription, Direction, FifoDescription, Place
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation

BESIDE = frozenset(SIDE_STEPS[side] for side in ("south", "west", "north"))
"""From a core to the other compute tiles whose memory it reaches."""
_PUTS_TO = frozenset(CASCADE_STEPS[side] for side in ("south", "east"))
"""From the source of a cascade to its target."""


class Bond(NamedTuple):
    """What a compute tile must be beside.

    Attributes:
        other: the other tile.
        steps: from this tile to the other, one of them.
        what: why, for messages.
    """

    other: str
    steps: frozenset[Place]
    what: str


def connections(device: DeviceDescription) -> Iterator[tuple[list[str], list[str]]]:
    """Tiles that send and those that receive, of each object FIFO and flow."""
    for fifo in device.fifos.values():
        yield [fifo.producer], fifo.consumers
    for flow in device.flows:
        yield [end.tile for end in flow.sources], [end.tile for end in flow.targets]


def partners(device: DeviceDescription) -> defaultdict[str, list[list[str]]]:
    """The tiles that a tile exchanges data with, by connection."""
    found: defaultdict[str, list[list[str]]] = defaultdict(list)
    for sources, targets in connections(device):
        for ends, others in ((sources, targets), (targets, sources)):
            for end in dict.fromkeys(ends):
                found[end].append(others)
    return found


def channels(device: DeviceDescription) -> defaultdict[str, Counter[Direction]]:
    """DMA channels that each tile needs: one for each end of an object FIFO, and those that flows name."""
    found: defaultdict[str, Counter[Direction]] = defaultdict(Counter)
    for fifo in device.fifos.values():
        if fifo.consumers == [fifo.producer] and _may_share(fifo):
            continue
        found[fifo.producer]["MM2S"] += 1
        for consumer in fifo.consumers:
            found[consumer]["S2MM"] += 1
    named = {
        (end.tile, way, end.channel)
        for flow in device.flows
        for way, ends in (("MM2S", flow.sources), ("S2MM", flow.targets))
        for end in ends
        if end.bundle == "DMA"
    }
    for tile, way, _ in named:
        found[tile]["MM2S" if way == "MM2S" else "S2MM"] += 1
    return found


def neighbours(
    device: DeviceDescription,
    roles: Mapping[str, Role],
    needs: Mapping[str, Counter[Direction]],
    limit: int,
) -> dict[tuple[str, Direction], list[str]]:
    """Return the cores that a core with too many object FIFOs should be beside, by core and direction.

    A FIFO between cores that share memory needs no channel. The cores at the other ends of such FIFOs stand
    for each core that would have too few channels without, if they are enough.

    Args:
        device: that has the FIFOs.
        roles: of its tiles.
        needs: channels of each tile if none shares memory.
        limit: channels of a compute tile in a direction.
    """
    found: defaultdict[tuple[str, Direction], list[str]] = defaultdict(list)
    for fifo in device.fifos.values():
        if _may_share(fifo) and roles[fifo.producer] == roles[fifo.consumers[0]] == "compute":
            found[fifo.producer, "MM2S"].append(fifo.consumers[0])
            found[fifo.consumers[0], "S2MM"].append(fifo.producer)
    return {
        (core, way): others
        for (core, way), others in found.items()
        if 0 < needs[core][way] - limit <= len(others)
    }


def _may_share(fifo: FifoDescription) -> bool:
    """Whether an object FIFO between two neighbours needs no DMA."""
    asks = (
        fifo.via_dma
        or fifo.repeat is not None
        or fifo.stream is not None
        or fifo.consumer_element is not None
    )
    return not asks and len(fifo.consumers) == 1 and not fifo.to_stream and not fifo.from_stream


def bonds(device: DeviceDescription) -> defaultdict[str, list[Bond]]:
    """What each compute tile must be beside: ends of cascades, tiles of buffers that its core uses."""
    found: defaultdict[str, list[Bond]] = defaultdict(list)

    def bind(one: str, other: str, steps: frozenset[Place], names: tuple[str, str]) -> None:
        back = frozenset((-x, -y) for x, y in steps)
        found[one].append(Bond(other, steps, names[1]))
        found[other].append(Bond(one, back, names[0]))

    for each in device.cascades:
        bind(each.source, each.target, _PUTS_TO, ("cascade source", "cascade target"))
    if device.buffers:
        for core in device.cores:
            for owner in dict.fromkeys(_borrowed(device, core.operation, core.tile)):
                bind(core.tile, owner, BESIDE, ("user of the buffer", "owner of the buffer"))
    return found


def _borrowed(device: DeviceDescription, core: Operation, tile: str) -> Iterator[str]:
    """Other compute tiles whose buffers a core uses."""
    for operation in core.walk():
        for name in OperationForm(operation).values:
            buffer = device.buffers.get(name)
            if buffer is None or buffer.tile in ("", tile) or operation.parent is None:
                continue
            if (
                operation.parent.region.find(name) is buffer.operation
            ):  # not a value of the body with its name
                yield buffer.tile
