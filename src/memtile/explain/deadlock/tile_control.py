"""Channels whose control packets can reach a tile: they may write its locks, as a host does."""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.streams.switch_config import OFF
from memtile.sim.loop.engine import Engine


class TileControl:
    """The ways from channels to the tile-control ports of an array.

    Args:
        engine: the model.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def senders(self, tile: int) -> list[int]:
        """The MM2S channels from which a stream leads to the tile-control port of a tile; model indices."""
        return self._senders.get(tile, [])

    @cached_property
    def _senders(self) -> dict[int, list[int]]:
        engine, switch = self._engine, plain(self._engine.state.switch)
        ports, found = engine.channels.switch_port, dict[int, list[int]]()
        for ch in np.flatnonzero((engine.channels.direction != S2MM) & (ports >= 0)).tolist():
            if switch.mode[ports[ch]] == OFF:
                continue
            ways = reached([int(ports[ch])], partial(configured_ways, engine))
            for tile in sorted({int(switch.tile[port]) for port in ways if switch.control[port] >= 0}):
                found.setdefault(tile, []).append(ch)
        return found
