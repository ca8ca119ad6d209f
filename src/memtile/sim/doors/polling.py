"""How a host lets time pass between two looks at the array.

Looks that are in vain for sure are left out, so that time that repeats between them can be jumped over;
what comes out is the same, in each cycle.

It also says how cores come to where they wait, before a host begins (DEV-HOST-3).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memtile.jit.tables import plain
from memtile.model.dma.channel_registers import FOT_MASK, OUT_OF_ORDER_MASK
from memtile.model.events import units as event_units
from memtile.model.state.causes import LINKS, CorePhase, Phase
from memtile.model.streams.switch_config import OFF
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine, Progress

POLL_CYCLES = 100  # between two reads of a polled register


def run_to_next_poll(
    engine: Engine, end: int, progress: Progress | None = None, *, in_vain: int = 0, since: int | None = None
) -> Stop:
    """Let time pass up to the next poll, to cycle ``end`` at most.

    Polls are ``POLL_CYCLES`` cycles apart. There is nothing to see for ``in_vain`` cycles: polls in these are
    left out. ``Stop.QUIET`` when nothing can move any more, and no timer or counter has been set to a cycle
    before ``end`` (AM025 Timer_Trig_Event, Performance_Counter_Event_Value).

    Args:
        engine: the model.
        end: cycle.
        progress: called now and then with the cycles done so far.
        in_vain: cycles.
        since: cycle of the last poll; None = the present one.
    """
    began = engine.now if since is None else since
    passed = engine.now - began
    polls = max((passed + in_vain) // POLL_CYCLES, passed // POLL_CYCLES + 1)
    stop = engine.resume(min(began + polls * POLL_CYCLES, end), progress)
    if stop is not Stop.QUIET or event_units.limit(engine.state, end) >= end:
        return stop
    polls = max(-(-(engine.now - began) // POLL_CYCLES), 1)
    engine.wait(min(began + polls * POLL_CYCLES, end) - engine.now)
    return Stop.LIMIT


def cycles_left(engine: Engine, channels: Iterable[int]) -> int:
    """Cycles for which the running task of one of these channels goes on for sure; 0 = few, or not known.

    No BD ends before its last word, if nobody but the host writes registers.
    """
    most = max((_cycles_of_task(engine, ch) for ch in channels), default=0)
    return 0 if most < 2 * POLL_CYCLES or _may_be_written(engine) else most


def _cycles_of_task(engine: Engine, ch: int) -> int:
    """Cycles of the words that a channel has left in its BD, and in further runs if no other BD follows.

    0 where the words themselves say how many. With ``external_ahead`` the token of a task comes with its last
    words from external memory, an access a cycle.
    """
    c, walks = plain(engine.state.channels), plain(engine.state.walks)
    if c.phase[ch] != Phase.RUN or c.packed[ch] or c.control[ch] & (FOT_MASK | OUT_OF_ORDER_MASK):
        return 0
    words, rate = int(c.length[ch] - c.moved[ch]), int(walks.stream_words[ch])
    if c.external[ch] >= 0 and engine.timing.external_ahead:
        words, rate = int(walks.left[ch]), int(walks.granule_words[ch])
    runs = int(c.runs_left[ch]) if c.next_bd[ch] < 0 else 0
    return words // rate + runs * (int(c.length[ch]) // rate)


def _may_be_written(engine: Engine) -> bool:
    """Whether anybody but the host may write registers: a control packet, or a kernel."""
    st, switch = engine.state, plain(engine.state.switch)
    ports = (switch.control >= 0) & ((switch.mode != OFF) | (switch.held > 0))
    cores = (each.core for each in engine.cores.running.values())
    return bool(st.active_controls[0] or ports.any() or any(c.keeps_to is None or c.bus.on for c in cores))


_AT_REST = [phase for phase in CorePhase if not phase.is_work]
_STALLS = [link.stall for link in LINKS.values()]


def settle(engine: Engine, most: int) -> None:
    """Let time pass until every core waits for a lock, its cascade or its stream, or has ended.

    Nothing passes without kernels.

    Args:
        engine: of the array.
        most: cycles from cycle 0 on that this may take.
    """
    step = 1
    while engine.now < most and not _rests(engine):
        engine.wait(min(step, most - engine.now))
        step = min(2 * step, _LONGEST)


_LONGEST = 64  # cycles between two looks


def _rests(engine: Engine) -> bool:
    cores = engine.state.cores
    working = ~np.isin(cores.phase, _AT_REST) | ((cores.phase == CorePhase.ACQUIRE) & _free(engine))
    linked = np.isin(cores.why, _STALLS)
    moves = engine.state.clock.activity[0] > 0 and bool(linked.any())
    return not moves and not bool((working & ~linked).any())


def _free(engine: Engine) -> np.ndarray:
    """Which cores ask for a lock that they would get."""
    cores, values = engine.state.cores, engine.state.locks.value
    have = values[cores.target]
    wanted = np.asarray(cores.value)
    return np.where(wanted < 0, have >= -wanted, have == wanted)
