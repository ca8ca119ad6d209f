"""Register accesses that a sequence says itself: words, blocks, locks, parameters, raw BDs."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from memtile.arch.tiles import DIRECTIONS, WORD_BYTES
from memtile.design.tile import Tile
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.sequence.bd_lowering import bd_words
from memtile.importers.mlir.sequence.sequence_reader import Call, Reader
from memtile.importers.mlir.sequence.steps import patch, push, write_bd
from memtile.runs.firmware import PATCH
from memtile.runs.operations import BlockWrite, MaskPoll, MaskWrite, Other, Write, address_of

_ALL = (1 << 32) - 1
_NOW = {"_wrap": "_size", "_stepsize": "_stride"}  # fields of raw BDs by the names of 2024
_FORMER = re.compile("|".join(_NOW))
_OLD_BUFFER = "buffer_sym_name"  # until 2024
_OLD_LOCK_VALUES = 0xEF
_TILE_OFFSETS = (1 << 20) - 1


def write32(reader: Reader, form: Call) -> None:
    """``aiex.npu.write32(%address, %value) {column, row}``, with a buffer the address counts from it."""
    at, value = address(reader, form), form.number("value", 1)
    reader.emit(form, partial(Write, at, value & _ALL))


def mask_write32(reader: Reader, form: Call) -> None:
    """``aiex.npu.maskwrite32(%address, %value, %mask)``."""
    at, value, mask = address(reader, form), form.number("value", 1), form.number("mask", 2)
    reader.emit(form, partial(MaskWrite, at, mask & _ALL, value & _ALL))


def mask_poll(reader: Reader, form: Call) -> None:
    """``aiex.npu.maskpoll(%address, %value, %mask)``: wait until the register has the value in these bits."""
    at, value, mask = address(reader, form), form.number("value", 1), form.number("mask", 2)
    reader.emit(form, partial(MaskPoll, at, mask & _ALL, value & _ALL))


def block_write(reader: Reader, form: Call) -> None:
    """``aiex.npu.blockwrite(%data) {address}``: the words of a constant."""
    at, words = address(reader, form), reader.values.get(form.values[0])
    if not isinstance(words, np.ndarray):
        raise form.error(f"{form.values[0]} is no constant array", "what memref.get_global gives")
    data = tuple(int(word) & _ALL for word in words.reshape(-1))
    reader.emit(form, partial(BlockWrite, at, data))


def address(reader: Reader, form: Call) -> int:
    """Absolute address: of the array, of a tile that is named, or within a buffer, in words."""
    offset = form.number("address", 0)
    if "buffer" in form.attributes:
        buffer, tile = buffer_at(reader, form, form.symbol_of("buffer"))
        assert tile.place is not None
        return address_of(*tile.place, buffer + offset * WORD_BYTES)
    if "column" in form.attributes and "row" in form.attributes:
        tile = reader.tile(form.integer("column"), form.integer("row"))
        assert tile.place is not None
        return address_of(*tile.place, offset & _TILE_OFFSETS)
    return offset


def buffer_at(reader: Reader, form: OperationForm, name: str) -> tuple[int, Tile]:
    """First byte of a buffer, and its tile, by the buffer's symbol."""
    for value, buffer in reader.made.buffers.items():
        if buffer.name == name:
            return buffer.offset, reader.made.tiles[reader.made.device.buffers[value].tile]
    raise form.error(f"no buffer has the name {name}", "a buffer of the device", reason="mlir_buffer")


def rtp_write(reader: Reader, form: Call) -> None:
    """``aiex.npu.rtp_write(@buffer, 3, %value)``: a word of a buffer; once ``(0, 2, 3, 7)`` with its tile."""
    old = form.attributes.get(_OLD_BUFFER)
    name = str(old or form.attributes.get("buffer") or form.texts()[0][1:]).strip('"')
    buffer, tile = buffer_at(reader, form, name)
    first = 2 if old else 1
    index, value = form.number("index", first), form.number("value", first + 1)
    assert tile.place is not None
    at = address_of(*tile.place, buffer + index * WORD_BYTES)
    reader.emit(form, partial(Write, at, value & _ALL))


def set_lock(reader: Reader, form: Call) -> None:
    """``aiex.set_lock(%lock, 1)``."""
    name = form.values[0]
    if name not in reader.made.locks:
        raise form.error(f"{name} is no lock of the device", "aie.lock", reason="mlir_lock", given=name)
    lock = reader.made.locks[name]
    kind, value = lock.kind, form.number("value", 1)
    if not 0 <= value <= kind.lock_value_max:
        says = f"it sets lock {name} to {value}; a lock has 0..{kind.lock_value_max}"
        raise form.error(says, f"0..{kind.lock_value_max}", reason="mlir_lock", given=str(value))
    assert lock.place is not None
    at = address_of(*lock.place, kind.lock_value_base + lock.id * kind.lock_value_stride)
    reader.emit(form, partial(Write, at, value))


def raw_bd(reader: Reader, form: Call) -> None:
    """``aiex.npu.writebd``: fields as the registers have them, stored off by one where they are."""
    tile = reader.tile(form.integer("column"), form.integer("row", 0))  # 2024: interface tiles alone
    words = bd_words(form, tile.kind, _fields(form), reader.habits.cache)
    write_bd(reader, form, tile, form.integer("bd_id"), words)


def _fields(form: Call) -> dict[str, int]:
    """Fields of a raw BD by their present names, which win where a text has both."""
    named = {name: int(value) for name, value in form.attributes.items() if isinstance(value, int)}
    return {_FORMER.sub(lambda found: _NOW[found[0]], name): n for name, n in named.items()} | named


def interface_bd(reader: Reader, form: Call) -> None:
    """``aiex.npu.writebd_shimtile`` until June 2024: a raw BD whose address firmware takes from an argument.

    mlir-aie dropped bit 4 of the values of locks.
    """
    tile, number = reader.tile(form.integer("column"), 0), form.integer("bd_id")
    given = _fields(form) | {"buffer_offset": 0}
    given |= {name: given.get(name, 0) & _OLD_LOCK_VALUES for name in ("lock_acq_val", "lock_rel_val")}
    write_bd(reader, form, tile, number, bd_words(form, tile.kind, given, reader.habits.cache))
    patch(reader, form, tile, number, form.integer("ddr_id"), form.integer("buffer_offset"))


def address_patch(reader: Reader, form: Call) -> None:
    """``aiex.npu.address_patch(%offset : i32) {addr, arg_idx}``."""
    offset = form.whole(form.values[0]) if form.values else form.integer("arg_plus", 0)
    said = (("address", form.integer("addr")), ("argument", form.integer("arg_idx")), ("offset", offset))
    reader.emit(form, partial(Other, PATCH, b"", said))


def push_queue(reader: Reader, form: Call) -> None:
    """``aiex.npu.push_queue (0, 2, MM2S:0) bd_id %b repeat %r {issue_token = false}``."""
    given, items = form.attributes, form.texts()
    if form.generic or "bd_id" in given:
        direction = given.get("direction")
        column, row = form.number("column", 0), form.number("row", 1)
        if direction is None:
            name, _, number = items[2].partition(":")
            direction, channel = DIRECTIONS.index(form.direction(name)), form.whole(number)
        else:
            direction, channel = DIRECTIONS.index(form.direction(direction)), form.number("channel")
        bd, repeat = form.number("bd_id"), form.number("repeat_count")
    else:
        column, row = (form.whole(text) for text in items.first(2))
        name, _, number = items[2].partition(":")
        direction, channel = DIRECTIONS.index(form.direction(name)), form.whole(number)
        bd, repeat = (form.whole(form.after(key)) for key in ("bd_id", "repeat"))
    tile, token = reader.tile(column, row), bool(given.get("issue_token", False))
    push(reader, form, tile, (direction, channel), bd, repeat + 1, token=token)


def interface_push(reader: Reader, form: Call) -> None:
    """``aiex.npu.shimtile_push_queue {metadata = @in, ..}`` of 2024: a push to an allocated channel."""
    tile, direction, channel = form.allocated(form.symbol_of("metadata"))
    runs, token = form.integer("repeat_count") + 1, bool(form.attributes.get("issue_token", False))
    push(reader, form, tile, (direction, channel), form.integer("bd_id"), runs, token=token)
