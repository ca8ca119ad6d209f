"""Numbers that a host brings, on the command line: the values with which a design finishes, as findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memtile.errors import MemtileError
from memtile.runs.options import RunOptions

if TYPE_CHECKING:
    from memtile.cli.runnable import Maker, Runnable
    from memtile.explain.findings import Finding
    from memtile.importers.hosted_array import HostedArray
    from memtile.importers.loaded import Loaded
    from memtile.importers.scalar_conditions import ScalarConditions
    from memtile.runs.program import Run

_OPTIONS = RunOptions(pad_arguments=True)


def with_conditions(made: Runnable, done: Run, options: RunOptions) -> Run:
    """The run, with a finding for each number of its host on which its end depends.

    Args:
        made: what was run.
        done: its run.
        options: of the run.
    """
    if made.conditions is None or options.untimed:
        return done
    from memtile.cli.progress import run_progress
    from memtile.importers.design_file import silent

    with silent(), run_progress(before="trying other numbers of the host"):
        found = made.conditions.search(options)
    result = done.result
    return replace(done, result=replace(result, findings=(*result.findings, *found))) if found else done


def hosted_conditions(made: HostedArray) -> ScalarConditions:
    """What tries other numbers of the host of a program's design, which is run with the program's arrays."""
    from memtile.importers.scalar_conditions import ScalarConditions
    from memtile.runs.array_names import Given

    def once(other: Loaded, how: RunOptions) -> Run:
        return other.hosted(*made.arguments).run_once(how)

    passed = [Given(str(n), each) for n, each in enumerate(made.arguments) if each is not None]
    return ScalarConditions(made.loaded, once, made.loaded.numbers_of(passed))


def conditions_of(still: Loaded, make: Maker) -> Sequence[Finding]:
    """What a check says of the numbers of a host; the design is loaded to be run if anything depends on one.

    Args:
        still: the design as it stands.
        make: loads it to be run.
    """
    from memtile.importers.mlir.runtime_scalars import runtime_scalars

    if not runtime_scalars(still.configured, still.sequence, still.parameters, {}):
        return ()
    try:
        made = make()
    except MemtileError:  # a function that it calls is not known, which a check does not need
        return ()
    return made.conditions.search(_OPTIONS) if made.conditions is not None else ()
