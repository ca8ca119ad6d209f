"""Transfers between buffers of the host and object FIFOs: ``fill`` and ``drain``."""

from __future__ import annotations

from typing import Any

from memtile.iron.dialects.aiex import dma_start_task, shim_dma_single_bd_task
from memtile.iron.ops.operations import Operation, Value
from memtile.iron.runtime._context import active_sequence
from memtile.iron.runtime.data import RuntimeData
from memtile.iron.runtime.dmataskhandle import Task
from memtile.iron.runtime.endpoint import RuntimeEndpoint
from memtile.iron.runtime.taskgroup import TaskGroup
from memtile.iron.runtime.walk_values import narrow, product, wide
from memtile.iron.scratchpad_parameter import ScratchpadParameter


def transfer(
    handle: Any,
    data: Any,
    tap: Any = None,
    wait: bool = False,
    packet: tuple[int, int] | None = None,
    offset_parameter: Any = None,
    group: TaskGroup | None = None,
    sizes: Any = None,
    strides: Any = None,
    offset: Any = None,
    transfer_len: Any = None,
    managed: bool = True,
) -> Task:
    """Start a transfer.

    Args:
        handle: of the object FIFO.
        data: buffer of the host.
        tap: offset, sizes and strides in one; default = all of the buffer.
        wait: with a token, for which the group waits.
        packet: type and id of its packets.
        offset_parameter: parameter that is added to the offset.
        group: awaits and frees it; default = that of the sequence.
        sizes: of up to four dimensions; numbers or values.
        strides: in elements.
        offset: in elements.
        transfer_len: in elements.
        managed: a group awaits and frees it; else the program does.

    Raises:
        ValueError: no buffer of the sequence; a tap beside sizes; a group for a transfer of the program's
            own.
    """
    sequence = active_sequence()
    said = _check(
        handle, data, (tap, sizes, strides, offset, transfer_len), group is not None and not managed
    )
    if handle.endpoint is None:
        handle.endpoint = RuntimeEndpoint(handle._shim_tile)
    sequence.note(handle)
    walk = {"offset": offset, "sizes": sizes, "strides": strides, "transfer_len": transfer_len}
    task = _start(handle.name, data, _walk(data, tap, walk, said=said), wait, packet, offset_parameter)
    if managed:
        sequence.add(task, wait, group)
    return Task(task.result)


def flow_transfer(
    flow: Any,
    data: Any,
    tap: Any = None,
    wait: bool = False,
    packet: tuple[int, int] | None = None,
    offset_parameter: Any = None,
    group: TaskGroup | None = None,
    sizes: Any = None,
    strides: Any = None,
    offset: Any = None,
    transfer_len: Any = None,
    managed: bool = True,
) -> Task:
    """Start a transfer through a route; arguments as those of :func:`transfer`.

    Raises:
        ValueError: what :func:`transfer` refuses.
    """
    sequence = active_sequence()
    said = _check(flow, data, (tap, sizes, strides, offset, transfer_len), group is not None and not managed)
    flow.fills = True
    walk = {"offset": offset, "sizes": sizes, "strides": strides, "transfer_len": transfer_len}
    task = _start(flow.shim_symbol, data, _walk(data, tap, walk, said=said), wait, packet, offset_parameter)
    if managed:
        sequence.add(task, wait, group)
    return Task(task.result)


def _walk(data: RuntimeData, tap: Any, walk: dict[str, Any], *, said: bool) -> dict[str, Any]:
    """Offset, sizes, strides and length of a transfer; values in the types that descriptors have."""
    if not said:
        form = (data.default_tap() if tap is None else tap)._dma_form()
        return walk | {"offset": form.offset, "sizes": form.sizes, "strides": form.strides}
    sizes = walk["sizes"]
    if sizes is not None and any(isinstance(each, (Value, Operation)) for each in sizes):
        sizes = [wide("sizes", at, each) for at, each in enumerate(sizes)]
        length = product(sizes[-3:]) if walk["transfer_len"] is None else walk["transfer_len"]
        walk = walk | {"sizes": sizes, "transfer_len": length}
    return walk | {"transfer_len": narrow(walk["transfer_len"]), "offset": narrow(walk["offset"])}


def _start(
    symbol: str,
    data: RuntimeData,
    walk: dict[str, Any],
    wait: bool,
    packet: tuple[int, int] | None,
    offset_parameter: Any,
) -> Any:
    if isinstance(offset_parameter, ScratchpadParameter):
        active_sequence().note_parameter(offset_parameter)
        offset_parameter = offset_parameter.name
    of_task = {"issue_token": wait, "offset_parameter": offset_parameter, "packet": packet}
    task = shim_dma_single_bd_task(symbol, data.op, **walk, **of_task)
    dma_start_task(task)
    return task


def _check(handle: Any, data: Any, walk: tuple[Any, ...], grouped: bool) -> bool:
    """Refuse what a transfer cannot be; whether its walk is said without a tap.

    Args:
        walk: tap, sizes, strides, offset, length.
        grouped: a group has a transfer of the program's own.
    """
    if not isinstance(data, RuntimeData) or not active_sequence().has(data):
        raise ValueError(f"{handle} moves a buffer that the function of Runtime is given, not {data!r}")
    said = any(each is not None for each in walk[1:])
    if said and walk[0] is not None:
        raise ValueError(f"{handle} takes a tap, or sizes, strides, offset and transfer_len, not both")
    if grouped:
        raise ValueError(f"{handle}: a transfer with managed=False is in no group")
    return said
