"""Does every read get one flipped bit corrected and two reported, and does a write make a word clean?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from memtile.arch.events import EVENT_UNITS
from memtile.arch.packets import PacketOperation, control_header
from memtile.arch.protection import CELLS, CHECK_BITS, COLUMNS
from memtile.arch.register_map import register_named
from memtile.arch.registers import ModuleName
from memtile.bd.descriptor import Descriptor, Packet
from memtile.bd.windows import EAST, OWN, DmaAddress
from memtile.design.array import Array
from memtile.model.memory import ecc
from memtile.sim.loop.untimed import run_untimed
from memtile.sim.loop.upsets import Upset
from memtile.testing.rig import Rig
from memtile.testing.stream_bench import Bench

WORDS = [0x12345678 + n for n in range(8)]
HIT = 2  # word that is hit
AT = 0x40  # first word
FAILING = register_named("memory_tile", "ECC_FAILING_ADDRESS")
ONE, TWO = "DM_ECC_ERROR_1BIT", "DM_ECC_ERROR_2BIT"
GENERATION = 0x92000


def happened(rig: Rig, event: str, module: ModuleName = "memory_tile", tile: int | None = None) -> bool:
    """Sticky status of an event, when the cycles in which it can be raised are over."""
    rig.step(2)
    return status(rig, event, module, tile)


def status(rig: Rig, event: str, module: ModuleName = "memory_tile", tile: int | None = None) -> bool:
    """Sticky status of an event now."""
    offset, bit = EVENT_UNITS[module].sticky_status(event)
    door = rig.door if tile is None else rig.engine.door(tile)
    return bool(door.read32(offset) >> bit & 1)


def forget(rig: Rig, event: str, module: ModuleName = "memory_tile") -> None:
    offset, bit = EVENT_UNITS[module].sticky_status(event)
    rig.door.write32(offset, 1 << bit)


def hit(rig: Rig, *bits: int, word: int = AT + HIT, tile: int = 0) -> None:
    """Cells flip now."""
    rig.engine.upsets.add([Upset(rig.now, tile, word, bits)])
    rig.engine.upsets.strike()


def raw(rig: Rig, word: int = AT + HIT) -> int:
    """The data cells of a word."""
    return int(rig.engine.state.memory[word])


def by_door(rig: Rig) -> list[int]:
    return [rig.door.read32(4 * (AT + n)) for n in range(8)]


def by_burst(rig: Rig) -> list[int]:
    return [int(word) for word in rig.memory(AT, 8)]


def begin_mm2s(rig: Rig) -> int:
    ch = rig.mm2s()
    rig.catch(ch)
    rig.write_bd(0, Descriptor("memory", 8, OWN.address(AT)))
    rig.issue(ch, 0)
    return ch


def by_mm2s(rig: Rig) -> list[int]:
    ch = begin_mm2s(rig)
    rig.step(20)
    return rig.sent(ch)


def by_untimed_run(rig: Rig) -> list[int]:
    ch = begin_mm2s(rig)
    run_untimed(rig.engine)
    return rig.sent(ch)


READERS = pytest.mark.parametrize("read", [by_door, by_burst, by_mm2s, by_untimed_run])


def filled() -> Rig:
    rig = Rig()
    rig.fill(AT, WORDS)
    return rig


def test_the_code_corrects_every_single_flip_and_detects_every_pair() -> None:
    """DEV-ECC-1: whichever code it is, seven check bits must do this."""
    assert len(set(COLUMNS)) == CELLS == 39
    assert all(0 < column < 1 << CHECK_BITS for column in COLUMNS)
    for cell in range(CELLS):
        assert ecc.blamed(ecc.syndrome(1 << cell)) == 1 << cell
    for one, other in combinations(range(CELLS), 2):
        found = ecc.syndrome(1 << one | 1 << other)
        assert found != 0
        assert ecc.blamed(found) == 0


@pytest.mark.feature("F25")
@READERS
@pytest.mark.parametrize("bit", [0, 13, 31, 32, 38])
def test_one_flip_is_corrected_for_the_reader_and_reported(
    read: Callable[[Rig], list[int]], bit: int
) -> None:
    rig = filled()
    hit(rig, bit)
    assert read(rig) == WORDS
    assert (happened(rig, ONE), happened(rig, TWO)) == (True, False)
    assert rig.door.read32(FAILING.offset) == FAILING.pack(
        VALID=1, ECC_ERROR_DETECTION_ADDRESS=4 * (AT + HIT)
    )


@READERS
def test_a_read_leaves_the_cells_as_they_are(read: Callable[[Rig], list[int]]) -> None:
    """DEV-ECC-2: only a write or the scrubber makes the word clean."""
    rig = filled()
    hit(rig, 4)
    assert read(rig) == read(rig)[:8] == WORDS
    assert raw(rig) == WORDS[HIT] ^ 1 << 4


@pytest.mark.feature("F25")
@READERS
@pytest.mark.parametrize("bits", [(0, 1), (31, 38), (33, 36)])
def test_two_flips_are_reported_and_delivered_as_they_are(read: Callable[[Rig], list[int]], bits) -> None:
    """DEV-ECC-2: the reader is not stopped."""
    rig = filled()
    hit(rig, *bits)
    wrong = WORDS[HIT] ^ sum(1 << bit for bit in bits if bit < 32)
    assert read(rig) == [*WORDS[:HIT], wrong, *WORDS[HIT + 1 :]]
    assert (happened(rig, ONE), happened(rig, TWO)) == (False, True)


def test_words_beside_the_one_that_is_read_are_not_looked_at() -> None:
    """DEV-ECC-2: an access checks the words that it delivers."""
    rig = filled()
    hit(rig, 3)
    rig.door.read32(4 * (AT + HIT + 1))
    assert not happened(rig, ONE)


def test_a_memory_mapped_read_counts_twice() -> None:
    """DEV-ECC-7: in the cycle of the access and in the next one."""
    rig = filled()
    hit(rig, 3)
    rig.door.read32(4 * (AT + HIT))
    for times in (True, True, False):
        rig.step()
        assert status(rig, ONE) is times
        forget(rig, ONE)


def test_the_failing_address_is_that_of_the_first_error_until_software_clears_it() -> None:
    """DEV-ECC-3."""
    rig = filled()
    hit(rig, 1, word=AT + 5)
    hit(rig, 1, 2, word=AT + 6)
    assert rig.door.read32(FAILING.offset) == 0
    rig.door.read32(4 * (AT + 6))
    rig.door.read32(4 * (AT + 5))
    assert rig.door.read32(FAILING.offset) == 1 << 19 | 4 * (AT + 6)
    rig.door.write32(FAILING.offset, 0)
    rig.door.read32(4 * (AT + 5))
    assert rig.door.read32(FAILING.offset) == 1 << 19 | 4 * (AT + 5)


def write_by_door(rig: Rig) -> None:
    rig.door.write32(4 * (AT + HIT), 7)


def write_by_burst(rig: Rig) -> None:
    rig.fill(AT + HIT, [7])


def write_bytes(rig: Rig) -> None:
    rig.door.write_bytes(4 * (AT + HIT), (7).to_bytes(4, "little"))


def begin_s2mm(rig: Rig) -> None:
    rig.write_bd(0, Descriptor("memory", 1, OWN.address(AT + HIT)))
    rig.feed(rig.s2mm(), [7])
    rig.issue(rig.s2mm(), 0)


def write_by_s2mm(rig: Rig) -> None:
    begin_s2mm(rig)
    rig.step(15)


def write_by_untimed_run(rig: Rig) -> None:
    begin_s2mm(rig)
    run_untimed(rig.engine)


@pytest.mark.parametrize(
    "write", [write_by_door, write_by_burst, write_bytes, write_by_s2mm, write_by_untimed_run]
)
@pytest.mark.parametrize("bits", [(3,), (3, 35)])
def test_a_write_makes_the_word_clean(write: Callable[[Rig], None], bits: tuple[int, ...]) -> None:
    rig = filled()
    hit(rig, *bits)
    write(rig)
    assert by_door(rig)[HIT] == 7
    assert not happened(rig, ONE)
    assert not happened(rig, TWO)
    assert rig.engine.state.guards.inspected.tolist() == [0]


def test_a_write_of_a_part_of_a_word_corrects_the_rest() -> None:
    """DEV-ECC-4: read, changed and written back."""
    rig = filled()
    hit(rig, 31)
    rig.door.write_bytes(4 * (AT + HIT), b"\x99")
    assert happened(rig, ONE)
    assert raw(rig) == by_door(rig)[HIT] == WORDS[HIT] & ~0xFF | 0x99
    assert rig.engine.state.guards.inspected.tolist() == [0]


def test_zeroisation_makes_all_words_clean() -> None:
    rig = filled()
    hit(rig, 3, 5)
    hit(rig, 6, word=0x1FFFF)
    rig.memory_control(zeroise=True)
    assert not rig.memory(0, 0x20000).any()
    assert rig.engine.state.guards.inspected.tolist() == [0]
    assert not happened(rig, TWO)


@pytest.mark.parametrize(
    "write", [write_by_door, write_by_burst, write_bytes, write_by_s2mm, write_by_untimed_run]
)
@pytest.mark.parametrize("lane", [HIT, HIT + 1])
def test_software_can_have_words_written_with_a_wrong_check_bit(write: Callable[[Rig], None], lane) -> None:
    """DEV-ECC-9: in the lanes that it chooses, until it clears the register."""
    rig = filled()
    rig.door.write32(GENERATION, 1 << lane)
    write(rig)
    rig.door.write32(GENERATION, 0)
    assert by_door(rig)[HIT] == 7
    assert happened(rig, ONE) is (lane == HIT)
    write(rig)
    assert rig.engine.state.guards.inspected.tolist() == [0]


def test_upsets_add_up_in_a_word() -> None:
    rig = filled()
    hit(rig, 3)
    hit(rig, 4)
    assert by_door(rig)[HIT] == WORDS[HIT] ^ 0b11000
    hit(rig, 4)
    hit(rig, 3)
    assert rig.engine.state.guards.inspected.tolist() == [0]


def test_a_neighbours_read_is_reported_where_the_memory_is() -> None:
    rig = Rig(tiles=2, at=0)
    rig.beside(1).fill(AT, WORDS)
    hit(rig, 9, tile=1)
    rig.catch(rig.mm2s())
    rig.write_bd(0, Descriptor("memory", 8, EAST.address(AT)))
    rig.issue(rig.mm2s(), 0)
    rig.step(20)
    assert rig.sent(rig.mm2s()) == WORDS
    assert (happened(rig, ONE, tile=0), happened(rig, ONE, tile=1)) == (False, True)


def test_a_control_packets_read_is_corrected() -> None:
    bench = Bench("memory")
    bench.packets("DMA0", (3, 31, 0, 0))
    bench.collects("CTRL0", 0, 0)
    bench.packets("CTRL0", (0, 0, 0, 1))
    bench.collects("SOUTH0", 1, 0)
    bench.engine.catch_port(0, "SOUTH0")
    bench.fill(AT, WORDS)
    bench.fill(0x8000, [control_header(PacketOperation.READ, 4 * AT, 4)])
    bench.engine.upsets.add([Upset(0, 0, AT + HIT, (30,))])
    bench.write_bd(0, Descriptor("memory", 1, OWN.address(0x8000), packet=Packet(3)))
    bench.issue(bench.mm2s(), 0)
    bench.run()
    assert [word for word, _ in bench.engine.left_port(0, "SOUTH0")][1:] == WORDS[:4]


def test_without_protection_the_reader_gets_what_the_cells_hold_and_nobody_says_so() -> None:
    rig = filled()
    rig.engine.without_protection()
    hit(rig, 3)
    assert by_mm2s(rig)[HIT] == WORDS[HIT] ^ 1 << 3
    assert not happened(rig, ONE)
    assert rig.engine.upsets.fate(rig.engine.upsets.struck[0]) == ecc.Fate.SILENT


def test_an_upset_strikes_before_anything_else_happens_in_its_cycle() -> None:
    """The read of the word is granted in cycle 5; a flip in cycle 6 is not seen by it."""
    for cycle, seen in ((5, True), (6, False)):
        rig = Rig()
        rig.fill(AT, WORDS)
        rig.engine.upsets.add([Upset(cycle, 0, AT, (0, 1))])
        ch = begin_mm2s(rig)
        rig.engine.run(30)
        assert (rig.sent(ch)[0] != WORDS[0]) is seen


def test_upsets_that_an_untimed_run_does_not_reach_are_kept() -> None:
    rig = filled()
    rig.engine.upsets.add([Upset(40, 0, AT, (0,))])
    assert by_untimed_run(rig) == WORDS
    assert rig.engine.upsets.struck == []
    rig.step(41)
    assert len(rig.engine.upsets.struck) == 1


# compute tiles -------------------------------------------------------------------------------------------

PARITY_ADDRESS = register_named("memory", "PARITY_FAILING_ADDRESS")
ECC_ADDRESS = register_named("memory", "ECC_FAILING_ADDRESS")
BANKS = [(2, 0x1000), (3, 0x1004), (4, 0x2000), (5, 0x2004), (6, 0x3000), (7, 0x3FFF)]


@pytest.mark.parametrize("word", [0, 0xFFF])
def test_banks_0_and_1_of_a_compute_tile_have_ecc(word: int) -> None:
    rig = Rig("compute")
    hit(rig, 3, word=word)
    assert rig.door.read32(4 * word) == 0
    assert happened(rig, ONE, "memory")
    assert rig.door.read32(ECC_ADDRESS.offset) == ECC_ADDRESS.pack(
        VALID=1, ECC_ERROR_DETECTION_ADDRESS=4 * word
    )


@pytest.mark.parametrize(("bank", "word"), BANKS)
def test_banks_2_to_7_have_parity_which_detects_one_flip_and_corrects_none(bank: int, word: int) -> None:
    rig = Rig("compute")
    hit(rig, 3, word=word)
    assert rig.door.read32(4 * word) == 8
    others = [happened(rig, f"DM_PARITY_ERROR_BANK_{n}", "memory") for n in range(2, 8)]
    assert others == [n == bank for n in range(2, 8)]
    assert not happened(rig, ONE, "memory")
    expected = PARITY_ADDRESS.pack(VALID=1, PARITY_ERROR_DETECTION_ADDRESS=4 * word)
    assert rig.door.read32(PARITY_ADDRESS.offset) == expected


@pytest.mark.parametrize("bits", [(3, 4), (3, 32)])
def test_parity_does_not_see_two_flips(bits: tuple[int, ...]) -> None:
    rig = Rig("compute")
    hit(rig, *bits, word=0x1000)
    assert rig.door.read32(4 * 0x1000) == sum(1 << bit for bit in bits if bit < 32)
    assert not happened(rig, "DM_PARITY_ERROR_BANK_2", "memory")
    assert rig.engine.upsets.fate(rig.engine.upsets.struck[0]) == ecc.Fate.SILENT


def test_a_flipped_parity_bit_is_reported_though_the_data_is_right() -> None:
    rig = Rig("compute")
    hit(rig, 32, word=0x1000)
    assert rig.door.read32(4 * 0x1000) == 0
    assert happened(rig, "DM_PARITY_ERROR_BANK_2", "memory")


@pytest.mark.parametrize("how", ["read", "view"])
def test_a_kernel_gets_corrected_data_and_its_writes_make_words_clean(how: str) -> None:
    """DEV-ECC-8: a view counts as read and written back, when it is taken and before each later action."""
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    given, made = tile.buffer("given", 16, data=np.arange(16)), tile.buffer("made", 16)
    seen = []

    def kernel(core):
        data = core.view(given) if how == "view" else core.read(given)
        seen.append(data.copy())
        yield core.cycles(10)
        seen.append(core.read(given))
        core.write(made, seen[0] + 1)
        yield core.cycles(1)

    tile.upset(given, 0, 5, word=3)
    tile.upset(given, 4, 6, word=9)
    tile.upset(made, 2, 1, 2, word=0)
    tile.run_kernel(kernel)
    array.run()
    assert [values.tolist() for values in seen] == [list(range(16))] * 2
    assert tile.load(made).tolist() == list(range(1, 17))
    assert bool(array.engine.state.guards.inspected.any()) is (how == "read")


def test_what_a_kernel_writes_through_a_view_is_not_corrected_away() -> None:
    """DEV-ECC-8: an upset under a view in use, then a write to the word through it."""
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    buffer = tile.buffer("b", 4)

    def kernel(core):
        part = core.view(buffer)[1:]
        yield core.cycles(10)
        part[0] = 77
        yield core.cycles(10)

    tile.upset(buffer, 5, 31, word=1)
    tile.run_kernel(kernel)
    array.run()
    assert tile.load(buffer).tolist() == [0, 77, 0, 0]


@pytest.mark.parametrize("tile", ["memory_v2", "compute_v2"])
def test_v2_has_the_same_code_on_each_32_bit_lane(tile) -> None:
    rig = Rig(tile)
    rig.fill(AT, WORDS)
    hit(rig, 3)
    rig.catch(rig.mm2s())
    rig.write_bd(0, Descriptor(tile, 8, DmaAddress(rig.kind.own_window_words + AT)))
    rig.issue(rig.mm2s(), 0)
    rig.step(20)
    assert rig.sent(rig.mm2s()) == WORDS
    assert happened(rig, ONE, "memory_tile" if tile == "memory_v2" else "memory")


def test_every_outcome_of_a_word_is_known() -> None:
    """Which cells flipped and what was done to the word, against what its fate says."""
    rig = filled()
    for word, bits in enumerate([(1,), (1, 2), (1, 2, 3), (5,), (6,)]):
        hit(rig, *bits, word=AT + word)
    rig.memory(AT, 3)
    rig.fill(AT + 3, [0])
    fates = [rig.engine.upsets.fate(upset) for upset in rig.engine.upsets.struck]
    assert fates[0] == ecc.Fate.CORRECTED
    assert fates[1] == ecc.Fate.DETECTED
    assert fates[2] in (ecc.Fate.DETECTED, ecc.Fate.SILENT)  # three flips may look like another one
    assert fates[3:] == [ecc.Fate.OVERWRITTEN, ecc.Fate(0)]
