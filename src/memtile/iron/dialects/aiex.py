"""``aie.dialects.aiex``: what the host does with a design, its runtime sequence.

Names and behaviour are mlir-aie's (its documentation and examples, 2026-08-14).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from memtile.iron.dialects import _ops, aie
from memtile.iron.dialects._dma import as_i32, bds, dma_bd, mixed
from memtile.iron.dialects.aie import EndOp
from memtile.iron.extras import types as T  # noqa: N812 - the name that programs use
from memtile.iron.extras.dialects import arith
from memtile.iron.helpers.util import try_convert_np_type_to_mlir_type
from memtile.iron.ops.enums import DMAChannelDir, LockAction
from memtile.iron.ops.numpy_types import v8bfp16ebs8, v16bfp16ebs16
from memtile.iron.ops.operations import InsertionPoint, Operation

globals().update(_ops.AIEX)
_OPS = _ops.AIEX
AttrBuilder = aie.AttrBuilder
_HIDDEN = (DMAChannelDir, LockAction, v8bfp16ebs8, v16bfp16ebs16)


def npu_write32(
    address: Any, value: Any, buffer: Any = None, column: Any = None, row: Any = None, **more: Any
) -> Any:
    """``aiex.npu.write32``."""
    return _OPS["NpuWrite32Op"](as_i32(address), as_i32(value), buffer=buffer, column=column, row=row, **more)


def npu_maskwrite32(
    address: Any, value: Any, mask: Any, buffer: Any = None, column: Any = None, row: Any = None, **more: Any
) -> Any:
    """``aiex.npu.maskwrite32``."""
    numbers = (as_i32(each) for each in (address, value, mask))
    return _OPS["NpuMaskwrite32Op"](*numbers, buffer=buffer, column=column, row=row, **more)


def npu_sync(
    column: Any, row: Any, direction: Any, channel: Any, column_num: Any = 1, row_num: Any = 1, **more: Any
) -> Any:
    """``aiex.npu.sync``: wait for a token of a channel."""
    given = (column, row, direction, channel, column_num, row_num)
    return _OPS["NpuSyncOp"](*(as_i32(each) for each in given), **more)


def npu_address_patch(addr: int, arg_idx: int, arg_plus: Any, **more: Any) -> Any:
    """``aiex.npu.address_patch``."""
    return _OPS["NpuAddressPatchOp"](addr, arg_idx, as_i32(arg_plus), **more)


def npu_rtp_write(buffer: Any, index: int, value: Any, **more: Any) -> Any:
    """``aiex.npu.rtp_write``."""
    return _OPS["NpuWriteRTPOp"](buffer, index, as_i32(value), **more)


def npu_push_queue(
    column: int,
    row: int,
    direction: Any,
    channel: int,
    issue_token: bool,
    repeat_count: Any,
    bd_id: Any,
    **more: Any,
) -> Any:
    """``aiex.npu.push_queue``."""
    return _OPS["NpuPushQueueOp"](
        column, row, direction, channel, issue_token, as_i32(repeat_count), as_i32(bd_id), **more
    )


def _symbol(given: Any) -> str:
    return given if isinstance(given, str) else given.sym_name.value


def dma_wait(*fifos: Any) -> None:
    """``aiex.npu.dma_wait`` for each object FIFO.

    Raises:
        ValueError: none is given.
    """
    if not fifos:
        raise ValueError("dma_wait needs at least one object FIFO to wait for")
    for each in fifos:
        _OPS["NpuDmaWaitOp"](symbol=_symbol(each))


def npu_dma_memcpy_nd(
    metadata: Any,
    bd_id: int,
    mem: Any,
    tap: Any = None,
    offsets: Sequence[Any] | None = None,
    sizes: Sequence[Any] | None = None,
    strides: Sequence[Any] | None = None,
    issue_token: bool | None = None,
    burst_length: int = 0,
    packet: tuple[int, int] | None = None,
    offset_parameter: str | None = None,
) -> Any:
    """``aiex.npu.dma_memcpy_nd``: move data between a host buffer and an object FIFO.

    Args:
        metadata: the object FIFO, or its name.
        bd_id: number of the buffer descriptor.
        mem: the host buffer, an argument of the sequence.
        tap: offset, sizes and strides in one.
        offsets: four, in elements.
        sizes: four, the outermost first.
        strides: four, in elements.

    Raises:
        ValueError: a tap beside offsets, sizes or strides.
    """
    if tap is not None:
        if not (offsets is None and sizes is None and strides is None):
            raise ValueError("npu_dma_memcpy_nd takes a tap, or offsets, sizes and strides, not both")
        offset, sizes, strides = _access(tap, None, None, None, "npu_dma_memcpy_nd")
        offsets = [0, 0, 0, offset]
    values = [
        mixed(each)
        for each in (offsets or [0] * 4, sizes or [0] * 4, strides if strides is not None else [0, 0, 0, 1])
    ]
    return _OPS["NpuDmaMemcpyNdOp"](
        mem,
        *(dynamic for dynamic, _ in values),
        *(static for _, static in values),
        _symbol(metadata),
        bd_id,
        issue_token=issue_token,
        burst_length=burst_length,
        packet=packet,
        offset_parameter=offset_parameter,
    )


NpuDmaMemcpyNd = npu_dma_memcpy_nd


def runtime_sequence(*inputs: Any, sym_name: str | None = None, context: object = None) -> Any:
    """``aie.runtime_sequence``: a decorator whose function takes the host's buffers."""

    def decorate(function: Callable[..., Any]) -> Any:
        sequence = aie.RuntimeSequenceOp(sym_name=sym_name or function.__name__)
        block = sequence.regions[0].blocks.append(
            *[try_convert_np_type_to_mlir_type(each) for each in inputs]
        )
        with InsertionPoint(block):
            function(*block.arguments)
        return sequence

    return decorate


def dma_configure_task(*given: Any, **more: Any) -> Any:
    """``aiex.dma_configure_task``."""
    return _OPS["DMAConfigureTaskOp"](T.index(), *given, **more)


def dma_configure_task_for(alloc: Any, *given: Any, **more: Any) -> Any:
    """``aiex.dma_configure_task_for``: a task of the interface tile's channel of an object FIFO."""
    return _OPS["DMAConfigureTaskForOp"](T.index(), _symbol(alloc), *given, **more)


def dma_start_bd_chain(symbol: Any, args: Any, tile: Any, direction: Any, channel: int, **more: Any) -> Any:
    """``aiex.dma_start_bd_chain``."""
    return _OPS["DMAStartBdChainOp"](T.index(), _symbol(symbol), args, tile, direction, channel, **more)


def dma_start_bd_chain_for(symbol: Any, args: Any, alloc: Any, **more: Any) -> Any:
    """``aiex.dma_start_bd_chain_for``."""
    return _OPS["DMAStartBdChainForOp"](T.index(), _symbol(symbol), args, _symbol(alloc), **more)


def _access(tap: Any, offset: Any, sizes: Any, strides: Any, who: str) -> tuple[Any, Any, Any]:
    if tap is None:
        return offset, sizes, strides
    if not (offset is None and sizes is None and strides is None):
        raise ValueError(f"{who} takes a tap, or offset, sizes and strides, not both")
    form = tap._dma_form() if tap.rank < 4 else tap
    return form.offset, form.sizes, form.strides


def shim_dma_bd(
    mem: Any,
    tap: Any = None,
    offset: Any = None,
    sizes: Sequence[Any] | None = None,
    strides: Sequence[Any] | None = None,
    transfer_len: Any = None,
    burst_length: int = 0,
    packet: tuple[int, int] | None = None,
    offset_parameter: str | None = None,
) -> None:
    """``aie.dma_bd`` of an interface tile; its length is that of the three inner dimensions.

    Raises:
        ValueError: a tap beside offset, sizes or strides.
    """
    offset, sizes, strides = _access(tap, offset, sizes, strides, "shim_dma_bd")
    sizes = [0] * 4 if sizes is None else sizes
    if transfer_len is None:
        transfer_len = 1
        for size in list(sizes)[-3:]:
            transfer_len = size * transfer_len
    dma_bd(
        mem,
        sizes=sizes,
        strides=[0, 0, 0, 1] if strides is None else strides,
        offset=0 if offset is None else offset,
        transfer_len=transfer_len,
        burst_length=burst_length,
        packet=packet,
        offset_parameter=offset_parameter,
    )


def shim_dma_single_bd_task(
    alloc: Any,
    mem: Any,
    tap: Any = None,
    offset: Any = None,
    sizes: Sequence[Any] | None = None,
    strides: Sequence[Any] | None = None,
    transfer_len: Any = None,
    issue_token: bool = False,
    burst_length: int = 0,
    packet: tuple[int, int] | None = None,
    offset_parameter: str | None = None,
) -> Any:
    """A task of one buffer descriptor; the outermost of four dimensions is how often it runs.

    Raises:
        ValueError: a tap beside offset, sizes or strides; more than four dimensions.
    """
    offset, sizes, strides = _access(tap, offset, sizes, strides, "shim_dma_single_bd_task")
    if sizes is not None:
        if len(sizes) > 4:
            raise ValueError(f"an interface tile's task has at most 4 dimensions, not {len(sizes)}")
        missing = 4 - len(sizes)
        sizes = [1] * missing + list(sizes)
        strides = None if strides is None else [0] * missing + list(strides)
    often: dict[str, Any] = {"repeat_count": 0}
    if sizes and isinstance(sizes[0], (int, np.integer)):
        often["repeat_count"] = max(int(sizes[0]) - 1, 0)
    elif sizes:
        count = sizes[0] if sizes[0].type == T.i32() else arith.trunci(T.i32(), sizes[0])
        often["repeat_count_val"] = count - as_i32(1)
    task = dma_configure_task_for(alloc, issue_token=issue_token, **often)
    with bds(task) as blocks, blocks[0]:
        shim_dma_bd(
            mem,
            offset=offset,
            sizes=sizes,
            strides=strides,
            transfer_len=transfer_len,
            burst_length=burst_length,
            packet=packet,
            offset_parameter=offset_parameter,
        )
        EndOp()
    return task


def _each(name: str, does: str) -> Callable[..., None]:
    def build(*tasks: Any) -> None:
        if not tasks:
            raise ValueError(f"{does} needs at least one task")
        for task in tasks:
            _OPS[name](task.result if isinstance(task, Operation) else task)

    build.__name__ = does
    return build


dma_await_task = _each("DMAAwaitTaskOp", "dma_await_task")
dma_free_task = _each("DMAFreeTaskOp", "dma_free_task")
dma_start_task = _each("DMAStartTaskOp", "dma_start_task")


def set_lock_value(lock: Any, value: int) -> Any:
    """``aiex.set_lock``."""
    return _OPS["SetLockOp"](lock, value)


def read_scratchpad_parameter(name: str, result_type: Any) -> Any:
    """``aiex.read_scratchpad_parameter`` in a core."""
    return _OPS["ReadScratchpadParameterOp"](result_type, name).result
