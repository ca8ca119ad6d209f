"""Designs as mutants of them are run: the same arguments and functions for the original and for each mutant.

Arguments are words that all differ, so that a word at a wrong place shows; a function that a text only
declares adds up what it reads into what it writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.check.check import check, refused
from memtile.check.checked_program import of_mlir
from memtile.errors import MemtileError
from memtile.explain.finding_places import in_order
from memtile.explain.findings import Finding
from memtile.explain.repairs import spent
from memtile.explain.results import Status
from memtile.importers.design import load, load_still
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.sequence.program import is_scalar
from memtile.importers.mlir.token_packets import Text
from memtile.importers.text_repairs import repairs_of, text_repairs
from memtile.runs.options import RunOptions
from memtile.runs.program import Run
from memtile.sim.loop.other_schedules import schedule
from support.culprit.scene import Scene
from support.culprit.texts import content
from support.mlir.outside_facts import FACTS, Facts, Launch

Arrays = Mapping[str, npt.NDArray[Any]]
Functions = Mapping[str, Callable[..., Any]]
MAX_CYCLES = 600_000
_SCALAR = 4  # of arguments that are numbers
SCHEDULES = 8
_MISSING = "mlir_external"
_NAME = "design.mlir"


class Outcome(NamedTuple):
    """How a run ended.

    Attributes:
        status: ``finished``, ``stuck``, ``limit`` or ``refused``.
        cycles: of it.
        good: whether the run says that all is well.
        findings: in the order in which they are said.
        arrays: at the end, by name.
    """

    status: str
    cycles: int
    good: bool
    findings: Sequence[Finding]
    arrays: Arrays


class Original(NamedTuple):
    """A design that mutants are made of.

    Attributes:
        scene: of its text.
        device: to be, where the text leaves it open.
        functions: that its cores call.
        outcome: of its run.
        checked: what a check says of it.
        facts: what its host program does, where that is known.
    """

    scene: Scene
    device: str | None
    functions: Functions
    outcome: Outcome
    checked: Sequence[Finding]
    facts: Facts | None


def summed(*passed: Any) -> int:
    """What an unknown function does: its last array gets sums of what the others hold."""
    arrays = [each for each in passed if isinstance(each, np.ndarray)]
    if arrays:
        target = arrays[-1]
        total = np.zeros(target.size, np.int64)
        for each in arrays[:-1] or arrays:
            words = np.ascontiguousarray(each).reshape(-1).view(np.uint8).astype(np.int64)
            if len(words):
                total += np.resize(words * np.arange(1, len(words) + 1), target.size)
        target[...] = (total % 97 + 1).astype(target.dtype).reshape(target.shape)
    return 0


@lru_cache(maxsize=4)
def original(path: str) -> Original:
    """A design with its outcome.

    Raises:
        MemtileError: it is refused.
    """
    text = content(path)
    scene = Scene(_NAME, text)
    facts = next((each for name, each in FACTS.items() if path.endswith(f"/npu-xrt/{name}")), None)
    device = None
    if re.search(r"aie\.device\((?:NPUDEVICE)\)", text):
        device = facts.device if facts is not None else "npu1"
    functions = dict(facts.functions) if facts is not None else {}
    launches = _launches(facts)
    for launch in launches:
        functions |= dict.fromkeys(_missing(text, device, functions, launch), summed)
    outcome = run(text, device, functions, facts)
    return Original(scene, device, functions, outcome, checked(text, device, facts), facts)


def _launches(facts: Facts | None) -> Sequence[Launch]:
    return facts.launches if facts is not None else (Launch(()),)


def _missing(text: str, device: str | None, functions: Functions, launch: Launch) -> list[str]:
    """Functions that cores call and nobody knows."""
    found = list[str]()
    try:
        load(Text(_NAME, text), device=device, name=launch.device or None, functions=functions)
    except MemtileError as error:
        found = [each.given for each in error.problems if each.reason == _MISSING]
    return found


def run(
    text: str,
    device: str | None,
    functions: Functions,
    facts: Facts | None,
    *,
    max_cycles: int = MAX_CYCLES,
    seed: int = 0,
    expected: Arrays | None = None,
) -> Outcome:
    """Run a text, as often as its host program does; a refusal is an outcome.

    Args:
        text: of the design.
        device: to be.
        functions: that its cores call.
        facts: what its host program does.
        max_cycles: limit of each run.
        seed: of another schedule; 0 = the usual one, with the search for races.
        expected: arrays at the end, with which those of a single run are compared; None = nobody knows.
    """
    pool: dict[str, npt.NDArray[Any]] = {}
    pool |= {name: np.array(array) for name, array in facts.data.items()} if facts is not None else {}
    found, cycles, good, design = list[Finding](), 0, True, None
    for launch in _launches(facts):
        try:
            with schedule(seed):
                if design is None or not launch.again:
                    name = launch.device or None
                    asked = {"name": name, "parameters": launch.parameters, "functions": functions}
                    design = load(Text(_NAME, text), device=device, **asked)
                given = arguments(design, launch, pool if facts is not None else None)
                done = design.run(
                    *given,
                    parameters=launch.parameters,
                    check=seed == 0,
                    pad_arguments=True,
                    max_cycles=max_cycles,
                )
        except MemtileError as error:
            return Outcome("refused", 0, False, (*found, *refused(_NAME, error)), pool)
        if expected is not None and len(_launches(facts)) == 1:
            done = _compared(done, launch, expected)
        result = done.result
        for n, each in enumerate(launch.arguments or given):
            if str(n) in done.arrays:
                pool[each if isinstance(each, str) else str(n)] = np.array(done.arrays[str(n)])
        pool |= {name: np.array(array) for name, array in done.arrays.items() if not name.isdecimal()}
        found += result.findings
        cycles += result.cycles
        good &= result.good and not done.stopped
        if result.status is not Status.FINISHED or done.stopped:
            return Outcome(str(result.status), cycles, good, in_order(found), pool)
    return Outcome("finished", cycles, good, in_order(found), pool)


def _compared(done: Run, launch: Launch, expected: Arrays) -> Run:
    """A run with its arrays compared with those that are expected."""
    wanted = {name: expected[_name(launch, name)] for name in done.arrays if _name(launch, name) in expected}
    against = getattr(done, "against", None)
    return done if against is None else against(wanted)


def _name(launch: Launch, name: str) -> str:
    """What an argument is called among the arrays of a host program."""
    given = launch.arguments[int(name)] if name.isdecimal() and launch.arguments else name
    return given if isinstance(given, str) else name


class Repaired(NamedTuple):
    """What became of a repair.

    Attributes:
        offered: there is one.
        right: applied as it stands it leaves the words of the original, in the same time.
        seconds: of the processor, for the search.
        says: the change.
    """

    offered: bool
    right: bool
    seconds: float
    says: str = ""


_CLOSE = 0.05  # of the cycles of the original


def repaired(text: str, of: Original, limit: int) -> Repaired:
    """The first repair of a mutant, applied mechanically; of several launches, the first wrong one's."""
    launch, facts, expected = _failing(text, of, limit)
    given = partial(arguments, launch=launch, pool=facts.data if facts is not None else None)
    count = len(launch.arguments) or len(expected)
    wanted = {str(n): expected[name] for n in range(count) if (name := _name(launch, str(n))) in expected}
    options = RunOptions(check=True, pad_arguments=True, max_cycles=limit)
    asked = {"name": launch.device or None, "parameters": launch.parameters, "functions": of.functions}
    loads = partial(load, device=of.device, **asked)

    def once(made: Loaded, how: RunOptions) -> Run:
        return made.run(*given(made), parameters=launch.parameters, options=how)

    began = spent()
    try:
        design = loads(Text(_NAME, text))
        before = once(design, options).against(wanted)
        best = repairs_of(design, once, wanted).search(before.result, (), options).best
    except MemtileError as error:
        tries = text_repairs(Text(_NAME, text), loads, once, wanted)
        best = tries.search(None, [*refused(_NAME, error)], options).best
    seconds = spent() - began
    if best is None:
        return Repaired(offered=False, right=False, seconds=seconds)
    for change in sorted(best.changes, key=lambda change: -change.offset):
        text = text[: change.offset] + change.new + text[change.offset + len(change.old) :]
    done = run(text, of.device, of.functions, of.facts, max_cycles=limit)
    near = abs(done.cycles - of.outcome.cycles) <= _CLOSE * of.outcome.cycles
    right = done.status == "finished" and same(done.arrays, of.outcome.arrays) and near
    return Repaired(offered=True, right=right, seconds=seconds, says=best.says)


def _failing(text: str, of: Original, limit: int) -> tuple[Launch, Facts | None, Arrays]:
    """The first run that goes wrong, what the arrays are before it, and what they have to be after it."""
    launches, facts = _launches(of.facts), of.facts
    if facts is None or len(launches) == 1:
        return launches[0], facts, of.outcome.arrays
    before: Arrays = facts.data
    for n in range(1, 1 + len(launches)):
        part = replace(facts, launches=launches[:n])
        wanted = run(of.scene.content, of.device, of.functions, part)
        found = run(text, of.device, of.functions, part, max_cycles=limit)
        if found.status != "finished" or not same(found.arrays, wanted.arrays):
            break
        before = found.arrays
    return part.launches[-1], replace(facts, data=before), wanted.arrays


def arguments(design: Loaded, launch: Launch, pool: Arrays | None) -> list[Any]:
    """Words that all differ, for each argument; those of its host program where these are known."""
    if pool is not None:
        return [pool[each] if isinstance(each, str) else each for each in launch.arguments]
    found = list[Any]()
    for n, kind in enumerate(design.arguments if design.sequence is not None else ()):
        if is_scalar(kind):
            found.append(_SCALAR)
            continue
        words = np.arange(1 + 37 * n, 1 + 37 * n + kind.elements) % (1 << 20)
        found.append(words.astype(kind.dtype))
    return found


def checked(text: str, device: str | None, facts: Facts | None) -> Sequence[Finding]:
    """What ``memtile check`` says of a text, of each device that its host program launches."""
    found = list[Finding]()
    for name in dict.fromkeys(launch.device or None for launch in _launches(facts)):
        make = partial(load_still, Text(_NAME, text), device=device, name=name)
        found += check(_NAME, lambda make=make: of_mlir(make())).findings
    return found


def same(one: Arrays, other: Arrays) -> bool:
    """Whether two runs left the same words."""
    if one.keys() != other.keys():
        return False
    return all(
        one[name].dtype == other[name].dtype and one[name].tobytes() == other[name].tobytes() for name in one
    )


def differs_otherwise(text: str, of: Original, cycles: int) -> bool:
    """Whether another schedule of a text is stuck or leaves other words than its original does in it.

    An original whose own end hangs on the schedule says nothing about its mutants.
    """
    for seed in range(1, SCHEDULES + 1):
        found = run(text, of.device, of.functions, of.facts, max_cycles=cycles, seed=seed)
        if found.status != "finished" or not same(found.arrays, of.outcome.arrays):
            return _is_steady(of, cycles)
    return False


_steady: dict[int, bool] = {}


def _is_steady(of: Original, cycles: int) -> bool:
    """Whether the original ends in the same way in all schedules."""
    key = hash(of.scene.content)
    if key not in _steady:
        ends = (
            run(of.scene.content, of.device, of.functions, of.facts, max_cycles=cycles, seed=seed)
            for seed in range(1, SCHEDULES + 1)
        )
        _steady[key] = all(
            each.status == "finished" and same(each.arrays, of.outcome.arrays) for each in ends
        )
    return _steady[key]
