"""DMA channels as a design uses them: tasks made of transfers, beside what happens at the stream port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from memtile.access.lowering.certificate import Task
from memtile.arch.register_map import register_at
from memtile.arch.registers import WORD_BITS, Register
from memtile.arch.tiles import S2MM, WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.design.call_site import call_site
from memtile.design.chains import chain_words
from memtile.design.packet_ports import sent
from memtile.design.stream_port import SIDES, Array, StreamPort
from memtile.design.task_plan import TaskPlan, begins_again, plan_of
from memtile.design.transfers import Transfer
from memtile.design.undo import Undo, undo_of
from memtile.errors import DesignError, Problem, raise_if
from memtile.model.state.causes import Phase

if TYPE_CHECKING:
    from memtile.design.tile import Tile


class Channel(StreamPort):
    """One DMA channel of a tile; made by its tile.

    Args:
        tile: the tile it belongs to.
        direction: ``arch.tiles.S2MM`` or ``MM2S``.
        number: within its direction.

    Attributes:
        packets: ids in the headers of what it was given to send; None among them = words without a header.
    """

    def __init__(self, tile: Tile, direction: int, number: int) -> None:
        super().__init__(tile, direction, number)
        self.claimed = self._begun = False
        self._posted = 0  # tasks whose start is not written yet, at the end of a step
        self.packets: frozenset[int | None] = frozenset()

    def __repr__(self) -> str:
        free = self._tile.bd_pool.free(self._number)
        return f"Channel({self.name}: {free} BDs free, {self._queued()} of {self._depth} tasks queued)"

    def start(
        self, *work: Transfer | Descriptor, repeat: int = 1, loop: bool = False, token: bool = False
    ) -> tuple[int, ...]:
        """Write the descriptors of ``work`` as one chain, or as several where that saves BDs, and push them.

        When no BDs are free, those of tasks that have ended are used again. A transfer of several runs or
        tasks is a task of its own, or as many; where the queue has no room for that, and in a ring, all work
        is one chain.

        Args:
            work: transfers or single descriptors, executed in order.
            repeat: how often all of it runs; a task has 1..256 runs.
            loop: close the chain into a ring that never ends; then ``repeat`` must be 1.
            token: ask for a task-complete token, after the last of several tasks.

        Returns:
            The BD numbers used.

        Raises:
            DesignError: too few free BDs that the channel may use, task queue full, repeat out of range.
            TransferError: a transfer in a ring that takes too many descriptors in one run.
            DescriptorError: a descriptor the tile cannot hold, or whose walk leaves the DMA address space.
        """
        transfers = self._transfers(work)
        plan = plan_of(sent(self, transfers, self._tile.bench.buses), repeat, self._room(), loop=loop)
        self._check(repeat, loop, plan)
        if repeat > 1:
            raise_if([*self._unrepeatable(transfers)], DesignError)
        return self._start(plan, transfers, token=token)

    def start_out_of_order(self, *work: Transfer | Descriptor, packets: int) -> tuple[int, ...]:
        """Let the header of each packet choose the descriptor that stores it (AM020: out-of-order S2MM).

        Args:
            work: where packets may go, one descriptor each; senders name it, see ``Stream.packets``.
            packets: how many packets to take, 1..256.

        Returns:
            The BD numbers, in the order of ``work``.

        Raises:
            DesignError: an MM2S channel, a transfer of several descriptors; and as for :meth:`start`.
        """
        self._must_be(S2MM, "start_out_of_order")
        transfers = [
            transfer.in_one_run() for transfer in sent(self, self._transfers(work), self._tile.bench.buses)
        ]
        plan = TaskPlan((Task(tuple(t.descriptors[0] for t in transfers), packets),), chained=False)
        self._check(packets, False, plan)
        if any(len(t.descriptors) > 1 or not t.is_one_run for t in transfers):
            given, allowed = "a transfer of several descriptors", "one descriptor for each place"
            says = "a transfer has several descriptors; out of order each place has one"
            source = "AM020: the header names one BD"
            raise DesignError(self._problem("work", given, allowed, source, says=says))
        with self._tile.bench.all_or_nothing():
            self._control(Enable_Out_of_Order=1)
            return self._start(plan, transfers)

    def pad_with(self, value: int) -> None:
        """Set the word that this MM2S channel pads with (AIE2P, AIE-ML v2: DMA_MM2S_n_Constant_Pad_Value).

        Raises:
            DesignError: an S2MM channel, a tile whose padding is zeros, or no 32-bit word.
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
        """Fields of the channel's status register, AM025 names."""
        kind = self._tile.kind
        register = self._register(kind.status_base[self._direction] + self._number * WORD_BYTES)
        return register.unpack(self._tile.own_door.read32(register.offset))

    @property
    def started(self) -> bool:
        """Whether it was ever given work."""
        return self._begun

    @property
    def at_rest(self) -> bool:
        """Whether all its tasks have ended well, so that nobody reads their BDs any more."""
        channels, i = self._tile.engine.channels, self.index
        idle = channels.phase[i] == Phase.IDLE and channels.queue_count[i] == 0
        return bool(idle and not channels.errors[i] and not self._posted)

    @property
    def full(self) -> bool:
        """Whether one more task would be dropped: four wait beside the one that runs or is about to."""
        return self._room() < 1

    @property
    def tasks_done(self) -> int:
        """Tasks that it has ended so far."""
        return int(self._tile.engine.state.channels.tasks_done[self.index])

    @property
    def tasks_open(self) -> int:
        """Tasks that wait in its queue, and the one that runs (AM025: Task_Queue_Size, Channel_Running)."""
        runs = self._tile.engine.state.channels.phase[self.index] != Phase.IDLE
        return self._queued() + int(runs)

    def give_back(self, bds: Sequence[int]) -> None:
        """Let the BDs of a task that has ended be used again."""
        self._tile.bd_pool.release(bds)

    def remember(self) -> Undo:
        """What gives back the channel as it is now."""
        return undo_of(self, "claimed", "_begun", "_posted", "packets", "moves")

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
        """Tasks that the chip would take now: four wait beside the one that runs or is about to."""
        starting = self._tile.engine.state.channels.phase[self.index] in (Phase.IDLE, Phase.STARTING)
        return max(self._depth + int(starting) - self._queued(), 0)

    def _start(
        self, plan: TaskPlan, transfers: Sequence[Transfer], *, token: bool = False
    ) -> tuple[int, ...]:
        """Write descriptors and push the tasks, once nothing can be refused any more."""
        tile, size = self._tile, len(plan.descriptors)
        if tile.bd_pool.free(self._number) < size:
            tile.bd_pool.give_back([c.port for c in (*tile.s2mm, *tile.mm2s) if c.at_rest])
        numbers = tile.bd_pool.choose(self._number, size, self.port)
        tasks = plan.linked(numbers)
        chain = [descriptor for task in tasks for descriptor in task]
        words = chain_words(tile, numbers, chain, self)
        tile.bd_pool.take(self._number, size, self.port)  # only now: a refused chain takes and writes nothing
        self.claimed = self._begun = True
        self.moves = {
            **self.moves,
            **{t.buffer.name: t.buffer.dtype for t in transfers if t.buffer is not None},
        }
        if not self.receives:
            self.packets |= {d.packet.id if d.packet else None for d in chain}
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
                says = (
                    f"one pass of {transfer!r} leaves an iteration in its middle, where the next would go on"
                )
                source = "AM025 DMA_BDn_6: Iteration_Current moves at every load"
                step = "Start it as often as it shall run."
                yield self._problem("repeat", given, allowed, source, step, says=says)

    def _check(self, repeat: int, loop: bool, plan: TaskPlan) -> None:
        most, room = self._tile.kind.max_repeat, self._room()
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
            says = f"the task queue is full: it holds {self._depth} tasks beside the one that runs"
            if room:
                says = f"the work is {plan.pushes} tasks, and the task queue has room for {room}"
            problems.append(
                self._problem("task queue", given, f"{self._depth} queued tasks", "AM020", step, says=says)
            )
        raise_if(problems, DesignError)
