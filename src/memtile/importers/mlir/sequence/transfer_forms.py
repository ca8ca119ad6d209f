"""``dma_memcpy_nd`` and the waits for channels: one operation of the text, several register accesses."""

from __future__ import annotations

from math import prod

from memtile.arch.tiles import MAX_DIMENSIONS, S2MM, TileKind
from memtile.bd.codec import encode
from memtile.bd.descriptor import NO_ITERATION, Axi, Descriptor, Iteration, Packet
from memtile.bd.windows import DmaAddress
from memtile.importers.mlir.description import Level
from memtile.importers.mlir.descriptors import dims, element_bytes
from memtile.importers.mlir.forms.operands import packet_of
from memtile.importers.mlir.sequence.scratchpad_forms import offset_of
from memtile.importers.mlir.sequence.sequence_reader import Call, Reader
from memtile.importers.mlir.sequence.steps import patch, push, wait, whole_words, write_bd


def memcpy(reader: Reader, form: Call) -> None:
    """``aiex.npu.dma_memcpy_nd``: a BD of an interface tile, its address, and its push."""
    symbol = form.symbol_of("metadata")
    tile, direction, channel = form.allocated(symbol)
    if tile.kind.role != "interface":
        says = f"its channel is one of the {tile.title}"
        raise form.error(says, "channels of interface tiles", reason="mlir_allocation")
    source = form.argument(_array(form))
    offsets, sizes, strides = _lists(form)
    size = element_bytes(form, source.shape)
    runs, *rest = sizes
    levels = [Level(n, s) for n, s in zip(rest, strides[1:], strict=True)]
    length = runs and prod(rest) * size
    linear = contiguous(levels)
    iteration = NO_ITERATION
    if runs > 1 and strides[0] > 0:
        iteration = Iteration(whole_words(form, strides[0] * size), runs)
    given = Descriptor(
        tile.kind.name,
        whole_words(form, length),
        DmaAddress(0),
        dims=() if linear else dims(form, levels, size, tile.kind),
        iteration=iteration,
        packet=_packet(form, symbol),
        axi=_axi(form, tile.kind, reader.habits.cache),
    )
    number = form.number("id")
    first = sum(o * s for o, s in zip(offsets, strides, strict=True)) + offset_of(reader, form)
    start = source.offset + size * first
    write_bd(reader, form, tile, number, list(encode(given, number)))
    patch(reader, form, tile, number, source.argument, start)
    token = bool(form.attributes.get("issue_token", False)) or direction == S2MM
    push(reader, form, tile, (direction, channel), number, runs, token=token)


def _array(form: Call) -> str:
    """The array that is moved: the value with lists or a type behind it; numbers of a tile may come first."""
    tokens = form.operation.tokens
    for item in [] if form.generic else form.items():
        if item.end > item.first + 1 and tokens.words[item.first][:1] == "%":
            return tokens.words[item.first]
    return form.values[0]


def _lists(form: Call) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides, each of four, outermost first."""
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
    if len(lists) == 3 and len(lists[2]) == len(lists[1]) - 1:  # until 2024 the innermost stride was not said
        lists[2] = [*lists[2], 1]
    if len(lists) != 3 or len({len(each) for each in lists}) != 1 or len(lists[0]) > MAX_DIMENSIONS:
        raise form.error(
            "it needs offsets, sizes and strides of equal length", "three lists of up to four numbers"
        )
    missing = MAX_DIMENSIONS - len(lists[0])
    offsets, sizes, strides = lists
    return [0] * missing + offsets, [1] * missing + sizes, [0] * missing + strides


def contiguous(levels: list[Level]) -> bool:
    """Whether a pattern goes through memory in order."""
    expected = 1
    for size, stride in reversed(levels):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def _packet(form: Call, symbol: str) -> Packet | None:
    """The header of a transfer: its own, else that of its channel's symbol."""
    given = packet_of(form.attributes.get("packet")) or form.allocated_packet(symbol)
    for item in form.items():
        if form.named(item) and form.operation.tokens.words[item.first] == "packet":
            given = packet_of(form.value(item))
    return None if given is None else Packet(given[1], given[0])


def _axi(form: Call, kind: TileKind, cache: int) -> Axi:
    codes = kind.bd_fields["Burst_Length"].codes
    return Axi(form.integer("burst_length", 0) or max(codes), cache=cache)


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
