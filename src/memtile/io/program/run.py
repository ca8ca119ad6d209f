"""Run a program of register accesses on an array: arrays in, the host's waits, arrays out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from memtile.arch.timing import LAUNCH_CYCLES
from memtile.design.array import Array
from memtile.design.host import HostProgram
from memtile.design.host_run import run_sequences
from memtile.design.own_door import OwnDoor
from memtile.errors import InputFileError, Problem, SimulationError, raise_if
from memtile.explain.deadlock.graph import WaitGraph
from memtile.explain.deadlock.hosts import HostWaiting
from memtile.explain.finding_codes import DROPPED, HOLDING
from memtile.explain.findings import Finding, Severity
from memtile.explain.late_writes import LateWrites
from memtile.explain.outcome import outcome
from memtile.explain.results import Result, Status
from memtile.io.program.array_names import Given, Wanted
from memtile.io.program.arrays import BoundArrays, ExternalArray, bind
from memtile.io.program.batches import Batches, Costs
from memtile.io.program.core_kernels import NO_KERNELS, CoreKernels, Kernels
from memtile.io.program.external_uses import external_uses
from memtile.io.program.host_waits import waiting_program
from memtile.io.program.memory import place, taken
from memtile.io.program.operation_table import Code, Ints, OperationTable, table_of
from memtile.io.program.operations import ArrayShape, Operation, Other
from memtile.io.program.pace import Pace
from memtile.io.program.pdi_loads import LOAD, PROGRAM, load_problems
from memtile.io.program.pointer_patches import PATCH, pointer_of, pointer_problems, pointer_words
from memtile.io.program.register_updates import UPDATE, update, update_problems
from memtile.io.program.register_writes import Advance, Handler, apply, check
from memtile.io.program.token_waits import WAIT, TokenHost, wait_problems
from memtile.io.program.unheard import left_out, with_dropped
from memtile.io.program.waits import ends_waiting
from memtile.io.program.word_marks import queues
from memtile.plain_text import printable
from memtile.runs.options import USUAL, RunKeywords, RunOptions
from memtile.runs.session import moves_of, observing, refuse_untimed
from memtile.sim.clock import Stop
from memtile.sim.partition import restart
from memtile.sim.passing import AT_ONCE
from memtile.sim.polling import run_to_next_poll
from memtile.sim.settling import settle
from memtile.sim.untimed import run_untimed

_CHECKS: Mapping[str, Callable[[Other, ArrayShape], Iterator[Problem]]] = {
    PATCH: pointer_problems,
    WAIT: wait_problems,
    LOAD: load_problems,
    UPDATE: update_problems,
}


@dataclass(frozen=True, slots=True, repr=False)
class ProgramResult:
    """What a program left.

    Attributes:
        result: of the run, with the cycles of all channels.
        arrays: what was wanted, by name.
        buffers: external memory as it is at the end.
        stopped: why the program did not come to its end; empty when it did.
        notes: one line for each array that the program does not use, or that was filled up with zeros.
    """

    result: Result
    arrays: Mapping[str, npt.NDArray[Any]]
    buffers: Sequence[ExternalArray]
    stopped: str = ""
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        arrays = (f"{name}: {array.dtype} {array.shape}" for name, array in self.arrays.items())
        stopped = f", stopped: {self.stopped}" if self.stopped else ""
        return printable(f"ProgramResult({self.result!r}, arrays {{{', '.join(arrays)}}}{stopped})")


class _Host:
    """The processor beside the array: it writes, polls and waits, while the array runs.

    Args:
        array: the model.
        options: of the run.
        cores: kernels that begin when their cores are enabled.

    Attributes:
        come_to_number: how many operations it has come to.
        missed: its writes that nothing answered.
        tokens: what it receives them with, once it does operations.
        untimed: data moves without a clock.
    """

    def __init__(self, array: Array, options: RunOptions, cores: CoreKernels) -> None:
        self._array, self._end = array, array.engine.now + options.max_cycles
        self.untimed, self._progress = options.untimed, options.progress
        self._cores = cores
        self._door = OwnDoor(array)
        self._pace = Pace(array.engine.host, array.engine.timing, array.device)
        self._batches = Batches(array, cores.starting)
        self._untouched = array.engine.now == 0
        self.come_to_number = 0
        self.missed: list[Problem] = []
        self.tokens: TokenHost | None = None
        self.stop = Stop.LIMIT
        array.engine.host.stopped = options.untimed

    def write32(self, address: int, value: int) -> None:
        """Write one word."""
        self._door.write32(address, value)
        self._written(address)

    def mask_write32(self, address: int, mask: int, value: int) -> None:
        """Replace the bits of ``mask``."""
        self._door.mask_write32(address, mask, value)
        self._written(address)

    def block_write32(self, address: int, words: Sequence[int]) -> None:
        """Write consecutive words."""
        self._door.block_write32(address, words)
        self._written(address, len(words))

    def load_together(self, operations: OperationTable, first: int) -> int:
        """Carry out writes from one on that take no time; how many."""
        return self._together(operations, first, _at_once)

    def write_together(self, operations: OperationTable, first: int) -> int:
        """Carry out writes from one on, each when the host comes to it; how many."""
        done = self._together(operations, first, _at_once if self.untimed else self._pace.costs)
        self.come_to_number += done
        return done

    def _together(self, operations: OperationTable, first: int, costs: Costs) -> int:
        done = self._batches.carry_out(operations, first, costs, self._end)
        self._untouched = self._untouched and not done
        return done

    def load(self, operation: Other) -> None:
        """Reset the array before the operations of a PDI, as firmware does; a new one is as after a reset."""
        program = dict(operation.details).get(PROGRAM)
        if not self._untouched or program is not None:
            restart(self._array.engine.state, self._array.engine.door)
            self._cores.restart(program)

    def update(self, operation: Other) -> None:
        """Add a word of the scratchpad to an address in the array, as firmware does."""
        update(self._door, operation)
        self._written(dict(operation.details)["address"], 2)

    def _written(self, address: int, words: int = 1) -> None:
        self._untouched = False
        if self._cores.started_by(address, words):
            self._cores.follow()

    @property
    def left(self) -> int:
        """Cycles that are left until then."""
        return self._end - self._array.engine.now

    @property
    def ended(self) -> Stop:
        """Why the clock stopped last; quiet if it stopped before its limit and said nothing."""
        return Stop.QUIET if self.stop is Stop.LIMIT and self.left > 0 else self.stop

    def poll(self, address: int, mask: int, value: int, _advance: Advance, /) -> bool:
        """Read until the bits of ``mask`` are those of ``value``."""
        return self.until(lambda: self._door.read32(address) & mask == value)

    def come_to(self, operation: Operation) -> None:
        """Let the time pass that the operation before this one took.

        Raises:
            SimulationError: it passes the last cycle.
        """
        self.come_to_number += 1
        self._pace.before(operation)
        if self.left <= 0:
            raise SimulationError(_too_late(operation, self._end))

    def launched(self) -> None:
        """Let cores come to where they wait; the cycles of the run count from then on."""
        if not self.untimed:
            before = self._array.engine.now
            settle(self._array.engine, LAUNCH_CYCLES)
            self._end += self._array.engine.now - before

    def do(self, sequence: HostProgram | None) -> None:
        """Let the array run until a host sequence has ended, if there is one.

        Raises:
            SimulationError: it waits for what never comes.
        """
        if sequence is None:
            return
        array = self._array
        array.host(sequence)
        array.route()
        stop = run_sequences(
            array.engine, array.hosts, self._end, untimed=self.untimed, progress=self._progress
        )
        if stop is not None:
            self.stop = stop
            raise SimulationError(
                Problem(
                    reason="host",
                    where="program",
                    field="host sequence",
                    given="not ended",
                    allowed="ended before the operations begin",
                    source="the sequence before a program",
                    says=array.hosts[-1].waits_for(),
                )
            )

    def run_on(self) -> Result:
        """Let the array run until nothing moves any more."""
        return self._array.run(self.left, untimed=self.untimed, progress=self._progress)

    def until(self, met: Callable[[], bool], in_vain: Callable[[], int] = lambda: 0) -> bool:
        """Let the array run until ``met``; False when it cannot be any more, or the last cycle is over.

        ``in_vain`` says for how many cycles it surely is not met.
        """
        quiet, engine = False, self._array.engine
        while not met():
            if quiet or self.left <= 0:
                return False
            if self.untimed:
                self.stop = run_untimed(engine, self._progress)
            else:
                self.stop = run_to_next_poll(engine, self._end, self._progress, in_vain=in_vain())
            quiet = self.untimed or self.stop is Stop.QUIET
        return True


def _at_once(table: OperationTable) -> Ints:
    return np.full(len(table), AT_ONCE)


def run_program(
    operations: Sequence[Operation],
    array: Array,
    given: Sequence[Given] = (),
    wanted: Sequence[Wanted] = (),
    *,
    kernels: Kernels = NO_KERNELS,
    running: Kernels = NO_KERNELS,
    programs: Sequence[Kernels] = (),
    before: HostProgram | None = None,
    after: HostProgram | None = None,
    launch: int = 0,
    options: RunOptions = USUAL,
    **more: Unpack[RunKeywords],
) -> ProgramResult:
    """Do the operations in order, let the array run on until nothing moves, and take the arrays.

    Polls and waits for tokens let the array run; pointer patches get the addresses of ``given`` arrays. When
    its last wait comes after all that it starts, it ends there: ``result.resting`` has what still waits.

    Args:
        operations: the program.
        array: the model, as firmware leaves it.
        given: arrays for external memory, tile memories and streams.
        wanted: arrays to take at the end.
        kernels: by column and row of a tile what its core does, from when the program enables it.
        running: kernels that run already; they begin again when a reset of their core is over.
        programs: kernels that operations load, by number, see ``pdi_loads.PROGRAM``.
        before: a host sequence that is done before the operations.
        after: a host sequence that is done after them.
        launch: how many of the first operations load the array long before the host begins (DEV-HOST-3).
        options: of the run.
        more: fields of :class:`RunOptions`, which come before those.

    Raises:
        InputFileError: what cannot be done or does not fit: all at once, first; on the way as :func:`apply`.
        DesignError: arrays that overlap in external memory; ``check`` of an untimed run.
    """
    options = RunOptions.of(options, more)
    operations = table_of(operations)
    cores = CoreKernels(array, kernels, running, programs)
    bound = _bound(operations, given, wanted, array, cores, pad=options.pad_arguments)
    options.refuse("a program of register writes", "data")
    refuse_untimed(options)
    cores.attach()
    host, addresses = _Host(array, options, cores), place(bound, array)
    with observing(array, options) as observed:
        result, stopped = _done(operations, launch, host, array, addresses, (before, after))
    result = with_dropped(observed.added_to(result), host.missed)
    arrays = {out.name: taken(out, array) for out in bound.outputs}
    return ProgramResult(result, arrays, bound.externals, stopped, (*bound.notes, *left_out(operations)))


def _done(
    operations: Sequence[Operation],
    launch: int,
    host: _Host,
    array: Array,
    addresses: Mapping[int, int],
    around: tuple[HostProgram | None, HostProgram | None],
) -> tuple[Result, str]:
    """The result of the operations, of what is done before and after them, and why it stopped before."""
    before, after = around
    try:
        host.do(before)
        _carry_out(operations, launch, host, array, addresses)
        return _to_the_end(operations, array, host, after), ""
    except SimulationError as error:
        return _stopped(array, table_of(operations[launch:]), host, str(error)), str(error)
    except KeyboardInterrupt:
        return _halfway(array, None, host.untimed, []), ""
    finally:
        array.engine.checks.pause()


def _carry_out(
    operations: Sequence[Operation], launch: int, host: _Host, array: Array, addresses: Mapping[int, int]
) -> None:
    """Do the operations, the first of them before the host has its time."""
    shape, tokens = ArrayShape.of(array.device, array.columns), TokenHost(array, host.until)
    host.tokens, patch = tokens, partial(_patch, array, addresses)
    handlers: Mapping[str, Handler] = {PATCH: patch, WAIT: tokens.wait, LOAD: host.load, UPDATE: host.update}
    steps = partial(apply, handlers=handlers, checked=True, missed=host.missed.append)
    if launch:
        steps(operations[:launch], host, shape, together=host.load_together)
        host.launched()
    steps(operations[launch:], host, shape, before=host.come_to, together=host.write_together)


def _patch(array: Array, addresses: Mapping[int, int], operation: Other) -> None:
    """Put the address of an argument into a descriptor."""
    pointer = pointer_of(operation)
    assert pointer is not None
    door = OwnDoor(array)
    for word in pointer_words(pointer.register, addresses[pointer.argument] + pointer.offset):
        door.mask_write32(word.address, word.mask, word.value)


def _too_late(operation: Operation, end: int) -> Problem:
    return Problem(
        reason="max_cycles",
        where=operation.place or "program",
        field="max_cycles",
        given=f"an operation at or after cycle {end}",
        allowed=f"operations before cycle {end}",
        source="the limit of the run",
        next_step="Allow more cycles.",
        says=f"the limit was reached at cycle {end}, before this operation",
    )


def _stopped(array: Array, operations: OperationTable, host: _Host, text: str) -> Result:
    """The result of a program that waits for what never comes, with what that is."""
    at = max(host.come_to_number, 1) - 1
    operation = operations[at] if operations else None
    missing = host.tokens.missing if host.tokens else ()
    starts = np.flatnonzero(operations.writing(ArrayShape.of(array.device, array.columns), queues))
    left = map(operations.__getitem__, starts[starts > at].tolist())
    waits = waiting_program(array.engine, operation, left, text, missing)
    return _halfway(array, host.ended, host.untimed, [waits])


def _halfway(array: Array, stop: Stop | None, untimed: bool, program: Sequence[HostWaiting]) -> Result:
    """The result of a program that did not come to its end: what is at rest still waits for the host."""
    hosts = [sequence.waiting() for sequence in array.hosts if not sequence.ended] or program
    moves = moves_of(array)
    result = outcome(array.engine, stop, {}, (), timed=not untimed, hosts=hosts, moves=moves)
    return replace(result, status=Status.STUCK) if result.status is Status.FINISHED else result


def _to_the_end(
    operations: Sequence[Operation], array: Array, host: _Host, after: HostProgram | None
) -> Result:
    """The result when the operations are done, and the sequence after them."""
    if after is not None:
        array.host(after)
    shape = ArrayShape.of(array.device, array.columns)
    waited = ends_waiting(operations, shape)
    said = bool(operations) and ".mlir:" in operations[len(operations) - 1].place  # else a recording
    starts = said and not waited and after is None and table_of(operations).writing(shape, queues).any()
    late = LateWrites.of(array.engine, timed=not host.untimed) if starts else None
    result = host.run_on()
    if late is not None:
        result = replace(result, findings=(*result.findings, *late.findings(array.engine)))
    if any(not sequence.ended for sequence in array.hosts):
        return result
    return _over(result) if waited else result


def _over(result: Result) -> Result:
    """The result of a program that has met all its waits: what still waits is no unfinished work.

    Where it waits for words, another program may send them. Words that somebody holds up stay behind.
    """
    if result.status not in (Status.STUCK, Status.LIMIT):
        return result
    resting = (*result.resting, *result.waiting)
    dropped = [finding for finding in result.findings if finding.code == DROPPED]
    behind = [_left(finding) for finding in result.findings if finding.code in HOLDING]
    findings = (*dropped, *behind)
    return replace(
        result, status=Status.FINISHED, waiting=(), resting=resting, findings=findings, waits=WaitGraph()
    )


def _left(finding: Finding) -> Finding:
    """Of words that stayed behind when all that the host had waited for was there."""
    message = f"The host met all its waits, and words stayed behind: {finding.message}"
    return replace(finding, severity=Severity.WARNING, message=message)


def _bound(
    operations: OperationTable,
    given: Sequence[Given],
    wanted: Sequence[Wanted],
    array: Array,
    cores: CoreKernels,
    *,
    pad: bool,
) -> BoundArrays:
    """Check program, arrays and kernels together."""
    shape = ArrayShape.of(array.device, array.columns)
    problems = [*check(operations, shape, _CHECKS.keys()), *cores.problems(operations, shape)]
    others = list(operations.of_code(Code.OTHER))
    for operation in others:
        if isinstance(operation, Other) and operation.name in _CHECKS:
            problems += _CHECKS[operation.name](operation, shape)
    try:
        pointers = [pointer for operation in others if (pointer := pointer_of(operation))]
        arguments = sorted({pointer.argument for pointer in pointers})
        bound = bind(external_uses(operations, shape), arguments, given, wanted, shape, pad=pad)
    except InputFileError as error:
        problems += error.problems
    raise_if(problems, InputFileError)
    return bound
