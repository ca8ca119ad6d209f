"""Repairs of a design in Python: its source with each candidate is loaded as the design was, and run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memtile.errors import MemtileError
from memtile.explain.findings import Finding
from memtile.explain.repairs import (
    FAILED,
    SECONDS,
    Candidate,
    Confirm,
    OutOfTimeError,
    Trial,
    Tried,
    holds_in_other_schedules,
    is_better,
    search,
    trial_of,
    until_late,
)
from memtile.explain.results import Result
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.token_packets import Text
from memtile.importers.python.candidates import python_candidates
from memtile.runs.options import USUAL, RunOptions


@dataclass(frozen=True, slots=True)
class PythonRepairs:
    """What tries repairs of a design in Python.

    Attributes:
        text: its source.
        once: runs the design of a source.
        accept: says of a repaired source whether nothing else is against it.
    """

    text: Text
    once: Callable[[str, RunOptions], Result]
    accept: Callable[[Text], bool] = lambda _: True

    def search(
        self,
        before: Result,
        findings: Sequence[Finding] = (),
        options: RunOptions = USUAL,
        *,
        seconds: float = SECONDS,
        watch: Callable[[int], None] | None = None,
    ) -> Tried:
        """The changes of the source with which the design finishes, best first.

        Args:
            before: what a run of the design left.
            findings: more of them, of a check.
            options: of its run.
            seconds: time for all runs.
            watch: called before each run with the number of those done.
        """
        asked = replace(options, check=True, history=False, data=True)
        compared = len(before.checks)

        def attempt(candidate: Candidate, until: float, limit: int) -> Trial:
            done = self._run(candidate, replace(asked, max_cycles=limit), until)
            if done is None or (done.good and len(done.checks) < compared):
                return FAILED
            trial = trial_of(done)
            return replace(trial, good=is_better(trial, before))

        found = python_candidates(self.text.content, self.text.name, [*before.findings, *findings])
        confirm = self._confirmed(asked)
        limit = options.max_cycles
        return search(found, attempt, max_cycles=limit, confirm=confirm, seconds=seconds, watch=watch)

    def changed(self, candidate: Candidate) -> Text:
        """The source with a candidate."""
        return replace(self.text, content=applied(self.text, candidate.changes), _breaks=[])

    def _run(self, candidate: Candidate, options: RunOptions, until: float) -> Result | None:
        """A run of the design with a candidate; None if it is refused, or the time is over."""
        try:
            return self.once(self.changed(candidate).content, replace(options, progress=until_late(until)))
        except (MemtileError, OutOfTimeError):  # a change may be one that the tile does not have
            return None

    def _confirmed(self, options: RunOptions) -> Confirm:
        """Says whether a candidate also works in other schedules, and nothing else is against it."""

        def confirm(candidate: Candidate, until: float) -> bool:
            def is_good() -> bool:
                done = self._run(candidate, options, until)
                return done is not None and done.good

            return self.accept(self.changed(candidate)) and holds_in_other_schedules(is_good)

        return confirm
