"""From a buffer and a pattern over it to a transfer: the fewest descriptors, in one task or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from memtile.access.lowering.certificate import QueueEntry
from memtile.access.lowering.lower import Access, lower
from memtile.access.request import Request
from memtile.access.tiling import NO_PORT, TilingParameters
from memtile.access.views import View
from memtile.design.buffers import Buffer
from memtile.design.transfers import Pattern, Transfer, TransferPart
from memtile.errors import TransferError

_UG1603 = "UG1603: tiling parameters"


def transfer(
    buffer: Buffer,
    pattern: Pattern | None,
    access: Access,
    *,
    address: int | None = None,
    iteration: bool | None = None,
) -> Transfer:
    """The transfer of a buffer, whole and in order, or as a pattern asks.

    Args:
        buffer: where the data are.
        pattern: UG1603 tiling parameters in elements of the buffer, or a view of it (``memtile.view``); None
            = the whole buffer in order.
        access: ``"read"`` for MM2S, ``"write"`` for S2MM.
        address: its first word as the DMA sees it; that of the buffer's own tile if omitted.
        iteration: None = several runs and tasks wherever they save descriptors, but one run of one chain
            where a ring, a guard or a longer chain needs that; True = the same, and never otherwise; False =
            always one run of one chain.

    Raises:
        TransferError: every reason why the tile cannot do it; an ``iteration`` that is no truth value.
    """
    allowed = _truth(buffer, iteration)
    first = buffer.dma_address if address is None else address
    request = _request(buffer, pattern, access)
    lowered = lower(request, buffer.kind.name, access, address=first, iteration=allowed is not False)
    made = Transfer(
        lowered.descriptors,
        lowered.runs,
        access=access,
        buffer=buffer,
        first=first,
        parts=_parts(lowered.tasks),
        port=pattern.packet_port_id if isinstance(pattern, TilingParameters) else NO_PORT,
    )
    if allowed is not None or made.is_one_run:
        return made
    return replace(made, once=partial(transfer, buffer, pattern, access, address=address, iteration=False))


def _parts(tasks: Sequence[QueueEntry]) -> tuple[TransferPart, ...]:
    """The tasks, where there are several."""
    return tuple(TransferPart(len(task.descriptors), task.runs) for task in tasks) if len(tasks) > 1 else ()


def _truth(buffer: Buffer, iteration: object) -> bool | None:
    """``iteration`` once it is known to be True, False or None."""
    if iteration is None or isinstance(iteration, bool | np.bool_):
        return iteration if iteration is None else bool(iteration)
    raise TransferError.of(
        "iteration",
        repr(iteration),
        "True, False, or None (wherever it saves descriptors)",
        next_step="Leave it out.",
        reason="iteration",
        where=f"buffer {buffer.name}",
        source="it allows runs and tasks, whose number memtile finds",
    )


def _request(buffer: Buffer, pattern: Pattern | None, access: Access) -> Request:
    """The loops over a buffer that a pattern asks for."""
    bits, whole = buffer.dtype.itemsize * 8, prod(buffer.shape)
    if pattern is None:
        return TilingParameters().over(buffer.shape).request(bits)
    if isinstance(pattern, TilingParameters):
        request = pattern.over(buffer.shape).request(bits)
        if request.capacity > whole:
            given = f"a buffer_dimension of {request.capacity} elements"
            says = f"buffer_dimension of the tiling has {request.capacity} elements, the buffer has {whole}"
            raise _refused(buffer, access, "tiling", given, f"{whole} or fewer", says)
        return request
    says = f"the pattern to {access} is {pattern!r}; it must be "
    if not isinstance(pattern, View):
        allowed, step = "TilingParameters, or a view", "Give a view such as memtile.view(shape, dtype)[:5]."
        raise _refused(buffer, access, "tiling", repr(pattern), allowed, says + allowed, step)
    if (pattern.capacity, pattern.element_bits) != (whole, bits):
        allowed = f"a view of {whole} elements of {bits} bits"
        raise _refused(buffer, access, "view", repr(pattern), allowed, says + allowed)
    return pattern.request()


def _refused(
    buffer: Buffer, access: Access, reason: str, given: str, allowed: str, says: str, next_step: str = ""
) -> TransferError:
    return TransferError.of(
        access, given, allowed, says, next_step, reason=reason, where=f"buffer {buffer.name}", source=_UG1603
    )
