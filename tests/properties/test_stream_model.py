"""Do the engine and a model without time agree on which random designs of shared switches end?"""

from __future__ import annotations

from collections import Counter

import pytest

from memtile import Status
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from memtile.runs.program import Run
from support.silicon.verdict_designs import Case, text, verdicts
from support.streams.random_cases import random_case
from support.streams.stream_model import Pace, orders

ROUTED = [case for case in verdicts() if not case.get("flows")]
"""What the compiler routed has no switches among its facts."""
SAMPLE, ALL = range(24), range(24, 264)


def ended(case: Case) -> bool:
    done: Run = load(Text("d.mlir", text(case))).run(pad_arguments=True, max_cycles=200_000)
    assert done.result.status in (Status.FINISHED, Status.STUCK)
    return done.result.status is Status.FINISHED


def is_possible(case: Case, wanted: bool) -> bool:
    """Whether the model lets a design end so; most do at once."""
    return any(wanted in orders(case, many, pace) for many, pace in _LOOKS)


_LOOKS: tuple[tuple[int, Pace], ...] = ((2, "even"), (2, "late"), (8, "even"), (60, "uneven"), (20, "late"))


_HARD = "pipe_arb_05"  # one order of many has its verdict; its pair, which is alike but for time, hangs


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] * (case["id"] == _HARD)) for case in ROUTED],
    ids=lambda case: str(case["id"]),
)
def test_the_model_has_what_was_measured(case: Case) -> None:
    """GT-31; of two pairs, which are alike but for time, it has both verdicts."""
    assert is_possible(case, case["ends"])


@pytest.mark.parametrize("seed", SAMPLE)
def test_the_engine_ends_only_as_the_model_can(seed: int) -> None:
    case = random_case(seed)
    verdict = ended(case)
    assert is_possible(case, verdict)


@pytest.mark.slow
@pytest.mark.compiled("hundreds of designs")
@pytest.mark.parametrize("first", range(ALL.start, ALL.stop, 60))
def test_the_engine_ends_only_as_the_model_can_in_hundreds_of_designs(first: int) -> None:
    wrong = []
    for seed in range(first, first + 60):
        case = random_case(seed)
        verdict = ended(case)
        if not is_possible(case, verdict):
            wrong.append(seed)
    assert not wrong


def test_the_sample_has_designs_of_each_kind() -> None:
    """Tokens as packets, kept headers, circuits with two receivers, arbiters of two slaves; both ends."""
    cases = [random_case(seed) for seed in SAMPLE]
    switches = [settings.split() for case in cases for settings in case["route"].values()]
    circuits = [[word.split(">")[0] for word in words if ">" in word] for words in switches]
    rules = [{tuple(word.split(".")[0].split("@")) for word in words if "@" in word} for words in switches]
    served = [Counter(arbiter for _, arbiter in {(s.split(":")[0], a) for s, a in each}) for each in rules]
    assert sum("ctl" in case for case in cases) > 2
    assert any(word.endswith("+") and word[0] == "D" for words in switches for word in words)
    assert sum(len(each) > len(set(each)) for each in circuits) > 2
    assert sum(max(each.values(), default=0) > 1 for each in served) > 10
    assert {frozenset(orders(case, 2)) for case in cases} >= {frozenset((True,)), frozenset((False,))}
