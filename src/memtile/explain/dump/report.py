"""What a dump says: who waits for whom by the rules of hangs, and what no register shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from memtile.documents import plain
from memtile.errors import InputFileError
from memtile.explain.bd_chains import BdChains
from memtile.explain.channel_view import ChannelView, channel_views
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.find import Hang, Open, hang
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.deadlock.sentences import Moves, Sentences
from memtile.explain.deadlock.switch_waits import Party
from memtile.explain.dump.load import unknown
from memtile.explain.dump.twin import Twin
from memtile.explain.findings import Finding, Severity
from memtile.explain.lock_waits import lock_errors
from memtile.explain.summary import alike
from memtile.model.state.causes import LINKS, CoreCause, CorePhase
from memtile.sim.loop.engine import Engine

_NO_RESULT = "the result of the server cannot be read"
_SAME_VERSION = "Start memtile serve of this version."
_STANDS = {
    "finished": "all that was started has ended",
    "stuck": "nothing moves any more, and not all that was started has ended",
    "halted": "a channel ran into an error",
    "interrupted": "it still moves",
}


@dataclass(frozen=True, slots=True)
class ServedReport:
    """What a served model says of its own run.

    Attributes:
        device: that it serves.
        status: how it stands: ``finished``, ``stuck``, ``halted``, or ``interrupted`` while it moves.
        cycles: elapsed.
        checked: whether it looks for accesses to memory that nothing orders.
        findings: what is wrong.
        waiting: one line for each channel that has not come to its end.
    """

    device: str
    status: str
    cycles: int
    checked: bool
    findings: Sequence[Finding]
    waiting: Sequence[str]

    @classmethod
    def read(cls, answer: bytes, where: str) -> ServedReport:
        """Read the answer of a server.

        Args:
            answer: JSON.
            where: the server, for messages.

        Raises:
            InputFileError: it has another form, or a finding of a code that there is not.
        """
        try:
            return msgspec.json.decode(answer, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputFileError(f"{where}: {_NO_RESULT}: {error}. {_SAME_VERSION}") from None

    def lines(self) -> Iterator[str]:
        """Text."""
        stands = _STANDS.get(self.status, self.status)
        yield f"the server says after {self.cycles} cycles: {stands}"
        if not self.checked:
            yield "note: races are looked for with memtile serve --check"
        yield from (f"waiting: {line}" for line in self.waiting)
        yield from (f"finding: {finding}" for finding in self.findings)
        if not self.findings:
            yield "no finding: nothing is wrong, or a client can still fix it"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "status": self.status,
            "cycles": self.cycles,
            "checked": self.checked,
            "findings": [finding.as_json() for finding in self.findings],
            "waiting": list(self.waiting),
        }


@dataclass(frozen=True, slots=True)
class DumpReport:
    """A dump, explained.

    Attributes:
        source: what it is: the file, its format, the tiles; a line each.
        hang: findings and graph of waits by what registers show.
        channels: what each channel at work or halted does, a line each.
        cores: likewise of each core that shows anything.
        ended: whether each of these cores has ended.
        errors: sticky errors of locks and channels that go on.
        unknown: what no register shows.
        twin: the design beside it, run in the model; None = none was given.
        notes: further lines.
        told: what a served model says itself, which knows more than its registers show; None = no such thing.
    """

    source: Sequence[str]
    hang: Hang
    channels: Sequence[str] = ()
    cores: Sequence[str] = ()
    ended: bool = False
    errors: Sequence[str] = ()
    unknown: Sequence[str] = ()
    twin: Twin | None = None
    notes: Sequence[str] = field(default_factory=tuple)
    told: ServedReport | None = None

    @property
    def good(self) -> bool:
        """Whether nothing is wrong, as far as registers show it or a served model says it."""
        if self.told is not None:
            return not any(finding.severity is Severity.ERROR for finding in self.told.findings)
        return not self.hang.findings and not (self.twin and self.twin.same and self.twin.findings)

    @property
    def verdict(self) -> str:
        """How the array stands, in one line."""
        known = self.told or (self.twin if self.twin is not None and self.twin.same else None)
        findings = self.hang.findings if known is None else known.findings
        many = f"{len(findings)} finding{'s' * (len(findings) != 1)}"
        if findings:
            return f"status: {self.told.status if self.told else 'stuck'}; {many}"
        if self.told is not None:
            return f"status: {self.told.status}; {many}"
        if self.channels or self.errors or (self.cores and not self.ended):
            return "status: no finding: what the registers show is idle, or may still continue"
        cores = "each core has ended" if self.cores else "no core shows work"
        return f"status: idle: no channel has a task, all queues are empty, and {cores}"

    def lines(self, most: int | None = None) -> Iterator[str]:
        """The report as text, the verdict first.

        Args:
            most: lines of a kind, after those that differ only in numbers are one; None = all, each alone.
        """
        yield self.verdict
        yield from self._reasons(most)
        yield from self.source
        yield from (f"note: {note}" for note in self.notes)
        yield from _few(self.channels, "channels", most)
        yield from _few(self.cores, "cores", most)
        yield from _few(self.errors, "errors", most)
        if self.told is None and (self.twin is None or not self.twin.same):
            yield from _few([f"unknown: {line}" for line in self.unknown], "things unknown", most)

    def _reasons(self, most: int | None) -> Iterator[str]:
        """What a server, the design beside the dump, or else the registers say."""
        if self.twin is not None:
            yield from self.twin.lines()
        if self.told is not None:
            yield from self.told.lines()
        elif self.twin is None or not self.twin.same:
            yield from _few([f"finding: {finding}" for finding in self.hang.findings], "findings", most)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "source": list(self.source),
            "good": self.good,
            "findings": [finding.as_json() for finding in self.hang.findings],
            "waits": plain(self.hang.graph),
            "channels": list(self.channels),
            "cores": list(self.cores),
            "errors": list(self.errors),
            "unknown": list(self.unknown),
            "notes": list(self.notes),
            "server": None if self.told is None else self.told.as_json(),
            "design": None if self.twin is None else self.twin.as_json(),
        }


def _few(lines: Sequence[str], what: str, most: int | None) -> Iterator[str]:
    """Lines, those that differ only in numbers as one, and how many more there are."""
    if most is None:
        yield from lines
        return
    groups = alike(lines)
    for group in groups[:most]:
        yield f"{len(group)} alike: {group[0]}" if len(group) > 1 else group[0]
    if len(groups) > most:
        yield f"{sum(map(len, groups[most:])):,} more {what} (--all)"


def _open(engine: Engine, views: Sequence[ChannelView]) -> Open:
    """The channels and cores that have something left to do, or lost a push."""
    left = [view.ch for view in views if not view.at_rest]
    lost = [view.ch for view in views if _lost(engine, view)]
    return Open(channels=left + lost, cores=[core for core in engine.cores.running if _stuck(engine, core)])


def explained(
    engine: Engine,
    source: Sequence[str],
    *,
    moves: Moves,
    twin: Twin | None = None,
    notes: Sequence[str] = (),
    told: ServedReport | None = None,
) -> DumpReport:
    """What a model says that holds a dump.

    Args:
        engine: the model, loaded; it has not run.
        source: what the dump is, a line each.
        moves: by model index of a channel the buffers that it reads or writes.
        twin: the design beside it, run.
        notes: further lines.
        told: what a served model says itself.
    """
    chains = BdChains(engine)
    views = channel_views(engine, chains)
    stopped = hang(engine, chains, _open(engine, views), moves, quiet=True, timed=False, of_registers=True)
    waits = EngineWaits(engine, chains, (), quiet=True, of_registers=True)
    words = Sentences(waits, moves, timed=False)
    bds = engine.channels.bd.tolist()
    named = {view.ch: Party(PartyKind.CHANNEL, view.ch) for view in views if not view.idle}
    cores = [Party(PartyKind.CORE, core) for core in sorted(engine.cores.running)]
    return DumpReport(
        source=tuple(source),
        hang=stopped,
        channels=tuple(
            f"{words.name(party)}, BD {bds[ch]}: {words.state(party)}{_queued(engine, ch)}"
            for ch, party in named.items()
        ),
        cores=tuple(f"{words.name(party)}: {words.state(party)}" for party in cores),
        ended=all(engine.state.cores.phase[party.number] == CorePhase.DONE for party in cores),
        errors=(*_errors(views), *lock_errors(engine)),
        unknown=tuple(unknown(engine)),
        twin=twin,
        notes=tuple(notes),
        told=told,
    )


def _lost(engine: Engine, view: ChannelView) -> bool:
    """Whether a push to the channel was dropped."""
    return bool(engine.channels.pushes_lost[view.ch])


def _stuck(engine: Engine, core: int) -> bool:
    """Whether a core cannot be at rest: one that is halted, or at a cascade or a stream."""
    cores = engine.state.cores
    return bool(cores.why[core] == CoreCause.HALTED or cores.phase[core] in LINKS)


def _queued(engine: Engine, ch: int) -> str:
    count = int(engine.channels.queue_count[ch])
    return f"; {count} more task{'' if count == 1 else 's'} in its queue" if count else ""


def _errors(views: Sequence[ChannelView]) -> Iterator[str]:
    for view in views:
        if view.errors:
            yield f"{view.called}: {', '.join(view.errors)}"
