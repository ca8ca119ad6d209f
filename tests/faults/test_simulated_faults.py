"""Is all as if nothing had happened, once a command that kills and full disks have ended is given again?

A few seeds of what ``make simulate`` tries: each fails without one lock, rename or ``fsync``.
"""

from __future__ import annotations

import sys

import pytest

from adversary import simulate
from adversary.simulate import simulated, undertaking_of
from left_out import need_package

need_package("pyarrow")


@pytest.mark.parametrize("seed", [20], ids=lambda seed: f"{undertaking_of(seed)}-{seed}")
def test_nothing_is_lost_or_left(seed: int) -> None:
    wrong, trace = simulated(seed)
    assert wrong == "", "\n".join(trace)


def test_a_seed_does_the_same_each_time() -> None:
    assert simulated(3) == simulated(3)


def test_a_failure_says_how_to_see_it_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulate, "simulated", lambda seed: ("a row is lost" * (seed == 8), ["1: open a"]))
    monkeypatch.setattr(sys, "argv", ["simulate", "2", "--seed", "7"])
    assert simulate.main() == 1
    said = capsys.readouterr().out
    assert "seed 8, kernels: a row is lost\n  make simulate N=1 SEED=8\n1: open a\n2 seeds" in said
