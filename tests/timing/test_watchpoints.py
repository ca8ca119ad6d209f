"""Does a watchpoint see the accesses that it names, those alone, in the cycle in which they are made?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memtile.arch.core import CORE
from memtile.arch.packets import PacketOperation, control_header
from memtile.arch.register_map import register_named
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.bd.descriptor import Descriptor, Dim
from memtile.bd.windows import EAST as EASTERN
from memtile.bd.windows import OWN as LOCAL
from memtile.bd.windows import WEST as WESTERN
from memtile.bd.windows import DmaAddress, Window
from memtile.model.state.causes import Cause
from memtile.model.state.memory import AccessOrigin
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.actions import Action, Pattern
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.rig import Rig
from support.designs.control_packet_bench import reachable, send
from support.designs.core_designs import CROSS, EAST, NORTH, OWN, SOUTH, WEST

FEATURE = pytest.mark.feature("F23")
LAST_BYTE = 0x7FFF0  # last granule of the memory tile
ORIGINS = tuple(AccessOrigin)


def field_of(origin: AccessOrigin) -> str:
    return {AccessOrigin.AXI: "AXI", AccessOrigin.DMA: "DMA"}.get(
        origin, origin.name.capitalize()
    ) + "_Access"


def watch(unit: EventUnit, byte: int, *fields: str, n: int = 0) -> None:
    """Let watchpoint ``n`` look at the granule at ``byte`` with these fields set."""
    register = unit.register(f"WatchPoint{n}")
    granules = dict.fromkeys(fields, 1) | {"Address": byte >> register.field("Address").lsb}
    unit.door.write32(register.offset, register.pack(**granules))


def stamp(engine: Engine, tile: int, event: str, module: str = "memory_tile") -> int:
    """Last cycle in which the event was asserted, -1 = never."""
    number = EventUnit(engine.door(tile), module).events[event]
    unit = int(engine.spec.tiles.first_unit[tile] + engine.spec.tiles.units[tile] - 1)
    return int(engine.state.stamps[unit, number])


def seen(unit: EventUnit, n: int = 0) -> bool:
    """Whether the watchpoint saw anything since the last time."""
    status = unit.status(f"WATCHPOINT_{n}")
    unit.clear(f"WATCHPOINT_{n}")
    return status


def mover(rig: Rig, direction: str, window: Window, word: int, words: int = 4) -> int:
    """A channel about to move ``words`` words to or from ``word`` of the window's tile."""
    ch = rig.s2mm(0) if direction == "write" else rig.mm2s(0)
    rig.write_bd(0, Descriptor("memory", words, window.address(word)))
    if direction == "write":
        rig.feed(ch, words)
    else:
        rig.catch(ch)
    rig.issue(ch, 0)
    return ch


# who accesses memory ------------------------------------------------------------------------------------


@FEATURE
@pytest.mark.parametrize("named", ["AXI_Access", "DMA_Access", "East_Access", "West_Access"])
@pytest.mark.parametrize(
    ("tile", "window", "side"),
    [(1, LOCAL, "DMA_Access"), (0, EASTERN, "West_Access"), (2, WESTERN, "East_Access")],
    ids=["own", "from the west", "from the east"],
)
@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_dma_is_seen_on_the_side_on_which_it_is(
    named: str, tile: int, window: Window, side: str, kind: str
) -> None:
    """DEV-WATCH-1: a watchpoint of the middle one of three tiles, for reads or writes of one origin."""
    rig = Rig(tiles=3, at=1)
    unit = EventUnit(rig.door)
    watch(unit, 64, named, f"{kind.capitalize()}_Access")
    mover(rig.beside(tile), kind, window, 16)
    rig.step(30)
    assert seen(unit) == (named == side)


@FEATURE
@pytest.mark.parametrize(("named", "kind"), [("Read_Access", "write"), ("Write_Access", "read")])
def test_the_other_kind_of_access_is_not_seen(named: str, kind: str) -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    watch(unit, 64, "DMA_Access", "AXI_Access", named)
    mover(rig, kind, LOCAL, 16)
    rig.step(30)
    assert not seen(unit)
    if kind == "write":
        rig.door.write32(64, 1)
    else:
        rig.door.read32(64)
    assert not seen(unit)


@FEATURE
@pytest.mark.parametrize("named", ORIGINS[:4])
def test_each_form_of_memory_mapped_access_is_seen(named: AccessOrigin) -> None:
    """Words, blocks, bytes; a masked write reads and writes."""
    rig, axi = Rig(), named is AccessOrigin.AXI
    unit = EventUnit(rig.door)
    watch(unit, 64, field_of(named), "Write_Access")
    watch(unit, 64, field_of(named), "Read_Access", n=1)
    forms = [
        (lambda: rig.door.write32(68, 1), True, False),
        (lambda: rig.door.block_write32(32, range(9)), True, False),
        (lambda: rig.door.write_bytes(79, b"ab"), True, False),
        (lambda: rig.door.write_bytes(80, b"ab"), False, False),
        (lambda: rig.door.write_bytes(62, b"ab"), False, False),
        (lambda: rig.door.block_write32(32, range(8)), False, False),
        (lambda: rig.door.block_write32(64, ()), False, False),
        (lambda: rig.door.read32(76), False, True),
        (lambda: rig.door.block_read32(76, 4), False, True),
        (lambda: rig.door.block_read32(80, 4), False, False),
        (lambda: rig.door.mask_write32(72, 1, 1), True, True),
    ]
    for form, (act, writes, reads) in enumerate(forms):
        act()
        assert (seen(unit), seen(unit, 1)) == (axi and writes, axi and reads), form


@FEATURE
def test_control_packets_come_through_the_memory_mapped_port() -> None:
    bench = reachable()
    unit = EventUnit(bench.door())
    watch(unit, 0x400, "AXI_Access", "Write_Access")
    watch(unit, 0x400, "AXI_Access", "Read_Access", n=1)
    send(bench, [control_header(PacketOperation.WRITE, 0x40C, 1), 7])
    assert (seen(unit), seen(unit, 1)) == (True, False)
    send(bench, [control_header(PacketOperation.READ, 0x40C, 1, 0)])
    assert (seen(unit), seen(unit, 1)) == (False, True)


@FEATURE
@pytest.mark.parametrize("named", ORIGINS)
@pytest.mark.parametrize(
    ("side", "watched", "origin"),
    [
        ("own", OWN, AccessOrigin.WEST),
        ("south", SOUTH, AccessOrigin.NORTH),
        ("north", NORTH, AccessOrigin.SOUTH),
        ("west", WEST, AccessOrigin.EAST),
    ],
)
@pytest.mark.parametrize("bits", [256, 32])
def test_a_core_is_seen_on_the_side_on_which_it_is(
    named: AccessOrigin, side: str, watched: int, origin: AccessOrigin, bits: int
) -> None:
    """DEV-WATCH-2: its own core is in the west of a memory; the eastern tile's memory is out of its reach."""
    engine = Engine(CROSS)
    units = {tile: EventUnit(engine.door(tile), "memory") for tile in (OWN, SOUTH, WEST, NORTH, EAST)}
    for unit in units.values():
        watch(unit, 64, field_of(named), "Read_Access")
        watch(unit, 64, field_of(named), "Write_Access", n=1)

    def kernel(core: Core) -> Iterator[Action]:
        yield core.access(Pattern(np.array([CORE.memory_windows[side] + 64]), bits))

    engine.attach_kernel(0, kernel)
    engine.run(10)
    expected = [tile for tile in units if tile == watched and named is origin]
    assert [tile for tile, unit in units.items() if seen(unit)] == expected
    assert not any(seen(unit, 1) for unit in units.values())


@FEATURE
@pytest.mark.parametrize(("bits", "reads", "writes"), [(8, 1, 2), (16, 1, 2), (32, -1, 1), (256, -1, 1)])
def test_a_store_below_32_bit_is_a_read_and_a_write(bits: int, reads: int, writes: int) -> None:
    """DEV-CORE-2: in this order, a cycle each."""
    engine = Engine(CROSS)
    unit = EventUnit(engine.door(OWN), "memory")
    watch(unit, 64, "West_Access", "Read_Access")
    watch(unit, 64, "West_Access", "Write_Access", n=1)

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(1)
        yield core.access(store=Pattern(np.array([CORE.memory_windows["own"] + 64]), bits))

    engine.attach_kernel(0, kernel)
    engine.run(10)
    assert [stamp(engine, OWN, f"WATCHPOINT_{n}", "memory") for n in range(2)] == [reads, writes]


@FEATURE
@pytest.mark.parametrize(("direction", "channel"), [("write", 0), ("read", 2)])
def test_the_dma_of_a_compute_tile_is_seen(direction: str, channel: int) -> None:
    rig = Rig("compute")
    unit = EventUnit(rig.door, "memory")
    watch(unit, 64, "DMA_Access", f"{direction.capitalize()}_Access", n=1)
    rig.write_bd(0, Descriptor("compute", 8, DmaAddress(16)))
    rig.feed(channel, 8) if direction == "write" else rig.catch(channel)
    rig.issue(channel, 0)
    rig.step(30)
    assert (seen(unit), seen(unit, 1)) == (False, True)


# which words --------------------------------------------------------------------------------------------


@FEATURE
@pytest.mark.parametrize("byte", [0, 64, 0x40000, LAST_BYTE])
def test_all_of_a_granule_of_16_bytes_and_nothing_else(byte: int) -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    watch(unit, byte, "AXI_Access", "Read_Access", "Write_Access")
    around = [at for at in range(byte - 16, byte + 32, WORD_BYTES) if 0 <= at < rig.kind.memory_bytes]
    for act in (lambda at: rig.door.write32(at, 5), rig.door.read32):
        found = []
        for at in around:
            act(at)
            found += [at] if seen(unit) else []
        assert found == [byte + n * WORD_BYTES for n in range(4)]


@FEATURE
@pytest.mark.parametrize("name", ["memory_v2", "compute_v2"])
def test_lanes_choose_the_written_words_of_a_granule_of_32_bytes(name: TileName) -> None:
    """AIE-ML v2; DEV-WATCH-3: reads have no lanes."""
    rig, last = Rig(name), TILE_KINDS[name].memory_bytes - 32
    module = "memory_tile_v2" if name == "memory_v2" else "memory_v2"
    register = register_named(module, "WatchPoint1")
    word = register.pack(
        AXI_Access=1, Read_Access=1, Write_Access=1, WriteStrobeMask=0b10000001, Address=last >> 5
    )
    rig.door.write32(register.offset, word)
    unit = EventUnit(rig.door, "memory_tile" if name == "memory_v2" else "memory")
    written, read = [], []
    for at in range(last - 32, last + 32, WORD_BYTES):
        rig.door.write32(at, 1)
        written += [at] if seen(unit, 1) else []
        rig.door.read32(at)
        read += [at] if seen(unit, 1) else []
    assert written == [last, last + 28]
    assert read == list(range(last, last + 32, WORD_BYTES))


@FEATURE
@pytest.mark.parametrize("missing", ["Read_Access", "DMA_Access"])
def test_nothing_is_watched_without_a_kind_and_an_origin(missing: str) -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    watch(unit, 64, "Read_Access", "DMA_Access")
    assert rig.engine.state.memories.watched.tolist() == [1]
    watch(unit, 64, *({"Read_Access", "DMA_Access"} - {missing}))
    assert rig.engine.state.memories.watched.tolist() == [0]
    mover(rig, "read", LOCAL, 16)
    rig.step(30)
    assert not seen(unit)


@FEATURE
def test_four_watchpoints_look_at_a_place_each() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    for n in range(4):
        watch(unit, 64 * n, "DMA_Access", "Read_Access", n=n)
    mover(rig, "read", LOCAL, 32, 20)
    rig.step(60)
    assert [seen(unit, n) for n in range(4)] == [False, False, True, True]


# when ---------------------------------------------------------------------------------------------------


@FEATURE
@pytest.mark.parametrize(("kind", "relative"), [("Read", [-1, 0, 3, 7]), ("Write", [4, 8, 12, 16])])
def test_the_event_is_asserted_in_the_cycle_of_the_access(kind: str, relative: list[int]) -> None:
    """DEV-WATCH-1: reads run ahead as far as the egress buffer takes them, a write follows its last word."""
    rig = Rig()
    unit = EventUnit(rig.door)
    for n in range(4):
        watch(unit, 16 * n, "DMA_Access", f"{kind}_Access", n=n)
    ch = mover(rig, kind.lower(), LOCAL, 0, 16)
    rig.step(60)
    first = rig.cycles(ch, Cause.MOVING)[0]
    stamps = [stamp(rig.engine, 0, f"WATCHPOINT_{n}") - first for n in range(4)]
    assert stamps == relative


@FEATURE
def test_each_access_is_an_event_to_count() -> None:
    """Words 0, 2, 1, 3 of a granule, then of the next one: each word is an access of its own."""
    rig = Rig()
    unit = EventUnit(rig.door)
    watch(unit, 64, "DMA_Access", "Read_Access")
    unit.count(0, "WATCHPOINT_0", "WATCHPOINT_0")
    unit.count(1, "GROUP_WATCHPOINT", "GROUP_WATCHPOINT")
    ch = rig.mm2s(0)
    rig.write_bd(0, Descriptor("memory", 12, LOCAL.address(16), dims=(Dim(2, 2), Dim(1, 2), Dim(4, 0))))
    rig.catch(ch)
    rig.issue(ch, 0)
    rig.step(60)
    assert (unit.counted(0), unit.counted(1)) == (4, 4)


@FEATURE
def test_an_access_that_lost_its_bank_is_seen_when_it_is_made() -> None:
    rig = Rig("compute")
    unit = EventUnit(rig.door, "memory")
    watch(unit, 0, "West_Access", "Write_Access")

    def kernel(core: Core) -> Iterator[Action]:
        own = CORE.memory_windows["own"]
        yield core.access(*(Pattern(np.array([own + at]), 32) for at in (512, 1024)), store=at_zero(own))

    def at_zero(own: int) -> Pattern:
        return Pattern(np.array([own]), 32)

    rig.engine.attach_kernel(0, kernel)
    rig.engine.run(10)
    assert stamp(rig.engine, 0, "WATCHPOINT_0", "memory") == 2


# the untimed run ----------------------------------------------------------------------------------------


@FEATURE
@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize(
    ("tile", "window", "side"),
    [(1, LOCAL, "DMA_Access"), (0, EASTERN, "West_Access"), (2, WESTERN, "East_Access")],
)
def test_the_untimed_run_sees_the_same(kind: str, tile: int, window: Window, side: str) -> None:
    """Its accesses have no cycle; the sticky status tells of them."""
    rig = Rig(tiles=3, at=1)
    unit = EventUnit(rig.door)
    watch(unit, 0, side, f"{kind.capitalize()}_Access")
    watch(unit, 64, side, f"{kind.capitalize()}_Access", n=1)
    watch(unit, 64, "AXI_Access", "Read_Access", "Write_Access", n=2)
    mover(rig.beside(tile), kind, window, 16, 400)
    run_untimed(rig.engine)
    assert [seen(unit, n) for n in range(3)] == [False, True, False]
