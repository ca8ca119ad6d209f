"""Streams between an array and what lies beside it: who in the array sends to them, and takes from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import MM2S, S2MM
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.sim.loop.engine import Engine


@dataclass(frozen=True, slots=True)
class EdgeStreams:
    """The streams of a design that end or begin beside the array.

    Attributes:
        outputs: by name the switch port by which the words of one leave.
        inputs: by switch port the words that came in there, as uint32.
    """

    outputs: Mapping[str, int] = field(default_factory=dict)
    inputs: Mapping[int, npt.NDArray[np.uint32]] = field(default_factory=dict)

    def sender(self, engine: Engine, name: str) -> int | None:
        """The only channel that sends to an output; None = there is no such output, or another number."""
        port = self.outputs.get(name)
        found = [] if port is None else [ch for ch, ways in _ways(engine) if port in ways]
        return found[0] if len(found) == 1 else None

    def came(self, engine: Engine, ch: int) -> npt.NDArray[np.int64] | None:
        """The words that came from beside the array to an S2MM channel; None = from nowhere, or several."""
        ends = plain(engine.state.switch).channel
        ports = [
            port
            for port in self.inputs
            if any(ends[at] == ch for at in reached([port], partial(configured_ways, engine)) if at != port)
        ]
        is_receiver = engine.channels.direction[ch] == S2MM
        return self.inputs[ports[0]].astype(np.int64) if is_receiver and len(ports) == 1 else None


NO_EDGES = EdgeStreams()


def _ways(engine: Engine) -> Iterator[tuple[int, set[int]]]:
    """The sending channels, each with the switch ports that its words may pass."""
    channels = engine.channels
    for ch in np.flatnonzero((channels.direction == MM2S) & (channels.switch_port >= 0)).tolist():
        yield ch, {*reached([int(channels.switch_port[ch])], partial(configured_ways, engine))}
