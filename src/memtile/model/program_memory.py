"""Program memory of a core: plain storage behind the memory-mapped AXI4 port (AM020 chapter 4)."""

from __future__ import annotations

from memtile.arch.core import CORE
from memtile.arch.tiles import WORD_BYTES
from memtile.model.jit import jit
from memtile.model.state import Spec

NOWHERE = -1
_BASE, _END = CORE.program_base, CORE.program_base + CORE.program_bytes
_WORDS = CORE.program_words


@jit
def program_word(spec: Spec, tile: int, offset: int) -> int:
    """Index in ``State.program`` of byte ``offset`` of the tile, or -1 when it is no program memory."""
    core = spec.tiles.core[tile]
    if core < 0 or offset < _BASE or offset >= _END:
        return NOWHERE
    return int(core * _WORDS + (offset - _BASE) // WORD_BYTES)
