"""What a DMA channel looks like from outside: its name, its errors, and what it waits for.

It also says why a channel has stopped at an error: the error bits of AM025, and what none of them shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from memtile.arch.register_map import TILE_MODULES, register_named
from memtile.arch.registers import Field
from memtile.arch.tiles import S2MM, WORD_BYTES, TileKind, TileName
from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.lock_waits import wait_text
from memtile.explain.names import called, channel_name
from memtile.explain.stream_waits import WaitingWords, blocked_text
from memtile.model.dma.channel_registers import ERROR_UNKNOWN_FORMAT
from memtile.model.state.causes import Cause, Phase
from memtile.sim.loop.engine import Engine

UNKNOWN_FORMAT = "a compressed format that is not public"
"""Stands among the names of error bits for what no bit shows (DEV-AIE2P-3)."""

CAUSES = {
    "Error_BD_Invalid": "the descriptor has no Valid_BD",
    "Error_BD_Unavailable": "the descriptor is one of those that only channels of the other parity have",
    "Error_DM_Access_to_Unavailable": "an address is in no memory that the channel reaches",
    "Error_Lock_Access_to_Unavailable": "a lock is out of the channel's reach",
    "Error_FoT_Length_Exceeded": "the packet is longer than the descriptor, {length} words",
    "Error_FoT_BDs_per_Task": "the packet is longer than the chain of the task",
    "AXI_MM_Slave_Error": "external memory at {byte:#x} is read-only",
    "AXI_MM_Decode_Error": "no external memory is at {byte:#x}",
    UNKNOWN_FORMAT: "send the data uncompressed, or try it on npu1",
}


def cause_of(errors: Sequence[str], length: int, byte: int) -> str:
    """The errors that stop a channel, in words.

    Args:
        errors: AM025 names of the bits.
        length: words of the descriptor.
        byte: address of the last access to external memory.
    """
    known = [CAUSES[name] for name in errors if name in CAUSES]
    return ", ".join(known).format(length=length, byte=byte)


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
        chains: of all channels.
    """

    engine: Engine
    ch: int
    chains: BdChains

    @property
    def kind(self) -> TileKind:
        """Kind of the channel's tile."""
        return self.chains.kind(self.ch)

    @property
    def tile(self) -> int:
        """Model index of the channel's tile."""
        return int(self.engine.channels.tile[self.ch])

    @property
    def name(self) -> str:
        """``S2MM 0`` to ``MM2S 5``; in a model of several tiles after the tile, ``memory(0,1) MM2S 5``."""
        return channel_name(self.engine, self.ch)

    @property
    def called(self) -> str:
        """The name, and what the design calls the channel."""
        return called(self.engine, self.ch)

    @property
    def errors(self) -> tuple[str, ...]:
        """AM025 names of the error bits that are set, and the overflow bit; and what no bit shows."""
        word = int(self.engine.channels.errors[self.ch])
        unknown = (UNKNOWN_FORMAT,) if word >> ERROR_UNKNOWN_FORMAT & 1 else ()
        return (*unknown, *(f.name for f in _errors(self.kind.name) if f.get(word)))

    @property
    def endless(self) -> bool:
        """Whether the running task's chain loops back on itself and so never ends."""
        return self.chains.loops(self.ch)

    @property
    def idle(self) -> bool:
        """Whether it has no task."""
        return bool(self.engine.channels.phase[self.ch] == Phase.IDLE)

    @property
    def halted(self) -> bool:
        """Whether an error has stopped it."""
        return bool(self.engine.channels.phase[self.ch] == Phase.HALTED)

    @property
    def at_rest(self) -> bool:
        """Idle, or at the start of a BD of an endless task: nothing is half done."""
        if self.idle:
            return True
        return self.endless and not self.halted and bool(self.engine.channels.moved[self.ch] <= 0)

    def waits_for(self, waits: WaitingWords) -> str:
        """One line: what the channel does in this cycle, what would let it go on, and words for it."""
        words = waits.text(self.engine, self.ch)
        if self.idle:
            return f"{self.called}: no task takes {words}"
        return "; ".join([self._state(), *([f"{words} are not taken"] if words else [])])

    def _state(self) -> str:
        c = self.engine.channels
        why = Cause(int(c.why[self.ch]))
        moved, length = max(int(c.moved[self.ch]), 0), c.length[self.ch]
        text = f"{self.called}, BD {c.bd[self.ch]}, word {moved} of {length}"
        if self.halted:
            return f"{text}: halted by {', '.join(self.errors)}{self._unanswered}; {self.way_out}"
        if why is Cause.LOCK_ACQUIRE:
            return f"{text}: {self._lock_wait()}"
        if why is Cause.STREAM_BLOCKED:
            return "; ".join(filter(None, [f"{text}: {why.text}", blocked_text(self.engine, self.ch)]))
        return f"{text}: {'at work' if why is Cause.IDLE else why.text}"

    @property
    def external_byte(self) -> int:
        """Of an interface tile's channel: byte address of its last access to external memory."""
        granules, receives = self.engine.state.granules, self.engine.channels.direction[self.ch] == S2MM
        word = granules.port_target[self.ch] if receives else granules.target[self.ch]
        return int(word) * WORD_BYTES

    @property
    def _unanswered(self) -> str:
        """Where external memory refused the access."""
        if not any(name.startswith("AXI") for name in self.errors):
            return ""
        return f" at byte {self.external_byte:#x} of external memory"

    @property
    def way_out(self) -> str:
        """The repair after an error of the channel."""
        return "reset the channel" if self.kind.has_channel_reset else "clear the status bits"

    def _lock_wait(self) -> str:
        c = self.engine.channels
        lock_id, operand = int(c.acquire_lock[self.ch]), int(c.acquire_value[self.ch])
        lock = lock_seen(self.engine, self.tile, lock_id)
        if lock is None:
            return f"waits for lock id {lock_id}"
        return wait_text(self.engine, self.chains, self.tile, lock, operand, self.name)


def channel_views(engine: Engine, chains: BdChains) -> list[ChannelView]:
    """The channels that did or were asked anything."""
    return [ChannelView(engine, ch, chains) for ch in engine.channels_in_use()]
