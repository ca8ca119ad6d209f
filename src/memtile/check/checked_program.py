"""What is to be checked: a configured array and all tasks of its channels, wherever the design comes from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np

from memtile.arch.register_map import register_at, register_named
from memtile.arch.tiles import MEMORY, TileName
from memtile.check.task_list import HostStep, TaskLog
from memtile.design.array import Array
from memtile.design.bench import Bench
from memtile.design.host import HostPoll, HostSequence, HostTask, HostWait
from memtile.design.memory_tile import MemoryTile
from memtile.design.tile import Tile
from memtile.errors import MemtileError
from memtile.explain.findings import Finding
from memtile.explain.moves import Move
from memtile.importers.design import NO_TAKER
from memtile.importers.host_locks import set_instead
from memtile.importers.host_writes import host_write_findings
from memtile.importers.idle_tasks import never_started
from memtile.importers.kernels.core_locks import released_by_cores
from memtile.importers.late_parameters import late_parameters
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.sequence.program import is_scalar
from memtile.runs.bd_places import note_bd_places
from memtile.runs.firmware import LOAD, PATCH, UPDATE, pointer_of, update
from memtile.runs.operations import ArrayShape, BlockWrite, Operation, Other, locate
from memtile.runs.register_writes import Advance, apply
from memtile.runs.waits import WAIT, places_of, polled_channel
from memtile.sim.kernels.core_control import enabled_cores
from memtile.sim.kernels.lost_results import LostResult
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.engine_snapshot import put_back, take

_REBUILDS = re.compile(r"Core_Control|Stream_Switch|.*Reset|.*_Clock_Control|Tile_Control")
_QUEUE_SIZE = register_named("noc", "DMA_MM2S_Status_0").field("Task_Queue_Size").lsb
_KEPT = 4096  # registers
_MOST_ROUNDS = 10_000  # of a host sequence that polls for what a run alone would give it


@dataclass(slots=True)
class Subject:
    """A design that stands still.

    Attributes:
        engine: the model, configured.
        log: the tasks of its channels.
        tiles: of the design, with the names of buffers and locks.
        kernels: model indices of tiles whose cores run something.
        released: locks that the cores release, by index among all locks; None = nobody knows.
        made: devices of an MLIR design; empty of all others.
        fed: channels whose streams the test bench feeds or takes, by model index.
        array: whether there are stream switches between the channels.
        hosted: the host is part of it; else somebody else may give locks their values.
        open_host: a host sequence depends on numbers that only a run has, and is not looked at.
        with_number: the design where each of these numbers has one value; None = there are none.
        notes: parts that could not be examined, a line each.
        lost: what functions of cores that do not run here write nowhere, with the names of the cores.
        findings: about calls of C++ functions, which were compiled to see what they take.
        moves: what descriptors and transfers of the text touch.
        conditions: what the end of the design says of the numbers that its host brings; it runs the design.
    """

    engine: Engine
    log: TaskLog
    tiles: Sequence[Tile]
    kernels: frozenset[int]
    released: frozenset[int] | None = None
    made: Sequence[Configured] = ()
    fed: frozenset[int] = frozenset()
    array: bool = True
    hosted: bool = True
    open_host: bool = False
    with_number: Callable[[int], Subject] | None = None
    notes: list[str] = field(default_factory=list)
    lost: Sequence[tuple[str, LostResult]] = ()
    findings: Sequence[Finding] = ()
    moves: Sequence[Move] = ()
    conditions: Callable[[], Sequence[Finding]] = tuple


def of_design(design: MemoryTile | Array, place: str = "") -> Subject:
    """A design in Python: what it started, and what its host sequences would start one after another.

    Args:
        design: that has not run.
        place: name of its file, for the tasks of host sequences.

    Raises:
        DesignError: what cannot be routed, or a step of a host sequence that is refused.
    """
    bench: Bench = design if isinstance(design, Array) else design.bench
    if isinstance(design, Array):
        design.route()
    log = TaskLog(bench.engine)
    log.take()
    _drive(bench, log, place)
    tiles = design.tiles if isinstance(design, Array) else (design,)
    channels = [channel for tile in tiles for channel in (*tile.s2mm, *tile.mm2s)]
    return Subject(
        bench.engine,
        log,
        tiles,
        _with_kernels(bench.engine),
        fed=frozenset(channel.index for channel in channels if channel.fed or channel.taken),
        array=isinstance(design, Array),
    )


def of_mlir(loaded: Loaded) -> Subject:
    """A design of mlir-aie as it stands, with the tasks of its host sequence; see ``load_still``."""
    engine, notes, odd = loaded.array.engine, list(loaded.notes), loaded.oddities
    by_host = (
        [each.finding for each in host_write_findings(engine, loaded.sequence.steps)]
        if loaded.sequence
        else []
    )
    if loaded.sequence is not None and not loaded.sequence.loads:
        by_host += late_parameters(loaded.configured, loaded.sequence.steps)
        by_host += [each.finding for each in set_instead(loaded.configured, loaded.sequence.steps)]
    log = TaskLog(engine)
    log.take()
    if loaded.sequence is not None:
        if loaded.sequence.is_open:
            notes.append(
                "the host sequence depends on numbers that only a run has: its tasks are checked with a few"
            )
        notes += _replay(loaded.sequence.steps, loaded.array, log, updates=bool(loaded.parameters))
    devices = [loaded.configured, *(loaded.sequence.loads if loaded.sequence else ())]
    cores = {made.tiles[core.tile].index for made in devices for core in made.device.cores}
    known = [released_by_cores(made) for made in devices]
    released = frozenset[int]().union(*(each or () for each in known))
    return Subject(
        engine,
        log,
        loaded.array.tiles,
        frozenset(cores),
        None if None in known else released,
        devices,
        hosted=loaded.sequence is not None,
        open_host=loaded.sequence is not None and loaded.sequence.is_open,
        with_number=partial(_with_number, loaded) if loaded.sequence and loaded.sequence.is_open else None,
        notes=notes,
        lost=[(f"core {place}", each) for place, each in loaded.lost],
        findings=(
            *(never_started(engine, loaded.sequence) if loaded.sequence else ()),
            *by_host,
            *odd.findings,
            *loaded.findings,
        ),
        moves=odd.moves,
    )


def _with_number(loaded: Loaded, value: int) -> Subject:
    """A design whose host gives all its numbers one value; as it is where that does not decide its steps.

    Raises:
        MemtileError: it is refused with that value.
    """
    assert loaded.sequence is not None
    assert loaded.source is not None
    arguments = OperationForm(loaded.sequence.operation).regions[0].blocks[0].arguments
    kinds = zip(arguments, loaded.sequence.arguments, strict=True)
    given = {name[1:]: _fitting(value, kind.element) for (name, _), kind in kinds if is_scalar(kind)}
    try:
        other = loaded.loads(loaded.source, parameters=given)
    except MemtileError as error:
        if all(problem.reason != NO_TAKER for problem in error.problems):
            raise
        other = loaded
    return replace(of_mlir(other), with_number=None)


def _fitting(value: int, kind: str) -> int:
    """A value, or 1 where the type has no others than 0 and 1."""
    return min(value, 1) if kind == "i1" else value


def twin(subject: Subject, make: Callable[[], Subject]) -> Subject:
    """Return the design once more, to be played in another way; nothing of it has been played yet.

    Args:
        subject: it.
        make: makes another one, which takes as long as the first did.
    """
    if not subject.made or subject.engine.cores.running:
        return make()  # a kernel that is attached has a generator, which is no state
    array, engine = subject.made[0].array, subject.engine
    other = Array(array.device.name, array.columns).engine
    put_back(other, take(engine))
    other.bd_places, other.fifo_locks = engine.bd_places, engine.fifo_locks
    return replace(subject, engine=other)


def of_program(operations: Sequence[Operation], array: Array) -> Subject:
    """A program of register accesses on an array that nothing was done to.

    One that enables no core is half of a program: any core may run then.
    """
    log = TaskLog(array.engine)
    notes = _replay(operations, array, log)
    cores = _with_kernels(array.engine)
    every = frozenset(map(int, array.engine.state.cores.tile))
    return Subject(array.engine, log, array.tiles, cores or every, hosted=bool(cores), notes=notes)


def _with_kernels(engine: Engine) -> frozenset[int]:
    """Tiles whose cores have kernels, or were enabled and may run anything."""
    cores = {*engine.cores.running, *enabled_cores(engine)}
    return frozenset(int(engine.state.cores.tile[core]) for core in cores)


def _drive(bench: Bench, log: TaskLog, place: str) -> None:
    """Do the steps of host sequences; every task that they start is done at once."""
    log.rooms = True
    for _ in range(_MOST_ROUNDS):
        left = [sequence for sequence in bench.hosts if not sequence.ended]
        if not left:
            return
        done = taken = 0
        for sequence in left:
            log.host = bench.hosts.index(sequence)
            while sequence.advance(lambda: bench.engine.now, False, most=1):
                done += 1
                taken += _take(log, sequence, place)
                if isinstance(sequence.last, HostWait):
                    break
            else:
                taken += _take(log, sequence, place)
        log.epoch += 1
        if done or taken:
            continue
        skipped = [n for n, sequence in enumerate(bench.hosts) if _skip_poll(sequence)]
        for log.host in skipped:
            log.note(HostStep(place=place))
        if not skipped:
            return


def _said(sequence: HostSequence, place: str) -> str:
    """The line of the present step of a host sequence."""
    return f"{place}:{sequence.line}" if place and sequence.line else place


def _take(log: TaskLog, sequence: HostSequence, place: str) -> int:
    """Take the tasks that a step of a host sequence has started; how many that were."""
    said = _said(sequence, place)
    log.bds.look(said)
    if isinstance(task := sequence.last, HostTask):  # which takes the BDs of tasks that have ended alone
        log.bds.accept((task.channel.tile.index, number) for number in task.bds)
    for task in sequence.last.tasks if isinstance(sequence.last, HostWait) else ():
        log.note(HostStep(ch=task.channel.index, many=task.done_at, place=said))
    return log.take(said)


def _skip_poll(sequence: HostSequence) -> bool:
    """Have a poll be met: only a run could tell whether it ever is."""
    if isinstance(sequence.present, HostPoll):
        sequence.present = replace(sequence.present, met=lambda: True)
        return True
    return False


@lru_cache(maxsize=_KEPT)
def _rebuilds(kind: TileName, offset: int) -> bool:
    """Whether a register starts or stops something, or changes where words go."""
    register = register_at(kind, offset)
    return register is not None and _REBUILDS.match(register.name) is not None


class _RecordedHost:
    """Register accesses of a program that never waits."""

    def __init__(self, array: Array, log: TaskLog) -> None:
        self._array, self._door, self._log = array, array.door.at_once(), log
        self.place = ""

    def write32(self, address: int, value: int) -> None:
        """Write one word."""
        self._look(address, 1)
        self._door.write32(address, value)
        self._log.take(self.place)

    def mask_write32(self, address: int, mask: int, value: int) -> None:
        """Replace the bits of ``mask``."""
        self._look(address, 1)
        self._door.mask_write32(address, mask, value)
        self._log.take(self.place)

    def block_write32(self, address: int, words: Sequence[int]) -> None:
        """Write consecutive words."""
        self._look(address, len(words))
        self._door.block_write32(address, words)
        if not self._log.bds.are_within(address, len(words)):  # which starts nothing
            self._log.take(self.place)

    def _look(self, address: int, words: int) -> None:
        """Whether a write changes who works, where words go, or descriptors, when tasks have been pushed."""
        self._log.bds.write(address, words, self.place)
        at = locate(address)
        kind = self._array.device.tile(at.column, at.row)
        if self._log.tasks and not self._log.loads and _rebuilds(kind, at.offset):
            self._log.loads = True

    def poll(self, address: int, mask: int, value: int, _advance: Advance, /) -> bool:
        """Take for granted what the program waits for."""
        polled = list(polled_channel(self._log.engine, address))
        full = MEMORY.queue_depth << _QUEUE_SIZE  # the bit of Task_Queue_Size that a full queue sets
        if polled and mask == full and value == 0:
            self._log.note(HostStep(ch=polled[0], room=True, place=self.place))
            return True
        self._log.note(HostStep(place=self.place))
        self.wait()
        return True

    def wait(self, operation: Other | None = None) -> None:
        """A wait that is met."""
        self._log.epoch += 1
        if operation is not None and operation.name == WAIT:
            for ch in self._channels(dict(operation.details)):
                self._log.waited(ch, self.place)

    def _channels(self, said: Mapping[str, int]) -> Iterator[int]:
        """Model indices of the channels that a wait names."""
        channels = self._log.engine.channels
        for column, row in places_of(said):
            there = channels.tile == self._array.tile(column, row).index
            same = (channels.direction == said["direction"]) & (channels.number == said["channel"])
            yield from np.flatnonzero(there & same).tolist()

    def load(self, operation: Other) -> None:
        """Another configuration, when all before is done."""
        self._log.loads = True
        self._log.note(HostStep(place=self.place))
        self.wait(operation)

    def come_to(self, operation: Operation) -> None:
        """The operation that comes next."""
        self.place = operation.place

    def point(self, operation: Other) -> None:
        """Let a descriptor point into an argument."""
        pointer = pointer_of(operation)
        if pointer is not None:
            self._log.bds.point(pointer, self.place)

    def unknown(self, _operation: Other) -> None:
        """Changes registers by words that nobody gave."""
        self._log.loads = True

    def update(self, operation: Other) -> None:
        """Add a word of the scratchpad to an address in the array."""
        update(self._door, operation)
        self._log.take(self.place)


def _replay(
    operations: Sequence[Operation], array: Array, log: TaskLog, *, updates: bool = False
) -> list[str]:
    """Do the steps of a program; a line for each write that nothing answers.

    ``updates``: do those from the scratchpad too, whose words somebody gave.
    """
    host, log.host, missed = _RecordedHost(array, log), 0, list[str]()
    handlers: dict[str, Callable[[Other], None]] = {
        PATCH: host.point,
        WAIT: host.wait,
        LOAD: host.load,
        UPDATE: host.update if updates else host.unknown,
    }
    apply(
        operations,
        host,
        ArrayShape.of(array.device, array.columns),
        handlers=handlers,
        before=host.come_to,
        missed=lambda problem: missed.append(problem.message),
    )
    note_bd_places(array.engine, (each for each in operations if isinstance(each, BlockWrite)))
    return missed
