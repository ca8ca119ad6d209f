"""Arbiters at which packets of several ways meet: who is first, and what stands behind it, timing says.

A circuit has one sender, and so has a packet way on which packets only part. Where ways join, the packet that
comes first holds the arbiter up to its TLAST, and what comes behind it waits for the receivers of that one:
neither the order of words nor whether all go on is the same in every order. Tokens alone, and traces alone,
meet without harm: whoever takes them waits for nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial

import numpy as np

from memtile.arch.devices import FIRMWARE_PORT
from memtile.arch.ports import ARBITERS, PORTS
from memtile.arch.tiles import MM2S, S2MM, TILE_KINDS
from memtile.explain.bd_chains import BdChains
from memtile.explain.names import called, port_name
from memtile.explain.switch_ways import arbiters_of, configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import OUT_OF_ORDER_MASK
from memtile.model.state.causes import Phase
from memtile.model.state.columns import NEVER
from memtile.model.streams.switch_config import PACKET
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine


class StreamOrders:
    """Looks at the stream switches of a run that came to rest.

    Args:
        engine: the model.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self._switch = engine, plain(engine.state.switch)

    def reasons(self) -> Iterator[str]:
        """Arbiters at which somebody else could be first."""
        for (tile, arbiter), ports in self._joins.items():
            sources = {source for port in ports for source in self._sources(port)}
            if sources <= self._tokens and self._only_hosts(ports):
                continue
            if sources <= self._traces and self._only_traces(ports):
                continue
            names = " and ".join(port_name(self._engine, port).split(" of tile")[0] for port in ports)
            where = place(self._engine.spec, tile)
            yield f"packets of {names} meet at arbiter {arbiter} of tile {where}"

    @property
    def has_traces(self) -> bool:
        """Whether trace units sent anything."""
        return bool(self._traces & self._live)

    def left_behind(self) -> Iterator[str]:
        """Ports with words that nobody took, but for traces and tokens: who sent them had room."""
        aside = set(reached(sorted(self._traces | self._tokens), partial(configured_ways, self._engine)))
        for port in np.flatnonzero(self._switch.held > 0).tolist():
            if port not in aside and not self._is_of_senders_at_work(port):
                yield f"words that nobody takes find room at {port_name(self._engine, port)}"
        held = plain(self._engine.state.fifos).held
        c, traced = self._engine.channels, {int(self._switch.channel[at]) for at in aside}
        for ch in np.flatnonzero((c.direction == S2MM) & (held > 0)).tolist():
            ports = np.flatnonzero((self._switch.channel == ch) & (self._switch.is_master != 0)).tolist()
            at_work = bool(ports) and all(map(self._is_of_senders_at_work, ports))
            if ch not in traced and not at_work:
                yield f"words that nobody takes find room before {called(self._engine, ch)}"

    def _is_of_senders_at_work(self, port: int) -> bool:
        """Whether all who sent words to a port are still at it, and room let them do nothing but that.

        With less room they would only stop earlier.
        """
        return all(source in self._at_work for source in self._sources(port))

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

    def _sources(self, port: int) -> Iterator[int]:
        """The ports at which words that come to one begin."""
        ways = reached([port], lambda at: list(self._before.get(at, ())))
        return (at for at in ways if at not in self._before)

    @cached_property
    def _tokens(self) -> set[int]:
        return set(plain(self._engine.state.controls).slave_port.tolist())

    @cached_property
    def _traces(self) -> set[int]:
        return {int(port) for port in plain(self._engine.spec.event_units).trace_port if port >= 0}

    def _ends(self, ports: Sequence[int]) -> list[int]:
        """Master ports behind which no other port is, that words of ``ports`` came to."""
        ways = reached(ports, partial(configured_ways, self._engine))
        return [at for at in ways if at in self._live and not configured_ways(self._engine, at)]

    def _only_hosts(self, ports: Sequence[int]) -> bool:
        """Whether nobody but firmware takes what comes out of them."""
        return all(self._is_firmwares(at) for at in self._ends(ports))

    def _is_firmwares(self, port: int) -> bool:
        tiles, tile = plain(self._engine.spec.tiles), int(self._switch.tile[port])
        kind = TILE_KINDS[KIND_NAMES[tiles.kind[tile]]]
        number = int(self._switch.number[port])
        return kind.role == "interface" and PORTS[kind.name].masters[number] == FIRMWARE_PORT

    def _only_traces(self, ports: Sequence[int]) -> bool:
        """Whether nothing but traces comes to the ends of their ways."""
        ends = self._ends(ports)
        return all(set(self._sources(at)) <= self._traces for at in ends)

    def out_of_order(self) -> Iterator[str]:
        """Channels whose packets choose the descriptor."""
        c = self._engine.channels
        chosen = (c.direction == S2MM) & ((c.control & OUT_OF_ORDER_MASK) != 0) & (c.bds_done > 0)
        names = (called(self._engine, ch) for ch in np.flatnonzero(chosen).tolist())
        return (f"packets choose the descriptors of {name}" for name in names)
