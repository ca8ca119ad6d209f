"""Resets that a sequence asks for: of a DMA channel, of a core."""

from __future__ import annotations

from memtile.arch.register_map import register_at
from memtile.importers.mlir.configure import CORE_CONTROL
from memtile.importers.mlir.sequence.reader import Call, Reader
from memtile.runs.operations import MaskWrite, address_of


def channel_reset(reader: Reader, form: Call) -> None:
    """``aiex.dma_channel_reset(%tile, MM2S, 0)``, or ``_for @allocation``: on, then off.

    Raises:
        InputFileError: a channel without reset, as those of interface tiles are.
    """
    if form.operation.name.endswith("_for"):
        tile, direction, channel = form.allocated(str(form.attributes.get("alloc") or form.symbol))
    else:
        tile, direction, channel = form.channel()
    if not tile.kind.has_channel_reset:
        says = f"channels of an {tile.kind.title} have no reset"
        raise form.error(says, "channels of memory tiles and compute tiles", reason="mlir_reset")
    local = direction * tile.kind.channels + channel
    offset = tile.kind.control_base + local * tile.kind.channel_stride
    register = register_at(tile.kind.name, offset)
    assert register is not None  # every channel has a control register
    assert tile.place is not None
    _pulse(reader, form, address_of(*tile.place, offset), register.field("Reset").mask)


def core_reset(reader: Reader, form: Call) -> None:
    """``aiex.core_reset(%tile)``: on, then off; the core is not enabled by it.

    Raises:
        InputFileError: a tile without core.
    """
    tile = form.tile()
    if tile.kind.role != "compute":
        raise form.error(f"the {tile.title} has no core", "a compute tile", reason="mlir_reset")
    assert tile.place is not None
    _pulse(reader, form, address_of(*tile.place, CORE_CONTROL.offset), CORE_CONTROL.field("Reset").mask)


def _pulse(reader: Reader, form: Call, address: int, mask: int) -> None:
    reader.emit(form, lambda place: MaskWrite(address, mask, mask, place=place))
    reader.emit(form, lambda place: MaskWrite(address, mask, 0, place=place))
