"""Does every design of others with small mistakes give a result or a named error, and never a traceback?

``pytest tests/outside --designs PATH --mutants 10000``; in several processes; another
one goes on where a mistake ended one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mutated_runs import BAD, run_all, run_text, table
from mutated_texts import mutated


def _run(folder: Path, files: tuple[Path, ...], number: int) -> str:
    file = files[number % len(files)]
    text = mutated(file.read_text(encoding="utf-8"), number)
    return run_text(file.relative_to(folder).as_posix(), text)


def _made(folder: Path, files: tuple[Path, ...], number: int) -> Callable[[], str]:
    return partial(_run, folder, files, number)


def test_designs_with_mistakes_give_no_traceback(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, many = (request.config.getoption(name, default=None) for name in ("--designs", "--mutants"))
    if not folder or not many:
        pytest.skip("no folder and no number are given: --designs PATH --mutants 10000")
    first = request.config.getoption("--first-mutant")
    files = tuple(sorted(Path(folder).rglob("*.mlir")))
    assert files, f"no MLIR file is below {folder}"
    made = partial(_made, Path(folder), files)
    processes = request.config.getoption("--mutant-processes") or os.cpu_count() or 1
    found = list(run_all(range(first, first + many), made, processes))
    bad = [each for each in found if each.kind in BAD]
    with capsys.disabled():
        print(f"\n{table(found)}")
    assert [f"{each.number}: {each.says}\n{each.text}" for each in bad] == []
