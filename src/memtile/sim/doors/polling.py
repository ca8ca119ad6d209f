"""How a host lets time pass between two looks at the array.

Looks that are in vain for sure are left out, so that time that repeats between them can be jumped over;
what comes out is the same, in each cycle.

It also says how cores come to where they wait, before a host begins (DEV-HOST-3).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memtile.jit.tables import plain
from memtile.model.dma import bd_fields
from memtile.model.dma.channel_registers import (
    COMPRESSION_LSB,
    FOT_MASK,
    OUT_OF_ORDER_MASK,
    QUEUE_REPEAT_LSB,
    QUEUE_REPEAT_MASK,
    QUEUE_START_BD_MASK,
    QUEUE_TOKEN_LSB,
)
from memtile.model.events import units as event_units
from memtile.model.state.causes import LINKS, CorePhase, Phase
from memtile.model.streams.switch_config import OFF
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine, Progress

POLL_CYCLES = 100  # between two reads of a polled register
_EVER = 1 << 40
_BUSY = (Phase.ACQUIRE, Phase.RUN)  # phases in which a BD is loaded
_BY_WORDS = FOT_MASK | OUT_OF_ORDER_MASK  # of a channel whose words say when a BD ends or which is next


def run_to_next_poll(engine: Engine, end: int, progress: Progress | None = None, *, in_vain: int = 0) -> Stop:
    """Let time pass up to the next poll, to cycle ``end`` at most.

    Polls are ``POLL_CYCLES`` cycles apart. There is nothing to see for ``in_vain`` cycles: polls in these are
    left out. ``Stop.QUIET`` when nothing can move any more, and no timer or counter has been set to a cycle
    before ``end`` (AM025 Timer_Trig_Event, Performance_Counter_Event_Value).

    Args:
        engine: the model.
        end: cycle.
        progress: called now and then with the cycles done so far.
        in_vain: cycles.
    """
    began = engine.now
    stop = run_to_poll(engine, end, began, progress, in_vain)
    if stop is not Stop.QUIET or not events_are_due(engine, end):
        return stop
    engine.wait(min(next_poll(began, engine.now), end) - engine.now)
    return Stop.LIMIT


def run_to_poll(engine: Engine, end: int, polled: int, progress: Progress | None, in_vain: int) -> Stop:
    """:func:`run_to_next_poll` behind a poll in cycle ``polled``, without the wait behind ``Stop.QUIET``."""
    passed = engine.now - polled
    polls = max((passed + in_vain) // POLL_CYCLES, passed // POLL_CYCLES + 1)
    return engine.resume(min(polled + polls * POLL_CYCLES, end), progress)


def next_poll(polled: int, now: int) -> int:
    """The cycle of the first poll from ``now`` on, behind one in cycle ``polled``."""
    return polled + max(-(-(now - polled) // POLL_CYCLES), 1) * POLL_CYCLES


def events_are_due(engine: Engine, end: int) -> bool:
    """Whether a timer, a counter or another event changes registers by itself before cycle ``end``."""
    return event_units.limit(engine.state, end) < end


def cycles_left(engine: Engine, tasks: Mapping[int, int]) -> int:
    """Cycles in which not all of these tasks end for sure; 0 = few, or not known.

    A BD does not end before its last word, if nobody but the host writes registers; a task not before the
    last BD of its last run.

    Args:
        engine: the model.
        tasks: by channel how many of the tasks that it runs or has in its queue are waited for.
    """
    return _for_sure(engine, max((_cycles_of_tasks(engine, *task) for task in tasks.items()), default=0))


def cycles_to_first_end(engine: Engine, tasks: Mapping[int, int]) -> int:
    """Cycles in which none of these tasks ends for sure; arguments and 0 as for :func:`cycles_left`."""
    return _for_sure(engine, min((_cycles_of_tasks(engine, *task) for task in tasks.items()), default=0))


def _for_sure(engine: Engine, cycles: int) -> int:
    return 0 if cycles < 2 * POLL_CYCLES or _may_be_written(engine) else cycles


def tasks_to_token(engine: Engine, ch: int) -> int:
    """How many tasks of a channel, running or queued, end up to the first that sends a token."""
    c = engine.channels
    tokens = [int(c.task_token[ch])]
    tokens += [word >> QUEUE_TOKEN_LSB & 1 for word in c.queue[ch, : c.queue_count[ch]].tolist()]
    return tokens.index(1) + 1 if 1 in tokens else len(tokens)


def _cycles_of_tasks(engine: Engine, ch: int, many: int) -> int:
    """Cycles that the words take which tasks have left; 0 where the words themselves say how many.

    With ``external_ahead`` the token of a task comes with its last words from external memory, an access a
    cycle.
    """
    c, walks = plain(engine.state.channels), plain(engine.state.walks)
    if c.phase[ch] not in _BUSY or c.packed[ch] or c.control[ch] & _BY_WORDS or many < 1:
        return 0
    left, rate = int(c.length[ch] - c.moved[ch]), int(walks.stream_words[ch])
    if c.external[ch] >= 0 and engine.timing.external_ahead:
        left, rate = int(walks.left[ch]) * bool(c.phase[ch] == Phase.RUN), int(walks.granule_words[ch])
    if c.control[ch] >> COMPRESSION_LSB & 1:
        return left // rate
    bds = _Bds(engine, ch)
    left += bds.words(int(c.next_bd[ch]))
    if c.runs_left[ch]:
        left += int(c.runs_left[ch]) * bds.words(int(c.task_bd[ch]))
    for word in c.queue[ch, : min(c.queue_count[ch], many - 1)].tolist():
        runs = (word >> QUEUE_REPEAT_LSB & QUEUE_REPEAT_MASK) + 1
        left += runs * bds.words(word & QUEUE_START_BD_MASK)
    return min(left // rate, _EVER)


class _Bds:
    """The BDs of a channel's tile, as their registers are now.

    Args:
        engine: the model.
        ch: model index of the channel.
    """

    def __init__(self, engine: Engine, ch: int) -> None:
        spec = engine.spec._replace(tiles=plain(engine.spec.tiles), kinds=plain(engine.spec.kinds))
        self._state, self._tile = engine.state._replace(spec=spec), int(engine.channels.tile[ch])

    def words(self, bd: int) -> int:
        """Words of the chain that begins with a BD, of one without an end very many; -1 = none."""
        seen, found = set[int](), 0
        while bd >= 0:
            if bd in seen:
                return _EVER
            seen.add(bd)
            found += self._field(bd, bd_fields.BUFFER_LENGTH)
            bd = self._field(bd, bd_fields.NEXT_BD) if self._field(bd, bd_fields.USE_NEXT_BD) else -1
        return found

    def _field(self, bd: int, field: int) -> int:
        return int(bd_fields.read_field(self._state, self._tile, bd, field))


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
