"""Repairs of a design: its text with each candidate is loaded as the design was, run, and judged.

One search for texts of MLIR and of Python, of designs that are refused, stuck or wrong. What loads a text and
what may be changed in it belong to the front end that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from memtile.design.chains import other_descriptors
from memtile.errors import MemtileError
from memtile.explain.checks import Check
from memtile.explain.findings import RACES, Finding, Severity, is_unplaced
from memtile.explain.repairs import (
    FAILED,
    REFUSED,
    SECONDS,
    Candidate,
    OutOfTimeError,
    Trial,
    Tried,
    ending,
    holds_in_other_schedules,
    is_better,
    search,
    spent,
    trial_of,
    until_late,
)
from memtile.explain.results import Result, Status
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.token_packets import Text
from memtile.runs.arrays import swapped_arguments
from memtile.runs.options import USUAL, RunOptions

Arrays = Mapping[str, npt.NDArray[Any]]
_NO_ARRAYS: Arrays = {}


class Ended(NamedTuple):
    """How the run of a text ended.

    Attributes:
        result: of it.
        arrays: that it left, by name.
        missing: bytes of the host's arrays that the design does not use.
        is_open: an array of the host is not complete.
    """

    result: Result
    arrays: Arrays = _NO_ARRAYS
    missing: int = 0
    is_open: bool = False


_UNCHANGED = Candidate("", "")


def _expects(result: Result, before: Sequence[Check]) -> bool:
    """Whether a run was held against what the design expected before: a change of that is no repair."""
    found = {each.port: each for each in result.checks}
    return all(each.port in found and _is_alike(result, found[each.port], each) for each in before)


def _is_alike(result: Result, now: Check, before: Check) -> bool:
    """Whether two checks expect the same elements, as far as that is known."""
    digest = now.digest
    if not digest and now.exact and now.port in result.outputs:  # what came is what is expected
        digest = crc32(np.ascontiguousarray(result.outputs[now.port]).view(np.uint8).data)
    return now.elements == before.elements and (digest == before.digest or not (digest and before.digest))


def _sketched(options: RunOptions) -> RunOptions:
    return replace(options, untimed=True, check=False)


def _nobody_knows() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Repairs:
    """What tries repairs of a design.

    Attributes:
        text: of the design.
        candidates: changes of a text that may repair it, likeliest first, by what was found.
        once: loads a text and runs it.
        expected: arrays that are to come out, by name; None = nobody knows.
        accept: says of a repaired text whether nothing else is against it.
        missing: bytes of the host's arrays that the design does not use as it is; None = it is refused.
        more: changes of no text, by the run, where words are wrong and nobody knows who makes them.
    """

    text: Text
    candidates: Callable[[Text, Sequence[Finding]], Sequence[Candidate]]
    once: Callable[[Text, RunOptions], Ended]
    expected: Arrays | None = None
    accept: Callable[[Text], bool] = lambda _: True
    missing: Callable[[], int | None] = _nobody_knows
    more: Callable[[Result], Iterable[Candidate]] = lambda _: ()

    def search(
        self,
        before: Result | None,
        findings: Sequence[Finding] = (),
        options: RunOptions = USUAL,
        *,
        seconds: float = SECONDS,
        watch: Callable[[int], None] | None = None,
    ) -> Tried:
        """The changes of the text with which the design finishes, best first.

        Args:
            before: what a run of the design left; None = the design is refused.
            findings: more of them, of a check.
            options: of its run.
            seconds: of the processor, for all runs.
            watch: called before each run with the number of those done.
        """
        asked = replace(options, check=True, history=False, data=True, progress=None)
        sketches = self._has_sketches(before, asked, spent() + seconds)
        compared = self._settled(before.checks if before is not None else (), asked, spent() + seconds)
        most = self.missing()

        def attempt(candidate: Candidate, until: float, limit: int) -> Trial:
            how = replace(asked, max_cycles=limit)
            if sketches and self._is_wrong_in_sketch(candidate, how, until, compared):
                return REFUSED
            trial = self._tried(candidate, how, until, compared)
            uses_all = most is None or trial.missing <= most or trial.is_right  # an input may be left in part
            good = is_better(trial, before) and uses_all
            return replace(trial, good=good)

        def confirm(candidate: Candidate, until: float) -> bool:
            return self._confirmed(candidate, asked, until)

        known = [*(before.findings if before is not None else ()), *findings]
        found = self.candidates(self.text, known)
        if before is not None and any(map(is_unplaced, before.findings)):
            found = sorted([*found, *self.more(before)], key=lambda each: each.unlikely)
        limit = options.max_cycles
        return search(found, attempt, max_cycles=limit, confirm=confirm, seconds=seconds, watch=watch)

    def races(self, options: RunOptions = USUAL, *, seconds: float = SECONDS) -> tuple[Finding, ...]:
        """The races of the design as it is that are errors: why words may be wrong.

        Args:
            options: of its run.
            seconds: of the processor; none are known of a design that takes longer.
        """
        how = replace(options, check=True, history=False, data=True, progress=None)
        done = self._run(_UNCHANGED, how, spent() + seconds)
        if not isinstance(done, Ended):
            return ()
        found = (each for each in done.result.findings if each.code in RACES)
        return tuple(each for each in found if each.severity is Severity.ERROR)

    def _settled(self, compared: Sequence[Check], options: RunOptions, until: float) -> Sequence[Check]:
        """What a design expects, without digests of what it expects otherwise each time that it is built."""
        if self.expected is not None or not any(each.digest for each in compared):
            return compared
        done = self._run(_UNCHANGED, replace(options, check=False, max_cycles=1), until)
        now = {each.port: each.digest for each in done.result.checks} if isinstance(done, Ended) else {}
        return [
            each if now.get(each.port, each.digest) == each.digest else replace(each, digest=0)
            for each in compared
        ]

    def _has_sketches(self, before: Result | None, options: RunOptions, until: float) -> bool:
        """Whether runs without a clock show which words are wrong, in a fraction of the time."""
        if before is None or before.status is not Status.FINISHED or before.exact is not False:
            return False
        done = self._run(_UNCHANGED, _sketched(options), until)
        return isinstance(done, Ended) and done.result.status is Status.FINISHED

    def _is_wrong_in_sketch(
        self, candidate: Candidate, options: RunOptions, until: float, compared: Sequence[Check]
    ) -> bool:
        """Whether a run without a clock is refused, or leaves other words than are expected."""
        done = self._run(candidate, _sketched(options), until)
        return done is REFUSED or (isinstance(done, Ended) and not self._judged(done, compared).good)

    def changed(self, candidate: Candidate) -> Text:
        """The text with a candidate."""
        content = applied(self.text, candidate.changes)
        return replace(self.text, content=content, places=(), _breaks=[])

    def _run(self, candidate: Candidate, options: RunOptions, until: float) -> Ended | Trial:
        """How the design ends with a candidate, or that it is refused or takes too long."""
        try:
            with ending(until), swapped_arguments(candidate.swaps), other_descriptors(candidate.walks):
                return self.once(self.changed(candidate), replace(options, progress=until_late(until)))
        except MemtileError:  # a change may be one that the array does not have
            return REFUSED
        except OutOfTimeError:
            return FAILED

    def _tried(
        self, candidate: Candidate, options: RunOptions, until: float, compared: Sequence[Check]
    ) -> Trial:
        """What a candidate does.

        Args:
            candidate: to try.
            options: of the run.
            until: a time of the processor.
            compared: what the design itself expects; where it expects anything else that is no repair.
        """
        for how in (replace(options, check=False), options):  # most fail, and need no search for races
            done = self._run(candidate, how, until)
            if isinstance(done, Trial):
                return done
            trial = self._judged(done, compared)
            if not trial.good:
                break
        return trial

    def _judged(self, done: Ended, compared: Sequence[Check]) -> Trial:
        """What a run shows."""
        trial = trial_of(done.result, done.missing)
        if self.expected is None:
            complete = not done.is_open and _expects(done.result, compared)
            return replace(trial, good=trial.good and complete, words=_digest(done.arrays))
        same = all(is_same(done.arrays.get(name), each) for name, each in self.expected.items())
        return replace(trial, good=trial.good and same, compared=True)

    def _confirmed(self, candidate: Candidate, options: RunOptions, until: float) -> bool:
        """Whether a candidate also works in other schedules, and nothing else is against it."""

        words = list[Arrays]()
        how = replace(options, check=self.expected is None)  # races have been looked for

        def is_good() -> bool:
            done = self._run(candidate, how, until)
            if not isinstance(done, Ended) or not self._judged(done, ()).good:
                return False
            words.append(done.arrays)
            return all(is_same(words[0].get(name), each) for name, each in done.arrays.items())

        return self.accept(self.changed(candidate)) and holds_in_other_schedules(is_good)


def _digest(arrays: Arrays) -> int:
    """A number that stands for the words of arrays."""
    found = 0
    for name in sorted(arrays):
        found = crc32(np.ascontiguousarray(arrays[name]).tobytes(), found)
    return found


def is_same(got: npt.NDArray[Any] | None, expected: npt.NDArray[Any]) -> bool:
    """Whether two arrays have the same bytes; a file may have lost the type, as of bfloat16 in ``.npy``."""
    return got is not None and np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(expected).tobytes()
