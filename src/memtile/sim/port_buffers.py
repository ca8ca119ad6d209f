"""The words at the stream ports as the clock loop has them: a window of each source, and sinks.

Of what was fed, the clock loop has a window at a time, and asks for more before it ends. What is in sinks
that are full is copied. Both stay small and are used again and again: new memory costs more than copying.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from memtile.jit.tables import plain
from memtile.model.roster import wake_channel
from memtile.model.state.state import State
from memtile.model.streams.host_ports import LOW
from memtile.sim.feed import Feed, Offer, no_tlast

UNDER_WAY = 128  # words: at least what a channel can have taken from its port and not yet written
WINDOW = 1 << 17  # words of a source
SINK_WORDS = 1 << 14  # of the first sinks
MOST_SINK_WORDS = 1 << 17  # of the sinks of long runs
_GROWTH = 8


class Region(NamedTuple):
    """Where a source has its window in ``State.source``, behind room for the words that are under way."""

    first: int
    size: int


Regions = dict[int, Region]


def lay_out(st: State, feeds: dict[int, Feed]) -> tuple[State, Regions]:
    """The state with a window of the words of each source, and where they are.

    What is in a window is gone from ``feeds``.
    """
    ports, regions, total = plain(st.ports), Regions(), 0
    left = {ch: int(ports.source_end[ch] - ports.source_position[ch]) for ch in range(len(ports.source_end))}
    for ch, words in left.items():
        waiting = len(feeds[ch]) if ch in feeds else 0
        if words + waiting:
            regions[ch] = Region(total + UNDER_WAY, max(min(words + waiting, WINDOW), words))
            total += UNDER_WAY + regions[ch].size
    found = st._replace(source=np.zeros(total, np.uint32), source_last=np.zeros(total, np.uint8))
    for ch, region in regions.items():
        old = slice(int(ports.source_position[ch]), int(ports.source_end[ch]))
        _move(found, ch, region, (st.source[old], st.source_last[old]))
        _fill(found, ch, region, feeds)
        if not left[ch]:  # it may have rested for want of words
            wake_channel(found, ch)
    return found, regions


def refill(st: State, feeds: dict[int, Feed], regions: Regions) -> None:
    """Lay out more words of the sources whose windows end soon."""
    ports = plain(st.ports)
    for ch in [ch for ch in feeds if ch in regions]:
        region = regions[ch]
        old = slice(int(ports.source_position[ch]), int(ports.source_end[ch]))
        if 2 * (old.stop - old.start) <= region.size or old.stop - old.start <= LOW:
            _move(st, ch, region, (st.source[old], st.source_last[old]))
            _fill(st, ch, region, feeds)


def _move(st: State, ch: int, region: Region, left: Offer) -> None:
    """Put the words that the window still has at its beginning."""
    ports, end = plain(st.ports), region.first + len(left[0])
    st.source[region.first : end], st.source_last[region.first : end] = left
    ports.source_base[ch] += ports.source_position[ch] - region.first
    ports.source_position[ch], ports.source_end[ch] = region.first, end


def _fill(st: State, ch: int, region: Region, feeds: dict[int, Feed]) -> None:
    """Fill the window up."""
    ports, end = plain(st.ports), int(plain(st.ports).source_end[ch])
    pieces = feeds[ch].take_offers(region.first + region.size - end) if ch in feeds else []
    for words, last in pieces:
        st.source[end : end + len(words)], st.source_last[end : end + len(words)] = words, last
        end += len(words)
    if ch in feeds and not len(feeds[ch]):
        del feeds[ch]
    ports.source_end[ch] = end
    ports.source_more[ch] = ch in feeds
    ports.source_ends[ch] = st.source_last[region.first : end].any()


def with_sinks(st: State, rows: int, words: int) -> State:
    """The state with empty sinks of so many words."""
    return st._replace(sink=np.zeros((rows, words), np.uint32), sink_last=np.zeros((rows, words), np.uint8))


def take_from_sinks(st: State, caught: Mapping[int, list[Offer]], *, all_words: bool) -> State:
    """Append what the sinks have to ``caught``; the state with empty ones, longer if these were full.

    While a run goes on, words may stay where they are until a sink is half full.
    """
    ports, sink, last = plain(st.ports), st.sink, st.sink_last
    mine = [ch for ch in caught if ports.sink_row[ch] >= 0 and ports.sink_count[ch] > 0]
    most, width = max((int(ports.sink_count[ch]) for ch in mine), default=0), sink.shape[1]
    if not all_words and 2 * most <= width:
        return st
    for ch in mine:
        row, count = int(ports.sink_row[ch]), int(ports.sink_count[ch])
        ends = last[row, :count]
        caught[ch].append((sink[row, :count].copy(), ends.copy() if ends.any() else no_tlast(count)))
        ports.sink_taken[ch] += count
        ports.sink_count[ch] = 0
    return st if all_words or width >= MOST_SINK_WORDS else with_sinks(st, len(sink), _GROWTH * width)
