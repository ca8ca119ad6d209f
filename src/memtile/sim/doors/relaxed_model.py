"""Models with more than a design gives them: what one more buffer, or a second channel, would save.

A lock that counts free buffers begins with their number. With one more of it a producer runs as far ahead as
with one more buffer; it writes into a buffer that is still read, so that cycles are right and words are not.
Channels that move two words a cycle take as long as two channels that have half of the words each. Rows of
external memory that follow each other are what a design reads that keeps its data so. Descriptors without
zeros around their data are as long as the data; so are those that receive them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from memtile.arch.register_map import register_named
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileKind
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.event_columns import LockEvent
from memtile.sim.doors.tile_door import Door

if TYPE_CHECKING:
    from memtile.sim.loop.engine import Engine

_MASK = register_named("memory_tile", "Lock0_value").field("Lock_value").mask
_TWO = 2  # words a cycle


class Relaxed:
    """What models have beside what their design gives them.

    Args:
        more: what is added to the first value above 0 that a lock gets, by its index among all locks.
        two_words: channels that move two words a cycle, by their index; -1 = all do.
        unpaced: ports outside of the design are ready in every cycle.
        rows_follow: rows of external memory follow each other.
        no_waits: hosts wait for nothing.
        unpadded: by tile and number the length of descriptors that send no zeros, or get none.

    Attributes:
        began: that value of each lock, without what is added.
        engine: the model that was made last.
    """

    def __init__(
        self,
        more: Mapping[int, int],
        *,
        two_words: Sequence[int],
        unpaced: bool,
        rows_follow: bool,
        no_waits: bool,
        unpadded: Mapping[tuple[int, int], int],
    ) -> None:
        self._more, self._two_words, self.unpaced = more, two_words, unpaced
        self.rows_follow, self.no_waits, self.unpadded = rows_follow, no_waits, unpadded
        self.began: dict[int, int] = {}
        self.engine: Engine | None = None

    def enter(self, engine: Engine) -> None:
        """Relax a model that was just made."""
        self.engine, self.began = engine, {}
        chosen = slice(None) if -1 in self._two_words else list(self._two_words)
        engine.present.walks.stream_words[chosen] = _TWO
        engine.observe(lambda door, tile: cast("Door", _ChangingDoor(door, engine, tile, self)))

    def value(self, engine: Engine, lock: int, value: int) -> int:
        """What is written to a lock to which a host writes ``value``: more if it is the first, above 0."""
        used = plain(engine.present.locks).event[lock, [LockEvent.ACQUIRED_GREATER, LockEvent.RELEASED]]
        if not value or lock in self.began or (used >= 0).any():
            return value
        self.began[lock] = value
        return min(value + self._more.get(lock, 0), _MASK)


class _ChangingDoor:
    """Stands before the door of a tile and changes what is written to its locks and descriptors."""

    def __init__(self, door: Door, engine: Engine, tile: int, given: Relaxed) -> None:
        kind = TILE_KINDS[KIND_NAMES[engine.tiles.kind[tile]]]
        self._door, self._engine, self._tile, self._given = door, engine, tile, given
        self._first, self._stride, self._locks = kind.lock_value_base, kind.lock_value_stride, kind.locks
        self._base = int(plain(engine.spec.tiles).lock_base[tile])
        self._rows = _rows(kind) if given.rows_follow else {}
        self._lengths = _lengths(
            kind, {bd: words for (at, bd), words in given.unpadded.items() if at == tile}
        )
        self._bds = range(kind.bd_base, kind.bd_base + kind.bds * kind.bd_stride)
        self._bd_stride = kind.bd_stride

    def __getattr__(self, name: str) -> Any:
        return getattr(self._door, name)

    def at_once(self) -> _ChangingDoor:
        """This door before the one without host time."""
        return _ChangingDoor(self._door.at_once(), self._engine, self._tile, self._given)

    def write32(self, offset: int, value: int) -> None:
        """Write one 32-bit word."""
        self._door.write32(offset, self._changed(offset, value))

    def block_write32(self, offset: int, words: Sequence[int] | npt.NDArray[np.uint32]) -> None:
        """Write consecutive words."""
        last = self._first + self._locks * self._stride
        is_at_locks = self._first <= offset + WORD_BYTES * len(words) and offset < last
        if is_at_locks or ((self._rows or self._lengths) and offset in self._bds):
            words = [self._changed(offset + WORD_BYTES * n, int(word)) for n, word in enumerate(words)]
        self._door.block_write32(offset, words)

    def _changed(self, offset: int, value: int) -> int:
        """The word that is written instead of ``value``."""
        if offset in self._bds:
            clear, given = self._lengths.get(offset - self._bds.start, (0, 0))
            clear |= self._rows.get((offset - self._bds.start) % self._bd_stride, 0)
            return (int(value) & ~clear) | given
        number, within = divmod(offset - self._first, self._stride)
        if within or not 0 <= number < self._locks:
            return value
        return self._given.value(self._engine, self._base + number, int(value) & _MASK)


def _lengths(kind: TileKind, words: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """By byte of the descriptors of a tile what is cleared and set there: no zeros, and another length."""
    found: dict[int, tuple[int, int]] = {}
    for bd, length in words.items():
        for name, field in kind.bd_fields.items():
            for word, last, first in field.parts if name == "Buffer_Length" or "_Zero_" in name else ():
                at, bits = bd * kind.bd_stride + WORD_BYTES * word, (1 << (last + 1)) - (1 << first)
                clear, given = found.get(at, (0, 0))
                found[at] = clear | bits, given | (length << first if name == "Buffer_Length" else 0)
    return found


def _rows(kind: TileKind) -> dict[int, int]:
    """By byte of a descriptor the bits whose zeros make a walk without gaps; empty inside of the array."""
    if not kind.axi_masters:
        return {}
    found: dict[int, int] = {}
    for word, last, first in (kind.bd_fields[name].parts[0] for name in ("D0_Wrap", "D0_Stepsize")):
        bits = (1 << (last - first + 1)) - 1 << first
        found[WORD_BYTES * word] = found.get(WORD_BYTES * word, 0) | bits
    return found


_RELAXED: ContextVar[Relaxed | None] = ContextVar("what models have beside their design", default=None)


@contextmanager
def relaxed_models(
    more: Mapping[int, int],
    *,
    two_words: Sequence[int] = (),
    unpaced: bool = False,
    rows_follow: bool = False,
    no_waits: bool = False,
    unpadded: Mapping[tuple[int, int], int] = MappingProxyType({}),
) -> Iterator[Relaxed]:
    """Have all models that are made inside begin with more than their design gives them.

    Args:
        more: what is added to what locks begin with, by the index of a lock among all locks of the model.
        two_words: channels that move two words a cycle, by their index; -1 = all do.
        unpaced: ports outside of the design are ready in every cycle.
        rows_follow: rows of external memory follow each other.
        no_waits: hosts wait for nothing.
        unpadded: by tile and number the length of descriptors that send no zeros, or get none.
    """
    relaxed = Relaxed(
        more,
        two_words=two_words,
        unpaced=unpaced,
        rows_follow=rows_follow,
        no_waits=no_waits,
        unpadded=unpadded,
    )
    token = _RELAXED.set(relaxed)
    try:
        yield relaxed
    finally:
        _RELAXED.reset(token)


def relax(engine: Engine) -> None:
    """Relax a model that was just made, if that is asked for here."""
    if (relaxed := _RELAXED.get()) is not None:
        relaxed.enter(engine)


def is_paced() -> bool:
    """Whether ports outside of a design that is made here are ready as the design says."""
    relaxed = _RELAXED.get()
    return relaxed is None or not relaxed.unpaced


def hosts_wait() -> bool:
    """Whether hosts wait for what their sequences wait for."""
    relaxed = _RELAXED.get()
    return relaxed is None or not relaxed.no_waits
