"""``dma_memcpy_nd`` and the waits for channels: one operation of the text, several register accesses."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import NamedTuple

from memtile.arch.tiles import MAX_DIMENSIONS, S2MM, WORD_BYTES
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.forms.operands import packet_of
from memtile.importers.mlir.sequence.bd_lowering import (
    Pattern,
    bd_words,
    checked,
    header_fields,
    is_linear,
    length_fields,
    old_fields,
    pattern_of,
)
from memtile.importers.mlir.sequence.decomposition import decomposed
from memtile.importers.mlir.sequence.runtime_values import hidden_numbers
from memtile.importers.mlir.sequence.scratchpad_forms import offset_of
from memtile.importers.mlir.sequence.sequence_moves import note_transfer
from memtile.importers.mlir.sequence.sequence_reader import Call, Reader
from memtile.importers.mlir.sequence.steps import patch, push, wait, whole_words, write_bd
from memtile.importers.mlir.types import Shaped


def memcpy(reader: Reader, form: Call) -> None:
    """``aiex.npu.dma_memcpy_nd``: BDs of an interface tile, with their addresses and pushes (DEV-MLIR-7)."""
    metadata = form.symbol_of("metadata")
    tile, direction, channel = form.allocated(metadata)
    if tile.kind.role != "interface":
        says = f"its channel is one of the {tile.title}"
        raise form.error(says, "channels of interface tiles", reason="mlir_allocation")
    source, (offsets, sizes, strides, old) = form.argument(_array(form)), _lists(form)
    size = element_bytes(form, source.shape)
    first = sum(o * s for o, s in zip(offsets, _rows(source.shape) if old else strides, strict=True))
    _check_elements(form, source.shape, size, first)
    pattern, known = pattern_of(sizes, strides, first), _constant(reader, form)
    parts = [pattern] if old or known is not None else decomposed(tile.kind, size * _BITS, pattern)
    if len(parts) > 1 or parts[0].sizes[::-1] != tuple(sizes):
        _check_offsets(form, offsets, sizes, strides)
    note_transfer(reader, form, tile, (direction, channel), source, pattern)
    header = reader.made.device.allocations[metadata].packet
    fields = _packet(form) or (header_fields(header) if header else {})
    fields |= {name: form.integer(name) for name in _GIVEN if name in form.attributes}
    extra, token = offset_of(reader, form), bool(form.attributes.get("issue_token", False))
    for number, part in zip(
        reader.bds.of_transfer(form, metadata, form.number("id"), len(parts)), parts, strict=True
    ):
        linear = is_linear(tile.kind, part if known is None else known)
        lowered = old_fields if old else partial(checked, form, tile.kind, linear=linear)
        made = fields | lowered(bits=size * _BITS, pattern=part)
        made |= length_fields(form, tile.kind, part.length * size)
        write_bd(reader, form, tile, number, bd_words(form, tile.kind, made, reader.habits.cache))
        patch(reader, form, tile, number, source.argument, source.offset + size * (part.offset + extra))
        last = token and part is parts[-1]
        push(
            reader, form, tile, (direction, channel), number, part.sizes[-1], token=last or direction == S2MM
        )


_BITS = 8
_GIVEN = ("burst_length", "axcache", *(f"d{n}_zero_{side}" for n in range(3) for side in ("before", "after")))


def _check_elements(form: Call, shape: Shaped, size: int, first: int) -> None:
    """Refuse elements and offsets that the verifier of mlir-aie does.

    Raises:
        InputFileError: elements of more than 32 bits, less than a word, or an offset within a word.
    """
    if size > WORD_BYTES and "!" not in shape.element:  # blocks of numbers become bytes before
        says = f"its elements have {size * _BITS} bits"
        raise form.error(says, f"up to {WORD_BYTES * _BITS} bits", reason="mlir_words")
    if 0 <= shape.elements * size < WORD_BYTES:
        says = f"its memory has {shape.elements * size} bytes"
        raise form.error(says, f"{WORD_BYTES} bytes or more", reason="mlir_words")
    whole_words(form, first * size)


def _check_offsets(form: Call, *lists: list[int]) -> None:
    """Refuse offsets that mlir-aie loses where it splits a pattern.

    Raises:
        InputFileError: an offset along a dimension of size 1, which the split removes.
    """
    if any(offset * stride and size == 1 for offset, size, stride in list(zip(*lists, strict=True))[:-1]):
        says = "mlir-aie splits this pattern, and loses offsets along dimensions of size 1 when it does"
        step = "Put the offset of the first element to the innermost dimension."
        raise form.error(says, "offsets along the innermost dimension", reason="mlir_offset", step=step)


def _constant(reader: Reader, form: Call) -> Pattern | None:
    """The pattern as the compiler knows it, which leaves numbers of the host open; None = it knows all."""
    if not reader.runtime or reader.runtime.isdisjoint(form.values):
        return None
    hidden = reader.values | dict(hidden_numbers(reader.runtime))
    _, sizes, strides, _ = _lists(Call(form.operation, reader, hidden))
    return pattern_of(sizes, strides)


def _array(form: Call) -> str:
    """The array that is moved: the value with lists or a type behind it; numbers of a tile may come first."""
    tokens = form.operation.tokens
    for item in [] if form.generic else form.items():
        if item.end > item.first + 1 and tokens.words[item.first][:1] == "%":
            return tokens.words[item.first]
    return form.values[0]


def _rows(shape: Shaped) -> list[int]:
    """Elements that offsets of a text until 2024 count, outermost first: rows of the memory, not strides."""
    sizes = [1] * (MAX_DIMENSIONS - len(shape.shape)) + list(shape.shape)
    return [prod(sizes[n:]) for n in range(1 - MAX_DIMENSIONS, 0)] + [1]


class _Lists(NamedTuple):
    """Offsets, sizes and strides, each of four, outermost first; ``old`` without an innermost stride."""

    offsets: list[int]
    sizes: list[int]
    strides: list[int]
    old: bool


def _lists(form: Call) -> _Lists:
    if form.generic or "static_offsets" in form.attributes:
        lists = [form.integers(f"static_{name}") for name in ("offsets", "sizes", "strides")]
    elif "offsets" in form.attributes:  # 2023
        lists = [form.integers(name) for name in ("offsets", "lengths", "strides")]
    else:
        opening = form.bracket()
        if opening is None:
            raise form.error("it has no operands", "(%argument[..][..][..])", reason="mlir_operands")
        tokens, at = form.operation.tokens, opening + 1
        places = []
        while at < tokens.close[opening]:
            if tokens.words[at] == "[":
                places.append(at)
            at = tokens.close.get(at, at) + 1
        lists = [form.whole_list(place) for place in places[:3]]
    old = len(lists) == 3 and len(lists[2]) == len(lists[1]) - 1  # until July 2024
    if old:
        lists[2] = [*lists[2], 1]
    if len(lists) != 3 or len({len(each) for each in lists}) != 1 or len(lists[0]) > MAX_DIMENSIONS:
        raise form.error(
            "it needs offsets, sizes and strides of equal length", "three lists of up to four numbers"
        )
    missing = MAX_DIMENSIONS - len(lists[0])
    offsets, sizes, strides = lists
    return _Lists([0] * missing + offsets, [1] * missing + sizes, [0] * missing + strides, old)


def _packet(form: Call) -> dict[str, int]:
    """Fields of the header, if the transfer has one."""
    given = packet_of(form.attributes.get("packet"))
    for item in form.items():
        if form.named(item) and form.operation.tokens.words[item.first] == "packet":
            given = packet_of(form.value(item))
    return {} if given is None else header_fields(given)


def wait_for(reader: Reader, form: Call) -> None:
    """``aiex.npu.dma_wait {symbol = @out}``."""
    tile, direction, channel = form.allocated(form.symbol_of("symbol"))
    assert tile.place is not None
    wait(reader, form, tile.place, direction, channel)


def sync(reader: Reader, form: Call) -> None:
    """``aiex.npu.sync``: a token of each channel of a rectangle of tiles."""
    names = ("column", "row", "direction", "channel", "column_num", "row_num")
    column, row, direction, channel, columns, rows = (form.number(name, n) for n, name in enumerate(names))
    wait(reader, form, (column, row), direction, channel, (columns, rows))
