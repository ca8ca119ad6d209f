"""Does every design of others with small mistakes give a result or a named error, and never a traceback?

``pytest tests/outside/test_mutated.py --designs PATH --mutants 10000`` runs them, in several processes;
another one goes on where a mistake ended one. ``--load-only`` loads them and does not run them, which is
faster. ``--designs`` may be given more than once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mutated_runs import BAD, followed, load_text, run_all, run_text
from mutated_texts import mutated


def _run(files: tuple[Path, ...], load_only: bool, number: int) -> str:
    file = files[number % len(files)]
    text = mutated(file.read_text(encoding="utf-8"), number)
    if load_only:
        load_text(file.as_posix(), text)
        return "loaded"
    return run_text(file.as_posix(), text)


def _made(files: tuple[Path, ...], load_only: bool, number: int) -> Callable[[], str]:
    return partial(_run, files, load_only, number)


def test_designs_with_mistakes_give_no_traceback(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    folders, many = (request.config.getoption(name, default=None) for name in ("--designs", "--mutants"))
    if not folders or not many:
        pytest.skip("no folder and no number are given: --designs PATH --mutants 10000")
    first = request.config.getoption("--first-mutant")
    files = tuple(file for folder in folders for file in sorted(Path(folder).rglob("*.mlir")))
    assert files, f"no MLIR file is below {', '.join(folders)}"
    made = partial(_made, files, request.config.getoption("--load-only"))
    processes = request.config.getoption("--mutant-processes") or os.cpu_count() or 1
    running = run_all(range(first, first + many), made, processes)
    with capsys.disabled():
        found = followed(running, many, partial(print, flush=True))
    bad = [each for each in found if each.kind in BAD]
    assert [f"{each.number}: {each.says}\n{each.text}" for each in bad] == []
