"""Is a run that ends only with enough room before a receiver told as such, with the least that it needs?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memtile import Status, sensitivity
from memtile.cli.main import app
from memtile.explain.depths import doubtful_depths
from memtile.explain.findings import Finding
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from support.silicon.verdict_designs import Case, text, verdicts

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


OVERRUN = CASES["ovr_2_arb"]
"""Two packets behind one arbiter; the first one has two words too many for the only descriptor."""


def overrun(words: int, chip: str) -> Case:
    made: Case = json.loads(json.dumps(OVERRUN).replace("258", str(256 + words)))
    return made | {"dev": chip}


def said(command: list[str], case: Case, tmp_path: Path) -> str:
    """What a command prints of a design."""
    (tmp_path / "d.mlir").write_text(text(case), encoding="utf-8")
    name, *options = command
    done = CliRunner().invoke(app, [name, str(tmp_path / "d.mlir"), *options])
    return " ".join(done.stdout.split())


@pytest.mark.parametrize("command", [["run", "--pad-arguments"], ["check"]])
@pytest.mark.parametrize(
    ("case", "words"),
    [
        (CASES["hol_k8_first_a"], "4 words fit"),
        (overrun(6, "npu1"), "4 words fit"),
        (overrun(2, "npu1"), ""),
        (overrun(2, "npu2"), ""),
        (CASES["hol_k9_first_b"], ""),
    ],
    ids=["waits for its lock", "has no task", "fits in the port", "fits in its pair", "never waits"],
)
def test_a_plain_run_and_a_check_say_what_must_fit(
    command: list[str], case: Case, words: str, tmp_path: Path
) -> None:
    found = said(command, case, tmp_path)
    assert ("MT0320" in found) is bool(words)
    assert f"finishes only if at least {words}" in found or not words


def test_where_the_channel_has_no_task_one_word_may_be_all(tmp_path: Path) -> None:
    """DEV-INGRESS-2: a port of 32 bits that takes nothing before its task has two words in front of it."""
    found = said(["run", "--pad-arguments"], overrun(3, "npu1"), tmp_path)
    assert "at least 1 word fits between the last stream switch" in found
    assert "with none before the channel has a task it is stuck" in found


@pytest.mark.parametrize(("words", "waits"), [(16, True), (1024, False)])
def test_only_short_descriptors_that_words_waited_for_are_in_doubt(words: int, waits: bool) -> None:
    """A sender that stands in the same descriptor with less room would only stand farther back."""
    case = dict(CASES["hol_k8_first_a"], buf={"a": f"0,2 {words} 1", "o": f"0,2 {words} 1"}, flows=LOOP)
    case |= {"dma": [f"0,2 S0 ring a:{words}", f"0,2 M0 ring o:{words}", f"0,3 S0 ring b:{words}"]}
    case["buf"]["b"] = f"0,3 {words} 1"
    case |= {"core": {"0,2": "4*(<a >o +o -a)", "0,3": "4*(<b s300 -b)"}}
    case["host"] = [f"go toA 0,0/MM2S/0 {4 * words} quiet"]
    made = load(Text("d.mlir", text(case)))
    assert made.run(pad_arguments=True).result.status is Status.FINISHED
    assert doubtful_depths(made.array.engine) == (["ingress_beats"] if waits else [])


@pytest.mark.parametrize(
    ("options", "target", "doubted"),
    [("quiet", "0,2/0", False), ("", "0,2/0", True), ("#1 quiet", "0,2/0/1", True)],
    ids=["alone", "token", "packet"],
)
def test_words_of_the_host_may_be_in_doubt(options: str, target: str, doubted: bool) -> None:
    """A circuit to one receiver, no token, no lock: how far the sender came makes no difference."""
    case = dict(CASES["hol_k8_first_a"], buf={"a": "0,2 16 1"}, flows=[["0,0/0", target]])
    case |= {"dma": ["0,2 S0 ring a:16"], "core": {"0,2": "4*(<a s300 -a)"}}
    case["host"] = [f"go toA 0,0/MM2S/0 64 {options}".strip()]
    made = load(Text("d.mlir", text(case)))
    assert made.run(pad_arguments=True).result.status is Status.FINISHED
    assert bool(doubtful_depths(made.array.engine)) is doubted


LOOP = [["0,0/0", "0,2/0"], ["0,2/0", "0,3/0"]]
