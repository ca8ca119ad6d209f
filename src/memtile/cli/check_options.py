"""``--check`` and ``--schedules`` of ``memtile run``: a run that is checked, and other schedules of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from memtile.explain.results import Result
    from memtile.io.program.run import ProgramResult


class CheckOptions(NamedTuple):
    """Whether a run is checked, and in how many more schedules."""

    check: bool
    schedules: int

    def of_design(
        self, result: Result, arrays: Mapping[str, Any], once: Callable[[], tuple[Result, Mapping[str, Any]]]
    ) -> Result:
        """The result with what the other schedules have found; ``once`` makes the model anew and runs it."""
        from memtile.design.run import with_schedules

        return with_schedules(result, arrays, once, self.schedules)

    def of_program(self, done: ProgramResult, again: Callable[[], ProgramResult]) -> ProgramResult:
        """The result of a program with what the other schedules have found; ``again`` runs it anew."""

        def once() -> tuple[Result, Mapping[str, Any]]:
            found = again()
            return found.result, found.arrays

        return replace(done, result=self.of_design(done.result, done.arrays, once))
