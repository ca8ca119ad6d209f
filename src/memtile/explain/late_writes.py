"""Transfers to external memory that a host has started and not waited for: it ended, and they went on."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.explain.bd_chains import BdChains
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called
from memtile.explain.stream_waits import traced_channels
from memtile.model.state.causes import Phase
from memtile.sim.loop.engine import Engine

_FIX = "Wait for the end of the transfer at the end (dma_wait, dma_await_task, host.wait)."


@dataclass(frozen=True, slots=True)
class LateWrites:
    """What was still to be written when the hosts had ended.

    Attributes:
        cycle: in which they had; None in a run without time.
        words: by model index of an S2MM channel at external memory how many of its words had moved.
    """

    cycle: int | None
    words: dict[int, int]

    @classmethod
    def of(cls, engine: Engine, *, timed: bool, started: Container[int] | None = None) -> LateWrites:
        """Look for it, when the last host has just ended; traces come as long as somebody works.

        Args:
            engine: the model.
            timed: cycles pass in the run.
            started: model indices of the channels on which hosts started tasks; None = whatever is at work.
        """
        c = engine.channels
        busy = (c.external >= 0) & (c.direction == S2MM) & ((c.phase != Phase.IDLE) | (c.queue_count > 0))
        found = np.flatnonzero(busy).tolist()
        if found:
            chains, traced = BdChains(engine), traced_channels(engine)
            found = [ch for ch in found if ch not in traced and not chains.loops(ch)]
            found = [ch for ch in found if started is None or ch in started]
        return cls(engine.now if timed else None, {ch: _moved(engine, ch) for ch in found})

    def findings(self, engine: Engine) -> Iterator[Finding]:
        """One finding for each channel that went on to write after that."""
        for ch, before in self.words.items():
            if _moved(engine, ch) == before:
                continue
            name = called(engine, ch)
            when = "" if self.cycle is None else f" in cycle {self.cycle}"
            message = f"The host ended{when}, and {name} wrote on: what it writes need not be complete then."
            side = Side(name, "writes external memory after the end of the host", "", self.cycle)
            cycles = None if self.cycle is None else (self.cycle, engine.now)
            yield Finding("MT0318", Severity.WARNING, message, (side,), cycles=cycles, fix=_FIX)


def _moved(engine: Engine, ch: int) -> int:
    """A number that grows with the words that a channel writes."""
    c = engine.channels
    return int(c.bds_done[ch]) << 32 | int(c.moved[ch])
