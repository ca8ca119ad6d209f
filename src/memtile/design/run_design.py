"""A design function made with values for its parameters, and run, in one schedule or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, Unpack, runtime_checkable

import numpy as np
import numpy.typing as npt

from memtile.arch.timing import chosen_timing
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.design.parameters import chosen
from memtile.errors import DesignError, Problem
from memtile.explain.depths import doubtful_depths, with_depths
from memtile.explain.findings import Finding, Severity, Side, WordRange
from memtile.explain.orders.proof import FINISHES, STUCK, Proof
from memtile.explain.results import Result, Status
from memtile.runs.options import USUAL, RunKeywords, RunOptions
from memtile.sim.loop.other_schedules import schedule


@runtime_checkable
class Loadable(Protocol):
    """What :func:`memtile.load` and :func:`memtile.load_iron` return."""

    def hosted(self) -> Array:
        """The design as an array whose run is that of its host sequence."""


class ScheduleRun(NamedTuple):
    """A run and what it gave.

    Attributes:
        seed: of its schedule; 0 = the usual one.
        result: of the run.
        arrays: what came out, by name.
    """

    seed: int
    result: Result
    arrays: Mapping[str, npt.NDArray[Any]]


def together(usual: ScheduleRun, others: Sequence[ScheduleRun]) -> Result:
    """The usual result with the findings of all schedules, and what differs between them."""
    findings = {_key(finding): finding for finding in usual.result.findings}
    for other in others:
        for finding in other.result.findings:
            findings.setdefault(_key(finding), finding)
    proved, broken = _proved(usual.result, others), tuple(_other_ends(usual.result, others))
    found = (*findings.values(), *broken, *_differences(usual, others))
    return replace(usual.result, findings=found, proved=proved)


def _proved(usual: Result, others: Sequence[ScheduleRun]) -> Proof | None:
    """What the run says of every timing, with what the others have shown."""
    if usual.proved is None:
        return None
    broken = next((other.seed for other in others if _ends_otherwise(usual, other.result)), None)
    return replace(usual.proved, schedule=broken, tried=len(others))


def _ends_otherwise(usual: Result, other: Result) -> bool:
    """Whether one of two runs finished and the other one is stuck, or a channel of it ran into an error."""
    both = {usual.status, other.status}
    return len(both) > 1 and both <= {Status.FINISHED, Status.STUCK, Status.HALTED}


def _other_ends(usual: Result, others: Sequence[ScheduleRun]) -> Iterator[Finding]:
    """That the run ends otherwise in the first schedule that shows it."""
    for other in others:
        if _ends_otherwise(usual, other.result):
            errors = (each for each in other.result.findings if each.severity is Severity.ERROR)
            root = next(errors, None) if other.result.status is not Status.FINISHED else None
            why = f": {root.message}" if root else "."
            message = f"The run {_ENDS[usual.status]}, and in schedule {other.seed} it "
            message += f"{_ENDS[other.result.status]}{why}"
            sides = root.sides if root else (Side("the run", f"{_ENDS[usual.status]} by luck"),)
            yield Finding("MT0326", Severity.ERROR, message, sides=sides, fix=_ORDER)
            return


def _key(finding: Finding) -> tuple[str, frozenset[str]]:
    return finding.code, frozenset(side.who for side in finding.sides)


def _differences(usual: ScheduleRun, others: Sequence[ScheduleRun]) -> Iterator[Finding]:
    for name, array in usual.arrays.items():
        for other in others:
            words = _differing(array, other.arrays.get(name))
            if words is not None:
                yield _finding(name, words, other.seed)
                break


_ENDS = {Status.FINISHED: FINISHES, Status.STUCK: STUCK, Status.HALTED: "is halted by an error"}
_ORDER = "Let one part alone take from each lock, and packets that wait for each other not share an arbiter."


def _differing(one: npt.NDArray[Any], other: npt.NDArray[Any] | None) -> tuple[int, int] | None:
    """First and last place in which two arrays differ, or None."""
    if other is None or len(one.ravel()) != len(other.ravel()):
        return 0, max(one.size - 1, 0)
    places = np.flatnonzero(one.ravel().view(np.uint8) != other.ravel().view(np.uint8)) // one.itemsize
    return (int(places[0]), int(places[-1])) if len(places) else None


def _finding(name: str, words: tuple[int, int], seed: int) -> Finding:
    first, last = words
    return Finding(
        "MT0206",
        Severity.ERROR,
        f"{name} comes out otherwise with another timing: elements {first} to {last}, in schedule {seed}.",
        sides=(Side(name, f"has other elements in schedule {seed}"),),
        words=(WordRange(name, first, last - first + 1),),
        fix="Put an order where another finding says that there is none.",
    )


def run(
    design: Callable[..., MemoryTile | Array],
    *,
    set: Mapping[str, object] | None = None,
    timing: Mapping[str, int] | None = None,
    schedules: int = 0,
    options: RunOptions = USUAL,
    **more: Unpack[RunKeywords],
) -> Result:
    """Make a design with values for its parameters and run it; ``memtile run --set`` does the same.

    Args:
        design: a function that returns a :class:`MemoryTile`, an :class:`Array`, or what
            :func:`memtile.load` returns; its arguments are the parameters of the design.
        set: values by name; parameters that are not set have their defaults. For a parameter that is not
            text, text is converted to the value it names: ``"0x20"``, ``"yes"``, ``"int8"``.
        timing: timing constants by name; they override those of the design's array; ``--timing``.
        schedules: number of further runs to check, each with DMA, kernels and arbiters earlier or later
            within unmeasured ranges; words that differ in any of them are a finding.
        options: of each run.
        more: fields of :class:`RunOptions`; they override ``options``.

    Returns:
        The result, with the value of every parameter in ``Result.parameters``.

    Raises:
        DesignError: ``design`` is no function; names that are no parameters, values of other types,
            parameters without a value, all at once. Timing constants that there are not, or outside their
            ranges. And what the design raises itself.
    """
    if not callable(design):
        raise DesignError(_no_function(design))
    where = f"design {getattr(design, '__name__', 'function')}"

    asked = RunOptions.of(options, more)
    asked = replace(asked, check=asked.check or schedules > 0)

    depths: list[str] = []

    def again() -> Result:
        return make(design, set or {}, where).run(asked.run_again())

    def once(others: bool = True) -> tuple[Result, Mapping[str, Any]]:
        with chosen_timing(timing or {}):
            made = make(design, set or {}, where)
            result = made.run(replace(asked, history=asked.history and not others))
            if not others:
                depths[:] = doubtful_depths(
                    made.bench.engine if isinstance(made, MemoryTile) else made.engine
                )
            if not others and result.kept is not None:
                result = replace(result, kept=result.kept.holding())
        return result, result_arrays(made, result)

    return with_depths(with_schedules(*once(others=False), once, schedules), again, depths)


def with_schedules(
    result: Result,
    arrays: Mapping[str, Any],
    once: Callable[[], tuple[Result, Mapping[str, Any]]],
    schedules: int,
) -> Result:
    """The result of a run, with what so many more schedules of it have found.

    Args:
        result: of the usual schedule.
        arrays: that came out of it, by name.
        once: makes the model anew and runs it, checked; the same of that.
        schedules: how many, beside the usual one.
    """
    others = []
    for seed in range(1, schedules + 1):
        with schedule(seed):
            others.append(ScheduleRun(seed, *once()))
    return together(ScheduleRun(0, result, arrays), others) if others else result


def result_arrays(made: MemoryTile | Array, result: Result) -> Mapping[str, Any]:
    """What came out of a design: at its ports, in the buffers and arrays that it expects anything of.

    Nothing after a run without words.
    """
    bench = made if isinstance(made, Array) else made.bench
    if bench.engine.wordless:
        return {}
    arrays = {f"output {name}": array for name, array in result.outputs.items()}
    arrays |= {f"array {name}": array.copy() for name, array, _ in bench.compared}
    arrays |= {
        f"{tile.label}buffer {buffer.name}": tile.load(buffer)
        for tile, buffer, _ in bench.expected
        if bench.engine.has_clock(tile.index)
    }
    return arrays


def make(design: Callable[..., Any], given: Mapping[str, object], where: str) -> MemoryTile | Array:
    """What a design function returns for these values of its parameters, which its results will have.

    Raises:
        DesignError: as for :func:`run`; or it returns something else than a memory tile or an array.
    """
    values = chosen(design, given, where)
    made = design(**values)
    if isinstance(made, Loadable):
        made = made.hosted()
    if not isinstance(made, MemoryTile | Array):
        raise DesignError(_no_design(made, where))
    bench = made if isinstance(made, Array) else made.bench
    bench.parameters = values
    return made


def _no_function(given: object) -> Problem:
    made = isinstance(given, MemoryTile | Array)
    return Problem(
        "design",
        repr(given),
        "a function that returns a MemoryTile or an Array",
        f"design is {given!r}; it must be a function that returns a MemoryTile or an Array",
        "Call the run() of what is made already." if made else "",
        reason="design",
        where="run()",
        source="each run builds its design again, with values for its parameters",
    )


def _no_design(made: object, where: str) -> Problem:
    is_class = isinstance(made, type)
    name = made.__name__ if isinstance(made, type) else type(made).__name__
    given = f"the class {name}" if is_class else name
    return Problem(
        "design()",
        given,
        "a MemoryTile or an Array",
        f"design() returned {given}; it must return a MemoryTile or an Array",
        f"Make one of it: {name}()." if is_class else "",
        reason="design",
        where=where,
        source="what a design function returns",
    )
