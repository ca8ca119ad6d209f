"""Waveforms of a run: what channels, locks and cores did in each cycle, for a value change dump.

The engine stops after each cycle to be looked at, which is slow and changes nothing of what it does.

It also has value change dumps of chosen signals, for waveform viewers (needs the ``vcd`` extra).

Who samples gives a table of signals and, cycle by cycle, the values that changed. Time is in picoseconds of a
stated clock. Names are hierarchical: what is before the last dot is the scope.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from pathlib import Path
from string import digits
from typing import IO, Any

import numpy as np

from memtile.arch.tiles import DIRECTIONS
from memtile.arch.timing import ARRAY_CLOCK_MHZ
from memtile.errors import DesignError, MemtileError, Problem, raise_if
from memtile.io.trace.trace_names import NamedUnit
from memtile.model.state.causes import Cause, CoreCause, CorePhase, Phase
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.output_files import output_text
from memtile.sim.loop.engine import Engine

_PS_PER_US = 1_000_000
Value = int | str
Change = tuple[int, str, Value]  # cycle, name of the signal, new value


@dataclass(frozen=True, slots=True)
class WaveSignal:
    """Something with a value in every cycle.

    Attributes:
        name: ``scope.scope.name``.
        width: bits; 0 = text.
        initial: value before the first change.
    """

    name: str
    width: int = 1
    initial: Value = 0


def _unmatched(pattern: str, table: Sequence[WaveSignal]) -> Problem:
    scopes = ", ".join(_scopes(table)) or "none"
    return Problem(
        "pattern",
        repr(pattern),
        f"one that matches in {scopes}",
        f"the pattern {pattern!r} matches no signal; there are signals in {scopes}",
        reason="vcd_signals",
        where="signals",
        source="glob patterns",
    )


def choose(signals: Iterable[WaveSignal], patterns: Sequence[str]) -> list[WaveSignal]:
    """The signals whose names match one of the glob patterns, in their order.

    ``*`` and ``?`` stand for any characters, dots too; a pattern that names a scope means all below it.

    Raises:
        DesignError: patterns that match nothing; all of them at once.
    """
    table = list(signals)
    matched = {pattern: [s for s in table if _matches(s.name, pattern)] for pattern in patterns}
    raise_if([_unmatched(pattern, table) for pattern, found in matched.items() if not found], DesignError)
    wanted = {signal.name for found in matched.values() for signal in found}
    return [signal for signal in table if signal.name in wanted]


def _scopes(signals: Iterable[WaveSignal]) -> Iterator[str]:
    """The scopes, those that differ in the last number alone as one: ``lock0..63``."""
    found: dict[str, list[str]] = {}
    for scope in dict.fromkeys(signal.name.rpartition(".")[0] for signal in signals):
        stem = scope.rstrip(digits)
        found.setdefault(stem, []).append(scope[len(stem) :])
    for stem, numbers in found.items():
        yield stem + (numbers[0] if len(numbers) == 1 else f"{numbers[0]}..{numbers[-1]}")


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}.*")


def write_vcd(
    file: IO[str],
    signals: Sequence[WaveSignal],
    changes: Iterable[Change],
    clock_mhz: float,
    end: int | None = None,
) -> None:
    """Write a dump.

    Args:
        file: text file open for writing.
        signals: all signals of it.
        changes: in order of cycles; those of signals not in ``signals`` are left out.
        clock_mhz: the array clock.
        end: cycle at which the dump ends; None = with the last change.

    Raises:
        MemtileError: the ``pyvcd`` package is not installed.
        ValueError: a value does not fit its signal, or changes go back in time.
    """
    writer = _writer(file, clock_mhz)
    variables = {signal.name: _register(writer, signal) for signal in signals}
    now = 0
    for cycle, name, value in changes:
        if name in variables:
            writer.change(variables[name], _ps(cycle, clock_mhz), value)
            now = cycle
    writer.close(_ps(max(now, end or 0), clock_mhz))


def trace_vcd(units: Sequence[NamedUnit], clock_mhz: float) -> str:
    """A decoded trace as a dump: a scope for each unit, a wire for each event slot in use.

    Raises:
        MemtileError: the ``pyvcd`` package is not installed.
    """
    named = {unit.trace.sender: dict(_wires(unit)) for unit in units}
    signals = [WaveSignal(name) for wires in named.values() for name in wires.values()]
    changes = sorted(change for unit in units for change in _edges(unit, named[unit.trace.sender]))
    text = io.StringIO()
    write_vcd(text, signals, changes, clock_mhz)
    return text.getvalue()


def _wires(unit: NamedUnit) -> Iterator[tuple[int, str]]:
    sender = unit.trace.sender
    scope = f"tile{sender.column}_{sender.row}.{unit.kind}_{sender.stream_id}"
    used = {interval.slot for interval, _ in unit.intervals()}
    for slot in sorted(used):
        event = unit.events[slot].replace(" ", "_")
        twice = unit.events.count(unit.events[slot]) > 1
        yield slot, f"{scope}.{event}_slot{slot}" if twice else f"{scope}.{event}"


def _edges(unit: NamedUnit, wires: Mapping[int, str]) -> Iterator[Change]:
    for interval, _ in unit.intervals():
        yield interval.begin, wires[interval.slot], 1
        yield interval.end, wires[interval.slot], 0


def _ps(cycle: int, clock_mhz: float) -> int:
    return round(cycle * _PS_PER_US / clock_mhz)


def _register(writer: Any, signal: WaveSignal) -> Any:
    scope, _, name = signal.name.rpartition(".")
    if signal.width == 0:
        return writer.register_var(scope, name, "string", init=str(signal.initial))
    return writer.register_var(scope, name, "wire", size=signal.width, init=signal.initial)


def load_pyvcd() -> Any:
    """The writer class of the ``pyvcd`` package.

    Raises:
        MemtileError: it is not installed.
    """
    try:
        from vcd import VCDWriter
    except ModuleNotFoundError:
        raise MemtileError(
            'Value change dumps need pyvcd, which is not installed: pip install "pyvcd".'
        ) from None
    return VCDWriter


def _writer(file: IO[str], clock_mhz: float) -> Any:
    return load_pyvcd()(file, timescale="1 ps", date="", comment=f"array clock {clock_mhz:g} MHz")


_COUNT_BITS = 32  # of numbers without a register field that would say


@dataclass(frozen=True, slots=True)
class _Kind:
    """Signals that show the same column of the state.

    Attributes:
        name: of each, in its scope.
        column: of the state.
        shown: the value of the signal, by that of the column.
        width: bits; 0 = text.
    """

    name: str
    column: Callable[[State], Ints]
    shown: Callable[[int], Value] = int
    width: int = _COUNT_BITS


def _names(of: type[IntEnum]) -> Callable[[int], Value]:
    return {member.value: member.name.lower() for member in of}.__getitem__


_CHANNEL = (
    _Kind("cause", lambda state: state.channels.why, _names(Cause), 0),
    _Kind("phase", lambda state: state.channels.phase, _names(Phase), 0),
    _Kind("moving", lambda state: state.channels.why, lambda why: int(why == Cause.MOVING), 1),
    _Kind("bd", lambda state: state.channels.bd),
    _Kind("words", lambda state: state.channels.moved),
    _Kind("queue", lambda state: state.channels.queue_count),
    _Kind("fifo", lambda state: state.fifos.held),
)
_LOCK = (_Kind("value", lambda state: state.locks.value),)
_CORE = (
    _Kind("cause", lambda state: state.cores.why, _names(CoreCause), 0),
    _Kind("phase", lambda state: state.cores.phase, _names(CorePhase), 0),
)


class _Group:
    """The chosen signals of a kind.

    Attributes:
        orders: places of the signals among all that are chosen.
        last: entries of the column, when it was looked at last.
    """

    def __init__(self, kind: _Kind, members: Sequence[tuple[int, int]], state: State) -> None:
        self.kind = kind
        self._places = np.array([place for place, _ in members])
        self.orders = [order for _, order in members]
        self.last = kind.column(state)[self._places]

    def changed(self, state: State) -> list[tuple[int, Value]]:
        """The signals whose entries changed since the last look, by their orders, and what they show now."""
        before, self.last = self.last, self.kind.column(state)[self._places]
        places = np.flatnonzero(before != self.last).tolist()
        return [(self.orders[place], self.kind.shown(int(self.last[place]))) for place in places]


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
        table = {f"{scope}.{kind.name}": (kind, place) for scope, kind, place in _signals(engine)}
        unread = [WaveSignal(name, kind.width) for name, (kind, _) in table.items()]
        found = [(signal.name, *table[signal.name]) for signal in choose(unread, patterns)]
        of_kind: dict[_Kind, list[tuple[int, int]]] = {}
        for order, (_, kind, place) in enumerate(found):
            of_kind.setdefault(kind, []).append((place, order))
        self._groups = [_Group(kind, members, engine.state) for kind, members in of_kind.items()]
        first = {
            order: group.kind.shown(int(value))
            for group in self._groups
            for order, value in zip(group.orders, group.last, strict=True)
        }
        self.signals = [WaveSignal(name, kind.width, first[n]) for n, (name, kind, _) in enumerate(found)]
        self._last = [signal.initial for signal in self.signals]
        self.changes: list[Change] = []

    def run(self, cycles: int) -> None:
        """Advance the engine, at most ``cycles`` cycles, and sample each."""
        for _ in range(cycles):
            self._engine.run(self._engine.now + 1)
            self.sample()

    def sample(self) -> None:
        """Record the changes since the last sample, for the cycle that has just ended."""
        cycle = self._engine.now - 1 - self._begin
        state = self._engine.state  # it may have been replaced since the last sample
        for order, value in sorted(change for group in self._groups for change in group.changed(state)):
            if value != self._last[order]:
                self._last[order] = value
                self.changes.append((cycle, self.signals[order].name, value))

    def save(self, path: Path, clock_mhz: float = ARRAY_CLOCK_MHZ) -> None:
        """Write the dump; its time 0 is the cycle in which sampling began.

        Raises:
            MemtileError: the ``pyvcd`` package is not installed.
            InputFileError: the file cannot be written.
        """
        with output_text(path, "ascii") as file:
            write_vcd(file, self.signals, self.changes, clock_mhz, self._engine.now - self._begin)


def _signals(engine: Engine) -> Iterator[tuple[str, _Kind, int]]:
    """Scope, kind and place in the column of each signal."""
    tiles, channels = engine.spec.tiles, engine.state.channels
    names = [f"tile{c}_{r}" for c, r in zip(tiles.column, tiles.row, strict=True)]
    for ch, tile in enumerate(channels.tile):
        scope = f"{names[tile]}.{DIRECTIONS[channels.direction[ch]].lower()}{channels.number[ch]}"
        yield from ((scope, kind, ch) for kind in _CHANNEL)
    for tile, name in enumerate(names):
        for lock in range(tiles.locks[tile]):
            place = int(tiles.lock_base[tile]) + lock
            yield from ((f"{name}.lock{lock}", kind, place) for kind in _LOCK)
    for core, tile in enumerate(engine.state.cores.tile):
        yield from ((f"{names[tile]}.core", kind, core) for kind in _CORE)
