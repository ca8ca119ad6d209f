"""The untimed run: the same tasks, locks and words as the cycle run, without the time.

Control is that of the cycle engine (``model.dma.executions``); words of a BD move at once, in NumPy, along
``access.walk``. What cannot move as a whole is left to the clock loop at the end: a source that runs dry in
the middle of a BD, an output that nobody takes, a walk that leaves its window. So both runs end in the same
state if the result does not depend on time: no word is read and written, and no lock value is waited for,
by channels that no lock keeps in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from memtile.access.compression import LONGEST_GROUP, compress, compressed_length, decompress
from memtile.access.move import Mover
from memtile.access.walk import Walk, addresses
from memtile.arch.tiles import COMPRESSED_GROUP_WORDS, S2MM
from memtile.errors import TransferError
from memtile.jit.tables import plain
from memtile.model.dma import executions as log
from memtile.model.dma.executions import BARRED, LEAST, MOVED, NOTHING
from memtile.model.memory import ecc, watchpoints
from memtile.model.state.causes import Cause
from memtile.model.state.columns import FOREVER, Ints, Words
from memtile.model.state.state import State
from memtile.sim.doors import host_memory
from memtile.sim.loop import compiled_model
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine, Progress
from memtile.sim.ports.collected import Caught, at_end
from memtile.sim.ports.refused_compression import refuse_unknown

_NEVER = -1
_MOST_SEEN = 1 << 12  # BDs whose way is kept
_LOG_ROWS = 1 << 8  # executions that wait for their words, beside those of one round
_ENDLESS = 1 << 62

UNTIMED_WORDS = 1 << 28  # after which an untimed run that never ends is stopped
Move = Callable[[], int]  # moves the words of a BD execution; returns what they count


def run_untimed(engine: Engine, progress: Progress | None = None, limit: int = UNTIMED_WORDS) -> Stop:
    """Run until nothing can move any more; the clock stays where it is.

    Args:
        engine: the model, with its feeds and sinks.
        progress: called now and then with the words moved so far; each BD counts for some at least.
        limit: words after which a design that never ends is stopped; short BDs count for more than they move.

    Returns:
        ``Stop.QUIET``, or ``Stop.LIMIT`` when the limit was reached. The words moved are booked under
        ``Cause.MOVING``, no other cause is.

    Raises:
        KeyboardInterrupt: Ctrl-C; the BDs before the current one are done.
        SimulationError: a channel was to compress in a format that is not public, and is halted.
    """
    with engine.upsets.held(), _time_put_back(engine.state):
        words = _Mover(engine).run(progress, limit)
        refuse_unknown(engine.state)
        if words >= limit:
            return Stop.LIMIT
        return engine.run(engine.now + limit - words)


def words_within(engine: Engine, cycles: int) -> int:
    """Words after which an untimed run has gone further than any run of ``cycles`` cycles could."""
    return min(UNTIMED_WORDS, cycles * len(engine.channels.phase) * LEAST)


@contextmanager
def _time_put_back(st: State) -> Iterator[None]:
    """Let everything that waits for a known time happen, and undo the time afterwards."""
    now, st.clock.quiet[0] = st.clock.now[0], 0
    timed = (st.spent, st.core_spent, st.channels.finished_bd)
    before = [column.copy() for column in timed]
    st.clock.now[0] = max(st.clock.now[0], st.channels.until.max(), _last_zeroisation(st))
    try:
        yield
    finally:
        st.clock.now[0], st.clock.quiet[0] = now, 0
        moving = st.spent[:, Cause.MOVING].copy()
        for column, values in zip(timed, before, strict=True):
            column[:] = values
        st.spent[:, Cause.MOVING] = moving
        st.guards.again[:] = 0  # there is no next cycle to count an error in
        st.banks.stamp[:] = _NEVER
        st.locks.stamp[:] = _NEVER
        st.switch.popped[:] = _NEVER
        st.switch.departures[:] = 0
        st.logic.due[:] = np.minimum(st.logic.due, int(now))
        st.logic.ready[:] = np.minimum(st.logic.ready, int(now))
        st.switch.entered[:] = np.minimum(st.switch.entered, int(now))


def _last_zeroisation(st: State) -> int:
    """Cycle in which the last zeroisation that goes on ends."""
    ends = st.memories.busy_until
    return int(ends[ends != FOREVER].max(initial=_NEVER))


class _Mover:
    """Moves whole BD executions of an engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._spec, self._state = engine, engine.spec, engine.state
        self._channels = plain(self._state.channels)
        self._fifos, tiles = plain(self._state.fifos), plain(self._spec.tiles)
        self._receives = (self._channels.direction == S2MM).tolist()
        self._shift = plain(self._spec.kinds).memory_shift[tiles.kind[self._channels.tile]].tolist()
        self._own = list(map(slice, tiles.memory_base, tiles.memory_base + tiles.memory_words))
        self._inspected = plain(self._state.guards).inspected
        self._watched = plain(self._state.memories).watched
        self._spent = self._state.spent
        self._moves: dict[bytes, Move] = {}  # by row of the log
        self._orders = np.full(len(self._receives), NOTHING)
        self._port_words = np.array([self._words_left(ch) for ch in range(len(self._receives))], np.int64)
        self._log = np.zeros(log.FIRST + (_LOG_ROWS + len(self._receives)) * log.COLUMNS, np.int64)
        self._work = compiled_model.Executions(self._orders, self._port_words, self._log)
        self._next = 0  # row of the log

    def run(self, progress: Progress | None, limit: int) -> int:
        """Move until no BD can move as a whole, or ``limit`` is passed; returns the words counted."""
        words, goes_on = 0, True
        try:
            while words < limit and goes_on:
                left = limit - words
                goes_on = compiled_model.execute(self._state, self._work, left)
                words += self._follow()
                if progress is not None:
                    progress(words)
        except KeyboardInterrupt:
            self._follow()  # the control is that far already
            self._end_moved()
            raise
        if words >= limit:
            self._end_moved()
        return words

    def _end_moved(self) -> None:
        """Let BDs that have moved end, so that a run which goes on does not move them again."""
        compiled_model.execute(self._state, self._work, -1)

    def _follow(self) -> int:
        """Move what the log says and has not moved yet; returns what it counts."""
        words, moves, count = 0, self._moves, int(self._log[log.ROWS])
        rows = self._log[log.FIRST : log.FIRST + count * log.COLUMNS].tobytes()
        size = log.COLUMNS * self._log.itemsize
        for row in range(self._next, count):
            self._next = row + 1
            key = rows[row * size : self._next * size]
            move = moves.get(key) or self._move(key)
            words += move()
        self._log[log.ROWS] = self._next = 0
        return words

    def _words_left(self, ch: int) -> int:
        if self._receives[ch]:
            return self._engine.pending(ch)
        return _ENDLESS if self._engine.catches(ch) else 0

    def _move(self, key: bytes) -> Move:
        """How the words of a row of the log move, kept for the rows that are alike."""
        if len(self._moves) == _MOST_SEEN:
            self._moves.clear()
        row = np.frombuffer(key, np.int64).tolist()
        ch, tile, pad, suppress = row[log.CH], row[log.TILE], row[log.PAD], row[log.TLAST_SUPPRESS]
        mover = self._mover(ch, tile, row)
        if row[log.ASKS] or mover is None:
            move: Move = partial(self._execute, ch, tile, mover, pad)
        elif self._receives[ch]:
            move = _receiver(self._engine.supply(ch), mover)
        else:
            move = _sender(mover, pad, self._engine.deliveries(ch), not suppress)
        self._moves[key] = move
        return move

    def _execute(self, ch: int, tile: int, mover: Mover | None, pad: int) -> int:
        """Move the words of the channel's BD, all or none; returns what they count."""
        if mover is None:
            self._orders[ch] = BARRED  # the clock loop finds the word at which it leaves the window
            return 0
        length, packed = mover.walk.length, bool(self._channels.packed[ch])
        if self._receives[ch]:
            stream = self._stream_words(ch, length) if packed else length
            if stream is None:
                self._orders[ch] = BARRED  # the clock loop takes what there is
                return 0
            words = self._receive(ch, stream)
            self._show(ch, tile, mover)
            self._write(tile, mover, decompress(words, length) if packed else words)
        else:
            self._show(ch, tile, mover)
            words = self._read(tile, mover, pad)
            words = compress(words) if packed else words
            stream = len(words)
            self._engine.deliver(ch, words, not self._channels.tlast_suppress[ch])
        self._orders[ch] = MOVED
        self._spent[ch, Cause.MOVING] += stream
        return max(length, LEAST)

    def _write(self, tile: int, mover: Mover, words: Words) -> None:
        mover.scatter(words)
        if self._inspected[tile]:
            for word in self._among(tile, mover, host_memory.to_rewrite):
                ecc.overwritten(self._state, tile, word, 1)

    def _read(self, tile: int, mover: Mover, pad: int) -> Words:
        """The words as the reads of the BD deliver them; the cells stay as they are."""
        if not self._inspected[tile]:
            return mover.gather(pad)
        words, memory = self._among(tile, mover, host_memory.flipped), self._state.memory
        raw = memory[words]
        for word in words:
            memory[word] = ecc.delivered(self._state, tile, word, False)
        try:
            return mover.gather(pad)
        finally:
            memory[words] = raw

    def _show(self, ch: int, tile: int, mover: Mover) -> None:
        """Show what the channel's BD accesses to the watchpoints of its tile, word by word."""
        if not self._watched[tile]:
            return
        base = int(self._spec.tiles.memory_base[tile])
        words = addresses(mover.walk) + (base - mover.origin)
        for word in np.unique(words[words >= base]).tolist():  # padding is below
            watchpoints.see_channel(self._state, ch, tile, word, 1, self._receives[ch])

    def _among(self, tile: int, mover: Mover, chosen: Callable[[State, int, int, int], Ints]) -> list[int]:
        """Words of the BD that are ``chosen`` from its tile's, as places in ``State.memory``."""
        flipped = chosen(self._state, tile, 0, int(self._spec.tiles.memory_words[tile]))
        if len(flipped) == 0:
            return []
        place = int(self._spec.tiles.memory_base[tile]) - mover.origin
        used: list[int] = np.intersect1d(flipped, addresses(mover.walk) + place).tolist()
        return used

    def _stream_words(self, ch: int, words: int) -> int | None:
        """Words of the channel's compressed stream that make ``words`` memory words; None = too few wait."""
        longest = -(-words // COMPRESSED_GROUP_WORDS) * LONGEST_GROUP
        held = int(self._fifos.held[ch])
        waiting = self._engine.peek(ch, max(longest - held, 0))
        return compressed_length(np.concatenate([self._held(ch, held), waiting]), words)

    def _held(self, ch: int, count: int) -> Words:
        """The oldest words in the ingress buffer."""
        slots = (self._fifos.head[ch] + np.arange(count)) & self._fifos.wrap[ch]
        words: Words = self._fifos.words[ch, slots].astype(np.uint32)
        return words

    def _mover(self, ch: int, tile: int, row: list[int]) -> Mover | None:
        """How the words of a row move; None when its walk leaves the window that it begins in."""
        walk, memory = _walk(row), self._state.memory[self._own[tile]]
        window = walk.base >> self._shift[ch] << self._shift[ch]
        try:
            return Mover(memory, walk, window)
        except TransferError:
            return None

    def _receive(self, ch: int, words: int) -> Words:
        """The next words of the channel's stream: those in its ingress buffer, then those of its port."""
        fifos = self._fifos
        held = min(int(fifos.held[ch]), words)
        rest = self._engine.take(ch, words - held)
        self._port_words[ch] -= words - held
        if held == 0:
            return rest
        first = self._held(ch, held)
        fifos.head[ch] = (fifos.head[ch] + held) & fifos.wrap[ch]
        fifos.held[ch] -= held
        return np.concatenate([first, rest])


def _receiver(take: Callable[[int], Words], mover: Mover) -> Move:
    """Moves what ``take`` gives to memory."""
    words, scatter = mover.walk.length, mover.scatter

    def move() -> int:
        scatter(take(words))
        return counts

    counts = max(words, LEAST)
    return move


def _sender(mover: Mover, pad: int, sent: Caught, tlast: bool) -> Move:
    """Moves memory to the end of ``sent``."""
    gather, append, last = mover.gather, sent.append, at_end(mover.walk.length, tlast)

    def move() -> int:
        append(gather(pad), last)
        return counts

    counts = max(mover.walk.length, LEAST)
    return move


def _walk(row: list[int]) -> Walk:
    """The walk of a row of the log."""
    return Walk(
        row[log.ORIGIN],
        row[log.LENGTH],
        tuple(row[log.STEP : log.WRAP]),
        tuple(row[log.WRAP : log.BEFORE]),
        tuple(row[log.BEFORE : log.AFTER]),
        tuple(row[log.AFTER : log.COLUMNS]),
    )
