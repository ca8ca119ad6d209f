"""The processor beside an array: it writes registers, polls and waits, while the array runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memtile.arch.dispatch import Launch
from memtile.arch.timing import LAUNCH_CYCLES
from memtile.errors import Problem, SimulationError
from memtile.explain.names import called
from memtile.model.dma.task_queue import room
from memtile.runs.batches import Batches, Costs, Pace
from memtile.runs.core_kernels import CoreKernels
from memtile.runs.design_run import run_sequences
from memtile.runs.firmware import PROGRAM, update
from memtile.runs.host_orders import HostOrders
from memtile.runs.machine import ArrayMachine, HostProgram, OwnDoor
from memtile.runs.operation_table import Ints, OperationTable
from memtile.runs.operations import ArrayShape, Operation, Other
from memtile.runs.options import RunOptions
from memtile.runs.register_writes import Advance
from memtile.runs.waits import TokenHost, pushed_channels
from memtile.sim.doors.passing_time import AT_ONCE
from memtile.sim.doors.polling import cycles_left, run_to_next_poll, settle
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.partition import restart
from memtile.sim.loop.untimed import run_untimed


class ProgramHost:
    """The processor beside the array: it writes, polls and waits, while the array runs.

    Args:
        array: the model.
        operations: that it comes to, each in its time.
        options: of the run.
        cores: kernels that begin when their cores are enabled.
        launch: how the program is launched.

    Attributes:
        come_to_number: how many operations it has come to.
        missed: its writes that nothing answered.
        tokens: what it receives them with, once it does operations.
        launch: how the program is launched.
        waits_for: channels whose queues have no room for the task that it is to push.
        waited: how many pushes have waited for room so far.
        orders: what of its steps hangs on timing; None = nobody wants to know, or it has not begun.
        untimed: data moves without a clock.
    """

    def __init__(
        self,
        array: ArrayMachine,
        operations: OperationTable,
        options: RunOptions,
        cores: CoreKernels,
        launch: Launch,
    ) -> None:
        self._array, self._end = array, array.engine.now + options.max_cycles
        self.untimed, self._progress = options.untimed, options.progress
        self._cores = cores
        self._door = OwnDoor(array)
        shape = ArrayShape.of(array.device, array.columns)
        self.launch = launch
        self._pace = Pace(
            array.engine.host,
            array.engine.timing,
            shape,
            operations,
            launch.dispatch,
            untimed=options.untimed,
        )
        self._batches = Batches(array, cores.starting)
        self._untouched = array.engine.now == 0
        self.come_to_number = 0
        self._place = ""  # where the operation is said that it has come to
        self.missed: list[Problem] = []
        self.tokens: TokenHost | None = None
        self.waits_for: tuple[int, ...] = ()
        self.waited = 0
        self.stop = Stop.LIMIT
        self.orders: HostOrders | None = None
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
        """Carry out writes from one on, each when the host comes to it; how many.

        None in a run that is checked, which looks at what each of them does.
        """
        if self._array.engine.checks.watch is not None:
            return 0
        done = self._together(operations, first, self._pace.costs)
        self.come_to_number += done
        if self.orders is not None:
            self.orders.see_together(operations[first : first + done])
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
            self._array.engine.checks.host_resets()
            self._cores.restart(program)
            watch = self._array.engine.checks.watch
            if watch is not None and self.orders is not None and not self.orders.pushes:
                watch.restarted()

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
            SimulationError: it passes the last cycle, or waits for room in a queue that never comes.
        """
        self._array.engine.checks.host_did(self._place)
        number, self._place = self.come_to_number, operation.place
        self._pace.before(number)
        if not number:
            self._array.engine.checks.host_begins()
        self.come_to_number += 1
        if self.left <= 0:
            raise SimulationError(_too_late(operation, self._end))
        patient = self._pace.waits_for_room(number)
        if patient:
            self._have_room(operation)
        if self.orders is not None:
            self.orders.see(operation, waits_for_room=patient)

    def _have_room(self, operation: Operation) -> None:
        """Let the array run until every queue to which the operation pushes a task has room."""
        engine = self._array.engine
        full = [ch for ch in pushed_channels(engine, operation) if not room(engine.state, ch)]
        if not full:
            return
        self.waited += 1

        def in_vain() -> int:
            return cycles_left(engine, {ch: 1 for ch in full if not room(engine.state, ch)})

        if not self.until(lambda: all(room(engine.state, ch) for ch in full), in_vain):
            self.waits_for = tuple(full)
            raise SimulationError(_no_room(operation, called(engine, full[0])))

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
            raise SimulationError.of(
                "host sequence",
                "not ended",
                "ended before the operations begin",
                array.hosts[-1].waits_for(),
                reason="host",
                where="program",
                source="the sequence before a program",
            )

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


def _no_room(operation: Operation, channel: str) -> Problem:
    return Problem(
        "task queue",
        f"a task for {channel}, whose queue stays full",
        "a queue that has room at some time",
        f"firmware waits to push a task to {channel}, whose queue never has room again",
        "Start what takes the words of the tasks before it first, or wait for them before this push.",
        reason="task_queue",
        where=operation.place or "program",
        source="docs/deviations.md, DEV-QUEUE-2",
    )


def _too_late(operation: Operation, end: int) -> Problem:
    return Problem(
        "max_cycles",
        f"an operation at or after cycle {end}",
        f"operations before cycle {end}",
        f"the limit was reached at cycle {end}, before this operation",
        "Allow more cycles.",
        reason="max_cycles",
        where=operation.place or "program",
        source="the limit of the run",
    )
