"""Which accesses of a run does nothing order, and what is said of them?"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile import Array, MemoryTile, view
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.design.host import Host, HostAction
from memtile.errors import DesignError
from memtile.explain.findings import Finding
from memtile.explain.results import Result
from memtile.runs.observing import observing
from memtile.runs.options import RunOptions
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from support.designs.severe import severe

WORDS, ROUNDS = 16, 6


def data(words: int = WORDS * ROUNDS) -> Any:
    return np.arange(words, dtype=np.int32)


def ring(
    free: int = 2, *, acquires: bool = True, order: tuple[int, int] = (0, 1), pattern: Any = None
) -> MemoryTile:
    """A ring of two buffers; ``free`` is what its lock begins with, ``order`` that of the reader."""
    tile = MemoryTile()
    buffers = [tile.buffer(name, WORDS, np.int32) for name in "ab"]
    empty, full = tile.lock(free, "free"), tile.lock(0, "full")
    writes = [tile.write(buffer).guarded(empty.acquire(), full.release()) for buffer in buffers]
    acquire = full.acquire() if acquires else None
    reads = [tile.read(buffers[n]).guarded(acquire, empty.release()) for n in order]
    tile.s2mm[0].start(*writes, repeat=ROUNDS // 2)
    tile.mm2s[0].start(*reads, repeat=ROUNDS // 2)
    tile.s2mm[0].feed(data())
    tile.mm2s[0].collect(np.int32, pattern)
    return tile


def found(design: Any, **given: Any) -> Finding:
    """The one finding of a run."""
    findings = severe(design.run(100_000, check=True, **given).findings)
    assert len(findings) == 1, findings
    finding: Finding = findings[0]
    return finding


def codes(result: Result) -> list[str]:
    return [finding.code for finding in severe(result.findings)]


def test_a_ring_in_order_has_no_finding() -> None:
    assert severe(ring().run(check=True).findings) == ()


@pytest.mark.parametrize("pattern", [None, [0, 0, 0, 0, 1]])
def test_one_empty_too_many_is_found_at_any_speed_of_the_reader(pattern: Any) -> None:
    finding = found(ring(3, pattern=pattern))
    assert finding.code == "MT0204"
    assert {words.memory for words in finding.words} == {"buffer 'a'", "buffer 'b'"}
    assert [(words.first, words.count) for words in finding.words] == [(0, WORDS), (0, WORDS)]
    assert "Initialise lock 0 'free' to 2, the number of buffers: 3 is more" in finding.fix
    assert {side.who for side in finding.sides} == {"S2MM 0", "MM2S 0"}
    places = dict(side.place.split(", ") for side in finding.sides)
    assert places.keys() == {"BD 0", "BD 2"}
    assert all("test_races.py:" in said for said in places.values())


def test_a_run_with_an_error_among_its_findings_is_not_good() -> None:
    result = ring(3).run(check=True)
    assert result.status == "finished"
    assert not result.good
    assert ring(3).run().good


def test_a_reader_without_lock_is_told_which_one_to_take() -> None:
    finding = found(ring(acquires=False))
    assert finding.code == "MT0201"
    assert "S2MM 0, BD 0 acquires before the write" in finding.fix or "lock 1 'full'" in finding.fix


def early_reader(*, by_host: bool, waits: bool = False) -> Array:
    """Words come into a memory tile and go on, without an order: both tasks are the host's, or none is."""
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    array.connect(door.mm2s[0], shared.s2mm[0])
    array.connect(shared.mm2s[0], door.s2mm[0])
    words, full = shared.buffer("words", 64), shared.lock(0, "full")
    there, kept = array.external("there", data(64)), array.external("kept", np.zeros(64, np.int32))
    write = shared.write(words) if by_host else shared.write(words).guarded(None, full.release())

    def sequence(host: Host) -> Iterator[HostAction]:
        yield host.start(door.mm2s[0], door.read(there))
        comes = host.start(shared.s2mm[0], write)
        yield comes
        if waits:
            yield host.wait(comes)
        yield host.start(shared.mm2s[0], shared.read(words))
        takes = host.start(door.s2mm[0], door.write(kept))
        yield takes
        yield host.wait(takes)

    array.host(sequence)
    return array


def test_a_reader_before_the_first_write_is_the_one_that_is_too_early() -> None:
    reader, writer = "memory(0,1) MM2S 0, BD 1", "memory(0,1) S2MM 0, BD 0"
    finding = found(early_reader(by_host=False))
    assert finding.code == "MT0201"
    assert (
        f"{reader} reads words 0 to 63 of buffer 'words' and does not wait until {writer}" in finding.message
    )
    lock = f"lock 0 'full' of tile (0, 1), which {writer} releases"
    assert finding.fix == f"Let {reader} acquire {lock}, before the read."


def test_tasks_of_a_host_are_put_in_order_by_the_host() -> None:
    reader, writer = "memory(0,1) MM2S 0, BD 1", "memory(0,1) S2MM 0, BD 0"
    finding = found(early_reader(by_host=True))
    assert finding.fix == f"Have the host wait for the end of {writer} before it starts {reader}."
    assert finding.sides[0].does.endswith("and the host starts it before memory(0,1) S2MM 0 has ended")
    assert not severe(early_reader(by_host=True, waits=True).run(check=True).findings)


def test_a_reader_of_the_first_buffer_alone_reads_words_of_the_round_before() -> None:
    finding = found(ring(order=(0, 0)))
    assert finding.code == "MT0205"
    assert finding.message.startswith("MM2S 0, BD 3 reads words 0 to 15 of buffer 'a' again")


def two_writers(locks: bool) -> MemoryTile:
    tile = MemoryTile()
    buffer, lock = tile.buffer("a", WORDS, np.int32), tile.lock(1, "mine")
    for channel in (0, 1):
        work = tile.write(buffer)
        tile.s2mm[channel].start(work.guarded(lock.acquire(), lock.release()) if locks else work)
        tile.s2mm[channel].feed(data(WORDS))
    return tile


def test_two_writers_of_one_buffer() -> None:
    finding = found(two_writers(False))
    assert (finding.code, finding.count) == ("MT0202", WORDS)
    assert finding.sides[0].who == "S2MM 0"
    assert finding.sides[1].who == "S2MM 1"
    assert finding.cycles is not None
    assert finding.sides[1].cycle == finding.cycles[0]
    assert severe(two_writers(True).run(check=True).findings) == ()


def read_only(**given: Any) -> MemoryTile:
    tile = MemoryTile()
    buffer = tile.buffer("a", WORDS, np.int32, **given)
    tile.mm2s[0].start(tile.read(buffer))
    tile.mm2s[0].collect()
    return tile


def test_words_that_nobody_wrote() -> None:
    finding = found(read_only())
    assert (finding.code, finding.severity, finding.count) == ("MT0203", "warning", WORDS)
    assert read_only().run(check=True).good


@pytest.mark.parametrize("value", [0, 7])
def test_initial_contents_are_written_zeros_too(value: int) -> None:
    assert severe(read_only(data=np.full(WORDS, value, np.int32)).run(check=True).findings) == ()


def test_a_raw_descriptor_over_another_buffer() -> None:
    tile = ring()
    tile.s2mm[2].start(Descriptor("memory", WORDS, OWN.address(8)))
    tile.s2mm[2].feed(data(WORDS))
    result = tile.run(check=True)
    assert "MT0202" in codes(result)
    assert all("S2MM 2" in {side.who for side in finding.sides} for finding in severe(result.findings))


def with_host(waits: bool) -> MemoryTile:
    tile = MemoryTile()
    buffer = tile.buffer("a", WORDS, np.int32)
    tile.s2mm[0].feed(data(WORDS))
    tile.mm2s[0].collect()

    def sequence(host: Host) -> Iterator[HostAction]:
        yield host.start(tile.s2mm[0], tile.write(buffer))
        if waits:
            yield host.wait()
        else:
            yield host.pause(5000)  # long enough in this run, and no order
        yield host.start(tile.mm2s[0], tile.read(buffer))
        yield host.wait()

    tile.bench.host(sequence)
    return tile


def test_a_host_orders_tasks_by_waiting_not_by_time() -> None:
    assert severe(with_host(True).run(check=True).findings) == ()
    assert found(with_host(False)).code == "MT0201"


def in_place(*parts: Any) -> Array:
    """Words of a buffer through a stream, back to the parts of it in this order."""
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    buffer = tile.buffer("a", 64, np.int32, data=data(64))
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.mm2s[0].start(tile.read(buffer))
    tile.s2mm[0].start(*(tile.write(buffer, part) for part in parts))
    return array


def test_a_word_of_a_stream_comes_after_what_its_sender_did_before() -> None:
    whole = view((64,))
    assert severe(in_place(whole).run(check=True).findings) == ()
    assert found(in_place(whole[32:], whole[:32])).code == "MT0201"


def late_receiver(ahead: int) -> Array:
    """Words that wait on their way come back to places some words ahead, which were read meanwhile."""
    array = Array("npu1", columns=1)
    tile, whole = array.memory_tile(0), view((64,))
    buffer = tile.buffer("a", 64, np.int32, data=data(64))
    rest = tile.buffer("rest", 64, np.int32)
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.mm2s[0].start(tile.read(buffer))

    def sequence(host: Host) -> Iterator[HostAction]:
        yield host.pause(300)
        work = [tile.write(buffer, whole[ahead:])]
        yield host.start(tile.s2mm[0], *work, *([tile.write(rest, whole[:ahead])] if ahead else []))

    array.host(sequence)
    return array


def test_a_word_says_what_its_sender_had_read_when_it_left_not_when_it_came() -> None:
    assert severe(late_receiver(0).run(check=True).findings) == ()
    assert found(late_receiver(20)).code == "MT0201"


def kernel_design(*, acquires: bool = True, views: bool = True) -> Array:
    array = Array("npu1", columns=1)
    memory, worker = array.memory_tile(0), array.compute_tile(0, 2)
    source = memory.buffer("source", 32, np.int32, data=data(32))
    block, out = worker.buffer("block", 8, np.int32), worker.buffer("out", 8, np.int32)
    empty, full = worker.lock(1, "empty"), worker.lock(0, "full")
    array.connect(memory.mm2s[0], worker.s2mm[0])
    memory.mm2s[0].start(memory.read(source))
    worker.s2mm[0].start(worker.write(block).guarded(empty.acquire(), full.release()), repeat=4)

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(4):
            if acquires:
                yield core.acquire(full)
            yield core.cycles(30)
            if views:
                core.view(out)[:] = core.view(block) * 2
            else:
                core.write(out, core.read(block) * 2)
            yield core.release(empty)

    worker.run_kernel(kernel)
    return array


@pytest.mark.parametrize("views", [True, False])
def test_kernels_are_checked_by_what_they_read_and_write(views: bool) -> None:
    assert severe(kernel_design(views=views).run(check=True).findings) == ()
    finding = found(kernel_design(acquires=False, views=views))
    line = kernel_line("core.view(out)[:]" if views else "core.write(out")
    side = next(side for side in finding.sides if side.who.startswith("core"))
    assert (finding.code, side.who, side.place) == ("MT0201", "core (0, 2), kernel 'kernel'", f"line {line}")
    assert "lock 1 'full'" in finding.fix


def kernel_line(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip().startswith(text))


def shared_units(units: int) -> Array:
    """Two writers give a unit of one lock each, when their half is there; a reader takes some of them."""
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    halves, full = [tile.buffer(name, WORDS, np.int32) for name in "ab"], tile.lock(0, "full")
    source = tile.buffer("source", WORDS, np.int32, data=data(WORDS))
    target = tile.buffer("target", WORDS * 2, np.int32)
    for n, half in enumerate(halves):
        array.connect(tile.mm2s[2 + n], tile.s2mm[n])
        tile.mm2s[2 + n].start(tile.read(source))
        tile.s2mm[n].start(tile.write(half).guarded(None, full.release()))
    array.connect(tile.mm2s[0], tile.s2mm[4])
    tile.mm2s[0].start(tile.read(halves[0]).guarded(full.acquire(units)), tile.read(halves[1]))
    tile.s2mm[4].start(tile.write(target))
    return array


def test_units_of_a_lock_hand_over_what_those_did_who_gave_them() -> None:
    assert severe(shared_units(2).run(check=True).findings) == ()
    assert found(shared_units(1)).code == "MT0201"


def beside_each_other(*, waits: bool, stream: bool = False) -> Array:
    """A core reads the memory of the core above it, which tells it by cascade or stream when it may."""
    array = Array("npu1", columns=1)
    above, below = array.compute_tile(0, 3), array.compute_tile(0, 2)
    block, copy = above.buffer("block", 8, np.int32), below.buffer("copy", 8, np.int32)
    if stream:
        array.connect(above.stream_out, below.stream_in)
    else:
        above.cascade_to(below)

    def writer(core: Core) -> Iterator[Action]:
        yield core.cycles(50)
        core.write(block, data(8))
        yield core.put_stream([1]) if stream else core.put_cascade(np.zeros(16, np.int32))

    def reader(core: Core) -> Iterator[Action]:
        if waits:
            yield core.get_stream(1) if stream else core.get_cascade()
        else:
            yield core.cycles(500)
        core.write(copy, core.read(block))
        if not waits:
            yield core.get_stream(1) if stream else core.get_cascade()

    above.run_kernel(writer)
    below.run_kernel(reader)
    return array


@pytest.mark.parametrize("stream", [False, True])
def test_cores_are_ordered_by_what_they_send_each_other(stream: bool) -> None:
    assert severe(beside_each_other(waits=True, stream=stream).run(check=True).findings) == ()
    assert found(beside_each_other(waits=False, stream=stream)).code == "MT0201"


def external(waits: bool) -> Array:
    """One channel brings words to external memory, another one takes them from there."""
    array = Array("npu1", columns=1)
    memory, shim = array.memory_tile(0), array.interface_tile(0)
    there = array.external("there", np.zeros(WORDS, np.int32))
    source = memory.buffer("source", WORDS, np.int32, data=data(WORDS))
    target = memory.buffer("target", WORDS, np.int32)
    array.connect(memory.mm2s[0], shim.s2mm[0])
    array.connect(shim.mm2s[0], memory.s2mm[0])
    memory.mm2s[0].start(memory.read(source))
    memory.s2mm[0].start(memory.write(target))

    def sequence(host: Host) -> Iterator[HostAction]:
        yield host.start(shim.s2mm[0], shim.write(there))
        if waits:
            yield host.wait()
        yield host.start(shim.mm2s[0], shim.read(there))
        yield host.wait()

    array.host(sequence)
    return array


def test_external_memory_is_checked_by_buffer() -> None:
    assert severe(external(True).run(check=True).findings) == ()
    finding = found(external(False))
    assert (finding.code, finding.words[0].memory, finding.words[0].count) == (
        "MT0201",
        "external buffer 'there'",
        WORDS,
    )


def across(locks: bool) -> Array:
    """A channel of a memory tile writes to its eastern neighbour, which reads that."""
    array = Array("npu1", columns=2)
    west, east = array.memory_tile(0), array.memory_tile(1)
    block, full = east.buffer("block", WORDS, np.int32), east.lock(0, "full")
    source, target = west.buffer("source", WORDS, np.int32, data=data(WORDS)), east.buffer("target", WORDS)
    array.connect(west.mm2s[0], west.s2mm[0])
    array.connect(east.mm2s[0], east.s2mm[0])
    west.mm2s[0].start(west.read(source))
    east.s2mm[0].start(east.write(target))
    west.s2mm[0].start(
        west.write(block).guarded(None, west.seen(full).release()) if locks else west.write(block)
    )
    east.mm2s[0].start(east.read(block).guarded(full.acquire()) if locks else east.read(block))
    return array


def test_memory_of_a_neighbour_is_one_memory() -> None:
    assert severe(across(True).run(check=True).findings) == ()
    finding = found(across(False))
    assert (finding.code, finding.words[0].memory) == ("MT0201", "buffer 'block'")


def test_a_check_changes_nothing_of_the_run() -> None:
    plain, watched = kernel_design(), kernel_design()
    one, other = plain.run(), watched.run(check=True)
    assert one.cycles == other.cycles
    assert [use.spent for use in one.channels] == [use.spent for use in other.channels]
    assert np.array_equal(plain.engine.state.memory, watched.engine.state.memory)
    assert not watched.engine.state.guards.inspected.any()
    assert not watched.engine.state.noting[0]
    assert not watched.engine.state.switch.parity.any()


def test_a_second_run_is_checked_from_there_on() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("a", WORDS, np.int32)
    tile.s2mm[0].start(tile.write(buffer))
    tile.s2mm[0].feed(data(WORDS))
    assert severe(tile.run().findings) == ()
    tile.mm2s[0].start(tile.read(buffer))
    tile.mm2s[0].collect()
    assert severe(tile.run(check=True).findings) == ()


def stuck_in_a_kernel() -> Array:
    array = Array("npu1", columns=1)
    compute = array.compute_tile(0, 2)
    out, never = compute.buffer("out", WORDS, np.int32), compute.lock(0, "never")

    def kernel(core: Core) -> Iterator[Action]:
        kept = np.asarray(core.view(out))  # its base is the watched view, which the collector does not see
        yield core.acquire(never, 1)
        kept[:] = 1

    compute.run_kernel(kernel)
    return array


def test_a_checked_run_that_ends_inside_a_kernel_leaves_no_memory() -> None:
    array = stuck_in_a_kernel()
    assert array.run(check=True).status == "stuck"
    gone = weakref.ref(array)
    del array
    gc.collect()
    assert gone() is None


def test_a_run_after_a_checked_one_comes_after_it() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("a", WORDS, np.int32)

    def sequence(host: Host) -> Iterator[HostAction]:
        yield host.start(tile.s2mm[0], tile.write(buffer))

    tile.bench.host(sequence)
    tile.s2mm[0].feed(data(WORDS))
    tile.mm2s[0].collect()
    with observing(tile.bench, RunOptions(check=True)) as observed:
        tile.run()
        tile.mm2s[0].start(tile.read(buffer))
        tile.run()
    assert severe(observed.races) == ()


def test_a_buffer_may_be_read_many_times() -> None:
    """A reader takes a lock for each round of one buffer, and sends another one with it every time."""
    tile = MemoryTile()
    constant, block = tile.buffer("constant", WORDS, np.int32), tile.buffer("block", WORDS, np.int32)
    empty, full = tile.lock(2, "empty"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(constant).guarded(empty.acquire()))
    tile.s2mm[0].start(tile.write(block).guarded(empty.acquire(), full.release()), repeat=3)
    tile.s2mm[0].feed(data(WORDS * 4))
    both = tile.read(block).guarded(full.acquire(), None), tile.read(constant).guarded(None, empty.release())
    tile.mm2s[0].start(*both, repeat=3)
    tile.mm2s[0].collect()
    assert severe(tile.run(check=True).findings) == ()


def test_an_untimed_run_is_not_checked() -> None:
    with pytest.raises(DesignError, match="an untimed run has no time"):
        ring().run(check=True, untimed=True)


def test_findings_are_in_the_json_of_a_result() -> None:
    (finding,) = severe(json.loads(json.dumps(ring(3).run(check=True).as_json()))["findings"])
    assert finding["code"] == "MT0204"
    assert finding["sides"][0]["place"]
    assert finding["fix"]


SCRIPT = """
import json, sys
sys.path[:0] = {paths!r}
from support.designs.ordered_designs import planted
print(json.dumps([[f.as_json() for f in planted(n)[0].run(100000, check=True).findings] for n in range(15)]))
"""


def test_the_interpreter_finds_the_same() -> None:
    script = SCRIPT.format(paths=[str(Path(__file__).parents[1])])

    def say(jit: str) -> Any:
        env = {**os.environ, "MEMTILE_JIT": jit}
        done = subprocess.run(
            [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    assert say("0") == say(os.environ.get("MEMTILE_JIT", "1"))


def test_a_release_says_nothing_of_the_lock_that_the_next_descriptor_was_granted_before() -> None:
    """The second lock is free when the first block ends: in another order the release comes before that."""
    tile = MemoryTile()
    one, two = tile.lock(0, "one"), tile.lock(0, "two")
    first, second, block = tile.buffer("first", 8), tile.buffer("second", 4), tile.buffer("block", 4)
    tile.s2mm[0].start(
        tile.write(first).guarded(None, one.release()), tile.write(second).guarded(two.acquire(), None)
    )
    tile.s2mm[1].start(tile.write(block).guarded(None, two.release()))
    tile.mm2s[0].start(tile.read(block).guarded(one.acquire(), None))
    tile.s2mm[0].feed(np.arange(12))
    tile.s2mm[1].feed(np.arange(4))
    tile.mm2s[0].collect()
    assert [finding.code for finding in tile.run(check=True).findings] == ["MT0201"]


def one_round(*, waits: bool) -> MemoryTile:
    """A writer of a buffer, and a reader that may wait for it; each once, the reader slow to begin."""
    tile = MemoryTile()
    buffer, full = tile.buffer("a", WORDS, np.int32), tile.lock(0, "full")
    order = (full.acquire(), None) if waits else (None, None)
    tile.s2mm[0].start(tile.write(buffer).guarded(None, full.release() if waits else None))
    tile.mm2s[0].start(tile.read(buffer).guarded(*order))
    tile.s2mm[0].feed(data(WORDS))
    tile.mm2s[0].collect()
    return tile


@pytest.mark.parametrize("waits", [True, False])
def test_a_run_in_pieces_finds_what_it_finds_whole(waits: bool) -> None:
    """A cut between the two accesses of a race hides none, and makes none."""
    whole = one_round(waits=waits).run(1000, check=True)
    assert bool(severe(whole.findings)) != waits
    for cut in range(2, whole.cycles):
        tile = one_round(waits=waits)
        tile.run(cut, check=True)
        last = tile.run(1000, check=True)
        assert severe(last.findings) == severe(whole.findings), cut
        assert last.cycles == whole.cycles


@pytest.mark.parametrize(
    ("first", "count", "memory", "begins", "words"),
    [
        (0, 8, "buffer 'a'", 0, 8),
        (15, 1, "buffer 'a'", 15, 1),
        (16, 1, "buffer 'b'", 0, 1),
        (20, 12, "buffer 'b'", 4, 12),
        (8, 16, "buffer 'a'", 8, 8),
        (28, 8, "buffer 'b'", 12, 4),
        (32, 4, "the memory of tile (0, 0)", 32, 4),
        (131068, 4, "the memory of tile (0, 0)", 131068, 4),
    ],
)
def test_words_of_a_race_are_those_of_the_first_buffer_that_has_some(
    first: int, count: int, memory: str, begins: int, words: int
) -> None:
    tile = MemoryTile()
    for name in "ab":
        tile.buffer(name, WORDS, np.int32)
    for channel in (2, 4):
        tile.s2mm[channel].start(Descriptor("memory", count, OWN.address(first)))
        tile.s2mm[channel].feed(data(count))
    place = found(tile).words[0]
    assert (place.memory, place.first, place.count) == (memory, begins, words)
