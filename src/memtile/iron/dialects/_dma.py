"""DMAs of a design: buffer descriptors, the blocks and regions that they are in, channels and locks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from memtile.iron.dialects import _ops
from memtile.iron.extras import types as T  # noqa: N812 - the name that programs use
from memtile.iron.extras.meta import region_adder, region_op
from memtile.iron.extras.util import Successor
from memtile.iron.helpers.util import try_convert_np_type_to_mlir_type
from memtile.iron.ops.attributes import Attribute, DictAttr, IntegerAttr, UnitAttr
from memtile.iron.ops.operation_classes import LayoutAttr
from memtile.iron.ops.operations import Block, InsertionPoint, Operation, Region, Value
from memtile.iron.ops.scalars import constant

_OPS = _ops.AIE
MIXED_DYNAMIC = T.S


def as_i32(value: Any) -> Any:
    """A number as a constant of 32 bits; a value, and None, as they are."""
    if isinstance(value, (int, np.integer)):
        return constant(int(value), T.i32())
    return value


def mixed(given: Sequence[Any] | None) -> tuple[list[Value], list[int]]:
    """Numbers and values: the values, and the numbers with a mark where a value is."""
    values, numbers = [], []
    for each in given if given is not None else ():
        if isinstance(each, Operation):
            each = each.result
        if isinstance(each, Value):
            values.append(each)
            numbers.append(MIXED_DYNAMIC)
        else:
            numbers.append(int(each))
    return values, numbers


def use_lock(
    lock: Any,
    action: Any,
    value: Any = None,
    *,
    blocking: Any = None,
    acq_en: Any = None,
    loc: object = None,
    ip: Any = None,
) -> Any:
    """``aie.use_lock``; ``value`` is 1 unless it is given."""
    amount = as_i32(1 if value is None else value)
    return _OPS["UseLockOp"](lock, action, amount, blocking=blocking, acq_en=acq_en, ip=ip)


def dma_bd(
    buffer: Any,
    sizes: Sequence[Any] | None = None,
    strides: Sequence[Any] | None = None,
    offset: Any = None,
    transfer_len: Any = None,
    **more: Any,
) -> Any:
    """``aie.dma_bd``; sizes, strides, offset and length are numbers or values."""
    size_values, size_numbers = mixed(sizes)
    stride_values, stride_numbers = mixed(strides)
    parts: dict[str, Any] = {}
    for name, given in (("offset", offset), ("len", transfer_len if "len" not in more else more.pop("len"))):
        if isinstance(given, (int, np.integer)):
            parts[f"static_{name}"] = int(given)
        elif given is not None:
            parts[name] = given
    return _OPS["DMABDOp"](
        buffer,
        sizes=size_values,
        strides=stride_values,
        static_sizes=size_numbers or None,
        static_strides=stride_numbers or None,
        **parts,
        **more,
    )


def bd_dim_layout(size: int, stride: int) -> Attribute:
    """``#aie.bd_dim_layout``: size and stride of one dimension."""
    return Attribute(f"#aie.bd_dim_layout<size = {size}, stride = {stride}>")


def bd_pad_layout(const_pad_before: int, const_pad_after: int) -> Attribute:
    """``#aie.bd_pad_layout``: padding before and behind one dimension."""
    return Attribute(
        f"#aie.bd_pad_layout<const_pad_before = {const_pad_before}, const_pad_after = {const_pad_after}>"
    )


def bd_dim_layout_array_attr_builder(pairs: Sequence[Any], context: object = None) -> Attribute:
    """Sizes and strides of several dimensions."""
    return LayoutAttr(pairs)


class ContextManagedBlock:
    """A block; within ``with`` it is where operations go."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._points: list[InsertionPoint] = []

    def __enter__(self) -> InsertionPoint:
        point = InsertionPoint(self.block)
        self._points.append(point)
        return point.__enter__()

    def __exit__(self, *given: object) -> None:
        self._points.pop().__exit__(*given)


class _Blocks:
    """Blocks of a region by any key; one that is asked for the first time is made."""

    def __init__(self, blocks: Any) -> None:
        self._all = blocks
        self.blocks: dict[Any, ContextManagedBlock] = {0: ContextManagedBlock(blocks[0])}

    def __getitem__(self, key: Any) -> ContextManagedBlock:
        if key not in self.blocks:
            self.blocks[key] = ContextManagedBlock(self._all.append())
        return self.blocks[key]


@contextmanager
def bds(parent: Any) -> Iterator[_Blocks]:
    """The blocks of a task or of a tile's DMA, ``bd[0]`` the first."""
    blocks = parent.regions[0].blocks
    if not blocks:
        blocks.append()
    with InsertionPoint(blocks[0]):
        yield _Blocks(blocks)


def _dma_body(make: Callable[[], Any]) -> Callable[[Callable[..., Any]], Any]:
    """A decorator whose function builds the blocks of a tile's DMA; it may take them."""

    def decorate(function: Callable[..., Any]) -> Any:
        operation = make()
        with bds(operation) as blocks:
            function(*[blocks][: len(inspect.signature(function).parameters)])
        return operation

    return decorate


def mem(tile: Any) -> Any:
    """``aie.mem``: the DMA of a compute tile."""
    return _dma_body(lambda: _OPS["MemOp"](T.index(), tile))


def shim_mem(tile: Any) -> Any:
    """``aie.shim_dma``: the DMA of an interface tile."""
    return _dma_body(lambda: _OPS["ShimDMAOp"](T.index(), tile))


def memtile_dma(tile: Any) -> Any:
    """``aie.memtile_dma``: the DMA of a memory tile."""
    return _dma_body(lambda: _OPS["MemTileDMAOp"](T.index(), tile))


def dma_start(
    channel_dir: Any,
    channel_index: int,
    *,
    dest: Any = None,
    chain: Any = None,
    repeat_count: int = 0,
    pad_value: int = 0,
    out_of_order: bool = False,
    loc: object = None,
    ip: Any = None,
) -> tuple[Successor, Successor]:
    """``aie.dma_start``: begin with one block, and go on with another; both default to the current one."""
    here = InsertionPoint.current.block
    blocks = [here if each is None else getattr(each, "block", each) for each in (dest, chain)]
    started = _OPS["DMAStartOp"](
        channel_dir,
        channel_index,
        *blocks,
        repeat_count=repeat_count or None,
        pad_value=pad_value or None,
        out_of_order=out_of_order or None,
        ip=ip,
    )
    return Successor(started, blocks[0], 0), Successor(started, blocks[1], 1)


def next_bd(dest: Any = None, loc: object = None, ip: Any = None) -> Successor:
    """``aie.next_bd``: go on with a block; default = the current one."""
    block = InsertionPoint.current.block if dest is None else getattr(dest, "block", dest)
    return Successor(_OPS["NextBDOp"](block, ip=ip), block, 0)


def lock(
    tile: Any,
    *,
    lock_id: int | None = None,
    init: int | None = None,
    sym_name: str | None = None,
    annot: str | None = None,
    loc: object = None,
    ip: Any = None,
) -> Any:
    """``aie.lock``."""
    made = _OPS["LockOp"](tile, lockID=lock_id, init=init, sym_name=sym_name or None, ip=ip)
    if annot is not None:
        made.attributes["annot"] = DictAttr({annot: UnitAttr()})
    return made.result


def bd_chain(*inputs: Any) -> Any:
    """``aie.bd_chain``: a decorator whose function takes blocks, then the arguments."""

    def decorate(function: Callable[..., Any]) -> Any:
        chain = _OPS["BDChainOp"](function.__name__)
        chain.regions[0].blocks.append(*[try_convert_np_type_to_mlir_type(each) for each in inputs])
        with bds(chain) as blocks:
            function(blocks, *chain.regions[0].blocks[0].arguments)
        return chain

    return decorate


def _dma(
    channel_dir: Any,
    channel_index: Any,
    *,
    num_blocks: int = 1,
    loop: bool | None = None,
    repeat_count: int | None = None,
    sym_name: str | None = None,
    pad_value: int = 0,
    loc: object = None,
    ip: Any = None,
) -> Any:
    """``aie.dma``: a channel whose buffer descriptors are regions, of which the function builds the first.

    Args:
        channel_dir: direction of the channel.
        channel_index: its number.
        num_blocks: the regions; :func:`another_bd` builds those behind the first.
        loop: begin with the first again behind the last; default = yes.
        repeat_count: how often again.
        sym_name: name of the channel's result.
        pad_value: what padding is filled with.
    """
    index = channel_index.value if isinstance(channel_index, IntegerAttr) else channel_index
    return _OPS["DMAOp"](
        T.bool(),
        channel_dir,
        index,
        num_bds=num_blocks,
        loop=loop,
        repeat_count=repeat_count,
        sym_name=sym_name,
        pad_value=pad_value or None,
        ip=ip,
    )


dma = region_op(_dma)


@region_adder()  # type: ignore[untyped-decorator]
def another_bd(dma_op: Any) -> Region:
    """The next region of an ``aie.dma`` that is still empty; a decorator whose function builds it.

    Raises:
        ValueError: all of them are built.
    """
    for region in dma_op.regions:
        if not any(block.operations for block in region.blocks):
            return region  # type: ignore[no-any-return]
    count = len(dma_op.regions)
    raise ValueError(
        f"all {count} buffer descriptors of this aie.dma are built: give dma(num_blocks={count + 1})"
    )


__all__ = [
    "MIXED_DYNAMIC",
    "ContextManagedBlock",
    "another_bd",
    "as_i32",
    "bd_chain",
    "bd_dim_layout",
    "bd_dim_layout_array_attr_builder",
    "bd_pad_layout",
    "bds",
    "dma",
    "dma_bd",
    "dma_start",
    "lock",
    "mem",
    "memtile_dma",
    "mixed",
    "next_bd",
    "shim_mem",
    "use_lock",
]
