"""A BD of a description as the descriptor that a tile holds: elements become 32-bit words.

The innermost dimension counts elements, which must be whole words together; the steps of the others are
scaled. So mlir-aie's lowering does it (AIERT.cpp, AIEDmaToNpu.cpp), and BDs of lowered designs are compared
with those of the CDO files beside them, word by word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memtile.arch.tiles import WORD_BYTES, TileKind
from memtile.bd import descriptor as parts
from memtile.bd.windows import DmaAddress, DmaLock
from memtile.importers.mlir.description import BdDescription, Level, LockUse
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.types import Shaped

LockOf = Callable[[OperationForm, LockUse], DmaLock]


@dataclass(frozen=True, slots=True)
class BufferPlace:
    """Where a BD's buffer is, as the DMA that reads it sees it.

    Attributes:
        address: of its first byte.
        shape: of the buffer.
    """

    address: int
    shape: Shaped


def descriptor(
    bd: BdDescription,
    kind: TileKind,
    memory: BufferPlace,
    lock_of: LockOf,
    next_number: int | None,
    *,
    cache: int = 0,
) -> parts.Descriptor:
    """The descriptor of a BD.

    Args:
        bd: as the text has it.
        kind: of the tile that has the BD.
        memory: its buffer.
        lock_of: what finds the id of a lock as the DMA sees it.
        next_number: of the BD behind it; None = the chain ends.
        cache: AxCache, on interface tiles.

    Raises:
        InputFileError: words that are not whole, too many dimensions, or a type without a size.
    """
    form = OperationForm(bd.operation)
    size = element_bytes(form, memory.shape)
    length = memory.shape.elements if bd.length is None else bd.length
    words = _words(form, "length", length * size)
    address = _words(form, "offset", memory.address + bd.offset * size)
    fields: dict[str, Any] = {
        "dims": dims(form, list(bd.levels), size, kind),
        "pad": tuple(
            parts.Pad(*(_words(form, "padding", n * size) if inner == 0 else n for n in pad))
            for inner, pad in enumerate(reversed(bd.padding))
        ),
        "iteration": _iteration(form, bd, size),
        "acquire": _acquire(form, bd.acquire, lock_of),
        "release": _release(form, bd.release, lock_of),
        "packet": None if bd.packet is None else parts.Packet(bd.packet[1], bd.packet[0]),
        "ooo_id": bd.ooo or 0,
        "compression": bd.compressed,
        "next": next_number,
    }
    if kind.role == "interface":
        burst = bd.burst or max(kind.bd_fields["Burst_Length"].codes)
        fields["axi"] = parts.Axi(burst, cache=cache)
    return parts.Descriptor(kind.name, words, DmaAddress(address), **fields)


def dims(form: OperationForm, levels: list[Level], size: int, kind: TileKind) -> tuple[parts.Dim, ...]:
    """Steps and wraps of a pattern, innermost first; the last dimension of a tile has no wrap.

    Raises:
        InputFileError: too many dimensions, or elements that are no whole words.
    """
    if len(levels) > kind.dimensions:
        says = f"the pattern has {len(levels)} dimensions; BDs of a {kind.title} have {kind.dimensions}"
        raise form.error(says, f"up to {kind.dimensions} dimensions", reason="mlir_dimensions")
    if levels and levels[-1].size * size < WORD_BYTES and _is_linear(levels):
        return ()  # mlir-aie's driver makes a wrap of 0 words of it, which never wraps
    found = []
    for inner, level in enumerate(reversed(levels)):
        wrap, step = level.size, level.stride
        if inner == 0:
            if step != 1 and size < WORD_BYTES and wrap > 1:
                says = f"the innermost stride is {step}; elements of {size} bytes are not moved one by one"
                raise form.error(says, "1", reason="mlir_stride")
            wrap, step = _words(form, "innermost size", wrap * size), step * max(size // WORD_BYTES, 1)
        else:
            step = _words(form, "stride", step * size)
        last = inner == kind.dimensions - 1
        found.append(parts.Dim(max(step, 1), 0 if last else wrap))
    return tuple(found)


def _is_linear(levels: list[Level]) -> bool:
    """Whether a pattern goes through memory in order."""
    step = 1
    for level in reversed(levels):
        if level.size > 1 and level.stride != step:
            return False
        step *= level.size
    return levels[-1].stride == 1


def element_bytes(form: OperationForm, shape: Shaped) -> int:
    """Bytes of an element.

    Raises:
        InputFileError: the type is of no known size.
    """
    if shape.dtype is None:
        raise form.error(f"elements of {shape.element} have no known size", "i8 to i64, bf16, f16, f32, f64")
    return shape.dtype.itemsize


def _words(form: OperationForm, what: str, count: int) -> int:
    words, rest = divmod(count, WORD_BYTES)
    if rest:
        says = f"its {what} is {count} bytes; a DMA moves whole 32-bit words"
        raise form.error(says, f"a multiple of {WORD_BYTES} bytes", reason="mlir_words")
    return words


def _iteration(form: OperationForm, bd: BdDescription, size: int) -> parts.Iteration:
    if bd.iteration is None or bd.iteration[0] <= 1:
        return parts.NO_ITERATION
    wrap, stride, current = bd.iteration
    return parts.Iteration(_words(form, "iteration", stride * size), wrap, current)


def _acquire(form: OperationForm, use: LockUse | None, lock_of: LockOf) -> parts.Acquire:
    if use is None:
        return parts.NO_ACQUIRE
    value = use.value if use.action == "acquire" else -use.value
    return parts.Acquire(lock_of(form, use), value, True)


def _release(form: OperationForm, use: LockUse | None, lock_of: LockOf) -> parts.Release:
    return parts.NO_RELEASE if use is None else parts.Release(lock_of(form, use), use.value)
