"""``aie.dialects.aie``: devices, tiles, buffers, locks, DMAs, object FIFOs and cores of a design.

Names and behaviour are mlir-aie's (its documentation and examples, 2026-08-14); what a builder gives is an
operation or its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from memtile.arch.packets import PacketOperation, control_header, stream_header
from memtile.iron.dialects import _dma, _fifos, _ops, _tiles, _traces
from memtile.iron.dialects._dma import (
    ContextManagedBlock as ContextManagedBlock,
)
from memtile.iron.dialects._dma import (
    another_bd as another_bd,
)
from memtile.iron.dialects._dma import (
    as_i32 as as_i32,
)
from memtile.iron.dialects._dma import (
    bd_chain as bd_chain,
)
from memtile.iron.dialects._dma import (
    bd_dim_layout as bd_dim_layout,
)
from memtile.iron.dialects._dma import (
    bd_dim_layout_array_attr_builder as bd_dim_layout_array_attr_builder,
)
from memtile.iron.dialects._dma import (
    bd_pad_layout as bd_pad_layout,
)
from memtile.iron.dialects._dma import (
    bds as bds,
)
from memtile.iron.dialects._dma import (
    dma as dma,
)
from memtile.iron.dialects._dma import (
    dma_bd as dma_bd,
)
from memtile.iron.dialects._dma import (
    dma_start as dma_start,
)
from memtile.iron.dialects._dma import (
    lock as lock,
)
from memtile.iron.dialects._dma import (
    mem as mem,
)
from memtile.iron.dialects._dma import (
    memtile_dma as memtile_dma,
)
from memtile.iron.dialects._dma import (
    mixed as mixed,
)
from memtile.iron.dialects._dma import (
    next_bd as next_bd,
)
from memtile.iron.dialects._dma import (
    shim_mem as shim_mem,
)
from memtile.iron.dialects._dma import (
    use_lock as use_lock,
)
from memtile.iron.dialects._fifos import (
    ObjectFifoCreateOp as ObjectFifoCreateOp,
)
from memtile.iron.dialects._fifos import (
    object_fifo as object_fifo,
)
from memtile.iron.dialects._fifos import (
    object_fifo_link as object_fifo_link,
)
from memtile.iron.dialects._tiles import (
    LogicalTileOp as LogicalTileOp,
)
from memtile.iron.dialects._tiles import (
    TileOp as TileOp,
)
from memtile.iron.dialects._tiles import (
    find_neighbors as find_neighbors,
)
from memtile.iron.dialects._tiles import (
    logical_tile as logical_tile,
)
from memtile.iron.dialects._tiles import (
    tile as tile,
)
from memtile.iron.extras import types as T  # noqa: N812 - the name that programs use
from memtile.iron.extras.meta import region_op
from memtile.iron.extras.util import (
    find_ops as find_ops,
)
from memtile.iron.extras.util import (
    find_parent_of_type as find_parent_of_type,
)
from memtile.iron.helpers.dialects.func import FuncOp, call
from memtile.iron.helpers.util import try_convert_np_type_to_mlir_type
from memtile.iron.ops.attributes import (
    Attribute as Attribute,
)
from memtile.iron.ops.attributes import (
    DenseElementsAttr as DenseElementsAttr,
)
from memtile.iron.ops.attributes import (
    DenseI32ArrayAttr as DenseI32ArrayAttr,
)
from memtile.iron.ops.attributes import (
    DictAttr as DictAttr,
)
from memtile.iron.ops.attributes import (
    IntegerAttr as IntegerAttr,
)
from memtile.iron.ops.attributes import (
    StringAttr as StringAttr,
)
from memtile.iron.ops.attributes import (
    TypeAttr as TypeAttr,
)
from memtile.iron.ops.attributes import (
    UnitAttr as UnitAttr,
)
from memtile.iron.ops.enums import (
    AIEArch as AIEArch,
)
from memtile.iron.ops.enums import (
    AIEDevice as AIEDevice,
)
from memtile.iron.ops.enums import (
    AIETileType as AIETileType,
)
from memtile.iron.ops.enums import (
    CascadeDir as CascadeDir,
)
from memtile.iron.ops.enums import (
    ComboLogic as ComboLogic,
)
from memtile.iron.ops.enums import (
    DMAChannelDir as DMAChannelDir,
)
from memtile.iron.ops.enums import (
    EdgeTrigger as EdgeTrigger,
)
from memtile.iron.ops.enums import (
    LockAction as LockAction,
)
from memtile.iron.ops.enums import (
    LockBlocking as LockBlocking,
)
from memtile.iron.ops.enums import (
    ObjectFifoPort as ObjectFifoPort,
)
from memtile.iron.ops.enums import (
    TraceMode as TraceMode,
)
from memtile.iron.ops.enums import (
    TracePacketType as TracePacketType,
)
from memtile.iron.ops.enums import (
    TraceShimRouting as TraceShimRouting,
)
from memtile.iron.ops.enums import (
    WireBundle as WireBundle,
)
from memtile.iron.ops.operation_classes import attribute_builder, operation_class
from memtile.iron.ops.operations import (
    Block as Block,
)
from memtile.iron.ops.operations import (
    BlockList as BlockList,
)
from memtile.iron.ops.operations import (
    InsertionPoint as InsertionPoint,
)
from memtile.iron.ops.operations import (
    Operation as Operation,
)
from memtile.iron.ops.operations import (
    Value as Value,
)
from memtile.iron.ops.scalars import (
    MemRefValue as MemRefValue,
)
from memtile.iron.ops.scalars import (
    ScalarValue as ScalarValue,
)
from memtile.iron.ops.scalars import (
    load as load,
)
from memtile.iron.ops.scalars import (
    store as store,
)
from memtile.iron.ops.target_model import (
    get_target_model as get_target_model,
)
from memtile.iron.ops.types import (
    FunctionType as FunctionType,
)
from memtile.iron.ops.types import (
    IntegerType as IntegerType,
)
from memtile.iron.ops.types import (
    MemRefType as MemRefType,
)

_OPS = _ops.AIE
EndOp = _OPS["EndOp"]
DeviceOp = Device = _OPS["DeviceOp"]
RuntimeSequenceOp = _OPS["RuntimeSequenceOp"]


def npu_write_rtp(buffer: Any, index: int, value: Any, loc: object = None, ip: Any = None) -> Any:
    """``aiex.npu.rtp_write`` of one element of a buffer."""
    name = buffer if isinstance(buffer, str) else buffer.get_name()
    return operation_class("aiex.npu.rtp_write")(name, index, as_i32(value), ip=ip)


class external_func(FuncOp):  # type: ignore[misc, valid-type] # noqa: N801 - mlir-aie's name
    """``func.func`` without a body: a function in another language.

    Args:
        name: of the function.
        inputs: types of its arguments, NumPy's or MLIR's.
        outputs: types of what it returns.
        link_with: file that has it.
        link_with_mode: ``"merge"``: the file is merged before code is made.

    Raises:
        ValueError: a mode without a file, or another one.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[Any],
        outputs: Sequence[Any] | None = None,
        visibility: str = "private",
        link_with: str | None = None,
        link_with_mode: str | None = None,
    ) -> None:
        if link_with_mode is not None and link_with is None:
            raise ValueError(f"external_func '{name}': link_with_mode requires link_with to be set.")
        if link_with_mode not in (None, "merge"):
            raise ValueError(
                f"external_func '{name}': invalid link_with_mode '{link_with_mode}'; "
                "the only supported value is 'merge'."
            )
        types = [try_convert_np_type_to_mlir_type(each) for each in inputs]
        results = [try_convert_np_type_to_mlir_type(each) for each in outputs or ()]
        super().__init__(name, FunctionType(types, results), sym_visibility=visibility)
        for key, value in (("link_with", link_with), ("link_with_mode", link_with_mode)):
            if value is not None:
                self.attributes[key] = StringAttr(value)

    def __call__(self, *arguments: Any) -> Any:
        """Call it in a core."""
        return call(self, arguments)


def _core(
    tile: Any,
    link_with: str | None = None,
    dynamic_objfifo_lowering: bool | None = None,
    stack_size: int | None = None,
    *,
    loc: object = None,
    ip: Any = None,
) -> Any:
    """``aie.core``.

    Args:
        tile: that it is in.
        link_with: the file of all functions that it calls (until March 2026; then it is each function's).
        dynamic_objfifo_lowering: other code for the same objects.
        stack_size: of its stack, in bytes.
    """
    return _OPS["CoreOp"](
        tile,
        stack_size=stack_size,
        link_with=link_with,
        dynamic_objfifo_lowering=dynamic_objfifo_lowering,
        ip=ip,
    )


Core = _core


class buffer(operation_class("aie.buffer")):  # type: ignore[misc] # noqa: N801 - mlir-aie's name
    """``aie.buffer``; its elements are read and written by their place.

    Args:
        tile: that it is in.
        datatype: NumPy's or MLIR's type.
        name: of the buffer.
        address: in the tile's memory, in bytes.
        initial_value: what is in it at first.
        use_write_rtp: writing an element in a runtime sequence writes a parameter.
    """

    def __init__(
        self,
        tile: Any,
        datatype: Any,
        name: str | None = None,
        address: int | None = None,
        initial_value: Any = None,
        use_write_rtp: bool = False,
        mem_bank: int | None = None,
        loc: object = None,
        ip: Any = None,
    ) -> None:
        type = try_convert_np_type_to_mlir_type(datatype)
        value = None if initial_value is None else DenseElementsAttr(np.asarray(initial_value), type)
        super().__init__(
            type, tile, sym_name=name, address=address, initial_value=value, mem_bank=mem_bank, ip=ip
        )
        self._use_write_rtp = use_write_rtp

    @property
    def type(self) -> Any:
        """Of the buffer."""
        return self.result.type

    @property
    def shape(self) -> list[int]:
        """Its dimensions."""
        return self.type.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return self.type.element_type

    @property
    def owner(self) -> Operation:
        """Itself."""
        return self

    def get_name(self) -> str:
        """Its name, or that in the module's text."""
        name = self.attributes.get("sym_name")
        return name.value if isinstance(name, StringAttr) else self.result.get_name()

    def __getitem__(self, at: Any) -> Any:
        if at is Ellipsis or (isinstance(at, slice) and at == slice(None)):
            return self.result
        return load(self.result, at)

    def __setitem__(self, at: Any, value: Any) -> None:
        if self._use_write_rtp:
            npu_write_rtp(self, at, value)
        else:
            store(value, self.result, at)


def external_buffer(
    datatype: Any, name: str | None = None, address: int | None = None, loc: object = None, ip: Any = None
) -> Any:
    """``aie.external_buffer``."""
    type = try_convert_np_type_to_mlir_type(datatype)
    return _OPS["ExternalBufferOp"](type, sym_name=name, address=address, ip=ip).result


def packetflow(
    pkt_id: int,
    source: Any,
    source_port: Any,
    source_channel: int,
    dests: Any,
    keep_pkt_header: bool | None = None,
) -> Any:
    """``aie.packet_flow`` from a port to one or several."""
    flow = _OPS["PacketFlowOp"](pkt_id, keep_pkt_header=keep_pkt_header)
    with InsertionPoint(flow.regions[0].blocks.append()):
        _OPS["PacketSourceOp"](source, source_port, source_channel)
        for dest in [dests] if isinstance(dests, dict) else dests:
            _OPS["PacketDestOp"](dest["dest"], dest["port"], dest["channel"])
        EndOp()
    return flow


def _end(*_: Any) -> Any:
    return EndOp()


core = region_op(_core, terminator=_end)
device = region_op(DeviceOp, terminator=_end)
switchbox = region_op(lambda tile, **more: _OPS["SwitchboxOp"](T.index(), tile, **more))
shim_mux = region_op(lambda tile, **more: _OPS["ShimMuxOp"](T.index(), tile, **more))


def flow(
    source: Any,
    source_bundle: Any = None,
    source_channel: int | None = None,
    dest: Any = None,
    dest_bundle: Any = None,
    dest_channel: int | None = None,
) -> Any:
    """``aie.flow``; a port is DMA 0 unless it is given.

    Raises:
        TypeError: no destination is given.
    """
    if dest is None:
        raise TypeError("flow needs dest, the tile where it ends")
    return _OPS["FlowOp"](
        source,
        WireBundle.DMA if source_bundle is None else source_bundle,
        source_channel or 0,
        dest,
        WireBundle.DMA if dest_bundle is None else dest_bundle,
        dest_channel or 0,
    )


def end(**more: Any) -> Any:
    """``aie.end``."""
    return EndOp(**more)


class AttrBuilder:
    """Attributes of MLIR by the names that its tables have for their kinds."""

    get = staticmethod(attribute_builder)


def generate_control_packets(module: Any, device_name: str = "", sequence_name: str = "") -> list[int]:
    """Words of the control packets of a runtime sequence, each with its stream header.

    Args:
        module: that has it.
        device_name: of the device; default = the only one.
        sequence_name: of the sequence; default = the only one.

    Raises:
        ValueError: there is not just one such sequence; a packet that writes has no data.
    """
    sequences = [
        each
        for each in find_ops(
            getattr(module, "operation", module), lambda each: each.name == "aie.runtime_sequence"
        )
        if sequence_name in ("", _name_of(each)) and device_name in ("", _name_of(each.parent))
    ]
    if len(sequences) != 1:
        names = ", ".join(sorted(f"@{_name_of(each)}" for each in sequences)) or "none"
        raise ValueError(
            f"control packets are of one runtime sequence; the module has {names}: give device and sequence"
        )
    (sequence,) = sequences
    return [word for each in sequence.regions[0].blocks[0] for word in _packet_words(each, sequence.parent)]


def _name_of(operation: Any) -> str:
    name = operation.attributes.get("sym_name")
    return name.value if name is not None else str(operation.sym_name.value)


def _packet_words(packet: Any, device: Any) -> Iterator[int]:
    """Stream header, control header and data of ``aiex.control_packet``; nothing of another operation."""
    if packet.name != "aiex.control_packet":
        return
    model = get_target_model(device.attributes["device"])
    address, operation = int(packet.address), PacketOperation(int(packet.opcode))
    rows, offsets = 1 << (model.get_column_shift() - model.get_row_shift()), 1 << model.get_row_shift()
    place = (address >> model.get_column_shift(), address >> model.get_row_shift() & (rows - 1))
    data = [int(each) & 0xFFFFFFFF for each in packet.data or ()]
    length = len(data) or (int(packet.length) if packet.length is not None else 0)
    if not data and operation is not PacketOperation.READ:
        raise ValueError(f"aiex.control_packet to {address:#x} writes and has no data")
    kind, stream = _controller(device, place)
    yield stream_header(stream, kind)
    yield control_header(operation, address & (offsets - 1), length, int(packet.stream_id))
    yield from data


def _controller(device: Any, place: tuple[int, int]) -> tuple[int, int]:
    """Packet type and id by which the controller of a tile is reached; 0 where the tile does not say them."""
    for each in find_ops(device, lambda each: each.name == "aie.tile"):
        found = each.attributes.get("controller_id")
        if found is not None and (int(each.col), int(each.row)) == place:
            return found.value  # type: ignore[no-any-return]
    return 0, 0


globals().update({name: value for name, value in _ops.AIE.items() if name not in globals()})
for _part in (_dma, _fifos, _tiles, _traces):
    globals().update({name: getattr(_part, name) for name in _part.__all__})
