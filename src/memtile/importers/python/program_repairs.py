"""Repairs of a program of IRON: changes of its own text, tried by running it.

The MLIR text that it prints is searched first, as that takes a tenth of the time, but only for changes that
have one place in the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memtile.errors import MemtileError
from memtile.explain.findings import Finding, Repair
from memtile.explain.repairs import Candidate, Tried, is_better, trial_of
from memtile.explain.results import Result
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.token_packets import Text
from memtile.importers.python.program_changes import ProgramChanges
from memtile.importers.repairs import Repairs
from memtile.runs.options import RunOptions

_MOST = 6  # programs that are run
_OPTIONS = RunOptions(check=True, pad_arguments=True)


@dataclass(frozen=True, slots=True)
class ProgramRepairs:
    """What tries repairs of a program.

    Attributes:
        printed: what tries those of the text that it prints.
        source: its own text.
        once: runs the program from a source; its result, and whether a check finds no error.
    """

    printed: Repairs
    source: Text
    once: Callable[[str, RunOptions], tuple[Result, bool]]

    def search(self, searched: Callable[[Repairs], Tried], before: Result) -> tuple[Tried, str]:
        """The repairs of the program, best first; and why there is none, if there is none.

        Args:
            searched: searches repairs of a text.
            before: what a run of the program left.
        """
        changes = ProgramChanges(self.source.content, self.source.name, self.printed.text)

        def mapped(text: Text, findings: Sequence[Finding]) -> list[Candidate]:
            return [each for each in self.printed.candidates(text, findings) if changes.of(each.changes)]

        tried = searched(replace(self.printed, candidates=mapped))
        found = [self._tried(each, changes, before) for each in tried.repairs[:_MOST]]
        repairs = tuple(each for each in found if each is not None)
        if repairs:
            return replace(tried, repairs=repairs), ""
        printed = searched(self.printed)
        if printed.best is None:
            return replace(tried, repairs=()), ""
        best = printed.best
        where = changes.missing(best.changes) if not changes.of(best.changes) else "the program fails with it"
        return replace(tried, repairs=()), f"no literal to change: {best.says} in what it prints, but {where}"

    def _tried(self, repair: Repair, changes: ProgramChanges, before: Result) -> Repair | None:
        """The repair as one of the program, if it works there."""
        own = changes.of(repair.changes)
        try:
            result, clean = self.once(applied(self.source, own), _OPTIONS)
        except MemtileError:  # a change may be one that the program refuses
            return None
        good = clean and is_better(trial_of(result), before)
        says = f"line {own[0].line}: {_shown(own[0].new)}" + (
            f" instead of {own[0].old}" if own[0].old else ""
        )
        return replace(repair, says=says, changes=own, cycles=result.cycles) if good else None


def _shown(text: str) -> str:
    return text.strip()
