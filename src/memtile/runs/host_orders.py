"""Steps of a host whose outcome hangs on when it comes to them, while the array works.

A host that pushes tasks, waits for their ends and writes what nobody uses yet does the same whatever the
timing. One that polls a register, changes a descriptor of a task that may still run, or loses a push to a
full queue does not, as far as this run shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from memtile.arch.register_map import register_at, register_named
from memtile.arch.tiles import MEMORY, MM2S, TILE_KINDS, WORD_BYTES, TileKind
from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.names import called
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import (
    QUEUE_REPEAT_LSB,
    QUEUE_REPEAT_MASK,
    QUEUE_START_BD_MASK,
    QUEUE_TOKEN_LSB,
)
from memtile.model.state.causes import Cause, CorePhase, Phase
from memtile.model.state.columns import NEVER
from memtile.runs.firmware import LOAD, UPDATE, pointer_of
from memtile.runs.machine import ArrayMachine, HostSteps
from memtile.runs.operation_table import Code, OperationTable, rebuilds
from memtile.runs.operations import ArrayShape, MaskPoll, Operation, Other, Word, locate, words_written
from memtile.runs.waits import WAIT, waited_channels
from memtile.sim.kernels.core_control import RESET, control_places
from memtile.sim.loop.engine import Engine
from memtile.sim.races.race_watch import RaceWatch

_REBUILDS = re.compile(r"Stream_Switch_(?!Event_)|.*Reset|.*_Clock_Control|Tile_Control")
_RUNS = "Core_Control"
_CONTROLLER = register_named("noc", "DMA_S2MM_0_Ctrl").field("Controller_ID").mask
_UNKNOWN = 1 << 60  # words: how many nobody knows
_AT_REST = (CorePhase.ACQUIRE, CorePhase.DONE)
_BEFORE_WORDS = (Phase.IDLE, Phase.STARTING, Phase.LOADING, Phase.ACQUIRE)
_QUIET = ("READ_REGS", "MERGE_SYNC", WAIT)  # change nothing in the array


class _Task(NamedTuple):
    """A task that was pushed.

    Attributes:
        bds: of its chain.
        sent: words that its channel has read when it has ended, since the host began.
        token: number of its token among those of its channel; 0 = it sends none.
    """

    bds: frozenset[int]
    sent: int
    token: int


def rests(engine: Engine) -> bool:
    """Whether nobody works and no word has ever come to a stream switch: all wait for what a host starts."""
    c, cores, switch = engine.channels, plain(engine.state.cores), plain(engine.state.switch)
    working = ~np.isin(c.phase, (Phase.IDLE, Phase.ACQUIRE))
    working &= (c.phase != Phase.RUN) | (c.why != Cause.STREAM_STARVED)
    busy = [core for core in engine.cores.running if cores.phase[core] not in _AT_REST]
    return not (working.any() or busy or (switch.popped != NEVER).any() or switch.held.any())


def is_blind(operations: OperationTable, shape: ArrayShape) -> bool:
    """Whether a program never acts upon a state that it reads, and resets nothing: it waits for tokens."""
    codes = operations.columns.code
    loads = (each for each in operations.of_code(Code.OTHER) if isinstance(each, Other))
    return not (
        (codes == Code.MASK_POLL).any()
        or operations.writing(shape, rebuilds).any()
        or any(each.name == LOAD for each in loads)
    )


def sequence_reasons(hosts: Sequence[HostSteps]) -> Iterator[str]:
    """What of sequences in Python hangs on timing."""
    if len(hosts) > 1:
        yield "several host sequences start tasks side by side"
    if any(sequence.polls for sequence in hosts):
        yield "the host polls a register"


class HostOrders:
    """Follows the operations of a program, each before it is done.

    Args:
        array: the model.

    Attributes:
        reasons: what hangs on timing, a line each.
        pushes: how many tasks it has pushed so far.
    """

    def __init__(self, array: ArrayMachine) -> None:
        self._engine: Engine = array.engine
        self._tiles = plain(array.engine.spec.tiles)
        self._at = {
            (int(column), int(row)): tile
            for tile, (column, row) in enumerate(zip(self._tiles.column, self._tiles.row, strict=True))
        }
        self.reasons: dict[str, None] = {}
        self._open: dict[int, list[_Task]] = {}  # by channel the tasks that are not known to have ended
        self._sent: dict[int, int] = {}  # words of all tasks of a channel so far
        self._tokens: dict[int, int] = {}  # how many of its tasks so far send a token
        self._waited: Counter[int] = Counter()  # how many tokens of a channel the host has waited for
        self._present: list[int] = []  # channels of the wait that is done before the next operation
        self._begun = {int(self._engine.state.cores.tile[core]) for core in self._engine.cores.running}
        self.pushes = 0
        self._watch = array.engine.checks.watch
        self._closed: dict[str, int] = {}  # by what may hang on timing the lock that decides it
        for ch in range(len(self._engine.channels.tile)):
            self._open[ch] = [
                _Task(frozenset(chain), _UNKNOWN, 0) for chain in BdChains(self._engine).given(ch)
            ]

    def see(self, operation: Operation, *, waits_for_room: bool) -> None:
        """An operation is to be done now."""
        self._waited.update(self._present)
        self._present = []
        if isinstance(operation, Other) and operation.name == WAIT:
            self._present = list(waited_channels(self._engine, operation))
        if isinstance(operation, MaskPoll):
            self.reasons["the host polls a register"] = None
        elif isinstance(operation, Other) and operation.name == LOAD:
            self._load()
        elif isinstance(operation, Other) and operation.name not in _QUIET:
            self._see_other(operation)
        else:
            for word in words_written(operation):
                self._write(word, waits_for_room)

    def see_together(self, operations: Sequence[Operation]) -> None:
        """Operations are to be done, all of them plain writes."""
        for operation in operations:
            self.see(operation, waits_for_room=False)

    def _load(self) -> None:
        if self.pushes:
            self.reasons["the host loads another configuration while the run lasts"] = None
        self._begun.clear()
        self._open.clear()

    def _see_other(self, operation: Other) -> None:
        pointer = pointer_of(operation)
        if pointer is not None:
            self._write(Word(pointer.register, 0, 0), False)
        elif operation.name == UPDATE:
            self._write(Word(dict(operation.details)["address"], 0, 0), False)
        elif operation.acts:
            self.reasons[f"the host does {operation.name}"] = None

    def _write(self, word: Word, waits_for_room: bool) -> None:
        value, (column, row, offset) = word.value, locate(word.address)
        tile = self._at.get((column, row))
        if tile is None:
            return
        kind = TILE_KINDS[KIND_NAMES[self._tiles.kind[tile]]]
        bd = (offset - kind.bd_base) // kind.bd_stride if offset >= kind.bd_base else -1
        if 0 <= bd < kind.bds:
            self._write_bd(tile, bd)
            return
        for ch, first in self._channels(tile, kind):
            if offset == first + WORD_BYTES:
                self._push(ch, value, waits_for_room)
                return
            if offset == first:
                self._write_control(ch, value)
                return
        register = register_at(kind.name, offset)
        if register is not None:
            self._write_register(tile, register.name, word)

    def _channels(self, tile: int, kind: TileKind) -> Iterator[tuple[int, int]]:
        """Each channel of a tile, and the byte offset of its control register, before that of its queue."""
        base, count = int(self._tiles.channel_base[tile]), int(self._tiles.channels[tile])
        for local in range(count):
            yield base + local, kind.queue_base - WORD_BYTES + local * kind.channel_stride

    def _write_register(self, tile: int, name: str, word: Word) -> None:
        if name.startswith(_RUNS):
            self._write_core(tile, word)
        elif _REBUILDS.match(name) and (self.pushes or (self._begun and not rests(self._engine))):
            self.reasons["the host resets parts of the array or changes its streams while it works"] = None

    def _write_core(self, tile: int, word: Word) -> None:
        """Core_Control: a core that runs has to be at its end, in every order."""
        core = int(self._tiles.core[tile])
        before = int(self._engine.state.registers[control_places(self._engine)[core]])
        if not (before ^ word.value) & word.mask:
            return
        if tile in self._begun and not before & RESET and not self._is_over(core):
            self.reasons["the host stops or resets cores"] = None
        self._begun.add(tile)

    def _is_over(self, core: int) -> bool:
        """Whether the host knows that a core has ended: of all it did, by waits, and no task is left of which
        the host could know more than it has waited for."""
        watch = self._watch
        external = np.flatnonzero(self._engine.channels.external >= 0).tolist()
        return (
            watch is not None
            and self._engine.state.cores.phase[core] == CorePhase.DONE
            and not any(map(self._still_open, external))
            and watch.host_knows_core(core)
        )

    def _write_control(self, ch: int, value: int) -> None:
        """The control register of a channel: all but the controller of its tokens has to wait for its end."""
        if value & ~_CONTROLLER and self._still_open(ch):
            text = f"the host changes how {called(self._engine, ch)} works while it may have a task"
            lock = self._closed_by(ch)
            if lock < 0 or not value & self._reset_mask(ch):
                self.reasons[text] = None
                return
            self._closed[text] = lock
            self._open[ch] = []

    def _reset_mask(self, ch: int) -> int:
        kind = int(self._tiles.kind[self._engine.channels.tile[ch]])
        return int(plain(self._engine.spec.kinds).reset_mask[kind])

    def _closed_by(self, ch: int) -> int:
        """The lock, now 0, of which a channel that has done nothing needs units to begin; -1 = none."""
        c, chains = self._engine.channels, BdChains(self._engine)
        first = next(chains.given(ch), ())
        if not first or c.bds_done[ch] or c.phase[ch] not in _BEFORE_WORDS:
            return -1
        acquire = chains.acquired(ch, first[0])
        lock = lock_seen(self._engine, int(c.tile[ch]), acquire[0]) if acquire and acquire[1] < 0 else None
        return lock if lock is not None and not self._engine.state.locks.value[lock] else -1

    @property
    def found(self) -> Iterator[str]:
        """What hangs on timing, once the run is over.

        A task that a reset takes away has done nothing in any order if it waits for a lock from its start and
        nobody but the host ever gives to that lock.
        """
        yield from self.reasons
        given = self._watch.orders.given if self._watch is not None and self._closed else ()
        yield from (text for text, lock in self._closed.items() if self._watch is None or lock in given)

    def _push(self, ch: int, value: int, waits_for_room: bool) -> None:
        self.pushes += 1
        waiting = self._still_open(ch)
        if not waits_for_room and len(waiting) >= MEMORY.queue_depth:
            self.reasons[f"a task may be pushed to a full queue of {called(self._engine, ch)}"] = None
        chains, first = BdChains(self._engine), value & QUEUE_START_BD_MASK
        chain = chains.chain(ch, first)
        runs = (value >> QUEUE_REPEAT_LSB & QUEUE_REPEAT_MASK) + 1
        words = None if chains.loops_from(ch, first) else runs * sum(chains.length(ch, bd) for bd in chain)
        c = self._engine.channels
        if words is None or c.external[ch] < 0 or c.direction[ch] != MM2S:
            self._sent[ch] = _UNKNOWN
        self._sent[ch] = self._sent.get(ch, 0) + (words or 0)
        token = value >> QUEUE_TOKEN_LSB & 1
        self._tokens[ch] = self._tokens.get(ch, 0) + token
        self._open[ch].append(_Task(frozenset(chain), self._sent[ch], self._tokens[ch] if token else 0))

    def _write_bd(self, tile: int, bd: int) -> None:
        base = int(self._tiles.channel_base[tile])
        for ch in range(base, base + int(self._tiles.channels[tile])):
            uses = any(bd in task.bds for task in self._open.get(ch, ()))
            if uses and any(bd in task.bds for task in self._still_open(ch)):
                text = f"BD {bd} is written while a task of {called(self._engine, ch)} may still use it"
                self.reasons[text] = None

    def _still_open(self, ch: int) -> list[_Task]:
        """The tasks of a channel that may still run, in some order, when the host is here."""
        watch, found = self._watch, self._open.setdefault(ch, [])
        while found and watch is not None and self._has_ended(watch, ch, found[0]):
            found.pop(0)
        return found

    def _has_ended(self, watch: RaceWatch, ch: int, task: _Task) -> bool:
        """Whether the host knows that: by a token of it or of a later one, or by what needs all its words."""
        tokens = (each.token for each in self._open[ch] if each.token)
        if any(token <= self._waited[ch] for token in tokens):
            return True
        return task.sent < _UNKNOWN and watch.host_knows(ch, task.sent)
