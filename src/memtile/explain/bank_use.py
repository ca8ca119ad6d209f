"""Banks that the descriptors of channels reach, and what keeps them out of each other's way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.explain.names import called
from memtile.jit.tables import plain
from memtile.model.state.causes import Cause
from memtile.sim.loop.engine import Engine

_LOOKED_AT = 256  # words of a descriptor
_FEW = 0.5  # of the banks of a tile: a walk that reaches no more comes back to the same ones


def bank_advice(engine: Engine) -> str:
    """What repairs the bank conflicts of the channel that lost most cycles to them; empty if none did.

    If its stride reaches few of the banks among which its tile spreads the words, the stride is the cause;
    else the buffers are.
    """
    lost = np.asarray(engine.state.spent)[:, Cause.BANK_CONFLICT]
    if not len(lost) or not lost.any():
        return ""
    ch = int(lost.argmax())
    tile, banks = int(engine.channels.tile[ch]), list(dict.fromkeys(_banks(engine, ch)))
    names = ", ".join(map(str, sorted(banks)))
    count = int(plain(engine.state.memories).mask[tile]) + 1
    if _is_interleaved(engine, tile) and 0 < len(banks) <= _FEW * count:
        step = _longest_step(engine, ch)
        return (
            f"The tile spreads words over {count} banks, but the stride of {step} words ({step * WORD_BYTES} "
            f"bytes) of {called(engine, ch)} comes back to bank {names}: make each row 4 words longer, or "
            "change the order of the dimensions."
        )
    reached = f" {called(engine, ch)} reaches bank {names}." if banks else ""
    spread = "" if _is_interleaved(engine, tile) or count == 1 else ", or let the memory tile interleave"
    return f"Put the buffers into different banks (bank=){spread}.{reached}"


def _is_interleaved(engine: Engine, tile: int) -> bool:
    """Whether neighbouring accesses of a tile's memory are in different banks."""
    granule = int(plain(engine.spec.kinds).granule_words[plain(engine.spec.tiles).kind[tile]])
    return _bank(engine, tile, 0) != _bank(engine, tile, granule)


def _bank(engine: Engine, tile: int, word: int) -> int:
    """The bank of a word of a tile, counted in the tile."""
    memories = plain(engine.state.memories)
    group = (word >> int(memories.group_shift[tile])) & int(memories.group_mask[tile])
    within = (word >> int(memories.shift[tile])) & int(memories.mask[tile])
    return group * int(memories.group_banks[tile]) + within


def _banks(engine: Engine, ch: int) -> Iterator[int]:
    """Banks of the first words of a channel's last descriptor, in its own or a neighbour's tile."""
    walks, tile = plain(engine.state.walks), int(engine.channels.tile[ch])
    window = (1 << int(plain(engine.spec.kinds).memory_shift[plain(engine.spec.tiles).kind[tile]])) - 1
    steps, wraps = walks.step[ch].tolist(), walks.wrap[ch].tolist()
    for number in range(min(int(plain(engine.state.channels).length[ch]), _LOOKED_AT)):
        address, rest = int(walks.origin[ch]), number
        for dimension, step in enumerate(steps):
            wrap = wraps[dimension] if dimension < len(wraps) else 0
            address += step * (rest % wrap if wrap else rest)
            rest = rest // wrap if wrap else 0
        yield _bank(engine, tile, address & window)


def _longest_step(engine: Engine, ch: int) -> int:
    """The stride of the dimension whose words are farthest apart, of those that a channel uses."""
    walks = plain(engine.state.walks)
    left, found = int(plain(engine.state.channels).length[ch]), 0
    for dimension, step in enumerate(walks.step[ch].tolist()):
        wrap = int(walks.wrap[ch][dimension]) if dimension < walks.wrap.shape[1] else 0
        if left > 1:
            found = max(found, abs(step))
        left = -(-left // wrap) if wrap else 0
    return found
