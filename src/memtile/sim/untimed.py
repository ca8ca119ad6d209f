"""The untimed run: the same tasks, locks and words as the cycle run, without the time.

Control is that of the cycle engine (``model.executions``); the words of a BD move at once, in NumPy, along
``access.walk``. What cannot move as a whole is left to the clock loop at the end: a source that runs dry in
the middle of a BD, an output that nobody takes, a walk that leaves its window. So both runs end in the same
state if the result does not depend on time: no word is read and written, and no lock value is waited for,
by channels that no lock keeps in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from memtile.access.boxes import check_range
from memtile.access.compression import LONGEST_GROUP, compress, compressed_length, decompress
from memtile.access.move import Mover
from memtile.access.walk import Walk, addresses
from memtile.arch.tiles import COMPRESSED_GROUP_WORDS, S2MM
from memtile.model import ecc, watchpoints
from memtile.model.executions import BARRED, MOVED, NOTHING
from memtile.model.memory_control import FOREVER
from memtile.model.mm2s import pad_value
from memtile.model.state import NOW, Ints, Spec, State, Words, plain
from memtile.model.states import Cause
from memtile.sim import host_memory, machine
from memtile.sim.clock import Stop
from memtile.sim.engine import Engine, Progress

_LIMIT_WORDS = 1 << 28
_LEAST = 1 << 10  # words that count for any execution, since it takes as long as moving so many
_MOVING = int(Cause.MOVING)
_NEVER = -1
_MOST_SEEN = 1 << 12  # BDs whose way is kept
_ENDLESS = 1 << 62


def run_untimed(engine: Engine, progress: Progress | None = None, limit: int = _LIMIT_WORDS) -> Stop:
    """Run until nothing can move any more; the clock stays where it is.

    Args:
        engine: the model, with its feeds and sinks.
        progress: called now and then with the words moved so far.
        limit: words after which a design that never ends is stopped; short BDs count for more than they move.

    Returns:
        ``Stop.QUIET``, or ``Stop.LIMIT`` when the limit was reached. The words moved are booked under
        ``Cause.MOVING``, no other cause is.

    Raises:
        KeyboardInterrupt: Ctrl-C; the BDs before the current one are done.
    """
    with engine.upsets.held(), _time_put_back(engine.state):
        words = _Mover(engine).run(progress, limit)
        if words >= limit:
            return Stop.LIMIT
        return engine.run(engine.now + limit - words)


@contextmanager
def _time_put_back(st: State) -> Iterator[None]:
    """Let everything that waits for a known time happen, and undo the time afterwards."""
    now, timed = st.clock[NOW], (st.spent, st.core_spent, st.channels.finished_bd)
    before = [column.copy() for column in timed]
    st.clock[NOW] = max(st.clock[NOW], st.channels.until.max(), _last_zeroisation(st))
    try:
        yield
    finally:
        st.clock[NOW] = now
        moving = st.spent[:, _MOVING].copy()
        for column, values in zip(timed, before, strict=True):
            column[:] = values
        st.spent[:, _MOVING] = moving
        st.guards.again[:] = 0  # there is no next cycle to count an error in
        st.banks.stamp[:] = _NEVER
        st.locks.stamp[:] = _NEVER


def _last_zeroisation(st: State) -> int:
    """Cycle in which the last zeroisation that goes on ends."""
    ends = st.memories.busy_until
    return int(ends[ends != FOREVER].max(initial=_NEVER))


class _Mover:
    """Moves whole BD executions of an engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._spec, self._state = engine, engine.spec, engine.state
        self._channels, self._walks = plain(self._state.channels), plain(self._state.walks)
        self._fifos, tiles = plain(self._state.fifos), plain(self._spec.tiles)
        self._receives = (self._channels.direction == S2MM).tolist()
        self._shift = plain(self._spec.kinds).memory_shift[tiles.kind[self._channels.tile]].tolist()
        ends = (tiles.memory_base + tiles.memory_words)[:-1]
        self._memories = np.split(self._state.memory, ends)
        self._unclean = plain(self._state.guards).unclean
        self._watched = plain(self._state.memories).watched
        self._spent, self._fields = self._state.spent, self._state.fields
        self._seen: dict[tuple[int, int, bytes], Mover | None] = {}  # by channel, tile and descriptor
        self._orders = np.full(len(self._receives), NOTHING)
        self._room = np.array([self._port_room(ch) for ch in range(len(self._receives))])

    def run(self, progress: Progress | None, limit: int) -> int:
        """Move until no BD can move as a whole, or ``limit`` is passed; returns the words counted."""
        words = 0
        while words < limit and machine.execute(self._spec, self._state, self._orders, self._room):
            for ch, tile in enumerate(self._orders.tolist()):
                if tile >= 0:
                    words += self._execute(ch, tile)
            if progress is not None:
                progress(words)
        return words

    def _port_room(self, ch: int) -> int:
        if self._receives[ch]:
            return self._engine.pending(ch)
        return _ENDLESS if self._engine.catches(ch) else 0

    def _execute(self, ch: int, tile: int) -> int:
        """Move the words of the channel's BD, all or none; returns what they count."""
        mover = self._mover(ch, tile)
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
            words = self._read(
                tile, mover, int(pad_value(self._spec, self._state, ch)) if mover.walk.padded else 0
            )
            words = compress(words) if packed else words
            stream = len(words)
            self._engine.deliver(ch, words, not self._channels.tlast_suppress[ch])
        self._orders[ch] = MOVED
        self._spent[ch, _MOVING] += stream
        return max(length, _LEAST)

    def _write(self, tile: int, mover: Mover, words: Words) -> None:
        mover.scatter(words)
        if self._unclean[tile]:
            for word in self._among(tile, mover, host_memory.to_rewrite):
                ecc.overwritten(self._state, tile, word, 1)

    def _read(self, tile: int, mover: Mover, pad: int) -> Words:
        """The words as the reads of the BD deliver them; the cells stay as they are."""
        if not self._unclean[tile]:
            return mover.gather(pad)
        words, memory = self._among(tile, mover, host_memory.unclean), self._state.memory
        raw = memory[words]
        for word in words:
            memory[word] = ecc.delivered(self._spec, self._state, tile, word, False)
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
            watchpoints.see_channel(self._spec, self._state, ch, tile, word, 1, self._receives[ch])

    def _among(
        self, tile: int, mover: Mover, chosen: Callable[[Spec, State, int, int, int], Ints]
    ) -> list[int]:
        """Words of the BD that are ``chosen`` from its tile's, as places in ``State.memory``."""
        hurt = chosen(self._spec, self._state, tile, 0, len(self._memories[tile]))
        if len(hurt) == 0:
            return []
        place = int(self._spec.tiles.memory_base[tile]) - mover.origin
        used: list[int] = np.intersect1d(hurt, addresses(mover.walk) + place).tolist()
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

    def _mover(self, ch: int, tile: int) -> Mover | None:
        """How the words of the channel's BD move; None when its walk leaves the window that it begins in."""
        key = (ch, tile, self._fields[ch].tobytes())
        if key not in self._seen:
            if len(self._seen) == _MOST_SEEN:
                self._seen.clear()
            walk, memory = self._load(ch), self._memories[tile]
            window = walk.base >> self._shift[ch] << self._shift[ch]
            outside = check_range(walk, window, len(memory), "window", "AM020 ch. 5")
            self._seen[key] = None if outside else Mover(memory, walk, window)
        return self._seen[key]

    def _load(self, ch: int) -> Walk:
        walks = self._walks
        return Walk(
            int(walks.origin[ch]),
            int(self._channels.length[ch]),
            tuple(walks.step[ch].tolist()),
            tuple(walks.wrap[ch].tolist()),
            tuple(walks.before[ch].tolist()),
            tuple(walks.after[ch].tolist()),
        )

    def _receive(self, ch: int, words: int) -> Words:
        """The next words of the channel's stream: those in its ingress buffer, then those of its port."""
        fifos = self._fifos
        held = min(int(fifos.held[ch]), words)
        rest = self._engine.take(ch, words - held)
        self._room[ch] -= words - held
        if held == 0:
            return rest
        first = self._held(ch, held)
        fifos.head[ch] = (fifos.head[ch] + held) & fifos.wrap[ch]
        fifos.held[ch] -= held
        return np.concatenate([first, rest])
