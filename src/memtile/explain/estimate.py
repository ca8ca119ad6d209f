"""Cycles as a band, from where they were spent: how far they hang on constants, without another run.

A constant that a channel, an arbiter or the host met n times lengthens its way by n times the change; of all
channels the one counts that met it most. The changes of all constants add up, for one may wait behind the
other. Reads of external memory also get as slow as the words on their way allow: a latency of more cycles
than ``external_egress_words`` costs every word. What runs beside something slower is counted all the same,
and what one delay makes another one wait is not: it is an estimate, and ``--sensitivity`` runs both ends.

It also has timing constants that nobody has measured: which of them a run depended on.

It also says how far cycles hang on constants that nobody has measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import NamedTuple

import numpy as np

from memtile.arch.boards import OF_OTHERS, SHARED_BYTES
from memtile.arch.tiles import MM2S, S2MM, WORD_BYTES
from memtile.arch.timing import Timing, is_measured, likely
from memtile.documents import Count
from memtile.jit.tables import plain
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.columns import columns_of, fields_of
from memtile.model.state.state import State, StateTables
from memtile.sim.loop.engine import Engine


def is_shown(st: State, sign: str) -> bool:
    """Whether a sign of ``shown_by`` (``arch/timing.py``) is in the state, such as ``Cause.EXTERNAL``.

    Raises:
        KeyError: no such cause, table or column.
    """
    of, name = sign.split(".")
    if of == Cause.__name__:
        return bool(np.count_nonzero(st.spent[:, Cause[name]]))
    if of == CoreCause.__name__:
        return bool(np.count_nonzero(st.core_spent[:, CoreCause[name]]))
    return bool(np.count_nonzero(getattr(plain(getattr(st, of)), name) > _rest(of, name)))


@cache
def _rest(of: str, name: str) -> int:
    """What a column of a table has where nothing happens."""
    table, _ = fields_of(StateTables)[of]
    return (columns_of(table)[name] if isinstance(table, type) else table).rest or 0


_SIGNS = {f.name: f.metadata["shown_by"] for f in fields(Timing)}
_EVERY_SIGN = frozenset(sign for signs in _SIGNS.values() for sign in signs)


def assumed_names(engine: Engine) -> list[str]:
    """The timing constants of grade assumed that the run so far depended on, measured on its board or not."""
    st = engine.state
    shown = {sign for sign in _EVERY_SIGN if is_shown(st, sign)}
    return [name for name, signs in _SIGNS.items() if not shown.isdisjoint(signs)]


def assumed(engine: Engine, depends: Sequence[str]) -> list[str]:
    """``name = value`` of the timing constants that the run so far depended on and nobody measured there.

    What was measured on the device's board is none of them; what was measured on another board alone is.

    Args:
        engine: the model.
        depends: their :func:`assumed_names`.
    """
    names = [name for name in depends if not _is_of_board(engine, name)]
    if engine.host.by_firmware:
        names += OF_OTHERS.get(engine.board, {})
    return _as_text(engine, names)


def measured(engine: Engine, depends: Sequence[str]) -> list[str]:
    """``name = value`` of those that were measured on its board, and are assumed elsewhere."""
    return _as_text(engine, [name for name in depends if _is_of_board(engine, name)])


def _is_of_board(engine: Engine, name: str) -> bool:
    return is_measured(name, engine.board, getattr(engine.timing, name))


def _as_text(engine: Engine, names: list[str]) -> list[str]:
    return [f"{name} = {getattr(engine.timing, name)}" for name in names]


FIRMWARE = "firmware_access"  # stands for all constants of firmware, which vary alike


class Estimate(NamedTuple):
    """Cycles that a run may take over the ranges of assumed constants.

    Attributes:
        low: with each at the end that shortens it.
        high: with each at the end that lengthens it.
    """

    low: int
    high: int


def estimated(engine: Engine, depends: Sequence[str]) -> Estimate | None:
    """The band of the cycles of a run so far; None if they hang on no constant that has a range."""
    st, timing = engine.state, engine.timing
    names = [name for name in depends if name in _TIMES]
    if engine.host.by_firmware:
        names = [FIRMWARE, *(name for name in names if name != "access_cycles")]
    low = high = 0
    for name in names:
        ends = [_change(st, timing, name, end) for end in likely(name, engine.board, getattr(timing, name))]
        low, high = low + min(0, *ends), high + max(0, *ends)
    later = shared_cycles(external_bytes(st), engine.board, engine.now)
    if not names and not later:
        return None
    return Estimate(max(engine.now + low, 0), engine.now + high + later)


def external_bytes(st: State) -> int:
    """Bytes that moved between the array and external memory, both ways."""
    words = np.asarray(st.spent)[:, Cause.MOVING] * np.asarray(st.walks.stream_words)
    return int(WORD_BYTES * words[np.asarray(st.channels.external) >= 0].sum())


def shared_cycles(moved: int, board: str, cycles: int) -> int:
    """Cycles more that external memory takes for all columns at the lowest rate measured for them."""
    if board not in SHARED_BYTES:
        return 0
    return max(0, round(moved / SHARED_BYTES[board][0]) - cycles)


def _change(st: State, timing: Timing, name: str, value: int) -> int:
    """Cycles more with another value of a constant."""
    own: int = getattr(timing, name)
    change: int = round(_TIMES[name](st, own) * (value - own))
    if name == "external_latency":
        words, ahead = _most(st, Cause.MOVING, MM2S, external=True), timing.external_egress_words
        change += round(words * (max(1.0, value / ahead) - max(1.0, own / ahead)))
    return change


def _most(st: State, cause: Cause, direction: int | None = None, *, external: bool = False) -> int:
    """Cycles of a cause, of the channel that spent most on it."""
    chosen = np.ones(len(st.channels.direction), bool)
    if direction is not None:
        chosen &= np.asarray(st.channels.direction) == direction
    if external:
        chosen &= np.asarray(st.channels.external) >= 0
    return int(np.asarray(st.spent)[chosen, cause].max(initial=0))


def _met(cause: Cause, direction: int | None = None) -> Callable[[State, int], float]:
    """How often a channel spent the whole of a constant on ``cause``."""
    return lambda st, value: _most(st, cause, direction) / max(value, 1)


def _waited(direction: int, first: str) -> Callable[[State, int], float]:
    """How often a channel spent a latency of external memory, without what its first access took longer."""

    def times(st: State, value: int) -> float:
        later = int(getattr(st.spec.timing, first)[0])
        return max(0, _most(st, Cause.EXTERNAL, direction) - later) / max(value, 1)

    return times


def _cascaded(st: State, value: int) -> float:
    return int(st.core_spent[:, CoreCause.CASCADE_STALL].max(initial=0)) / max(value, 1)


_TIMES: Mapping[str, Callable[[State, int], float]] = {
    "task_start": _met(Cause.TASK_START),
    "zeroisation": _met(Cause.MEMORY_BUSY),
    "neighbour_latency": lambda st, _: float(st.interfaces.served.max(initial=0)),
    "cascade_latency": _cascaded,
    "external_latency": _waited(MM2S, "external_first_read"),
    "external_write_latency": _waited(S2MM, "external_first_write"),
    "packet_arbitration": lambda st, _: float(st.arbiters.packets.max(initial=0)),
    "access_cycles": lambda st, value: int(st.clock.host_waited[0]) / max(value, 1),
    FIRMWARE: lambda st, value: int(st.clock.host_waited[0]) / max(value, 1),
}
"""How often a run met a constant, given its value. Depths of buffers have none: what they cost is a rate."""


@dataclass(frozen=True, slots=True)
class RangeEnds:
    """A run at both ends of the range in which a constant is likely to be.

    Attributes:
        name: of the constant.
        value: that the run itself had.
        low: lower end.
        high: upper end.
        cycles_low: of the run with the lower end; None = it did not end as the run did.
        cycles_high: of the run with the upper end; None likewise.
    """

    name: str
    value: Count
    low: Count
    high: Count
    cycles_low: Count | None
    cycles_high: Count | None

    @property
    def width(self) -> int:
        """How far the cycles of both ends are apart; 0 if one of them is not known."""
        if self.cycles_low is None or self.cycles_high is None:
            return 0
        return abs(self.cycles_high - self.cycles_low)


@dataclass(frozen=True, slots=True)
class Band:
    """Cycles as a band.

    Attributes:
        cycles: of the run itself.
        low: fewest of all runs.
        high: most of all runs.
        constants: each that the run depends on, the one with the widest band first.
        without: functions of cores whose cost nobody says: their calls take no time at either end.
    """

    cycles: Count
    low: Count
    high: Count
    constants: Sequence[RangeEnds] = ()
    without: Sequence[str] = ()

    @property
    def lines(self) -> list[str]:
        """For people: the band, and a line for each constant."""
        without = f", without the calls of {', '.join(self.without)} (cost unknown)" if self.without else ""
        if not self.constants:
            return [f"{self.cycles:,} cycles, which depend on no assumed constant{without}."]
        first = self.constants[0]
        made = f"; most of the range is due to {first.name}" if first.width else ""
        ends = f"{self.low:,} to {self.high:,} cycles{without}"
        return [f"Run with both ends of each assumed constant: {ends}{made}.", *map(_line, self.constants)]


def _line(ends: RangeEnds) -> str:
    cycles = [
        "ends otherwise" if count is None else f"{count:,}" for count in (ends.cycles_low, ends.cycles_high)
    ]
    return f"  {ends.name} = {ends.low} to {ends.high} (here {ends.value}): {cycles[0]} to {cycles[1]} cycles"
