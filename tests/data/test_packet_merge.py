"""Do packets of several tiles, mixed on one link, each land in the buffer that their header names?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memtile import Array, MemtileError
from memtile.check.check import check_design

ROUNDS, WORDS = 4, 24


def merging() -> tuple[Array, list[list[str]]]:
    """Two compute tiles send packets over one link to one channel of the memory tile; places by sender."""
    array = Array("npu1", columns=1)
    shared, senders = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 5)]
    bus = array.packet_bus("merge", *((s.mm2s[0], [shared.s2mm[0]]) for s in senders), keep_headers=True)
    places = [[shared.buffer(f"{s.label}{n}", WORDS) for n in range(ROUNDS)] for s in senders]
    flat = [place for row in places for place in row]
    numbers = shared.s2mm[0].start_out_of_order(*map(shared.write, flat), packets=len(flat))
    bds = dict(zip((place.name for place in flat), numbers, strict=True))
    for k, (sender, stream) in enumerate(zip(senders, bus.streams, strict=True)):
        sent = []
        for n, place in enumerate(places[k]):
            data = np.arange(WORDS) + 1000 * (k + 1) + 100 * n
            source = sender.buffer(f"packet {n}", WORDS, data=data)
            sent.append(stream.packets(sender.read(source), bd=bds[place.name]))
            shared.expect(place, data)
        sender.mm2s[0].start(*reversed(sent))  # the last place first: only the header can tell
    return array, [[place.name for place in row] for row in places]


@pytest.mark.feature("F09")
def test_packets_of_two_tiles_arrive_in_turns_and_each_lands_in_its_own_buffer() -> None:
    array, places = merging()
    shared, order = array.memory_tile(0), []
    last = {name: 4 * (24 * (n + 1) - 1) for n, name in enumerate([*places[0], *places[1]])}
    for _ in range(200):
        result = array.run(4)
        order += [name for name, at in last.items() if name not in order and shared.door.at_once().read32(at)]
        if len(order) == 2 * ROUNDS:
            break
    turns = [name for pair in zip(reversed(places[0]), reversed(places[1]), strict=True) for name in pair]
    assert order in (turns, [name for a, b in zip(turns[::2], turns[1::2], strict=True) for name in (b, a)])
    result = array.run()
    assert result.good
    assert len(result.checks) == 2 * ROUNDS
    links = {port for tree in array.route().values() for port in tree if port.is_master and port.row == 2}
    assert {port.name for port in links} == {"SOUTH0"}  # one link for both
    (receiver,) = (use for use in result.channels if use.name == "memory(0,1) S2MM 0")
    assert (receiver.bds, receiver.tasks) == (2 * ROUNDS, 1)


@pytest.mark.feature("F09")
def test_the_untimed_run_merges_to_the_same_memory() -> None:
    assert merging()[0].run(untimed=True).good


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


def test_what_cannot_be_started_out_of_order() -> None:
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    place = shared.write(shared.buffer("b", 8))
    assert "start_out_of_order is for S2MM channels" in refused(
        lambda: shared.mm2s[0].start_out_of_order(place, packets=1)
    )
    assert "the number of runs is 257, allowed are 1..256" in refused(
        lambda: shared.s2mm[0].start_out_of_order(place, packets=257)
    )
    two = type(place)(place.descriptors * 2)
    assert refused(lambda: shared.s2mm[0].start_out_of_order(two, packets=1)) == (
        "memory tile (0,1), S2MM 0: a transfer has several descriptors; out of order each place has "
        "one (AM020: the header names one BD)."
    )
    assert shared.bd_pool.free(0) == 24


@pytest.mark.parametrize("astray", [False, True])
def test_two_packets_for_one_place_are_named_where_another_one_gets_none(astray: bool) -> None:
    array = Array("npu1", columns=1)
    shared, senders = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    bus = array.packet_bus("merge", *((s.mm2s[0], [shared.s2mm[0]]) for s in senders), keep_headers=True)
    places = [shared.write(shared.buffer(name, 4)) for name in "ab"]
    numbers = shared.s2mm[0].start_out_of_order(*places, packets=2)
    for sender, stream, bd in zip(senders, bus.streams, numbers, strict=True):
        packet = sender.read(sender.buffer("c", 4, data=np.arange(4)))
        sender.mm2s[0].start(stream.packets(packet, bd=numbers[0] if astray else bd))
    made = check_design(lambda: array).findings, array.run().findings
    assert [[str(each)[:42] for each in found] for found in made] == [
        ["MT0134 error: compute(0,3) MM2S 0 (BD 0) s"] * astray
    ] * 2
