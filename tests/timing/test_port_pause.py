"""Does a port pause after the words of a descriptor where it is asked to, and where not, to the cycle?"""

from __future__ import annotations

import pytest

from memtile import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim
from memtile.bd.windows import OWN
from memtile.testing.rig import Rig
from support.designs.repeating_designs import EAGER, differences

PAUSING = Timing(port_pause=1)


def ring(timing: Timing, size: int, *, lock: int | None = None, task: bool = True) -> tuple[Rig, int]:
    """A channel with descriptors that follow each other, and a stream without gaps from cycle 20 on."""
    rig = Rig("memory", timing=timing)
    s = rig.s2mm()
    more = {} if lock is None else {"acquire": Acquire(OWN.lock(0), -1, True)}
    rig.write_bd(0, Descriptor("memory", size, OWN.address(0), next=0, **more))  # type: ignore[arg-type]
    if lock:
        rig.set_lock(0, lock)
    if task:
        rig.issue(s, 0)
    rig.step(20)
    rig.feed(s, 400)
    return rig, s


def refused(rig: Rig, s: int, cycles: int) -> list[int]:
    """Cycles from the first word on in which none enters."""
    rig.step(cycles)
    came = rig.entered(s)
    return [n for n in range(cycles) if came[0] + n not in came]


@pytest.mark.parametrize("size", [1, 4, 7, 16, 33])
def test_a_port_pauses_for_a_cycle_after_the_words_of_each_descriptor(size: int) -> None:
    """DEV-SILICON-2."""
    rig, s = ring(PAUSING, size)
    assert refused(rig, s, 150) == list(range(size, 150, size + 1))


def test_without_the_constant_it_sees_no_boundary_until_its_buffer_is_full() -> None:
    rig, s = ring(Timing(), 16)
    assert refused(rig, s, 200) == []


def test_it_pauses_while_the_descriptor_waits_for_its_lock_by_the_words_that_came() -> None:
    """Of 16 words that the buffer takes in front of the lock, the fifth and so on come a cycle later."""
    rig, s = ring(PAUSING, 5, lock=0)
    assert refused(rig, s, 19) == [5, 11, 17]
    assert refused(rig, s, 1)[3:] == []


def test_a_channel_without_a_task_knows_no_descriptor() -> None:
    rig, s = ring(PAUSING, 4, task=False)
    assert refused(rig, s, 16) == []


def test_stepping_and_skipping_agree() -> None:
    rigs = [ring(PAUSING, 4, lock=2)[0] for _ in range(2)]
    for rig in rigs:
        rig.feed(rig.s2mm(), 3)
    rigs[0].engine.run(400)
    for now in range(rigs[1].engine.now, rigs[0].engine.now):
        rigs[1].engine.run(now + 1)
    before, after = (rig.engine.state for rig in rigs)
    assert before.channels.moved.tolist() == after.channels.moved.tolist()
    assert before.spent.tolist() == after.spent.tolist()
    assert before.fifos.entered.tolist() == after.fifos.entered.tolist()


def jumping(timing: Timing, size: int, *, following: int, forward: bool, late: int) -> Rig:
    """A channel with one descriptor, or with a ring of them, and a stream without gaps."""
    rig = Rig("memory", timing=timing)
    s = rig.s2mm()
    for bd in range(3):
        after = None if following < 0 else (bd + 1) % following
        rig.write_bd(bd, Descriptor("memory", size, OWN.address(bd * size), next=after))
    rig.feed(s, 1 << 12)
    rig.step(late)
    rig.issue(s, 0)
    rig.engine.forward.on, rig.engine.forward.free = forward, EAGER
    rig.engine.run(1 << 13)
    return rig


@pytest.mark.parametrize("size", [16, 60, 1 << 10, 1 << 12])
@pytest.mark.parametrize("following", [-1, 1, 3])
@pytest.mark.parametrize("late", [0, 7, 40])
def test_jumping_and_stepping_agree(size: int, following: int, late: int) -> None:
    """A jump ends before the last word of a descriptor comes, or is over whole rounds of descriptors.

    Words that came before the task wait all the time, so that the last one comes long before it is moved.
    """
    timing = Timing(port_pause=1)
    jumped, stepped = (
        jumping(timing, size, following=following, forward=on, late=late) for on in (True, False)
    )
    assert stepped.engine.forward.jumped == 0
    if following > 0 or size >= 1 << 10:
        assert jumped.engine.forward.jumped > 500
    assert not differences(jumped, stepped)


def test_the_words_of_a_buffer_that_fills_count_for_the_pause() -> None:
    """Where a lane keeps back the channel, words pile up: they came, and are not moved."""
    rigs = []
    for forward in (True, False):
        rig = Rig("memory", timing=Timing(port_pause=1))
        s, m = rig.s2mm(), rig.mm2s()
        rig.write_bd(0, Descriptor("memory", 1 << 10, OWN.address(0), dims=(Dim(64, 0),)))
        rig.write_bd(1, Descriptor("memory", 1 << 10, OWN.address(0x10000), dims=(Dim(64, 0),)))
        rig.catch(m)
        rig.feed(s, 1 << 10)
        for ch, bd in ((s, 0), (m, 1)):
            rig.issue(ch, bd)
        rig.engine.forward.on = forward
        rig.engine.run(1 << 12)
        rigs.append(rig)
    assert not differences(*rigs)
