"""Does each design end, or hang, as it does on a Strix laptop (GT-31)?"""

from __future__ import annotations

import pytest

from memtile import Status
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from support.silicon.verdict_designs import Case, text, verdicts


@pytest.mark.parametrize("case", verdicts(), ids=lambda case: str(case["id"]))
def test_a_design_ends_or_hangs_as_on_silicon(case: Case) -> None:
    done = load(Text("d.mlir", text(case))).run(pad_arguments=True, max_cycles=400_000)
    assert done.result.status is (Status.FINISHED if case["ends"] else Status.STUCK)
