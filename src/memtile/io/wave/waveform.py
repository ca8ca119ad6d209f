"""Waveforms of a run: what channels, locks and cores did in each cycle, for a value change dump.

The engine stops after each cycle to be looked at, which is slow and changes nothing of what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path

from memtile.arch.tiles import DIRECTIONS
from memtile.arch.timing import ARRAY_CLOCK_MHZ
from memtile.io.wave.vcd import Change, Signal, Value, choose, write_vcd
from memtile.model.state.causes import Cause, CoreCause, CorePhase, Phase
from memtile.sim.engine import Engine

Reader = Callable[[], Value]
_COUNT_BITS = 32  # of numbers without a register field that would say


class Waveform:
    """Samples of an engine, taken once a cycle.

    Names are ``tileCOLUMN_ROW.s2mm0.cause`` and the like. Of each DMA channel: ``cause`` and ``phase`` as
    text, ``moving``, ``bd``, ``words`` of the BD moved, tasks in its ``queue``, words in its stream ``fifo``;
    of each lock its ``value``; of each core ``cause`` and ``phase``.

    Args:
        engine: the model; it may have run before.
        patterns: globs over the names; a scope means all below it.

    Raises:
        DesignError: patterns that match nothing.
    """

    def __init__(self, engine: Engine, patterns: Sequence[str] = ("*",)) -> None:
        self._engine = engine
        self._begin = engine.now
        table = dict(_signals(engine))
        chosen = {signal.name for signal in choose(table, patterns)}
        self._readers = {s.name: read for s, read in table.items() if s.name in chosen}
        self._last = {name: read() for name, read in self._readers.items()}
        self.signals = [Signal(s.name, s.width, self._last[s.name]) for s in table if s.name in self._readers]
        self.changes: list[Change] = []

    def run(self, cycles: int) -> None:
        """Advance the engine, at most ``cycles`` cycles, and sample each."""
        for _ in range(cycles):
            self._engine.run(self._engine.now + 1)
            self.sample()

    def sample(self) -> None:
        """Note what changed since the last sample, in the cycle that has just ended."""
        cycle = self._engine.now - 1 - self._begin
        for name, read in self._readers.items():
            value = read()
            if value != self._last[name]:
                self._last[name] = value
                self.changes.append((cycle, name, value))

    def save(self, path: Path, clock_mhz: float = ARRAY_CLOCK_MHZ) -> None:
        """Write the dump; its time 0 is the cycle in which sampling began.

        Raises:
            MemtileError: the ``pyvcd`` package is not installed.
        """
        with path.open("w", encoding="ascii") as file:
            write_vcd(file, self.signals, self.changes, clock_mhz, self._engine.now - self._begin)


def _signals(engine: Engine) -> Iterator[tuple[Signal, Reader]]:
    tiles = engine.spec.tiles
    names = [f"tile{c}_{r}" for c, r in zip(tiles.column, tiles.row, strict=True)]
    for ch, tile in enumerate(engine.state.channels.tile):
        yield from _channel(engine, ch, names[tile])
    for tile, name in enumerate(names):
        for lock in range(tiles.locks[tile]):
            yield from _lock(engine, tiles.lock_base[tile] + lock, f"{name}.lock{lock}.value")
    for core, tile in enumerate(engine.state.cores.tile):
        yield from _core(engine, core, f"{names[tile]}.core")


def _channel(engine: Engine, ch: int, tile: str) -> Iterator[tuple[Signal, Reader]]:
    direction = DIRECTIONS[engine.state.channels.direction[ch]].lower()
    scope = f"{tile}.{direction}{engine.state.channels.number[ch]}"
    # The state may be replaced between two samples: it is looked up in each.
    yield Signal(f"{scope}.cause", 0), lambda: _name(Cause, engine.state.channels.why[ch])
    yield Signal(f"{scope}.phase", 0), lambda: _name(Phase, engine.state.channels.phase[ch])
    yield Signal(f"{scope}.moving"), lambda: int(engine.state.channels.why[ch] == Cause.MOVING)
    yield Signal(f"{scope}.bd", _COUNT_BITS), lambda: int(engine.state.channels.bd[ch])
    yield Signal(f"{scope}.words", _COUNT_BITS), lambda: int(engine.state.channels.moved[ch])
    yield Signal(f"{scope}.queue", _COUNT_BITS), lambda: int(engine.state.channels.queue_count[ch])
    yield Signal(f"{scope}.fifo", _COUNT_BITS), lambda: int(engine.state.fifos.held[ch])


def _lock(engine: Engine, lock: int, name: str) -> Iterator[tuple[Signal, Reader]]:
    yield Signal(name, _COUNT_BITS), lambda: int(engine.state.locks.value[lock])


def _core(engine: Engine, core: int, scope: str) -> Iterator[tuple[Signal, Reader]]:
    yield Signal(f"{scope}.cause", 0), lambda: _name(CoreCause, engine.state.cores.why[core])
    yield Signal(f"{scope}.phase", 0), lambda: _name(CorePhase, engine.state.cores.phase[core])


def _name(names: type[IntEnum], value: int) -> str:
    return names(int(value)).name.lower()
