"""The words at the stream ports as the clock loop has them: pieces of what is fed, blocks for what comes out.

Both are arrays of the host that the clock loop gets by their addresses, so nothing is copied that is long. Of
a source it has the piece that it is in and the one that follows, and asks for another one when the first is
used up. A sink is a block, in which it writes on until that has little room.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.jit.structs import at_hand
from memtile.model.roster import wake_channel
from memtile.model.state.state import State
from memtile.sim.loop.memory_pool import LONGEST, lend
from memtile.sim.ports.collected import Caught, Filled, Places, room_for
from memtile.sim.ports.feed import Feed, Offer, Words, has_tlast, no_tlast

WINDOW = 1 << 17  # words up to which short pieces of a source are put together
LEAST_BLOCK = 1 << 14  # words
MOST_BLOCK = 1 << 26
ENDS = 1 << 13  # places of TLAST in a block
_GROWTH = 4
_ENDLESS = 1 << 62
_NOTHING = np.zeros(1, np.uint32)


class PortSources:
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
            feed = self._feeds[ch]
            while ports.next_end[ch] == 0 and len(feed):
                piece = self._piece(st, feed)
                if ports.source_position[ch] == ports.source_end[ch]:
                    self._begin(st, ch, piece)
                else:
                    ports.next_words[ch], ports.next_step[ch], ports.next_flags[ch] = self._place(ch, piece)
                    ports.next_end[ch] = len(piece[0])
            if not len(feed):
                del self._feeds[ch]
            ports.source_more[ch] = ch in self._feeds

    def _begin(self, st: State, ch: int, piece: Offer) -> None:
        """Let the piece be the present one of a channel that has none."""
        ports = at_hand(st).ports
        ports.source_base[ch] += ports.source_position[ch]
        ports.source_position[ch] = ports.former_end[ch] = ports.former_flags[ch] = 0
        ports.source_words[ch], ports.source_step[ch], ports.source_flags[ch] = self._place(ch, piece)
        ports.source_end[ch] = len(piece[0])
        wake_channel(at_hand(st), ch)  # it may have rested for want of words

    def _place(self, ch: int, piece: Offer) -> tuple[int, int, int]:
        """Address of a piece, bytes from a word to the next, and address of its flags, if there are any."""
        words, last = piece
        last = np.ascontiguousarray(last) if has_tlast(last) else last[:0]
        self._laid[ch] = [*self._laid.get(ch, [])[-2:], (words, last)]
        return words.ctypes.data, words.strides[0], last.ctypes.data if len(last) else 0

    def _piece(self, st: State, feed: Feed) -> Offer:
        if at_hand(st).clock.wordless[0] and not any(has_tlast(last) for _, last in feed.offers()):
            count = len(feed)
            feed.take_offers(count)
            return np.broadcast_to(_NOTHING, (count,)), no_tlast(count)
        return feed.take_piece(WINDOW)

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
        has_sink = at_hand(st).ports.has_sink
        new = [ch for ch in channels if not has_sink[ch]]
        has_sink[new] = 1
        if new:
            self._begin(st, new, min(max(words, LEAST_BLOCK), MOST_BLOCK))

    def renew(self, st: State) -> None:
        """Give all channels with sinks new ones, of which the old ones were taken."""
        for ch, block in list(self._blocks.items()):
            self._begin(st, [ch], block.size)

    def _begin(self, st: State, channels: list[int], words: int) -> None:
        """Give each channel a new block."""
        ports, counted = at_hand(st).ports, bool(at_hand(st).clock.wordless[0])
        words, room, of_ends = (1, _ENDLESS, _ENDLESS) if counted else (words, words, ENDS)
        made, ends = self._room(words, len(channels)), lend(ENDS * len(channels), np.int64)
        ends_at = int(ends.ctypes.data)
        for n, (ch, block) in enumerate(zip(channels, made, strict=True)):
            self._blocks[ch] = _Block(block, ends[n * ENDS : (n + 1) * ENDS], words)
            ports.sink_words[ch], ports.sink_ends[ch] = block.ctypes.data, ends_at
            ports.sink_room[ch], ports.ends_room[ch] = room, of_ends
            ports.sink_step[ch] = 0 if counted else WORD_BYTES
            ends_at += ENDS * ends.itemsize

    def _room(self, words: int, blocks: int) -> list[Words]:
        """So many blocks; where they are not too long they are parts of one."""
        if words * blocks * WORD_BYTES > LONGEST:
            return [room_for(words, self._taken) for _ in range(blocks)]
        whole = room_for(words * blocks, self._taken)
        return [whole[at : at + words] for at in range(0, len(whole), words)]

    def take(self, st: State, caught: dict[int, Caught], *, full: bool) -> None:
        """Note in ``caught`` what has come; if a port is ``full``, those with little room get new blocks."""
        if not caught:
            return
        ports, repeats = at_hand(st).ports, st.repeats
        again: dict[int, list[tuple[int, int, int]]] = {}
        for ch, *row in repeats[1 : 1 + repeats[0, 0]].tolist():
            again.setdefault(ch, []).append((row[0], row[1], row[2]))
        repeats[0, 0] = 0
        counts, ends = ports.sink_count.tolist(), ports.ends_count.tolist()
        wordless = bool(at_hand(st).clock.wordless[0])
        for ch, into in caught.items():
            count = counts[ch]
            if count == 0:
                continue
            ports.sink_taken[ch] += count
            ports.sink_count[ch] = 0
            if wordless:
                into.count(count)
                continue
            block = self._blocks[ch]
            into.fill(Filled(block.words, count, block.ends[: ends[ch]].copy(), again.get(ch, ())))
            self._go_on(st, ch, _Block(block.words[count:], block.ends, block.size), full=full)

    def _go_on(self, st: State, ch: int, rest: _Block, *, full: bool) -> None:
        """Let the next words of a channel go behind those that were taken, or into a new block."""
        ports, count = at_hand(st).ports, len(self._blocks[ch].words) - len(rest.words)
        ports.ends_count[ch] = 0
        self._taken += count
        self._blocks[ch] = rest
        ports.sink_words[ch] += count * WORD_BYTES
        ports.sink_room[ch] -= count
        if full and 2 * len(rest.words) <= rest.size:
            self._begin(st, [ch], min(_GROWTH * rest.size, MOST_BLOCK))
