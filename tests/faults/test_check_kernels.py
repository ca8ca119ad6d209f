"""Does a check see what a kernel in Python does to locks, as far as that does not depend on words?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.check.check import check
from memtile.check.check_result import CheckResult
from memtile.check.checked_program import of_design
from memtile.kernels import Action, Core


def checked(
    turns: int = 4, *, released: bool = True, looks: bool = False, endless: bool = False
) -> CheckResult:
    """A core that gets four blocks, and takes so many; one that looks takes more by what is in them."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    blocks = array.object_fifo("blocks", door, tile, shape=(8,), depth=1)
    source = blocks.consumers[0]

    def takes(core: Core) -> Iterator[Action]:
        for n in range(turns):
            yield core.acquire(source.full)
            words = core.read(source.buffer(n))
            core.write(source.buffer(n), words + 1)
            if looks and words[1]:
                yield core.acquire(source.full)
            yield core.cycles(8)
            if released:
                yield core.release(source.free)

    tile.run_kernel(takes, endless=endless)
    door.mm2s[0].start(door.read(array.external("data", np.arange(32, dtype=np.int32))))
    before = array.engine.state.memory.copy()
    found = check("design", lambda: of_design(array))
    assert np.array_equal(array.engine.state.memory, before)
    return found


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"turns": 5}, " for a full object of @blocks"),
        ({"released": False}, "has never released lock 0 'blocks.free'"),
    ],
)
def test_what_a_kernel_does_wrong_is_found_before_a_run(given: dict[str, Any], says: str) -> None:
    result = checked(**given)
    assert not result.good
    assert any(says in each.message for each in result.findings), result.findings


@pytest.mark.parametrize("given", [{}, {"turns": 5, "endless": True}, {"turns": 5, "looks": True}])
def test_a_kernel_that_may_be_right_is_not_blamed(given: dict[str, Any]) -> None:
    assert checked(**given).findings == ()
