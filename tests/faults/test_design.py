"""Is a design that contradicts the tile refused, with place, value, limit and way out?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from memtile import Descriptor, MemoryTile, MemtileError, Status, Timing, Transfer, view
from memtile.arch.tiles import MEMORY
from memtile.bd.windows import OWN, DmaAddress


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


def words(count: int, at: int = 0) -> Descriptor:
    return Descriptor("memory", count, OWN.address(at))


def test_a_buffer_beyond_the_memory_says_how_much_is_left() -> None:
    tile = MemoryTile()
    tile.buffer("first", 100_000)
    assert refused(lambda: tile.buffer("second", 40_000)) == (
        "memory tile, buffer second: the buffer takes bytes 0x61a80..0x88b7f, allowed are 0x0..0x7ffff "
        "(AM020 chapter 5: memory tile memory). 124288 bytes are free."
    )


def test_overlap_and_odd_sizes_are_told_together() -> None:
    tile = MemoryTile()
    tile.buffer("first", 16, at=0)
    text = refused(lambda: tile.buffer("odd", 7, np.int8, at=4))
    assert text.splitlines() == [
        "memory tile, buffer odd: the buffer has 7 bytes at 0x4; size and place must be whole 32-bit "
        "words (AM020 chapter 5: memory tile memory).",
        "memory tile, buffer odd: bytes 0x4..0xa overlap Buffer(first: 16 int32, 64 bytes at 0x0) "
        "(AM020 chapter 5: memory tile memory).",
    ]


def test_the_fifth_queued_task_is_refused_before_the_chip_would_drop_it() -> None:
    tile = MemoryTile()
    for _ in range(1 + 4):  # the first is about to start
        tile.mm2s[0].start(words(8))
    assert refused(lambda: tile.mm2s[0].start(words(8))) == (
        "memory tile, MM2S 0: the task queue is full: it holds 4 tasks beside the one that runs "
        "(AM020). Run, put more work into one chain, or have a host sequence start it (array.host)."
    )


def test_on_strix_the_running_task_is_one_of_the_four_of_the_queue() -> None:
    """DEV-QUEUE-1: as silicon of npu2 has it, and as the message counts it."""
    tile = MemoryTile(timing=Timing(queue_running=1))
    for _ in range(4):
        tile.mm2s[0].start(words(8))
    assert refused(lambda: tile.mm2s[0].start(words(8))) == (
        "memory tile, MM2S 0: the task queue is full: it holds 4 tasks, the one that runs among them "
        "(AM020). Run, put more work into one chain, or have a host sequence start it (array.host)."
    )


def test_running_out_of_descriptors_names_the_half_and_the_other_one() -> None:
    tile = MemoryTile()
    tile.s2mm[2].start(*[words(8, 8 * n) for n in range(20)])
    text = refused(lambda: tile.mm2s[4].start(*[words(8)] * 5))
    assert "needs 5 more BDs" in text
    assert "but only 4 of BDs 0..23 are free" in text
    assert text.endswith("a channel of the other parity has 24 free.")


def test_repeat_and_ring_contradict_each_other() -> None:
    tile = MemoryTile()
    text = refused(lambda: tile.s2mm[0].start(words(8), repeat=257))
    assert "the number of runs is 257, allowed are 1..256" in text
    assert text.endswith("Start several tasks, or a ring (loop=True), which never ends.")
    text = refused(lambda: tile.s2mm[0].start(words(8), repeat=2, loop=True))
    assert "the number of runs is 2; it must be 1, because a ring never ends" in text
    assert "there is no work" in refused(lambda: tile.s2mm[0].start())


def test_a_walk_that_leaves_the_address_space_is_refused() -> None:
    walk = Descriptor("memory", 4, DmaAddress(0x5FFFE), dims=((1, 2), (2, 0)))
    text = refused(lambda: MemoryTile().mm2s[0].start(walk))
    assert text.startswith(
        "memory tile, BD 0: the walk covers words 0x5fffe..0x60001, allowed are 0x0..0x5ffff"
    )


def test_ports_have_a_direction_and_take_whole_words() -> None:
    tile = MemoryTile()
    assert "feed is for S2MM channels" in refused(lambda: tile.mm2s[1].feed(np.zeros(4, np.int32)))
    assert "collect is for MM2S channels" in refused(lambda: tile.s2mm[1].collect())
    assert "the data has 3 bytes; it must have a multiple of 4" in refused(
        lambda: tile.s2mm[1].feed(np.zeros(3, np.int8))
    )


def test_lock_values_and_numbers_are_six_bits_and_sixty_four() -> None:
    tile = MemoryTile()
    lock = tile.lock(63, "credits", id=5)
    assert "acquire is 64, allowed are 1..63" in refused(lambda: lock.acquire(64))
    assert "release is 0, allowed are 1..63" in refused(lambda: lock.release(0))
    assert "is 64, allowed are 0..63" in refused(lambda: tile.lock(64))
    assert "lock 5 is taken: it is credits" in refused(lambda: tile.lock(id=5))


def test_a_stuck_design_says_who_waits_for_what_and_who_would_release_it() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", 16)
    full, empty = tile.lock(0, "full"), tile.lock(0, "empty")
    tile.s2mm[0].start(tile.write(buffer).guarded(empty.acquire(), full.release()))
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), empty.release()))
    tile.s2mm[0].feed(np.arange(16, dtype=np.int32))
    tile.mm2s[0].expect(np.arange(16, dtype=np.int32))
    result = tile.run()
    assert result.status is Status.STUCK
    assert result.exact is False
    assert result.waiting == (
        "S2MM 0, BD 0, word 0 of 16: waits for lock 1 'empty' (needs 1, has 0), "
        "released by MM2S 0 (BD 1); 16 words in its ingress buffer are not taken",
        "MM2S 0, BD 1, word 0 of 16: waits for lock 0 'full' (needs 1, has 0), released by S2MM 0 (BD 0)",
    )


def test_an_endless_ring_at_rest_is_finished_and_one_in_the_middle_is_not() -> None:
    def ring(fed: int) -> Status:
        tile = MemoryTile()
        tile.s2mm[0].start(tile.write(tile.buffer("b", 16)), loop=True)
        tile.s2mm[0].feed(np.arange(fed, dtype=np.int32))
        return tile.run().status

    assert ring(32) is Status.FINISHED
    assert ring(33) is Status.STUCK


def test_the_cycle_limit_keeps_what_is_done() -> None:
    tile = MemoryTile()
    tile.mm2s[0].start(words(1000), loop=True)
    tile.mm2s[0].collect()
    result = tile.run(max_cycles=500)
    assert (result.status, result.cycles) == (Status.LIMIT, 500)
    assert 480 < len(result.outputs["MM2S 0"]) < 500
    assert "MM2S 0, BD 0, word" in result.waiting[0]


def test_a_channel_that_reaches_for_a_missing_neighbour_is_halted_and_named() -> None:
    tile = MemoryTile()
    tile.write_bd(0, Descriptor("memory", 8, DmaAddress(0)))
    tile.door.write32(MEMORY.queue_base + MEMORY.channels * MEMORY.channel_stride, 0)
    tile.mm2s[0].collect()
    result = tile.run()
    assert result.status is Status.HALTED
    assert result.waiting == (
        "MM2S 0, BD 0, word 0 of 8: halted by Error_DM_Access_to_Unavailable; reset the channel",
    )
    assert tile.mm2s[0].status()["Error_DM_Access_to_Unavailable"] == 1


def test_a_wrong_word_is_counted_and_located() -> None:
    tile = MemoryTile()
    source = tile.buffer("b", 8, data=np.arange(8))
    tile.mm2s[3].start(tile.read(source))
    tile.mm2s[3].expect(np.array([0, 1, 2, 9, 4, 5, 6, 7, 8], np.int32))
    result = tile.run()
    assert result.exact is False
    assert result.checks[0].text == (
        "MM2S 3: 1 wrong, the first is element 3 (3 came, 9 was expected), 1 missing of 9 elements"
    )
    assert result.status is Status.STUCK


def test_what_a_notebook_shows_reads_well() -> None:
    tile = MemoryTile("xcve2802")
    buffer = tile.buffer("map", (4, 8), np.int16, bank=2)
    tile.lock(1, "free")
    tile.mm2s[1].start(tile.read(buffer))
    assert repr(buffer) == "Buffer(map: 4 x 8 int16, 64 bytes at 0x10000)"
    assert repr(tile) == "MemoryTile(xcve2802: 1 buffers, 64 of 524288 bytes, 1 locks, 0 cycles run)"
    assert repr(tile.mm2s[1]) == "Channel(MM2S 1: 23 BDs free, 1 of 4 tasks queued)"
    tile.mm2s[1].collect()
    lines = str(tile.run()).splitlines()
    assert lines[0].startswith("status: finished in 24 cycles")


def test_a_transfer_of_several_runs_is_a_task_of_its_own() -> None:
    tile = MemoryTile()
    several = Transfer((words(8),), runs=3)
    tile.mm2s[0].start(several, words(8), words(4))
    assert repr(tile.mm2s[0]) == "Channel(MM2S 0: 21 BDs free, 2 of 4 tasks queued)"
    tile.mm2s[0].collect()
    assert len(tile.run().outputs["MM2S 0"]) == 24 + 12


def test_a_transfer_of_several_runs_is_no_ring() -> None:
    tile = MemoryTile()
    several = Transfer((words(8),), runs=3)
    for work in ((several,), (words(8), several)):
        assert refused(lambda work=work: tile.mm2s[0].start(*work, loop=True)) == (
            "memory tile, MM2S 0: the number of runs is 3; it must be 1, because a ring never ends (AM025 "
            "Start_Queue.Repeat_Count)."
        )


def test_a_channel_takes_transfers_and_a_transfer_takes_tilings() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", (4, 4))
    rule = "it must be transfers or descriptors (AM020: a task is a BD chain)"
    assert refused(lambda: tile.mm2s[1].start(buffer)) == (
        f"memory tile, MM2S 1: the work is {buffer!r}; {rule}. Make one with tile.read(buffer)."
    )
    assert refused(lambda: tile.s2mm[1].start(buffer, 7)).splitlines() == [
        f"memory tile, S2MM 1: the work is {piece!r}; {rule}. Make one with tile.write(buffer)."
        for piece in (buffer, 7)
    ]
    assert refused(lambda: tile.read(buffer, 5)) == (
        "buffer b: the pattern to read is 5; it must be TilingParameters, or a view "
        "(UG1603: tiling parameters). Give a view such as memtile.view(shape, dtype)[:5]."
    )
    assert refused(lambda: tile.write(buffer, view((4, 8)))) == (
        "buffer b: the pattern to write is View(shape=(4, 8), 32-bit elements of a buffer of 32); "
        "it must be a view of 16 elements of 32 bits (UG1603: tiling parameters)."
    )
    assert refused(lambda: tile.read("b")) == (
        "memory tile: the argument of read is 'b'; it must be a buffer (a DMA moves words of memory). "
        "Make one with tile.buffer(name, shape)."
    )
    assert tile.bd_pool.free(1) == 24


def test_a_view_is_as_good_as_a_tiling() -> None:
    tile = MemoryTile()
    data = np.arange(48, dtype=np.int16).reshape(6, 8)
    buffer = tile.buffer("b", data.shape, np.int16, data=data)
    tile.mm2s[0].start(tile.read(buffer, np.pad(view(data.shape, np.int16), ((1, 0), (0, 2)))[:3, 4:]))
    tile.mm2s[0].expect(np.pad(data, ((1, 0), (0, 2)))[:3, 4:])
    assert tile.run().good


def test_long_elements_do_not_go_as_two_words_by_accident() -> None:
    tile = MemoryTile()
    text = (
        "memory tile, S2MM 0: the data to feed has type int64; its elements must have 4 bytes or less, or be "
        "whole numbers that these hold exactly (AM020: 32-bit streams). Say dtype=np.int32, or send both "
        "halves on purpose with .view(np.uint32)."
    )
    long = np.arange(4) << 32
    assert refused(lambda: tile.s2mm[0].feed(long)) == text
    expected = text.replace("S2MM 0: the data to feed", "MM2S 0: the data to expect")
    assert refused(lambda: tile.mm2s[0].expect(long)) == expected
    assert "has type float64" in refused(lambda: tile.s2mm[0].feed([1.5]))
    assert "has type object" in refused(lambda: tile.s2mm[0].feed(np.array([None])))
    assert not tile.mm2s[0].taken


def test_what_a_buffer_should_hold_has_its_shape_and_fits_its_type() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", 4, np.int8)
    assert refused(lambda: tile.expect(buffer, [1, 2, 3, 300])) == (
        "memory tile, buffer b: the data is int64 with values that int8 does not hold exactly (NumPy). "
        "Convert them yourself."
    )
    assert refused(lambda: tile.expect(buffer, np.zeros(8, np.int8))) == (
        "memory tile, buffer b: the data has shape (8,); it must have (4,) (NumPy shapes)."
    )
    assert refused(lambda: tile.bench.expect_array("x", np.zeros(2, np.int8), [1, 200])) == (
        "array x: the data is int64 with values that int8 does not hold exactly (NumPy). Convert "
        "them yourself."
    )
    tile.store(buffer, range(4))
    tile.expect(buffer, range(4))
    assert tile.run().good


def test_a_buffer_whose_first_contents_are_refused_takes_no_room() -> None:
    tile = MemoryTile()
    assert "the data has shape (3,); it must have (4,)" in refused(
        lambda: tile.buffer("b", 4, data=[1, 2, 3])
    )
    assert tile.buffer("b", 4, data=[1, 2, 3, 4]).offset == 0


def test_registers_by_their_names() -> None:
    tile = MemoryTile()
    assert tile.register("Memory_Control") == {"Memory_Interleaving": 1, "Memory_Zeroisation": 0}
    tile.lock(5, id=9)
    assert tile.register("Lock9_value") == {"Lock_value": 5}
    assert refused(lambda: tile.register("Memory_Contro")) == (
        "memory tile: no register is called 'Memory_Contro' (AM025 modules memory_tile). Did you mean "
        "Memory_Control or Timer_Control or Tile_Control?"
    )


def test_a_second_run_goes_on_and_its_result_counts_from_the_beginning() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", 8, data=range(8))
    tile.mm2s[0].collect()
    results = []
    for _ in range(2):
        tile.mm2s[0].start(tile.read(buffer))
        results.append(tile.run())
    first, second = results
    assert (first.before, second.before) == (0, first.cycles)
    assert second.cycles > first.cycles
    assert (first.channels[0].words, second.channels[0].words) == (8, 16)
    title = f"{second.cycles} cycles, {first.cycles} of them before this run"
    assert str(first).startswith(f"status: finished in {first.cycles} cycles (")
    assert str(second).startswith(f"status: finished in {title}")
    assert second.as_json()["cycles_before"] == first.cycles


def test_padding_with_a_constant_is_for_the_second_generation() -> None:
    assert refused(lambda: MemoryTile().mm2s[0].pad_with(7)) == (
        "memory tile, MM2S 0: the memory tile pads with zeros; only tiles of AIE2P and AIE-ML v2 "
        "take another word (AM020: zeros; AM029 DMA_MM2S_n_Constant_Pad_Value)."
    )
    tile = MemoryTile("xc2ve3858")
    assert refused(lambda: tile.mm2s[0].pad_with(-1)) == (
        "AIE-ML v2 memory tile, MM2S 0: the word to pad with is -1, allowed are 0..4294967295 (AM029 "
        "DMA_MM2S_n_Constant_Pad_Value)."
    )
    assert "pad_with is for MM2S channels" in refused(lambda: tile.s2mm[0].pad_with(1))


@pytest.mark.parametrize("direction", ["s2mm", "S2MM 0", ""])
def test_rates_of_a_direction_that_is_none(direction: str) -> None:
    result = MemoryTile().run()
    for rate in (result.bytes_per_cycle, result.gigabytes_per_second):
        assert refused(partial(rate, direction)) == (
            f"result: direction is {direction!r}; it must be S2MM or MM2S (AM020 chapter 5: DMA channels)."
        )


@pytest.mark.parametrize("given", [1.5, "x", None, -1])
def test_a_limit_that_is_no_number_of_cycles(given: Any) -> None:
    assert refused(lambda: MemoryTile().run(max_cycles=given)) == (
        f"run: max_cycles is {given!r}; it must be a whole number of 0 or more (cycles of the model)."
    )
