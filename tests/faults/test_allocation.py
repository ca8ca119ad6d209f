"""Is everything that does not fit named: which, how much is missing, who has it, and where there is room?"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from memtile import Array, Descriptor, MemoryTile, MemtileError, Transfer, view
from memtile.arch.tiles import COMPUTE
from memtile.bd.windows import OWN
from memtile.design.bd_pool import BdPool
from memtile.design.demands import Demand
from memtile.design.other_tiles import ComputeTile
from memtile.design.placement import place_buffers
from memtile.design.protocols import hand_over, one_writer

KB = 1024


def refused(call: Callable[[], object]) -> list[str]:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value).splitlines()


def chain(count: int) -> list[Descriptor]:
    return [Descriptor("memory", 8, OWN.address(8 * n)) for n in range(count)]


# descriptors and locks --------------------


def test_a_full_half_names_its_takers_and_the_channels_that_have_room() -> None:
    tile = MemoryTile()
    tile.s2mm[0].start(*chain(16))
    tile.mm2s[2].start(*chain(4))
    tile.s2mm[1].start(*chain(3))
    assert refused(lambda: tile.s2mm[4].start(*chain(6))) == [
        "memory tile, S2MM 4: the work needs 6 more BDs, but only 4 of BDs 0..23 are free (AM020: 24 BDs "
        "per channel, by channel parity). Of these, S2MM 0 has 16, MM2S 2 has 4. Move to channel 1, 3, 5: "
        "a channel of the other parity has 21 free."
    ]


def test_two_full_halves_leave_no_channel_to_move_to() -> None:
    tile = MemoryTile()
    tile.s2mm[0].start(*chain(23))
    tile.s2mm[1].start(*chain(23))
    assert refused(lambda: tile.mm2s[3].start(*chain(2)))[0].endswith(
        "Of these, S2MM 1 has 23. A channel of the other parity has 1 free."
    )


@pytest.mark.feature("F33")
def test_a_compute_tile_has_one_pool_for_all_channels() -> None:
    pool = BdPool(COMPUTE)
    pool.take(0, 10, "S2MM 0")
    text = refused(lambda: pool.take(1, 7, "MM2S 1"))[0]
    assert (
        "the work needs 7 more BDs, but only 6 of BDs 0..15 are free (AM020: 16 BDs for all channels)"
    ) in text
    assert text.endswith(" Of these, S2MM 0 has 10.")


def test_a_failed_start_takes_nothing() -> None:
    tile = MemoryTile()
    refused(lambda: tile.s2mm[0].start(*chain(25)))
    tile.s2mm[0].start(*chain(24))
    assert tile.bd_pool.free(0) == 0


def test_a_lock_that_is_taken_has_a_name() -> None:
    tile = MemoryTile()
    tile.lock(1, "ping.free", id=5)
    assert refused(lambda: tile.lock(id=5)) == [
        "memory tile: lock 5 is taken: it is ping.free (AM020: 64 locks per memory tile, 16 per "
        "compute and interface tile). 63 of 64 locks are free."
    ]
    assert refused(lambda: tile.lock(id=64))[0].startswith(
        "memory tile: the number of the lock is 64, allowed are 0..63 ("
    )


def test_when_all_locks_are_taken_the_first_are_named() -> None:
    tile = MemoryTile()
    for n in range(64):
        tile.lock(0, f"l{n}")
    assert refused(tile.lock)[0].endswith(
        "all 64 locks are taken: l0, l1, l2, l3, l4, l5, l6, l7 and 56 more (AM020: 64 locks per "
        "memory tile, 16 per compute and interface tile). Several channels can share a lock."
    )


# protocols --------------------


def test_everything_that_cannot_be_guarded_is_told_at_once() -> None:
    tile = MemoryTile()
    buffer, lock = tile.buffer("b", 64), tile.lock(1, "mine")
    guarded = tile.write(buffer).guarded(lock.acquire())
    runs = Transfer(tile.read(buffer).descriptors, runs=3)
    assert refused(lambda: hand_over(tile, "q", [guarded], [runs, tile.read(buffer)])) == [
        "protocol q: the channels have 1 and 2 transfers; each side needs at least one channel, and "
        "each channel one transfer for each buffer (every ring goes over all buffers).",
        "protocol q: transfer 0 has guards of its own; it must have none (AM025 DMA_BDn_7: one acquire "
        "and one release per BD).",
        "protocol q: transfer 1 has 3 runs; it must have one (AM025 DMA_BDn_7: one acquire and one "
        "release per BD). Lower it without iteration.",
    ]
    assert (
        "the channels have 1 transfers; each side needs at least one channel, and each channel one "
        "transfer for each buffer"
    ) in refused(lambda: one_writer(tile, "q", [runs], []))[0]


def test_one_channel_per_ring() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", 64)
    ring = hand_over(tile, "q", [tile.write(buffer)], [tile.read(buffer)])
    assert refused(lambda: ring.start(tile.s2mm[:1], tile.mm2s[:2])) == [
        "protocol: there are 2 readers; there must be 1 (one for each ring)."
    ]
    assert tile.bd_pool.free(0) == 24


def test_a_queue_deeper_than_a_lock_counts_is_refused() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", 64)
    writes, reads = [tile.write(buffer)] * 64, [tile.read(buffer)] * 64
    assert (
        "initial is 64, allowed are 0..63 (AM020: six-bit lock state)."
        in refused(lambda: hand_over(tile, "q", writes, reads))[0]
    )


# placement --------------------


def test_buffers_that_do_not_fit_are_all_named_with_what_is_missing() -> None:
    demands = [Demand("big", 400 * KB, ("S2MM 4",)), Demand("half", 256 * KB, ("MM2S 0",))]
    demands += [Demand("huge", 600 * KB)]
    assert refused(lambda: place_buffers(demands, solver="greedy")) == [
        "placement, buffer half: the buffer has 262144 bytes; the largest gap where it may lie has "
        "114688 (AM020 chapter 5: memory tile memory). 147456 bytes are missing. Its channels reach "
        "the neighbours: allow windows. 2 buffers of 876544 bytes found no room.",
        "placement, buffer huge: the buffer has 614400 bytes; the largest gap where it may lie has "
        "114688 (AM020 chapter 5: memory tile memory). 499712 bytes are missing. A buffer cannot lie "
        "in two tiles. 2 buffers of 876544 bytes found no room.",
    ]


def test_cpsat_says_the_same_of_what_cannot_fit() -> None:
    demands = [Demand(f"b{n}", 200 * KB, ("S2MM 4",)) for n in range(3)]
    (text,) = refused(lambda: place_buffers(demands, solver="cp-sat"))
    assert "buffer b2: the buffer has 204800 bytes; the largest gap where it may lie has 114688" in text
    assert text.endswith(" 90112 bytes are missing.")


def test_all_that_contradicts_the_tile_is_told_at_once() -> None:
    demands = [
        Demand("a", 7, at=0),
        Demand("b", 64, at=0x18),
        Demand("c", 64, ("S2MM 4", "MM2S 0", "MM2S 5"), window="west"),
        Demand("d", 64, ("S2MM 6",)),
        Demand("e", 64, at=0x20, bank=16),
        Demand("f", 64, at=0x7FFF0),
        Demand("f", 64, window="north"),
    ]
    assert refused(lambda: place_buffers(demands, windows=("own", "west"))) == [
        "placement, buffer f: 2 buffers have this name; there must be one (names tell buffers apart).",
        "placement, buffer a: size is 7 bytes; it must be a positive number of whole 32-bit words "
        "(AM020 chapter 5: memory tile memory).",
        "placement, buffer b: at is 0x18; it must be a multiple of 0x10 (AM020 chapter 5: 128-bit "
        "memory access).",
        "placement, buffer c: window is west, but S2MM 4, MM2S 5 reach the own window only (AM020 "
        "chapter 5: channels 0-3 reach the neighbours).",
        (
            "placement, buffer e: both at and bank say where the buffer is (at alone says where it "
            "is). Leave out bank."
        ),
        "placement, buffer e: bank is 16, allowed are 0..15 (AM020 chapter 5: memory tile memory).",
        "placement, buffer f: the buffer takes bytes 0x7fff0..0x8002f, allowed are 0x0..0x7ffff (AM020 "
        "chapter 5: memory tile memory).",
        "placement, buffer f: window is north; it must be own or west (AM020 chapter 5: west, own and "
        "east memory).",
        "placement, buffer e: bytes 0x20..0x5f overlap b, which takes 0x18..0x57 (AM020 chapter 5: "
        "memory tile memory).",
        "placement: the tile has no channel S2MM 6; it has S2MM 0..5 and MM2S 0..5 (AM020: DMA channels).",
    ]


def test_windows_groups_and_solvers_have_names() -> None:
    one = [Demand("a", 64)]
    assert refused(lambda: place_buffers(one, [{"MM2S 9"}], windows=("own", "up"))) == [
        "placement: one of the windows is up; it must be west or own or east (AM020 chapter 5: west, "
        "own and east memory).",
        "placement: the tile has no channel MM2S 9; it has S2MM 0..5 and MM2S 0..5 (AM020: DMA channels).",
    ]
    assert refused(lambda: place_buffers(one, solver="best")) == [  # type: ignore[arg-type]
        "placement: solver is 'best'; it must be auto or cp-sat or greedy (OR-tools CP-SAT)."
    ]


def test_cpsat_without_ortools_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtile.design.placement.installed", lambda: False)
    assert refused(lambda: place_buffers([Demand("a", 64)], solver="cp-sat")) == [
        "placement: solver is 'cp-sat'; it must be auto or greedy (OR-tools CP-SAT). OR-tools is not "
        'installed: pip install "ortools".'
    ]
    assert place_buffers([Demand("a", 64)]).solver == "greedy"


def test_memory_in_pieces_says_how_large_the_largest_is() -> None:
    tile = MemoryTile()
    tile.buffer("middle", 64 * KB, at=128 * KB)
    text = refused(lambda: tile.buffer("more", 40 * KB, np.int64))[0]
    assert text.endswith("262144 bytes are free, at most 131072 of them in one piece.")


def test_a_buffer_whose_data_does_not_fit_leaves_its_name_and_its_bytes_free() -> None:
    tile = MemoryTile()
    assert "the data has shape (3,)" in refused(lambda: tile.buffer("frame", 8, data=range(3)))[0]
    assert tile.buffers == ()
    assert tile.buffer("frame", 8, data=range(8)).offset == 0


def test_descriptors_of_tasks_that_have_ended_are_used_again() -> None:
    tile = MemoryTile()
    frame = tile.buffer("frame", 8, data=range(8))
    for _ in range(60):
        tile.mm2s[0].collect(np.int32)
        tile.mm2s[0].start(tile.read(frame))
        result = tile.run()
    assert result.outputs["MM2S 0"].tolist() == [*range(8)] * 60


def test_descriptors_of_an_untimed_run_are_used_again() -> None:
    tile = MemoryTile()
    tile.s2mm[2].start(*chain(23))
    tile.s2mm[2].feed(np.zeros(23 * 8, np.int32))
    tile.run(untimed=True)
    assert len(tile.mm2s[0].start(*chain(24))) == 24


def test_descriptors_that_somebody_still_reads_are_not_used_again() -> None:
    tile = MemoryTile()
    tile.s2mm[0].start(*chain(4), loop=True)
    tile.s2mm[2].start_out_of_order(*chain(4), packets=1)
    tile.s2mm[4].start(*chain(4))
    tile.s2mm[4].feed(np.zeros(16, np.int32))  # half of it
    tile.mm2s[0].start(*chain(6))
    tile.mm2s[2].collect()
    tile.mm2s[2].start(*chain(6))
    tile.run()
    (text,) = refused(lambda: tile.mm2s[2].start(*chain(7)))
    assert "S2MM 0 has 4, S2MM 2 has 4, S2MM 4 has 4, MM2S 0 has 6" in text
    assert len(tile.mm2s[2].start(*chain(6))) == 6


def test_a_step_does_not_use_its_own_descriptors_again() -> None:
    tile = MemoryTile()

    def step() -> None:
        with tile.bench.all_or_nothing():
            tile.s2mm[0].start(*chain(20))
            tile.s2mm[2].start(*chain(20))

    assert "S2MM 0 has 20" in refused(step)[0]
    assert tile.bd_pool.free(0) == 24


# compute tile --------------------


def worker() -> ComputeTile:
    return Array(columns=1).compute_tile(0, 2)


@pytest.mark.feature("F30")
def test_stack_and_heap_take_a_kilobyte_each_and_buffers_go_around_them() -> None:
    tile = worker()
    assert [(b.name, b.nbytes, b.offset) for b in tile.reserved] == [("stack", KB, 0), ("heap", KB, KB)]
    assert tile.buffer("before", 4).offset == 2 * KB
    tile.reserve(heap_at=4 * KB)
    first, second = tile.buffer("first", 256), tile.buffer("second", 768)
    assert [(b.name, b.offset) for b in tile.reserved] == [("heap", 4 * KB), ("stack", 0)]
    assert (first.offset, second.offset) == (KB, 5 * KB)


@pytest.mark.feature("F30")
def test_a_heap_larger_than_the_given_one_is_an_error() -> None:
    tile = worker()
    assert refused(lambda: tile.reserve(heap=1024, heap_computed=1025)) == [
        "compute tile (0,2): the code needs a heap of 1025 bytes; the heap given has 1024 (UG1603: AI "
        "Engine data memory). Give a heap of 1025 bytes, or none."
    ]
    tile.reserve(heap=2048, heap_computed=1028)
    assert tile.reserved[1].nbytes == 2048


@pytest.mark.feature("F30")
@pytest.mark.parametrize(("computed", "heap"), [(None, 1024), (512, 1024), (4096, 4096)])
def test_without_a_given_heap_the_computed_one_counts(computed: int | None, heap: int) -> None:
    tile = worker()
    tile.reserve(heap_computed=computed)
    assert [b.nbytes for b in tile.reserved] == [1024, heap]


@pytest.mark.feature("F30")
def test_stack_and_heap_are_part_of_the_64_kilobytes() -> None:
    tile = worker()
    assert refused(lambda: tile.buffer("all", (128, 128))) == [
        "compute tile (0,2), buffer all: the buffer takes bytes 0x800..0x107ff, allowed are "
        "0x0..0xffff (UG1603: data memory of the AI Engine). 63488 bytes are free."
    ]
    tile.buffer("rest", 62 * KB // 4)
    assert "Buffer(stack: 1024 uint8" in refused(lambda: tile.buffer("over", 4, at=1020))[0]
    assert ("buffer heap: the buffer takes bytes 0x10000..0x103ff") in refused(
        lambda: tile.reserve(stack=2048)
    )[0]
    assert [b.nbytes for b in tile.reserved] == [KB, KB]


def test_a_program_without_stack_and_heap_leaves_all_to_the_buffers() -> None:
    tile = worker()
    tile.reserve(stack=0, heap=0)
    assert (tile.reserved, tile.buffer("all", (128, 128)).offset) == ((), 0)


def test_sizes_of_stack_and_heap_are_told_together() -> None:
    assert refused(lambda: worker().reserve(stack=-1, heap=-4, heap_computed=8)) == [
        (
            "compute tile (0,2): the stack is -1 bytes; it must be 0 bytes or more (UG1603: AI Engine "
            "data memory)."
        ),
        (
            "compute tile (0,2): the heap is -4 bytes; it must be 0 bytes or more (UG1603: AI Engine "
            "data memory)."
        ),
        "compute tile (0,2): the code needs a heap of 8 bytes; the heap given has -4 (UG1603: AI "
        "Engine data memory). Give a heap of 8 bytes, or none.",
    ]


def test_a_kernel_is_a_function() -> None:
    assert refused(lambda: worker().run_kernel(None)) == [  # type: ignore[arg-type]
        "compute tile (0,2): kernel is None; it must be a generator function (kernels are Python). "
        "Write one such as def kernel(core): yield core.cycles(8)."
    ]


# names, shapes, places --------------------


def test_a_name_stands_for_one_thing() -> None:
    tile = MemoryTile()
    tile.buffer("frame", 4)
    tile.lock(0, "full")
    assert refused(lambda: tile.buffer("frame", 8)) == [
        "memory tile, buffer frame: Buffer(frame: 4 int32, 16 bytes at 0x0) has the name 'frame' "
        "already (results are found by name). Give this one a name of its own."
    ]
    assert refused(lambda: tile.lock(0, "full")) == [
        "memory tile, lock full: lock 0 has the name 'full' already (results are found by name). Give "
        "this one a name of its own."
    ]
    tile.lock()
    tile.lock(0, "lock1")  # that the other one is called so is nobody's choice
    array = Array(columns=1)
    ends = array.compute_tile(0, 2), array.compute_tile(0, 3)
    array.object_fifo("a", *ends, shape=8)
    back = tuple(reversed(ends))
    assert refused(lambda: array.object_fifo("a", *back, shape=8)) == [
        "object FIFO a: another object FIFO has the name 'a' already "
        "(object FIFO: buffers and two counting locks per end)."
    ]
    array.object_fifo("b", *back, shape=8)


@pytest.mark.parametrize("shape", [-3, 0, (4, 0), 3.0, (2.5,), (), "4"])
def test_shapes_are_whole_numbers_of_one_or_more(shape: int) -> None:
    assert refused(lambda: MemoryTile().buffer("x", shape)) == [
        f"memory tile, buffer x: shape is {shape!r}; it must be whole numbers of 1 or more (NumPy "
        "shapes). Give one such as (8, 8)."
    ]


@pytest.mark.parametrize("dtype", ["int33", object, "U4", "S4", "datetime64[s]", [("a", object)]])
def test_memory_holds_numbers(dtype: type) -> None:
    assert "it must be a NumPy type of numbers" in refused(lambda: MemoryTile().buffer("x", 4, dtype))[0]


def test_a_place_is_a_byte_or_a_bank() -> None:
    tile = MemoryTile(interleaved=False)
    assert refused(lambda: tile.buffer("x", 4, at=0, bank=1)) == [
        "memory tile, buffer x: both at=0 and bank=1 say where the buffer is (AM020 chapter 5: memory "
        "tile memory). Leave out bank: at alone says where the buffer is."
    ]
    assert "a whole number" in refused(lambda: tile.buffer("x", 4, at=3.0))[0]  # type: ignore[arg-type]


def test_a_lock_is_given_its_value_first() -> None:
    assert refused(lambda: MemoryTile().lock("full")) == [  # type: ignore[arg-type]
        "memory tile, lock: initial is 'full'; it must be a whole number (AM020). Say name='full'."
    ]


def test_types_of_machine_learning_are_those_of_ml_dtypes() -> None:
    tile = MemoryTile()
    data = np.arange(8).astype(ml_dtypes.bfloat16)
    buffer = tile.buffer("weights", 8, "bfloat16", data=data)
    assert (buffer.dtype, buffer.words) == (data.dtype, 4)
    tile.mm2s[0].start(tile.read(buffer, view(8, "bfloat16")[4:]))
    tile.mm2s[0].expect(data[4:])
    assert tile.run().good
    assert tile.load(buffer).tolist() == data.tolist()
    assert tile.buffer("small", 8, "float8_e4m3fn").nbytes == 8


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("int4", "NumPy has none of 4 bits: give np.uint8 for 2 of them."),
        ("cint16", "Give np.int16 with a last axis of 2."),
        ("float8", "Give a type of ml_dtypes such as float8_e4m3fn, or np.uint8 and look at it with .view."),
        ("cbfloat16", "Give np.uint32 and look at it with .view."),
        ("nope", "Give one such as np.int32."),
    ],
)
def test_types_that_no_array_has_say_what_to_do(name: str, step: str) -> None:
    assert refused(lambda: MemoryTile().buffer("x", 8, name))[0] == (
        f"memory tile, buffer x: dtype is {name!r}; it must be a NumPy type of numbers (NumPy). {step}"
    )
