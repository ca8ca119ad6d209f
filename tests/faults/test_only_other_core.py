"""Is the one core named that could release a lock for which another core waits?"""

from __future__ import annotations

import pytest

from support.designs.turning_cores import all_findings, core, fifo, use
from support.mlir.mlir_designs import WAIT as TO_END
from support.mlir.mlir_designs import copied, device, host

LOCK = '%go = aie.lock(%{}, 3) {{init = 0 : i32, sym_name = "go"}}'
WAIT = "aie.use_lock(%go, AcquireGreaterEqual, 1)"
HOLD = "aie.use_lock(%own, AcquireGreaterEqual, 1)"
OWN = '%own = aie.lock(%{}, 4) {{init = 1 : i32, sym_name = "own"}}'


@pytest.mark.parametrize(("other", "is_named"), [("d", True), ("c", False)])
def test_the_one_core_that_reaches_a_lock_which_nothing_releases_is_named(other: str, is_named: bool) -> None:
    """Core (0, 3) reaches the memory of core (0, 2), which does not reach that of (0, 4)."""
    waits = "c" if other == "d" else "e"
    design = device(
        "%e = aie.tile(0, 4)",
        LOCK.format(waits),
        OWN.format(other),
        fifo("out", waits, "s", 16),
        core(waits, WAIT, use("out", "Produce", 16)),
        core(other, HOLD),
        host(copied("out", "b", 0, "[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]"), TO_END),
    )
    (found,) = [each for each in all_findings(design) if "'go'" in each.message]
    assert ("the only other core that reaches it" in found.fix) is is_named
