"""Transfers between buffers of the host and object FIFOs: ``fill`` and ``drain``."""

from __future__ import annotations

from typing import Any

from memtile.iron.dialects.aiex import dma_start_task, shim_dma_single_bd_task
from memtile.iron.runtime._context import active_sequence
from memtile.iron.runtime.data import RuntimeData
from memtile.iron.runtime.dmataskhandle import Task
from memtile.iron.runtime.endpoint import RuntimeEndpoint
from memtile.iron.runtime.taskgroup import TaskGroup
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
    said = any(each is not None for each in (sizes, strides, offset, transfer_len))
    _check(handle, data, said=said and tap is not None, grouped=group is not None and not managed)
    if handle.endpoint is None:
        handle.endpoint = RuntimeEndpoint(handle._shim_tile)
    sequence.note(handle)
    if isinstance(offset_parameter, ScratchpadParameter):
        sequence.note_parameter(offset_parameter)
        offset_parameter = offset_parameter.name
    walk = {"offset": offset, "sizes": sizes, "strides": strides, "transfer_len": transfer_len}
    if not said:
        form = (data.default_tap() if tap is None else tap)._dma_form()
        walk |= {"offset": form.offset, "sizes": form.sizes, "strides": form.strides}
    of_task = {"issue_token": wait, "offset_parameter": offset_parameter, "packet": packet}
    task = shim_dma_single_bd_task(handle.name, data.op, **walk, **of_task)
    dma_start_task(task)
    if managed:
        sequence.add(task, wait, group)
    return Task(task.result)


def _check(handle: Any, data: Any, *, said: bool, grouped: bool) -> None:
    """Refuse what a transfer cannot be; ``said``: its walk is said twice, ``grouped``: a group has it too."""
    if not isinstance(data, RuntimeData) or not active_sequence().has(data):
        raise ValueError(f"{handle} moves a buffer that the function of Runtime is given, not {data!r}")
    if said:
        raise ValueError(f"{handle} takes a tap, or sizes, strides, offset and transfer_len, not both")
    if grouped:
        raise ValueError(f"{handle}: a transfer with managed=False is in no group")
