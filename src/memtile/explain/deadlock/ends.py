"""Ends of chains: who waits for nobody and yet does not go on, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memtile.explain.channel_view import ChannelView, cause_of
from memtile.explain.core_view import link_text
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.context import BEFORE_A_RUN
from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.missed_packets import other_ids
from memtile.explain.deadlock.packet_ids import PacketIds
from memtile.explain.deadlock.planned_words import PlannedWords
from memtile.explain.deadlock.sent_elsewhere import counted
from memtile.explain.deadlock.sentences import UNRELEASED, Sentences, receives
from memtile.explain.deadlock.short_senders import short_sender
from memtile.explain.deadlock.silent_bds import silent_bd
from memtile.explain.deadlock.starving_cores import came, left_by, starving_cores
from memtile.explain.deadlock.switch_waits import Party
from memtile.explain.deadlock.tokens import silent_tasks, stuck_token, token_is_stuck, unfed
from memtile.explain.deadlock.unsent_ids import UNSENT, unsent_to
from memtile.explain.deadlock.wrong_locks import START_THERE, control_senders, unanswered, wrong_release
from memtile.explain.evidence import Evidence
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.lock_waits import owner
from memtile.explain.names import called, is_logic
from memtile.explain.stream_waits import stuck_text
from memtile.explain.switch_ways import barred_text, packet_ways
from memtile.jit.tables import plain
from memtile.model.dma.channel_registers import OUT_OF_ORDER_MASK, QUEUE_START_BD_MASK
from memtile.model.state.causes import LINKS, Cause, CorePhase, Phase


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """The end of a chain of waits, and what is needed to name it.

    Attributes:
        party: who or what it is.
        waiting: those who wait for it, at least one but for what was reached from nobody.
        waits: of the run.
        words: for sentences.
        offered: by S2MM channel the words that wait before it, as a text.
        missing: by channel how many elements were expected of it and have not come.
    """

    party: Party
    waiting: Sequence[Party]
    waits: EngineWaits
    words: Sentences
    offered: Mapping[int, str]
    missing: Mapping[int, int]

    def finding(self) -> Finding | None:
        """The finding of the end of a chain; None where nothing is to be reported."""
        found = self._found()
        if found is None or self.waits.abstraction is None:
            return found
        return replace(found, code=BEFORE_A_RUN.get(found.code, found.code))

    def _found(self) -> Finding | None:
        if self.waits.stopped(self.party) >= 0:
            return self._without_clock()
        match self.party.kind:
            case PartyKind.LOCK:
                return self._lock()
            case PartyKind.CORE:
                return self._core()
            case PartyKind.CHANNEL:
                return self._channel()
            case PartyKind.PORT:
                return self._port()
            case PartyKind.HOST:
                return self._host()
            case PartyKind.PACKET:
                return None

    def _made(self, code: str, says: str, fix: str = "", first: Sequence[Side] = ()) -> Finding:
        """A finding about it, its sides being the end itself and those who wait for it."""
        own = [] if self.party.kind is PartyKind.LOCK or first else [self.words.side(self.party)]
        actors = [self.words.side(party) for party in self._actors()]
        sides = [*actors, *first, *own] if self._is_over_before_a_run else [*first, *own, *actors]
        return Finding(code, Severity.ERROR, f"{says}.", tuple(dict.fromkeys(sides)), fix=fix)

    @property
    def _is_over_before_a_run(self) -> bool:
        """Whether it has done all that the text says, so that those who wait for it are what to look at."""
        if self.waits.abstraction is None or self.party.kind is not PartyKind.CHANNEL:
            return self.waits.abstraction is not None
        c, ch = self.waits.engine.channels, self.party.number
        return bool(c.phase[ch] == Phase.IDLE and not c.pushes_lost[ch])

    def _actors(self) -> list[Party]:
        """The parties that act: behind a lock those that wait for it."""
        found: list[Party] = []
        for party in self.waiting:
            if party.kind is PartyKind.LOCK:
                needs = self.waits.needs.items()
                found += [other for other, each in needs if any(need.of == party for need in each)]
            else:
                found.append(party)
        return list(dict.fromkeys(found))

    @property
    def _name(self) -> str:
        return self.words.name(self.party)

    def _without_clock(self) -> Finding:
        """Of all that stands in one column the same sentence."""
        engine, tile = self.waits.engine, self.waits.stopped(self.party)
        column = f"Column {int(plain(engine.spec.tiles).column[tile])}"
        if plain(engine.state.gates).held[tile]:
            says, fix = f"{column} is stopped: its reset is held", "End the reset (AIE_Tile_Column_Reset)."
        else:
            says, fix = f"{column} is stopped: its clock is off", "Turn it on (Column_Clock_Control)."
        return self._made("MT0316", says, fix)

    # locks and cores ------------------------------------------------------------------------------------

    def _lock(self) -> Finding | None:
        for waiting in self.waiting:
            wrong = wrong_release(self.party, waiting, self.waits, self.words)
            if wrong is not None:
                return wrong
        first = self.waiting[0]
        says = f"{self.words.name(first)} {self.words.wanted(first)}"
        ended = self._ended_core()
        if ended is not None:
            core, side = self.words.name(ended), (self.words.side(ended),)
            if self.waits.of_registers:
                fix = "Let it run as many rounds as the others."
                return self._made("MT0309", f"{says}, and {core} has ended", fix, side)
            if not self.waits.engine.cores.running[ended.number].taken:
                return self._made("MT0309", f"{says}, and {core} has ended before it did anything", "", side)
            fix = f"Let {core} release it."
            return self._made("MT0302", f"{says}; {core} has ended and never released it", fix, side)
        other = self._only_other(first)
        where = f" in {other}, the only other core that reaches it," if other else ""
        fix = f"Release {self._name}{where} after the last use of what it guards, or do not wait for it."
        if (value := self.waits.operand(first)) > 0 and first.kind is PartyKind.CORE:
            fix = f"Let the host set it to {value} (aiex.set_lock, WorkerRuntimeBarrier.set), or release it."
        if self.waits.of_registers and self.waits.engine.channels.queue_count.any():
            says += ", and no running task releases it; registers do not show the tasks in queues"
            return self._made("MT0302", says, fix)
        senders = control_senders(self.party, self.waits)
        idle = unanswered(self.party, self.waits, self.words) if senders else None
        if idle is not None:
            return self._made("MT0312", f"{idle.who} {idle.does}; {says}", START_THERE, (idle,))
        if senders:
            names = " and ".join(called(self.waits.engine, ch) for ch in senders)
            verb = "has" if len(senders) == 1 else "have"
            sides = [self.words.side(Party(PartyKind.CHANNEL, ch), "sends control packets") for ch in senders]
            fix = "Look at the packet id, the place and length in the host memory, the address and data."
            sent = f"only control packets could release it, and {names} {verb} sent all that were asked for"
            guess = self._made("MT0302", f"{says}; {sent}", fix, sides)
            return replace(guess, severity=Severity.WARNING)  # what they wrote is not known
        return self._silent(says) or self._made("MT0302", f"{says}, {UNRELEASED}", fix)

    def _silent(self, says: str) -> Finding | None:
        """The descriptor that uses the words of the one that waits and releases no lock; None of no such."""
        silent = silent_bd(self.waiting[0], self.waits)
        if silent is None:
            return None
        verb = "writes" if receives(self.waits, silent.party) else "reads"
        bd = f"{self.words.name(silent.party)}, BD {silent.number}"
        does = f"{verb} the same words with BD {silent.number} and releases no lock"
        side = Side(self.words.name(silent.party), does, silent.place)
        says = f"{says}, {UNRELEASED}: {bd}, {verb} the same words and releases no lock"
        made = self._made("MT0302", says, f"Let {bd}, release {self._name}.", (side,))
        return replace(made, sides=tuple(dict.fromkeys((side, *made.sides))))

    def _only_other(self, waiting: Party) -> str:
        """The one core with a program that reaches the lock, beside who waits; empty if a DMA may be meant.

        A descriptor of the lock's tile that acquires and releases nothing may lack this release.
        """
        engine, tile = self.waits.engine, owner(self.waits.engine, self.party.number)[0]
        reach, at = plain(engine.spec.tiles).core_reach, plain(engine.state.cores).tile
        others = [core for core in engine.cores.running if tile in reach[at[core]]]
        others = [core for core in others if Party(PartyKind.CORE, core) != waiting]
        steps = self.waits.chains.lock_steps()
        silent = (gives is None for ch, _, gives in steps if engine.channels.tile[ch] == tile)
        if len(others) != 1 or waiting.kind is not PartyKind.CORE or any(silent):
            return ""
        return self.words.name(Party(PartyKind.CORE, others[0]))

    def _ended_core(self) -> Party | None:
        """A core that could release the lock and has ended, one that took other locks first."""
        cores, givers, lock = self.waits.engine.cores.running, self.waits.givers, self.party.number
        own = plain(self.waits.engine.state.cores).tile == owner(self.waits.engine, lock)[0]
        ended = [core for core in givers.reaching(lock) if core in cores and givers.ended(core)]
        ended = [core for core in ended if own[core] or givers.may_release(core, lock)]
        ended.sort(key=lambda core: not cores[core].taken)
        return Party(PartyKind.CORE, ended[0]) if ended else None

    def _core(self) -> Finding | None:
        cores, core = self.waits.engine.state.cores, self.party.number
        who = self._waiters()
        if core not in self.waits.engine.cores.running:
            fix = "Give it a kernel (--kernels FILE.py or run_kernel)."
            return self._made("MT0311", f"{who}, and {self._name} has no program", fix)
        if cores.phase[core] == CorePhase.DONE:
            return self._made("MT0309", f"{who}, and {self._name} has ended", self._as_often())
        if cores.phase[core] == CorePhase.ACQUIRE:
            fix = "Give the design beside the dump: it says what the core waits for."
            return self._made("MT0317", f"{who}; {self._name} {self.words.state(self.party)}", fix)
        if CorePhase(int(cores.phase[core])) in LINKS:
            return self._made("MT0312", f"{self._name} {link_text(self.waits.engine, core)}")
        return self._made("MT0315", f"{self._name} is {self.words.state(self.party)}", "Resume it.")

    def _as_often(self) -> str:
        """The repair of a core that has ended while others wait for it."""
        phases, first = self.waits.engine.state.cores.phase, next(iter(self._actors()), self.party)
        link = LINKS.get(CorePhase(int(phases[first.number]))) if first.kind is PartyKind.CORE else None
        if link is None:
            return f"Let it run as many rounds as the others{self.words.asked_for()}."
        does, other = ("get", "puts") if link.gets else ("put", "gets")
        less = f"Let {self.words.name(first)} {does} as many values as {self._name} {other}"
        return f"{less}, or let {self._name} run as long."

    def _waiters(self) -> str:
        """The first party that waits, and what for."""
        actors = self._actors()
        if not actors:
            return f"{self._name} waits"
        first = actors[0]
        need = next(iter(self.waits.needs[first]), None)
        text = self.words.wanted(first) if need and need.via is Via.LOCK else ""
        if need is not None and not text:
            text = self.words.need(first, next(n for n in self.waits.needs[first] if n.of == self.party))
        return f"{self.words.name(first)} {text}"

    # channels -------------------------------------------------------------------------------------------

    def _channel(self) -> Finding | None:
        c, ch = self.waits.engine.channels, self.party.number
        if c.pushes_lost[ch] and self.waits.abstraction is not None:
            return self._lost_push()
        if c.phase[ch] == Phase.HALTED:
            return self._halted()
        if c.pushes_lost[ch]:
            return self._lost_push()
        why = Cause(int(c.why[ch]))
        if c.phase[ch] == Phase.IDLE:
            return self._idle()
        if why is Cause.STREAM_STARVED:
            return self._starved()
        if why is Cause.STREAM_BLOCKED:
            fix = "Connect it, or collect or expect its words."
            return self._made(
                "MT0312", f"{self._name} has {self.words.moved(ch)} to send, and nothing takes it", fix
            )
        return None

    def _halted(self) -> Finding:
        view = ChannelView(self.waits.engine, self.party.number, self.waits.chains)
        byte = view.external_byte if view.kind.axi_masters else 0
        length = int(self.waits.engine.channels.length[self.party.number])
        cause = cause_of(view.errors, length, byte)
        bd = int(self.waits.engine.channels.bd[self.party.number])
        says = f"{self._name} is halted at BD {bd} by {', '.join(view.errors)}{f': {cause}' if cause else ''}"
        return self._made("MT0315", says, self._valid_again(bd) or f"To continue, {view.way_out}.")

    def _valid_again(self, bd: int) -> str:
        """How to repair a channel that is halted for want of Valid_BD; empty if that is not it."""
        chains, ch = self.waits.chains, self.party.number
        if chains.is_valid(ch, bd):
            return ""
        before = chains.pointing_to(ch, bd)
        if not before:
            return f"Write BD {bd} with Valid_BD before the task that starts it is pushed."
        verb = "points" if len(before) == 1 else "point"
        who = f"BD{'s' * (len(before) > 1)} {' and '.join(map(str, before))}"
        return f"{who} {verb} to BD {bd} (Next_BD): set its Valid_BD, or end the chain before it."

    def _lost_push(self) -> Finding:
        c, ch = self.waits.engine.channels, self.party.number
        view = ChannelView(self.waits.engine, ch, self.waits.chains)
        lost, bd = int(c.pushes_lost[ch]), int(c.lost_push[ch]) & QUEUE_START_BD_MASK
        fix = f"Wait before a push until fewer than {view.kind.queue_depth} tasks wait there."
        if self.waits.abstraction is not None:
            tasks = "a task is" if lost == 1 else f"{lost} tasks are"
            return self._made("MT0308", f"{tasks} pushed to the full queue of {self._name} and dropped", fix)
        tasks = "a task was" if lost == 1 else f"{lost} tasks were"
        last = "it" if lost == 1 else "the last of them"
        says = (
            f"{tasks} pushed to the full queue of {self._name} and dropped; {last} would have started BD {bd}"
        )
        if self.waits.of_registers:
            says = (
                f"a task was pushed to the full queue of {self._name} and dropped; how many, and which, the "
                "registers do not say"
            )
        return self._made("MT0308", says, fix)

    def _idle(self) -> Finding | None:
        ch = self.party.number
        used = self.words.used(ch)
        offered = self.offered.get(ch, "")
        if receives(self.waits, self.party) and (offered or self._wanted_by(Via.ROOM)):
            return self._not_taken(offered, used)
        if ch in self.missing:
            says = f"{self.missing[ch]} more elements are expected of {self._name}, and no task sends them"
            return self._made("MT0304" if used else "MT0312", says, "Send as many words as are expected.")
        if self._wanted_by(Via.WORDS) and not (used and self._wanted_by(Via.TOKEN)):
            return self._not_sent(used)
        if self._wanted_by(Via.TOKEN) or self._wanted_by(Via.END):
            return self._no_token(used)
        if self._wanted_by(Via.RELEASE):
            fix = "Let both sides use the lock equally often."
            return self._made(
                "MT0302", f"{self._waiters()}; {self._name} has released it, and has no task left", fix
            )
        return None

    def _wanted_by(self, via: Via) -> list[Party]:
        return [
            p for p in self.waiting if any(n.of == self.party and n.via is via for n in self.waits.needs[p])
        ]

    def _not_taken(self, offered: str, used: bool | None) -> Finding:
        words = offered or "words wait before it"
        part = self._part_moved() if used else None
        if part is not None:
            taken, all_of_it, name = part
            does = f"takes {taken} of the {all_of_it} words of {name}"
            says = f"{self._name} {does}, and more are sent to it: {words}"
            sides = [self.words.side(self.party), *(Side(name, "sends to it") for name in self._senders)]
            return self._made("MT0323", says, f"Receive all {all_of_it} words.", sides)
        if used and (endless := self._sends_on()) is not None:
            name = self.words.name(endless)
            says = f"{name} sends endlessly to {self._name}, which has no task left: {words}"
            fix = f"Let {name} acquire a lock that the producer of its data releases."
            return self._made("MT0304", says, fix, (self.words.side(endless), self.words.side(self.party)))
        if used:
            says = f"{self._name} has no task left for what was sent to it: {words}"
            return self._made("MT0304", says, f"{self._again()}eceive as many words as are sent.")
        no_task = "never had a task" if used is False else "has no task"
        senders = self._senders
        names = " and ".join(senders[:2])
        verb = "words come" if not names else f"{names} {'sends' if len(senders) == 1 else 'send'}"
        says = f"{verb} to {self._name}, which {no_task}: {words}"
        code = self._code("MT0312", "MT0110")
        return self._made(code, says, f"Start a task on {self._name}, or send them elsewhere.")

    @property
    def _senders(self) -> list[str]:
        senders = self.waits.streams.senders_to(self.party.number)
        return [called(self.waits.engine, ch) for ch in sorted(senders)]

    def _sends_on(self) -> Party | None:
        """The one sender to a channel, if it goes round and waits for no lock that another one releases."""
        chains, senders = self.waits.chains, self.waits.streams.senders_to(self.party.number)
        ch = next(iter(senders), -1)
        if len(senders) != 1 or not chains.loops(ch):
            return None
        steps = [(take, give) for each, take, give in chains.lock_steps() if each == ch]
        own = all(take is not None and take == give for take, give in steps)
        return Party(PartyKind.CHANNEL, ch) if steps and own else None

    def _again(self) -> str:
        """Start of the repair of a channel that has ended: a ring, where it made a single pass."""
        c, ch = self.waits.engine.channels, self.party.number
        if self.waits.of_registers or self.waits.abstraction is not None or c.external[ch] >= 0:
            return "R"
        bds = PlannedWords.of(self.waits.engine, self.waits.chains).bds.get(ch, [])
        if not bds or c.bds_done[ch] != len(bds):
            return "R"
        first, last = bds[0].number, bds[-1].number
        on = "itself" if first == last else f"BD {first}"
        return f"Chain BD {last} to {on} (next_bd, loop=True) if its task should repeat, or r"

    def _not_sent(self, used: bool | None) -> Finding:
        first = self._wanted_by(Via.WORDS)[0]
        if first.kind is PartyKind.PACKET:
            says = f"{self.words.name(first)} waits for its rest"
        elif first.kind is PartyKind.CORE:
            says = f"{self.words.name(first)} waits for one more word of its stream"
        elif self._takes_any_order(first):
            return self._packet_missing(first)
        else:
            says = f"{self.words.name(first)} waits for words at {self.words.moved(first.number)}"
        if used and first.kind is PartyKind.CHANNEL:
            unsent = self._unsent(says, first.number)
            if unsent is not None:
                return unsent
            told = counted(self.party.number, first.number, self._name, self.waits)
            if told is not None:
                sides = (self.words.side(self.party, told.does), self.words.side(first))
                made = self._made("MT0304", f"{self._name} {told.does}; {says}", told.fix, sides)
                return replace(made, evidence=Evidence(runs=told.runs))
        if used:
            did, fix = self._all_sent()
            cores = starving_cores(self.waits, self.words, first) if self._part_moved() is None else []
            if not cores:
                made = self._made("MT0304", f"{says}; {self._name} {did}", fix)
                own = [self.words.side(self.party)] if self._is_cut(first) else []
                return replace(made, sides=tuple(dict.fromkeys((*own, *made.sides))))
            if len(cores) > 1:
                return self._starved_cores(cores, did, fix)
            short = short_sender(self.party, cores[0], self.waits, self.words)
            return short or self._starved_core(cores[0], did, fix)
        no_task = "never had a task" if used is False else "has no task"
        code = self._code("MT0312", "MT0113")
        return self._made(code, f"{says}; {self._name} {no_task}", f"Start a task on {self._name}.")

    def _is_cut(self, receiver: Party) -> bool:
        """Whether the last words end within a descriptor of their receiver: then a length is off."""
        moved = self.waits.engine.channels.moved
        return receiver.kind is PartyKind.CHANNEL and bool(moved[receiver.number] > 0)

    def _takes_any_order(self, receiver: Party) -> bool:
        """Whether headers of packets choose the descriptors of a channel, and it has taken some of them."""
        c, ch = self.waits.engine.channels, receiver.number
        return bool(c.control[ch] & OUT_OF_ORDER_MASK) and bool(c.bds_done[ch]) and c.moved[ch] <= 0

    def _packet_missing(self, receiver: Party) -> Finding:
        """A channel that takes packets in any order counts more of them than are sent."""
        came = int(self.waits.engine.channels.bds_done[receiver.number])
        says = f"{self.words.name(receiver)} waits for more packets than are sent to it: {came} came"
        fix = f"Let it take {came} packets, or send the others."
        return self._made("MT0304", says, fix, (self.words.side(receiver),))

    def _unsent(self, says: str, receiver: int) -> Finding | None:
        """That a receiver gets no packet, as none has an id that leads there; None if it is not so."""
        ids = other_ids(self.party.number, receiver, self.waits)
        if ids is None:
            return None
        planned = PlannedWords.of(self.waits.engine, self.waits.chains)
        doubled = unsent_to(planned, self.party.number, receiver)
        if doubled is not None:
            return replace(doubled, severity=Severity.ERROR)
        return self._made(UNSENT, f"{says}; {self._name} {ids[0]}", ids[1])

    def _starved_core(self, core: Party, did: str, fix: str) -> Finding:
        """A core that waits for more than is sent, and what it has left of another object FIFO."""
        name, left = self.words.name(core), left_by(self.waits, core)
        fifo = self.waits.engine.fifo_locks.get(self.waits.lock_wanted(core))
        if left and fifo is not None and came(self.waits, core) == 1:
            once = f"@{fifo.fifo} is sent once, and {name} acquires it in each turn"
            says = f"{once}: it {self.words.wanted(core)}, and {self._name} {did}"
            more = f"send it as often as @{left.rpartition(' of @')[2]}"
            fix = (
                f"Let {name} acquire @{fifo.fifo} once, before its loop, and release it after it; or {more}."
            )
            return self._made("MT0304", says, fix, (self.words.side(core), self.words.side(self.party)))
        says = f"{self.words.wanted(core)}, and {self._name}, from which its words come, {did}"
        says = f"{name} leaves {left} and {says}" if left else f"{name} {says}"
        less = f"take all of {left.rpartition(' of ')[2]}" if left else "take less"
        fix = f"Let {name} {less} in its turns, or {fix[:1].lower()}{fix[1:]}"
        return self._made("MT0304", says, fix, (self.words.side(core), self.words.side(self.party)))

    def _starved_cores(self, cores: Sequence[Party], did: str, fix: str) -> Finding:
        """Several cores that take their parts of one stream, and wait for more than is sent."""
        says = f"{self.words.name(cores[0])}, as other cores do, {self.words.wanted(cores[0])}"
        says = f"{says}, and {self._name}, from which their words come, {did}"
        fix = f"Let each of these cores take less in its turns, or {fix[:1].lower()}{fix[1:]}"
        sides = (*map(self.words.side, cores), self.words.side(self.party))
        return self._made("MT0304", says, fix, sides)

    def _all_sent(self) -> tuple[str, str]:
        """What a channel has sent that has no task left, and the repair."""
        part = self._part_moved()
        if part is None:
            return "has sent all that it was asked for", "Send as many words as are received."
        sent, words, name = part
        what = "words" if self.waits.abstraction is None else "elements"
        return f"has sent {sent} of the {words} {what} of {name}", f"Send all {words} {what}."

    def _part_moved(self) -> tuple[int, int, str] | None:
        """The words of external memory that a channel moves, if it is a part: of how many, and the name.

        Before a run they are elements of what the text passes.
        """
        if self.waits.abstraction is not None:
            return self.waits.abstraction.part(self.party.number)
        if self.waits.of_registers:
            return None
        planned = PlannedWords.of(self.waits.engine, self.waits.chains)
        part = planned.part_of_external(self.party.number)
        return part if part is not None and part[0] < part[1] else None

    def _code(self, in_a_run: str, before_it: str) -> str:
        return in_a_run if self.waits.abstraction is None else before_it

    def _no_token(self, used: bool | None) -> Finding:
        host = (self._wanted_by(Via.TOKEN) or self._wanted_by(Via.END))[0]
        name = self.words.name(host)
        if used is False:
            says = f"{name} waits for a task of {self._name}, which never had one"
            return self._made("MT0314", says, "Wait for the channel that has the task.")
        if token_is_stuck(self.waits.engine, self.party.number):
            does, fix = stuck_token(self.waits.engine, self.party.number)
            return self._made("MT0313", f"{name} waits for a token of {self._name}, which {does}", fix)
        host_waits = self.waits.hosts[host.number]
        earlier, silent = host_waits.earlier, host_waits.silent
        if silent and not (earlier and len(silent) > 1):
            does, fix = silent_tasks(silent)
            says = f"{name} waits for a token of {self._name}; {does}"
            return self._made("MT0313", says, fix, [Side(self._name, does, silent[-1])])
        if earlier:
            taken = f"the wait at {' and the one at '.join(earlier[-2:])} took what its tasks have sent"
            says = f"{name} waits for token {len(earlier) + 1} of {self._name}; {taken}"
            fix = "Let one of these wait for another channel, or one more task ask for a token (issue_token)."
            return self._made("MT0313", says, fix)
        says = f"{name} waits for a token of {self._name}; its tasks have ended, and too few of them sent one"
        return self._made("MT0313", says, "Let the task ask for a token (issue_token, token=True).")

    def _starved(self) -> Finding:
        """An S2MM channel whose stream comes from outside."""
        c, ch = self.waits.engine.channels, self.party.number
        says = f"{self._name} waits for words at {self.words.moved(ch)}, and"
        if c.bds_done[ch] or c.moved[ch] > 0:
            return self._made("MT0304", f"{says} no more are fed", "Feed as many words as are received.")
        hosts = [self.words.name(each) for via in (Via.TOKEN, Via.END) for each in self._wanted_by(via)]
        return self._made("MT0312", *unfed(self.waits.engine, ch, f"{says} nothing sends any", hosts))

    # ports and hosts ------------------------------------------------------------------------------------

    def _port(self) -> Finding:
        engine, port = self.waits.engine, self.party.number
        switch = plain(engine.state.switch)
        if switch.unrouted[port] and switch.held[port]:
            return self._lost_packet(port)
        if switch.barred[port]:
            return self._made("MT0312", barred_text(engine, port))
        if is_logic(engine, port):
            return self._logic_held_up(port) if switch.held[port] else self._logic_ended(port)
        sides = [*(self.words.side(party) for party in self._actors()), self.words.side(self.party)]
        if switch.held[port]:
            fix = "Connect the port, or send the words elsewhere."
            says = f"words arrive at {self._name} and nothing takes them"
            sender = self.waits.streams.origin(port)
            if sender >= 0:
                says = f"{called(engine, sender)} sends, and its stream ends at {self._name}"
            return self._made("MT0312", says, fix, sides)
        fix = "Connect a sender to it."
        return self._made("MT0312", f"{self._waiters()}, to which nothing sends", fix, sides)

    def _lost_packet(self, port: int) -> Finding:
        """A packet that no slot of its port takes, or no master behind the slot."""
        engine, waits = self.waits.engine, self.waits
        planned = PlannedWords.of(engine, waits.chains)
        packet = waits.streams.stream_id(port)
        ids, sender = PacketIds(planned), waits.streams.origin(port)
        lost = ids.lost(port, packet) if not packet_ways(engine, packet, port) else None
        lost = lost or ids.without_header(port, sender)
        if lost is None:
            fix = "Give a slot of the port that stream id, or the packet another one."
            if sender < 0:
                return self._made("MT0306", stuck_text(engine, port), fix)
            who = called(engine, sender)
            sides = (Side(who, f"sends a packet of id {packet}"), self.words.side(self.party))
            says = f"{who} has sent a packet of id {packet} that is stuck at {stuck_text(engine, port)}"
            return self._made("MT0306", says, fix, sides)
        who = called(engine, lost.bd.ch)
        place = f"BD {lost.bd.number}, {lost.bd.said}" if lost.bd.said else f"BD {lost.bd.number}"
        sides = (Side(who, lost.text, place), self.words.side(self.party, stuck_text(engine, port)))
        return self._made("MT0306", f"{who} {lost.text}", lost.fix, sides)

    def _logic_held_up(self, port: int) -> Finding:
        """Words of the programmable logic have no way from its port."""
        left = self.waits.engine.logic.pending(port) + int(plain(self.waits.engine.state.switch).held[port])
        fix = "Connect it to a kernel or a memory tile, or feed it nothing."
        words = "word" if left == 1 else "words"
        return self._made("MT0312", f"{self._name} has {left:,} {words} that nothing takes", fix)

    def _logic_ended(self, port: int) -> Finding:
        """The programmable logic has sent all that it was fed, and more is waited for."""
        sent = self.waits.engine.logic.sent(port)
        if not sent:
            fix = "Feed as many words as are received."
            return self._made("MT0312", f"{self._waiters()}, which was fed no words", fix)
        words = "its one word" if sent == 1 else f"all of its {sent:,} words"
        fix = "Feed as many words as are received: the input is too short, or a rate is too high."
        return self._made("MT0304", f"{self._waiters()}, which has sent {words}", fix)

    def _host(self) -> Finding:
        host = self.waits.hosts[self.party.number]
        return self._made("MT0314", host.text, "Wait for something that the array does.")
