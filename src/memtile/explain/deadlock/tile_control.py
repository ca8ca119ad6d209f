"""Channels whose control packets can reach a tile: they may write its locks, as a host does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from memtile.access.walk import Walk, addresses
from memtile.arch.packets import CONTROL_HEADER, PacketOperation
from memtile.arch.registers import field_of
from memtile.arch.tiles import S2MM, TILE_KINDS, WORD_BYTES
from memtile.bd.windows import place_of_address
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.planned_words import descriptor_of
from memtile.explain.lock_waits import owner
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.streams.switch_config import OFF
from memtile.sim.loop.engine import Engine

_OPERATION, _BEATS, _ADDRESS = (field_of(CONTROL_HEADER, name) for name in ("Operation", "Beats", "Address"))


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

    def sets(self, ch: int, lock: int, chains: BdChains) -> bool | None:
        """Whether a packet that a channel has still to send writes a lock; None = its words are unknown."""
        tile, number = owner(self._engine, lock)
        kind = TILE_KINDS[KIND_NAMES[int(plain(self._engine.spec.tiles).kind[tile])]]
        at = kind.lock_value_base + number * kind.lock_value_stride
        packets = [self._words(ch, bd) for bd, _ in chains.to_come(ch)]
        known = [each for each in packets if each is not None]
        if any(at in _written(each) for each in known):
            return True
        return False if len(known) == len(packets) else None

    def _words(self, ch: int, bd: int) -> Sequence[int] | None:
        """The words in the memory of its own tile that a descriptor sends; None of other memory."""
        engine, tile = self._engine, int(self._engine.channels.tile[ch])
        descriptor = descriptor_of(engine, ch, bd)
        kind = TILE_KINDS[KIND_NAMES[int(plain(engine.spec.tiles).kind[tile])]]
        there = None if engine.channels.external[ch] >= 0 else place_of_address(kind, descriptor.address)
        if there is None or there.window != "own":
            return None
        base = int(plain(engine.spec.tiles).memory_base[tile]) + there.local - descriptor.address
        words: list[int] = engine.state.memory[base + addresses(Walk.of(descriptor))].tolist()
        return words

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


def _written(words: Sequence[int]) -> set[int]:
    """The byte addresses of a tile that control packets write, one behind another."""
    found, at = set[int](), 0
    while at < len(words):
        header, beats = words[at], _BEATS.get(words[at]) + 1
        if _OPERATION.get(header) == PacketOperation.READ:
            at += 1
            continue
        found |= {_ADDRESS.get(header) + n * WORD_BYTES for n in range(beats)}
        at += 1 + beats
    return found
