"""Do many writes at once leave what the same writes leave one by one, and fail as they do?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from memtile.arch.register_map import register_named
from memtile.arch.tiles import TILE_BYTES, TILE_KINDS, WORD_BYTES
from memtile.design.array import Array
from memtile.errors import InputFileError, RegisterError
from memtile.model.register_tables import answering, registers_of
from memtile.runs.batches import Batches
from memtile.runs.operations import (
    ArrayShape,
    BlockWrite,
    MaskWrite,
    Operation,
    Write,
    address_of,
)
from memtile.runs.program import Run
from memtile.runs.register_writes import check
from memtile.runs.session import run_program
from memtile.sim.doors.tile_door import Door
from support.engine.states import arrays

SIZE = (2, 6)  # columns and rows of npu1's part
PLACES = [(0, 0), (0, 1), (1, 1), (0, 2), (1, 3)]
WORDS = some.one_of(some.integers(0, 7), some.integers(0, (1 << 32) - 1))
Column, Row = int, int


def array() -> Array:
    return Array("npu1", columns=SIZE[0])


def kind_at(row: int) -> str:
    return "interface" if row == 0 else "memory" if row == 1 else "compute"


@cache
def registers(kind: str) -> list[int]:
    return sorted({register.offset for register in registers_of(kind)})  # type: ignore[arg-type]


def state_of(one: Array) -> dict[str, bytes]:
    one.engine.state.clock.quiet[0] = 0
    return {**arrays(one.engine.state), "filled": one.engine.checks.filled.tobytes()}


def equal(one: Array, other: Array) -> None:
    mine, theirs = state_of(one), state_of(other)
    assert {name for name in mine if mine[name] != theirs[name]} == set()


@some.composite
def blocks(draw: some.DrawFn) -> tuple[Column, Row, int, list[int]]:
    """A block of words at a register, most of which something answers."""
    column, row = draw(some.sampled_from(PLACES))
    offset = draw(some.sampled_from(registers(kind_at(row))))
    words = draw(some.lists(WORDS, min_size=1, max_size=12))
    return column, row, min(offset, TILE_BYTES - WORD_BYTES * len(words)), words


def one_by_one(door: Door, offset: int, words: Sequence[int]) -> str:
    """What a block does: nothing if there is a hole, which is told to the tile."""
    there = door._answering[offset // WORD_BYTES :][: len(words)]
    first = 0 if there.all() else int(there.argmin())
    try:
        if not there.all():
            door.write32(offset + first * WORD_BYTES, words[first])
        for n, word in enumerate(words):
            door.write32(offset + n * WORD_BYTES, word)
    except RegisterError as error:
        return str(error)
    return ""


def as_block(door: Door, offset: int, words: Sequence[int]) -> str:
    try:
        door.block_write32(offset, words)
    except RegisterError as error:
        return str(error)
    return ""


@settings(max_examples=60)
@given(some.lists(blocks(), min_size=1, max_size=6))
def test_a_block_of_registers_is_its_words_one_after_another(
    given_blocks: list[tuple[Column, Row, int, list[int]]],
) -> None:
    block, single = array(), array()
    for column, row, offset, words in given_blocks:
        mine, theirs = (door_of(one, column, row) for one in (block, single))
        assert as_block(mine, offset, words) == one_by_one(theirs, offset, words)
        equal(block, single)


def door_of(one: Array, column: int, row: int) -> Door:
    tiles = one.engine.spec.tiles
    (tile,) = np.flatnonzero((tiles.column == column) & (tiles.row == row))
    return one.engine.door(int(tile))


@some.composite
def operations(draw: some.DrawFn) -> Operation:
    """A write to any register or to data memory."""
    column, row = draw(some.sampled_from(PLACES))
    kind = kind_at(row)
    memory = TILE_KINDS[kind].memory_bytes  # type: ignore[index]
    offset = draw(some.sampled_from(registers(kind)))
    if memory and draw(some.booleans()):
        offset = draw(some.integers(0, 9)) * WORD_BYTES
    address, firmware = address_of(column, row, offset), draw(some.booleans())
    value = draw(WORDS)
    match draw(some.integers(0, 3)):
        case 0:
            words = tuple(draw(some.lists(WORDS, min_size=1, max_size=9)))
            there = answering(kind, True)[offset // WORD_BYTES :][: len(words)]  # type: ignore[arg-type]
            return BlockWrite(address, words if there.all() else words[:1], firmware=firmware)
        case 1:
            return MaskWrite(address, draw(WORDS), value, firmware=firmware)
    return Write(address, value, firmware=firmware)


def outcome(program: Sequence[Operation], launch: int, limit: int) -> tuple[Array, str]:
    one = array()
    try:
        result: Run | None = run_program(program, one, launch=launch, max_cycles=limit)
    except InputFileError as error:
        return one, str(error)
    assert result is not None
    return one, f"{result.result.status} {result.result.cycles} {result.stopped}"


CLOCK = register_named("pl", "Column_Clock_Control").offset
CLOCK_OFF = Write(address_of(1, 0, CLOCK), 0)
BLOCK_OF_CLOCKS = BlockWrite(address_of(1, 0, CLOCK), (0, 0, 0))
WATCHPOINT = register_named("memory_tile", "WatchPoint0").offset
QUEUE = TILE_KINDS["memory"].queue_base
MASKED = [Write(address_of(0, 1, 0), 0xFFFF), MaskWrite(address_of(0, 1, 0), 0xF0, 0x50)]
PUSHES = [Write(address_of(0, 1, QUEUE), 0, firmware=True), Write(address_of(0, 1, 0), 1, firmware=True)]


@settings(max_examples=60)
@given(some.lists(operations(), min_size=4, max_size=40), some.integers(0, 10), some.integers(1, 4000))
@example([Write(address_of(0, 1, 0xA0000 + 4 * n), n) for n in range(20)], 0, 12)
@example(
    [Write(address_of(1, 1, 0xA0000), 1)] * 5 + [CLOCK_OFF] + [Write(address_of(1, 1, 0), 1)] * 9, 0, 4000
)
@example(
    [Write(address_of(1, 1, 4), 1)] * 5 + [BLOCK_OF_CLOCKS] + [Write(address_of(1, 1, 0), 1)] * 9, 0, 4000
)
@example(
    [BlockWrite(address_of(0, 1, 0), (1, 2, 3))] * 5 + [BlockWrite(address_of(0, 1, 8), (5,) * 300)], 0, 4000
)
@example(
    [Write(address_of(0, 1, WATCHPOINT), 0xFFFF_FFFF)]
    + [BlockWrite(address_of(0, 1, 16 * n), (1, 2, 3, 4, 5)) for n in range(9)],
    0,
    4000,
)
@example(MASKED * 5, 0, 4000)
@example(PUSHES * 5, 0, 4000)
def test_a_program_is_its_operations_one_after_another(
    program: list[Operation], launch: int, limit: int
) -> None:
    program = [operation for operation in program if not check([operation], shape())]
    together = outcome(program, min(launch, len(program)), limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Batches, "carry_out", lambda *_: 0)
        alone = outcome(program, min(launch, len(program)), limit)
    assert together[1] == alone[1]
    equal(together[0], alone[0])


@cache
def shape() -> ArrayShape:
    one = array()
    return ArrayShape.of(one.device, one.columns)
