"""Buffers, locks and the work of DMA channels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.description import (
    BdDescription,
    BufferDescription,
    ChainDescription,
    DeviceDescription,
    Level,
    LockDescription,
    LockUse,
    Padding,
)
from memtile.importers.mlir.forms.dense_constants import dense
from memtile.importers.mlir.forms.locks import lock_form
from memtile.importers.mlir.forms.operands import OperationForm, levels, list_at, packet_of, paddings
from memtile.importers.mlir.tree import Operation, OperationBlock, Region, TokenSpan

Known = Mapping[str, object]
"""Numbers of values that only a host sequence knows, by name."""
NOTHING: Known = {}
_TOGETHER = re.compile(r'"?(S2MM|MM2S)([0-9])"?')  # direction and number of a channel in texts of 2023


def buffer(device: DeviceDescription, operation: Operation) -> None:
    """``aie.buffer(%t) {address = 0x400 : i32, sym_name = "b"} : memref<8xi32> = dense<0>``."""
    form = OperationForm(operation)
    shape = form.last_type()
    if shape is None:
        raise form.error("its type is no memref", "memref<..>")
    given = form.attributes
    device.buffers[_key(form, device.buffers)] = BufferDescription(
        name=form.name,
        tile=form.values[0] if form.values else "",
        shape=shape,
        operation=operation,
        address=form.integer("address") if "address" in given else None,
        bank=form.integer("mem_bank") if "mem_bank" in given else None,
        initial=dense(form.initial() or given.get("initial_value"), shape),
        aligned=given.get("aligned", True) is not False,
    )


def inner_buffer(device: DeviceDescription, operation: Operation, scope: str) -> None:
    """A buffer that a core declares: its value is known there alone, so ``scope`` is behind its name.

    Raises:
        InputFileError: it has no contents, which mlir-aie asks for.
    """
    buffer(device, operation)
    name = next(reversed(device.buffers))
    device.buffers[f"{name}{scope}"] = found = device.buffers.pop(name)
    if found.initial is None:
        says = f"buffer {found.name} is declared within a core and has no contents"
        allowed = "aie.buffer beside the core, or with = dense<..>"
        raise OperationForm(operation).error(says, allowed, reason="mlir_buffer")


def lock(device: DeviceDescription, operation: Operation) -> None:
    """``aie.lock(%t, 3) {init = 1 : i32, sym_name = "l"}``."""
    form = OperationForm(operation)
    texts = [] if form.generic else form.texts()
    number = form.whole(texts[1]) if len(texts) > 1 else None
    if number is None and "lockID" in form.attributes:
        number = form.integer("lockID")
    initial = form.integer("init", 0)
    device.locks[_key(form, device.locks)] = LockDescription(
        form.name, form.values[0], operation, number, initial
    )


def _key(form: OperationForm, known: Mapping[str, object]) -> str:
    """What a device knows a buffer or a lock by: its value, else its symbol, else that it is the n-th."""
    return form.result or f"@{form.symbol or len(known)}"


def lock_use(operation: Operation, known: Known = NOTHING) -> LockUse | None:
    """``aie.use_lock(%l, AcquireGreaterEqual, 1)``, the number a value or not; None if it is disabled."""
    form = OperationForm(operation, known)
    said = lock_form(form)
    return None if said is None else LockUse(said.lock, said.action, form.whole(said.units))


def chains(device: DeviceDescription, operation: Operation) -> None:
    """``aie.mem(%t) { .. }``, ``aie.memtile_dma`` and ``aie.shim_dma``, with blocks or with ``aie.dma``."""
    form = OperationForm(operation)
    tile = form.values[0]
    for region in operation.regions:
        starts = [each for block in region.blocks for each in block.operations]
        for start in starts:
            if start.name == "aie.dma_start":
                device.chains.append(_started(start, tile, region))
            elif start.name == "aie.dma":
                device.chains.append(_ring(start, tile))


def blocks_of_bds(region: Region, first: str, known: Known = NOTHING) -> list[BdDescription]:
    """The BDs of a chain of blocks, from the one called ``first`` on; empty is the first of the region."""
    by_label = {block.label: block for block in region.blocks}
    by_label.setdefault("", region.blocks[0])
    order, found = dict[str, int](), list[BdDescription]()
    label = first
    while label not in order:
        block = by_label.get(label)
        bd = None if block is None else bd_of(block.operations, known)
        if bd is None:
            break
        order[label] = len(found)
        found.append(bd)
        following = next_label(by_label[label])
        if following is None:
            return found
        bd.next = order.get(following, len(found))
        label = following
    if found and found[-1].next == len(found):
        found[-1].next = None
    return found


def bd_of(operations: Sequence[Operation], known: Known = NOTHING) -> BdDescription | None:
    """The BD of a block with its locks and packet; None if the block has none."""
    found = next((bd(each, known) for each in operations if each.name == "aie.dma_bd"), None)
    if found is None:
        return None
    for each in operations:
        if each.name == "aie.use_lock" and (use := lock_use(each, known)) is not None:
            if use.action == "release":
                found.release = use
            else:
                found.acquire = use
        elif each.name == "aie.dma_bd_packet":
            form = OperationForm(each)
            kind, packet = (form.whole(text) for text in form.texts().exactly(2))
            found.packet = kind, packet
    return found


def bd(operation: Operation, known: Known = NOTHING) -> BdDescription:
    """``aie.dma_bd(%b : memref<8xi32> offset = 0 len = 8 sizes = [..] strides = [..])`` and older ones."""
    form = OperationForm(operation, known)
    given = form.attributes
    made = BdDescription(form.values[0], operation)
    made.number = form.integer("bd_id") if "bd_id" in given else None
    made.packet = packet_of(given.get("packet"))
    made.burst = form.integer("burst_length", 0) or None
    made.offset = form.integer("offset", 0) or form.integer("static_offset", 0)
    length = next((name for name in ("len", "static_len") if name in given), None)
    made.length = None if length is None else form.integer(length)
    made.levels, made.padding = _pattern(form), _padding(form)
    if not form.generic:
        _placed(form, made)
    iteration = given.get("iteration")
    if isinstance(iteration, Compound):
        named = iteration.named
        made.iteration = int(named["size"]), int(named["stride"]), int(named.get("current", 0))
    return made


def _placed(form: OperationForm, made: BdDescription) -> None:
    """Offset, length and pattern of the pretty forms."""
    for name in ("offset", "len"):
        at = form.keyword(name)
        if at is not None:
            value = form.whole(form.operation.tokens.words[at])
            made.offset, made.length = (value, made.length) if name == "offset" else (made.offset, value)
    items = _old_items(form) or form.items()[1:]
    numbers = [form.text(item) for item in items if form.operation.tokens.words[item.first] != "["]
    if numbers:
        made.offset = form.whole(numbers[0])
    if len(numbers) > 1:
        made.length = form.whole(numbers[1])


def _old_items(form: OperationForm) -> list[TokenSpan]:
    """Offset and length of ``(<%b : memref<8xi32>, 0, 8>, 0)``; nothing in any other spelling."""
    first = form.items()[0].first
    return form.split(first)[1:] if form.operation.tokens.words[first] == "<" else []


def _pattern(form: OperationForm) -> Sequence[Level]:
    found = [form.keyword(name) for name in ("sizes", "strides")]
    if any(at is not None for at in found):
        return _levels(form, *([] if at is None else form.whole_list(at) for at in found))
    static = [name if name in form.attributes else "" for name in ("static_sizes", "static_strides")]
    if any(static):
        return _levels(form, *(form.integers(name) if name else [] for name in static))
    if "dimensions" in form.attributes:
        return levels([form.attributes["dimensions"]])
    for item in [] if form.generic else form.items()[1:]:
        text = form.text(item)
        if text.startswith("[<") and "pad" not in text:
            return levels(list_at(form.operation, item.first))
    return []


def _levels(form: OperationForm, sizes: Sequence[int], strides: Sequence[int]) -> list[Level]:
    if len(sizes) != len(strides):
        says = f"it has {len(sizes)} sizes and {len(strides)} strides"
        raise form.error(says, "as many strides as sizes", reason="mlir_dimensions")
    return [Level(*pair) for pair in zip(sizes, strides, strict=True)]


def _padding(form: OperationForm) -> Sequence[Padding]:
    value = form.keyword("pad_value")
    if value is not None and form.whole(form.operation.tokens.words[value]):
        says = f"its pad_value is {form.operation.tokens.words[value]}"
        raise form.error(says, "0; the channel has another one, in aie.dma_start", reason="mlir_attribute")
    at = form.keyword("pad")
    if at is not None:
        return paddings(list_at(form.operation, at))
    if "pad_dimensions" in form.attributes:
        return paddings([form.attributes["pad_dimensions"]])
    for item in [] if form.generic else form.items()[1:]:
        if "pad" in form.text(item):
            return paddings(list_at(form.operation, item.first))
    return []


def _started(operation: Operation, tile: str, region: Region) -> ChainDescription:
    """``aie.dma_start(S2MM, 0, ^bd, ^end)``."""
    form = OperationForm(operation)
    if form.generic:
        first = next((word for word in operation.words if word[:1] == "^"), "^")
    else:
        first = next((text for text in form.texts() if text[:1] == "^"), "^")
    return _chain(form, tile, _port(form), blocks_of_bds(region, first))


def _port(form: OperationForm) -> tuple[str | int, int]:
    """Direction and number of a channel."""
    if form.generic:
        return form.attributes["channel_dir"], form.integer("channel_index")
    direction, channel = form.texts().first(2)
    together = _TOGETHER.fullmatch(direction)
    return (together[1], int(together[2])) if together else (direction, form.whole(channel))


def _ring(operation: Operation, tile: str) -> ChainDescription:
    """``aie.dma(MM2S, 0) {loop = false} [{ .. }, { .. }]``; it loops if nothing is said."""
    form = OperationForm(operation)
    found = [bd_of(region.blocks[0].operations) for region in operation.regions]
    bds = [each for each in found if each is not None]
    for number, each in enumerate(bds):
        each.next = number + 1
    if bds:
        bds[-1].next = 0 if form.attributes.get("loop", True) else None
    return _chain(form, tile, _port(form), bds)


def _chain(
    form: OperationForm, tile: str, port: tuple[str | int, int], bds: list[BdDescription]
) -> ChainDescription:
    return ChainDescription(
        tile=tile,
        direction=form.direction(port[0]),
        channel=port[1],
        bds=bds,
        operation=form.operation,
        repeat=_repeats(form),
        pad_value=form.integer("pad_value", 0),
        name=form.name,
    )


def _repeats(form: OperationForm) -> int:
    """How often more than once: an attribute, in the pretty form among the operands."""
    at = form.keyword("repeat_count")
    return form.integer("repeat_count", 0) if at is None else form.whole(form.operation.tokens.words[at])


def next_label(block: OperationBlock) -> str | None:
    """Where a block goes on; None at its end."""
    for operation in reversed(block.operations):
        if operation.name in ("aie.next_bd", "cf.br", "br"):
            return next((word for word in operation.words if word[:1] == "^"), None)
    return None
