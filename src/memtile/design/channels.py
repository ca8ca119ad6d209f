"""DMA channels as a design uses them: tasks made of transfers, beside what happens at the stream port.

The module has over 600 lines because a channel and its stream port, at which a test bench offers, takes and
compares words, are one object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property, partial
from operator import index
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from memtile.access.lowering.certificate import QueueEntry
from memtile.arch.register_map import register_at
from memtile.arch.registers import WORD_BITS, Register
from memtile.arch.tiles import DIRECTIONS, S2MM, WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.design.arguments import refuse, whole
from memtile.design.buffers import dtype_of
from memtile.design.chains import TaskPlan, as_tried, begins_again, chain_words, plan_of
from memtile.design.packet_ports import sent
from memtile.design.transfers import Transfer
from memtile.design.undo import undoable
from memtile.errors import DesignError, Problem, raise_if
from memtile.explain.checks import Check, types_note
from memtile.explain.mismatch_causes import cause_in_buffer
from memtile.explain.names import channel_name
from memtile.explain.value_causes import MismatchCause
from memtile.model.dma.task_queue import room as room_of
from memtile.model.state.causes import Phase
from memtile.sim.loop.timing_only import look_for_words
from memtile.sim.ports.feed import Gathered, equal
from memtile.sim.races.run_checks import outside_call

if TYPE_CHECKING:
    from memtile.design.tile import Tile

Array = npt.NDArray[Any]

SIDES = "AM020: S2MM writes memory, MM2S reads it"


class StreamPort:
    """Where the words of a channel enter or leave the tile.

    Args:
        tile: the tile it belongs to.
        direction: ``arch.tiles.S2MM`` or ``MM2S``.
        number: of the channel.

    Attributes:
        index: model number of the channel.
        dtype: element type of what is collected.
        moves: the buffers that its transfers read or write, with the types of their elements.
        taken: whether it is collected.
        fed: whether it was offered words.
    """

    moves: Mapping[str, np.dtype[Any]] = undoable()

    def __init__(self, tile: Tile, direction: int, number: int) -> None:
        self._tile, self._direction, self._number = tile, direction, number
        self.journal = tile.bench.journal
        self._local = direction * tile.kind.channels + number
        self.index = tile.first_channel + self._local
        self._expected: list[Array] = []  # flat; joined when somebody looks, not at each array
        self._gathered = Gathered()  # whose last array is the last one of these
        self._shapes: list[tuple[int, ...]] = []  # of the arrays that are expected, one after the other
        self.moves = {}
        self.dtype: np.dtype[Any] = np.dtype(np.uint32)
        self.taken = self.fed = False

    @property
    def tile(self) -> Tile:
        """The tile it belongs to."""
        return self._tile

    @property
    def port(self) -> str:
        """Direction and number: ``S2MM 0``."""
        return f"{DIRECTIONS[self._direction]} {self._number}"

    @property
    def expected(self) -> Array | None:
        """The expected elements, flat; None = no comparison."""
        if len(self._expected) > 1:
            self._expected, self._gathered = [np.concatenate(self._expected)], Gathered()
        return self._expected[0] if self._expected else None

    @cached_property
    def name(self) -> str:
        """The port, after the tile's place in an array: ``memory(0,1) MM2S 0``."""
        return channel_name(self._tile.engine, self.index)

    @property
    def label(self) -> str:
        """The design's name for the channel: its own or that of its object FIFO; empty = none."""
        return self._tile.engine.channel_names.get(self.index, "")

    def named(self, label: str) -> Self:
        """Name the channel for results and messages, which show the name beside ``memory(0,1) MM2S 0``."""
        self._tile.bench.post(lambda: self._tile.engine.channel_names.update({self.index: label}))
        return self

    @property
    def number(self) -> int:
        """Number within its direction."""
        return self._number

    @property
    def receives(self) -> bool:
        """True for S2MM."""
        return self._direction == S2MM

    def feed(self, data: Array, pattern: Iterable[int] | None = None) -> None:
        """Offer the bytes of ``data`` at the stream port, one word per cycle, or as ``pattern`` allows.

        Args:
            data: any array of whole 32-bit words, taken in C order; elements of up to 32 bits, or longer
                whole numbers that 32 bits hold exactly, such as those of ``np.arange(8)``. One element for
                all, as ``np.broadcast_to`` makes it, takes the memory of one word.
            pattern: repeating 0/1 readiness per cycle, with at least one 1.

        Raises:
            DesignError: an MM2S channel, a size that is not a multiple of 4 bytes, longer elements, or an
                invalid pattern.
        """
        self._must_be(S2MM, "feed")
        given = self._elements(data, "feed")
        words, ready = _words(given, self.name), self._readiness(pattern)
        self._tile.engine.feed(self.index, words)
        self.fed = True
        self._pace(ready)

    def collect(self, dtype: npt.DTypeLike = np.uint32, pattern: Iterable[int] | None = None) -> None:
        """Collect every word of the stream port; the result has them as a flat array of ``dtype``.

        Raises:
            DesignError: an S2MM channel, an invalid pattern, or a type other than that of the expected
                elements.
        """
        self._must_be(1 - S2MM, "collect")
        wanted, ready = dtype_of(dtype, self.name), self._readiness(pattern)
        if self._expected and wanted != self._expected[0].dtype:
            step = "Convert one of them with .astype or .view."
            allowed, source = f"{self._expected[0].dtype}, as expected before", "one array is compared"
            raise DesignError(self._problem("dtype", str(wanted), allowed, source, step))
        self.dtype, self.taken = wanted, True
        self._tile.engine.catch(self.index)
        self._pace(ready)

    def expect(self, data: Array, pattern: Iterable[int] | None = None) -> None:
        """Collect the output and compare it with ``data`` in C order, after all earlier expected elements.

        Args:
            data: as for :meth:`feed`.
            pattern: as for :meth:`feed`.

        Raises:
            DesignError: an S2MM channel, elements that 32 bits cannot hold or of a type other than the
                earlier ones, or an invalid pattern.
        """
        given = self._elements(data, "expect")
        self.collect(given.dtype, pattern)
        self._shapes.append(given.shape)
        self._expected[-1:] = self._gathered.add(given) or [given.ravel()]

    def output(self) -> Array:
        """Return the elements collected so far; a tail shorter than one element is left out.

        Raises:
            DesignError: after a run without words.
        """
        look_for_words(self._tile.engine, self.name, "outputs")
        return self.output_so_far()()

    def output_so_far(self) -> Callable[[], Array]:
        """Return a function that makes the present :meth:`output` when it is called."""
        taken, dtype = self._tile.engine.taken(self.index), self.dtype
        return lambda: _elements_of(taken.words(), dtype)

    def check(self) -> Check | None:
        """Compare the output with the expected elements, if any; without words, only the lengths."""
        if not self._expected:
            return None
        engine, size, count = self._tile.engine, self.dtype.itemsize, sum(map(len, self._expected))
        if engine.wordless:
            missing = count - engine.words_caught(self.index) * WORD_BYTES // size
            return Check(self.name, count, max(missing, 0), max(-missing, 0), None)
        taken = engine.taken(self.index)
        got = _elements_of(taken.first(-(-(count + 1) * size // WORD_BYTES)), self.dtype)
        if self._is_expected(got):
            return Check(self.name, count, 0, 0, None)
        expected = np.concatenate(self._expected)
        note = types_note(expected.dtype, list(self.moves.values()))
        more = len(taken) * WORD_BYTES // size - len(got)
        found = Check.compare(self.name, got, expected, self._shapes, note, more=more)
        cause = self._cause_in_buffer(got, expected) if found.is_open else None
        return replace(found, cause=cause) if cause else found

    def _cause_in_buffer(self, got: Array, expected: Array) -> MismatchCause | None:
        """Which elements of the one buffer that was read came, and which were expected."""
        buffers = [each for each in self._tile.buffers if each.name in self.moves]
        if len(self.moves) != 1 or len(buffers) != 1 or buffers[0].dtype != expected.dtype:
            return None
        return cause_in_buffer(got, expected, self._tile.load(buffers[0]).ravel(), buffers[0].name)

    def _is_expected(self, got: Array) -> bool:
        """Whether that is all that is expected, and nothing else."""
        at = 0
        for wanted in self._expected:
            if at + len(wanted) > len(got) or not equal(got[at : at + len(wanted)], wanted):
                return False
            at += len(wanted)
        return at == len(got)

    def _elements(self, data: npt.ArrayLike, verb: str) -> Array:
        """Data as an array whose elements are no longer than a stream word: none goes as two by accident.

        Raises:
            DesignError: longer elements that 32 bits do not hold, or of buffers with shorter ones; objects.
        """
        given = np.asarray(data)
        if not given.dtype.hasobject and given.itemsize <= WORD_BYTES:
            return given
        others = {dtype for dtype in self.moves.values() if dtype.itemsize != WORD_BYTES}
        fitting = None if others else _in_words(given)
        if fitting is not None:
            return fitting
        step = "Say dtype=np.int32, or send both halves on purpose with .view(np.uint32)."
        allowed = f"elements of {WORD_BYTES} bytes or less, or whole numbers that these hold exactly"
        says = (
            f"the data to {verb} has type {given.dtype}; its elements must have {WORD_BYTES} bytes or less, "
        )
        says += "or be whole numbers that these hold exactly"
        if others:
            other = min(map(str, others))
            allowed, step = f"{other}, as the buffer has", f"Convert it with .astype(np.{other})."
            says = f"the data to {verb} has type {given.dtype}, the buffer has {other}"
        source = "AM020: 32-bit streams"
        problem = self._problem("stream_dtype", f"{given.dtype}", allowed, source, step, says=says)
        raise DesignError(problem)

    def _readiness(self, pattern: Iterable[int] | None) -> list[int] | None:
        """The pattern once it is known to let a word through now and then."""
        if pattern is None:
            return None
        ready = list(pattern) if isinstance(pattern, Iterable) else []
        if 1 not in ready or any(value not in (0, 1) for value in ready):
            step = "Give one such as [1, 1, 0], which is ready in two of three cycles."
            allowed, source = "zeros and at least one 1", "readiness per cycle, repeating"
            raise DesignError(self._problem("pattern", repr(pattern), allowed, source, step))
        return ready

    def _pace(self, ready: list[int] | None) -> None:
        if ready is not None:
            self._tile.engine.pace(self.index, np.asarray(ready, dtype=np.int64))

    def _must_be(self, direction: int, verb: str) -> None:
        if self._direction != direction:
            allowed = f"{DIRECTIONS[direction]} channels"
            says = f"{verb} is for {allowed}"
            raise DesignError(self._problem(verb, self.port, allowed, SIDES, says=says))

    def _problem(
        self, name: str, given: str, allowed: str, source: str, step: str = "", *, says: str = ""
    ) -> Problem:
        return Problem(
            name,
            given,
            allowed,
            says,
            step,
            reason=name.replace(" ", "_"),
            where=f"{self._tile.title}, {self.port}",
            source=source,
        )


def _elements_of(words: npt.NDArray[np.uint32], dtype: np.dtype[Any]) -> Array:
    whole = words.nbytes // dtype.itemsize * dtype.itemsize
    return words.view(np.uint8)[:whole].view(dtype)


def _words(data: Array, name: str) -> npt.NDArray[np.uint32]:
    if data.nbytes % WORD_BYTES:
        raise DesignError.of(
            "data",
            f"{data.nbytes} bytes",
            f"a multiple of {WORD_BYTES}",
            f"the data has {data.nbytes} bytes; it must have a multiple of {WORD_BYTES}",
            "Pad the array.",
            reason="feed",
            where=name,
            source="AM020: 32-bit streams",
        )
    if _is_one(data) and WORD_BYTES % data.itemsize == 0:
        word = np.full(WORD_BYTES // data.itemsize, data.flat[0], data.dtype).view(np.uint32)
        return np.broadcast_to(word, (data.nbytes // WORD_BYTES,))
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8).view(np.uint32)


def stream_words_of(data: npt.ArrayLike, name: str) -> npt.NDArray[np.uint32]:
    """Return the words of a stream that an array is.

    Args:
        data: elements of up to 32 bits that fill whole words, or longer whole numbers that 32 bits hold.
        name: of the stream, for messages.

    Raises:
        DesignError: no whole words, or longer elements.
    """
    given = np.asarray(data)
    if given.dtype.hasobject or given.itemsize > WORD_BYTES:
        fitting = None if given.dtype.hasobject else _in_words(given)
        if fitting is None:
            raise DesignError.of(
                "data",
                f"elements of type {given.dtype}",
                f"elements of {WORD_BYTES} bytes or less, or whole numbers that these hold exactly",
                next_step="Send both halves of longer ones on purpose with .view(np.uint32).",
                reason="stream_dtype",
                where=name,
                source="AM020: 32-bit streams",
            )
        given = fitting
    return _words(given, name)


def _is_one(data: Array) -> bool:
    """Whether the array is one element, again and again."""
    return data.size > 1 and not any(data.strides)


def _in_words(given: Array) -> Array | None:
    """Whole numbers of more than 32 bits as such of 32 bits, if these hold all of them exactly."""
    if _is_one(given):
        one = _in_words(given.flat[:1])
        return None if one is None else np.broadcast_to(one[0], given.shape)
    narrow: Mapping[str, tuple[type[np.integer[Any]], ...]] = {"i": (np.int32, np.uint32), "u": (np.uint32,)}
    for dtype in narrow.get(given.dtype.kind, ()):
        fitting = given.astype(dtype)
        if np.array_equal(fitting, given):
            return fitting
    return None


_SAID: ContextVar[str] = ContextVar("where a design says a descriptor", default="")


@contextmanager
def said_at(place: str) -> Iterator[None]:
    """Context in which descriptors are said at a place such as ``graph.h:12``; empty = at their call."""
    token = _SAID.set(place)
    try:
        yield
    finally:
        _SAID.reset(token)


def call_site() -> str:
    """``design.py:12``: the innermost call from outside the package; empty if there is none."""
    return _SAID.get() or outside_call()


class Channel(StreamPort):
    """One DMA channel of a tile; made by its tile.

    Args:
        tile: the tile it belongs to.
        direction: ``arch.tiles.S2MM`` or ``MM2S``.
        number: within its direction.

    Attributes:
        packets: ids in the headers of the packets it sends; None among them = words without a header.
    """

    claimed: bool = undoable()
    packets: frozenset[int | None] = undoable()
    _begun: bool = undoable()
    _posted: int = undoable()  # tasks whose start is not written yet, at the end of a step

    def __init__(self, tile: Tile, direction: int, number: int) -> None:
        super().__init__(tile, direction, number)
        self.claimed = self._begun = False
        self._posted = 0
        self.packets = frozenset()

    def __repr__(self) -> str:
        free = self._tile.bd_pool.free(self._number)
        return f"Channel({self.name}: {free} BDs free, {self._queued()} of {self._depth} tasks queued)"

    def start(
        self, *work: Transfer | Descriptor, repeat: int = 1, loop: bool = False, token: bool = False
    ) -> tuple[int, ...]:
        """Write the descriptors of ``work`` as one chain, or as several if that saves BDs, and push them.

        When no BDs are free, the channel reuses those of finished tasks. A transfer of several runs or tasks
        becomes one or more separate tasks; where the queue has no room for them, and in a ring, all work is
        one chain.

        Args:
            work: transfers or single descriptors, executed in order.
            repeat: number of runs of all the work; a task has 1..256 runs.
            loop: close the chain into a ring that never ends; then ``repeat`` must be 1.
            token: request a task-complete token; of several tasks, after the last.

        Returns:
            The BD numbers used.

        Raises:
            DesignError: too few free BDs for the channel, task queue full, repeat out of range or no whole
                number.
            TransferError: a transfer in a ring needs too many descriptors in one run.
            DescriptorError: a descriptor that the tile cannot hold, or a walk that leaves the DMA address
                space.
        """
        refuse(f"{self._tile.title}, {self.port}", whole("repeat", repeat))
        repeat, transfers = index(repeat), self._transfers(work)
        room = self._room()
        plan = plan_of(sent(self, transfers, self._tile.bench.buses), repeat, room, loop=loop)
        self._check(repeat, loop, plan, room)
        if repeat > 1:
            raise_if([*self._unrepeatable(transfers)], DesignError)
        return self._start(plan, transfers, token=token)

    def start_out_of_order(self, *work: Transfer | Descriptor, packets: int) -> tuple[int, ...]:
        """Let the header of each packet choose the descriptor that stores it (AM020: out-of-order S2MM).

        Args:
            work: destinations of the packets, one descriptor each; senders name it, see ``Stream.packets``.
            packets: number of packets to receive, 1..256.

        Returns:
            The BD numbers, in the order of ``work``.

        Raises:
            DesignError: an MM2S channel, a transfer of several descriptors; and as for :meth:`start`.
        """
        self._must_be(S2MM, "start_out_of_order")
        refuse(f"{self._tile.title}, {self.port}", whole("packets", packets))
        packets = index(packets)
        transfers = [
            transfer.in_one_run() for transfer in sent(self, self._transfers(work), self._tile.bench.buses)
        ]
        plan = TaskPlan((QueueEntry(tuple(t.descriptors[0] for t in transfers), packets),), chained=False)
        self._check(packets, False, plan, self._room())
        if any(len(t.descriptors) > 1 or not t.is_one_run for t in transfers):
            given, allowed = "a transfer of several descriptors", "one descriptor for each place"
            says = "a transfer has several descriptors; out of order each place has one"
            source = "AM020: the header names one BD"
            raise DesignError(self._problem("work", given, allowed, source, says=says))
        with self._tile.bench.all_or_nothing():
            self._control(Enable_Out_of_Order=1)
            return self._start(plan, transfers)

    def pad_with(self, value: int) -> None:
        """Set the padding word of this MM2S channel (AIE2P, AIE-ML v2: DMA_MM2S_n_Constant_Pad_Value).

        Raises:
            DesignError: an S2MM channel, a tile that pads with zeros only, or a value that is not a 32-bit
                word.
        """
        self._must_be(1 - S2MM, "pad_with")
        base = self._tile.kind.pad_value_base
        source = "AM029 DMA_MM2S_n_Constant_Pad_Value"
        if not base:
            title = self._tile.kind.title
            says = f"the {title} pads with zeros; only tiles of AIE2P and AIE-ML v2 take another word"
            given, allowed = f"a word for a {title}", "tiles of AIE2P and AIE-ML v2"
            raise DesignError(self._problem("pad_with", given, allowed, f"AM020: zeros; {source}", says=says))
        if not 0 <= value < 1 << WORD_BITS:
            allowed = f"0..{(1 << WORD_BITS) - 1}"
            says = f"the word to pad with is {value}, allowed are {allowed}"
            raise DesignError(self._problem("pad_with", str(value), allowed, source, says=says))
        self._tile.post_word(base + self._number * WORD_BYTES, value)

    def status(self) -> dict[str, int]:
        """Return the fields of the channel's status register, by their AM025 names."""
        kind = self._tile.kind
        register = self._register(kind.status_base[self._direction] + self._number * WORD_BYTES)
        return register.unpack(self._tile.own_door.read32(register.offset))

    @property
    def started(self) -> bool:
        """Whether the channel was ever given work."""
        return self._begun

    @property
    def at_rest(self) -> bool:
        """Whether all its tasks have finished without error, so that nothing reads their BDs any more."""
        channels, i = self._tile.engine.channels, self.index
        idle = channels.phase[i] == Phase.IDLE and channels.queue_count[i] == 0
        return bool(idle and not channels.errors[i] and not self._posted)

    @property
    def full(self) -> bool:
        """Whether one more task would be dropped."""
        return self._room() < 1

    @property
    def tasks_done(self) -> int:
        """Tasks finished so far."""
        return int(self._tile.engine.state.channels.tasks_done[self.index])

    @property
    def tasks_open(self) -> int:
        """Tasks waiting in its queue, plus the running one (AM025: Task_Queue_Size, Channel_Running)."""
        runs = self._tile.engine.state.channels.phase[self.index] != Phase.IDLE
        return self._queued() + int(runs)

    def give_back(self, bds: Sequence[int]) -> None:
        """Release the BDs of a finished task."""
        self._tile.bd_pool.release(bds)

    def _saved(self) -> dict[str, Any]:
        """What it was given to do, and what is done with its output, as plain data."""
        return {
            "claimed": self.claimed,
            "begun": self._begun,
            "packets": list(self.packets),
            "moves": [[name, dtype.str] for name, dtype in self.moves.items()],
            "shapes": [list(shape) for shape in self._shapes],
            "dtype": self.dtype.str,
            "taken": self.taken,
            "fed": self.fed,
        }

    def _restore(self, saved: Mapping[str, Any], expected: Array | None) -> None:
        """Have what ``_saved`` found in another channel, and the output that is ``expected``."""
        self.claimed, self._begun = saved["claimed"], saved["begun"]
        self.packets, self.dtype = frozenset(saved["packets"]), np.dtype(saved["dtype"])
        self.taken, self.fed = saved["taken"], saved["fed"]
        self._expected = [] if expected is None else [expected]
        self.moves = {name: np.dtype(dtype) for name, dtype in saved["moves"]}
        self._shapes = [tuple(shape) for shape in saved["shapes"]]

    @property
    def _depth(self) -> int:
        return self._tile.kind.queue_depth

    @property
    def _queue_register(self) -> int:
        return self._tile.kind.queue_base + self._local * self._tile.kind.channel_stride

    def _queue_word(self, bd: int, runs: int, token: bool) -> int:
        register = self._register(self._queue_register)
        return register.pack(Start_BD_ID=bd, Repeat_Count=runs - 1, Enable_Token_Issue=int(token))

    def _register(self, offset: int) -> Register:
        found = register_at(self._tile.kind.name, offset)
        assert found is not None  # the tables of registers and of tile kinds agree, by test
        return found

    def _queued(self) -> int:
        return int(self._tile.engine.state.channels.queue_count[self.index])

    def _room(self) -> int:
        """Tasks that the chip would take now."""
        engine = self._tile.engine
        return room_of(engine.state._replace(channels=engine.channels), self.index)

    def _beside(self) -> str:
        """Where the task that runs is while others wait in the queue."""
        return (
            ", the one that runs among them"
            if self._tile.engine.timing.queue_running
            else " beside the one that runs"
        )

    def _start(
        self, plan: TaskPlan, transfers: Sequence[Transfer], *, token: bool = False
    ) -> tuple[int, ...]:
        """Write descriptors and push the tasks, once nothing can be refused any more."""
        tile, size = self._tile, len(plan.descriptors)
        if tile.bd_pool.free(self._number) < size:
            tile.bd_pool.give_back([c.port for c in (*tile.s2mm, *tile.mm2s) if c.at_rest])
        numbers = tile.bd_pool.choose(self._number, size, self.port)
        tasks = plan.linked(numbers)
        chain = as_tried(tile.index, numbers, [descriptor for task in tasks for descriptor in task])
        words = chain_words(tile, numbers, chain, self)
        tile.bd_pool.take(self._number, size, self.port)  # only now: a refused chain takes and writes nothing
        self._note_work(transfers, chain)
        if any(d.compression for d in chain):
            self._control(**{f"{'Dec' if self.receives else 'C'}ompression_Enable": 1})
        place = call_site()
        for number, bd in zip(numbers, words, strict=True):
            tile.engine.bd_places[tile.index, number] = place
            tile.post_block(tile.kind.bd_base + number * tile.kind.bd_stride, bd)
        firsts = [numbers[sum(map(len, tasks[:n]))] for n in range(len(tasks))]
        pushed = [(first, task.runs) for first, task in zip(firsts, plan.tasks, strict=True)] * plan.times
        self._posted += len(pushed)
        for n, (first, runs) in enumerate(pushed, 1):
            word = self._queue_word(first, runs, token and n == len(pushed))
            tile.bench.post(partial(self._push, word))
        return numbers

    def _note_work(self, transfers: Iterable[Transfer], chain: Iterable[Descriptor]) -> None:
        """Note work that it is given."""
        self.claimed = self._begun = True
        moved = {t.buffer.name: t.buffer.dtype for t in transfers if t.buffer is not None}
        self.moves = {**self.moves, **moved}
        if not self.receives:
            self.packets |= {d.packet.id if d.packet else None for d in chain}

    @property
    def bookkeeping(self) -> list[Any]:
        """What of it, beside the state of the model, decides about its next task, as plain data."""
        return [self._begun, self._posted]

    def know_started(self, work: Sequence[Transfer | Descriptor], bds: Sequence[int], place: str) -> None:
        """Know of a task that was started on a model whose state was put here.

        Args:
            work: of the task.
            bds: numbers of its BDs.
            place: where it is said.

        Raises:
            DesignError: work that no such task has.
        """
        transfers = self._transfers(work)
        self._note_work(transfers, [d for transfer in transfers for d in transfer.descriptors])
        self._tile.engine.bd_places.update({(self._tile.index, number): place for number in bds})

    def _push(self, word: int) -> None:
        self._tile.own_door.write32(self._queue_register, word)
        self._posted -= 1

    def _control(self, **fields: int) -> None:
        """Set fields of the control register (AM025 DMA_S2MM_n_Ctrl, DMA_MM2S_n_Ctrl)."""
        register = self._register(self._tile.kind.control_base + self._local * self._tile.kind.channel_stride)
        mask = sum(register.field(name).mask for name in fields)
        value = register.pack(**fields)
        self._tile.bench.post(lambda: self._tile.own_door.mask_write32(register.offset, mask, value))

    def _transfers(self, work: Sequence[Transfer | Descriptor]) -> list[Transfer]:
        """Work as transfers; anything else is refused with what would make one of it."""
        raise_if([problem for piece in work for problem in self._unsuitable(piece)], DesignError)
        return [piece if isinstance(piece, Transfer) else Transfer((piece,)) for piece in work]

    def _unsuitable(self, piece: object) -> Iterator[Problem]:
        """Why a piece of work is none for this channel: of another type, for another tile, or a way round."""
        verb = "write" if self.receives else "read"
        if not isinstance(piece, Transfer | Descriptor):
            source, step = "AM020: a task is a BD chain", f"Make one with tile.{verb}(buffer)."
            says = f"the work is {piece!r}; it must be transfers or descriptors"
            yield self._problem("work", repr(piece), "transfers or descriptors", source, step, says=says)
        descriptors = piece.descriptors if isinstance(piece, Transfer) else (piece,)
        if self.receives and any(any(pad) for d in descriptors if isinstance(d, Descriptor) for pad in d.pad):
            source = "AM020: memory tile MM2S only"
            step = "Pad where the words are read, or write them into a larger buffer."
            says = "a descriptor has padding, which only an MM2S inserts; an S2MM would leave it out"
            yield self._problem("work", "padding", "descriptors without", source, step, says=says)
        if not isinstance(piece, Transfer):
            return
        foreign = piece.design not in (None, self._tile.bench)
        if foreign or piece.place not in (None, self._tile.place):
            owner = f"the tile at {piece.place}" if piece.place else "another tile"
            owner += " of another design" * foreign
            source, step = "AM020 chapter 5: DMA windows", f"Make one with {verb}(buffer) of this tile."
            given, allowed = f"a transfer of {owner}", "transfers of the channel's own tile"
            says = f"the transfer was made for {owner}"
            yield self._problem("work", given, allowed, source, step, says=says)
        if piece.access not in (None, verb):
            given, allowed = f"a {piece.access} of a buffer", f"{verb}s"
            source, step = SIDES, f"Make one with tile.{verb}(buffer)."
            says = f"the work is {given}; this channel {verb}s"
            yield self._problem("work", given, allowed, source, step, says=says)

    def _unrepeatable(self, transfers: Sequence[Transfer]) -> Iterator[Problem]:
        """Transfers whose second pass would begin where the iteration of the first one stopped."""
        for transfer in transfers:
            if transfer.once is None and not begins_again(transfer):
                given, allowed = (
                    f"{transfer.runs} runs",
                    "a multiple of the iteration wrap of each descriptor",
                )
                says = f"one pass of {transfer!r} ends in the middle of an iteration"
                source = "AM025 DMA_BDn_6: Iteration_Current moves at every load"
                step = "Start it as often as it shall run."
                yield self._problem("repeat", given, allowed, source, step, says=says)

    def _check(self, repeat: int, loop: bool, plan: TaskPlan, room: int) -> None:
        most = self._tile.kind.max_repeat
        problems: list[Problem] = []
        if not plan.descriptors:
            says = "there is no work; a task needs at least one transfer"
            source = "AM020: a task is a BD chain"
            problems.append(self._problem("work", "nothing", "at least one transfer", source, says=says))
        runs = max(task.runs for task in plan.tasks)
        if not (1 <= runs <= most and repeat >= 1) or (loop and runs > 1):
            allowed = "1 (a ring never ends)" if loop else f"1..{most}"
            says = "it must be 1, because a ring never ends" if loop else f"allowed are {allowed}"
            given = f"the number of runs is {min(runs, repeat) if repeat < 1 else runs}"
            if 1 < repeat < runs and plan.times == 1:
                given = f"repeat {repeat} of a transfer of {runs // repeat} runs makes {runs} runs"
            says = f"{given}{'; ' if loop else ', '}{says}"
            source = "AM025 Start_Queue.Repeat_Count"
            many = runs > most and not loop
            step = "Start several tasks, or a ring (loop=True), which never ends." if many else ""
            problems.append(self._problem("repeat", f"{runs} runs", allowed, source, step, says=says))
        if room < plan.pushes:
            step = "Run, put more work into one chain, or have a host sequence start it (array.host)."
            given = "one more task" if plan.pushes == 1 else f"{plan.pushes} more tasks"
            says = f"the task queue is full: it holds {self._depth} tasks{self._beside()}"
            if room:
                says = f"the work is {plan.pushes} tasks, and the task queue has room for {room}"
            problems.append(
                self._problem("task queue", given, f"{self._depth} queued tasks", "AM020", step, says=says)
            )
        raise_if(problems, DesignError)


class ChannelList(tuple[Channel, ...]):
    """A tuple of channels that names the tile when a number is out of range.

    Args:
        title: the tile, for messages.
        direction: ``arch.tiles.S2MM`` or ``MM2S``.
        channels: in the order of their numbers.
    """

    title: str
    direction: int

    def __new__(cls, title: str, direction: int, channels: Iterable[Channel]) -> ChannelList:
        """The channels as a tuple."""
        made = super().__new__(cls, channels)
        made.title, made.direction = title, direction
        return made

    @overload
    def __getitem__(self, index: SupportsIndex) -> Channel: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Channel, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Channel | tuple[Channel, ...]:
        """The channel, or those of a slice.

        Raises:
            DesignError: no channel has the number.
        """
        try:
            return super().__getitem__(index)
        except IndexError:
            name = DIRECTIONS[self.direction]
            raise DesignError.of(
                f"{name} channel",
                str(index),
                f"0..{len(self) - 1}",
                reason="channel",
                where=self.title,
                source="AM020: DMA channels of a tile",
            ) from None
