"""Does every design of others with small mistakes give a result or a named error, and never a traceback?

``pytest tests/outside/test_mutated.py --designs PATH --mutants 10000`` runs them, in several processes;
another one goes on where a mistake ended one. ``--load-only`` loads them and does not run them, which is
faster. ``--designs`` may be given more than once; ``--programs`` is the same for files of register writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from support.mutated.mutated_bytes import binary_files, look, run
from support.mutated.mutated_bytes import mutated as mutated_file
from support.mutated.mutated_runs import BAD, followed, load_text, run_all, run_text
from support.mutated.mutated_texts import mutated


def _run(files: tuple[Path, ...], load_only: bool, number: int) -> str:
    file = files[number % len(files)]
    text = mutated(file.read_text(encoding="utf-8"), number)
    if load_only:
        load_text(file.as_posix(), text)
        return "loaded"
    return run_text(file.as_posix(), text)


def _run_file(files: Mapping[str, bytes], load_only: bool, number: int) -> str:
    name = list(files)[number % len(files)]
    return (look if load_only else run)(name, mutated_file(files[name], number))


def _made_file(files: Mapping[str, bytes], load_only: bool, number: int) -> Callable[[], str]:
    return partial(_run_file, files, load_only, number)


def _made(files: tuple[Path, ...], load_only: bool, number: int) -> Callable[[], str]:
    return partial(_run, files, load_only, number)


def _folders(request: pytest.FixtureRequest, option: str) -> list[str]:
    """Folders that an option gives; skips the test where there are none, or no number of mutants."""
    folders, many = (request.config.getoption(name, default=None) for name in (option, "--mutants"))
    if not folders or not many:
        pytest.skip(f"no folder and no number are given: {option} PATH --mutants 10000")
    return list(folders)


def _try(
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    made: Callable[[int], Callable[[], str]],
) -> None:
    """Run all mutants, and show how they end."""
    first, many = (request.config.getoption(name) for name in ("--first-mutant", "--mutants"))
    processes = request.config.getoption("--mutant-processes") or os.cpu_count() or 1
    running = run_all(range(first, first + many), made, processes)
    with capsys.disabled():
        found = followed(running, many, partial(print, flush=True))
    bad = [each for each in found if each.kind in BAD]
    assert [f"{each.number}: {each.says}\n{each.text}" for each in bad] == []


def test_designs_with_mistakes_give_no_traceback(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = _folders(request, "--designs")
    files = tuple(file for folder in folders for file in sorted(Path(folder).rglob("*.mlir")))
    assert files, f"no MLIR file is below {', '.join(folders)}"
    _try(request, capsys, partial(_made, files, request.config.getoption("--load-only")))


def test_files_of_writes_with_mistakes_give_no_traceback(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = _folders(request, "--programs")
    files = binary_files(folders)
    assert files, f"no file of register writes is below {', '.join(folders)}"
    _try(request, capsys, partial(_made_file, files, request.config.getoption("--load-only")))
