"""Where words must stand in the stream switches of a dump, from who waits at their ends.

No register shows a switch's words. A sender that is blocked has a way that is full up to an end where nobody
takes words: one that does not wait for words itself. Where two packets could hold an arbiter, neither is said
to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.ports import ARBITERS, SLOTS_PER_SLAVE
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.explain.switch_ways import masters_among, wired
from memtile.jit.tables import plain
from memtile.model.dma import bd_fields
from memtile.model.state.causes import Cause, CorePhase
from memtile.model.streams.switch_config import PACKET
from memtile.sim.loop.engine import Engine

_ENABLE, _ID, _MASK, _MSEL, _ARBITER = (
    field_of(SLOT, name) for name in ("enable", "id", "mask", "msel", "arbit")
)
_COLUMN, _ROW, _TYPE = (field_of(STREAM_HEADER, name).lsb for name in ("Column", "Row", "Packet_Type"))
_PARITY = 31


class _Hold(NamedTuple):
    """An arbiter that a packet would hold on its way: at which slave port, and for which masters."""

    arbiter: int
    port: int
    targets: int


class _Way:
    """The way of a blocked sender.

    Args:
        engine: the model.
        port: slave port that it feeds.
        header: of its packet; -1 = it sends none.
    """

    def __init__(self, engine: Engine, port: int, header: int) -> None:
        self._engine, self.header = engine, header
        self.full: list[int] = []
        self.holds: list[_Hold] = []
        self.lost = -1  # slave port that has no slot for the packet
        self.blocked = self._follow(port, set())

    def _follow(self, port: int, seen: set[int]) -> bool:
        """Whether the way from a port on is full at one of its ends."""
        if port in seen:
            return False
        seen.add(port)
        switch = plain(self._engine.state.switch)
        stuck = self._master(port, seen) if switch.is_master[port] else self._slave(port, seen)
        if stuck:
            self.full.append(port)
        return stuck

    def _master(self, port: int, seen: set[int]) -> bool:
        engine, switch = self._engine, plain(self._engine.state.switch)
        ch = int(switch.channel[port])
        if ch >= 0:
            return bool(engine.channels.why[ch] != Cause.STREAM_STARVED)
        if port in engine.state.cores.stream_in.tolist():
            core = engine.state.cores.stream_in.tolist().index(port)
            return bool(engine.state.cores.phase[core] != CorePhase.GET_STREAM)
        return switch.link[port] < 0 or self._follow(int(switch.link[port]), seen)

    def _slave(self, port: int, seen: set[int]) -> bool:
        switch = plain(self._engine.state.switch)
        masters = self._packet(port) if switch.mode[port] == PACKET else wired(self._engine, port)
        if not masters:
            return True
        stuck = [self._follow(master, seen) for master in masters]  # all of them are looked at
        return any(stuck)

    def _packet(self, port: int) -> list[int]:
        """The masters that the slot for its packet chooses; the port is the end where there is none."""
        for slot in _slots(self._engine, port):
            if self.header >= 0 and (self.header ^ _ID.get(slot)) & _MASK.get(slot) == 0:
                arbiter = int(plain(self._engine.state.switch).tile[port]) * ARBITERS + _ARBITER.get(slot)
                targets = int(self._engine.state.arbiters.masters[arbiter, _MSEL.get(slot)])
                if targets:
                    self.holds.append(_Hold(arbiter, port, targets))
                    return masters_among(self._engine, port, targets)
        self.lost = port
        return []


def put_streams(engine: Engine) -> None:
    """Fill the ways of all senders that are blocked."""
    ways = [way for way in _ways(engine) if way.blocked]
    asked = Counter(hold.arbiter for way in ways for hold in way.holds)
    switch, arbiters = plain(engine.state.switch), plain(engine.state.arbiters)
    for way in ways:
        sure = all(asked[hold.arbiter] == 1 for hold in way.holds)
        for port in way.full if sure else way.full[-1:]:
            switch.held[port] = max(int(switch.depth[port]), 1)
            switch.words[port, switch.head[port]] = max(way.header, 0)
        if way.lost >= 0 and sure:
            switch.unrouted[way.lost] = 1
        for hold in way.holds if sure else ():
            arbiters.holder[hold.arbiter] = hold.port
            switch.arbiter[hold.port], switch.targets[hold.port] = hold.arbiter, hold.targets


def _ways(engine: Engine) -> Iterator[_Way]:
    c, cores = engine.channels, engine.state.cores
    for ch in (c.why == Cause.STREAM_BLOCKED).nonzero()[0].tolist():
        if c.switch_port[ch] >= 0:
            yield _Way(engine, int(c.switch_port[ch]), _header(engine, ch))
    for core, phase in enumerate(cores.phase.tolist()):
        if phase == CorePhase.PUT_STREAM:
            yield _Way(engine, int(cores.stream_out[core]), -1)


def _header(engine: Engine, ch: int) -> int:
    """The stream header that the BD of a channel asks for; -1 = none."""
    fields, tiles, tile = engine.state.fields[ch].tolist(), engine.spec.tiles, int(engine.channels.tile[ch])
    if not fields[bd_fields.ENABLE_PACKET]:
        return -1
    word = int(tiles.column[tile]) << _COLUMN | int(tiles.row[tile]) << _ROW
    word |= fields[bd_fields.PACKET_TYPE] << _TYPE | fields[bd_fields.PACKET_ID]
    return int(word if word.bit_count() % 2 else word | 1 << _PARITY)


def _slots(engine: Engine, port: int) -> list[int]:
    """The enabled slots of a slave port."""
    switch, tiles = plain(engine.state.switch), plain(engine.spec.tiles)
    tile = int(switch.tile[port])
    first = int(tiles.register_base[tile] + plain(engine.spec.kinds).slot_config[tiles.kind[tile]])
    first += int(switch.number[port]) * SLOTS_PER_SLAVE
    return [s for s in engine.state.registers[first : first + SLOTS_PER_SLAVE].tolist() if _ENABLE.get(s)]
