"""Does a host sequence start more work than queues hold, and is it told when it waits in vain?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from memtile import Array, DesignError, Host, HostAction, MemoryTile, Status
from memtile.model.state.causes import Cause
from memtile.programs import MaskPoll, Write, run_program
from memtile.sim.doors.polling import POLL_CYCLES

PARTS, WORDS = 12, 16
DATA = np.arange(PARTS * WORDS, dtype=np.int32).reshape(PARTS, WORDS)
UNTIMED = pytest.mark.parametrize("untimed", [False, True])


class Loop:
    """From external memory through a memory tile and back, part by part."""

    def __init__(self) -> None:
        self.array = Array("npu1", columns=1)
        self.io, self.tile = self.array.interface_tile(0), self.array.memory_tile(0)
        self.back = np.zeros_like(DATA)
        self.sources = [self.array.external(f"from {n}", part) for n, part in enumerate(DATA.copy())]
        self.targets = [self.array.external(f"to {n}", part) for n, part in enumerate(np.zeros_like(DATA))]
        buffer = self.tile.buffer("b", WORDS)
        free, full = self.tile.lock(1), self.tile.lock(0)
        self.tile.s2mm[0].start(self.tile.write(buffer).guarded(free.acquire(), full.release()), loop=True)
        self.tile.mm2s[0].start(self.tile.read(buffer).guarded(full.acquire(), free.release()), loop=True)
        self.array.connect(self.io.mm2s[0], self.tile.s2mm[0])
        self.array.connect(self.tile.mm2s[0], self.io.s2mm[0])

    def came(self) -> np.ndarray:
        buffers = self.array.engine.external.buffers
        return np.stack([buffers[f"to {n}"].array for n in range(PARTS)])


@UNTIMED
def test_more_tasks_than_a_queue_holds_and_more_bds_than_the_tile_has(untimed: bool) -> None:
    loop = Loop()

    def sequence(host: Host) -> Iterator[HostAction]:
        for source, target in zip(loop.sources, loop.targets, strict=True):
            yield host.start(loop.io.s2mm[0], loop.io.write(target))
            yield host.start(loop.io.mm2s[0], loop.io.read(source))
        yield host.wait()

    loop.array.host(sequence)
    result = loop.array.run(untimed=untimed)
    assert (result.status, result.good) == (Status.FINISHED, True)
    np.testing.assert_array_equal(loop.came(), DATA)
    assert loop.io.kind.bds < 2 * PARTS
    assert sum(use.tasks for use in result.channels if use.name.startswith("interface")) == 2 * PARTS


def test_bds_are_free_again_while_the_channel_goes_on() -> None:
    """24 tasks of 512 words through 16 BDs, and the channel starts from rest once."""
    array = Array("npu1", columns=1)
    io, words = array.interface_tile(0), 512
    source = array.external("x", np.arange(words, dtype=np.int32))
    io.mm2s[0].collect()

    def sequence(host: Host) -> Iterator[HostAction]:
        for _ in range(24):
            yield host.start(io.mm2s[0], io.read(source))

    array.host(sequence)
    result = array.run()
    (use,) = result.channels
    assert (result.status, use.tasks, use.words) == (Status.FINISHED, 24, 24 * words)
    assert use.spent[Cause.TASK_START] == array.engine.timing.task_start


def test_starting_a_task_takes_the_time_of_its_accesses() -> None:
    array, at = Array("npu1", columns=1), []
    io = array.interface_tile(0)
    source = array.external("x", np.arange(64, dtype=np.int32))
    io.mm2s[0].collect()

    def sequence(host: Host) -> Iterator[HostAction]:
        for _ in range(3):
            yield host.start(io.mm2s[0], io.read(source))
            at.append(array.engine.now)

    array.host(sequence)
    array.run()
    access = array.engine.timing.access_cycles
    each = 2 * access + io.kind.bd_words - 1
    assert [later - earlier for earlier, later in pairwise(at)] == [each, each]


@UNTIMED
def test_what_comes_after_a_wait_sees_what_was_waited_for(untimed: bool) -> None:
    loop, seen = Loop(), []

    def sequence(host: Host) -> Iterator[HostAction]:
        for number in range(3):
            arrives = host.start(loop.io.s2mm[0], loop.io.write(loop.targets[number]), token=True)
            yield arrives
            yield host.start(loop.io.mm2s[0], loop.io.read(loop.sources[number]))
            yield host.wait(arrives)
            seen.append(loop.came()[: number + 1].copy())
            assert arrives.done

    loop.array.host(sequence)
    assert loop.array.run(untimed=untimed).good
    for number, came in enumerate(seen):
        np.testing.assert_array_equal(came, DATA[: number + 1])


def test_a_wait_for_a_channel_is_for_its_tasks_alone() -> None:
    loop, at = Loop(), []

    def sequence(host: Host) -> Iterator[HostAction]:
        yield host.start(loop.io.s2mm[0], loop.io.write(loop.targets[0]))
        yield host.start(loop.io.mm2s[0], loop.io.read(loop.sources[0]))
        yield host.wait(loop.io.mm2s[0])
        at.append(host.tasks[0].done)
        yield host.wait(loop.io.s2mm[0])
        at.append(host.tasks[0].done)

    loop.array.host(sequence)
    assert loop.array.run().good
    assert at == [False, True]


def test_pauses_take_time_and_sequences_go_side_by_side() -> None:
    array, at = Array("npu1", columns=1), []

    def one(host: Host) -> Iterator[HostAction]:
        yield host.pause(250)
        at.append(("one", array.engine.now))
        yield host.pause(1000)
        at.append(("one", array.engine.now))

    def other(host: Host) -> Iterator[HostAction]:
        yield host.pause(600)
        at.append(("other", array.engine.now))
        yield host.poll(array.door.address(0, 1, 0xC0000), 0x3F, 3)
        at.append(("polled", array.engine.now))

    def third(host: Host) -> Iterator[HostAction]:
        yield host.pause(700)
        array.door.write32(array.door.address(0, 1, 0xC0000), 3)

    for each in (one, other, third):
        array.host(each)
    result = array.run()
    assert result.status is Status.FINISHED
    assert [name for name, _ in at] == ["one", "other", "polled", "one"]
    assert (at[0][1], at[1][1], at[3][1]) == (250, 600, 1250)
    assert 700 <= at[2][1] <= 700 + POLL_CYCLES


@UNTIMED
def test_a_wait_that_never_ends_is_told_with_its_line(untimed: bool) -> None:
    loop = Loop()

    def sequence(host: Host) -> Iterator[HostAction]:
        yield host.start(loop.io.s2mm[0], loop.io.write(loop.targets[0]))
        yield host.wait()

    loop.array.host(sequence)
    result = loop.array.run(untimed=untimed)
    assert (result.status, result.good) == (Status.STUCK, False)
    line = sequence.__code__.co_firstlineno + 2
    assert result.waiting[0] == (
        f"host sequence 'sequence', line {line}: waits for the end of interface(0,0) S2MM 0 (BD 0)"
    )
    assert "interface(0,0) S2MM 0, BD 0, word 0 of 16" in result.waiting[1]


def test_a_start_without_room_and_a_poll_are_told_too() -> None:
    loop = Loop()

    def full(host: Host) -> Iterator[HostAction]:
        for target in loop.targets:
            yield host.start(loop.io.s2mm[0], loop.io.write(target))

    def polls(host: Host) -> Iterator[HostAction]:
        yield host.poll(loop.array.door.address(0, 1, 0xC0010), 0x3F, 7)

    loop.array.host(full)
    loop.array.host(polls)
    result = loop.array.run()
    assert result.status is Status.STUCK
    assert result.waiting[0].endswith(
        "waits for room to start a task on interface(0,0) S2MM 0: a place in its queue, or BDs"
    )
    assert result.waiting[1].endswith("bits 0x3f of the word at 0x001c0010, which has 0x0")


def test_a_run_goes_on_with_the_sequence_where_the_last_one_stopped() -> None:
    loop, twin = Loop(), Loop()

    def sequence_of(loop: Loop) -> None:
        def sequence(host: Host) -> Iterator[HostAction]:
            for source, target in zip(loop.sources, loop.targets, strict=True):
                yield host.start(loop.io.s2mm[0], loop.io.write(target))
                yield host.start(loop.io.mm2s[0], loop.io.read(source))
            yield host.wait()

        loop.array.host(sequence)

    sequence_of(loop)
    sequence_of(twin)
    whole = twin.array.run()
    first = loop.array.run(500)
    assert (first.status, first.cycles) == (Status.LIMIT, 500)
    assert first.waiting[0].startswith("host sequence 'sequence', line ")
    result = loop.array.run()
    assert result.status is Status.FINISHED
    assert abs(result.cycles - whole.cycles) <= POLL_CYCLES
    np.testing.assert_array_equal(loop.came(), DATA)


def test_an_unfinished_sequence_cannot_be_saved(tmp_path: Path) -> None:
    array = Array("npu1", columns=1)

    def sequence(host: Host) -> Iterator[HostAction]:
        yield host.pause(100)

    array.host(sequence)
    with pytest.raises(DesignError, match="host sequence 'sequence' has not ended, and a Python generator"):
        array.save(tmp_path / "a.npz")
    array.run()
    array.save(tmp_path / "a.npz")


def test_a_memory_tile_alone_has_no_host_but_the_refusal_names_one() -> None:
    tile = MemoryTile()
    piece = tile.read(tile.buffer("b", 8))
    for _ in range(5):
        tile.mm2s[0].start(piece)
    with pytest.raises(DesignError, match=r"or have a host sequence start it \(array\.host\)"):
        tile.mm2s[0].start(piece)


@UNTIMED
def test_a_program_has_a_sequence_before_and_after_it(untimed: bool) -> None:
    loop, order = Loop(), []
    lock = loop.array.door.address(0, 1, 0xC00F0)

    def one(number: int, host: Host) -> Iterator[HostAction]:
        yield host.start(loop.io.s2mm[0], loop.io.write(loop.targets[number]))
        yield host.start(loop.io.mm2s[0], loop.io.read(loop.sources[number]))
        yield host.wait()
        order.append((loop.array.door.read32(lock), loop.came()[number].tolist() == DATA[number].tolist()))

    done = run_program(
        [Write(lock, 5)], loop.array, before=partial(one, 0), after=partial(one, 1), untimed=untimed
    )
    assert (done.result.status, done.stopped) == (Status.FINISHED, "")
    assert order == [(0, True), (5, True)]


def test_a_sequence_before_a_program_that_waits_in_vain_ends_it() -> None:
    loop = Loop()
    lock = loop.array.door.address(0, 1, 0xC00F0)

    def never(host: Host) -> Iterator[HostAction]:
        yield host.start(loop.io.s2mm[0], loop.io.write(loop.targets[0]))
        yield host.wait()

    done = run_program([Write(lock, 5)], loop.array, before=never)
    assert done.result.status is Status.STUCK
    assert "waits for the end of interface(0,0) S2MM 0 (BD 0)" in done.stopped
    assert loop.array.door.read32(lock) == 0


def test_a_sequence_after_a_program_that_waits_in_vain_is_stuck() -> None:
    array = Array("npu1", columns=1)

    def never(host: Host) -> Iterator[HostAction]:
        yield host.poll(array.door.address(0, 1, 0xC0000), 0x3F, 1)

    done = run_program([MaskPoll(array.door.address(0, 1, 0xC0000), 0x3F, 0)], array, after=never)
    assert done.result.status is Status.STUCK


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda host, _: [host.start("mm2s", None)], "channel is 'mm2s'; it must be a channel of a tile"),
        (lambda host, _: [host.wait("x")], "wait is 'x'; it must be tasks and channels"),
        (
            lambda host, loop: [host.wait(loop.io.mm2s[0])],
            "on which this host has started nothing; it must be channels with a task of this host",
        ),
        (lambda host, _: [host.pause(0)], "pause is 0 cycles; it must be 1 or more"),
        (
            lambda *_: [5],
            "the sequence yielded 5; it must yield what host.start, wait, poll or pause",
        ),
        (lambda host, loop: [host.start(loop.io.mm2s[0])], "there is no work"),
        (
            lambda host, loop: [host.wait(host.start(loop.io.mm2s[0], loop.io.read(loop.sources[0])))],
            "Yield it first: task = host.start(...); yield task.",
        ),
    ],
)
def test_mistakes_in_a_sequence(body: object, message: str) -> None:
    loop = Loop()

    def sequence(host: Host) -> Iterator[HostAction]:
        yield from body(host, loop)  # type: ignore[operator]

    loop.array.host(sequence)
    with pytest.raises(DesignError) as caught:
        loop.array.run()
    assert message in str(caught.value)


def test_a_step_that_is_made_and_not_yielded_is_told() -> None:
    loop = Loop()

    def sequence(host: Host) -> Iterator[HostAction]:
        host.start(loop.io.mm2s[0], loop.io.read(loop.sources[0]))
        yield host.pause(1)

    loop.array.host(sequence)
    text = r"host\.start\(interface\(0,0\) MM2S 0, \.\.\.\) was made, but not yielded"
    with pytest.raises(DesignError, match=text):
        loop.array.run()


def test_what_is_no_sequence() -> None:
    with pytest.raises(DesignError, match="it must be a generator function"):
        Array("npu1", columns=1).host(lambda _: None)  # type: ignore[arg-type, return-value]
