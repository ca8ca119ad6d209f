"""The words at the stream ports as the clock loop has them: pieces of what is fed, blocks for what comes out.

Both are arrays of the host that the clock loop gets by their addresses, so nothing is copied that is long. Of
a source it has the piece that it is in and the one that follows, and asks for another one when the first is
used up. A sink is a block, in which it writes on until that has little room.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from memtile.jit.structs import at_hand
from memtile.model.roster import wake_channel
from memtile.model.state.state import State
from memtile.sim.caught import Caught, Places, room_for
from memtile.sim.feed import Feed, Offer, Words, has_tlast, no_tlast
from memtile.sim.recycled import lend

WINDOW = 1 << 17  # words up to which short pieces of a source are put together
LEAST_BLOCK = 1 << 14  # words
MOST_BLOCK = 1 << 26
ENDS = 1 << 13  # places of TLAST in a block
_GROWTH = 4
_ENDLESS = 1 << 62
_NOTHING = np.zeros(1, np.uint32)


class Sources:
    """What the clock loop has of the words that wait; ``feeds`` has those behind them.

    Args:
        feeds: by channel.
    """

    def __init__(self, feeds: dict[int, Feed]) -> None:
        self._feeds = feeds
        self._laid: dict[int, list[Offer]] = {}  # the piece before, the present one, the next one

    def lay_out(self, st: State) -> None:
        """Give the clock loop pieces of all that waits, as far as it takes them."""
        ports = at_hand(st).ports
        for ch in list(self._feeds):
            while ports.next_end[ch] == 0 and len(self._feeds[ch]):
                first = ports.source_position[ch] == ports.source_end[ch]
                self._lay(st, ch, self._piece(st, self._feeds[ch]))
                if first:  # it may have rested for want of words
                    wake_channel(st, ch)
            if not len(self._feeds[ch]):
                del self._feeds[ch]
            ports.source_more[ch] = ch in self._feeds

    def _piece(self, st: State, feed: Feed) -> Offer:
        if at_hand(st).clock.wordless[0] and not any(has_tlast(last) for _, last in feed.offers()):
            count = len(feed)
            feed.take_offers(count)
            return np.broadcast_to(_NOTHING, (count,)), no_tlast(count)
        return feed.take_piece(WINDOW)

    def _lay(self, st: State, ch: int, piece: Offer) -> None:
        """Let the piece be the next one, or the present one if there is none."""
        ports, (words, last) = at_hand(st).ports, piece
        last = np.ascontiguousarray(last) if has_tlast(last) else last[:0]
        flags = last.ctypes.data if len(last) else 0
        if ports.source_position[ch] == ports.source_end[ch]:
            ports.source_base[ch] += ports.source_position[ch]
            ports.source_position[ch] = ports.former_end[ch] = ports.former_flags[ch] = 0
            ports.source_words[ch], ports.source_step[ch] = words.ctypes.data, words.strides[0]
            ports.source_flags[ch], ports.source_end[ch] = flags, len(words)
        else:
            ports.next_words[ch], ports.next_step[ch] = words.ctypes.data, words.strides[0]
            ports.next_flags[ch], ports.next_end[ch] = flags, len(words)
        self._laid[ch] = [*self._laid.get(ch, [])[-2:], (words, last)]

    def take_back(self, st: State) -> None:
        """Let all words that the clock loop has, and has not taken, wait again."""
        ports = at_hand(st).ports
        for ch, laid in self._laid.items():
            at, end, more = (int(x[ch]) for x in (ports.source_position, ports.source_end, ports.next_end))
            pieces = laid[-2:] if more else laid[-1:] if end else []
            for first, (words, last) in reversed(list(zip((at, 0), pieces, strict=False))):
                if first < len(words):
                    flags = last if len(last) else no_tlast(len(words))
                    self._feeds.setdefault(ch, Feed()).put_back(words[first:], flags[first:])
            ports.source_base[ch] += at
            for column in (ports.source_position, ports.source_end, ports.next_end, ports.source_more):
                column[ch] = 0
        self._laid.clear()


class _Block(NamedTuple):
    words: Words
    ends: Places
    size: int  # words, before some were taken


class Sinks:
    """Where the clock loop puts what leaves the MM2S channels."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._taken = 0  # words

    def open(self, st: State, channels: Iterable[int], words: int) -> None:
        """Give the channels that have none a sink for some ``words`` words, as far as that is known."""
        ports = at_hand(st).ports
        for ch in channels:
            if not ports.has_sink[ch]:
                ports.has_sink[ch] = 1
                self._begin(st, ch, min(max(words, LEAST_BLOCK), MOST_BLOCK))

    def renew(self, st: State) -> None:
        """Give all channels with sinks new ones, of which the old ones were taken."""
        for ch, block in list(self._blocks.items()):
            self._begin(st, ch, block.size)

    def _begin(self, st: State, ch: int, words: int) -> None:
        """Give the channel a new block."""
        ports, counted = at_hand(st).ports, bool(at_hand(st).clock.wordless[0])
        if counted:
            words = 1
        block = _Block(room_for(words, self._taken), lend(ENDS, np.int64), words)
        self._blocks[ch] = block
        ports.sink_words[ch], ports.sink_ends[ch] = block.words.ctypes.data, block.ends.ctypes.data
        ports.sink_room[ch], ports.ends_room[ch] = (_ENDLESS, _ENDLESS) if counted else (words, ENDS)
        ports.sink_step[ch] = 0 if counted else block.words.itemsize

    def take(self, st: State, caught: dict[int, Caught], *, full: bool) -> None:
        """Note in ``caught`` what has come; if a port is ``full``, those with little room get new blocks."""
        ports, repeats = at_hand(st).ports, st.repeats
        again: dict[int, list[tuple[int, int, int]]] = {}
        for ch, *row in repeats[1 : 1 + repeats[0, 0]].tolist():
            again.setdefault(ch, []).append((row[0], row[1], row[2]))
        repeats[0, 0] = 0
        for ch, into in caught.items():
            count = int(ports.sink_count[ch])
            if count == 0:
                continue
            if ports.sink_step[ch] == 0:
                into.count(count)
            else:
                self._take(st, ch, into, again.get(ch, []), full=full)
            ports.sink_taken[ch] += count
            ports.sink_count[ch] = 0

    def _take(
        self, st: State, ch: int, into: Caught, again: list[tuple[int, int, int]], *, full: bool
    ) -> None:
        """Note the words of the channel's block, in which the next ones go on behind them."""
        ports, block = at_hand(st).ports, self._blocks[ch]
        count = int(ports.sink_count[ch])
        ends, at = block.ends[: ports.ends_count[ch]].copy(), 0
        ports.ends_count[ch] = 0

        def piece(first: int, end: int, times: int = 1) -> None:
            low, high = np.searchsorted(ends, (first, end))
            into.append(block.words[first:end], ends[low:high] - first, times)

        for place, words, times in again:
            piece(at, place)
            piece(place - words, place, times)
            at = place
        piece(at, count)
        self._taken += count
        rest = _Block(block.words[count:], block.ends, block.size)
        if full and 2 * len(rest.words) <= block.size:
            self._begin(st, ch, min(_GROWTH * block.size, MOST_BLOCK))
            return
        self._blocks[ch] = rest
        ports.sink_words[ch] += count * block.words.itemsize
        ports.sink_room[ch] -= count
