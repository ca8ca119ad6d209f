"""Is the channel named that releases the lock of another one, and not the core that waits for it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.check.check import check_design
from memtile.explain.findings import Finding, Severity
from memtile.explain.repairs import Candidate, hides
from support.designs.severe import severe

ROUNDS = 5


def two_inputs(
    numbers: Sequence[int] = (0, 1, 2, 3),
    gives: Sequence[int] = (0, 0),
    *,
    shared: bool = False,
    ends: bool = True,
    places: int = 1,
) -> Array:
    """A core that adds what two channels write.

    Args:
        numbers: of the locks: first and second full, first and second free.
        gives: which of the full locks each channel releases.
        shared: the core takes one full lock by two.
        ends: the result has room, and the channel that sends it gives that back.
        places: that each channel may write before the core reads.
    """
    array = Array("npu1", columns=1)
    sender, tile = array.memory_tile(0), array.compute_tile(0, 2)
    full = [tile.lock(0, f"full{n}", id=numbers[n]) for n in range(2)]
    free = [tile.lock(places, f"free{n}", id=numbers[2 + n]) for n in range(2)]
    boxes, total = [tile.buffer(f"box{n}", 8) for n in range(2)], tile.buffer("total", 8)
    done, room = tile.lock(0, "done", id=8), tile.lock(int(ends), "room", id=9)
    for n in range(2):
        array.connect(sender.mm2s[n], tile.s2mm[n])
        source = sender.buffer(f"source{n}", (ROUNDS, 8), data=np.arange(8 * ROUNDS).reshape(ROUNDS, 8))
        sender.mm2s[n].start(sender.read(source))
        guarded = tile.write(boxes[n]).guarded(free[n].acquire(), full[gives[n]].release())
        tile.s2mm[n].start(guarded, repeat=ROUNDS)
    array.connect(tile.mm2s[0], sender.s2mm[0])
    sender.s2mm[0].start(sender.write(sender.buffer("sums", (ROUNDS, 8))))
    back = room.release() if ends else None
    tile.mm2s[0].start(tile.read(total).guarded(done.acquire(), back), repeat=ROUNDS)

    def kernel(core: Any) -> Iterator[Any]:
        for _ in range(ROUNDS):
            if shared:
                yield core.acquire(full[0], -2)
            else:
                yield core.acquire(full[0])
                yield core.acquire(full[1])
            yield core.acquire(room)
            core.write(total, core.read(boxes[0]) + core.read(boxes[1]))
            yield core.release(free[0])
            yield core.release(free[1])
            yield core.release(done)

    tile.run_kernel(kernel)
    return array


@pytest.mark.parametrize("numbers", [(0, 1, 2, 3), (0, 2, 1, 3), (5, 3, 4, 2)], ids=["rows", "pairs", "down"])
def test_the_channel_that_releases_the_lock_of_the_other_one_is_named(numbers: Sequence[int]) -> None:
    (finding,) = severe(two_inputs(numbers).run(check=True).findings)
    assert finding.code == "MT0305"
    assert finding.sides[0].who.startswith("compute(0,2) S2MM 1")
    assert f"release lock {numbers[1]} 'full1'" in finding.fix
    (before,) = check_design(lambda: two_inputs(numbers)).findings
    assert before.sides[0].who.startswith("compute(0,2) S2MM 1")


def test_channels_that_share_a_lock_which_the_core_takes_by_two_are_not_named() -> None:
    assert severe(two_inputs(shared=True).run(check=True).findings) == ()
    assert not check_design(lambda: two_inputs(shared=True)).findings
    for places in (1, 2):
        found = two_inputs(shared=True, ends=False, places=places).run(check=True).findings
        assert found
        assert "MT0305" not in {each.code for each in found}


def test_each_channel_with_its_own_lock_is_fine() -> None:
    assert severe(two_inputs(gives=(0, 1)).run(check=True).findings) == ()
    assert not check_design(lambda: two_inputs(gives=(0, 1))).findings


def test_a_wait_for_the_right_lock_is_not_changed() -> None:
    takes, gives = (Candidate("lock", "", takes=each) for each in (True, False))
    (finding,) = severe(two_inputs().run(check=True).findings)
    assert hides(takes, [finding])
    assert not hides(gives, [finding])
    assert not hides(takes, [Finding("MT0302", Severity.ERROR, "")])
