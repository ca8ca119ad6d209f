"""A run of what a machine is set up for: its host sequences, then the array until nothing moves any more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from memtile.explain.checks import Check
from memtile.explain.exchanged_outputs import with_exchanges
from memtile.explain.late_writes import LateWrites
from memtile.explain.outcome import outcome
from memtile.explain.outputs import Outputs
from memtile.explain.results import Result
from memtile.runs.earlier_runs import RunStart
from memtile.runs.machine import HostSteps, Machine, Values
from memtile.runs.observing import areas_of, moves_of
from memtile.runs.options import RunOptions, whole_cycles
from memtile.runs.timed_kernels import take_steps
from memtile.sim.doors.polling import POLL_CYCLES, events_are_due, next_poll, run_to_poll
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine, Progress
from memtile.sim.loop.timing_only import gone, look_for_words, no_time, words_wanted
from memtile.sim.loop.untimed import run_untimed, words_within


def run_sequences(
    engine: Engine, sequences: Sequence[HostSteps], end: int, *, untimed: bool, progress: Progress | None
) -> Stop | None:
    """Let sequences do their steps, and the array run between them, until all have ended.

    Args:
        engine: the model.
        sequences: side by side; those that have ended do nothing.
        end: last cycle.
        untimed: move the data without a clock.
        progress: called now and then with the cycles, or untimed the words, done so far.

    Returns:
        Why not all of them could end; None = they have.

    Raises:
        DesignError: a step that is none, or work that its channel refuses.
    """
    quiet, begun = False, [each.polled >= 0 for each in sequences if not each.ended]
    is_polled = all(begun) and not untimed  # the last run was cut before the next poll
    while left := [sequence for sequence in sequences if not sequence.ended]:
        if not is_polled:
            if sum(_advance(engine, sequence, untimed=untimed) for sequence in left):
                quiet = False
                continue
            for sequence in left:
                sequence.polled = engine.now
        dues = [sequence.due for sequence in left if sequence.due >= 0]
        until = min([end, *dues])
        if engine.now >= end and not untimed:
            return Stop.LIMIT
        is_polled = False
        if quiet:
            polled, acts = left[0].polled, not untimed and events_are_due(engine, end)
            if acts or engine.now > polled:  # in a wait for the next poll, in which the last run was cut
                until = min(until, next_poll(polled, engine.now))
            elif not dues:
                return Stop.QUIET
            engine.wait(until - engine.now)
            quiet, is_polled = False, engine.now not in dues and not _polls(engine, polled)
        elif untimed:
            run_untimed(engine, progress)
            quiet = True
        else:
            quiet, is_polled = _to_next_poll(engine, left, until, progress)
    return None


def _advance(engine: Engine, sequence: HostSteps, *, untimed: bool) -> int:
    """Do the steps that can be done now, one by one if the run is checked; how many."""
    if engine.checks.watch is None:
        return sequence.advance(lambda: engine.now, not untimed)
    done, more = 0, 1
    while more:
        more = sequence.advance(lambda: engine.now, not untimed, 1)
        engine.checks.host_did(f"line {sequence.line}" if sequence.line else "")
        done += more
    return done


def _to_next_poll(
    engine: Engine, left: Sequence[HostSteps], until: int, progress: Progress | None
) -> tuple[bool, bool]:
    """Let the array run up to the next poll of sequences, to cycle ``until`` at most.

    Returns:
        Whether nothing can move any more, and whether there is nothing to poll: the cycle is not that of a
        poll or of a step that is due, or none has passed.
    """
    began, polled = engine.now, left[0].polled
    in_vain = 0  # of a run that resumes between two polls: what has ended since the last one is not seen yet
    if began == polled:
        in_vain = min(sequence.in_vain(engine, alone=len(left) == 1) for sequence in left)
    if run_to_poll(engine, until, polled, progress, in_vain) is Stop.QUIET:
        return True, engine.now == began
    is_due = any(sequence.due == engine.now for sequence in left)
    return False, not is_due and not _polls(engine, polled)


def _polls(engine: Engine, polled: int) -> bool:
    """Whether the present cycle is that of a poll."""
    return (engine.now - polled) % POLL_CYCLES == 0


def run_on(machine: Machine, options: RunOptions) -> Result:
    """Let a machine run until nothing moves any more, or the limit is reached; Ctrl-C keeps what is done.

    Raises:
        DesignError: the limit is no whole number; a run without words that is untimed, or came before.
    """
    engine, untimed, most = machine.engine, options.untimed, whole_cycles(options.max_cycles)
    engine.host.stopped = untimed
    engine.read_by_host = any(sequence.reads for sequence in machine.hosts)
    _must_have_words(machine, untimed=untimed)
    if not words_wanted():
        take_steps(machine)
    start = RunStart.of(machine, options)
    recalled = start is not None and start.recalled()
    stop, late = (Stop.QUIET, None) if recalled else _advanced(machine, options, engine.now + most)
    engine.checks.pause(halfway=stop is Stop.LIMIT and not untimed)
    found = _result(machine, stop, timed=not untimed)
    if late is not None:
        found = late.added_to(found, engine)
    if engine.wordless:  # they say what is missing, and nothing of the words
        found = replace(found, checks=(), words=False)
    if start is not None and not recalled and found.good and (late is None or not late.words):
        with suppress(KeyboardInterrupt):  # the run is done: only its end is not kept then
            start.keep()
    needed = engine.words_needed_by
    return replace(found, parameters=dict(machine.parameters), words_needed_by=needed, recalled=recalled)


def _advanced(machine: Machine, options: RunOptions, end: int) -> tuple[Stop | None, LateWrites | None]:
    """Run a machine: why it stopped (None = Ctrl-C), and the words that come after its hosts have ended."""
    engine, untimed, late = machine.engine, options.untimed, None
    try:
        stop = run_sequences(engine, machine.hosts, end, untimed=untimed, progress=options.progress)
        if stop is None and machine.hosts:
            started = {task.channel.index for each in machine.hosts for task in each.host.tasks}
            late = LateWrites.of(engine, timed=not untimed, started=started)
        if stop is None and untimed:
            stop = run_untimed(engine, options.progress, words_within(engine, end - engine.now))
        elif stop is None:
            stop = engine.resume(end, options.progress)
    except KeyboardInterrupt:
        return None, late
    return stop, late


def stopped(machine: Machine, stop: Stop | None) -> Result:
    """The result of a machine as it stands; ``stop``: why it does not run on, None = Ctrl-C."""
    machine.engine.checks.pause()
    return _result(machine, stop, timed=True)


def _result(machine: Machine, stop: Stop | None, *, timed: bool) -> Result:
    engine = machine.engine
    taken = [channel for tile in machine.members for channel in tile.mm2s if channel.taken]
    outputs = Outputs({channel.name: channel.output_so_far() for channel in taken})
    checks = [check for channel in taken if (check := channel.check())]
    if not engine.wordless:
        checks += _buffer_checks(machine)
    before, machine.run_until = machine.run_until, engine.now
    return outcome(
        engine,
        stop,
        Outputs({}, lambda: gone("Result.outputs", "outputs")) if engine.wordless else outputs,
        checks,
        timed=timed,
        before=before,
        listening=machine.listening,
        hosts=[sequence.waiting() for sequence in machine.hosts if not sequence.ended],
        moves=moves_of(machine),
        areas=list(areas_of(machine)),
    )


def _must_have_words(machine: Machine, *, untimed: bool) -> None:
    """Refuse an untimed run without words, and one with words after one without them."""
    if words_wanted():
        look_for_words(machine.engine, "run", "an untimed run" if untimed else "a run with words")
    elif untimed:
        raise no_time()


def _buffer_checks(machine: Machine) -> Iterator[Check]:
    """Comparisons of buffers with what they should hold at the end; nobody can read without a clock."""
    arrays = [(name, array, wanted) for name, array, wanted in machine.compared]
    buffers = [
        (f"{tile.label}buffer {buffer.name}", _held(machine, tile, buffer, data), data)
        for tile, buffer, data in machine.expected
    ]
    for outputs in (arrays, buffers):
        checks = [Check.compare(name, came.ravel(), wanted, [came.shape]) for name, came, wanted in outputs]
        yield from with_exchanges(checks, [(came.ravel(), wanted) for _, came, wanted in outputs])


def _held(machine: Machine, tile: Any, buffer: Any, data: Values) -> Values:
    """What a buffer holds; nothing without a clock."""
    return tile.load(buffer) if machine.engine.has_clock(tile.index) else data[:0]
