"""Those who use memory without an order: their names, the locks they take and give, and what is missing.

A repair is only offered if it is not so already: what a lock has left over at the end of a run says whether
somebody acquires it too seldom or releases it too often.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial

from memtile.arch.tiles import TILE_KINDS
from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.lock_waits import Swap, lock_text, owner
from memtile.explain.names import called, core_name
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.checking.notes import FIRST_CHANNEL, HOST
from memtile.model.cores.cascade import receiver
from memtile.model.dma import bd_fields
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.columns import NEVER, Ints
from memtile.sim.kernels.kernel_lines import place_said
from memtile.sim.loop.engine import Engine
from memtile.sim.races.bd_watch import StartedBd
from memtile.sim.races.race_watch import RaceAccess

_DOES = {"read": "reads", "write": "writes"}


class Sides:
    """Those who use memory, of an engine that stands still.

    Args:
        engine: the model.
        began: by lock of the model the value that it began with.
        started: descriptors of the tasks that hosts have started during the run, in order.
        host_places: where a host says what it does between two runs, by site from 1 on.
    """

    def __init__(
        self,
        engine: Engine,
        began: Ints,
        started: Iterable[StartedBd] = (),
        host_places: Sequence[str] = (),
    ) -> None:
        self._engine, self._began, self._host_places = engine, began, host_places
        self._started: dict[tuple[int, int], list[tuple[int, StartedBd]]] = {}
        for number, one in enumerate(started):
            self._started.setdefault((one.ch, one.bd), []).append((number, one))
        self._channels = len(engine.channels.tile)

    @cached_property
    def _chains(self) -> BdChains:
        return BdChains(self._engine)

    @cached_property
    def _steps(self) -> tuple[dict[int, dict[int, int]], dict[int, dict[int, int]]]:
        return self._chains.steps_by_lock()

    def name(self, access: RaceAccess) -> str:
        """The channel, the core or the host, by the user's name and its place."""
        if access.agent == HOST:
            return "the host"
        if access.agent < FIRST_CHANNEL + self._channels:
            return called(self._engine, access.agent - FIRST_CHANNEL)
        core = access.agent - FIRST_CHANNEL - self._channels
        running = self._engine.cores.running.get(core)
        kernel = f", kernel {running.kernel!r}" if running else ""
        return f"{core_name(self._engine, core)}{kernel}"

    def place(self, access: RaceAccess) -> str:
        """The BD and where the design says it, or the line of the kernel, or of a host between two runs."""
        if access.agent == HOST:
            return self._host_places[access.site - 1] if access.site else ""
        if access.agent < FIRST_CHANNEL + self._channels:
            tile = int(self._engine.channels.tile[access.agent - FIRST_CHANNEL])
            said = self._engine.bd_places.get((tile, access.site))
            if not said and (self._channel(access), access.site) in self._started:
                said = self._begun(access)[1].place
            return f"BD {access.site}, {said}" if said else f"BD {access.site}"
        running = self._engine.cores.running.get(access.agent - FIRST_CHANNEL - self._channels)
        outside = running.core.outside.place_of(access.site) if running else ""
        return outside or place_said(running.function if running else None, access.site)

    def text(self, access: RaceAccess) -> str:
        """The name, and which of its BDs or lines."""
        is_core = access.agent >= FIRST_CHANNEL + self._channels
        if not is_core:
            return ", ".join(filter(None, [self.name(access), self.place(access).split(",")[0]]))
        running = self._engine.cores.running.get(access.agent - FIRST_CHANNEL - self._channels)
        outside = running.core.outside.place_of(access.site) if running else ""
        place = outside or (f"line {access.site}" if access.site else "")
        return ", ".join(filter(None, [self.name(access), place]))

    def handed(self, giver: RaceAccess, taker: RaceAccess) -> bool:
        """Whether one gives a lock that the other one takes."""
        return bool(self._given(giver) & self._taken(taker))

    def gives_any(self, access: RaceAccess) -> bool:
        """Whether it gives a lock at all."""
        return bool(self._given(access))

    def has_data_early(self, reader: RaceAccess, writer: RaceAccess) -> bool:
        """Whether a lock that the writer gives to the reader says at the start that there is data."""
        return any(self._began[lock] > 0 for lock in self._given(writer) & self._taken(reader))

    def room_locks(self, reader: RaceAccess, writer: RaceAccess) -> set[int]:
        """Locks by which a reader gives room to a writer."""
        return self._given(reader) & self._taken(writer)

    def swap_texts(self, swap: Swap) -> tuple[str, str]:
        """What a release to the wrong lock does, and the repair."""
        giver, given, meant = called(self._engine, swap.giver), self._lock(swap.gives), self._lock(swap.meant)
        waiting = called(self._engine, swap.waiting)
        says = f"{giver} takes what {waiting} gives and releases {given}, while nothing releases {meant}"
        return f"{says}.", f"Let {giver} release {meant}."

    def reader_first(self, reader: RaceAccess, writer: RaceAccess) -> bool | None:
        """Whether the reader was meant to come first, as far as the design says; None = it does not.

        A host starts tasks in the order that it means. A writer that gets its words from the reader cannot
        come first.
        """
        if self.host_starts(reader) and self.host_starts(writer):
            begun = [self._begun(each)[0] for each in (reader, writer)]
            return begun[0] < begun[1] if begun[0] != begun[1] else None
        locks = [self._given(reader), self._taken(reader), self._given(writer), self._taken(writer)]
        return True if not any(locks) and self._sends_to(reader, writer) else None

    def _begun(self, access: RaceAccess) -> tuple[int, StartedBd]:
        """Return the start of a host, and its number, to which an access of a channel belongs.

        A BD may have been started again with other words.
        """
        starts = self._started[self._channel(access), access.site]
        before = [each for each in starts if each[1].cycle <= access.cycle]
        return before[-1] if before else starts[0]

    def _sends_to(self, reader: RaceAccess, writer: RaceAccess) -> bool:
        """Whether the words that a channel reads go to the other one."""
        engine, switch = self._engine, plain(self._engine.state.switch)
        if self._is_core(reader) or self._is_core(writer) or HOST in (reader.agent, writer.agent):
            return False
        source = int(engine.channels.switch_port[self._channel(reader)])
        ends = reached([source], lambda port: configured_ways(engine, port)) if source >= 0 else ()
        return any(switch.is_master[end] and switch.channel[end] == self._channel(writer) for end in ends)

    def too_much_room(self, reader: RaceAccess, writer: RaceAccess) -> bool:
        """Whether a lock by which a reader gives a writer room has more of it than at the start."""
        return any(self._left_over(lock) > 0 for lock in self.room_locks(reader, writer))

    def began_text(self, reader: RaceAccess, writer: RaceAccess) -> str:
        """``lock 1 'full' starts at 1: ``, if that lets a reader go before there is data; else empty."""
        number = min(self._given(writer) & self._taken(reader), default=-1)
        began = int(self._began[number]) if number >= 0 else 0
        return f"{self._lock(number)} starts at {began}: " if began else ""

    def full_from_the_start(self, reader: RaceAccess) -> tuple[str, str]:
        """The lock that says to a channel that there is data before anything has come, and the repair.

        That is sure of the first pass of its chain alone, and where nobody else takes from the lock: what it
        began with lets the BD go after those before it. Where several BDs take from it, one of them may have
        data at the start. Empty if there is no such lock.
        """
        if self._is_core(reader) or reader.agent == HOST or self._positions(reader) > 1:
            return "", ""
        ch, engine = self._channel(reader), self._engine
        taken = min(self._taken(reader), default=-1)
        kernels = any(taken in running.taken for running in engine.cores.running.values())
        takes = [(bd, step) for bd, lock, step in self._takes(ch) if lock == taken]
        numbers = [bd for bd, _ in takes]
        if kernels or set(self._steps[0].get(taken, {})) != {ch} or reader.site not in numbers:
            return "", ""
        needed = sum(abs(step) for _, step in takes[: numbers.index(reader.site) + 1])
        if needed > self._began[taken] or engine.channels.tasks_done[ch] + bool(self._chains.of(ch)) > 1:
            return "", ""  # what another task has taken before is not known
        fix = "Initialise it to 0, acquire the lock that the writer of the buffer gives, or fill it."
        if len(takes) > 1:
            few = "or initialise the lock to the number of buffers that have data at the start"
            fix = f"Fill the buffer, send one first that has data, {few}."
        return f"{self._lock(taken)} starts at {self._began[taken]}", fix

    def _takes(self, ch: int) -> Iterable[tuple[int, int | None, int]]:
        """The BDs of a channel that acquire a lock, in their order, with the lock and the operand."""
        tile = int(self._engine.channels.tile[ch])
        for number, bd in self._chains.present():
            if number == ch and (step := self._chains.acquired(ch, bd)) is not None:
                yield bd, lock_seen(self._engine, tile, step[0]), step[1]

    def data_fix(self, reader: RaceAccess, writer: RaceAccess) -> str:
        """A repair that orders a read after a write."""
        common = self._given(writer) & self._taken(reader)
        if not common:
            return self.order_fix(writer, reader, "read")
        number = min(common)
        lock, reads = self._lock(number), self.text(reader)
        if self._began[number]:
            return (
                f"{lock} lets the reader go before there is data: initialise it to 0, or acquire more of it."
            )
        if units := self._too_few(number, reader):
            return f"Let {reads} acquire {units}."
        if self._is_core(reader):
            if self._left_over(number) <= 0:
                room = self._locks_text(self._given(reader) & self._taken(writer), "read")
                turn = f"acquire {lock} before each read{room}"
                return f"Let {reads} {turn}, and read the buffer that is full then."
            return f"Let {reads} acquire {lock} before each read, once for each buffer."
        if self._is_core(writer):
            if self._left_over(number) <= 0:
                turn = f"release {lock} only after its write"
                return f"Let {self.text(writer)} {turn}, and write the buffer that is free then."
            return f"Let {self.text(writer)} release {lock} only after its write, once for each buffer."
        return self._own_lock(number, writer, reader) or self._same_order(lock)

    def _own_lock(self, lock: int, writer: RaceAccess, reader: RaceAccess) -> str:
        """A repair of two pairs of channels that count their buffers by one lock; else empty."""
        takers, givers = (self._steps[n].get(lock, {}) for n in (0, 1))
        if len(takers) < 2 or len(givers) < 2:
            return ""
        all_of_them = _listed([called(self._engine, ch) for ch in givers])
        own = f"Give {self.text(writer)} and {self.text(reader)} a lock of their own"
        return f"{own}: {self._lock(lock)} counts the buffers of {all_of_them} together."

    def room_fix(self, reader: RaceAccess, writer: RaceAccess) -> str:
        """A repair that orders a write after a read."""
        common = self._given(reader) & self._taken(writer)
        if not common and self._sends_to(reader, writer):
            read = f"words that {self.text(reader)} has read before"
            return f"Let {self.text(writer)} write another buffer, or {read}."
        if not common:
            return self.order_fix(reader, writer, "write")
        number = min(common)
        lock, began, buffers = self._lock(number), int(self._began[number]), self._buffers(number)
        if buffers and began > buffers:
            return (
                f"Initialise {lock} to {buffers}, the number of buffers: {began} is more room than there is."
            )
        writes = self.text(writer)
        if units := self._too_few(number, writer):
            begin = buffers * sum(self._givers(number).values())
            return f"Let {writes} acquire {units}" + (f", and initialise it to {begin}." if buffers else ".")
        if self._is_core(writer):
            return self._core_waits(number, reader, writer)
        if self._is_core(reader):
            if (more := self._left_over(number)) > 0:
                says = f"at the end the lock has {more} more than at the start"
                return (
                    f"Let {self.text(reader)} release {lock} once for each buffer that it acquires: {says}."
                )
            return f"Let {self.text(reader)} release {lock} only after its last read, once for each buffer."
        return self._same_order(lock)

    def _core_waits(self, number: int, reader: RaceAccess, writer: RaceAccess) -> str:
        """A repair of a core that writes before the lock by which its reader gives it room is its own."""
        lock, began, buffers = self._lock(number), int(self._began[number]), self._buffers(number)
        writes = self.text(writer)
        idle = max(0, (buffers or 1) - began)  # units that a first write need not wait for
        if self._left_over(number) <= idle and self._is_core(reader):
            after = f"Let {self.text(reader)} release {lock} only after its last read"
            turns = f"{after}, and let {writes} acquire it before each write."
            if began > 1 and not buffers:  # how many buffers cores share by it, nothing says
                one = f"If {lock} counts one buffer alone, initialise it to 1 instead of {began}; else"
                return f"{one} {turns[0].lower()}{turns[1:]}"
            return turns
        if self._left_over(number) <= 0:
            data = self._locks_text(self._given(writer) & self._taken(reader), "write")
            turn = f"acquire {lock} before each write{data}"
            return f"Let {writes} {turn}, and write the buffer that is free then."
        return f"Let {writes} acquire {lock} before each write, once for each buffer."

    def beside_fifo(self, reader: RaceAccess, writer: RaceAccess, words: str) -> str:
        """A repair of words of two cores that only the objects of a FIFO order, which they are no part of."""
        common = self.room_locks(reader, writer)
        fifos = {
            lock: self._engine.fifo_locks[lock].fifo for lock in common if lock in self._engine.fifo_locks
        }
        both = self._is_core(reader) and self._is_core(writer)
        if not both or not fifos or len(fifos) < len(common) or any(f"'{n}" in words for n in fifos.values()):
            return ""
        lock, name = min(fifos.items())
        ahead = f"@{name} lets {self.text(writer)} be {int(self._began[lock])} objects ahead"
        return f"Pass them through an object FIFO, or guard them by locks of their own: {ahead}."

    def other_turns(self, reader: RaceAccess, writer: RaceAccess) -> str:
        """A repair of two channels whose iterations begin again after other numbers of runs; else empty."""
        if any(self._is_core(each) or each.agent == HOST for each in (reader, writer)):
            return ""
        runs = {each: self._positions(each) for each in (writer, reader)}
        room = {int(self._began[lock]) for lock in self.room_locks(reader, writer)}
        odd, other = (reader, writer) if runs[writer] in room else (writer, reader)
        if runs[odd] == runs[other] or 1 in runs.values():
            return ""
        step = f"it begins again after {runs[odd]} runs, {self.text(other)} after {runs[other]}"
        return f"Give the iteration of {self.text(odd)} a wrap of {runs[other]}: {step}."

    def _positions(self, access: RaceAccess) -> int:
        """After how many runs the iteration of a BD begins again."""
        tile = int(self._engine.channels.tile[self._channel(access)])
        return int(bd_fields.read_field(self._engine.state, tile, access.site, bd_fields.ITERATION_WRAP))

    def unwritten_fix(self, reader: RaceAccess) -> str:
        """A repair for words that are read and that nobody writes."""
        if self._is_core(reader):
            own = "Let the core write them before it reads them"
            return f"{own}, give the buffer data, or let its writer release a lock that the core acquires."
        for lock in sorted(self._taken(reader)):
            if givers := [ch for ch in self._steps[1].get(lock, {}) if ch != self._channel(reader)]:
                who, what = _listed([called(self._engine, ch) for ch in givers]), self._lock(lock)
                return (
                    f"Read the buffer that {who} writes before the release of {what}, or give this one data."
                )
            cores = [name for name in self._givers(lock) if name.startswith("core")]
            if cores:
                early = f"before it releases {self._lock(lock)}"
                return f"Let {_listed(cores)} write them {early}, or give the buffer data."
        return "Give the buffer data, or let its writer release a lock that the reader acquires."

    def _locks_text(self, given: set[int], does: str) -> str:
        """`` and release lock 1 'free' only after it``: where one of two that take turns is too early."""
        return f" and release {self._lock(min(given))} only after the last {does}" if given else ""

    def _left_over(self, lock: int) -> int:
        """What a lock has more than at the start."""
        return int(self._engine.state.locks.value[lock]) - int(self._began[lock])

    def _givers(self, lock: int) -> dict[str, int]:
        """Names of those who release a lock, and how much they release at once; of cores one is assumed."""
        found = {called(self._engine, ch): value for ch, value in self._steps[1].get(lock, {}).items()}
        for core, running in sorted(self._engine.cores.running.items()):
            if lock in running.released:
                found[f"{core_name(self._engine, core)} (kernel {running.kernel!r})"] = 1
        return found

    def _too_few(self, lock: int, taker: RaceAccess) -> str:
        """What to acquire if several release a lock and its taker waits for fewer units; else empty."""
        givers = self._givers(lock)
        units = 1 if self._is_core(taker) else abs(self._steps[0].get(lock, {}).get(self._channel(taker), 0))
        if len(givers) == 1 or self._left_over(lock) <= 0 or not 0 < units < sum(givers.values()):
            return ""
        return f"{sum(givers.values())} of {self._lock(lock)}, which {_listed(list(givers))} release"

    def _same_order(self, lock: str) -> str:
        """A repair of two channels that do wait for each other: of which buffer, they disagree."""
        return f"Let both go through the buffers in one order, with one unit of {lock} for each buffer."

    def _channel(self, access: RaceAccess) -> int:
        return access.agent - FIRST_CHANNEL

    def _is_core(self, access: RaceAccess) -> bool:
        return access.agent >= FIRST_CHANNEL + self._channels

    def _buffers(self, lock: int) -> int:
        """Units of a lock that BDs of its tile take, each buffer once, or give where none takes any."""
        taken: dict[int, int] = {}
        given: dict[int, int] = {}
        engine, (tile, _) = self._engine, owner(self._engine, lock)
        state, kind = engine.state, TILE_KINDS[KIND_NAMES[int(plain(engine.spec.tiles).kind[tile])]]
        for bd in range(kind.bds):
            read = partial(bd_fields.read_field, state, tile, bd)
            if not read(bd_fields.VALID_BD):
                continue
            base, takes = int(read(bd_fields.BASE_ADDRESS)), bool(read(bd_fields.ACQUIRE_ENABLE))
            runs = int(read(bd_fields.ITERATION_WRAP))
            if takes and lock_seen(engine, tile, int(read(bd_fields.ACQUIRE_ID))) == lock:
                taken[base] = runs * abs(int(read(bd_fields.ACQUIRE_VALUE)))
            if (
                read(bd_fields.RELEASE_VALUE)
                and lock_seen(engine, tile, int(read(bd_fields.RELEASE_ID))) == lock
            ):
                given[base] = runs * abs(int(read(bd_fields.RELEASE_VALUE)))
        return sum(taken.values()) or sum(given.values())

    def order_fix(self, first: RaceAccess, then: RaceAccess, does: str) -> str:
        """A repair that orders one access before the other."""
        if first.agent == HOST:
            if self._is_core(then):
                lock = "a lock that the host gives afterwards (aiex.set_lock, WorkerRuntimeBarrier.set)"
                starts = "have the host do this before it starts the transfers that the core waits for"
                return f"Let {self.text(then)} acquire {lock} before the {does}, or {starts}."
            return f"Have the host do this before it starts {self.text(then)}."
        if then.agent == HOST:
            late = f"Have the host wait for {self.text(first)} before it {_DOES[does]}"
            if not self._is_core(first) or does != "write":
                return f"{late}."
            return f"{late}, or write before it lets the core go (aiex.set_lock, WorkerRuntimeBarrier.set)."
        if self.host_starts(first) and self.host_starts(then):
            return f"Have the host wait for the end of {self.text(first)} before it starts {self.text(then)}."
        given = self._given(first) - self._taken(then)
        if given:
            lock = self._lock(min(given))
            return (
                f"Let {self.text(then)} acquire {lock}, which {self.text(first)} releases, before the {does}."
            )
        if self._is_core(first) and self._is_core(then) and self._has_cascade(first, then):
            done = "write" if does == "read" else "last read"
            return f"Let {self.text(first)} put its value on the cascade only after its {done}."
        return f"Let {self.text(first)} release a lock that {self.text(then)} acquires before the {does}."

    def apart_fix(self, first: RaceAccess, then: RaceAccess) -> str:
        """A repair for two writes of the same words."""
        words = "Let each write words of its own"
        if self._have_no_lock(first, then):
            return f"{words}, or have the host wait for the end of one before it starts the other."
        ordered = self.order_fix(first, then, "write")
        return f"{words}, or {ordered[0].lower()}{ordered[1:]}"

    def _have_no_lock(self, first: RaceAccess, then: RaceAccess) -> bool:
        """Whether no lock is in reach of two channels: one is of another interface tile."""
        if any(self._is_core(each) or each.agent == HOST for each in (first, then)):
            return False
        tiles = {int(self._engine.channels.tile[self._channel(each)]) for each in (first, then)}
        kinds = {KIND_NAMES[int(plain(self._engine.spec.tiles).kind[tile])] for tile in tiles}
        return len(tiles) > 1 and any(TILE_KINDS[kind].role == "interface" for kind in kinds)

    def _has_cascade(self, first: RaceAccess, then: RaceAccess) -> bool:
        """Whether a core has taken values of another one from its cascade."""
        one, other = (self._channel(each) - self._channels for each in (first, then))
        cascades = self._engine.state.cascades
        return receiver(self._engine.state, one) == other and cascades.in_taken[other] > NEVER

    def host_starts(self, access: RaceAccess) -> bool:
        """Whether a host has started the task during the run, and its BD has no lock."""
        if self._is_core(access) or access.agent == HOST or self._given(access) or self._taken(access):
            return False
        return (self._channel(access), access.site) in self._started

    def _given(self, access: RaceAccess) -> set[int]:
        return self._locks(access, bd_fields.RELEASE_VALUE, bd_fields.RELEASE_ID, "released")

    def _taken(self, access: RaceAccess) -> set[int]:
        return self._locks(access, bd_fields.ACQUIRE_ENABLE, bd_fields.ACQUIRE_ID, "taken")

    def _locks(self, access: RaceAccess, enable: int, lock: int, by_kernel: str) -> set[int]:
        """Locks that a BD, or a kernel so far, takes or gives; indices among all of the model."""
        if access.agent == HOST:
            return set()
        ch = access.agent - FIRST_CHANNEL
        if ch >= self._channels:
            running = self._engine.cores.running.get(ch - self._channels)
            return set(getattr(running, by_kernel)) if running else set()
        state, tile = self._engine.state, int(self._engine.channels.tile[ch])
        if int(bd_fields.read_field(state, tile, access.site, enable)) == 0:
            return set()
        seen = lock_seen(self._engine, tile, int(bd_fields.read_field(state, tile, access.site, lock)))
        return set() if seen is None else {seen}

    def _lock(self, lock: int) -> str:
        return lock_text(self._engine, lock)


def _listed(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
