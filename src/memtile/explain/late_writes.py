"""A host that ends without a wait for what it started: what is written then need not be complete."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.explain.bd_chains import BdChains
from memtile.explain.bd_findings import line_of
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.loose_ends import LooseEnds
from memtile.explain.names import called
from memtile.explain.results import Result
from memtile.explain.stream_waits import traced_channels
from memtile.model.state.causes import Phase
from memtile.sim.loop.engine import Engine

_CODE, _LEFT = "MT0318", "MT0304"


@dataclass(frozen=True, slots=True)
class LateWrites:
    """What was still to be written when the hosts had ended.

    Attributes:
        cycle: in which they had; None in a run without time.
        words: by model index of an S2MM channel at external memory how many of its words had moved.
        places: by model index of a channel where the task is started for which no host waits.
        doubtful: channels after whose task a host waits for another channel.
    """

    cycle: int | None
    words: Mapping[int, int]
    places: Mapping[int, str] = field(default_factory=dict)
    doubtful: Container[int] = ()

    @classmethod
    def of(
        cls,
        engine: Engine,
        *,
        timed: bool,
        started: Container[int] | None = None,
        places: Mapping[int, str] | None = None,
        doubtful: Container[int] = (),
    ) -> LateWrites:
        """Look for it, when the last host has just ended; traces come as long as somebody works.

        Args:
            engine: the model.
            timed: cycles pass in the run.
            started: model indices of the channels on which hosts started tasks; None = whatever is at work.
            places: by model index of a channel where a task is started that is not waited for, if known.
            doubtful: of these channels those after whose task a host waits for another one.
        """
        c, places = engine.channels, places or {}
        busy = (c.phase != Phase.IDLE) | (c.queue_count > 0)
        busy[list(places)] = True
        found = np.flatnonzero(busy & (c.external >= 0) & (c.direction == S2MM)).tolist()
        if found:
            chains, traced = BdChains(engine), traced_channels(engine)
            found = [ch for ch in found if ch not in traced and not chains.loops(ch)]
            found = [ch for ch in found if started is None or ch in started]
            ends = LooseEnds(engine)
            found = [ch for ch in found if not ends.is_loose(ch)]  # nothing will ever be written
        return cls(engine.now if timed else None, {ch: _moved(engine, ch) for ch in found}, places, doubtful)

    def findings(self, engine: Engine) -> Iterator[Finding]:
        """One finding for each channel that went on to write after that, or ended before by luck."""
        for ch, before in self.words.items():
            if _moved(engine, ch) != before or ch in self.places:
                yield self._finding(engine, ch, wrote_on=_moved(engine, ch) != before)

    def added_to(self, result: Result, engine: Engine) -> Result:
        """The result of the run with it first; that its channels have no task left only follows.

        Once they have ended, all that was asked for is there: others that wait for more words are at rest.
        """
        found = tuple(self.findings(engine))
        late = {side.who for each in found for side in each.sides}
        over = bool(found) and bool((engine.channels.phase[list(self.words)] == Phase.IDLE).all())
        others = (
            each
            for each in result.findings
            if each.code != _LEFT
            or not (over or not late.isdisjoint(side.who.partition(" (")[0] for side in each.sides))
        )
        return replace(result, findings=(*found, *others))

    def _finding(self, engine: Engine, ch: int, *, wrote_on: bool) -> Finding:
        name, place = called(engine, ch), self.places.get(ch, "")
        task = f"the task of {line_of(place)} on {name}" if place else name
        when = "" if self.cycle is None else f" in cycle {self.cycle}"
        message = f"The host ended{when} without a wait for {task}: its output is complete only by luck."
        if wrote_on:
            message = f"The host ended{when} while {task} was still writing: its output may be incomplete."
        fix = "Wait for the end of the transfer at the end (dma_wait, dma_await_task, host.wait)."
        if place:
            fix = f"Wait for {task} at the end (dma_wait, dma_await_task or npu.sync, with issue_token)."
        side = Side(name, "writes external memory after the end of the host", place, self.cycle)
        cycles = None if self.cycle is None else (self.cycle, engine.now)
        sure = place and ch not in self.doubtful  # a bench may run on, a launch does not
        severity = Severity.ERROR if sure else Severity.WARNING
        return Finding(_CODE, severity, message, (side,), cycles=cycles, fix=fix)


def _moved(engine: Engine, ch: int) -> int:
    """A number that grows with the words that a channel writes."""
    c = engine.channels
    return int(c.bds_done[ch]) << 32 | int(c.moved[ch])
