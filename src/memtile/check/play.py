"""A design played through by the engine itself: without data, and with cores as sequences of lock actions.

Tasks, descriptors, locks and streams are those of the clock loop. Words of external memory come from one
scratch buffer. The order in which things happen is that of the engine, one of many; so when nothing moves any
more, whoever could go on in some run is let go on, until nobody could: whoever waits then waits in every run,
and the deadlock explanation says why. Where several take from one lock, who is first hangs on time: none of
them is said to wait in every run while it could have what the others took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from memtile.arch.core import CORE
from memtile.arch.devices import FIRMWARE_PORT
from memtile.arch.ports import PORTS
from memtile.bd.codec import encode
from memtile.bd.descriptor import NO_ITERATION
from memtile.check.checked_program import Subject
from memtile.check.core_turns import CoreText, Turn, UndecidedError, cascades_by_text
from memtile.check.kernel_turns import Recorded, recorded_kernels
from memtile.check.streams import OpenStreams
from memtile.check.task_list import GivenTask, HostStep, StaticBd, kind_of
from memtile.errors import MemtileError
from memtile.explain.deadlock.context import HostWaiting
from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.switch_waits import Party
from memtile.explain.lock_waits import lock_name, owner
from memtile.explain.names import called, core_name
from memtile.importers.kernels.core_locks import released_by_core
from memtile.jit.tables import plain
from memtile.model.cores.core_step import over
from memtile.model.dma.channel_registers import QUEUE_REPEAT_LSB, QUEUE_TOKEN_LSB
from memtile.model.dma.executions import finish
from memtile.model.dma.task_queue import room
from memtile.model.memory.lock_port import granted
from memtile.model.state.causes import Cause, CorePhase, Phase
from memtile.model.streams.switch_config import OFF, PACKET
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import RELEASES, Core
from memtile.sim.loop.clock import Stop


class Allowances:
    """What channels and cores gave to locks, and took from them.

    Args:
        began: by lock what it began with.
        tasks: all of the design, by model index of the channel.
    """

    def __init__(self, began: Sequence[int], tasks: Mapping[int, Sequence[GivenTask]]) -> None:
        self._began = began
        self._takers: dict[int, set[int]] = {}
        for ch, own in tasks.items():
            for bd in (bd for task in own for bd in task.bds if bd.acquire is not None):
                assert bd.acquire is not None
                self._takers.setdefault(bd.acquire.lock, set()).add(ch)
        self._cores: dict[int, Counter[int]] = {}  # what each took, by lock
        self._given: Counter[int] = Counter()  # by cores

    def note_taken(self, core: int, lock: int, units: int) -> None:
        """A core has taken units of a lock."""
        self._cores.setdefault(core, Counter())[lock] += units

    def note_given(self, lock: int, units: int) -> None:
        """A core has released units of a lock."""
        self._given[lock] += units

    def is_contested(self, lock: int) -> bool:
        """Whether several take from a lock."""
        cores = sum(bool(taken[lock]) for taken in self._cores.values())
        return len(self._takers.get(lock, ())) + cores > 1

    def given(self, lock: int, channels: Mapping[int, Counts]) -> int:
        """All that a lock began with and that was released to it."""
        return self._began[lock] + self._given[lock] + sum(each.given[lock] for each in channels.values())

    def taken_by_core(self, core: int, lock: int) -> int:
        """What a core has taken of a lock."""
        return self._cores.get(core, Counter())[lock]


class Counts:
    """What a channel has taken of locks and given to them so far.

    Args:
        tasks: that were pushed to it, in order.
        done: BDs that it has ended.
        running: whether it has begun another one.

    Attributes:
        taken: units by lock.
        given: units by lock.
    """

    def __init__(self, tasks: Sequence[GivenTask], done: int, *, running: bool) -> None:
        self.taken: Counter[int] = Counter()
        self.given: Counter[int] = Counter()
        for bd, begun, ended in _executions(tasks, done, running=running):
            if bd.acquire is not None:
                self.taken[bd.acquire.lock] += max(-bd.acquire.value, 0) * begun
            if bd.release is not None and bd.release.value > 0:
                self.given[bd.release.lock] += bd.release.value * ended


def _executions(
    tasks: Sequence[GivenTask], done: int, *, running: bool
) -> Iterator[tuple[StaticBd, int, int]]:
    """Each BD, and how often it has begun and ended."""
    for task in tasks:
        all_of_it = task.runs * len(task.bds)
        ended = done if task.endless else min(done, all_of_it)
        present = task.endless or ended < all_of_it
        begun = ended + (running and present)
        for at, bd in enumerate(task.bds):
            yield bd, _times(task, at, begun), _times(task, at, ended)
        if present:
            return
        done -= ended


def _times(task: GivenTask, at: int, executions: int) -> int:
    """How many of the first executions of a task are of the BD at a place of its chain."""
    if executions <= at:
        return 0
    if task.endless and at < task.again:
        return 1
    period = len(task.bds) - (task.again if task.endless else 0)
    return (executions - at + period - 1) // period


MOST_CYCLES = 1 << 19  # of an abstract run: a sixth of a second where nothing is skipped
_MOST_GRANTS = 256  # to a party, which then is taken for one that nothing holds up
BY_PACKETS = "control packets may write anything"
_SCRATCH = "words of an abstract run"
_NO_VALUES = np.zeros(CORE.cascade_words, np.int32)
_AT_STREAM = (Cause.STREAM_STARVED, Cause.STREAM_BLOCKED)


class Play:
    """A design while it is played.

    Args:
        subject: the design; its engine is used up.
        streams: what is not known of its streams.
        watched: what it does is watched, see ``orders``.

    Attributes:
        quiet: whether nothing can move any more; else the abstract run was too long.
        dropped: by channel the push that its full queue was the first to drop.
        reasons: why it may wait in some run although it goes on here, a line each.
        most: cycles that it may take.
        let_go: what is not known of those that were let go on, a line each.
        orders: watches what it does that another order could change.
    """

    def __init__(self, subject: Subject, streams: OpenStreams, *, watched: bool = True) -> None:
        self.engine, self._log, self._streams = subject.engine, subject.log, streams
        self.quiet = False
        self.dropped: dict[int, HostStep] = {}
        self.reasons: dict[str, None] = {}
        self.let_go: dict[str, None] = {}
        self.most = self._left = MOST_CYCLES
        self._at: dict[int, int] = {}  # steps that each host has done
        self._pushed: dict[int, list[GivenTask]] = {}
        self._lowered: dict[tuple[int, ...], tuple[int, ...]] = {}  # BDs of external memory, by their words
        self._senders: dict[int, list[int]] = {}  # by channel the tasks that send a token, from 1 on
        self._open: set[int] = set()  # locks that somebody may give any number of units
        self._by_packets: dict[int, int] = {}  # tiles, by locks that control packets alone release
        self._left_of_packets = Counter[int]()  # by tile how many locks they may still write
        self._free: set[Party] = set()  # nothing is known to hold them up
        self._grants: dict[Party, int] = {}
        self._turns: dict[int, Turn] = {}
        self._released: dict[int, frozenset[int]] = {}
        self._cascaded: set[int] = set()  # cores whose turns at the cascade are done
        self._to_end: set[int] = set()  # cores that are to come to their end
        self._tasks: dict[int, list[GivenTask]] = {}
        for task in self._log.tasks:
            self._tasks.setdefault(task.ch, []).append(task)
        steps = (bd.release for task in self._log.tasks for bd in task.bds if bd.release is not None)
        self._open.update(step.lock for step in steps if step.value < 0)  # what that leaves, time says
        self._allowed = Allowances(self._log.began.tolist(), self._tasks)
        self.engine.state.locks.value[:] = self._log.began
        self.engine.state.channels.tasks_done[:] = 0
        self.orders = self.engine.checks.watch_orders() if watched else None
        self._attach_cores(subject)
        self._receive_tokens(subject)

    # cores -----------------------------------------------------------------------------------------------

    def _attach_cores(self, subject: Subject) -> None:
        """Give each core what its text does to locks; what others may release is open."""
        spec = plain(self.engine.spec.tiles)
        unknown = set(subject.kernels) - self._attach_kernels(subject)
        for made in subject.made:
            cascades = cascades_by_text(made)
            if cascades is None:
                self.reasons["what functions do to the cascade is not known"] = None
            for core in made.device.cores:
                released, tile = released_by_core(made, core), made.tiles[core.tile].index
                number = int(spec.core[tile])
                if released is not None and number >= 0:
                    unknown.discard(tile)
                    self._released[number] = released
                    on_cascade = made.device.aliases.get(core.tile, core.tile) in (cascades or ())
                    if on_cascade:
                        self._cascaded.add(number)
                    text = CoreText(made, core, cascades=on_cascade)
                    self._attach(tile, number, text)
                    if text.has_end:
                        self._to_end.add(number)
        for tile in sorted(unknown):
            self._let_core_free(int(spec.core[tile]), self._reached(tile), "is not known")
        cores, mode = plain(self.engine.state.cores), plain(self.engine.state.switch).mode
        if any(port >= 0 and mode[port] != OFF for port in (*cores.stream_in, *cores.stream_out)):
            self.reasons["what cores do to their streams is not checked"] = None

    def _attach_kernels(self, subject: Subject) -> set[int]:
        """Stop what runs; give cores what their kernels in Python do, and return the tiles of these."""
        running = self.engine.cores.running
        tiles = {core: int(self.engine.state.cores.tile[core]) for core in running}
        kernels = {} if subject.made else {tiles[core]: each.function for core, each in running.items()}
        serving = {tiles[core] for core, each in running.items() if each.declared}
        for tile in tiles.values():
            self.engine.cores.stop(tile)
        found = recorded_kernels(self.engine, kernels) if kernels else {}
        known = {tile: each for tile, each in found.items() if each.turns}
        cores = plain(self.engine.spec.tiles).core
        for tile, each in known.items():
            self._attach_recorded(tile, int(cores[tile]), each, ending=tile not in serving)
        return set(known)

    def _attach_recorded(self, tile: int, number: int, kernel: Recorded, *, ending: bool) -> None:
        """Give a core what its kernel in Python does; behind that it may release whatever it reaches."""
        known = frozenset(turn.lock for turn in kernel.turns if turn.gives)
        self._released[number] = known if kernel.ends else frozenset(self._reached(tile))
        self._attach(tile, number, kernel)
        if kernel.ends and ending:
            self._to_end.add(number)
        self.reasons["kernels in Python are taken to do what they do with two sets of words"] = None

    def _reached(self, tile: int) -> Iterator[int]:
        """The locks that the core of a tile reaches."""
        spec = plain(self.engine.spec.tiles)
        bases = [*spec.lock_base.tolist(), len(self._log.locks)]
        for seen in spec.core_reach[tile].tolist():
            if seen >= 0:
                yield from range(bases[seen], bases[seen + 1])

    def _attach(self, tile: int, number: int, text: CoreText | Recorded) -> None:
        def kernel(core: Core) -> Iterator[Action]:
            try:
                if isinstance(text, CoreText):
                    yield from self._actions(number, core, text.turns())
                    return
                yield from self._actions(number, core, iter(text.turns))
                if not text.ends:
                    raise UndecidedError
            except (UndecidedError, MemtileError):
                self._let_core_free(number, self._released[number], "hangs on data")

        kernel.__name__ = ""  # the core alone is named
        setattr(kernel, RELEASES, self._released[number])
        self.engine.attach_kernel(tile, kernel, endless=False)

    def _actions(self, number: int, core: Core, turns: Iterator[Turn]) -> Iterator[Action]:
        for turn in turns:
            self._turns[number] = turn
            if turn.lock < 0:
                yield core.get_cascade() if turn.takes else core.put_cascade(_NO_VALUES)
                continue
            tile, lock = owner(self.engine, turn.lock)
            if turn.exact:
                yield core.acquire(lock, turn.takes, tile=tile)
            elif turn.takes:
                yield core.acquire(lock, -turn.takes, tile=tile)
                self._allowed.note_taken(number, turn.lock, turn.takes)
            elif turn.gives:
                yield core.release(lock, turn.gives, tile=tile)
                self._allowed.note_given(turn.lock, turn.gives)

    def _let_core_free(self, core: int, locks: Iterator[int] | frozenset[int], why: str) -> None:
        """Nobody knows what a core does: it may give what it reaches, as often as it likes."""
        self._open.update(locks)
        if core >= 0:
            self._free.add(Party(PartyKind.CORE, core))
            self.reasons[f"what {core_name(self.engine, core)} does {why}"] = None
        if core in self._cascaded:  # whoever waits for its values may have them
            for other in self._cascaded:
                self._free.add(Party(PartyKind.CORE, other))
                self._open.update(self._released[other])

    def let_packets_write(self) -> None:
        """Take locks of cores that nothing else releases for such as control packets release.

        Of those that descriptors wait for see ``lock_rules``.
        """
        self.reasons[BY_PACKETS] = None
        bds = [bd for task in self._log.tasks for bd in task.bds]
        given = {step.lock for bd in bds for step in (bd.acquire, bd.release) if step is not None}
        given.update(
            *self._released.values(), *(step.locks for own in self._log.steps.values() for step in own)
        )
        for lock in set(range(len(self._log.locks))) - given:
            tile, _ = owner(self.engine, lock)
            if tile in self._streams.packets:
                self._by_packets[lock] = tile
        self._left_of_packets = Counter(self._streams.packets)

    def _may_be_written(self, lock: int) -> bool:
        """Whether a control packet may still write a lock for the first time."""
        return (
            lock in self._by_packets.keys() - self._open and self._left_of_packets[self._by_packets[lock]] > 0
        )

    # hosts -----------------------------------------------------------------------------------------------

    def go(self) -> None:
        """Play until nobody can go on."""
        goes_on = True
        while goes_on:
            goes_on = False
            for host in self._log.steps:
                while (step := self._step(host)) is not None and self._do(step):
                    self._at[host] = self._at.get(host, 0) + 1
                    goes_on = True
                    if host >= 0:
                        self._run()
            self._run()

    def hosts(self) -> list[HostWaiting]:
        """The hosts that have not ended."""
        return [self._waiting(host, step) for host in self._log.steps if (step := self._step(host))]

    def _receive_tokens(self, subject: Subject) -> None:
        """Have packets leave where firmware takes tokens: they would fill the way of those that follow."""
        tiles, mode = self.engine.tiles, plain(self.engine.state.switch).mode
        for tile in (tile for tile in subject.tiles if tile.kind.role == "interface"):
            port = tiles.master_base[tile.index] + PORTS[tile.kind.name].master(FIRMWARE_PORT)
            if mode[port] == PACKET:
                self.engine.catch_port(tile.index, FIRMWARE_PORT)

    def open_channels(self) -> list[int]:
        """Channels that have not ended what was pushed; a ring may wait for work that never comes."""
        hosts = [steps for host, steps in self._log.steps.items() if host >= 0]
        if hosts and not self.hosts() and all(steps[-1].token for steps in hosts):
            return []  # the program has met all its waits, the last of them after all pushes
        return [ch for ch in self._pushed if (task := self._task(ch)) is not None and not task.endless]

    def waiting_cores(self) -> list[int]:
        """Cores that wait for a lock; they may be meant to do so for ever."""
        phase = self.engine.state.cores.phase
        return [core for core in sorted(self.engine.cores.running) if phase[core] == CorePhase.ACQUIRE]

    def unfinished(self) -> list[int]:
        """Cores that wait for a lock and are to come to their end."""
        return [core for core in self.waiting_cores() if core in self._to_end]

    def place(self, party: Party) -> str:
        """Where the design says what a party waits for."""
        if party.kind is PartyKind.HOST:
            return [step.place for host in self._log.steps if (step := self._step(host))][party.number]
        if party.kind is PartyKind.CORE:
            turn = self._turns.get(party.number)
            return turn.place if turn is not None else ""
        if party.kind is not PartyKind.CHANNEL or party.number not in self._pushed:
            return ""
        if party.number in self.dropped:
            return self.dropped[party.number].place
        task = self._task(party.number)
        return task.place if task is not None else self._last_place(self._pushed[party.number][-1])

    def _last_place(self, task: GivenTask) -> str:
        """Where the design says the last BD of a task that has ended."""
        tile = int(self.engine.channels.tile[task.ch])
        return self.engine.bd_places.get((tile, task.bds[-1].number)) or task.place

    def _waiting(self, host: int, step: HostStep) -> HostWaiting:
        left = self._log.steps[host][self._at.get(host, 0) :]
        tasks = [self._log.tasks[each.task] for each in left if each.task >= 0]
        locks = {bd.release.lock for task in tasks for bd in task.bds if bd.release is not None}
        ch, via, what = step.ch, Via.TOKEN if step.token else Via.END, "a token" if step.token else "the end"
        if step.task >= 0 or step.room:
            ch = step.ch if step.room else self._log.tasks[step.task].ch
            via, what = Via.ROOM, "a place in the queue"
        return HostWaiting(
            "the host",
            f"the host: waits for {what} of {called(self.engine, ch)}",
            (ch,),
            via,
            frozenset(task.ch for task in tasks),
            frozenset(locks.union(*(each.locks for each in left))),
        )

    def _step(self, host: int) -> HostStep | None:
        """The step that a host is at; None = it has ended."""
        steps, at = self._log.steps[host], self._at.get(host, 0)
        return steps[at] if at < len(steps) else None

    def _do(self, step: HostStep) -> bool:
        if step.locks:
            self._open |= step.locks
            return True
        if step.task >= 0:
            return self._push(step, self._log.tasks[step.task])
        if step.room:
            return room(self.engine.state, step.ch) > 0
        if step.ch < 0 or Party(PartyKind.CHANNEL, step.ch) in self._free:
            return True  # a poll: only a run could tell whether it is met
        done = int(self.engine.channels.tasks_done[step.ch])
        if step.token:
            senders = self._senders.get(step.ch, ())
            return step.many <= len(senders) and senders[step.many - 1] <= done
        return step.many <= min(done, len(self._pushed.get(step.ch, ())))

    def _push(self, step: HostStep, task: GivenTask) -> bool:
        """Push a task; what its queue drops now it drops in every run."""
        c, ch = self.engine.channels, task.ch
        tile, lost = int(c.tile[ch]), int(c.pushes_lost[ch])
        kind, door = kind_of(self.engine, tile), self.engine.door(tile)
        if self._left <= 0 or (step.waits_for_room and room(self.engine.state, ch) == 0):
            return False
        for bd in task.bds:
            door.block_write32(kind.bd_base + bd.number * kind.bd_stride, self._words(ch, bd))
        first = int(np.flatnonzero(c.tile == tile)[0])
        word = task.bds[0].number | task.runs - 1 << QUEUE_REPEAT_LSB | int(task.token) << QUEUE_TOKEN_LSB
        door.write32(kind.queue_base + (ch - first) * kind.channel_stride, word)
        if c.pushes_lost[ch] > lost:
            self.dropped.setdefault(ch, step)
        else:
            self._pushed.setdefault(ch, []).append(task)
            if task.token:
                self._senders.setdefault(ch, []).append(len(self._pushed[ch]))
        return True

    def _words(self, ch: int, bd: StaticBd) -> tuple[int, ...]:
        """The register words of a BD; one of external memory has the scratch buffer."""
        if self.engine.channels.external[ch] < 0 or not bd.descriptor.valid:
            return bd.words
        if bd.words not in self._lowered:
            scratch = bd.descriptor.but(address=self._scratch, dims=(), iteration=NO_ITERATION)
            self._lowered[bd.words] = encode(scratch)
        return self._lowered[bd.words]

    @cached_property
    def _scratch(self) -> int:
        """Address of a buffer for the longest BD of external memory."""
        tasks = (task for task in self._log.tasks if self.engine.channels.external[task.ch] >= 0)
        longest = max(bd.descriptor.length for task in tasks for bd in task.bds)
        return self.engine.external.add(_SCRATCH, np.zeros(max(longest, 1), np.uint32)).at()

    # the array -------------------------------------------------------------------------------------------

    def undecided(self) -> set[Party]:
        """Who may go on in some run or was not followed to the end, and locks that may come to any value."""
        found = {*self._free, *(Party(PartyKind.LOCK, lock) for lock in self._open)}
        found |= {party for party, lock, wanted in self._at_locks() if self._may_take(party, lock, wanted)}
        steps = [step for host in self._log.steps if (step := self._step(host))]
        found |= {Party(PartyKind.HOST, n) for n, step in enumerate(steps) if self._may_push(step)}
        for ch, bd in self._at_streams():
            if self._streams.is_unknown(ch, bd) or self._streams.is_shared(ch, bd):
                found.add(Party(PartyKind.CHANNEL, ch))
        return found

    def _may_push(self, step: HostStep) -> bool:
        """Whether a step is a push that only the end of the abstract run keeps a host from."""
        if not step.pushes:
            return False
        return not step.waits_for_room or room(self.engine.state, self._log.tasks[step.task].ch) > 0

    def _run(self) -> None:
        """Let the engine run until nothing moves, and whoever could go on in some run after it."""
        while self._left > 0:
            before = self.engine.now
            self.quiet = self.engine.advance(before + self._left) is Stop.QUIET
            self._left -= self.engine.now - before + 1
            if not self.quiet or not self._help():
                return
        self.quiet = False

    def _help(self) -> bool:
        """Let those go on that need not wait in every run; whether there was any."""
        state = self.engine.state
        self._open.update(np.flatnonzero(plain(state.locks).overflow).tolist())
        helped = False
        for party, lock, wanted in list(self._at_locks()):
            if party not in self._free and self._may_take(party, lock, wanted) and self._grant(party):
                if self._may_be_written(lock):
                    self._left_of_packets[self._by_packets[lock]] -= 1
                    self._open.add(lock)
                (granted if party.kind is PartyKind.CHANNEL else over)(state, party.number)
                name = lock_name(self.engine, lock)
                self.let_go[f"whether {name} has the awaited value is not known"] = None
                helped = True
        for ch, bd in list(self._at_streams()):
            party = Party(PartyKind.CHANNEL, ch)
            if party not in self._free and self._streams.is_unknown(ch, bd) and self._grant(party):
                finish(state, ch)
                self.let_go[f"the words of {called(self.engine, ch)} are not known"] = None
                helped = True
        return helped

    def _grant(self, party: Party) -> bool:
        """Whether a party is let go on, and not taken for one that nothing holds up by now."""
        self._grants[party] = self._grants.get(party, 0) + 1
        if self._grants[party] <= _MOST_GRANTS:
            return True
        self._free.add(party)
        if party.kind is PartyKind.CORE:
            self._open |= self._released[party.number]
            return False
        bds = [bd for task in self._pushed[party.number] for bd in task.bds]
        self._open.update(bd.release.lock for bd in bds if bd.release is not None)
        self._streams.let_flow(party.number)
        return False

    def _at_locks(self) -> Iterator[tuple[Party, int, int]]:
        """Who waits for a lock, for which and how much of it."""
        c, cores = self.engine.channels, plain(self.engine.state.cores)
        for ch in np.flatnonzero(c.phase == Phase.ACQUIRE).tolist():
            if c.lock[ch] >= 0:
                yield Party(PartyKind.CHANNEL, ch), int(c.lock[ch]), abs(int(c.acquire_value[ch]))
        for core in np.flatnonzero(cores.phase == CorePhase.ACQUIRE).tolist():
            yield Party(PartyKind.CORE, core), int(cores.target[core]), abs(int(cores.value[core]))

    def _at_streams(self) -> Iterator[tuple[int, StaticBd]]:
        """Channels that wait for words or for room, and their BDs."""
        c = self.engine.channels
        for ch in np.flatnonzero(c.phase == Phase.RUN).tolist():
            task = self._task(ch) if Cause(int(c.why[ch])) in _AT_STREAM else None
            yield from ((ch, bd) for bd in (task.bds if task is not None else ()) if bd.number == c.bd[ch])

    def _task(self, ch: int) -> GivenTask | None:
        """The present task of a channel; None = it has ended all that were pushed."""
        pushed, done = self._pushed.get(ch, []), int(self.engine.channels.tasks_done[ch])
        return pushed[done] if done < len(pushed) else None

    def _may_take(self, party: Party, lock: int, wanted: int) -> bool:
        """Whether a lock could have in some run what a party waits for."""
        if lock in self._open or self._may_be_written(lock):
            return True
        if not self._allowed.is_contested(lock):
            return bool(self.engine.state.locks.value[lock] >= wanted)  # where it waits for exactly so much
        c = self.engine.channels
        channels = {
            ch: Counts(tasks, int(c.bds_done[ch]), running=bool(c.phase[ch] == Phase.RUN))
            for ch, tasks in self._pushed.items()
        }
        taken = self._allowed.taken_by_core(party.number, lock)
        if party.kind is PartyKind.CHANNEL:
            taken = channels[party.number].taken[lock]
        allowed = self._allowed.given(lock, channels) - taken >= wanted
        if allowed:
            self.reasons["several channels or cores acquire one lock, and timing decides their order"] = None
        return allowed
