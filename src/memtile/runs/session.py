"""The one place that runs things: a program and the options of its run go in, a run comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, cast

from memtile.arch.timing import LAUNCH_CYCLES
from memtile.errors import InputFileError, raise_if
from memtile.runs.array_names import Given, Wanted
from memtile.runs.core_kernels import NO_KERNELS, CoreKernels, Kernels
from memtile.runs.design_run import run_on
from memtile.runs.host_orders import sequence_reasons
from memtile.runs.live_run import LiveHost, LiveRun
from memtile.runs.machine import ArrayMachine, HostProgram, Machine
from memtile.runs.observing import observing, refuse_untimed
from memtile.runs.operation_table import table_of
from memtile.runs.operations import ArrayShape, Operation
from memtile.runs.options import USUAL, RunKeywords, RunOptions
from memtile.runs.program import Program, Run
from memtile.runs.program_run import ProgramRun
from memtile.sim.doors.polling import settle


class Session:
    """Runs of one machine.

    Args:
        machine: a memory tile at its bench, or an array, as it is.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def run(self, program: Program, options: RunOptions) -> Run:
        """Do the operations of a program in order, if there are any, then run until nothing moves any more.

        A live host acts until it leaves.

        Args:
            program: what runs beside what the design has set up; operations and live hosts are for arrays.
            options: of the run.

        Raises:
            InputFileError: a program that cannot be done, or does not fit: all problems at once, first.
            DesignError: a check or a history of an untimed run, or other options that do not fit; arrays
                that overlap in external memory; as the design raises it.
        """
        if program.live is not None:
            return self._live_run(cast("ArrayMachine", self._machine), program, program.live, options)
        refuse_untimed(options)
        if program.operations is not None:
            return self._program_run(cast("ArrayMachine", self._machine), program, options)
        with observing(self._machine, options) as observed:
            result = run_on(self._machine, options)
        return Run(observed.with_proof(observed.added_to(result), sequence_reasons(self._machine.hosts)))

    def _program_run(self, array: ArrayMachine, program: Program, options: RunOptions) -> Run:
        options.refuse("a program of register writes", "data", "recall")
        if program.launched:
            with observing(array, options) as observed:
                if not options.untimed:
                    settle(array.engine, LAUNCH_CYCLES)
                run = ProgramRun(array, program, options)
                result, stopped = run.carried_out()
        else:
            run = ProgramRun(array, program, options)  # what it puts into memory is there before anything
            with observing(array, options) as observed:
                result, stopped = run.carried_out()
        proved = observed.with_proof(observed.added_to(result), run.timing_reasons)
        return run.left(proved, stopped)

    def _live_run(self, array: ArrayMachine, program: Program, host: LiveHost, options: RunOptions) -> Run:
        assert not any((program.operations, program.before, program.after, program.given, program.wanted))
        of_programs = ("data", "recall", "pad_arguments", "dispatch")
        options.refuse("a live host", "max_cycles", "untimed", *of_programs, "progress")
        cores = None
        if program.kernels or program.running:
            cores = CoreKernels(array, program.kernels, program.running, strict=True)
            raise_if([*cores.problems(None, ArrayShape.of(array.device, array.columns))], InputFileError)
            cores.attach()
        array.engine.cores.failed = {}  # no mistake of a kernel ends what serves hosts
        with observing(array, options, host.named(array)) as observed:
            run = LiveRun(array, host, options, observed, cores)
            host.act(run)
            result, stopped = run.left()
        return Run(observed.added_to(result), stopped=stopped)


def run_program(
    operations: Sequence[Operation],
    array: ArrayMachine,
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
) -> Run:
    """Execute the operations in order, run the array until nothing moves, and return the arrays.

    Polls and waits for tokens let the array run; pointer patches get the addresses of ``given`` arrays. When
    its last wait comes after all that it starts, it ends there: ``result.resting`` has what still waits.

    Args:
        operations: the program.
        array: the model, as firmware leaves it.
        given: arrays for external memory, tile memories and streams.
        wanted: arrays to return at the end.
        kernels: kernel of each core, by column and row of its tile; it runs once the program enables the
            core.
        running: kernels that run already; they restart after a reset of their core.
        programs: kernels that operations load, by number, see ``firmware.PROGRAM``.
        before: a host sequence to run before the operations.
        after: a host sequence to run after them.
        launch: how many of the first operations load the array long before the host begins (DEV-HOST-3).
        options: of the run.
        more: fields of :class:`RunOptions`; they override ``options``.

    Raises:
        InputFileError: what cannot be done or does not fit: all at once, first; on the way as
            ``register_writes.apply``.
        DesignError: arrays that overlap in external memory; ``check`` of an untimed run.
    """
    steps = table_of(operations)
    program = Program(steps, given, wanted, kernels, running, programs, before, after, launch)
    return Session(array).run(program, RunOptions.of(options, more))
