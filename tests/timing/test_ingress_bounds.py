"""Does the port of a 64-bit stream take no more than a BD needs, and none without a task (DEV-INGRESS-2)?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Timing
from memtile.arch.register_map import register_named
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Packet
from memtile.bd.windows import OWN
from memtile.testing.rig import Rig
from memtile.testing.stream_bench import Bench
from support.designs.repeating_designs import EAGER, differences

WIDE: list[TileName] = ["memory_2p", "memory_v2"]
BOUNDED = Timing(ingress_ahead=0)
OFFERED = 400


def held(rig: Rig, s: int) -> int:
    return int(rig.engine.state.fifos.held[s])


def fed(
    tile: TileName, words: int, *, lock: int | None = None, timing: Timing | None = None
) -> tuple[Rig, int]:
    """A channel when nothing moves any more, with one BD, with a lock or without; 0 words = no task."""
    rig = Rig(tile, timing=timing)
    s = rig.s2mm()
    if words:
        more = {} if lock is None else {"acquire": Acquire(OWN.lock(0), -1, True)}
        own = OWN.address(0) if tile == "memory" else rig.kind.own_window_words
        rig.write_bd(0, Descriptor(tile, words, own, next=None if lock is None else 0, **more))  # type: ignore[arg-type]
        rig.issue(s, 0)
    if lock:
        rig.set_lock(0, lock)
    rig.feed(s, OFFERED)
    rig.step(300)
    return rig, s


def taken(rig: Rig, s: int) -> int:
    return OFFERED - rig.engine.pending(s)


@pytest.mark.parametrize(("tile", "timing"), [(tile, None) for tile in WIDE] + [("memory", BOUNDED)])
def test_a_channel_without_a_task_takes_nothing(tile: TileName, timing: Timing | None) -> None:
    rig, s = fed(tile, 0, timing=timing)
    assert taken(rig, s) == held(rig, s) == 0


def test_a_channel_of_a_32_bit_stream_fills_its_buffer_unless_asked() -> None:
    rig, s = fed("memory", 0)
    assert taken(rig, s) == Timing().ingress_words


@pytest.mark.parametrize("words", [1, 4, 7, 52])
def test_it_takes_the_words_of_its_bd_and_what_rides_in_the_last_beat(words: int) -> None:
    """GT-31: of five words behind the last BD one is in its last beat, four are in the master port."""
    for tile, timing, more in (("memory_2p", None, words % 2), ("memory", BOUNDED, 0)):
        rig, s = fed(tile, words, timing=timing)  # type: ignore[arg-type]
        assert (taken(rig, s), held(rig, s)) == (words + more, more)


@pytest.mark.parametrize(("words", "lock", "beats"), [(1, 1, 2), (1, 3, 2), (64, 0, 2), (64, 0, 5)])
def test_a_channel_that_waits_for_its_lock_takes_two_beats(words: int, lock: int, beats: int) -> None:
    """GT-31: whatever its BD needs."""
    rig, s = fed("memory_2p", words, lock=lock, timing=Timing(ingress_beats=beats))
    assert held(rig, s) in (2 * beats, 2 * beats - 1)
    assert taken(rig, s) == lock * words + held(rig, s)


@pytest.mark.parametrize(("words", "ahead", "waiting"), [(1, 2, 3), (1, 1, 3), (4, 2, 12), (64, 2, 32)])
def test_or_as_many_as_the_bds_need_that_it_looks_ahead_to(words: int, ahead: int, waiting: int) -> None:
    """Two structures have the numbers of GT-31: two beats, or 16 and what three BDs need, in whole beats."""
    rig, s = fed("memory_2p", words, lock=1, timing=Timing(ingress_beats=16, ingress_bds=ahead))
    assert held(rig, s) == waiting


def test_the_shortest_bd_for_which_words_waited_is_noted() -> None:
    """Of BDs of 4 and 40 words that a lock keeps waiting."""
    rig = Rig("memory_2p")
    s, shortest = rig.s2mm(), rig.engine.state.fifos.shortest
    for bd, words in enumerate((40, 4, 40)):
        own = rig.kind.own_window_words
        rig.write_bd(bd, Descriptor("memory_2p", words, own, next=(bd + 1) % 3, acquire=WAITS))
    rig.issue(s, 0)
    rig.feed(s, OFFERED)
    seen = []
    for _ in range(3):
        rig.step(60)
        rig.set_lock(0, 1)
        rig.step(60)
        seen.append(int(shortest[s]))
    assert seen == [1 + 40, 1 + 4, 1 + 4]


WAITS = Acquire(OWN.lock(0), -1, True)


def test_words_behind_the_tlast_of_a_bd_that_ends_with_it_stay_outside() -> None:
    """Each word is an access, so that words wait in the buffer when the TLAST comes."""
    rig = Rig("memory_2p")
    s = rig.s2mm()
    control = register_named("memory_tile_2p", "DMA_S2MM_0_Ctrl")
    rig.door.write32(control.offset, control.pack(FoT_Mode=1))
    rig.write_bd(0, Descriptor("memory_2p", 64, rig.kind.own_window_words, (Dim(8, 0),)))  # type: ignore[arg-type]
    rig.issue(s, 0)
    words = np.arange(40, dtype=np.uint32)
    rig.engine.feed(s, words, (words == 7).astype(np.uint8))
    rig.step(200)
    assert (rig.engine.pending(s), held(rig, s)) == (32, 0)


def jumping(tile: TileName, timing: Timing | None, size: int, following: int, *, forward: bool) -> Rig:
    """A channel with one descriptor, or with a ring of them, and a stream without gaps."""
    rig = Rig(tile, timing=timing)
    s = rig.s2mm()
    own = OWN.address(0) if tile == "memory" else rig.kind.own_window_words
    for bd in range(3):
        after = None if following < 0 else (bd + 1) % following
        rig.write_bd(bd, Descriptor(tile, size, own, next=after))  # type: ignore[arg-type]
    rig.feed(s, 1 << 13)
    rig.issue(s, 0)
    rig.engine.forward.on, rig.engine.forward.free = forward, EAGER
    rig.engine.run(1 << 13)
    return rig


@pytest.mark.parametrize("size", [16, 60, 1 << 10, (1 << 12) + 1])
@pytest.mark.parametrize("following", [-1, 1, 3])
@pytest.mark.parametrize(("tile", "timing"), [("memory_2p", None), ("memory", BOUNDED)])
def test_jumping_and_stepping_agree(tile: TileName, timing: Timing | None, size: int, following: int) -> None:
    """A jump ends before the last word of a descriptor comes, or is over whole rounds of descriptors."""
    jumped, stepped = (jumping(tile, timing, size, following, forward=on) for on in (True, False))
    assert stepped.engine.forward.jumped == 0
    if following > 0 or size >= 1 << 12:
        assert jumped.engine.forward.jumped > 500
    assert not differences(jumped, stepped)


def test_words_that_wait_in_the_buffer_count_for_the_end_of_a_jump() -> None:
    """Another channel keeps back the receiver, so that the last word comes long before it moves."""
    rigs = []
    for forward in (True, False):
        rig = Rig("memory", timing=BOUNDED)
        s, m = rig.s2mm(), rig.mm2s()
        rig.write_bd(0, Descriptor("memory", 1 << 10, OWN.address(0), dims=(Dim(64, 0),)))
        rig.write_bd(1, Descriptor("memory", 1 << 10, OWN.address(0x10000), dims=(Dim(64, 0),)))
        rig.catch(m)
        rig.feed(s, 1 << 11)
        for ch, bd in ((s, 0), (m, 1)):
            rig.issue(ch, bd)
        rig.engine.forward.on, rig.engine.forward.free = forward, EAGER
        rig.engine.run(1 << 12)
        rigs.append(rig)
    assert rigs[0].engine.forward.jumped > 500
    assert not differences(*rigs)


def passed(words: int, *, drop: bool, tile: TileName = "memory_2p") -> tuple[Bench, list[int]]:
    """A packet from a channel to another one of its tile, with a header or without; words of its beats."""
    bench = Bench(tile)
    bench.packets("DMA0", (3, 31, 0, 0))
    bench.collects("DMA1", 0, 0, drop=drop)
    own = TILE_KINDS[tile].own_window_words
    bench.fill(0, list(range(1, words + 1)))
    bench.write_bd(0, Descriptor(tile, words, own, packet=Packet(3)))  # type: ignore[arg-type]
    bench.issue(bench.mm2s(), 0)
    bench.run()
    switch = bench.engine.state.switch
    (port,) = (
        n for n, ch in enumerate(switch.channel.tolist()) if ch == bench.s2mm(1) and switch.is_master[n]
    )
    slots = [(switch.head[port] + n) & switch.wrap[port] for n in range(switch.held[port])]
    return bench, [1 + int(switch.last[port, slot] >> 1 & 1) for slot in slots]


def test_a_header_shares_its_beat_with_the_first_word() -> None:
    """DEV-V2-6, GT-31: a master that drops it has one word left of that beat, and pairs behind it."""
    assert passed(9, drop=False)[1] == [2, 2]
    assert passed(9, drop=True)[1] == [1, 2]


@pytest.mark.parametrize("words", [1, 2, 5, 6])
@pytest.mark.parametrize("drop", [False, True])
def test_the_words_of_a_packet_come_in_order(words: int, drop: bool) -> None:
    bench, _ = passed(words, drop=drop)
    own = TILE_KINDS["memory_2p"].own_window_words
    bench.write_bd(24, Descriptor("memory_2p", words + (not drop), own + 100))  # type: ignore[arg-type]
    bench.issue(bench.s2mm(1), 24)
    bench.run()
    came = bench.memory(100, words + (not drop))
    assert came[not drop :] == list(range(1, words + 1))
    assert drop or came[0] & 31 == 3
