"""Does every byte land where the manual says when the engine runs a descriptor?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.access.walk import Walk, addresses
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Iteration, Pad, Release
from memtile.bd.windows import OWN
from memtile.testing.rig import Rig

LAST = 1 << 17  # words of data memory


def bd(length: int, word: int = 0, **more: object) -> Descriptor:
    return Descriptor("memory", length, OWN.address(word), **more)  # type: ignore[arg-type]


def received(*chain: Descriptor, words: int, runs: int = 1) -> Rig:
    """S2MM 0 after it has taken the words 1, 2, 3, ... through a chain of BDs."""
    rig = Rig()
    for n, descriptor in enumerate(chain):
        rig.write_bd(n, descriptor.but(next=n + 1 if n + 1 < len(chain) else None))
    rig.feed(rig.s2mm(), words)
    rig.issue(rig.s2mm(), 0, runs)
    rig.engine.run(10_000)
    return rig


def sent(*chain: Descriptor, runs: int = 1) -> list[int]:
    """What MM2S 0 sends from a memory in which each word holds its own number plus 1000."""
    rig = Rig()
    rig.fill(0, np.arange(1000, 3000))
    for n, descriptor in enumerate(chain):
        rig.write_bd(n, descriptor.but(next=n + 1 if n + 1 < len(chain) else None))
    rig.catch(rig.mm2s())
    rig.issue(rig.mm2s(), 0, runs)
    rig.engine.run(10_000)
    return [word - 1000 if word else -1 for word in rig.sent(rig.mm2s())]


@pytest.mark.feature("F01")
def test_memory_is_zero_after_reset_and_512_kb_long() -> None:
    rig = Rig()
    memory = rig.memory(0, LAST)
    assert memory.nbytes == 512 * 1024
    assert not memory.any()


@pytest.mark.feature("F05", "F14")
def test_chained_bds_write_one_after_the_other() -> None:
    rig = received(bd(4, 100), bd(3, 50), bd(2, LAST - 2), words=9)
    assert rig.memory(100, 4).tolist() == [1, 2, 3, 4]
    assert rig.memory(50, 3).tolist() == [5, 6, 7]
    assert rig.memory(LAST - 2, 2).tolist() == [8, 9]
    assert np.count_nonzero(rig.memory(0, LAST)) == 9


@pytest.mark.feature("F05", "F14")
def test_chained_bds_read_one_after_the_other() -> None:
    assert sent(bd(4, 100), bd(3, 50), bd(2, 7)) == [100, 101, 102, 103, 50, 51, 52, 7, 8]


@pytest.mark.feature("F11")
@pytest.mark.parametrize("runs", [1, 2, 256])
def test_repeat_count_runs_the_whole_chain(runs: int) -> None:
    assert sent(bd(2, 10), bd(1, 30), runs=runs) == [10, 11, 30] * runs


@pytest.mark.feature("F11")
def test_queued_tasks_run_in_order() -> None:
    rig = Rig()
    rig.fill(0, np.arange(100))
    for n, word in enumerate((40, 20, 30, 10)):
        rig.write_bd(n, bd(2, word))
        rig.issue(rig.mm2s(), n)
    rig.catch(rig.mm2s())
    rig.engine.run(1000)
    assert rig.sent(rig.mm2s()) == [40, 41, 20, 21, 30, 31, 10, 11]


@pytest.mark.feature("F06")
def test_four_dimensions_and_an_iteration_offset() -> None:
    dims = (Dim(1, 2), Dim(10, 2), Dim(100, 2), Dim(400))
    one = [
        400 * d3 + 100 * d2 + 10 * d1 + d0 for d3 in (0, 1) for d2 in (0, 1) for d1 in (0, 1) for d0 in (0, 1)
    ]
    found = sent(bd(16, dims=dims, iteration=Iteration(3, 2)), runs=3)
    assert found == [*one, *(word + 3 for word in one), *one]


@pytest.mark.feature("F06")
def test_a_strided_write_leaves_the_gaps_alone() -> None:
    rig = Rig()
    rig.fill(0, [9] * 32)
    rig.write_bd(0, bd(6, 1, dims=(Dim(2, 3), Dim(10))))
    rig.feed(rig.s2mm(), 6)
    rig.issue(rig.s2mm(), 0)
    rig.engine.run(1000)
    expected = np.full(32, 9)
    expected[[1, 3, 5, 11, 13, 15]] = range(1, 7)
    assert rig.memory(0, 32).tolist() == expected.tolist()


@pytest.mark.feature("F06")
def test_iteration_current_is_live_state_of_the_descriptor() -> None:
    """One step per load, kept across tasks, wrapping after Iteration_Wrap (DEV-ITER-1, GT-19)."""
    rig = Rig()
    rig.write_bd(0, bd(2, iteration=Iteration(8, 3, current=1)))
    word = rig.kind.bd_base + 6 * 4
    s = rig.s2mm()
    seen = []
    for _ in range(4):
        seen.append(rig.door.read32(word) >> 23 & 0x3F)
        rig.feed(s, 2)
        rig.issue(s, 0)
        rig.engine.run(rig.now + 100)
    assert seen == [1, 2, 0, 1]
    assert rig.memory(0, 24).nonzero()[0].tolist() == [0, 1, 8, 9, 16, 17]


def test_an_iteration_beyond_its_wrap_is_used_once() -> None:
    """DEV-ITER-1: as the walk says it."""
    descriptor = bd(2, iteration=Iteration(3, 2, 7))
    walks = [addresses(Walk.of(descriptor, execution)) - Walk.of(bd(2)).base for execution in range(4)]
    assert sent(descriptor, runs=4) == np.concatenate(walks).tolist() == [21, 22, 0, 1, 3, 4, 0, 1]


def test_iteration_of_a_bd_run_by_two_channels_is_shared() -> None:
    rig = Rig()
    rig.write_bd(0, bd(1, iteration=Iteration(8, 4)))
    for number in (0, 2, 4):
        rig.feed(rig.s2mm(number), [7 + number])
        rig.issue(rig.s2mm(number), 0)
        rig.engine.run(rig.now + 100)
    assert rig.memory(0, 24)[[0, 8, 16]].tolist() == [7, 9, 11]


@pytest.mark.feature("F07")
def test_padding_is_a_box_around_the_lower_three_dimensions() -> None:
    """DEV-PAD-1, DEV-PAD-2: NumPy's pad of a 2 x 2 x 2 block, the length in stream words."""
    block = np.array([[[0, 1], [10, 11]], [[100, 101], [110, 111]]])
    pads = (Pad(1, 2), Pad(1, 0), Pad(2, 1))
    box = np.pad(block, [tuple(p) for p in reversed(pads)], constant_values=-1)
    dims = (Dim(1, 2), Dim(10, 2), Dim(100, 2))
    assert sent(bd(box.size, dims=dims, pad=pads)) == box.ravel().tolist()


@pytest.mark.feature("F07")
def test_padding_repeats_with_dimension_three() -> None:
    found = sent(bd(8, dims=(Dim(1, 2), Dim(1, 1), Dim(1, 1), Dim(50)), pad=(Pad(1, 1),)))
    assert found == [-1, 0, 1, -1, -1, 50, 51, -1]


def test_padding_fields_do_nothing_on_s2mm() -> None:
    rig = received(bd(4, dims=(Dim(1, 2), Dim(8)), pad=(Pad(3, 2),)), words=4)
    assert rig.memory(0, 12).tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0]


def test_wrap_zero_never_reaches_the_higher_dimensions() -> None:
    assert sent(bd(5, dims=(Dim(2, 0), Dim(100, 2)))) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("length", [1, 5, 7, 24])
def test_the_length_cuts_the_walk(length: int) -> None:
    whole = [20 * row + column for row in range(6) for column in range(4)]
    assert sent(bd(length, dims=(Dim(1, 4), Dim(20)))) == whole[:length]


@pytest.mark.feature("F14", "F17")
@pytest.mark.parametrize(("give", "take"), [([1], [1]), ([1, 0, 0], [0, 1]), ([1], [0, 0, 1])])
def test_ping_pong_through_two_buffers(give: list[int], take: list[int]) -> None:
    """No word is lost or overwritten, whichever side is faster."""
    rig = Rig()
    free, full = OWN.lock(0), OWN.lock(1)
    for n in (0, 1):
        into = bd(8, 100 * n, acquire=Acquire(free, -1, True), release=Release(full, 1), next=1 - n)
        out = bd(8, 100 * n, acquire=Acquire(full, -1, True), release=Release(free, 1), next=3 - n)
        rig.write_bd(n, into)
        rig.write_bd(2 + n, out)
    rig.set_lock(0, 2)
    rig.feed(rig.s2mm(), 80, give)
    rig.catch(rig.mm2s(), take)
    rig.issue(rig.s2mm(), 0)
    rig.issue(rig.mm2s(), 2)
    rig.engine.run(2000)
    assert rig.sent(rig.mm2s()) == list(range(1, 81))
    assert (rig.lock(0), rig.lock(1)) == (1, 0)  # the writer holds the next buffer already


@pytest.mark.parametrize("suppress", [False, True])
def test_tlast_ends_each_bd_unless_suppressed(suppress: bool) -> None:
    rig = Rig()
    m = rig.mm2s()
    rig.write_bd(0, bd(3, tlast_suppress=suppress, next=1))
    rig.write_bd(1, bd(2, dims=(Dim(1, 1), Dim(4)), pad=(Pad(0, 1),)))
    rig.catch(m)
    rig.issue(m, 0)
    rig.engine.run(1000)
    assert rig.engine.tlasts(m).tolist() == [0, 0, int(not suppress), 0, 1]


@pytest.mark.parametrize("direction", ["s2mm", "mm2s"])
def test_length_zero_does_its_lock_operations(direction: str) -> None:
    """DEV-BD-3."""
    rig = Rig()
    ch = rig.s2mm() if direction == "s2mm" else rig.mm2s()
    rig.write_bd(0, bd(0, acquire=Acquire(OWN.lock(3), -2, True), release=Release(OWN.lock(4), 1)))
    rig.set_lock(3, 2)
    rig.catch(rig.mm2s())
    rig.issue(ch, 0)
    rig.engine.run(100)
    assert (rig.lock(3), rig.lock(4)) == (0, 1)
    assert rig.status(ch, "Status") == 0
    assert rig.sent(rig.mm2s()) == []


def test_the_current_write_count_counts_the_words_of_the_transfer() -> None:
    rig = Rig()
    rig.write_bd(0, bd(8))
    rig.feed(rig.s2mm(), 5)
    rig.issue(rig.s2mm(), 0)
    rig.engine.run(100)
    assert rig.door.read32(rig.kind.write_count_base) == 5


def test_all_channels_work_at_once() -> None:
    """Each of the twelve moves its own block; the S2MM blocks are disjoint from the MM2S ones."""
    rig = Rig()
    for n in range(6):
        half = 24 * (n % 2)
        rig.fill(8000 + 100 * n, [50 * n + k for k in range(40)])
        rig.write_bd(half + n, bd(40, 100 * n))
        rig.write_bd(half + 6 + n, bd(40, 8000 + 100 * n))
        rig.feed(rig.s2mm(n), [1000 * n + k for k in range(40)])
        rig.catch(rig.mm2s(n))
        rig.issue(rig.s2mm(n), half + n)
        rig.issue(rig.mm2s(n), half + 6 + n)
    rig.engine.run(2000)
    for n in range(6):
        assert rig.memory(100 * n, 40).tolist() == [1000 * n + k for k in range(40)]
        assert rig.sent(rig.mm2s(n)) == [50 * n + k for k in range(40)]


def test_the_next_bd_is_read_when_the_channel_turns_to_it() -> None:
    """DEV-BD-2: software that rewrites it in the last cycle before is still in time."""
    rig = Rig()
    s = rig.s2mm()
    rig.write_bd(0, bd(4, next=1))
    rig.write_bd(1, bd(2, 100))
    rig.feed(s, 6)
    rig.issue(s, 0)
    rig.step_until(lambda: rig.timeline(s).endswith("####"))
    rig.write_bd(1, bd(2, 200))
    rig.engine.run(100)
    assert rig.memory(100, 2).tolist() == [0, 0]
    assert rig.memory(200, 2).tolist() == [5, 6]


@pytest.mark.feature("F07")
@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_padding_up_to_the_limit_of_the_field(dimension: int) -> None:
    """DEV-PAD-3: 63 words, 31 rows, 15 planes."""
    most = (63, 31, 15)[dimension]
    pads = tuple(Pad(most, most) if n == dimension else Pad() for n in range(3))
    found = sent(bd(2 * most + 1, 5, dims=(Dim(1, 1),) * 3, pad=pads))
    assert found == [-1] * most + [5] + [-1] * most
