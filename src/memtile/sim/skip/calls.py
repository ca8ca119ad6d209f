"""What Python asks of compiled code to skip time."""

from __future__ import annotations

from memtile.jit.structs import Struct, at_hand
from memtile.model import column_clock
from memtile.model.state.state import State
from memtile.sim.loop import clock, compiled_model
from memtile.sim.skip.compiled import SkipOperation
from memtile.sim.skip.records import Arrays

_RUN, _SKIP = (
    int(SkipOperation.RUN),
    int(compiled_model.MachineCall.SKIP),
)  # members of an enum are slow to look up


def _ask(st: State, operation: int, x: int, more: Struct) -> int:
    return compiled_model.ask(st, _SKIP, x, operation, more=more)


def run_forward(st: State, until: int, work: Arrays) -> clock.Stop:
    """Advance to cycle ``until`` at most, jumping over what repeats; why the clock stopped.

    It also stops, as for a limit, when as many cycles as the budget in the book says have been stepped.
    """
    written = at_hand(st).clock.columns_written
    stop = _ask(st, _RUN, int(until), work)
    while written[0]:
        column_clock.follow(st)
        forget_periods(st, work)
        stop = _ask(st, _RUN, int(until), work)
    return compiled_model.STOPS[stop]


def forget_periods(st: State, work: Arrays) -> None:
    """Something else than the clock has changed the state, or may have."""
    _ask(st, SkipOperation.FORGET, 0, work)


def next_action(st: State, work: Arrays) -> int:
    """Move the words of a jump up to the next action of a core; its segment, or ``ALL_DONE``."""
    return _ask(st, SkipOperation.REPLAY, 0, work)


def end_replay(st: State, work: Arrays) -> None:
    """Bring the state to the end of the last whole period of a jump, whose words are moved."""
    _ask(st, SkipOperation.END_REPLAY, 0, work)


def put_back(st: State, work: Arrays, number: int) -> None:
    """Put the words under way right, after a period was stepped up to its action ``number``."""
    _ask(st, SkipOperation.PUT_BACK, number, work)
