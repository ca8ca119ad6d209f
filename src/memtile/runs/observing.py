"""What is observed of a run beside its result, races and history, and how time and words pass in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from memtile.errors import DesignError, Problem
from memtile.explain.bd_chains import BdChains
from memtile.explain.bd_findings import rewritten, with_rewrites
from memtile.explain.deadlock.balance_findings import sure_lengths
from memtile.explain.deadlock.planned_words import PlannedWords
from memtile.explain.deadlock.word_balance import WordBalance
from memtile.explain.findings import OF_WORDS, WRONG_LOCK, Finding, Severity
from memtile.explain.imbalance import without_races
from memtile.explain.orders.decide import decided
from memtile.explain.race_findings import NamedArea, race_findings
from memtile.explain.results import Result
from memtile.explain.wrong_buffers import with_causes
from memtile.explain.wrong_words import with_words
from memtile.runs.machine import Machine
from memtile.runs.options import RunOptions
from memtile.sim.loop.run_history import History
from memtile.sim.loop.timing_only import moving_words
from memtile.sim.races.race_watch import Race, RaceWatch
from memtile.sim.skip.fast_forward import fast_forwarding


def areas_of(machine: Machine) -> Iterator[NamedArea]:
    """The buffers of a design, with their places."""
    for tile in machine.members:
        for buffer in tile.buffers:
            yield NamedArea(buffer.name, tile.index, buffer.offset, buffer.nbytes)


def moves_of(machine: Machine) -> dict[int, tuple[str, ...]]:
    """Names of the buffers that each channel of a design reads or writes, by its model index."""
    channels = (channel for tile in machine.members for channel in (*tile.s2mm, *tile.mm2s))
    return {channel.index: tuple(channel.moves) for channel in channels}


_ENDS_DIFFER = "MT0304"


def in_order_of_causes(waits: Sequence[Finding], races: Iterable[Finding]) -> list[Finding]:
    """Waits and races; a race first where all else is that the ends of a stream count differently.

    Who reads or writes without waiting moves more words, or fewer, than the other end expects.
    """
    races = list(races)
    cause = [each for each in races if each.severity is Severity.ERROR]
    if not cause or not waits or any(each.code != _ENDS_DIFFER for each in waits):
        return [*waits, *races]
    return [*cause, *waits, *(each for each in races if each not in cause)]


_UNWRITTEN, _LENGTHS = "MT0203", frozenset(("MT0323", "MT0324"))


@dataclass(slots=True)
class Observed:
    """What was observed of a run; its races so far, while its context is open.

    Attributes:
        machine: that ran.
        found: accesses to memory that nothing orders.
        watch: that found them; None = nobody looked for them here.
        histories: what happened in each cycle, if that was wanted.
        areas: the buffers, with their places; None = those of the machine.
    """

    machine: Machine
    areas: Sequence[NamedArea] | None = None
    found: Sequence[Race] = ()
    watch: RaceWatch | None = None
    histories: Sequence[History] = ()

    @property
    def races(self) -> list[Finding]:
        """What was found, with the names of the design."""
        engine, watch = self.machine.engine, self.watch
        if watch is None:
            return []
        found = watch.so_far() if engine.checks.watch is watch else self.found
        races = race_findings(engine, found, watch, self._areas)
        return [*rewritten(engine, watch.bds.found), *with_causes(engine, self._areas, found, races)]

    @property
    def _areas(self) -> Sequence[NamedArea]:
        return self.areas if self.areas is not None else list(areas_of(self.machine))

    def _lengths(self, found: Sequence[Finding]) -> list[Finding]:
        """Lengths that are surely off, where words were read that nobody has written."""
        codes = {finding.code for finding in found}
        if _UNWRITTEN not in codes or not codes.isdisjoint(_LENGTHS):
            return []
        engine = self.machine.engine
        return sure_lengths(WordBalance(PlannedWords.of(engine, BdChains(engine)), self._areas))

    def added_to(self, result: Result) -> Result:
        """The result of the run with it, without races that a hang has the code of already."""
        named = {finding.code for finding in result.findings if finding.code == WRONG_LOCK}
        races = without_races((each for each in self.races if each.code not in named), result.findings)
        waits = [each for each in result.findings if each.code not in OF_WORDS]
        if self.watch is not None:
            waits = [*with_rewrites(self.machine.engine, waits, self.watch.bds.found)]
        others = in_order_of_causes(waits, races)
        others = [*self._lengths(others), *others]
        words = [each for each in result.findings if each.code in OF_WORDS]
        result = replace(result, findings=with_words(others, words))
        if not self.histories or result.kept is None:
            return result
        return replace(result, kept=result.kept.with_history(self.histories[0]))

    def with_proof(self, result: Result, of_hosts: Iterable[str]) -> Result:
        """The result with what the run says of every other timing; without a check nothing.

        Args:
            result: of the run, with all its findings.
            of_hosts: which steps of its hosts hang on timing, a line each.
        """
        if self.watch is None:
            return result
        return replace(result, proved=decided(self.machine.engine, self.watch, result, tuple(of_hosts)))


@contextmanager
def observing(
    machine: Machine, options: RunOptions, areas: Sequence[NamedArea] | None = None
) -> Iterator[Observed]:
    """Context in which a machine runs as ``options`` say; ``areas`` are its buffers, if a design names them.

    What an outer context checks or notes already stays with that one.

    Raises:
        DesignError: a check or a history of a run that has no time.
    """
    refuse_untimed(options)
    checks, observed = machine.engine.checks, Observed(machine, areas)
    with ExitStack() as stack:
        if not options.check:
            checks.leave()
        elif checks.watch is None or checks.between_runs:
            observed.found = stack.enter_context(checks.on(goes_on=True))
            observed.watch = checks.watch
        if options.history and checks.recorder is None:
            observed.histories = stack.enter_context(checks.recorded())
        stack.enter_context(fast_forwarding(options.fast_forward))
        stack.enter_context(moving_words(options.data))
        yield observed


def refuse_untimed(options: RunOptions) -> None:
    """Refuse a check or a history of a run that has no time.

    Raises:
        DesignError: it is wanted.
    """
    if options.untimed and options.check:
        raise DesignError(_UNTIMED)
    if options.untimed and options.history:
        raise DesignError("run: an untimed run has no history. Leave untimed out.")


_UNTIMED = Problem(
    "check",
    "an untimed run",
    "a run with a clock",
    "an untimed run has no time, in which two could be too early or too late",
    "Leave untimed out.",
    reason="check",
    where="run",
    source="an order is what happens in time",
)
