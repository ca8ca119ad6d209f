"""The order in which a packet bus merges its streams: positions of deterministic merge in each switch.

An arbiter with deterministic merge serves its slaves in a programmed order (AM025,
Stream_Switch_Deterministic_Merge; DEV-PKT-4). Where streams meet in several switches on their way, each
switch keeps the order of those that pass it, and so the last one has the order of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.arch.ports import MERGE_ARBITERS, MERGE_POSITIONS, PORTS
from memtile.arch.register_map import register_named
from memtile.arch.switch_registers import MERGE_OFFSET, MERGE_STRIDE
from memtile.arch.tiles import WORD_BYTES, TileName
from memtile.design.packet_switches import SOURCE, Hop, PacketSwitch
from memtile.errors import DesignError

_PAIR = register_named("memory_tile", "Stream_Switch_Deterministic_Merge_arb0_slave0_1")
_CONTROL = register_named("memory_tile", "Stream_Switch_Deterministic_Merge_arb0_ctrl")
_MOST = _PAIR.field("Packet_Count_0").maximum

Order = Sequence[tuple[int, int]]
"""One round: stream ids, and the packets of each that follow each other."""
Position = tuple[str, int]
"""A slave port, and the packets that it sends before the next position has its turn."""


def positions(hops: Sequence[Hop], switch: PacketSwitch, order: Order) -> dict[int, list[Position]]:
    """What each arbiter of a switch serves, in order; arbiters with one slave need no order.

    Args:
        hops: of the bus through the switch.
        switch: the arbiters of its masters.
        order: of all streams of the bus.

    Raises:
        DesignError: more positions than an arbiter has.
    """
    passing: dict[int, dict[str, int]] = {}
    for hop in hops:
        passing.setdefault(hop.id, {})[hop.slave.name] = switch.masters[hop.master.name][0]
    found: dict[int, list[Position]] = {}
    for number, packets in order:
        for name, arbiter in passing.get(number, {}).items():
            served = found.setdefault(arbiter, [])
            before = served.pop()[1] if served and served[-1][0] == name else 0
            served.extend(_parts(name, before + packets))
    met = {arbiter: served for arbiter, served in found.items() if len({name for name, _ in served}) > 1}
    for served in met.values():
        if len(served) > MERGE_POSITIONS:
            raise _too_many(hops[0].slave.place, served)
    return met


def meets(hops: Sequence[Hop]) -> bool:
    """Whether streams of several slaves meet at a master."""
    slaves: dict[str, set[str]] = {}
    for hop in hops:
        slaves.setdefault(hop.master.name, set()).add(hop.slave.name)
    return any(len(names) > 1 for names in slaves.values())


def merge_arbiters(free: Sequence[int], place: str) -> list[int]:
    """Those of the free arbiters of a switch that can merge in order.

    Raises:
        DesignError: other streams have them all.
    """
    found = [number for number in free if number < MERGE_ARBITERS]
    if not found:
        numbers = " and ".join(map(str, range(MERGE_ARBITERS)))
        raise DesignError.of(
            "arbiters",
            "none free",
            f"arbiter {numbers}",
            f"arbiters {numbers} of {place}, which can merge packets in a fixed order, are both taken",
            "Merge the streams elsewhere: place their sources or their target in other tiles.",
            reason="merge_arbiter",
            where=place,
            source="AM025: Stream_Switch_Deterministic_Merge",
        )
    return found


def merge_words(tile: TileName, arbiter: int, served: Sequence[Position]) -> Iterator[tuple[int, int]]:
    """Offsets within the switch's registers, and what makes an arbiter serve slaves in order.

    Args:
        tile: kind of the tile.
        arbiter: that can merge in order.
        served: its positions.
    """
    base = MERGE_OFFSET + arbiter * MERGE_STRIDE
    padded = [*served, *[("", 0)] * (MERGE_POSITIONS - len(served))]
    numbers = [PORTS[tile].slave(name) if name else 0 for name, _ in padded]
    for low in range(0, MERGE_POSITIONS, 2):
        (_, first), (_, second) = padded[low : low + 2]
        word = _PAIR.pack(
            Slave_ID_0=numbers[low],
            Packet_Count_0=first,
            Slave_ID_1=numbers[low + 1],
            Packet_Count_1=second,
        )
        yield base + low // 2 * WORD_BYTES, word
    yield base + _CONTROL.offset % MERGE_STRIDE, _CONTROL.pack(Enable=1)


def _parts(name: str, packets: int) -> Iterator[Position]:
    """Positions of one slave in a row: a count has a limit."""
    yield from [(name, _MOST)] * (packets // _MOST)
    if packets % _MOST:
        yield name, packets % _MOST


def _too_many(place: str, served: Sequence[Position]) -> DesignError:
    names = ", ".join(f"{name} {packets}" for name, packets in served)
    return DesignError.of(
        "positions",
        str(len(served)),
        str(MERGE_POSITIONS),
        f"{place} would merge packets in an order of {len(served)} positions: {names}",
        f"Merge at most {MERGE_POSITIONS} sources, and what kernels make of them in a further merge.",
        reason="merge_positions",
        where=place,
        source=SOURCE,
    )
