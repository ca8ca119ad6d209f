"""Program memory of a core: plain storage behind the memory-mapped AXI4 port (AM020 chapter 4)."""

from __future__ import annotations

from memtile.arch.core import CORE
from memtile.arch.register_map import register_named
from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import jit
from memtile.model.state.state import Spec, State

NOWHERE = -1
_BASE, _END = CORE.program_base, CORE.program_base + CORE.program_bytes
_WORDS = CORE.program_words
_CONTROL = register_named("core", "Core_Memory_Control")
_ZEROISE = _CONTROL.field("Memory_Zeroisation").mask


@jit
def program_word(spec: Spec, tile: int, offset: int) -> int:
    """Index in ``State.program`` of byte ``offset`` of the tile, or -1 when it is no program memory."""
    core = spec.tiles.core[tile]
    if core < 0 or offset < _BASE or offset >= _END:
        return NOWHERE
    return int(core * _WORDS + (offset - _BASE) // WORD_BYTES)


@jit
def write_control(st: State, tile: int, value: int) -> None:
    """Act on a write to the core's memory control: zeroisation, done at once (DEV-REG-9)."""
    first = program_word(st.spec, tile, _BASE)
    if value & _ZEROISE and first != NOWHERE:
        for word in range(first, first + _WORDS):
            st.program[word] = 0
