"""Is all as if nothing had happened, once a command that kills and full disks have ended is given again?

A few seeds of what ``make simulate`` tries: each fails without one lock, rename or ``fsync``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from adversary import simulate
from adversary.simulate import simulated, undertaking_of
from left_out import need_package
from memtile import InputFileError
from memtile.explore.sweep import cluster
from memtile.explore.sweep.log import Log
from memtile.explore.sweep.row import SweepRow, Variant, VariantState
from memtile.explore.sweep.sources import DesignSources

need_package("pyarrow")
SEEDS = (0, 6, 9, 20, 28, 45, 48, 59, 88, 143, 200, 213, 222, 382, 438, 552, 587, 102958)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{undertaking_of(seed)}-{seed}")
def test_nothing_is_lost_or_left(seed: int) -> None:
    wrong, trace = simulated(seed)
    assert wrong == "", "\n".join(trace)


def test_zeros_that_a_loss_of_power_leaves_are_no_journal(tmp_path: Path) -> None:
    (tmp_path / "a.parquet.journal").write_bytes(bytes(500))
    assert not Log(tmp_path / "a.parquet").found


def test_a_worker_whose_disk_is_full_gives_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise InputFileError("the file cannot be written: No space left on device.")

    def row(_: str, task: Variant, __: object) -> SweepRow:
        return SweepRow(task.key, task.sources, task.point, VariantState.GOOD)

    monkeypatch.setattr(cluster, "write_output", full)
    monkeypatch.setattr(cluster, "attempt", row)
    monkeypatch.setattr(cluster, "_kept", lambda _: tmp_path)
    monkeypatch.setattr(cluster, "_file", lambda *_: "d.py")
    sources = DesignSources("d.py", {"d.py": ""})
    asked: dict[str, Any] = {"path": "d.py", "sources": {"name": "d.py", "files": {"d.py": ""}}}
    task = {"sources": sources.hash, "point": {"a": 1}}
    found = cluster.attempt_there({**asked, "task": task, "rivals": {"objectives": [], "costs": []}})
    assert found["state"] == "good"


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
