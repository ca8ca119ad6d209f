"""Arbiters at which packets of several ways meet: who is first, and what stands behind it, timing says.

A circuit has one sender, and so has a packet way on which packets only part. Where ways join, the packet that
comes first holds the arbiter up to its TLAST, and what comes behind it waits for the receivers of that one:
neither the order of words nor whether all go on is the same in every order. Tokens alone, and traces alone,
meet without harm: whoever takes them waits for nobody.

So do packets of channels if each receiver behind them, wherever a word of their senders may go, is ready by
itself for all words of the run (:meth:`LockOrders.is_ready`). A packet is the words of one descriptor,
which its sender moves without waiting for anything but room; receivers give room without waiting for
anybody: so whoever has an arbiter ends his packet, and all others come to it. The receivers count words, so
what they do to locks does not depend on whose words come first. Which words lie where does, where several
send to one receiver.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial

import numpy as np

from memtile.arch.devices import FIRMWARE_PORT
from memtile.arch.ports import ARBITERS, PORTS
from memtile.arch.tiles import MM2S, S2MM, TILE_KINDS
from memtile.explain.bd_chains import BdChains
from memtile.explain.names import called, port_name
from memtile.explain.switch_ways import arbiters_of, configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.dma import bd_fields
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import FOT_MASK, OUT_OF_ORDER_MASK
from memtile.model.state.causes import Phase
from memtile.model.state.columns import NEVER
from memtile.model.streams.switch_config import PACKET
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine

_NAMES = 3  # of senders that are named in a reason


class StreamOrders:
    """Looks at the stream switches of a run that came to rest.

    Args:
        engine: the model.
        is_ready: whether a channel takes all its words of the run in every order.
    """

    def __init__(self, engine: Engine, is_ready: Callable[[int], bool]) -> None:
        self._engine, self._switch = engine, plain(engine.state.switch)
        self._is_ready = is_ready

    def reasons(self) -> Iterator[str]:
        """Arbiters at which somebody else could be first."""
        for (tile, arbiter), ports in self._joins.items():
            sources = {source for port in ports for source in self.sources(port)}
            if sources <= self._tokens and self._only_hosts(ports):
                continue
            if sources <= self._traces and self._only_traces(ports):
                continue
            if self._is_passed_by_all(sources):
                continue
            names = " and ".join(port_name(self._engine, port).split(" of tile")[0] for port in ports)
            where = place(self._engine.spec, tile)
            yield f"packets of {names} meet at arbiter {arbiter} of tile {where}"

    def of_words(self) -> Iterator[str]:
        """Receivers to which the packets of several channels come, each when it has its turn."""
        ports = (port for joined in self._joins.values() for port in joined)
        passed = {source for port in ports for source in self.sources(port)}
        for port in self.ends(sorted(passed)):
            senders = [int(self._switch.channel[source]) for source in self.sources(port)]
            channel = int(self._switch.channel[port])
            if len(senders) > 1 and channel >= 0 and min(senders) >= 0:
                names = ", ".join(called(self._engine, ch) for ch in sorted(senders)[:_NAMES])
                yield f"timing decides whose packets come first to {called(self._engine, channel)}: {names}"

    def _is_passed_by_all(self, sources: Collection[int]) -> bool:
        """Whether what these ports send comes through every arbiter, whoever is first."""
        c, held = self._engine.channels, plain(self._engine.state.fifos).held
        senders = [int(self._switch.channel[source]) for source in sources]
        if min(senders, default=-1) < 0 or not all(map(self._ends_its_packets, senders)):
            return False
        ways = reached(sorted(sources), partial(configured_ways, self._engine))
        ends = [int(self._switch.channel[port]) for port in self.ends(sorted(sources))]
        if min(ends, default=-1) < 0 or self._switch.held[ways].any() or held[ends].any():
            return False
        counts_words = all(not int(c.control[ch]) & (OUT_OF_ORDER_MASK | FOT_MASK) for ch in ends)
        return counts_words and all(map(self._is_ready, ends))

    def _ends_its_packets(self, ch: int) -> bool:
        """Whether no descriptor of a channel's tile leaves the end of its packet to another one."""
        tile = int(self._engine.channels.tile[ch])
        kind = TILE_KINDS[KIND_NAMES[int(plain(self._engine.spec.tiles).kind[tile])]]
        state, field = self._engine.state, bd_fields.TLAST_SUPPRESS
        return not any(bd_fields.read_field(state, tile, bd, field) for bd in range(kind.bds))

    @property
    def has_traces(self) -> bool:
        """Whether trace units sent anything."""
        return bool(self._traces & self._live)

    def left_behind(self) -> Iterator[str]:
        """Ports with words that nobody took, but for traces and tokens: who sent them had room."""
        aside = set(reached(sorted(self._traces | self._tokens), partial(configured_ways, self._engine)))
        for port in np.flatnonzero(self._switch.held > 0).tolist():
            if port not in aside and not self._is_of_senders_at_work(port):
                yield f"words that nothing takes fit at {port_name(self._engine, port)}"
        held = plain(self._engine.state.fifos).held
        c, traced = self._engine.channels, {int(self._switch.channel[at]) for at in aside}
        for ch in np.flatnonzero((c.direction == S2MM) & (held > 0)).tolist():
            ports = np.flatnonzero((self._switch.channel == ch) & (self._switch.is_master != 0)).tolist()
            at_work = bool(ports) and all(map(self._is_of_senders_at_work, ports))
            if ch not in traced and not at_work:
                yield f"words that nothing takes fit before {called(self._engine, ch)}"

    def _is_of_senders_at_work(self, port: int) -> bool:
        """Whether all who sent words to a port are still at it, and room let them do nothing but that.

        With less room they would only stop earlier.
        """
        return all(source in self._at_work for source in self.sources(port))

    @cached_property
    def _at_work(self) -> set[int]:
        """Ports of channels that have ended no descriptor for which somebody waits by means of room.

        All words that are left are of the descriptor that such a channel is at; or its chain has no end and
        gives no lock and no token.
        """
        c, chains = self._engine.channels, BdChains(self._engine)
        fifos, found = plain(self._engine.state.fifos).held, set[int]()
        for ch in np.flatnonzero((c.direction == MM2S) & (c.phase == Phase.RUN)).tolist():
            port = int(c.switch_port[ch])
            if port < 0:
                continue
            ways = reached([port], partial(configured_ways, self._engine))
            receivers = {int(self._switch.channel[at]) for at in ways if self._switch.is_master[at]} - {-1}
            left = int(self._switch.held[ways].sum()) + sum(int(fifos[each]) for each in receivers)
            silent = not any(chains.released(ch, bd) for bd in chains.of(ch)) and not c.task_token[ch]
            if c.moved[ch] >= left or (silent and chains.loops(ch)):
                found.add(port)
        return found

    @cached_property
    def _live(self) -> set[int]:
        """Ports that words came to."""
        return set(np.flatnonzero((self._switch.popped != NEVER) | (self._switch.held > 0)).tolist())

    @cached_property
    def _joins(self) -> Mapping[tuple[int, int], Sequence[int]]:
        """By tile and arbiter the slave ports whose packets meet there, where there are several."""
        found: dict[tuple[int, int], list[int]] = {}
        packets = (self._switch.mode == PACKET) & (self._switch.is_master == 0)
        for port in sorted(set(np.flatnonzero(packets).tolist()) & self._live):
            for arbiter in arbiters_of(self._engine, port):
                found.setdefault((int(self._switch.tile[port]), arbiter % ARBITERS), []).append(port)
        return {at: ports for at, ports in found.items() if len(ports) > 1}

    @cached_property
    def _before(self) -> Mapping[int, Sequence[int]]:
        """By port those from which words came to it."""
        found: dict[int, list[int]] = {}
        for port in self._live:
            for after in configured_ways(self._engine, port):
                found.setdefault(after, []).append(port)
        return found

    def is_live(self, port: int) -> bool:
        """Whether words came to a port."""
        return port in self._live

    def sources(self, port: int) -> Iterator[int]:
        """The ports at which words that come to one begin."""
        ways = reached([port], lambda at: list(self._before.get(at, ())))
        return (at for at in ways if at not in self._before)

    @cached_property
    def _tokens(self) -> set[int]:
        return set(plain(self._engine.state.controls).slave_port.tolist())

    @cached_property
    def _traces(self) -> set[int]:
        return {int(port) for port in plain(self._engine.spec.event_units).trace_port if port >= 0}

    def ends(self, ports: Sequence[int]) -> list[int]:
        """Master ports behind which no other port is, that words of ``ports`` came to."""
        ways = reached(ports, partial(configured_ways, self._engine))
        return [at for at in ways if at in self._live and not configured_ways(self._engine, at)]

    def _only_hosts(self, ports: Sequence[int]) -> bool:
        """Whether nobody but firmware takes what comes out of them."""
        return all(self._is_firmwares(at) for at in self.ends(ports))

    def _is_firmwares(self, port: int) -> bool:
        tiles, tile = plain(self._engine.spec.tiles), int(self._switch.tile[port])
        kind = TILE_KINDS[KIND_NAMES[tiles.kind[tile]]]
        number = int(self._switch.number[port])
        return kind.role == "interface" and PORTS[kind.name].masters[number] == FIRMWARE_PORT

    def _only_traces(self, ports: Sequence[int]) -> bool:
        """Whether nothing but traces comes to the ends of their ways."""
        ends = self.ends(ports)
        return all(set(self.sources(at)) <= self._traces for at in ends)

    def out_of_order(self) -> Iterator[str]:
        """Channels whose packets choose the descriptor."""
        c = self._engine.channels
        chosen = (c.direction == S2MM) & ((c.control & OUT_OF_ORDER_MASK) != 0) & (c.bds_done > 0)
        names = (called(self._engine, ch) for ch in np.flatnonzero(chosen).tolist())
        return (f"packets choose the descriptors of {name}" for name in names)
