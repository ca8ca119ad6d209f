"""Repairs of a design in MLIR: its text with each candidate is loaded as the design was, and run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from memtile.errors import MemtileError
from memtile.explain.findings import Finding
from memtile.explain.repairs import (
    FAILED,
    SECONDS,
    Candidate,
    OutOfTimeError,
    Trial,
    Tried,
    holds_in_other_schedules,
    is_better,
    is_wanted,
    search,
    trial_of,
    until_late,
)
from memtile.explain.results import Result
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.sequence.program import is_scalar
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.types import Shaped
from memtile.runs.external_uses import ExternalUse
from memtile.runs.options import USUAL, RunOptions
from memtile.runs.program import Run

_UNWRITTEN = re.compile(r"interface\(\d+,\d+\) S2MM(?!.*: no task takes )")
"""Of what waits at the end in a task: the host's arrays are not complete."""


class Reloadable(Protocol):
    """What :class:`~memtile.importers.loaded.Loaded` has for this."""

    @property
    def source(self) -> Text | None:
        """The text."""
        ...

    @property
    def loads(self) -> Callable[[Text], Any]:
        """What loads another text."""
        ...

    @property
    def sequence(self) -> object | None:
        """The host sequence."""
        ...

    @property
    def arguments(self) -> Sequence[Shaped]:
        """Shapes and types of the arguments."""
        ...

    def uses(self, scalars: Mapping[int, int]) -> Sequence[ExternalUse]:
        """What the host sequence reads and writes of its arguments."""
        ...


Once = Callable[[Any, RunOptions], Run]
"""Runs a design once."""
Expected = Mapping[str, npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class TextRepairs:
    """What tries repairs of a design in MLIR.

    Attributes:
        design: that is wrong.
        once: runs it, or one like it, with the same arrays.
        expected: arrays that are to come out, by name; empty = nobody knows.
        accept: says of a repaired text whether nothing else is against it.
        usable: says which candidates are tried.
    """

    design: Reloadable
    once: Once
    expected: Expected | None = None
    accept: Callable[[Text], bool] = lambda _: True
    usable: Callable[[Candidate], bool] = lambda _: True

    def search(
        self,
        before: Result,
        findings: Sequence[Finding] = (),
        options: RunOptions = USUAL,
        *,
        seconds: float = SECONDS,
        watch: Callable[[int], None] | None = None,
    ) -> Tried:
        """The changes of the text with which the design finishes, best first.

        Args:
            before: what a run of the design left.
            findings: more of them, of a check.
            options: of its run.
            seconds: time for all runs.
            watch: called before each run with the number of those done.

        Raises:
            DesignError: the design was made otherwise than from a text.
        """
        text = self.text
        asked = replace(options, check=True, history=False, progress=None)
        most = _missing(self.design)

        def attempt(candidate: Candidate, until: float, limit: int) -> Trial:
            trial = self._tried(candidate, replace(asked, max_cycles=limit), until)
            good = is_better(trial, before) and trial.missing <= most
            return replace(trial, good=good)

        def confirm(candidate: Candidate, until: float) -> bool:
            return self._confirmed(candidate, asked, until)

        return search(
            filter(self.usable, candidates(text, [*before.findings, *findings])),
            attempt,
            max_cycles=options.max_cycles,
            confirm=confirm,
            seconds=seconds,
            watch=watch,
        )

    @property
    def text(self) -> Text:
        """The text of the design."""
        text = self.design.source
        assert text is not None
        return text

    def changed(self, candidate: Candidate) -> Text:
        """The text of the design with a candidate."""
        text = self.text
        return replace(text, content=applied(text, candidate.changes), places=(), _breaks=[])

    def _run(self, candidate: Candidate, options: RunOptions, until: float) -> tuple[Reloadable, Run] | None:
        """The design with a candidate, run; None if it is refused, or the time is over."""
        try:
            progress = until_late(until)
            made = self.design.loads(self.changed(candidate))
            return made, self.once(made, replace(options, progress=progress))
        except (MemtileError, OutOfTimeError):  # a change may be one that the array does not have
            return None

    def _tried(self, candidate: Candidate, options: RunOptions, until: float) -> Trial:
        found = self._run(candidate, options, until)
        if found is None:
            return FAILED
        made, done = found
        trial = trial_of(done.result, _missing(made))
        good = trial.good and not done.stopped and not any(map(_UNWRITTEN.match, done.result.resting))
        if self.expected is not None:
            good = good and all(np.array_equal(done.arrays[n], each) for n, each in self.expected.items())
        return replace(trial, good=good, compared=trial.compared or self.expected is not None)

    def _confirmed(self, candidate: Candidate, options: RunOptions, until: float) -> bool:
        """Whether a candidate also works in other schedules, and nothing else is against it."""

        def is_good() -> bool:
            other = self._run(candidate, options, until)
            return other is not None and other[1].result.good

        return self.accept(self.changed(candidate)) and holds_in_other_schedules(is_good)


def _missing(design: Reloadable) -> int:
    """Bytes of the arguments that a host sequence uses and that lie outside of what it reads and writes."""
    if design.sequence is None or any(map(is_scalar, design.arguments)):
        return 0
    touched: dict[int, set[tuple[int, int]]] = {}
    for use in design.uses({}):
        if use.argument is not None:
            touched.setdefault(use.argument, set()).add((use.first, use.end))
    missing = 0
    for number, kind in enumerate(design.arguments):
        if kind.dtype is not None and kind.elements > 0:
            size = kind.elements * kind.dtype.itemsize
            missing += size - min(size, _covered(touched.get(number, ())))
    return missing


def _covered(spans: Sequence[tuple[int, int]] | set[tuple[int, int]]) -> int:
    """Bytes in any of some spans."""
    found = last = 0
    for first, end in sorted(spans):
        first = max(first, last)
        found, last = found + max(0, end - first), max(last, end)
    return found


def repairs(
    design: Reloadable,
    arrays: Sequence[npt.ArrayLike | None],
    expected: Expected | None = None,
    *,
    options: RunOptions = USUAL,
    seconds: float = SECONDS,
) -> Tried:
    """The changes of the text of a design with which it finishes; see :meth:`Loaded.repairs`."""

    def once(made: Any, how: RunOptions) -> Run:
        done: Run = made.run(*arrays, options=how)
        return done

    before = once(design, replace(options, check=True))
    if expected is None and not is_wanted(before.result):
        return Tried()
    return TextRepairs(design, once, expected).search(before.result, (), options, seconds=seconds)
