"""Is the repair of a race the one that was forgotten, and never one that is so already?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from memtile import Array, Host, HostAction, MemoryTile, check_design, view
from memtile.design.locks import Lock
from memtile.design.object_fifo import ObjectFifo
from memtile.explain.findings import Finding, Severity
from memtile.kernels import Action, Core, Kernel
from memtile.runs.observing import in_order_of_causes
from support.designs.severe import severe
from support.mlir.mlir_designs import device, loaded

WORDS, ROUNDS = 64, 4


def first(design: Array | MemoryTile) -> Finding:
    """The first finding of a checked run."""
    finding: Finding = severe(design.run(100_000, check=True).findings)[0]
    return finding


def overwritten_input(*, waits: bool = False) -> Array:
    """The host starts a task that writes an array while the one before may still read it."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    array.connect(door.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], door.s2mm[0])
    tile.s2mm[0].start(tile.write(tile.buffer("came", WORDS)))
    tile.mm2s[0].start(tile.read(tile.buffer("given", WORDS, data=np.ones(WORDS))))
    outside = array.external("outside", np.ones(WORDS, np.int32))

    def sequence(host: Host) -> Iterator[HostAction]:
        reads = host.start(door.mm2s[0], door.read(outside))
        yield reads
        if waits:
            yield host.wait(reads)
        yield host.start(door.s2mm[0], door.write(outside))
        yield host.wait()

    array.host(sequence)
    return array


def test_of_two_tasks_of_a_host_the_second_waits_for_the_first() -> None:
    reads, writes = "interface(0,0) MM2S 0, BD 0", "interface(0,0) S2MM 0, BD 1"
    finding = first(overwritten_input())
    assert finding.message.startswith(f"{writes} writes words 0 to 63 of external buffer 'outside'")
    assert finding.fix == f"Have the host wait for the end of {reads} before it starts {writes}."
    assert len({side.place.rpartition(":")[2] for side in finding.sides}) == 2  # lines of the sequence
    assert overwritten_input(waits=True).run(check=True).good


def test_a_race_comes_before_ends_of_a_stream_that_count_differently() -> None:
    ends, circle, race = (Finding(code, Severity.ERROR, "", ()) for code in ("MT0304", "MT0301", "MT0201"))
    assert in_order_of_causes([ends], [race]) == [race, ends]
    assert in_order_of_causes([ends, circle], [race]) == [ends, circle, race]
    note = replace(race, severity=Severity.NOTE)
    assert in_order_of_causes([ends], [note]) == [ends, note]


def test_a_writer_of_what_it_was_sent_does_not_come_before_the_reader() -> None:
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    line = tile.buffer("line", 2 * WORDS, data=np.arange(2 * WORDS))
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.mm2s[0].start(tile.read(line, view(2 * WORDS)[:WORDS]))
    tile.s2mm[0].start(tile.write(line, view(2 * WORDS)[WORDS // 2 :][:WORDS]))
    reads, writes = "memory(0,1) MM2S 0, BD 0", "memory(0,1) S2MM 0, BD 1"
    finding = first(array)
    assert finding.message.startswith(f"{writes} writes words 32 to 63 of buffer 'line' and does not wait")
    assert finding.fix == f"Let {writes} write another buffer, or words that {reads} has read before."


def joined(units: int) -> Array:
    """Three cores fill a part each, and the reader of all waits for so many of them."""
    array = Array("npu1", columns=1)
    tile, door = array.memory_tile(0), array.interface_tile(0)
    block, full = tile.buffer("block", (3, 32)), tile.lock(0, "full")
    for number in range(3):
        core = array.compute_tile(0, 2 + number)
        part, done = core.buffer("part", 32, data=np.full(32, number)), core.lock(0, "done")
        array.connect(core.mm2s[0], tile.s2mm[number])
        core.mm2s[0].start(core.read(part).guarded(done.acquire()))
        tile.s2mm[number].start(tile.write(block, view((3, 32))[number]).guarded(None, full.release()))

        def late(core: Core, n: int = number, done: Lock = done) -> Iterator[Action]:
            yield core.cycles(50 * n + 5)
            yield core.release(done)

        core.run_kernel(late)
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire(units)))
    array.connect(tile.mm2s[0], door.s2mm[0])
    door.s2mm[0].start(door.write(array.external("all", np.zeros(96, np.int32))))
    return array


def test_who_waits_for_two_of_three_writers_is_told_how_many_release() -> None:
    finding = first(joined(2))
    who = "memory(0,1) S2MM 0, memory(0,1) S2MM 1 and memory(0,1) S2MM 2"
    assert f"acquire 3 of lock 0 'full' of tile (0, 1), which {who} release." in finding.fix
    assert joined(3).run(check=True).good


def written_by_cores(units: int) -> Array:
    """Two neighbours fill a half each, and the channel that sends both waits for so many of them."""
    array = Array("npu1", columns=1)
    tile, door = array.compute_tile(0, 3), array.interface_tile(0)
    block, full = tile.buffer("block", (2, 32)), tile.lock(0, "full")

    def writes(part: int) -> Kernel:
        def half(core: Core) -> Iterator[Action]:
            yield core.cycles(50 * part + 5)
            core.view(block)[part] = part
            yield core.release(full)

        return half

    for part, row in enumerate((2, 4)):
        array.compute_tile(0, row).run_kernel(writes(part))
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire(units)))
    array.connect(tile.mm2s[0], door.s2mm[0])
    door.s2mm[0].start(door.write(array.external("all", np.zeros(64, np.int32))))
    return array


def test_who_waits_for_one_of_two_cores_is_told_that_both_release() -> None:
    who = "core (0, 2) (kernel 'half') and core (0, 4) (kernel 'half')"
    assert (
        f"acquire 2 of lock 0 'full' of tile (0, 3), which {who} release." in first(written_by_cores(1)).fix
    )
    assert written_by_cores(2).run(check=True).good


def shared_block(units: int) -> Array:
    """Two channels read one buffer, of which the writer waits for so many."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    block, free, full = tile.buffer("block", WORDS), tile.lock(units, "free"), tile.lock(0, "full")
    write = tile.write(block).guarded(free.acquire(units), full.release(2))
    tile.s2mm[0].start(write, repeat=ROUNDS)
    array.connect(door.mm2s[0], tile.s2mm[0])
    door.mm2s[0].start(door.read(array.external("there", np.arange(WORDS * ROUNDS, dtype=np.int32))))
    for number in range(2):
        core = array.compute_tile(0, 2 + number)
        taken, came, room = core.buffer("taken", WORDS), core.lock(0, "came"), core.lock(1, "room")
        array.connect(tile.mm2s[number], core.s2mm[0])
        tile.mm2s[number].start(tile.read(block).guarded(full.acquire(), free.release()), repeat=ROUNDS)
        core.s2mm[0].start(core.write(taken).guarded(room.acquire(), came.release()), loop=True)

        def serve(core: Core, n: int = number, came: Lock = came, room: Lock = room) -> Iterator[Action]:
            for _ in range(ROUNDS):
                yield core.acquire(came)
                yield core.cycles(20 + 300 * n)
                yield core.release(room)

        core.run_kernel(serve)
    return array


def test_a_writer_with_two_readers_waits_for_both() -> None:
    fix = first(shared_block(1)).fix
    assert "Let memory(0,1) S2MM 0, BD 0 acquire 2 of lock 0 'free' of tile (0, 1)" in fix
    assert fix.endswith("memory(0,1) MM2S 0 and memory(0,1) MM2S 1 release, and initialise it to 2.")
    assert shared_block(2).run(check=True).good


def through_a_core(make: Callable[[ObjectFifo, ObjectFifo], Kernel]) -> Array:
    """A core passes objects on."""
    array = Array("npu1", columns=1)
    door, core = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, core, shape=WORDS)
    go = array.object_fifo("go", core, door, shape=WORDS)
    core.run_kernel(make(come, go))
    door.mm2s[0].start(door.read(array.external("there", np.arange(WORDS * ROUNDS, dtype=np.int32))))
    door.s2mm[0].start(door.write(array.external("back", np.zeros(WORDS * ROUNDS, np.int32))))
    return array


def pass_on(read: int = 0, write: int = 1, units: int = 1) -> Callable[[ObjectFifo, ObjectFifo], Kernel]:
    """Read buffer n + ``read``, write buffer n * ``write``, give the input back ``units`` times."""

    def make(come: ObjectFifo, go: ObjectFifo) -> Kernel:
        given, made = come.consumers[0], go.producer

        def kernel(core: Core) -> Iterator[Action]:
            for n in range(ROUNDS):
                yield core.acquire(given.full)
                yield core.acquire(made.free)
                yield core.cycles(200)
                core.write(made.buffer(n * write), core.read(given.buffer(n + read)))
                yield core.release(given.free, units)
                yield core.release(made.full)

        return kernel

    return make


def test_a_core_that_reads_the_other_buffer_is_not_told_to_acquire_more() -> None:
    finding = first(through_a_core(pass_on(read=1)))
    assert "reads words 0 to 63 of buffer 'come.1'" in finding.message
    turn = "acquire lock 1 'come.full' of tile (0, 2) before each read"
    room = "release lock 0 'come.free' of tile (0, 2) only after the last read"
    assert f"{turn} and {room}, and read the buffer that is full then." in finding.fix
    assert through_a_core(pass_on()).run(check=True).good


def test_a_core_that_writes_one_buffer_again_and_again() -> None:
    finding = first(through_a_core(pass_on(write=0)))
    assert "writes words 0 to 63 of buffer 'go.0'" in finding.message
    assert finding.fix.endswith("only after the last write, and write the buffer that is free then.")


def test_a_core_that_gives_back_more_than_it_took() -> None:
    finding = first(through_a_core(pass_on(units=2)))
    assert finding.code == "MT0204"
    assert "S2MM 0 'come'" in finding.message
    assert "release lock 0 'come.free' of tile (0, 2) once for each buffer that it acquires" in finding.fix


def test_a_core_that_gives_back_more_than_it_took_reads_no_old_words() -> None:
    """The writer comes round before the core has read; that is no wrong order of buffers."""
    array = Array("npu1", columns=1)
    door, core = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, core, shape=WORDS).consumers[0]

    def kernel(core: Core) -> Iterator[Action]:
        for n in range(ROUNDS):
            yield core.acquire(come.full)
            yield core.cycles(200)
            core.read(come.buffer(n))
            yield core.cycles(10)
            yield core.release(come.free, 2)

    core.run_kernel(kernel)
    door.mm2s[0].start(door.read(array.external("there", np.arange(WORDS * ROUNDS, dtype=np.int32))))
    finding = first(array)
    assert finding.code == "MT0204"
    assert "S2MM 0 'come', BD 1 writes words 0 to 63 of buffer 'come.1' and does not wait" in finding.message
    assert finding.fix.endswith("at the end the lock has 3 more than at the start.")


@pytest.mark.parametrize("columns", [1, 2])
def test_two_writers_are_told_to_write_words_of_their_own(columns: int) -> None:
    array = Array("npu1", columns=columns)
    out = array.external("out", np.zeros(2 * WORDS, np.int32))
    for number in range(2):
        column = number % columns
        tile, door = array.memory_tile(column), array.interface_tile(column)
        array.connect(tile.mm2s[number], door.s2mm[number])
        tile.mm2s[number].start(tile.read(tile.buffer(f"part{number}", WORDS, data=np.ones(WORDS))))
        door.s2mm[number].start(door.write(out, view(2 * WORDS)[56 * number :][:WORDS]))
    finding = first(array)
    assert finding.code == "MT0202"
    host = "or have the host wait for the end of one before it starts the other."
    assert finding.fix.startswith("Let each write words of its own, or ")
    assert finding.fix.endswith(host) == (columns == 2)


def test_a_cascade_value_that_is_put_too_early() -> None:
    array = Array("npu1", columns=1)
    above, below = array.compute_tile(0, 3), array.compute_tile(0, 2)
    block = above.buffer("block", 8)
    above.cascade_to(below)

    def writer(core: Core) -> Iterator[Action]:
        yield core.put_cascade(np.zeros(16, np.int32))
        core.write(block, np.arange(8))

    def reader(core: Core) -> Iterator[Action]:
        yield core.get_cascade()
        core.read(block)
        yield core.cycles(1)

    above.run_kernel(writer)
    below.run_kernel(reader)
    assert first(array).fix.endswith("put its value on the cascade only after its write.")


def test_who_reads_what_nobody_writes_is_named_with_who_writes_what_nobody_reads() -> None:
    tile = MemoryTile()
    block, other, full = tile.buffer("block", 16), tile.buffer("other", 16), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(block).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(other).guarded(full.acquire()))
    tile.s2mm[0].feed(np.arange(16))
    tile.mm2s[0].collect()
    fix = first(tile).fix
    assert fix == "Let both use the same buffer; one of these two has the wrong one."


def test_a_core_that_adds_to_what_nobody_wrote() -> None:
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    total = tile.buffer("total", 8)

    def kernel(core: Core) -> Iterator[Action]:
        core.write(total, core.read(total) + 1)
        yield core.cycles(1)

    tile.run_kernel(kernel)
    assert first(array).fix.startswith("Let the core write them before it reads them, give the buffer data")


@pytest.mark.parametrize("shared", [False, True])
def test_two_pairs_of_channels_that_count_by_one_lock_get_one_of_their_own(shared: bool) -> None:
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    full = [tile.lock(0, f"full {n}") for n in (0, 1)]
    for n in (0, 1):
        array.connect(door.mm2s[n], tile.s2mm[n])
        array.connect(tile.mm2s[n], door.s2mm[n])
        box, free, data = tile.buffer(f"box {n}", 16), tile.lock(1, f"free {n}"), full[0 if shared else n]
        tile.s2mm[n].start(tile.write(box).guarded(free.acquire(), data.release()), loop=True)
        tile.mm2s[n].start(tile.read(box).guarded(data.acquire(), free.release()), loop=True)
        door.s2mm[n].start(door.write(array.external(f"out {n}", np.zeros(32, np.int32))))

    def sequence(host: Host) -> Iterator[HostAction]:
        for n in (0, 1):
            yield host.pause(200)
            yield host.start(door.mm2s[n], door.read(array.external(f"in {n}", np.ones(32, np.int32))))

    array.host(sequence)
    found = [each.fix for each in array.run(check=True).findings if each.code == "MT0201"]
    assert all("a lock of their own: lock 0 'full 0' of tile (0, 1) counts" in fix for fix in found)
    assert bool(found) == shared


@pytest.mark.parametrize("room", [1, 2])
def test_cores_that_share_one_buffer_have_room_for_one(room: int) -> None:
    array = Array("npu1", columns=1)
    low, high = array.compute_tile(0, 2), array.compute_tile(0, 3)
    hand, free, full = high.buffer("hand", 8), high.lock(room, "free"), high.lock(0, "full")

    def gives(core: Core) -> Iterator[Action]:
        for turn in range(3):
            yield core.acquire(free)
            core.write(hand, [turn] * 8)
            yield core.release(full)

    def takes(core: Core) -> Iterator[Action]:
        for _ in range(3):
            yield core.acquire(full)
            core.read(hand)
            yield core.release(free)

    low.run_kernel(gives)
    high.run_kernel(takes)
    if room == 1:
        assert array.run(check=True).good
        return
    says = (
        "If lock 0 'free' of tile (0, 3) counts one buffer alone, initialise it to 1 instead of 2; else let "
    )
    assert first(array).fix.startswith(says)


_BESIDE = """
%table = aie.buffer(%c) {{sym_name = "table"}} : memref<8xi32>
aie.objectfifo @of(%c, {{%d}}, 2 : i32) : !aie.objectfifo<memref<8xi32>>
{cores}
"""
_CORE = """
aie.core(%{tile}) {{
  %z = arith.constant 0 : index
  %st = arith.constant 1 : index
  %n = arith.constant 4 : index
  %v = arith.constant 7 : i32
  scf.for %i = %z to %n step %st {{
    %o = aie.objectfifo.acquire @of({port}, 1) : !aie.objectfifosubview<memref<8xi32>>
    {use}
    aie.objectfifo.release @of({port}, 1)
  }}
  aie.end
}}
"""


def test_words_beside_an_object_fifo_are_not_ordered_by_its_locks() -> None:
    uses = (
        ("c", "Produce", "memref.store %v, %table[%z] : memref<8xi32>"),
        ("d", "Consume", "%w = memref.load %table[%z] : memref<8xi32>"),
    )
    cores = "".join(_CORE.format(tile=tile, port=port, use=use) for tile, port, use in uses)
    (finding,) = loaded(device(_BESIDE.format(cores=cores))).run(check=True).result.findings
    assert finding.fix.startswith(
        "Pass them through an object FIFO, or guard them by locks of their own: @of "
    )
    assert finding.fix.endswith("be 2 objects ahead.")


def halves(begin: int, other: int = WORDS) -> Array:
    """Two channels write the halves of two buffers, the upper ones at other words than they should."""
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    kept = [shared.buffer(name, 2 * WORDS) for name in ("one", "two")]
    reads, half = [], view(2 * WORDS)
    for side in range(2):
        free, full = shared.lock(2, f"free {side}"), shared.lock(0, f"full {side}")
        begins = [side * WORDS, side * WORDS]
        reads.append(
            [
                shared.read(b, half[n : n + WORDS]).guarded(full.acquire(), free.release())
                for b, n in zip(kept, begins, strict=True)
            ]
        )
        begins = [begin, other] if side else [0, 0]
        writes = [
            shared.write(b, half[n : n + WORDS]).guarded(free.acquire(), full.release())
            for b, n in zip(kept, begins, strict=True)
        ]
        shared.s2mm[side].start(*writes, loop=True)
        array.connect(door.mm2s[side], shared.s2mm[side])
        door.mm2s[side].start(door.read(array.external(f"in {side}", np.ones(ROUNDS * WORDS, np.int32))))
    shared.mm2s[0].start(*(each for pair in zip(*reads, strict=True) for each in pair), loop=True)
    array.connect(shared.mm2s[0], door.s2mm[0])
    door.s2mm[0].start(door.write(array.external("out", np.zeros(2 * ROUNDS * WORDS, np.int32))))
    return array


def test_a_half_that_is_written_in_the_place_of_the_other_one_has_its_begin_named() -> None:
    """No lock is missing: with each half in its place nothing is without an order."""
    finding, *rest = severe(halves(0).run(100_000, check=True).findings)
    who = "memory(0,1) S2MM 1"
    assert (finding.code, finding.sides[0].who, finding.severity, rest) == ("MT0209", who, Severity.ERROR, [])
    assert f"writes words 0 to {WORDS - 1} of buffer 'one'" in finding.message
    assert finding.fix.endswith(f"of {who} begin at word {WORDS} of buffer 'one'.")
    assert halves(WORDS).run(100_000, check=True).good


def test_both_halves_that_a_channel_writes_in_the_place_of_others_are_no_missing_lock() -> None:
    """Of a reader's descriptors the one that waits for the same lock tells which of them is meant."""
    first = severe(halves(0, 0).run(100_000, check=True).findings)[0]
    assert (first.code, first.sides[0].who) == ("MT0209", "memory(0,1) S2MM 1")
    assert first.fix.endswith(f"begin at word {WORDS} of buffer 'one'.")


def test_a_check_names_the_begin_of_a_half_in_the_place_of_the_other_one() -> None:
    (finding,) = [each for each in check_design(lambda: halves(0)).findings if each.code == "MT0137"]
    assert f"begin at word {WORDS} of buffer 'one', or use another lock" in finding.fix
    assert not check_design(lambda: halves(WORDS)).findings


def test_a_reader_that_waits_for_the_other_lock_is_not_at_the_wrong_words() -> None:
    """What it reads is written later: its lock is the wrong one, not the words of a writer."""
    tile = MemoryTile("npu1")
    fulls = [tile.lock(0, name) for name in ("full a", "full b")]
    for n in (0, 1):
        block = tile.buffer("ab"[n], WORDS)
        tile.s2mm[n].start(tile.write(block).guarded(None, fulls[n].release()))
        tile.s2mm[n].feed(np.ones(WORDS, np.int32), pattern=[1, 0, 0] if n else [1])
        tile.mm2s[n].start(tile.read(block).guarded(fulls[1 - n].acquire()))
        tile.mm2s[n].collect()
    assert {each.code for each in severe(tile.run(100_000, check=True).findings)} == {"MT0201"}


def copies(writes: Sequence[int], reads: Sequence[int], readers: int = 1) -> list[Finding]:
    """The findings of two streams that go through buffers a, b and c of one tile, each with its own locks.

    Args:
        writes: of each stream the buffer that each receives into.
        reads: the one that each sends from.
        readers: channels that send the second stream.
    """
    tile = MemoryTile("npu1")
    blocks = [tile.buffer(name, WORDS) for name in "abc"]
    for n, senders in enumerate([tile.mm2s[:1], tile.mm2s[1 : 1 + readers]]):
        free, full = tile.lock(len(senders), f"free {n}"), tile.lock(0, f"full {n}")
        taken = tile.write(blocks[writes[n]]).guarded(free.acquire(len(senders)), full.release(len(senders)))
        tile.s2mm[n].start(taken, repeat=3)
        tile.s2mm[n].feed(np.ones(3 * WORDS, np.int32), pattern=[1] if n else [1, 0, 0])
        for channel in senders:
            channel.start(tile.read(blocks[reads[n]]).guarded(full.acquire(), free.release()), repeat=3)
            channel.collect()
    return [*tile.run(100_000, check=True).findings]


@pytest.mark.parametrize(("other", "readers"), [(1, 1), (2, 1), (1, 2)])
def test_a_writer_in_the_buffer_of_another_stream_is_named_once_and_without_its_races(
    other: int, readers: int
) -> None:
    """All that two streams do to one buffer without an order comes of it."""
    (finding,) = copies((0, 0), (0, other), readers)
    assert (finding.code, finding.severity, finding.sides[0].who) == ("MT0209", Severity.ERROR, "S2MM 1")
    assert finding.fix.endswith(f"use buffer '{'abc'[other]}'.")
    assert finding.count > 0
    assert not copies((0, other), (0, other), readers)


def test_a_buffer_that_a_core_may_write_lacks_no_descriptor() -> None:
    """A channel that sends what the core makes of all blocks takes the lock of the next block."""
    array = Array("npu1", columns=1)
    tile, shared = array.compute_tile(0, 2), array.memory_tile(0)
    takes, sums = [tile.buffer(f"takes {n}", WORDS) for n in range(2)], tile.buffer("sums", WORDS)
    free, full, used = tile.lock(2, "free"), tile.lock(0, "full"), tile.lock(0, "used")
    shared.mm2s[0].start(shared.read(shared.buffer("given", WORDS, data=np.arange(WORDS))), repeat=16)
    array.connect(shared.mm2s[0], tile.s2mm[0])
    tile.s2mm[0].start(
        *(tile.write(each).guarded(free.acquire(), full.release()) for each in takes), loop=True
    )
    for n, (blocks, lock) in enumerate([([sums], full), (takes, used)]):
        tile.mm2s[n].start(
            *(tile.read(each).guarded(lock.acquire(), free.release()) for each in blocks), loop=True
        )
        array.connect(tile.mm2s[n], shared.s2mm[n])
        shared.s2mm[n].start(shared.write(shared.buffer(f"kept {n}", WORDS)), loop=True)

    def adds(core: Core) -> Kernel:
        for turn in range(16):
            yield core.acquire(full)
            words = core.read(takes[turn % 2])
            yield core.cycles(100)
            yield core.release(used)
        core.write(sums, words)

    tile.run_kernel(adds)
    codes = [each.code for each in array.run(100_000, check=True).findings]
    assert codes[0] == "MT0201"


def test_of_two_writers_that_may_be_in_the_wrong_buffer_none_takes_the_place_of_races() -> None:
    codes = [(each.code, each.severity) for each in copies((0, 0), (1, 1))]
    assert codes == [("MT0202", Severity.ERROR), *[("MT0209", Severity.WARNING)] * 2]
