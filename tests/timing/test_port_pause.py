"""Does a port pause after the words of a descriptor where it is asked to, and where not, to the cycle?"""

from __future__ import annotations

import pytest

from memtile import Timing
from memtile.bd.descriptor import Acquire, Descriptor
from memtile.bd.windows import OWN
from memtile.testing.rig import Rig

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


def test_a_run_with_it_jumps_over_nothing() -> None:
    """A jump moves words on in their descriptors, and the pause hangs on where they are."""
    jumped = []
    for timing in (Timing(), PAUSING):
        rig = Rig("memory", timing=timing)
        s = rig.s2mm()
        rig.write_bd(0, Descriptor("memory", 1 << 12, OWN.address(0)))
        rig.feed(s, 1 << 12)
        rig.issue(s, 0)
        rig.engine.forward.on = True
        rig.engine.run(1 << 13)
        assert rig.engine.state.channels.moved[s] == 1 << 12
        jumped.append(rig.engine.forward.jumped)
    assert jumped[0] > 0 == jumped[1]
