"""A run that meets its limit of cycles while nothing moves any more but traces, and cores that only compute.

Locks, descriptors and ports have the cycle of their last change; so the last cycle with real work is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memtile.explain.bd_findings import line_of
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called, core_name
from memtile.explain.stream_waits import traced_channels
from memtile.jit.tables import plain
from memtile.model.state.causes import LINKS, CorePhase, Phase
from memtile.sim.kernels.kernel_lines import POLLS, place_waiting
from memtile.sim.loop.engine import Engine

_LEAST = 5_000  # cycles without work in which nobody computes or waits for external memory
_PART = 0.5  # of the cycles of the run
_SHOWN = 3  # of those that are stuck
_WAITING = (CorePhase.ACQUIRE, CorePhase.DONE, *LINKS)


@dataclass(frozen=True, slots=True)
class Standstill:
    """Cycles in which no real work was done.

    Attributes:
        since: the last cycle with any.
        cores: model indices of those that compute all the time.
        traces: model indices of channels that write traces.
    """

    since: int
    cores: Sequence[int]
    traces: Sequence[int]

    @classmethod
    def of(cls, engine: Engine, before: int = 0) -> Standstill | None:
        """Look for one at the end of a run; None if there was work, or it is not known.

        Args:
            engine: the model, stopped at a limit.
            before: cycles of earlier runs.
        """
        c, switch, running = engine.channels, plain(engine.state.switch), engine.cores.running
        traced = traced_channels(engine)
        own = [ch for ch in engine.channels_in_use() if ch not in traced]
        ports = [_ports(engine, ch) for ch in own]
        if not all(ports) or any(each.links for each in running.values()):
            return None  # words of a bench and of links have no cycles
        moved = switch.popped[[port for each in ports for port in each]]
        stamps = (plain(engine.state.locks).since, c.finished_bd[own], moved)
        since = max((int(each.max()) for each in stamps if len(each)), default=0)
        if engine.now - max(since, before) < max(_LEAST, _PART * (engine.now - before)):
            return None
        phase = engine.state.cores.phase
        cores = [core for core in sorted(running) if phase[core] not in _WAITING]
        moving = [ch for ch in sorted(traced) if c.phase[ch] != Phase.IDLE]
        return cls(max(since, before), cores, moving) if cores or moving else None

    def finding(self, engine: Engine, channels: Sequence[int], cores: Sequence[int]) -> Finding | None:
        """The finding about it; None if nobody is stuck, and no core waits for memory.

        Args:
            engine: the model.
            channels: model indices of those that have not come to their end.
            cores: the same of cores.
        """
        polls = [poll for core in self.cores if (poll := _poll(engine, core)) is not None]
        if polls and len(polls) == len(self.cores):
            return self._polled(engine, self.cores[0], *polls[0])
        stuck = [
            *(called(engine, ch) for ch in channels if ch not in self.traces),
            *(core_name(engine, core) for core in cores if core not in self.cores),
        ]
        if not stuck:
            return None
        moves = [*self._cores(engine), *(f"the trace on {called(engine, ch)}" for ch in self.traces)]
        more = f" and {len(stuck) - _SHOWN} more" if len(stuck) > _SHOWN else ""
        waiting = f"{', '.join(stuck[:_SHOWN])}{more}"
        message = f"Since cycle {self.since:,} only {' and '.join(moves)} moves; {waiting} did nothing."
        fix = f"Find out what {stuck[0]} waits for: a trace runs on its own."
        if self.cores:
            core = core_name(engine, self.cores[0])
            fix = (
                f"Let the loop of {core} end, or use a lock in it; if it computes so long, raise max_cycles."
            )
        does = "moves no word and takes no lock" if self.cores else "runs on its own"
        sides = [Side(who, does, cycle=self.since) for who in moves]
        sides += [Side(who, "did nothing since", cycle=self.since) for who in stuck[:_SHOWN]]
        return Finding("MT0327", Severity.WARNING, message, sides, cycles=(self.since, engine.now), fix=fix)

    def _polled(self, engine: Engine, core: int, place: str, what: str) -> Finding:
        """The finding about a core that reads memory again and again, which nothing writes any more."""
        name, line = core_name(engine, core), line_of(place)
        does = f"its loop waits for {what} to change"
        message = f"{name}, {line}: {does}, and since cycle {self.since:,} nothing else is active."
        fix = f"Let the loop of {line} read the word that is written, or use a lock instead of the loop."
        side = Side(name, does, place, cycle=self.since)
        return Finding("MT0339", Severity.ERROR, message, (side,), cycles=(self.since, engine.now), fix=fix)

    def _cores(self, engine: Engine) -> Iterator[str]:
        for core in self.cores:
            yield f"{core_name(engine, core)} (kernel {engine.cores.running[core].kernel!r})"


def _poll(engine: Engine, core: int) -> tuple[str, str] | None:
    """The loop in which a core waits for memory, as its place and what it reads; None if it is in none."""
    running = engine.cores.running[core]
    loops: Mapping[str, tuple[str, str]] = getattr(running.function, POLLS, {})
    return loops.get(place_waiting(running.function, running.actions))


def _ports(engine: Engine, ch: int) -> list[int]:
    """The ports of a stream switch through which the words of a channel go."""
    switch, sent = plain(engine.state.switch), int(engine.channels.switch_port[ch])
    if sent >= 0:
        return [sent]
    return [int(at) for at in (switch.channel == ch).nonzero()[0]]
