"""From an engine that stands still to the graph of who waits for whom, and who would release which lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.core_view import awaited
from memtile.explain.deadlock.context import Abstraction, HostWaiting
from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.knots import is_helped
from memtile.explain.deadlock.switch_waits import Need, Party, Streams, one_of
from memtile.explain.deadlock.tile_control import TileControl
from memtile.explain.lock_waits import owner
from memtile.jit.tables import plain
from memtile.model.dma.channel_registers import QUEUE_START_BD_MASK
from memtile.model.state.causes import LINKS, Cause, CoreCause, CorePhase, Phase
from memtile.sim.kernels.kernel_text import KernelText, released_by
from memtile.sim.loop.engine import Engine


class Givers:
    """The parties that release the locks of a stopped engine.

    Args:
        engine: the model.
        chains: of its channels.
    """

    def __init__(self, engine: Engine, chains: BdChains) -> None:
        self._engine, self._chains = engine, chains
        self._text: dict[int, KernelText | None] = {}

    def of(self, lock: int) -> list[Need]:
        """The parties that could end a wait for a lock; any of them is enough, and empty if none is left.

        Those who release it if they go on: channels by the descriptors that they have still to end, cores by
        what they have done or by their text. Without any of these, those that have released it and have no
        more work; then cores that reach it and of which nothing is known; then the core of its tile if
        it has no program. Who waits for the lock itself gives it to nobody.
        """
        for way in (self._sure, self._over, self._unknown, self._idle_cores):
            found = [need for need in way(lock) if not self._waits_for(need.of, lock)]
            if found:
                return one_of(found)
        return []

    def _waits_for(self, party: Party, lock: int) -> bool:
        """Whether a channel or core waits for the lock."""
        if party.kind is PartyKind.CORE:
            cores = self._engine.state.cores
            at_lock = cores.phase[party.number] == CorePhase.ACQUIRE
            return bool(at_lock and cores.target[party.number] == lock)
        c = self._engine.channels
        if c.phase[party.number] == Phase.IDLE or c.why[party.number] != Cause.LOCK_ACQUIRE:
            return False
        return lock_seen(self._engine, int(c.tile[party.number]), int(c.acquire_lock[party.number])) == lock

    def reaching(self, lock: int) -> Iterator[int]:
        """Cores that reach a lock, whether or not they have a kernel; model indices."""
        tile, _ = owner(self._engine, lock)
        yield from self._reaching.get(tile, ())

    def ended(self, core: int) -> bool:
        """Whether a core's kernel has come to its end."""
        return bool(self._engine.state.cores.phase[core] == CorePhase.DONE)

    @cached_property
    def _reaching(self) -> dict[int, list[int]]:
        """Cores by the tiles whose locks they see."""
        tiles, found = plain(self._engine.spec.tiles), dict[int, list[int]]()
        for core, tile in enumerate(plain(self._engine.state.cores).tile.tolist()):
            running = self._engine.cores.running.get(core)
            kept = None if running is None else running.core.keeps_to
            for seen in tiles.core_reach[tile].tolist():
                if seen >= 0 and (kept is None or seen in kept):
                    found.setdefault(seen, []).append(core)
        return found

    @cached_property
    def _lost(self) -> dict[int, list[int]]:
        """Channels by the locks that the task of a dropped push would have released."""
        c, found = self._engine.channels, dict[int, list[int]]()
        known = (c.pushes_lost > 0) & (c.lost_push >= 0)
        for ch in np.flatnonzero(known).tolist():
            for lock in self._chains.released_from(ch, int(c.lost_push[ch]) & QUEUE_START_BD_MASK):
                found.setdefault(lock, []).append(ch)
        return found

    @cached_property
    def _spent(self) -> dict[int, list[int]]:
        """Idle channels by the lock that their last descriptor released."""
        c, found = self._engine.channels, dict[int, list[int]]()
        idle = (c.phase == Phase.IDLE) & (c.bds_done > 0) & (c.release_value > 0)
        for ch in np.flatnonzero(idle).tolist():
            lock = lock_seen(self._engine, int(c.tile[ch]), int(c.release_lock[ch]))
            if lock is not None:
                found.setdefault(lock, []).append(ch)
        return found

    @cached_property
    def _released(self) -> dict[int, list[int]]:
        """Cores by the locks that their kernels have released."""
        found = dict[int, list[int]]()
        for core, running in sorted(self._engine.cores.running.items()):
            for lock in running.released:
                found.setdefault(lock, []).append(core)
        return found

    def _sure(self, lock: int) -> Iterator[Need]:
        for release in self._chains.releases.get(lock, ()):
            yield Need(Party(PartyKind.CHANNEL, release.ch), Via.RELEASE)
        for core in self._released.get(lock, ()):
            if not self.ended(core):
                yield Need(Party(PartyKind.CORE, core), Via.RELEASE)
        for core in self._working(lock):
            text = self.text_of(core)
            if text is not None and lock in text.locks:
                yield Need(Party(PartyKind.CORE, core), Via.RELEASE)
        for ch in self._lost.get(lock, ()):
            yield Need(Party(PartyKind.CHANNEL, ch), Via.RELEASE)

    def _unknown(self, lock: int) -> Iterator[Need]:
        """Cores at work that reach a lock, and of which nobody knows whether they release it."""
        for core in self._working(lock):
            text = self.text_of(core)
            if text is None or lock in text.maybe:
                yield Need(Party(PartyKind.CORE, core), Via.MAY_RELEASE)

    def _working(self, lock: int) -> Iterator[int]:
        """Cores that reach a lock, and whose kernels have not ended."""
        for core in self.reaching(lock):
            if core in self._engine.cores.running and not self.ended(core):
                yield core

    def text_of(self, core: int) -> KernelText | None:
        """What a core releases by its text; None where nobody knows."""
        if core not in self._text:
            self._text[core] = released_by(self._engine.cores.running[core], self._engine.spec)
        return self._text[core]

    def may_release(self, core: int, lock: int) -> bool:
        """Whether a core would release a lock by its text, or nobody knows whether it would."""
        text = self.text_of(core)
        return text is None or lock in text.locks | text.maybe

    def _over(self, lock: int) -> Iterator[Need]:
        for core in self._released.get(lock, ()):
            yield Need(Party(PartyKind.CORE, core), Via.RELEASE)
        for ch in self._spent.get(lock, ()):
            yield Need(Party(PartyKind.CHANNEL, ch), Via.RELEASE)

    def _idle_cores(self, lock: int) -> Iterator[Need]:
        """The core of the lock's own tile, if it never had a program."""
        tile, _ = owner(self._engine, lock)
        core = int(plain(self._engine.spec.tiles).core[tile])
        if core >= 0 and core not in self._engine.cores.running:
            yield Need(Party(PartyKind.CORE, core), Via.MAY_RELEASE)


_TILES: Mapping[PartyKind, Callable[[Engine, int], int]] = {
    PartyKind.CHANNEL: lambda engine, ch: int(engine.channels.tile[ch]),
    PartyKind.CORE: lambda engine, core: int(engine.state.cores.tile[core]),
    PartyKind.LOCK: lambda engine, lock: owner(engine, lock)[0],
    PartyKind.PACKET: lambda engine, port: int(plain(engine.state.switch).tile[port]),
    PartyKind.PORT: lambda engine, port: int(plain(engine.state.switch).tile[port]),
}
"""The tile of a party, by its kind; hosts are in none."""


class EngineWaits:
    """The waits of an engine, reached from those who have not come to their end.

    Args:
        engine: the model, in which nothing moves or that was stopped.
        chains: of its channels.
        hosts: that have not ended.
        quiet: whether nothing can move any more; else what is at work may still help.
        of_registers: whether the engine holds what registers show of a machine, and no history.
        abstraction: of a run that stands for all runs; None = it stands for itself.

    Attributes:
        needs: of each party what it waits for; empty where a chain ends.
        moving: parties that are at work, or have words on their way.
    """

    def __init__(
        self,
        engine: Engine,
        chains: BdChains,
        hosts: Sequence[HostWaiting],
        *,
        quiet: bool,
        of_registers: bool = False,
        abstraction: Abstraction | None = None,
    ) -> None:
        self.engine, self.chains, self.hosts, self._quiet = engine, chains, hosts, quiet
        self.of_registers, self.abstraction = of_registers, abstraction
        self.givers = Givers(engine, chains)
        self.needs: dict[Party, list[Need]] = {}
        self.moving: set[Party] = set()

    @cached_property
    def streams(self) -> Streams:
        """The stream switches."""
        return Streams(self.engine)

    @cached_property
    def control(self) -> TileControl:
        """The ways of control packets."""
        return TileControl(self.engine)

    def reach(self, parties: Iterable[Party]) -> None:
        """Find what these wait for, and what those wait for, and so on."""
        rest = list(parties)
        while rest:
            party = rest.pop()
            if party in self.needs:
                continue
            self.needs[party] = found = self._needs(party)
            rest += [need.of for need in found]

    def dead(self) -> set[Party]:
        """Those reached that nobody can help any more."""
        if self._quiet and not self.of_registers and self.abstraction is None:
            return set(self.needs) - self.moving
        alive, before = set(self.moving), -1
        while len(alive) > before:
            before = len(alive)
            alive |= {party for party, needs in self.needs.items() if is_helped(needs, alive)}
        return set(self.needs) - alive

    def lock_wanted(self, party: Party) -> int:
        """The lock that a channel or core waits for, among all of the model; -1 = none."""
        if party.kind is PartyKind.CORE:
            cores = self.engine.state.cores
            return int(cores.target[party.number]) if cores.phase[party.number] == CorePhase.ACQUIRE else -1
        c, ch = self.engine.channels, party.number
        if party.kind is not PartyKind.CHANNEL or Cause(int(c.why[ch])) is not Cause.LOCK_ACQUIRE:
            return -1
        seen = lock_seen(self.engine, int(c.tile[ch]), int(c.acquire_lock[ch]))
        return -1 if seen is None else seen

    def operand(self, party: Party) -> int:
        """Of the acquire of a channel or core; below 0 it waits for at least its opposite."""
        if party.kind is PartyKind.CORE:
            return int(self.engine.state.cores.value[party.number])
        return int(self.engine.channels.acquire_value[party.number])

    def stopped(self, party: Party) -> int:
        """The tile of a party if it has no clock or its reset is held, by its index in the model; else -1."""
        at = _TILES.get(party.kind)
        tile = -1 if at is None else at(self.engine, party.number)
        return tile if tile >= 0 and self._off[tile] else -1

    @cached_property
    def _off(self) -> list[bool]:
        """By tile whether it has no clock."""
        off: list[bool] = (plain(self.engine.state.gates).off > 0).tolist()
        return off

    def _needs(self, party: Party) -> list[Need]:
        if self._is_undecided(party):
            self.moving.add(party)
            return []
        if self.stopped(party) >= 0:
            return []  # nothing goes on there, whatever others do
        match party.kind:
            case PartyKind.CHANNEL:
                return self._of_channel(party)
            case PartyKind.CORE:
                return self._of_core(party)
            case PartyKind.LOCK:
                return self._of_lock(party)
            case PartyKind.PACKET:
                return self._or_moving(party, self.streams.of_packet(party.number))
            case PartyKind.HOST:
                host = self.hosts[party.number]
                if host.at_work:
                    self.moving.add(party)
                found = [Need(Party(PartyKind.CHANNEL, ch), host.via) for ch in host.channels]
                return one_of(found) if host.via is Via.ROOM else found
            case PartyKind.PORT:
                return self._of_port(party)

    def _is_undecided(self, party: Party) -> bool:
        """Whether an abstract run does not say that a party waits in every run: of packets time says it."""
        if self.abstraction is None:
            return False
        if party.kind is PartyKind.PACKET or party in self.abstraction.undecided or self.stopped(party) >= 0:
            return True
        return party.kind is PartyKind.CHANNEL and bool(
            self.engine.channels.phase[party.number] == Phase.HALTED
        )

    def _of_lock(self, party: Party) -> list[Need]:
        hosts = (number for number, host in enumerate(self.hosts) if party.number in host.releases)
        by_hosts = (Need(Party(PartyKind.HOST, number), Via.TASK) for number in hosts)
        givers = [*self.givers.of(party.number), *by_hosts]
        if not givers and not self.of_registers:
            senders = self.control.senders(owner(self.engine, party.number)[0])
            givers = [*self._by_packets(senders, party.number)]
        return one_of(givers)

    def _by_packets(self, senders: Iterable[int], lock: int) -> Iterator[Need]:
        """The senders of control packets that may write a lock, or surely will as their words say."""
        for ch in senders:
            sets = self.control.sets(ch, lock, self.chains) if self.abstraction is None else None
            later = any(host.may_start(ch) for host in self.hosts)
            if sets or (self._left(ch) and (sets is None or later)):
                yield Need(Party(PartyKind.CHANNEL, ch), Via.RELEASE if sets else Via.MAY_RELEASE)

    def _left(self, ch: int) -> bool:
        """Whether a channel has work left, or may be given some."""
        c = self.engine.channels
        busy = c.phase[ch] != Phase.IDLE or c.queue_count[ch]
        return bool(busy) or any(host.may_start(ch) for host in self.hosts)

    def _of_port(self, party: Party) -> list[Need]:
        """Of a port with words who keeps them from going on; nobody where the way ends there."""
        streams = self.streams
        if not streams.held[party.number]:
            return []
        return [need for need in streams.taken_by(party.number) if need.of != party]

    def _or_moving(self, party: Party, needs: list[Need]) -> list[Need]:
        """The needs; without any the party is about to go on."""
        if not needs:
            self.moving.add(party)
        return needs

    def _of_channel(self, party: Party) -> list[Need]:
        c, ch = self.engine.channels, party.number
        if c.phase[ch] == Phase.IDLE and not c.queue_count[ch]:
            hosts = (
                number
                for number, host in enumerate(self.hosts)
                if host.may_start(ch) and not _waits_for_end(host, ch)
            )
            return one_of(Need(Party(PartyKind.HOST, number), Via.TASK) for number in hosts)
        if c.phase[ch] == Phase.HALTED:
            return []
        why = Cause(int(c.why[ch]))
        if why is Cause.LOCK_ACQUIRE:
            return self._at_lock(party)
        if why is Cause.STREAM_STARVED:
            return self._starved(party)
        if why is Cause.STREAM_BLOCKED:
            port = int(c.switch_port[ch])
            if port < 0 or self.engine.catches(ch):
                return [] if port < 0 and not self.engine.catches(ch) else self._or_moving(party, [])
            return self._or_moving(party, self.streams.taken_by(port))
        if why is Cause.TOKEN_BLOCKED:
            port = int(plain(self.engine.state.controls).slave_port[int(c.tile[ch])])
            return self._or_moving(party, self.streams.taken_by(port))
        if why.is_work or (not self._quiet and why is not Cause.CLOCK_OFF):
            self.moving.add(party)
        return []

    def _starved(self, party: Party) -> list[Need]:
        if self.engine.pending(party.number):
            return self._or_moving(party, [])
        port = self.streams.ahead_of.get(party.number, -1)
        if port < 0:
            return []
        return (
            []
            if self._quiet and self._fed_by_bench(port)
            else self._or_moving(party, self.streams.brought_by(port))
        )

    def _fed_by_bench(self, port: int) -> bool:
        """Whether words were fed to a channel that no switch brings any."""
        return not self.streams.feeders(port) and self.streams.mode[port] == 0

    def _of_core(self, party: Party) -> list[Need]:
        cores, core = self.engine.state.cores, party.number
        if core not in self.engine.cores.running or cores.phase[core] == CorePhase.DONE:
            return []
        if cores.why[core] in (CoreCause.HALTED, CoreCause.CLOCK_OFF):
            return []
        if cores.phase[core] == CorePhase.ACQUIRE:
            return self._at_lock(party)
        if cores.why[core] in (CoreCause.CASCADE_STALL, CoreCause.STREAM_STALL):
            return self._at_link(party)
        self.moving.add(party)
        return []

    def _at_lock(self, party: Party) -> list[Need]:
        """A channel or core at a lock; one that has the value it needs by now goes on in the next cycles."""
        lock = self.lock_wanted(party)
        if lock < 0:
            return []
        value, operand = int(self.engine.state.locks.value[lock]), self.operand(party)
        fits = value >= -operand if operand < 0 else value == operand
        if fits and not self._quiet and self.abstraction is None:
            self.moving.add(party)
            return []
        return [Need(Party(PartyKind.LOCK, lock), Via.LOCK)]

    def _at_link(self, party: Party) -> list[Need]:
        """A core at its cascade or its stream."""
        cores, core = self.engine.state.cores, party.number
        beside, gets = awaited(self.engine, core), LINKS[CorePhase(int(cores.phase[core]))].gets
        if beside is not None:
            via = Via.WORDS if gets else Via.ROOM
            return [Need(Party(PartyKind.CORE, beside), via)] if beside >= 0 else []
        if gets:
            return self._or_moving(party, self.streams.brought_by(int(cores.stream_in[core])))
        return self._or_moving(party, self.streams.taken_by(int(cores.stream_out[core])))


def _waits_for_end(host: HostWaiting, ch: int) -> bool:
    """Whether a host waits until a channel ends a task: it starts none there before."""
    return host.via is not Via.ROOM and ch in host.channels
