"""How far does a channel run ahead of its lock or its port, and what does back-pressure cost?"""

from __future__ import annotations

import pytest

from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor, Dim, Pad
from memtile.bd.windows import OWN
from memtile.model.state.causes import Cause
from memtile.testing.rig import Rig


def bd(length: int, word: int = 0, **more: object) -> Descriptor:
    return Descriptor("memory", length, OWN.address(word), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("depth", [1, 2, 16, 32])
def test_ingress_takes_its_depth_and_no_word_more(depth: int) -> None:
    rig = Rig(timing=Timing(ingress_words=depth))
    s = rig.s2mm()
    rig.feed(s, 100)
    rig.assert_earliest(depth - 1, lambda: rig.held(s)[-1] == depth)
    rig.step(20)
    assert rig.entered(s) == list(range(depth))


def test_a_full_ingress_accepts_in_the_cycle_in_which_it_drains() -> None:
    rig = Rig()
    s = rig.s2mm()
    rig.write_bd(0, bd(8))
    rig.feed(s, 40)
    rig.step(20)
    rig.issue(s, 0)
    rig.assert_earliest(25, lambda: rig.timeline(s).endswith("#"))
    assert rig.entered(s) == [*range(16), 25]


@pytest.mark.parametrize(
    ("depth", "stride", "start", "held"),
    [(8, 1, 0, 8), (8, 1, 1, 7), (7, 1, 0, 4), (4, 1, 0, 4), (15, 1, 0, 12), (15, 1, 3, 13), (8, 2, 0, 8)],
)
def test_egress_runs_ahead_by_whole_accesses(depth: int, stride: int, start: int, held: int) -> None:
    rig = Rig(timing=Timing(memory_egress_words=depth))
    m = rig.mm2s()
    rig.write_bd(0, bd(64, start, dims=(Dim(stride, 0),)))
    rig.issue(m, 0)
    rig.step(40)
    assert max(rig.held(m)) == rig.held(m)[-1] == held


def test_padding_needs_room_but_no_bank() -> None:
    rig = Rig()
    rig.memory_control(zeroise=True)  # the banks are busy
    m = rig.mm2s()
    rig.write_bd(0, bd(64, dims=(Dim(1, 4),), pad=(Pad(6, 0),)))
    rig.issue(m, 0)
    rig.step(30)
    assert rig.held(m)[4:] == [0, 1, 2, 3, 4, 5, *[6] * 20]


@pytest.mark.parametrize("pattern", [(1,), (0, 1), (1, 0, 0), (0, 0, 0, 0, 1), (1, 1, 0)])
def test_a_slow_sink_sets_the_pace(pattern: tuple[int, ...]) -> None:
    rig = Rig()
    m = rig.mm2s()
    rig.write_bd(0, bd(20))
    rig.fill(0, range(100, 120))  # type: ignore[arg-type]
    rig.catch(m, pattern)
    rig.issue(m, 0)
    rig.step(140)
    open_cycles = [c for c in range(6, 140) if pattern[c % len(pattern)]]
    assert rig.cycles(m, Cause.MOVING) == open_cycles[:20]
    shut = [c for c in range(6, open_cycles[19]) if not pattern[c % len(pattern)]]
    assert rig.cycles(m, Cause.STREAM_BLOCKED) == shut
    assert rig.sent(m) == list(range(100, 120))


@pytest.mark.parametrize("pattern", [(0, 1), (1, 0, 0), (0, 0, 0, 0, 1)])
def test_a_slow_source_sets_the_pace(pattern: tuple[int, ...]) -> None:
    """Starved exactly in the cycles whose predecessor offered no word, once the buffer has run dry."""
    rig = Rig()
    s = rig.s2mm()
    rig.write_bd(0, bd(20))
    rig.issue(s, 0)
    rig.step(10)
    rig.feed(s, 20, pattern)
    rig.step(120)
    offered = [c for c in range(10, 130) if pattern[c % len(pattern)]][:20]
    assert rig.entered(s) == offered
    assert rig.cycles(s, Cause.MOVING) == [c + 1 for c in offered]
    dry = [c for c in range(5, offered[-1] + 1) if c - 1 not in offered]
    assert rig.cycles(s, Cause.STREAM_STARVED) == dry


def test_starvation_and_back_pressure_never_overlap() -> None:
    """A full buffer is not an empty one: words refused only in cycles that are not starved (GT-6)."""
    rig = Rig()
    s = rig.s2mm()
    rig.write_bd(0, bd(4))
    rig.feed(s, 60)
    for _ in range(12):
        rig.issue(s, 0)
        rig.step(9)
    entered = rig.entered(s)
    refused = set(range(entered[-1])) - set(entered)
    assert refused
    assert not refused & set(rig.cycles(s, Cause.STREAM_STARVED))
