"""Streams that stand still: who does not take the word that a port offers, and who does not bring one.

A port is followed forwards while the next one is full, and backwards while the one before is empty, up to
a channel, a packet that holds an arbiter, or a port where the way ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from memtile.arch.ports import ARBITERS, SLOTS_PER_SLAVE
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.jit.tables import plain
from memtile.model.streams.packet_flow import STREAM_MASK
from memtile.model.streams.packet_switch import has_turn, merges
from memtile.model.streams.switch_config import CIRCUIT, OFF, PACKET
from memtile.sim.loop.engine import Engine

_ENABLE, _ID, _MASK, _MSEL, _ARBITER = (
    field_of(SLOT, name) for name in ("enable", "id", "mask", "msel", "arbit")
)


class Party(NamedTuple):
    """A node of the graph while it is made: its kind and its index in the model."""

    kind: PartyKind
    number: int


class Need(NamedTuple):
    """What one waits for: of whom, and what.

    Attributes:
        of: who gives it.
        via: what.
        way: number of the way in which it would end the wait: all needs of one way are needed, one way is
            enough.
    """

    of: Party
    via: Via
    way: int = 0


Way = tuple[Need, ...]


def one_of(ways: Iterable[Way | Need]) -> list[Need]:
    """Needs of which one way is enough, numbered by their ways; each way once."""
    each_once = dict.fromkeys((way,) if isinstance(way, Need) else way for way in ways)
    return [need._replace(way=n) for n, way in enumerate(filter(None, each_once)) for need in way]


class Streams:
    """The stream switches of an engine that stands still, as lists that are quick to look at.

    Args:
        engine: the model.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        switch, tiles = plain(engine.state.switch), plain(engine.spec.tiles)
        self.held: list[int] = switch.held.tolist()
        self._full: list[bool] = (switch.held >= switch.depth).tolist()
        self._master: list[int] = switch.is_master.tolist()
        self.mode: list[int] = switch.mode.tolist()
        self._link: list[int] = switch.link.tolist()
        self._channel: list[int] = switch.channel.tolist()
        self._passes: list[bool] = ((switch.control >= 0) | (switch.hosted > 0)).tolist()
        self.tile: list[int] = switch.tile.tolist()
        off = plain(engine.state.gates).off > 0
        self._stopped: list[bool] = off[switch.tile].tolist()
        self._number: list[int] = switch.number.tolist()
        self.unrouted: list[int] = switch.unrouted.tolist()
        self._arbiter: list[int] = switch.arbiter.tolist()
        self._targets: list[int] = switch.targets.tolist()
        self._holder: list[int] = plain(engine.state.arbiters).holder.tolist()
        self._slave_base: list[int] = tiles.slave_base.tolist()
        self._slaves: list[int] = tiles.slaves.tolist()
        self._master_base: list[int] = tiles.master_base.tolist()
        self._fed: dict[int, dict[int, list[int]]] = {}  # of each tile: slaves by master

    @cached_property
    def ahead_of(self) -> dict[int, int]:
        """Master ports by the S2MM channel behind them."""
        return {ch: port for port, ch in enumerate(self._channel) if ch >= 0 and self._master[port]}

    @cached_property
    def _behind(self) -> dict[int, int]:
        """Master ports by the slave port at the other end of their wire."""
        return {slave: port for port, slave in enumerate(self._link) if slave >= 0 and self._master[port]}

    @cached_property
    def _senders(self) -> dict[int, int]:
        """MM2S channels by the slave port that they feed."""
        ports = self._engine.channels.switch_port.tolist()
        return {port: ch for ch, port in enumerate(ports) if port >= 0}

    @cached_property
    def _to_cores(self) -> dict[int, int]:
        """Cores by the master port that they get words from."""
        return {port: core for core, port in enumerate(self._engine.state.cores.stream_in.tolist())}

    @cached_property
    def _of_cores(self) -> dict[int, int]:
        """Cores by the slave port that they put words into."""
        return {port: core for core, port in enumerate(self._engine.state.cores.stream_out.tolist())}

    @cached_property
    def _own_ports(self) -> frozenset[int]:
        """Slave ports at which tiles send of their own accord."""
        ports = [
            *plain(self._engine.spec.event_units).trace_port,
            *plain(self._engine.state.controls).slave_port,
        ]
        return frozenset(int(port) for port in ports if port >= 0)

    def taken_by(self, port: int) -> list[Need]:
        """The parties that do not take the word that ``port`` offers, all of which have to.

        Empty if its word is about to move.
        """
        return list(dict.fromkeys(self._forwards(port, set())))

    def brought_by(self, port: int) -> list[Need]:
        """The parties that bring no word to ``port``, one way of which is enough; empty if one is coming."""
        found = one_of(self._backwards(port, set()))
        real = [need for need in found if need.of.kind is not PartyKind.PORT or self._stopped[need.of.number]]
        return real or found

    def of_packet(self, port: int) -> list[Need]:
        """What the packet at slave ``port``, which holds an arbiter, waits for: room, or its own rest."""
        return self.taken_by(port) if self.held[port] else self.brought_by(port)

    def origin(self, port: int) -> int:
        """The MM2S channel whose packet slave ``port`` passes on; -1 = not known."""
        seen = set()
        while port not in seen:
            seen.add(port)
            if port in self._senders:
                return self._senders[port]
            master = self._behind.get(port, -1)
            if master < 0:
                return -1
            slaves = self.feeders(master)
            now = [slave for slave in slaves if self._arbiter[slave] >= 0 or self.mode[slave] == CIRCUIT]
            port = (now or slaves or [port])[0]
        return -1

    def senders_to(self, ch: int) -> set[int]:
        """The MM2S channels whose words stand before an S2MM channel."""
        return {self.origin(slave) for slave in self.feeders(self.ahead_of.get(ch, -1))} - {-1}

    def arbiter_of(self, port: int) -> int:
        """The arbiter that slave ``port`` holds, among those of its tile; -1 = none."""
        return self._arbiter[port] % ARBITERS if self._arbiter[port] >= 0 else -1

    def stream_id(self, port: int) -> int:
        """Stream id of the header that slave ``port`` offers."""
        switch = plain(self._engine.state.switch)
        return int(switch.words[port, switch.head[port]]) & STREAM_MASK

    def feeders(self, master: int) -> list[int]:
        """Slave ports from which words can come to a master port."""
        tile = self.tile[master]
        if tile not in self._fed:
            self._fed[tile] = self._feeders(tile)
        return self._fed[tile].get(master, [])

    def _feeders(self, tile: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        first = self._slave_base[tile]
        for slave in range(first, first + self._slaves[tile]):
            for master in self._masters_of(slave):
                found.setdefault(master, []).append(slave)
        return found

    def _masters_of(self, slave: int) -> list[int]:
        """Master ports to which any word can go from a slave port."""
        if self.mode[slave] == OFF:
            return []
        if self.mode[slave] == CIRCUIT:
            return self._circuits(slave)
        masters, tile = self._engine.state.arbiters.masters, self.tile[slave]
        targets = 0
        for slot in self._slots(slave):
            targets |= int(masters[tile * ARBITERS + _ARBITER.get(slot), _MSEL.get(slot)])
        return self._ports(slave, targets)

    def _circuits(self, slave: int) -> list[int]:
        switch = plain(self._engine.state.switch)
        found, fed = [], int(switch.feeds[slave])
        while fed >= 0:
            found.append(fed)
            fed = int(switch.sibling[fed])
        return found

    def _ports(self, slave: int, targets: int) -> list[int]:
        first = self._master_base[self.tile[slave]]
        return [first + n for n in range(targets.bit_length()) if targets >> n & 1]

    def _slots(self, slave: int) -> list[int]:
        """The enabled slots of a slave port."""
        tiles, kinds, tile = plain(self._engine.spec.tiles), plain(self._engine.spec.kinds), self.tile[slave]
        first = int(tiles.register_base[tile] + kinds.slot_config[tiles.kind[tile]])
        first += self._number[slave] * SLOTS_PER_SLAVE
        words: list[int] = self._engine.state.registers[first : first + SLOTS_PER_SLAVE].tolist()
        return [word for word in words if _ENABLE.get(word)]

    def _forwards(self, port: int, seen: set[int]) -> Iterator[Need]:
        if port in seen:
            return
        seen.add(port)
        if self._stopped[port]:
            yield Need(Party(PartyKind.PORT, port), Via.ROOM)
        elif self._master[port]:
            yield from self._past_master(port, seen)
        elif self.mode[port] == PACKET and self._arbiter[port] < 0:
            yield from self._before_arbiter(port)
        else:
            packet = self.mode[port] == PACKET
            masters = self._ports(port, self._targets[port]) if packet else self._masters_of(port)
            if not masters:
                yield Need(Party(PartyKind.PORT, port), Via.ROOM)
            for master in masters:
                if self._full[master]:
                    yield from self._forwards(master, seen)

    def _past_master(self, port: int, seen: set[int]) -> Iterator[Need]:
        after = self._link[port]
        if port in self._to_cores:
            yield Need(Party(PartyKind.CORE, self._to_cores[port]), Via.ROOM)
        elif self._channel[port] >= 0:
            yield Need(Party(PartyKind.CHANNEL, self._channel[port]), Via.ROOM)
        elif self._passes[port]:
            return
        elif after < 0:
            yield Need(Party(PartyKind.PORT, port), Via.ROOM)
        elif self._full[after]:
            yield from self._forwards(after, seen)

    def _before_arbiter(self, port: int) -> Iterator[Need]:
        """The header of a packet waits for its arbiter."""
        if self.unrouted[port]:
            yield Need(Party(PartyKind.PORT, port), Via.ROOM)
            return
        stream = self.stream_id(port)
        slots = [slot for slot in self._slots(port) if (stream ^ _ID.get(slot)) & _MASK.get(slot) == 0]
        if not slots:
            return
        arbiter = self.tile[port] * ARBITERS + _ARBITER.get(slots[0])
        holder = self._holder[arbiter]
        if holder >= 0:
            yield Need(Party(PartyKind.PACKET, holder), Via.ARBITER)
            return
        turn = self._turn(arbiter)
        if turn >= 0 and turn != port and not self.held[turn]:
            found = self.brought_by(turn)
            yield from found if len(found) == 1 else [Need(Party(PartyKind.PACKET, turn), Via.WORDS)]

    def _turn(self, arbiter: int) -> int:
        """The slave port that deterministic merge serves next; -1 = any."""
        st, tile = self._engine.state, arbiter // ARBITERS
        if not merges(st, arbiter):
            return -1
        slaves = range(self._slaves[tile])
        return next((self._slave_base[tile] + n for n in slaves if has_turn(st, arbiter, n)), -1)

    def _backwards(self, port: int, seen: set[int]) -> Iterator[Need | Way]:
        if port in seen:
            return
        seen.add(port)
        if self._stopped[port]:
            yield Need(Party(PartyKind.PORT, port), Via.WORDS)
        elif self._master[port]:
            yield from self._before_master(port, seen)
        elif port in self._senders:
            yield Need(Party(PartyKind.CHANNEL, self._senders[port]), Via.WORDS)
        elif port in self._of_cores:
            yield Need(Party(PartyKind.CORE, self._of_cores[port]), Via.WORDS)
        elif port in self._own_ports:
            return
        elif port not in self._behind:
            yield Need(Party(PartyKind.PORT, port), Via.WORDS)
        elif not self.held[self._behind[port]] or self._stopped[self._behind[port]]:
            yield from self._backwards(self._behind[port], seen)

    def _before_master(self, port: int, seen: set[int]) -> Iterator[Need | Way]:
        slaves = self.feeders(port)
        if not slaves:
            yield Need(Party(PartyKind.PORT, port), Via.WORDS)
        for slave in slaves:
            if self.held[slave]:
                yield tuple(dict.fromkeys(self._forwards(slave, set())))
            else:
                yield from self._backwards(slave, seen)
