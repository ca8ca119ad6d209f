"""Is what happens between the accesses of one packet told at its place, and known doors still watched?"""

from __future__ import annotations

from memtile import Array, Timing
from memtile.arch.devices import ARRAY_BASE
from memtile.errors import RegisterError
from memtile.hosts.address_space import AddressSpace
from memtile.hosts.client_accesses import AccessCounts, ClientAccesses, DriverRequest
from memtile.hosts.notices import Notices, ServerNotice
from memtile.hosts.witness import Witness
from memtile.io.program.recorder import record
from memtile.runs.operations import Write, address_of

MEMORY, INTERFACE = ARRAY_BASE + address_of(1, 1), ARRAY_BASE + address_of(1, 0)
CLOCK, BD, QUEUE, HOLE = INTERFACE + 0xFFF20, MEMORY + 0xA0000, MEMORY + 0xA0604, MEMORY + 0x90000


class Watched:
    """What a client shares with others, as a server has it."""

    def __init__(self, array: Array) -> None:
        self.space, self.lines = AddressSpace(array), list[str]()
        self.notices = Notices(self.lines.append, every=True)
        self._witness = Witness(array.engine)

    def polled(self, address: int) -> None:
        self.notices.tell(ServerNotice("polls", "", f"polled {address:#x}"))

    def look(self) -> None:
        for notice in self._witness.look():
            self.notices.tell(notice)


def carried_out(*requests: tuple[int, int | None]) -> tuple[list[str], list[str], AccessCounts]:
    """The answers, the beginnings of the lines that were told, and the counts."""
    watched, counts = Watched(Array("npu1", 2)), AccessCounts()
    accesses = ClientAccesses(watched, watched.notices, counts)
    for request in requests:
        accesses.add(DriverRequest(*request))
    answers = accesses.carry_out().decode().split()
    return answers, [" ".join(line.split()[:4]) for line in watched.lines], counts


def test_a_read_that_met_no_clock_is_refused() -> None:
    array = Array("npu1", 2)
    space = AddressSpace(array)
    requests = [(MEMORY, 7), (CLOCK, 0), (MEMORY, None), (CLOCK, 1), (MEMORY, None)]
    words = [word for piece in space.carry_out(requests) for word in piece]
    refused = words.pop(2)
    assert words == [0, 0, 0, 7]
    assert isinstance(refused, RegisterError)
    assert "while the clock of column 1 is off" in str(refused)


def test_a_halt_is_told_at_the_read_before_which_it_came() -> None:
    """The task of a BD that is not valid starts while the array runs before the second read."""
    answers, lines, counts = carried_out(
        (HOLE, None), (QUEUE, 0), (HOLE, None), (HOLE, 5), (HOLE + 4, None), (MEMORY, None)
    )
    assert answers == ["0xffffffff"] * 3 + ["0x00000000"]
    assert lines == [
        f"read of memory(1,1) {HOLE - MEMORY:#07x}",
        f"read of memory(1,1) {HOLE - MEMORY:#07x}",
        "memory(1,1) S2MM 0, BD",
        "write of 0x00000005 to",
        f"read of memory(1,1) {HOLE - MEMORY + 4:#07x}",
    ]
    assert (counts.reads, counts.writes, counts.refused) == (4, 2, 4)


def test_reads_of_a_packet_take_their_time() -> None:
    """200 cycles each, the host is not busy meanwhile; without such cycles the memory's port takes two."""
    space = AddressSpace(Array("npu1", 2))
    assert list(space.carry_out([(MEMORY, None)] * 3)) == [[0, 0, 0]]
    assert (space.now, space.array.engine.host.waited) == (600, 0)
    space = AddressSpace(Array("npu1", 2, Timing(access_cycles=0)), 0)
    assert list(space.carry_out([(MEMORY, None)] * 3)) == [[0, 0, 0]]
    assert (space.now, space.array.engine.host.waited) == (4, 4)


def test_a_poll_in_vain_is_told_once_in_a_packet() -> None:
    _, lines, _ = carried_out(*[(MEMORY, None)] * 60, (HOLE, None))
    assert lines == [f"polled {MEMORY:#x}", f"read of memory(1,1) {HOLE - MEMORY:#07x}"]


def test_a_door_that_was_used_is_recorded_from_then_on() -> None:
    array = Array("npu1", 1)
    place, at_once = address_of(0, 1), array.door.at_once()
    array.door.write32(place, 1)
    at_once.write32(place, 2)
    recording = record(array)
    array.door.write32(place, 3)
    at_once.write32(place, 4)
    assert recording.operations == (Write(place, 3), Write(place, 4))
