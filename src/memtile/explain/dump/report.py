"""What a dump says: who waits for whom by the rules of hangs, and what no register shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtile.explain.bd_chains import BdChains
from memtile.explain.channel_view import ChannelView, channel_views
from memtile.explain.deadlock.build import Waits
from memtile.explain.deadlock.find import Hang, Open, hang
from memtile.explain.deadlock.graph import Kind
from memtile.explain.deadlock.streams import Party
from memtile.explain.deadlock.words import Moves, Words
from memtile.explain.dump.load import unknown
from memtile.explain.dump.twin import Twin
from memtile.explain.lock_waits import lock_errors
from memtile.model.state.causes import CoreCause, CorePhase
from memtile.sim.engine import Engine

_LINKS = (CorePhase.PUT_CASCADE, CorePhase.GET_CASCADE, CorePhase.PUT_STREAM, CorePhase.GET_STREAM)


@dataclass(frozen=True, slots=True)
class DumpReport:
    """A dump, explained.

    Attributes:
        source: what it is: the file, its format, the tiles; a line each.
        hang: findings and graph of waits by what registers show.
        channels: what each channel at work or halted does, a line each.
        cores: likewise of each core that shows anything.
        errors: sticky errors of locks and channels that go on.
        unknown: what no register shows.
        twin: the design beside it, run in the model; None = none was given.
    """

    source: Sequence[str]
    hang: Hang
    channels: Sequence[str] = ()
    cores: Sequence[str] = ()
    errors: Sequence[str] = ()
    unknown: Sequence[str] = ()
    twin: Twin | None = None
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def good(self) -> bool:
        """Whether nothing is wrong as far as registers show it."""
        return not self.hang.findings and not (self.twin and self.twin.same and self.twin.findings)

    def lines(self) -> Iterator[str]:
        """The report as text."""
        yield from self.source
        yield from (f"note: {note}" for note in self.notes)
        yield from self.channels
        yield from self.cores
        yield from self.errors
        if self.twin is not None:
            yield from self.twin.lines()
        if self.twin is None or not self.twin.same:
            for finding in self.hang.findings:
                yield f"finding: {finding}"
            if not self.hang.findings:
                yield "no finding: what registers show is at rest, or could still go on"
            yield from (f"unknown: {line}" for line in self.unknown)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "source": list(self.source),
            "good": self.good,
            "findings": [finding.as_json() for finding in self.hang.findings],
            "waits": self.hang.graph.as_json(),
            "channels": list(self.channels),
            "cores": list(self.cores),
            "errors": list(self.errors),
            "unknown": list(self.unknown),
            "notes": list(self.notes),
            "design": None if self.twin is None else self.twin.as_json(),
        }


def explained(
    engine: Engine,
    source: Sequence[str],
    *,
    moves: Moves,
    twin: Twin | None = None,
    notes: Sequence[str] = (),
) -> DumpReport:
    """What a model says that holds a dump.

    Args:
        engine: the model, loaded; it has not run.
        source: what the dump is, a line each.
        moves: by model index of a channel the buffers that it reads or writes.
        twin: the design beside it, run.
        notes: further lines.
    """
    chains = BdChains(engine)
    views = channel_views(engine, chains)
    open_ = [view for view in views if not view.at_rest]
    found = Open(
        channels=[view.ch for view in open_] + [view.ch for view in views if _lost(engine, view)],
        cores=[core for core in engine.cores.running if _stuck(engine, core)],
    )
    stopped = hang(engine, chains, found, moves, quiet=True, timed=False, of_registers=True)
    waits = Waits(engine, chains, (), quiet=True, of_registers=True)
    words = Words(waits, moves, timed=False)
    bds = engine.channels.bd.tolist()
    named = {view.ch: Party(Kind.CHANNEL, view.ch) for view in views if not view.idle}
    cores = [Party(Kind.CORE, core) for core in sorted(engine.cores.running)]
    return DumpReport(
        source=tuple(source),
        hang=stopped,
        channels=tuple(
            f"{words.name(party)}, BD {bds[ch]}: {words.state(party)}{_queued(engine, ch)}"
            for ch, party in named.items()
        ),
        cores=tuple(f"{words.name(party)}: {words.state(party)}" for party in cores),
        errors=(*_errors(views), *lock_errors(engine)),
        unknown=tuple(unknown(engine)),
        twin=twin,
        notes=tuple(notes),
    )


def _lost(engine: Engine, view: ChannelView) -> bool:
    """Whether a push to the channel was dropped."""
    return bool(engine.channels.pushes_lost[view.ch])


def _stuck(engine: Engine, core: int) -> bool:
    """Whether a core cannot be at rest: one that is halted, or at a cascade or a stream."""
    cores = engine.state.cores
    return bool(cores.why[core] == CoreCause.HALTED or cores.phase[core] in _LINKS)


def _queued(engine: Engine, ch: int) -> str:
    count = int(engine.channels.queue_count[ch])
    return f"; {count} more task{'' if count == 1 else 's'} in its queue" if count else ""


def _errors(views: Sequence[ChannelView]) -> Iterator[str]:
    for view in views:
        if view.errors:
            yield f"{view.called}: {', '.join(view.errors)}"
