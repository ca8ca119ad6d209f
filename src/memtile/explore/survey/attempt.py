"""One design, tried: loaded, run with the data beside it, compared."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.errors import InputFileError, MemtileError, Problem
from memtile.explain.results import Status
from memtile.explore.survey.cases import Case
from memtile.explore.survey.outcome import Bucket, Outcome
from memtile.importers.bodies.container import build
from memtile.importers.design import Loaded, load
from memtile.io.program.array_names import Given, Wanted
from memtile.io.program.run import ProgramResult

Functions = Mapping[str, Callable[..., Any]]
_MISSING = {"mlir_unknown": "operation", "mlir_external": "function"}


def attempt(case: Case, functions: Functions, device: str, max_cycles: int) -> Outcome:
    """Try a design or a build; whatever happens becomes an outcome.

    Args:
        case: what to try.
        functions: for cores that call what their design only declares, by name.
        device: to be where the text leaves it open and nothing beside it says more; empty = refused then.
        max_cycles: limit in cycles.
    """
    start = time.monotonic()
    try:
        found = _tried(case, functions, device, max_cycles)
    except MemtileError as error:
        found = _refused(case, error)
    except Exception as error:  # a survey goes on whatever one design does to us
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        found = Outcome(case.name, Bucket.BROKEN, text)
    return replace(found, seconds=time.monotonic() - start)


def _tried(case: Case, functions: Functions, device: str, max_cycles: int) -> Outcome:
    device = _device(case.facts) or device
    given = [Given(str(n), _array(file)) for n, file in case.given.items()]
    expected = {str(n): _array(file) for n, file in case.expected.items()}
    wanted = [Wanted(name, array.dtype, array.shape) for name, array in expected.items()]
    if case.path.is_file():
        design = _loaded(case.path, case.part or None, functions, device)
        given += _zeros(design, given, wanted)
        done = design.run_with(given, wanted, max_cycles=max_cycles, pad_arguments=not expected)
        name: str = design.array.device.name
    else:
        found = build(case.path, device=device or None, functions=functions)
        name, done = (
            found.device.name,
            found.run(given, wanted, max_cycles=max_cycles, pad_arguments=not wanted),
        )
    return replace(_outcome(case, done, expected), device=name, cycles=done.result.cycles)


def _device(facts: Path | None) -> str:
    """The device that a file of facts names; empty if it names none."""
    if facts is None:
        return ""
    try:
        data = json.loads(facts.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputFileError(f"{facts}: the file cannot be read: {error}.") from None
    return str(data.get("device", "")) if isinstance(data, dict) else ""


def _loaded(file: Path, part: str | None, functions: Functions, device: str) -> Loaded:
    """The design of a file; ``device`` is for a text that leaves it open."""
    try:
        return load(file, name=part, functions=functions)
    except MemtileError as error:
        if not device or [problem.reason for problem in error.problems] != ["device"]:
            raise
        return load(file, name=part, functions=functions, device=device)


def _zeros(design: Loaded, given: Sequence[Given], wanted: Sequence[Wanted]) -> list[Given]:
    """Zeros for the arguments that nobody gave and that are not only written."""
    named = {each.name for each in given} | {each.name for each in wanted}
    made = []
    for number in sorted(design.used_arguments):
        kind = design.arguments[number]
        if str(number) not in named and kind.dtype is not None and kind.elements > 0:
            made.append(Given(str(number), np.zeros(_words(kind.elements * kind.dtype.itemsize), np.uint32)))
    return made


def _words(size: int) -> int:
    return -(-size // np.dtype(np.uint32).itemsize)


def _array(file: Path) -> npt.NDArray[Any]:
    try:
        return np.asarray(np.load(file, allow_pickle=False))
    except (OSError, ValueError) as error:
        raise InputFileError(f"{file}: the file cannot be read: {error}.") from None


def _refused(case: Case, error: MemtileError) -> Outcome:
    """Why a design did not begin, and what is missing."""
    missing = dict.fromkeys(
        f"{_MISSING[problem.reason]} {problem.given}"
        for problem in error.problems
        if problem.reason in _MISSING
    )
    return Outcome(case.name, Bucket.REFUSED, _sentence(error), tuple(missing))


def _sentence(error: MemtileError) -> str:
    """The first thing that is wrong, in a line: without the text that a caret points to."""
    if not error.problems:
        return str(error).splitlines()[0]
    first: Problem = error.problems[0]
    says = first.says.splitlines()[0] if first.says else first.message.splitlines()[0]
    line = first.where.rpartition("/")[2]
    more = len(error.problems) - 1
    whole = says if says.startswith(first.where) else f"{line}: {says}"
    return f"{whole}; and {more} more" if more else whole


def _outcome(case: Case, done: ProgramResult, expected: Mapping[str, npt.NDArray[Any]]) -> Outcome:
    name, result = case.name, done.result
    if result.status is not Status.FINISHED:
        roots = (*result.unsimulated, *result.errors, *result.waiting, done.stopped)
        root = next((line for line in roots if line), "").replace(f"{case.path.parent}{os.sep}", "")
        if result.status is Status.LIMIT:
            root = f"the limit of cycles is reached; {root}" if root else "the limit of cycles is reached"
        return Outcome(name, Bucket.STUCK, root)
    for number, array in expected.items():
        if difference := _difference(done.arrays[number], array):
            return Outcome(name, Bucket.WRONG, f"argument {number}: {difference}")
    return Outcome(name, Bucket.EXACT if expected else Bucket.FINISHED, "; ".join(result.errors))


def _difference(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> str:
    """How two arrays of one shape and type differ, bit by bit; empty if they do not."""
    one, other = (
        np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize)
        for array in (found, expected)
    )
    places = np.flatnonzero((one != other).any(axis=1))
    if not len(places):
        return ""
    first = int(places[0])
    at = ", ".join(map(str, np.unravel_index(first, expected.shape)))
    values = f"{found.reshape(-1)[first]} instead of {expected.reshape(-1)[first]}"
    return f"{len(places)} of {expected.size} elements differ, the first at [{at}]: {values}"
