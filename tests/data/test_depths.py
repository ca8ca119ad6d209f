"""Is a run that ends only with enough room before a receiver told as such, with the least that it needs?"""

from __future__ import annotations

import re

import pytest

from memtile import Status, sensitivity
from memtile.explain.findings import Finding
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from support.silicon.verdict_designs import text, verdicts

CASES = {case["id"]: case for case in verdicts()}


def told(case: str, chip: str = "") -> tuple[Status, list[Finding]]:
    design = CASES[case] | ({"dev": chip} if chip else {})
    done = sensitivity(lambda: load(Text("d.mlir", text(design))).run(pad_arguments=True, max_cycles=60_000))
    return done.status, [finding for finding in done.findings if finding.code == "MT0320"]


@pytest.mark.parametrize(
    ("case", "chip", "words"), [("hol_k8_first_a", "", 4), ("hol_k9_first_a", "npu1_1col", 7)]
)
def test_the_least_room_is_told_with_what_hangs_with_less(case: str, chip: str, words: int) -> None:
    """Of 1 + k words that a channel waits for, one is in memory, two beats or words are in the last port."""
    status, (finding,) = told(case, chip)
    assert status is Status.FINISHED
    assert re.match(
        rf"The run finishes only if at least {words} words fit between .*; with \d it is stuck: ",
        finding.message,
    )
    assert any("S2MM 0" in side.who for side in finding.sides)


@pytest.mark.parametrize(("case", "chip"), [("hol_k9_first_b", ""), ("hol_k9_first_a", "")])
def test_a_run_that_ends_or_hangs_with_any_room_is_not(case: str, chip: str) -> None:
    assert told(case, chip)[1] == []
