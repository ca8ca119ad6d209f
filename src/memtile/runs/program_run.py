"""A run of a program of register accesses: arrays in, the host's writes and waits, arrays out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np

from memtile.arch.dispatch import DEADLINE_MS, DEADLINE_STATE, Dispatch, Launch
from memtile.errors import InputFileError, Problem, SimulationError, raise_if
from memtile.explain.deadlock.context import HostWaiting
from memtile.explain.deadlock.graph import WaitGraph
from memtile.explain.finding_places import file_place
from memtile.explain.findings import CONNECTIONS, DROPPED, HOLDING, Finding, Severity, Side
from memtile.explain.imbalance import OF_TEXTS
from memtile.explain.late_writes import LateWrites
from memtile.explain.loose_ends import LOOSE
from memtile.explain.outcome import outcome
from memtile.explain.packet_headers import HEADERS
from memtile.explain.results import Result, Status
from memtile.runs.arrays import BoundArrays, bind, place, taken
from memtile.runs.awaited import awaited_tasks
from memtile.runs.bd_places import note_bd_places
from memtile.runs.core_kernels import CoreKernels
from memtile.runs.design_run import run_on
from memtile.runs.external_uses import external_uses
from memtile.runs.firmware import (
    LOAD,
    PATCH,
    UPDATE,
    load_problems,
    pointer_of,
    pointer_problems,
    pointer_words,
    update_problems,
)
from memtile.runs.host import ProgramHost
from memtile.runs.host_orders import HostOrders, is_blind, sequence_reasons
from memtile.runs.machine import ArrayMachine, OwnDoor
from memtile.runs.observing import areas_of, moves_of
from memtile.runs.operation_table import Code, OperationTable, queues, table_of
from memtile.runs.operations import ArrayShape, BlockWrite, Other
from memtile.runs.options import RunOptions
from memtile.runs.program import Program, Run
from memtile.runs.register_writes import Handler, apply, check
from memtile.runs.waits import (
    WAIT,
    TokenHost,
    earlier_waits,
    ends_waiting,
    silent_pushes,
    wait_problems,
    waiting_program,
)
from memtile.sim.loop.clock import Stop

_FIX = "Take the write out of the program, or run it on the device that it is for."
_NOTES: Mapping[str, str] = MappingProxyType(
    {
        "READ_REGS": "hand words of registers to the runtime",
        "MERGE_SYNC": "have firmware gather the tokens of several columns",
    }
)
"""Operations that change no register, and what firmware would do for them."""


def with_dropped(result: Result, missed: Sequence[Problem]) -> Result:
    """The result with a finding for each tile to which writes went that nothing answered (DEV-TXN-3).

    Args:
        result: of the run.
        missed: the writes, in order.
    """
    return replace(result, findings=(*result.findings, *_findings(missed)))


def _findings(missed: Sequence[Problem]) -> Iterator[Finding]:
    tiles: dict[str, list[Problem]] = {}
    for problem in missed:
        tiles.setdefault(problem.given.partition(" of ")[2], []).append(problem)
    for found in tiles.values():
        first = found[0]
        more = f"; {len(found) - 1:,} more writes to the tile went the same way" if len(found) > 1 else ""
        text = (
            f"A write met nothing and was dropped, as the tile answers it with an error: {first.says}{more}."
        )
        side = Side("the program", "writes it", first.where)
        yield Finding("MT0319", Severity.WARNING, text, (side,), fix=_FIX, count=len(found))


def left_out(operations: OperationTable) -> Iterator[str]:
    """A line for each kind of operation that firmware would carry out without touching a register."""
    others = Counter(each.name for each in operations.of_code(Code.OTHER) if isinstance(each, Other))
    for name, does in _NOTES.items():
        if others[name]:
            yield f"left out: {others[name]:,} {name}, which {does}"


def launch_of(options: RunOptions, said: Launch | None, array: ArrayMachine) -> Launch:
    """How a program is launched: by the option, else by its files, else as is usual (DEV-QUEUE-2)."""
    if options.dispatch is not None:
        return Launch(options.dispatch, "as the option says")
    return said or Launch(array.device.dispatch, f"as is usual on {array.device.name}")


def launch_notes(
    host: ProgramHost, result: Result, array: ArrayMachine, said: Launch | None
) -> Iterator[str]:
    """What the launch has to do with a result: who chose it, pushes that waited, how a stuck one ends."""
    dispatch, why = host.launch
    if dispatch != array.device.dispatch and host.launch is said:
        what = "an ELF" if dispatch is Dispatch.ELF else "an xclbin"
        usual = f"--dispatch {array.device.dispatch} is usual on {array.device.name}"
        yield f"launched from {what}, {why}; {usual}"
    if host.waited and not host.untimed:
        pushes = "1 push" if host.waited == 1 else f"{host.waited:,} pushes"
        yield (
            f"launched from an xclbin: firmware waited for room in a task queue before {pushes}; launched "
            "from an ELF it loses such tasks (--dispatch elf, DEV-QUEUE-2)"
        )
    if result.status is Status.STUCK:
        yield (
            f"on a board the driver ends this launch after some {DEADLINE_MS / 1000:.1f} s with "
            f"{DEADLINE_STATE}; what it has written by then stays (mlir-air PR 1826)"
        )


_CHECKS: Mapping[str, Callable[[Other, ArrayShape], Iterator[Problem]]] = {
    PATCH: pointer_problems,
    WAIT: wait_problems,
    LOAD: load_problems,
    UPDATE: update_problems,
}


class ProgramRun:
    """A program in an array: checked, its arrays in their places, ready to be carried out.

    Args:
        array: the model, as firmware leaves it.
        program: that has operations.
        options: of the run.

    Raises:
        InputFileError: what cannot be done or does not fit, all at once.
        DesignError: arrays that overlap in external memory.
    """

    def __init__(self, array: ArrayMachine, program: Program, options: RunOptions) -> None:
        assert program.operations is not None
        self._array, self._program, self._options = array, program, options
        self._operations = program.operations
        self._after_launch = table_of(program.operations[program.launch :])
        self._shape = ArrayShape.of(array.device, array.columns)
        cores = CoreKernels(array, program.kernels, program.running, program.programs)
        self._bound = self._checked(cores)
        cores.attach()
        self._launch = launch_of(options, program.said, array)
        self._host = ProgramHost(array, self._after_launch, options, cores, self._launch)
        self._addresses = place(self._bound, array)
        blocks = self._after_launch.of_code(Code.BLOCK_WRITE)
        note_bd_places(array.engine, (each for each in blocks if isinstance(each, BlockWrite)))

    def _checked(self, cores: CoreKernels) -> BoundArrays:
        """The arrays in their places; program, arrays and kernels are checked together."""
        operations, shape, program = self._operations, self._shape, self._program
        problems = [*check(operations, shape, _CHECKS.keys()), *cores.problems(operations, shape)]
        for operation in operations.of_code(Code.OTHER):
            if isinstance(operation, Other) and operation.name in _CHECKS:
                problems += _CHECKS[operation.name](operation, shape)
        try:
            pointers = [
                pointer for operation in operations.of_code(Code.OTHER) if (pointer := pointer_of(operation))
            ]
            arguments = sorted({pointer.argument for pointer in pointers})
            uses, padded = external_uses(operations, shape), self._options.pad_arguments
            bound = bind(uses, arguments, program.given, program.wanted, shape, pad=padded)
        except InputFileError as error:
            problems += error.problems
        raise_if(problems, InputFileError)
        return bound

    def carried_out(self) -> tuple[Result, str]:
        """The result of the operations, of what is done before and after them, and why it stopped before."""
        try:
            self._host.do(self._program.before)
            self._carry_out()
            return self._to_the_end(), ""
        except SimulationError as error:
            return self._stopped(error), str(error)
        except KeyboardInterrupt:
            return self._halfway(None, []), ""
        finally:
            self._array.engine.checks.pause()

    @property
    def timing_reasons(self) -> Iterator[str]:
        """What of the steps of the program hangs on timing."""
        yield from self._host.orders.found if self._host.orders else ()
        yield from sequence_reasons(self._array.hosts)

    def left(self, result: Result, stopped: str) -> Run:
        """What the program left: its result, its arrays, and writes that nothing answered."""
        arrays = {out.name: taken(out, self._array) for out in self._bound.outputs}
        notes = (*self._bound.notes, *left_out(self._operations))
        if self._array.engine.host.by_firmware:
            notes += tuple(launch_notes(self._host, result, self._array, self._program.said))
        launch = self._launch if self._array.engine.host.by_firmware else None
        missed = with_dropped(result, self._host.missed)
        return Run(missed, arrays, self._bound.externals, stopped, notes, launch)

    def _carry_out(self) -> None:
        """Do the operations, the first of them before the host has its time."""
        host, launch, operations = self._host, self._program.launch, self._operations
        host.tokens = tokens = TokenHost(self._array, host.until)
        handlers: Mapping[str, Handler] = {
            PATCH: self._patch,
            WAIT: tokens.wait,
            LOAD: host.load,
            UPDATE: host.update,
        }
        steps = partial(apply, handlers=handlers, checked=True, missed=host.missed.append)
        if launch:
            steps(operations[:launch], host, self._shape, together=host.load_together)
            host.launched()
        if (watch := self._array.engine.checks.watch) is not None:
            host.orders = HostOrders(self._array)
            watch.blind = is_blind(self._after_launch, self._shape)
        steps(self._after_launch, host, self._shape, before=host.come_to, together=host.write_together)

    def _patch(self, operation: Other) -> None:
        """Put the address of an argument into a descriptor."""
        pointer = pointer_of(operation)
        assert pointer is not None
        door = OwnDoor(self._array)
        for word in pointer_words(pointer.register, self._addresses[pointer.argument] + pointer.offset):
            door.mask_write32(word.address, word.mask, word.value)

    def _stopped(self, error: SimulationError) -> Result:
        """The result of a program that waits for what never comes, with what that is; or met its limit."""
        host, operations = self._host, self._after_launch
        at = max(host.come_to_number, 1) - 1
        operation = operations[at] if operations else None
        missing = host.tokens.missing if host.tokens else ()
        starts = np.flatnonzero(operations.writing(self._shape, queues))
        cut = host.left <= 0 and not missing and not host.waits_for  # by the limit, before the operation
        left = map(operations.__getitem__, starts[starts > at - cut].tolist())
        waits = waiting_program(self._array.engine, operation, left, str(error), missing, host.waits_for)
        earlier = earlier_waits(self._array.engine, operations[:at], missing)
        silent = silent_pushes(self._array.engine, operations[:at], self._shape, missing)
        waits = replace(waits, at_work=cut and not waits.channels, earlier=earlier, silent=silent)
        return self._halfway(host.ended, [waits])

    def _halfway(self, stop: Stop | None, program: Sequence[HostWaiting]) -> Result:
        """The result of a program that did not come to its end: what is at rest still waits for the host."""
        array = self._array
        hosts = [sequence.waiting() for sequence in array.hosts if not sequence.ended] or program
        timed, moves, areas = not self._options.untimed, moves_of(array), list(areas_of(array))
        result = outcome(array.engine, stop, {}, (), timed=timed, hosts=hosts, moves=moves, areas=areas)
        return replace(result, status=Status.STUCK) if result.status is Status.FINISHED else result

    def _to_the_end(self) -> Result:
        """The result when the operations are done, and the sequence after them."""
        operations, array, after = self._operations, self._array, self._program.after
        if after is not None:
            array.host(after)
        waited = ends_waiting(operations, self._shape)
        last = file_place(operations[len(operations) - 1].place, "").file if operations else ""
        said = last.endswith((".mlir", ".py"))  # else a recording, after which its host may do more
        late = None
        if said and after is None and operations.writing(self._shape, queues).any():
            late = self._late_writes(only_said=waited)
        array.route()
        result = run_on(array, replace(self._options, max_cycles=self._host.left))
        if waited and all(sequence.ended for sequence in array.hosts):
            result = after_all_waits(result)
        return result if late is None else late.added_to(result, array.engine)

    def _late_writes(self, *, only_said: bool) -> LateWrites:
        """What is written that no wait of the program is for.

        Args:
            only_said: what is at work beside that follows from the last wait.
        """
        engine = self._array.engine
        last = awaited_tasks(self._operations, engine, self._shape).open()
        return LateWrites.of(
            engine,
            timed=not self._options.untimed,
            started=last if only_said else None,
            places={ch: task.place for ch, task in last.items()},
            doubtful=[ch for ch, task in last.items() if task.others_awaited],
        )


def after_all_waits(result: Result) -> Result:
    """The result of a program that has met all its waits: what still waits is no unfinished work.

    Where it waits for words, another program may send them. Words that somebody holds up stay behind, and a
    task on a channel without a stream is none that another program can feed.
    """
    if result.status not in (Status.STUCK, Status.LIMIT):
        return result
    resting = (*result.resting, *result.waiting)
    dropped = [finding for finding in result.findings if finding.code == DROPPED]
    behind = [_left(finding) for finding in result.findings if finding.code in HOLDING]
    behind += [replace(each, severity=Severity.WARNING) for each in result.findings if _is_loose(each)]
    wrong = [finding for finding in result.findings if finding.code in OF_TEXTS or finding.code == HEADERS]
    findings = (*wrong, *dropped, *behind)
    return replace(
        result, status=Status.FINISHED, waiting=(), resting=resting, findings=findings, waits=WaitGraph()
    )


def _is_loose(finding: Finding) -> bool:
    """Whether it is about a channel that has a task and no stream, and one beside it or at the other end."""
    return finding.code in CONNECTIONS and len(finding.sides) > 1 and finding.sides[0].does in LOOSE


def _left(finding: Finding) -> Finding:
    """Of words that stayed behind when all that the host had waited for was there."""
    message = f"All waits of the host were met, but words are left over: {finding.message}"
    return replace(finding, severity=Severity.WARNING, message=message)
