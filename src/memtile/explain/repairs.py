"""Repairs that are tried: which changes of a design let it finish, by running the design with each of them.

A front end makes the candidates, likeliest first, and runs the design with one of them. The search here
decides what is offered: a run that finishes, writes all that hosts wait for, and has no error. It knows no
front end and no text.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from memtile.bd.descriptor import Descriptor
from memtile.documents import Count, plain
from memtile.explain.findings import Change, Finding, Repair, Severity, Side, is_unplaced
from memtile.explain.results import Result, Status
from memtile.sim.loop.other_schedules import schedule

SECONDS = 10.0
"""Time of the processor for a search, whatever else the machine does."""
MOST_RUNS = 60
_GRACE = 2.0  # seconds that a design which asks nobody may take behind the end of a search
_LATER = 4.0  # how many times as long as the quickest repair another one may take
_TRIALS = 0.7  # of the time of a search; what is left is for other schedules
_OTHER_SCHEDULES = (1, 2)
_NOT_AWAITED = "MT0318"
_NO_TASK_LEFT = ("MT0304", "MT0108")
"""A task without an end waits for nothing more, whatever else is wrong: it mends only one that ended."""
_RACES = ("MT0201", "MT0202", "MT0204", "MT0205")
_OUTSIDE = {
    "MT0314": ("lock_value",),
    "MT0105": ("depth", "count", "bound"),
    _NOT_AWAITED: ("array",),
} | dict.fromkeys(_RACES, ("depth", "array", "bound"))
"""Kinds of change that only hide what a finding is about: more buffers make a race rarer, a value at the
start ends the poll of a host without what it waits for, other counts leave other objects in use, fewer
turns leave out the one that is too early, and other arrays of a host are used by others."""
_GAP = 0.6  # a repair this much less likely than the best one found is not tried
_DOUBT = 0.2  # of two repairs with other words, which are about as likely, neither is known to be meant
_GAP_OF_RIGHT = 0.1  # than one with which all expected words came out


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change that may repair a design.

    Attributes:
        kind: of change, as ``lock_value`` or ``release``.
        says: what is changed, as the end of "Repair: ".
        changes: of the text; empty for a design without one.
        unlikely: 0 = this is nearly always what is meant; larger = try later. Ranks what is offered.
        target: what is changed and where, for designs without a text: object, attribute and value.
        swaps: by number of an argument of the host the bytes that come in the other order, and of each part.
        place: where the design says what is changed, for changes of no text.
        walks: by tile and number of a BD what makes another descriptor of it.
        takes: whether it changes which lock is acquired.
    """

    kind: str
    says: str
    changes: Sequence[Change] = ()
    unlikely: float = 0.0
    target: tuple[str, str, str] = ("", "", "")
    swaps: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    place: str = ""
    walks: Mapping[tuple[int, int], Callable[[Descriptor], Descriptor]] = field(default_factory=dict)
    takes: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """What a design did with a candidate.

    Attributes:
        good: it finished, without an error, and nothing that was expected came out otherwise.
        cycles: of the run.
        missing: bytes of the host's arrays that the run was to write and did not.
        cautions: warnings of the run.
        compared: whether words were compared with expected ones.
        resting: cores that wait for more work at its end.
        ran: False = the design is refused with it, before a run.
        words: what stands for the words that it left; two runs with the same have left the same.
    """

    good: bool
    cycles: int
    missing: int = 0
    cautions: int = 0
    compared: bool = False
    resting: int = 0
    ran: bool = True
    words: int = 0

    @property
    def is_right(self) -> bool:
        """Whether it left the words that were expected, all of them, and nothing is against it."""
        return self.good and self.compared and not self.cautions


FAILED = Trial(good=False, cycles=0)
"""Of a candidate with which the design runs too long."""
REFUSED = Trial(good=False, cycles=0, ran=False)
"""Of a candidate with which the design is refused."""


def trial_of(result: Result, missing: int = 0) -> Trial:
    """What a run shows of a candidate.

    Args:
        result: of the run, checked.
        missing: bytes of the host's arrays that are not written.
    """
    compared, resting = result.exact is not None, len(result.resting)
    return Trial(result.good, result.cycles, missing, _warned(result), compared=compared, resting=resting)


@dataclass(frozen=True, slots=True)
class Tried:
    """The outcome of a search.

    Attributes:
        repairs: that work, best first.
        runs: how many candidates were run.
        seconds: the search took.
    """

    repairs: Sequence[Repair] = ()
    runs: Count = 0
    seconds: float = field(default=0.0, compare=False)

    @property
    def best(self) -> Repair | None:
        """The first repair; None if nothing was found."""
        return self.repairs[0] if self.repairs else None


Attempt = Callable[[Candidate, float, int], Trial]
"""Runs the design with a candidate until a time of :func:`spent`, for so many cycles at most."""
Confirm = Callable[[Candidate, float], bool]
"""Says until a time of :func:`spent` whether a candidate that worked holds otherwise too."""


def spent() -> float:
    """Seconds of the processor that this process and those that it waited for have taken."""
    return sum(os.times()[:4])


def search(
    candidates: Iterable[Candidate],
    attempt: Attempt,
    *,
    max_cycles: int,
    confirm: Confirm | None = None,
    seconds: float = SECONDS,
    runs: int = MOST_RUNS,
    watch: Callable[[int], None] | None = None,
) -> Tried:
    """The candidates that repair a design, best first.

    Args:
        candidates: likeliest first.
        attempt: runs the design with one of them.
        max_cycles: limit of a run, until one has finished; then four times what that took.
        confirm: runs the design with a candidate that worked in other schedules; None = they are not asked.
        seconds: of the processor, for all runs, those in other schedules included.
        runs: how many at most; what is refused before is none.
        watch: called before each run with the number of those done.
    """
    begin, done, worked = spent(), 0, list[tuple[Candidate, Trial]]()
    end = begin + seconds * (1 if confirm is None else _TRIALS)
    sure = _Sure(confirm, begin + seconds)
    for candidate in candidates:
        if spent() > end or done >= runs or _is_enough(worked, candidate, sure):
            break
        if watch is not None:
            watch(done)
        limit = min([max_cycles, *(int(_LATER * trial.cycles) for _, trial in worked)])
        trial = attempt(candidate, end, limit)
        done += trial.ran
        if trial.good:
            worked.append((candidate, trial))
    ranked = sorted(worked, key=_rank)
    while ranked and not sure(ranked[0][0]):
        ranked = ranked[1:]
    if ranked and _is_doubtful(ranked[0], worked):
        ranked = []
    repairs = tuple(_offered(*each) for each in _complete(ranked))
    return Tried(repairs, done, spent() - begin)


class _Sure:
    """Says whether a candidate that worked holds otherwise too; each is asked once.

    Args:
        confirm: runs it again; None = it need not.
        until: a time of :func:`spent`.
    """

    def __init__(self, confirm: Confirm | None, until: float) -> None:
        self._confirm, self._until, self._said = confirm, until, dict[int, bool]()

    def __call__(self, candidate: Candidate) -> bool:
        if self._confirm is None:
            return True
        if id(candidate) not in self._said:
            self._said[id(candidate)] = self._confirm(candidate, self._until)
        return self._said[id(candidate)]


def _is_enough(worked: list[tuple[Candidate, Trial]], candidate: Candidate, sure: _Sure) -> bool:
    """Whether a candidate and those behind it need not be tried; what worked and does not hold goes."""
    while worked and candidate.unlikely > _least_likely(*worked[0]):
        best = min(worked, key=_rank)
        if sure(best[0]):
            return True
        worked.remove(best)
    return False


def _least_likely(candidate: Candidate, trial: Trial) -> float:
    """How unlikely a candidate may be that is tried behind one that worked."""
    return candidate.unlikely + (_GAP_OF_RIGHT if trial.is_right else _GAP)


def _is_doubtful(best: tuple[Candidate, Trial], worked: Iterable[tuple[Candidate, Trial]]) -> bool:
    """Whether another repair is about as likely and leaves other words, and nobody knows which are right."""
    candidate, trial = best
    return not trial.compared and any(
        other.words != trial.words
        and _rank((each, other))[:3] == _rank(best)[:3]
        and each.unlikely < candidate.unlikely + _DOUBT
        for each, other in worked
    )


def _rank(worked: tuple[Candidate, Trial]) -> tuple[float, ...]:
    """Order of repairs: leave nothing out, warn of nothing, end with no core waiting, likeliest, quickest."""
    candidate, trial = worked
    return trial.missing, trial.cautions, trial.resting, candidate.unlikely, trial.cycles


def _complete(ranked: Sequence[tuple[Candidate, Trial]]) -> Iterable[tuple[Candidate, Trial]]:
    """Those that leave out no more than the best."""
    return [each for each in ranked if each[1].missing == ranked[0][1].missing]


def holds_in_other_schedules(is_good: Callable[[], bool]) -> bool:
    """Return whether what was good in the usual schedule is good in others.

    Args:
        is_good: runs it once.
    """
    for seed in _OTHER_SCHEDULES:
        with schedule(seed):
            if not is_good():
                return False
    return True


def _offered(candidate: Candidate, trial: Trial) -> Repair:
    return Repair(
        candidate.kind, candidate.says, tuple(candidate.changes), trial.cycles, trial.compared,
        *candidate.target, candidate.place,
    )  # fmt: skip


def with_repair(findings: Sequence[Finding], tried: Tried) -> tuple[Finding, ...]:
    """The findings, the root of the matter with the best repair that was tried."""
    if tried.best is None:
        return tuple(findings)
    first = next((n for n, each in enumerate(findings) if each.severity is Severity.ERROR), 0)
    repaired = _located(findings[first], *tried.repairs[:2]) if findings else None
    return tuple(repaired if n == first and repaired else each for n, each in enumerate(findings))


def _located(finding: Finding, repair: Repair, other: Repair | None = None) -> Finding:
    """A finding with its repair; with its place too, if it is about words for which nobody knew a reason.

    So is an input that brings too little, or from which too much is taken.

    All words came out right with the change, and in other schedules too: that is why they were wrong. Where
    they do so with another one that is about as likely, it is one of the two.
    """
    found = replace(finding, repair=repair)
    is_open = is_unplaced(finding) or finding.evidence.short > 0
    if not is_open or not (repair.compared and (repair.changes or repair.target)):
        return found
    says, place = f"{repair.says[:1].upper()}{repair.says[1:]}", repair.place
    if repair.changes:
        place = repair.changes[0].place
    who = repair.target or f"line {repair.changes[0].line}"
    side = Side(who, "is another one with the repair", place)
    fix = f"{says}. Tried: all words are as expected."
    if other is not None and other.compared:
        fix = f"One of two: {repair.says}; or {other.says}. Tried: all words are as expected with either."
    return replace(found, sides=(side, *finding.sides), fix=fix)


def hides(candidate: Candidate, findings: Sequence[Finding]) -> bool:
    """Whether a change would only hide what the first finding is about."""
    if candidate.kind == "loop":
        counted = bool(findings and findings[0].evidence.runs)  # a task that runs too seldom needs no ring
        return counted or not findings or findings[0].code not in _NO_TASK_LEFT
    if findings and findings[0].evidence.gives and candidate.takes:
        return True  # the lock that lacks its release would be left without a use
    return bool(findings) and candidate.kind in _OUTSIDE.get(findings[0].code, ())


class OutOfTimeError(Exception):
    """The time of a search is over."""


def until_late(until: float) -> Callable[[int], None]:
    """A callback for runs that ends them when it is later than a time of :func:`spent`.

    Raises:
        OutOfTimeError: it is, now or when the callback is called.
    """

    def progress(_done: int) -> None:
        if spent() > until:
            raise OutOfTimeError

    progress(0)
    return progress


@contextmanager
def ending(until: float) -> Iterator[None]:
    """Context that ends behind a time of :func:`spent`, also where a user's code runs that asks nobody.

    Only in the main thread of systems with interval timers.

    Raises:
        OutOfTimeError: it is later, by the time of the processor; a design that this ends says so itself.
    """
    timed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not timed:
        yield
        return

    def late(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, max(until - spent(), 0.0) + _GRACE, _GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL if before is None else before)


def is_wanted(result: Result) -> bool:
    """Whether a repair is worth looking for: a run is stuck or wrong, or its host waits for too little."""
    ended = result.status in (Status.FINISHED, Status.STUCK, Status.HALTED)
    return ended and (not result.good or any(each.code == _NOT_AWAITED for each in result.findings))


def is_better(trial: Trial, before: Result | None) -> bool:
    """Whether a trial is good, and has fewer warnings than a run in which nothing else was wrong.

    It has no more of them than any run that finished.

    Args:
        trial: of a candidate.
        before: the run without it; None = the design is refused.
    """
    if not trial.good or before is None:
        return trial.good
    if before.status is Status.FINISHED and trial.cautions > _warned(before):
        return False
    return not before.good or trial.cautions < _warned(before)


def _warned(result: Result) -> int:
    return sum(each.severity is Severity.WARNING for each in result.findings)


def as_json(tried: Tried) -> Mapping[str, Any]:
    """Return plain data."""
    return {"repairs": plain(tried.repairs), "runs": tried.runs}
