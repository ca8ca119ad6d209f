"""Stream-side buffers of the channels: ring buffers of words with TLAST."""

from __future__ import annotations

from memtile.jit.decorators import inlined
from memtile.model.state.dma import Fifos


@inlined
def space(fifos: Fifos, ch: int) -> int:
    """Words that still fit."""
    return int(fifos.depth[ch] - fifos.held[ch])


@inlined
def put(fifos: Fifos, ch: int, word: int, last: int) -> None:
    """Append a word; the caller has checked the space."""
    slot = (fifos.head[ch] + fifos.held[ch]) & fifos.wrap[ch]
    fifos.words[ch, slot] = word
    fifos.last[ch, slot] = last
    fifos.held[ch] += 1


@inlined
def drop(fifos: Fifos, ch: int) -> None:
    """Remove the oldest word."""
    fifos.head[ch] = (fifos.head[ch] + 1) & fifos.wrap[ch]
    fifos.held[ch] -= 1
