"""Names and sentences about those who wait, by what the user called them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtile.arch.tiles import COMPUTE, S2MM
from memtile.explain.core_view import link_text
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.switch_waits import Need, Party
from memtile.explain.findings import Side
from memtile.explain.lock_waits import owner, values_text
from memtile.explain.names import called, core_name, in_file, is_logic, port_name
from memtile.model.state.causes import LINKS, Cause, CoreCause, CorePhase, Phase
from memtile.sim.kernels.kernel_core import place
from memtile.sim.kernels.kernel_lines import file_waiting, is_said, place_waiting

Moves = Mapping[int, Sequence[str]]
UNRELEASED = "and nothing releases it"
"""Of a lock that no chain, core or control packet can release: what a finding says of it."""


class Sentences:
    """Says who waits and for what.

    Args:
        waits: of a run.
        moves: by model index of a channel the buffers that it reads or writes.
        timed: whether the run had cycles.
    """

    def __init__(self, waits: EngineWaits, moves: Moves, *, timed: bool) -> None:
        self._waits, self._engine, self._moves = waits, waits.engine, moves
        self._cycle = waits.engine.now if timed else None

    def name(self, party: Party) -> str:
        """The user's name of a party, and its place."""
        match party.kind:
            case PartyKind.CHANNEL:
                return self._channel(party.number)
            case PartyKind.CORE:
                running = self._engine.cores.running.get(party.number)
                named = running and running.kernel and not is_said(running.function)  # texts name none
                kernel = f" (kernel {running.kernel!r})" if running and named else ""
                return f"{core_name(self._engine, party.number)}{kernel}"
            case PartyKind.HOST:
                return self._waits.hosts[party.number].name
            case PartyKind.LOCK:
                return self.lock(party.number)
            case PartyKind.PACKET:
                return self._packet(party.number)
            case PartyKind.PORT:
                return port_name(self._engine, party.number)

    def lock(self, lock: int) -> str:
        """``lock 3 'full' of tile (0, 1)``; of a single tile without the tile."""
        tile, local = owner(self._engine, lock)
        name = self._engine.lock_names.get(lock)
        many = len(self._engine.spec.tiles.kind) > 1
        whose = f" of tile {place(self._engine.spec, tile)}" if many else ""
        return f"lock {local}{f' {name!r}' if name else ''}{whose}"

    def state(self, party: Party) -> str:
        """The state of a party, for the node of a graph and for a side."""
        match party.kind:
            case PartyKind.CHANNEL:
                return self._channel_state(party.number)
            case PartyKind.CORE:
                return self._core_state(party.number)
            case PartyKind.HOST:
                return self._waits.hosts[party.number].text.partition(": ")[2]
            case PartyKind.LOCK:
                return f"is {self.value(party.number)}"
            case _:
                return ""

    def value(self, lock: int) -> int:
        """The value of a lock, as the end of a sentence."""
        return int(self._engine.state.locks.value[lock])

    def wanted(self, party: Party) -> str:
        """The wait of a channel or core for a lock, as the end of a sentence about it."""
        lock = self._waits.lock_wanted(party)
        if lock < 0:
            return f"is stalled at a lock{self._whose(party.number)}; which one, the registers do not say"
        return self._at_lock(party, lock)

    def need(self, party: Party, need: Need) -> str:
        """What a party waits for, as the end of a sentence about it."""
        other = self.name(need.of)
        match need.via:
            case Via.LOCK:
                return self._at_lock(party, need.of.number)
            case Via.RELEASE:
                return f"would be released by {other}"
            case Via.MAY_RELEASE:
                return f"may be released by {other}"
            case Via.WORDS:
                is_logic_port = need.of.kind is PartyKind.PORT and is_logic(self._engine, need.of.number)
                to = "to" if need.of.kind is PartyKind.PORT and not is_logic_port else "of"
                return f"waits for words {to} {other}"
            case Via.ROOM:
                return self._room(party, other)
            case Via.ARBITER:
                return f"waits for {self._arbiter(need.of.number)}, held by {other} until its TLAST"
            case Via.TASK:
                return f"waits until {other} starts a task"
            case Via.END:
                return f"waits for the end of {other}"
            case Via.TOKEN:
                return f"waits for a token of {other}"

    def _at_lock(self, party: Party, lock: int) -> str:
        """A wait for a lock; of one that counts objects of a FIFO the line and the FIFO first."""
        operand = self._waits.operand(party)
        values = values_text(operand, self.value(lock))
        fifo = self._engine.fifo_locks.get(lock)
        if fifo is not None and operand < 0:
            return f"waits{self._in_line(party)} for {fifo.objects(-operand)}; {self.lock(lock)} {values})"
        return f"waits for {self.lock(lock)} ({values})"

    def _in_line(self, party: Party) -> str:
        """`` in line 41``: where a core waits; empty of all others."""
        if party.kind is not PartyKind.CORE:
            return ""
        line = self._place(party).rpartition(":")[2].removeprefix("line ")
        return f" in line {line}" if line.isdigit() else ""

    def _place(self, party: Party) -> str:
        """Where the design says what a channel or core waits for."""
        if self._waits.abstraction is not None:
            return self._waits.abstraction.place(party)
        if party.kind is PartyKind.CHANNEL and self._has_worked(party.number):
            return self._bd(party.number)
        if party.kind is PartyKind.CORE and party.number in self._engine.cores.running:
            running = self._engine.cores.running[party.number]
            return in_file(file_waiting(running.actions), place_waiting(running.function, running.actions))
        return ""

    def _has_worked(self, ch: int) -> bool:
        """Whether a channel is at a BD, or has ended one where that is known of this very run."""
        c = self._engine.channels
        return bool(c.phase[ch] != Phase.IDLE or (c.bds_done[ch] and not self._waits.of_registers))

    def _room(self, party: Party, other: str) -> str:
        if party.kind is PartyKind.HOST:
            return f"waits for a place in the queue of {other}, or for BDs"
        if receives(self._waits, party):
            return f"waits for words queued behind those that {other} does not take"
        return f"waits until {other} takes its words"

    def side(self, party: Party, does: str = "") -> Side:
        """A party as a side of a finding."""
        cycle = self._cycle if self._waits.abstraction is None else None
        return Side(self.name(party), does or self.state(party), self._place(party), cycle)

    def _bd(self, ch: int) -> str:
        """The BD that a channel is at, and where the design says it."""
        c = self._engine.channels
        said = self._engine.bd_places.get((int(c.tile[ch]), int(c.bd[ch])))
        return f"BD {c.bd[ch]}, {said}" if said else f"BD {c.bd[ch]}"

    def moved(self, ch: int) -> str:
        """How far a channel has come in its descriptor; what it has sent of it, no register shows."""
        c = self._engine.channels
        if self._waits.of_registers and c.direction[ch] != S2MM:
            return f"a word of BD {int(c.bd[ch])}"
        return f"word {max(int(c.moved[ch]), 0)} of {int(c.length[ch])} of BD {int(c.bd[ch])}"

    def _whose(self, core: int) -> str:
        """`` of tile (0, 2)``: behind which of its windows a core is stalled at a lock."""
        cores, spec = self._engine.state.cores, self._engine.spec
        tile = int(spec.tiles.core_reach[cores.tile[core]][int(cores.lock[core]) // COMPUTE.locks])
        return f" of tile {place(spec, tile)}" if tile >= 0 else ""

    def used(self, ch: int) -> bool | None:
        """Whether a channel has ended a descriptor; None where registers alone are known and do not say."""
        done = int(self._engine.channels.bds_done[ch])
        return None if self._waits.of_registers and not done else bool(done)

    def asked_for(self) -> str:
        """How much the one transfer to external memory that waits has got, as the end of a sentence."""
        if self._waits.abstraction is not None or self._waits.of_registers:
            return ""
        c = self._waits.engine.channels
        takers = [party for party in self._waits.needs if receives(self._waits, party)]
        outside = [
            each for each in takers if c.external[each.number] >= 0 and c.phase[each.number] != Phase.IDLE
        ]
        if len(outside) != 1 or not c.length[ch := outside[0].number]:
            return ""
        has = f"it has {max(int(c.moved[ch]), 0)} of its {int(c.length[ch])} words"
        return f", or let {self.name(outside[0])} ask for less: {has}"

    def _channel(self, ch: int) -> str:
        name = called(self._engine, ch)
        buffers = self._moves.get(ch, ())
        if self._engine.channel_names.get(ch) or not buffers:
            return name
        more = ", ..." if len(buffers) > 2 else ""
        return f"{name} ({', '.join(map(repr, buffers[:2]))}{more})"

    def _channel_state(self, ch: int) -> str:
        c = self._engine.channels
        if c.phase[ch] == Phase.IDLE and self._waits.of_registers:
            return "has no task"
        if c.phase[ch] == Phase.IDLE:
            done = int(c.bds_done[ch])
            return (
                f"has no task; it has done {done} BD{'' if done == 1 else 's'}"
                if done
                else "never had a task"
            )
        why = Cause(int(c.why[ch]))
        party = Party(PartyKind.CHANNEL, ch)
        if why is Cause.LOCK_ACQUIRE and self._waits.lock_wanted(party) >= 0:
            return self.wanted(party)
        verb = {Cause.STREAM_STARVED: "gets no more words", Cause.STREAM_BLOCKED: "can send no more words"}
        return f"{verb.get(why, why.text)} at {self.moved(ch)}"

    def _core_state(self, core: int) -> str:
        cores = self._engine.state.cores
        if core not in self._engine.cores.running:
            return "has no program"
        if cores.phase[core] == CorePhase.ACQUIRE:
            return self.wanted(Party(PartyKind.CORE, core))
        if cores.phase[core] == CorePhase.DONE:
            return "has ended"
        if CorePhase(int(cores.phase[core])) in LINKS:
            return link_text(self._engine, core)
        return CoreCause(int(cores.why[core])).text

    def _packet(self, port: int) -> str:
        sender = self._waits.streams.origin(port)
        whose = f" of {self._channel(sender)}" if sender >= 0 else ""
        return f"the packet{whose} at {port_name(self._engine, port)}"

    def _arbiter(self, port: int) -> str:
        streams = self._waits.streams
        tile = place(self._engine.spec, streams.tile[port])
        return f"arbiter {streams.arbiter_of(port)} of tile {tile}"


def receives(waits: EngineWaits, party: Party) -> bool:
    """Whether a party is an S2MM channel."""
    return party.kind is PartyKind.CHANNEL and int(waits.engine.channels.direction[party.number]) == S2MM
