"""Value change dumps of chosen signals, for waveform viewers (needs the ``vcd`` extra).

Who samples gives a table of signals and, cycle by cycle, the values that changed. Time is in picoseconds of a
stated clock. Names are hierarchical: what is before the last dot is the scope.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from string import digits
from typing import IO, Any

from memtile.errors import DesignError, MemtileError, Problem, raise_if
from memtile.io.trace.names import NamedUnit

_PS_PER_US = 1_000_000
Value = int | str
Change = tuple[int, str, Value]  # cycle, name of the signal, new value


@dataclass(frozen=True, slots=True)
class Signal:
    """Something with a value in every cycle.

    Attributes:
        name: ``scope.scope.name``.
        width: bits; 0 = text.
        initial: value before the first change.
    """

    name: str
    width: int = 1
    initial: Value = 0


def _unmatched(pattern: str, table: Sequence[Signal]) -> Problem:
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


def choose(signals: Iterable[Signal], patterns: Sequence[str]) -> list[Signal]:
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


def _scopes(signals: Iterable[Signal]) -> Iterator[str]:
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
    signals: Sequence[Signal],
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
    signals = [Signal(name) for wires in named.values() for name in wires.values()]
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


def _register(writer: Any, signal: Signal) -> Any:
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
