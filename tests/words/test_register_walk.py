"""Does every register of the tables answer as its access says: reset, writable bits, side effects?

The expectation comes from the oracle file alone; what hardware does to a register is brought about through
other registers, or set in the model's state where no register can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from memtile.arch.tiles import TILE_KINDS
from memtile.model import register_tables
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine import Engine
from support.formats.oracle_files import load

ORACLE = load("registers")["modules"]
MODULES = {"memory": ("memory_tile",), "compute": ("memory", "core"), "interface": ("noc", "pl")}
COUNTS = {"memory": 722, "compute": 207 + 229, "interface": 181 + 249}
ONES = 0xFFFF_FFFF
PATTERNS = (ONES, 0, 0xAAAA_AAAA, 0x5555_5555)
HEADER_ONLY = "rw"  # DEV-REG-5: the driver's header states no access


class Row(NamedTuple):
    """A register as the oracle describes it; masks by access, without reserved bits."""

    module: str
    name: str
    offset: int
    width: int
    reset: int
    masks: dict[str, int]

    @property
    def readable(self) -> int:
        return sum(mask for access, mask in self.masks.items() if access != "wo")

    def mask(self, access: str) -> int:
        return self.masks.get(access, 0)


def row(module: str, entry: dict[str, Any]) -> Row:
    masks: Counter[str] = Counter()
    for name, msb, lsb, access in entry["fields"]:
        bits = (1 << msb + 1) - (1 << lsb)
        if name == "Reserved":
            masks["ro"] += bits & (entry["reset"] or 0)  # DEV-REG-3
        else:
            masks[access or HEADER_ONLY] += bits
    return Row(module, entry["name"], entry["offset"], entry["width"], entry["reset"] or 0, dict(masks))


@cache
def rows(tile: str) -> tuple[Row, ...]:
    return tuple(row(module, entry) for module in MODULES[tile] for entry in ORACLE[module])


def kind_of(found: Row) -> str:
    """Which part of the walk a register belongs to; every register has exactly one."""
    if found.width != 32:
        return "memory"
    if found.name == "Lock_Request":
        return "request"
    if found.mask("wo") == found.readable + found.mask("wo"):
        return "write_only"
    if found.mask("wtc"):
        return "sticky"
    return "kept" if found.mask("rw") else "read_only"


def fresh(tile: str) -> Engine:
    return Engine([Placed(tile)], booted=False)


def of_kind(tile: str, *kinds: str) -> list[Row]:
    return [found for found in rows(tile) if kind_of(found) in kinds]


TILES = pytest.mark.parametrize("tile", MODULES)


@TILES
def test_the_walk_covers_the_whole_table(tile: str) -> None:
    kinds = Counter(map(kind_of, rows(tile)))
    assert sum(kinds.values()) == COUNTS[tile]
    assert set(kinds) <= {"memory", "request", "write_only", "sticky", "kept", "read_only"}
    assert sum(kinds.values()) == len({found.offset for found in rows(tile)})
    assert kinds["request"] == 1
    assert kinds["memory"] == (0 if tile == "interface" else 1)


@pytest.mark.feature("F21")
@TILES
def test_every_register_reads_its_reset_value(tile: str) -> None:
    door = fresh(tile).door(0)
    for found in rows(tile):
        if kind_of(found) not in ("memory", "request"):
            assert door.read32(found.offset) == found.reset & found.readable, found.name


def remembered(found: Row) -> int:
    """Bits that a read shows as written."""
    return found.mask("rw")


@pytest.mark.feature("F21")
@TILES
def test_every_writable_bit_keeps_and_every_other_does_not(tile: str) -> None:
    door = fresh(tile).door(0)
    for found in of_kind(tile, "kept", "read_only"):
        fixed = found.reset & found.mask("ro")
        for pattern in PATTERNS:
            door.write32(found.offset, pattern)
            read = door.read32(found.offset)
            zeroising = found.name == "Memory_Control"  # busy until the memory is cleared: reads 1
            wanted = pattern & remembered(found) | fixed | zeroising
            assert read == wanted, (found.name, hex(pattern))
        door.write32(found.offset, found.reset)


@pytest.mark.feature("F21")
@TILES
def test_write_only_registers_read_zero(tile: str) -> None:
    door = fresh(tile).door(0)
    for found in of_kind(tile, "write_only"):
        for pattern in PATTERNS:
            door.write32(found.offset, pattern)
            assert door.read32(found.offset) == 0, found.name


def overflow(door: Any, tile: str, lock: int, up: int) -> None:
    """Drive a lock out of its range by releases through the request window."""
    window = 0xD0000 if tile == "memory" else 0x40000
    operand = 63 if up else -64 & 0x7F
    for _ in range(2):
        door.read32(window + lock * 0x400 + operand * 4)


def set_sticky_locks(engine: Engine, tile: str, found: Row) -> int:
    word = int(found.name[-1]) if found.name[-1].isdigit() else 0
    locks = range(word * 32, min(TILE_KINDS[tile].locks, word * 32 + 32))
    for lock in locks:
        overflow(engine.door(0), tile, lock, "Overflow" in found.name)
    return (1 << len(locks)) - 1


def overflow_queue(engine: Engine, tile: str, found: Row) -> int:
    number, direction = found.name[-1], found.name.split("_")[1]
    names = {other.name: other for other in rows(tile)}
    queue = "Task_Queue" if tile == "interface" else "Start_Queue"
    for _ in range(6):
        engine.door(0).write32(names[f"DMA_{direction}_{number}_{queue}"].offset, 0)
    return 1 << 18


def set_by_hardware(engine: Engine, tile: str, found: Row) -> int:
    """No register sets these: put the bits where the model keeps them."""
    offsets = [r.offset for r in register_tables.registers_of(tile)]
    engine.state.registers[offsets.index(found.offset)] = found.mask("wtc")
    return found.mask("wtc")


def setter(found: Row) -> Callable[[Engine, str, Row], int]:
    if found.name.startswith("Locks_"):
        return set_sticky_locks
    return overflow_queue if found.name.startswith("DMA_") else set_by_hardware


@pytest.mark.feature("F21")
@TILES
def test_sticky_bits_stay_until_a_one_is_written(tile: str) -> None:
    engine = fresh(tile)
    door = engine.door(0)
    for found in of_kind(tile, "sticky"):
        raised = setter(found)(engine, tile, found)
        wtc = found.mask("wtc")
        assert raised
        assert door.read32(found.offset) & wtc == raised, found.name
        for ones in (0, *(1 << bit for bit in range(32)), ONES):
            door.write32(found.offset, ones)
            raised &= ~ones
            assert door.read32(found.offset) & wtc == raised, (found.name, hex(ones))


def pairs(tile: str) -> Iterator[tuple[Row, Row, Row]]:
    """(sets, clears, value) of the registers that change another one, by the names that AM025 prints."""
    forms = (
        ("_Set", "_Clr", "_Value"),
        ("_set", "_clear", "_value"),
        ("_enable", "_disable", "_mask"),
    )
    names = {(found.module, found.name): found for found in rows(tile)}
    for module, name in names:
        for form in forms:
            triple = [names.get((module, name.replace(form[0], other))) for other in form]
            if form[0] in name and all(triple) and triple[0].mask("wo"):  # type: ignore[union-attr]
                yield tuple(triple)  # type: ignore[misc]


@TILES
def test_set_and_clear_registers_change_the_value_beside_them(tile: str) -> None:
    """DEV-REG-10."""
    door = fresh(tile).door(0)
    found = list(pairs(tile))
    assert len(found) == {"memory": 8, "compute": 8, "interface": 8 + 4 + 1}[tile]
    for sets, clears, value in found:
        mask = value.mask("ro")
        held = 0
        for pattern in PATTERNS:
            door.write32(sets.offset, pattern)
            held |= pattern & mask
            assert door.read32(value.offset) == held, sets.name
            door.write32(clears.offset, pattern & 0x00FF_0F0F)
            held &= ~(pattern & 0x00FF_0F0F)
            assert door.read32(value.offset) == held, clears.name
            door.write32(value.offset, ~held & ONES)
            assert door.read32(value.offset) == held, value.name
        door.write32(clears.offset, ONES)
        assert door.read32(value.offset) == 0


@pytest.mark.parametrize("tile", ["memory", "compute"])
def test_zeroisation_clears_the_memory_and_its_bit(tile: str) -> None:
    engine = fresh(tile)
    (control,) = (found for found in rows(tile) if found.name == "Memory_Control")
    door = engine.door(0)
    door.write32(0x40, 7)
    door.write32(control.offset, control.reset | 1)
    assert door.read32(control.offset) == control.reset | 1
    assert door.poll(control.offset, 1, 0, lambda: engine.run(engine.now + 5000) is not None)
    assert door.read32(control.offset) == control.reset
    assert door.read32(0x40) == 0


@TILES
def test_a_read_of_the_lock_request_window_is_an_attempt(tile: str) -> None:
    door = fresh(tile).door(0)
    base = next(found.offset for found in rows(tile) if found.name == "Lock_Request")
    value = next(found.offset for found in rows(tile) if found.name.lower() == "lock3_value")
    acquire_one, release_one = base + 3 * 0x400 + 0x200 + 0x7F * 4, base + 3 * 0x400 + 4
    assert door.read32(acquire_one) == 0
    assert [door.read32(release_one), door.read32(release_one), door.read32(value)] == [1, 1, 2]
    assert [door.read32(acquire_one), door.read32(value)] == [1, 1]
    door.write32(acquire_one, ONES)  # a write asks for nothing
    assert door.read32(value) == 1


def test_control_of_a_core_and_of_its_program_memory() -> None:
    """DEV-REG-9."""
    door = fresh("compute").door(0)
    assert (door.read32(0x32000), door.read32(0x32004)) == (2, 2)
    door.write32(0x32000, ONES - 2)
    assert (door.read32(0x32000), door.read32(0x32004)) == (1, 1)
    door.write32(0x36060, ONES)
    assert door.read32(0x36060) == 3
    door.block_write32(0x20000, [1, 2])
    door.write32(0x36070, 0)
    assert door.read32(0x20004) == 2
    door.write32(0x36070, 1)
    assert door.read32(0x36070) == 0
    assert door.block_read32(0x20000, 2).tolist() == [0, 0]


def test_a_reserved_bit_reads_as_after_reset() -> None:
    """DEV-REG-2, DEV-REG-3: the core's error groups reset to 25 ones, bit 6 of which is named Reserved."""
    door = fresh("compute").door(0)
    for offset in (0x34510, 0x34514):
        assert door.read32(offset) == 0x1FFFFFF
        door.write32(offset, 0)
        assert door.read32(offset) == 1 << 6


@TILES
def test_an_access_that_nothing_answers_leaves_its_sticky_bit(tile: str) -> None:
    status, bit = {"memory": (0x94210, 10), "compute": (0x34204, 26), "interface": (0x34208, 0)}[tile]
    module = {"memory": "memory_tile", "compute": "core", "interface": "interface"}[tile]
    number = load("events")["modules"][module]["AXI_MM_SLAVE_ERROR"]
    assert status % 0x100 // 4 * 32 + bit == number
    for access in ("read32", "write32"):
        door = fresh(tile).door(0)
        assert door.read32(status) == 0
        with pytest.raises(Exception, match="The tile answers with a slave error"):
            getattr(door, access)(0xFFF00 - 0x10, *([0] if access == "write32" else []))
        assert door.read32(status) == 1 << bit
        door.write32(status, 1 << bit)
        assert door.read32(status) == 0
