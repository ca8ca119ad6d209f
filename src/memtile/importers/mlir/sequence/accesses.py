"""Register accesses that a sequence says itself: words, blocks, locks, parameters, raw BDs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memtile.arch.tiles import DIRECTIONS, WORD_BYTES, TileKind
from memtile.design.tile import Tile
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.sequence.sequence_reader import Call, Reader
from memtile.importers.mlir.sequence.steps import push, write_bd
from memtile.runs.firmware import PATCH
from memtile.runs.operations import BlockWrite, MaskWrite, Other, Write, address_of

_ALL = (1 << 32) - 1
_OLD_BUFFER = "buffer_sym_name"  # until 2024
_TILE_OFFSETS = (1 << 20) - 1


def write32(reader: Reader, form: Call) -> None:
    """``aiex.npu.write32(%address, %value) {column, row}``, with a buffer the address counts from it."""
    at, value = address(reader, form), form.number("value", 1)
    reader.emit(form, lambda place: Write(at, value & _ALL, place=place))


def mask_write32(reader: Reader, form: Call) -> None:
    """``aiex.npu.maskwrite32(%address, %value, %mask)``."""
    at, value, mask = address(reader, form), form.number("value", 1), form.number("mask", 2)
    reader.emit(form, lambda place: MaskWrite(at, mask & _ALL, value & _ALL, place=place))


def block_write(reader: Reader, form: Call) -> None:
    """``aiex.npu.blockwrite(%data) {address}``: the words of a constant."""
    at, words = address(reader, form), reader.values.get(form.values[0])
    if not isinstance(words, np.ndarray):
        raise form.error(f"{form.values[0]} is no constant array", "what memref.get_global gives")
    data = tuple(int(word) & _ALL for word in words.reshape(-1))
    reader.emit(form, lambda place: BlockWrite(at, data, place=place))


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
    reader.emit(form, lambda place: Write(at, value & _ALL, place=place))


def set_lock(reader: Reader, form: Call) -> None:
    """``aiex.set_lock(%lock, 1)``."""
    name = form.values[0]
    if name not in reader.made.locks:
        raise form.error(f"{name} is no lock of the device", "aie.lock", reason="mlir_lock", given=name)
    lock = reader.made.locks[name]
    kind, value = lock.kind, form.number("value", 1)
    assert lock.place is not None
    at = address_of(*lock.place, kind.lock_value_base + lock.id * kind.lock_value_stride)
    reader.emit(form, lambda place: Write(at, value, place=place))


def raw_bd(reader: Reader, form: Call) -> None:
    """``aiex.npu.writebd``: fields as the registers have them, stored off by one where they are."""
    given = {name: int(value) for name, value in form.attributes.items() if isinstance(value, int)}
    tile = reader.tile(form.integer("column"), form.integer("row", 0))  # 2024: interface tiles alone
    words = [0] * tile.kind.bd_words
    for name, value in _bd_fields(given, tile.kind, reader.habits.cache).items():
        for word, msb, lsb in tile.kind.bd_fields[name].parts:
            bits = msb - lsb + 1
            words[word] |= (value & ((1 << bits) - 1)) << lsb
            value >>= bits
    write_bd(reader, form, tile, form.integer("bd_id"), words)


def _bd_fields(given: Mapping[str, int], kind: TileKind, cache: int) -> dict[str, int]:
    """Raw values of the fields that a tile's BD has, by their AM025 names."""
    offset = given.get("buffer_offset", 0)
    raw = {"Buffer_Length": given.get("buffer_length", 0)}
    raw["Base_Address"] = offset if kind.role == "memory" else offset // WORD_BYTES
    for name, field_ in _RAW.items():
        if field_ in kind.bd_fields:
            raw[field_] = given.get(name, raw.get(field_, 0))
    if kind.role == "interface":
        raw["AxCache"] = cache
        codes = kind.bd_fields["Burst_Length"].codes
        burst = given.get("burst_length", 0) or max(codes)
        raw["Burst_Length"] = codes.index(burst) if burst in codes else burst
    return {name: value for name, value in raw.items() if name in kind.bd_fields}


_RAW = {
    "enable_packet": "Enable_Packet",
    "packet_type": "Packet_Type",
    "packet_id": "Packet_ID",
    "out_of_order_id": "Out_Of_Order_BD_ID",
    "d0_wrap": "D0_Wrap",  # 2024
    "d1_wrap": "D1_Wrap",
    "d0_stepsize": "D0_Stepsize",
    "d1_stepsize": "D1_Stepsize",
    "d2_stepsize": "D2_Stepsize",
    "iteration_wrap": "Iteration_Wrap",
    "iteration_stepsize": "Iteration_Stepsize",
    "d0_size": "D0_Wrap",
    "d1_size": "D1_Wrap",
    "d2_size": "D2_Wrap",
    "d0_stride": "D0_Stepsize",
    "d1_stride": "D1_Stepsize",
    "d2_stride": "D2_Stepsize",
    "d0_zero_before": "D0_Pad_Before",
    "d1_zero_before": "D1_Pad_Before",
    "d2_zero_before": "D2_Pad_Before",
    "d0_zero_after": "D0_Pad_After",
    "d1_zero_after": "D1_Pad_After",
    "d2_zero_after": "D2_Pad_After",
    "iteration_current": "Iteration_Current",
    "iteration_size": "Iteration_Wrap",
    "iteration_stride": "Iteration_Stepsize",
    "next_bd": "Next_BD",
    "use_next_bd": "Use_Next_BD",
    "valid_bd": "Valid_BD",
    "lock_rel_val": "Lock_Rel_Value",
    "lock_rel_id": "Lock_Rel_ID",
    "lock_acq_enable": "Lock_Acq_Enable",
    "lock_acq_val": "Lock_Acq_Value",
    "lock_acq_id": "Lock_Acq_ID",
}


def address_patch(reader: Reader, form: Call) -> None:
    """``aiex.npu.address_patch(%offset : i32) {addr, arg_idx}``."""
    offset = form.whole(form.values[0]) if form.values else form.integer("arg_plus", 0)
    said = (("address", form.integer("addr")), ("argument", form.integer("arg_idx")), ("offset", offset))
    reader.emit(form, lambda place: Other(PATCH, b"", said, place=place))


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
