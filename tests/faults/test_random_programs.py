"""Does a program that writes anything anywhere end with a result or a clear error, whatever it starts?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile import Array
from memtile.arch.register_map import TILE_MODULES, register_map
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.errors import MemtileError
from memtile.runs.array_names import Given
from memtile.runs.operations import (
    ArrayShape,
    BlockWrite,
    MaskPoll,
    MaskWrite,
    Operation,
    Write,
    address_of,
)
from memtile.runs.register_writes import apply
from memtile.runs.session import run_program

KINDS: dict[int, TileName] = {0: "interface", 1: "memory", 2: "compute"}
OFFSETS = {
    kind: sorted(
        register.offset for module in TILE_MODULES[kind] for register in register_map(module).values()
    )
    for kind in KINDS.values()
}
SHAPE = ArrayShape(4, 6, 1)
VALUES = st.integers(0, 0xFFFF_FFFF) | st.sampled_from([0, 1, 1 << 31, 3 << 30, 0xFFFF_FFFF, 0x20000])


@st.composite
def places(draw: st.DrawFn) -> tuple[TileName, int]:
    row = draw(st.integers(0, 2))
    return KINDS[row], address_of(draw(st.integers(0, 3)), row)


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    """A write of any register, of a whole descriptor, of a start queue, or a poll."""
    name, base = draw(places())
    kind = TILE_KINDS[name]
    match draw(st.integers(0, 9)):
        case 0 | 1:
            return Write(base + draw(st.sampled_from(OFFSETS[name])), draw(VALUES))
        case 2:
            return MaskWrite(base + draw(st.sampled_from(OFFSETS[name])), draw(VALUES), draw(VALUES))
        case 3:
            return MaskPoll(base + draw(st.sampled_from(OFFSETS[name])), draw(VALUES), draw(VALUES))
        case 4 | 5 | 6:
            number = draw(st.integers(0, kind.bds - 1))
            words = draw(st.lists(VALUES, min_size=kind.bd_words, max_size=kind.bd_words))
            words[-1] |= 1 << (31 if name == "memory" else 25)
            return BlockWrite(base + kind.bd_base + number * kind.bd_stride, tuple(words))
        case _:
            channel, bd = draw(st.integers(0, 2 * kind.channels - 1)), draw(st.integers(0, kind.bds - 1))
            runs = draw(st.integers(0, 255))
            return Write(base + kind.queue_base + channel * kind.channel_stride, runs << 16 | bd)


PROGRAMS = st.lists(operations(), min_size=1, max_size=40)


@pytest.mark.chance
@settings(max_examples=40)
@given(PROGRAMS)
def test_random_programs_run_or_are_refused(program: list[Operation]) -> None:
    array, refused = Array(), False
    try:
        done = run_program(program, array, [Given("0", np.arange(1 << 12))], max_cycles=2000)
    except MemtileError as error:
        refused = bool(error.problems)
    assert refused or array.engine.now == done.result.cycles <= 2000
    assert not refused or array.engine.now == 0


@pytest.mark.chance
@settings(max_examples=80)
@given(PROGRAMS)
def test_random_programs_without_external_memory_end(program: list[Operation]) -> None:
    array = Array()
    apply([op for op in program if not isinstance(op, MaskPoll)], array.door.at_once(), SHAPE)
    result = array.run(2000)
    assert result.cycles <= 2000
    for use in result.channels:
        assert sum(use.spent.values()) == result.cycles
