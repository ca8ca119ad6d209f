"""Is a run said to hold for every timing only where no order can end otherwise?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memtile import Array, MemoryTile, Status
from memtile.design.host import Host
from memtile.design.run_design import ScheduleRun, together
from memtile.explain.orders.lock_orders import LockOrders
from memtile.explain.orders.proof import Proof
from memtile.explain.results import Result
from memtile.kernels import Core
from memtile.sim.races.order_book import PAUSE, OrderBook
from support.designs.small_orders import Block, Small, built, drawn, ends


def proof(made: MemoryTile | Array) -> Proof:
    result = made.run(check=True, max_cycles=20_000)
    assert result.proved is not None
    return result.proved


def through(
    words: int = 16, rounds: int = 3, *, room: int = 1, readers: int = 1, rewrites: bool = False
) -> Array:
    """Blocks that come from the host, lie in a memory tile and go back by one of the readers."""
    array = Array("npu1", 1)
    interface, tile = array.interface_tile(0), array.memory_tile(0)
    source = array.external("source", np.arange(words * rounds, dtype=np.int32))
    target = array.external("target", np.zeros(words * rounds, np.int32))
    block, empty, full = tile.buffer("block", words), tile.lock(room, "empty"), tile.lock(0, "full")
    array.connect(interface.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], interface.s2mm[0])
    tile.s2mm[0].start(tile.write(block).guarded(empty.acquire(), full.release()), repeat=rounds)
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire(), empty.release()), repeat=rounds)
    if readers > 1:
        array.connect(tile.mm2s[1], interface.s2mm[1])
        tile.mm2s[1].start(tile.read(block).guarded(full.acquire(), empty.release()))

    def sequence(host: Host):  # type: ignore[no-untyped-def]
        back = host.start(interface.s2mm[0], interface.write(target))
        yield back
        yield host.start(interface.mm2s[0], interface.read(target if rewrites else source))
        yield host.wait(back)

    array.host(sequence)
    return array


def test_one_taker_of_each_lock_and_one_sender_of_each_stream_decide_all() -> None:
    found = proof(through())
    assert found.text == "proved for every timing: it finishes, with these words"
    assert found.as_json() == {
        "status": "proved",
        "ends": True,
        "words": True,
        "reasons": [],
        "reasons_of_words": [],
        "assumed": [],
        "schedule": None,
        "tried": 0,
    }


def test_a_run_that_is_stuck_is_so_in_every_order() -> None:
    found = proof(through(room=0))
    assert found.text == "proved for every timing: it is stuck"
    assert found.ends_proved


def test_two_takers_of_a_lock_are_named() -> None:
    found = proof(through(readers=2))
    assert found.status == "this timing"
    assert found.reasons == ("memory(0,1) MM2S 0, memory(0,1) MM2S 1 take from lock 1 'full' of tile (0, 1)",)


@pytest.mark.parametrize(("early", "last", "shared"), [(False, 2, True), (True, 2, False), (False, 1, False)])
def test_a_batch_of_a_lock_is_shared_out(early: bool, last: int, shared: bool) -> None:
    """The giver takes all of what came back first, and each taker takes part in each batch."""
    give, take = Block(1, 2, False, 0, 2), Block(0, 1, False, 1, 1)
    giver = (give._replace(takes=-1), give) if early else (give, give)
    found = proof(built(Small((0, 2), (giver, (take,) * 2, (take,) * last), (2, -1, last))))
    assert bool(found.assumed) is shared, found
    assert not found.ends_proved
    assert found.text.startswith("holds for this timing, and for each in which ") is shared


def test_words_of_external_memory_that_two_use_are_named() -> None:
    found = proof(through(rewrites=True))
    assert found.ends_proved
    assert not found.words_proved
    assert found.of_words == (
        "interface(0,0) S2MM 0 writes words of external memory that interface(0,0) MM2S 0 uses",
    )


def test_a_schedule_that_ends_otherwise_is_an_error() -> None:
    usual, other = through().run(check=True), through(room=0).run(check=True)
    same = together(ScheduleRun(0, usual, {}), [ScheduleRun(1, usual, {})])
    assert (same.findings, same.proved) == (usual.findings, replace(usual.proved or Proof(""), tried=1))
    result = together(ScheduleRun(0, usual, {}), [ScheduleRun(1, usual, {}), ScheduleRun(3, other, {})])
    (broken,) = (finding for finding in result.findings if finding.code == "MT0326")
    assert broken.message.startswith("The run finishes, and in schedule 3 it is stuck: ")
    assert result.proved is not None
    assert result.proved.text == "holds for this timing only: in schedule 3 it ends differently"
    assert result.proved.status == "broken"


def test_a_schedule_in_which_a_channel_runs_into_an_error_ends_otherwise() -> None:
    usual = through().run(check=True)
    halted = replace(usual, status=Status.HALTED)
    result = together(ScheduleRun(0, usual, {}), [ScheduleRun(5, halted, {})])
    assert result.proved is not None
    assert (result.proved.status, result.proved.schedule) == ("broken", 5)
    (broken,) = (finding for finding in result.findings if finding.code == "MT0326")
    assert broken.message == "The run finishes, and in schedule 5 it is halted by an error."


def test_words_that_stay_on_their_way_prove_no_end() -> None:
    """Nobody takes what a channel sends: it ends as there is room for so many words, and no more."""
    array = Array("npu1", 1)
    sender, receiver = array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(sender.mm2s[0], receiver.s2mm[0])
    block = sender.buffer("block", 2)
    sender.store(block, np.zeros(2, np.uint32))
    sender.mm2s[0].start(sender.read(block))
    found = proof(array)
    assert found.ends != "finishes" or any("find room" in reason for reason in found.reasons)


def test_a_host_that_polls_is_named() -> None:
    array = through()

    def polls(host: Host):  # type: ignore[no-untyped-def]
        yield host.poll(0x1D200, 0, 0)

    array.host(polls)
    assert "the host polls a register" in proof(array).reasons


def test_a_run_that_met_its_limit_decides_nothing() -> None:
    result = through(rounds=64).run(check=True, max_cycles=300)
    assert result.status is Status.LIMIT
    assert result.proved is not None
    assert result.proved.text == "holds for this timing: the array was still active"


def test_nothing_is_said_without_a_check() -> None:
    result: Result = through().run()
    assert result.proved is None
    assert result.as_json()["proved"] is None
    assert not any(line.startswith("timing:") for line in str(result).splitlines())


def test_a_sheet_has_the_verdict() -> None:
    lines = str(through().run(check=True)).splitlines()
    assert "timing: proved for every timing: it finishes, with these words" in lines


@pytest.mark.parametrize(("value", "proved"), [(1, True), (0, False)])
def test_an_exact_value_is_decided_only_if_it_is_the_last_one(value: int, proved: bool) -> None:
    tile = MemoryTile()
    block, flag = tile.buffer("block", 4), tile.lock(0, "flag")
    tile.s2mm[0].start(tile.write(block).guarded(None, flag.release()))
    tile.mm2s[0].start(tile.read(block).guarded(flag.acquire_equal(value), None))
    tile.s2mm[0].feed(np.arange(4))
    tile.mm2s[0].collect()
    found = [reason for reason in proof(tile).reasons if "exactly" in reason]
    assert bool(found) is not proved


def exact(lock: int, *values: int) -> tuple[Block, ...]:
    """Blocks that wait until a lock has just these values, and give one to the other lock."""
    return tuple(Block(lock, value, True, 1 - lock, 1) for value in values)


@pytest.mark.parametrize(
    ("first", "second", "fed", "seen"),
    [
        (exact(0, 1, 2, 3), exact(1, 1, 2), 3, True),
        (exact(0, 1, 2, 2), exact(1, 1, 2), 3, False),  # the last value may have passed
        (exact(0, 1, 2, 2), exact(1, 1, 2), 2, True),  # but nothing hangs on it without words
        (exact(0, 1, 1, 3), (Block(1, 1, False, 0, 1),) * 3, 3, False),
        ((Block(0, 1, False, 1, 1),) * 2, exact(1, 0, 2), 2, False),  # nobody waits for who waits for 0
    ],
)
def test_exact_values_are_decided_if_who_gives_them_waits_for_who_waits(
    first: tuple[Block, ...], second: tuple[Block, ...], fed: int, seen: bool
) -> None:
    small = Small((1, 0), (first, second), (fed, -1))
    found = proof(built(small))
    assert any("exactly" in reason for reason in found.reasons) is not seen, found
    assert (len(ends(small)) == 1) is seen


def test_a_lock_beyond_its_range_in_another_order_is_named() -> None:
    """70 units are given to a lock of which one is taken when all are there: later, they would not fit."""
    array = Array("npu1", 1)
    tile = array.compute_tile(0, 2)
    lock = tile.lock(0, "many")

    def gives(core: Core):  # type: ignore[no-untyped-def]
        for _ in range(70):
            yield core.release(lock)

    def takes(core: Core):  # type: ignore[no-untyped-def]
        for _ in range(70):
            yield core.acquire(lock, tile=(0, 2))

    tile.run_kernel(gives)
    array.compute_tile(0, 3).run_kernel(takes)
    assert "lock 0 'many' of tile (0, 2) may exceed 63 if its consumer is late" in proof(array).reasons


def test_words_in_pieces_that_several_use_are_found_in_long_accesses() -> None:
    book, outside = OrderBook(), 1 << 48
    write, read, later = 1 | 2 << 32, 0 | 3 << 32, 0 | 4 << 32
    rows = [[write, outside, 100, 0], [read, outside + 96, 4, 1], [later, outside + 112, 8, 2]]
    book.add(np.array(rows, np.int64))
    assert list(book.shared_outside()) == [(2, 3)]  # told apart by 16 words
    assert book.reads_for(3, 4) == 1


def test_a_control_packet_may_act_after_what_begins_behind_it() -> None:
    """A channel is given its task after a packet has given the lock a value, and nothing orders the two."""
    barrier, value, start, takes = [9, 0, 0, 0], [5, 0, 1, 1], [8, 1, 0, 2], [3 | 1 << 32, 0, -1, 3]
    book, tile = OrderBook(), MemoryTile()
    tile.lock(1, "go")
    book.add(np.array([barrier, value, barrier, start, takes], np.int64))
    assert (book.packets.sets, book.packets.unknown, book.packets.pauses) == ({1}, 0, 0)
    assert book.given == {0}
    reasons = LockOrders(tile.engine, book, np.ones(64, np.int64)).reasons()
    assert list(reasons) == ["a control packet sets lock 0 'go' while others use it"]
    book.add(np.array([barrier, barrier, [9, PAUSE, 0, 4]], np.int64))
    assert (book.packets.unknown, book.packets.pauses) == (1, 1)


@pytest.mark.parametrize("seed", range(25))
def test_what_is_proved_is_so_in_every_order_of_a_small_design(seed: int) -> None:
    small = drawn(seed)
    result = built(small).run(check=True)
    every = ends(small)
    assert (result.status is Status.FINISHED) in every
    assert result.proved is not None
    assert not result.proved.ends_proved or len(every) == 1
