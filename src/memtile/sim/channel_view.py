"""What a run looks like from outside: names, errors, and what a blocked channel waits for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from memtile.arch.register_map import TILE_MODULES, register_named
from memtile.arch.registers import Field
from memtile.arch.tiles import S2MM, TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.bd.windows import place_of_lock
from memtile.model import bd_fields
from memtile.model.bd_fields import KIND_NAMES, read_field
from memtile.model.states import CAUSE_TEXT, Cause, Phase
from memtile.sim.engine import Engine

_OVERFLOW = "Task_Queue_Overflow"


@cache
def _errors(name: TileName) -> tuple[Field, ...]:
    """Error bits of a tile kind's channels, the overflow bit last."""
    fields = register_named(TILE_MODULES[name][0], "DMA_S2MM_Status_0").fields
    return (
        *(f for f in fields if f.name.startswith(("Error", "AXI"))),
        *(f for f in fields if f.name == _OVERFLOW),
    )


@dataclass(frozen=True, slots=True)
class ChannelView:
    """One DMA channel of an engine.

    Args:
        engine: the model.
        ch: model index of the channel.
    """

    engine: Engine
    ch: int

    @property
    def kind(self) -> TileKind:
        """Kind of the channel's tile."""
        return TILE_KINDS[KIND_NAMES[self.engine.spec.tiles.kind[self.tile]]]

    @property
    def tile(self) -> int:
        """Model index of the channel's tile."""
        return int(self.engine.state.channels.tile[self.ch])

    @property
    def name(self) -> str:
        """``S2MM 0`` to ``MM2S 5``; in a model of several tiles after the tile, ``memory(0,1) MM2S 5``."""
        c, tiles = self.engine.state.channels, self.engine.spec.tiles
        port = f"{'S2MM' if c.direction[self.ch] == S2MM else 'MM2S'} {c.number[self.ch]}"
        if len(tiles.kind) == 1:
            return port
        return f"{self.kind.name}({tiles.column[self.tile]},{tiles.row[self.tile]}) {port}"

    @property
    def errors(self) -> tuple[str, ...]:
        """AM025 names of the error bits that are set, and the overflow bit."""
        word = int(self.engine.state.channels.errors[self.ch])
        return tuple(f.name for f in _errors(self.kind.name) if f.get(word))

    @property
    def endless(self) -> bool:
        """Whether the running task's chain loops back on itself and so never ends."""
        c, seen = self.engine.state.channels, set()
        bd = int(c.task_bd[self.ch])
        while bd >= 0 and bd not in seen:
            seen.add(bd)
            bd = self._next(bd)
        return bd >= 0

    @property
    def at_rest(self) -> bool:
        """Idle, or at the start of a BD of an endless task: nothing is half done."""
        c = self.engine.state.channels
        if c.phase[self.ch] == Phase.IDLE:
            return True
        return self.endless and c.phase[self.ch] != Phase.HALTED and c.moved[self.ch] <= 0

    def chain(self) -> Iterator[int]:
        """BD numbers of the running task's chain, each once."""
        seen: set[int] = set()
        bd = int(self.engine.state.channels.task_bd[self.ch])
        while bd >= 0 and bd not in seen:
            seen.add(bd)
            yield bd
            bd = self._next(bd)

    def waits_for(self) -> str:
        """One line: what the channel does in this cycle and what would let it go on."""
        c = self.engine.state.channels
        why = Cause(int(c.why[self.ch]))
        text = f"{self.name}, BD {c.bd[self.ch]}, word {max(int(c.moved[self.ch]), 0)} of {c.length[self.ch]}"
        if self.errors:
            return f"{text}: halted by {', '.join(self.errors)}{self._unanswered}; {self._way_out}"
        if why is Cause.LOCK_ACQUIRE:
            return f"{text}: {self._lock_wait()}"
        return f"{text}: {CAUSE_TEXT[why]}"

    @property
    def _unanswered(self) -> str:
        """Where external memory refused the access."""
        if not any(name.startswith("AXI") for name in self.errors):
            return ""
        granules, receives = self.engine.state.granules, self.engine.state.channels.direction[self.ch] == S2MM
        word = granules.port_target[self.ch] if receives else granules.target[self.ch]
        return f" at byte {int(word) * WORD_BYTES:#x} of external memory"

    @property
    def _way_out(self) -> str:
        return "reset the channel" if self.kind.has_channel_reset else "clear the status bits"

    def _lock_wait(self) -> str:
        c = self.engine.state.channels
        lock_id, operand = int(c.acquire_lock[self.ch]), int(c.acquire_value[self.ch])
        place = place_of_lock(self.kind, lock_id)
        wanted = f">= {-operand}" if operand < 0 else f"== {operand}"
        if place is None or place.window != "own":
            return f"waits for lock id {lock_id} {wanted}"
        first = int(self.engine.spec.tiles.lock_base[self.tile])
        present = int(self.engine.state.locks.value[first + place.local])
        return f"waits for lock {place.local} {wanted}, it is {present}; {self._releasers(lock_id)}"

    def _releasers(self, lock_id: int) -> str:
        """Who among the running chains would release the lock."""
        channels = range(len(self.engine.state.channels.tile))
        others = [ChannelView(self.engine, ch) for ch in channels if ch != self.ch]
        reach = [other for other in others if other.tile == self.tile]
        found = [f"{other.name} (BD {bd})" for other in reach for bd in other._releasing(lock_id)]
        return f"released by {', '.join(found)}" if found else "no running chain releases it"

    def _releasing(self, lock_id: int) -> Iterator[int]:
        for bd in self.chain():
            if (
                self._field(bd, bd_fields.RELEASE_VALUE) > 0
                and self._field(bd, bd_fields.RELEASE_ID) == lock_id
            ):
                yield bd

    def _next(self, bd: int) -> int:
        return self._field(bd, bd_fields.NEXT_BD) if self._field(bd, bd_fields.USE_NEXT_BD) else -1

    def _field(self, bd: int, field: int) -> int:
        return int(read_field(self.engine.spec, self.engine.state, self.tile, bd, field))


def views(engine: Engine) -> list[ChannelView]:
    """All channels of the model."""
    return [ChannelView(engine, ch) for ch in range(len(engine.state.channels.tile))]
