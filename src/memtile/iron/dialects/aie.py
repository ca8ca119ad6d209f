"""``aie.dialects.aie``: devices, tiles, buffers, locks, DMAs, object FIFOs and cores of a design.

Names and behaviour are mlir-aie's (its documentation and examples, 2026-08-14); what a builder gives is an
operation or its result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from memtile.iron.dialects import _ops
from memtile.iron.extras import types as T  # noqa: N812 - the name that programs use
from memtile.iron.extras.meta import region_op
from memtile.iron.extras.util import Successor, find_ops, find_parent_of_type
from memtile.iron.helpers.dialects.func import FuncOp, call
from memtile.iron.helpers.util import try_convert_np_type_to_mlir_type
from memtile.iron.ops.attributes import ArrayAttr, Attribute, DenseElementsAttr, DictAttr, StringAttr, TypeAttr, UnitAttr
from memtile.iron.ops.enums import (
    AIEArch,
    AIEDevice,
    AIETileType,
    CascadeDir,
    ComboLogic,
    DMAChannelDir,
    EdgeTrigger,
    LockAction,
    LockBlocking,
    ObjectFifoPort,
    TraceMode,
    TracePacketType,
    TraceShimRouting,
    WireBundle,
)
from memtile.iron.ops.operation_classes import LayoutAttr, attribute_of, operation_class
from memtile.iron.ops.operations import Block, InsertionPoint, Operation, Value
from memtile.iron.ops.scalars import MemRefValue, ScalarValue, constant, load, store
from memtile.iron.ops.target_model import get_target_model
from memtile.iron.ops.types import FunctionType, ObjectFifoSubviewType, ObjectFifoType

MIXED_DYNAMIC = T.S
globals().update(_ops.AIE)

_OPS = _ops.AIE
EndOp = _OPS["EndOp"]
DeviceOp = Device = _OPS["DeviceOp"]
TileOp = _OPS["TileOp"]
LogicalTileOp = _OPS["LogicalTileOp"]
ObjectFifoCreateOp = _OPS["ObjectFifoCreateOp"]
RuntimeSequenceOp = _OPS["RuntimeSequenceOp"]


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
    lock: Any, action: Any, value: Any = None, *, blocking: Any = None, acq_en: Any = None, loc: object = None, ip: Any = None
) -> Any:
    """``aie.use_lock``; ``value`` is 1 unless it is given."""
    amount = as_i32(1 if value is None else value)
    return _OPS["UseLockOp"](lock, action, amount, blocking=blocking, acq_en=acq_en, ip=ip)


def npu_write_rtp(buffer: Any, index: int, value: Any, loc: object = None, ip: Any = None) -> Any:
    """``aiex.npu.rtp_write`` of one element of a buffer."""
    name = buffer if isinstance(buffer, str) else buffer.get_name()
    return operation_class("aiex.npu.rtp_write")(name, index, as_i32(value), ip=ip)


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
            raise ValueError(f"external_func '{name}': link_with_mode requires link_with to be set")
        if link_with_mode not in (None, "merge"):
            raise ValueError(f"external_func '{name}': link_with_mode '{link_with_mode}' is not 'merge'")
        types = [try_convert_np_type_to_mlir_type(each) for each in inputs]
        results = [try_convert_np_type_to_mlir_type(each) for each in outputs or ()]
        super().__init__(name, FunctionType(types, results), sym_visibility=visibility)
        for key, value in (("link_with", link_with), ("link_with_mode", link_with_mode)):
            if value is not None:
                self.attributes[key] = StringAttr(value)

    def __call__(self, *arguments: Any) -> Any:
        return call(self, arguments)


def bd_dim_layout(size: int, stride: int) -> Attribute:
    """``#aie.bd_dim_layout``: size and stride of one dimension."""
    return Attribute(f"#aie.bd_dim_layout<size = {size}, stride = {stride}>")


def bd_pad_layout(const_pad_before: int, const_pad_after: int) -> Attribute:
    """``#aie.bd_pad_layout``: padding before and behind one dimension."""
    return Attribute(f"#aie.bd_pad_layout<const_pad_before = {const_pad_before}, const_pad_after = {const_pad_after}>")


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


def _core(
    tile: Any,
    link_with: Any = None,
    dynamic_objfifo_lowering: bool | None = None,
    stack_size: int | None = None,
    *,
    loc: object = None,
    ip: Any = None,
) -> Any:
    if link_with is not None:
        raise TypeError("core() has no link_with: give it to each external_func of the core")
    return _OPS["CoreOp"](tile, stack_size=stack_size, dynamic_objfifo_lowering=dynamic_objfifo_lowering, ip=ip)


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


class object_fifo(ObjectFifoCreateOp):  # type: ignore[misc, valid-type] # noqa: N801 - mlir-aie's name
    """``aie.objectfifo`` between tiles.

    Args:
        name: of the object FIFO.
        producerTile: tile, or logical tile, that fills it.
        consumerTiles: those that empty it; one or a list.
        depth: objects at each end; a list: the producer's, then each consumer's.
        datatype: NumPy's or MLIR's type of an object.
        dimensionsToStream: sizes and strides in which the producer sends.
        dimensionsFromStreamPerConsumer: those in which each consumer receives.
        initValues: what is in the producer's objects at first.
        consumer_datatype: type of a consumer's object, if it is another.
    """

    def __init__(
        self,
        name: str,
        producerTile: Any,  # noqa: N803
        consumerTiles: Any,  # noqa: N803
        depth: Any,
        datatype: Any,
        dimensionsToStream: Any = None,  # noqa: N803
        dimensionsFromStreamPerConsumer: Any = None,  # noqa: N803
        initValues: Any = None,  # noqa: N803
        via_DMA: bool | None = None,  # noqa: N803
        plio: bool | None = None,
        padDimensions: Any = None,  # noqa: N803
        padValue: int | None = None,  # noqa: N803
        disable_synchronization: bool | None = None,
        iter_count: int | None = None,
        consumer_datatype: Any = None,
        **more: Any,
    ) -> None:
        consumers = list(consumerTiles) if isinstance(consumerTiles, (list, tuple)) else [consumerTiles]
        type = try_convert_np_type_to_mlir_type(datatype)
        other = None if consumer_datatype is None else try_convert_np_type_to_mlir_type(consumer_datatype)
        values = None
        if initValues is not None:
            values = ArrayAttr([DenseElementsAttr(np.asarray(each), type) for each in initValues])
        super().__init__(
            name,
            producerTile,
            consumers,
            depth,
            TypeAttr(ObjectFifoType(type)),
            dimensionsToStream if dimensionsToStream is not None else [],
            dimensionsFromStreamPerConsumer if dimensionsFromStreamPerConsumer is not None else [[] for _ in consumers],
            via_DMA=via_DMA,
            plio=plio,
            padDimensions=padDimensions,
            padValue=padValue,
            disable_synchronization=disable_synchronization,
            initValues=values,
            iter_count=iter_count,
            consumerElemType=None if other is None else TypeAttr(ObjectFifoType(other)),
            **more,
        )
        self._types = {ObjectFifoPort.Produce: type, ObjectFifoPort.Consume: other or type}

    @property
    def datatype(self) -> Any:
        """The type of an object."""
        return self._types[ObjectFifoPort.Produce]

    def acquire(self, port: Any, num_elem: int) -> Any:
        """Acquire objects: one buffer, or a list of them."""
        type = self._types[ObjectFifoPort(port)]
        name = self.attributes["sym_name"].value
        taken = _OPS["ObjectFifoAcquireOp"](
            ObjectFifoSubviewType(type), port, name, num_elem
        )
        access = _OPS["ObjectFifoSubviewAccessOp"]
        objects = [access(type, taken.result, at).result for at in range(num_elem)]
        return objects[0] if num_elem == 1 else objects

    def release(self, port: Any, num_elem: int) -> Any:
        """Release objects."""
        return _OPS["ObjectFifoReleaseOp"](port, self.attributes["sym_name"].value, num_elem)

    def register_external_buffers(self, tile: Any, external_buffers: Sequence[Any]) -> Any:
        """Use buffers in external memory."""
        return _OPS["ObjectFifoRegisterExternalBuffersOp"](self.attributes["sym_name"].value, tile, external_buffers)

    def allocate(self, tile: Any) -> Any:
        """Put its objects into the memory of a tile."""
        return _OPS["ObjectFifoAllocateOp"](self.attributes["sym_name"].value, tile)

    def _set(self, name: str, kind: str, value: Any) -> None:
        self.attributes[name] = attribute_of(kind, value)

    def set_repeat_count(self, num: int) -> None:
        """How often an object is sent."""
        self._set("repeat_count", "i32", num)

    def set_aie_stream(self, stream_end: int, stream_port: int) -> None:
        """Let a core's own stream be one end of it."""
        self._set("aie_stream", "i32", stream_end)
        self._set("aie_stream_port", "i32", stream_port)

    def set_prod_dma_channel(self, channel: int) -> None:
        """The producer's DMA channel."""
        self._set("prod_dma_channel", "i32", channel)

    def set_cons_dma_channels(self, channels: Sequence[int]) -> None:
        """The consumers' DMA channels; -1 = any."""
        self._set("cons_dma_channels", "i32s", list(channels))


def object_fifo_link(
    fifoIns: Any, fifoOuts: Any, srcOffsets: Sequence[int] = (), dstOffsets: Sequence[int] = ()  # noqa: N803
) -> Any:
    """``aie.objectfifo.link`` of object FIFOs, or of their names."""
    sources, targets = (
        list(each) if isinstance(each, (list, tuple)) else [each] for each in (fifoIns, fifoOuts)
    )
    return _OPS["ObjectFifoLinkOp"](sources, targets, list(srcOffsets), list(dstOffsets))


def packetflow(
    pkt_id: int, source: Any, source_port: Any, source_channel: int, dests: Any, keep_pkt_header: bool | None = None
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
trace = region_op(_OPS["TraceOp"], terminator=_end)
switchbox = region_op(lambda tile, **more: _OPS["SwitchboxOp"](T.index(), tile, **more))
shim_mux = region_op(lambda tile, **more: _OPS["ShimMuxOp"](T.index(), tile, **more))


def trace_mode(mode: Any, **more: Any) -> Any:
    """``aie.trace.mode``."""
    return _OPS["TraceModeOp"](mode=mode, **more)


def trace_event(event: Any, *, label: str | None = None, **more: Any) -> Any:
    """``aie.trace.event``."""
    return _OPS["TraceEventOp"](event=event, label=label, **more)


def trace_packet(id: int | None = None, type: Any = None, **more: Any) -> Any:
    """``aie.trace.packet``."""
    return _OPS["TracePacketOp"](id=id, type_=type, **more)


def trace_port(slot: int, port: Any, channel: int, direction: Any, **more: Any) -> Any:
    """``aie.trace.port``."""
    return _OPS["TracePortOp"](slot=slot, port=port, channel=channel, direction=direction, **more)


def trace_start(*, broadcast: int | None = None, event: Any = None, **more: Any) -> Any:
    """``aie.trace.start``."""
    return _OPS["TraceStartOp"](broadcast=broadcast, event=event, **more)


def trace_stop(*, broadcast: int | None = None, event: Any = None, **more: Any) -> Any:
    """``aie.trace.stop``."""
    return _OPS["TraceStopOp"](broadcast=broadcast, event=event, **more)


def trace_start_config(name: str, **more: Any) -> Any:
    """``aie.trace.start_config``."""
    return _OPS["TraceStartConfigOp"](name, **more)


def trace_host_config(
    buffer_size: int, *, reuse_output_buffer: bool = False, routing: Any = TraceShimRouting.Single, egress_shim_col: int = 0,
    **more: Any,
) -> Any:
    """``aie.trace.host_config``.

    Raises:
        ValueError: the routing is not ``single``.
    """
    if isinstance(routing, str):
        if routing != "single":
            raise ValueError(f"routing {routing!r}: a trace goes to one interface tile, 'single'")
        routing = TraceShimRouting.Single
    return _OPS["TraceHostConfigOp"](
        buffer_size,
        reuse_output_buffer=reuse_output_buffer,
        routing=routing,
        egress_shim_col=egress_shim_col,
        **more,
    )


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
    loc: object = None,
    ip: Any = None,
) -> tuple[Successor, Successor]:
    """``aie.dma_start``: begin with one block, and go on with another; both default to the current one."""
    here = InsertionPoint.current.block
    blocks = [here if each is None else getattr(each, "block", each) for each in (dest, chain)]
    started = _OPS["DMAStartOp"](
        channel_dir, channel_index, *blocks, repeat_count=repeat_count or None, pad_value=pad_value or None, ip=ip
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


def tile(col: int, row: int, *, loc: object = None, ip: Any = None, allocation_scheme: str | None = None) -> Any:
    """``aie.tile``."""
    return TileOp(col=col, row=row, allocation_scheme=allocation_scheme, ip=ip)


def logical_tile(
    tile_type: Any,
    *,
    col: int | None = None,
    row: int | None = None,
    allocation_scheme: str | None = None,
    loc: object = None,
    ip: Any = None,
) -> Any:
    """``aie.logical_tile``: a tile of a kind that the compiler places."""
    return LogicalTileOp(tile_type, col=col, row=row, allocation_scheme=allocation_scheme, ip=ip)


def bd_chain(*inputs: Any) -> Any:
    """``aie.bd_chain``: a decorator whose function takes blocks, then the arguments."""

    def decorate(function: Callable[..., Any]) -> Any:
        chain = _OPS["BDChainOp"](function.__name__)
        chain.regions[0].blocks.append(*[try_convert_np_type_to_mlir_type(each) for each in inputs])
        with bds(chain) as blocks:
            function(blocks, *chain.regions[0].blocks[0].arguments)
        return chain

    return decorate


def end(**more: Any) -> Any:
    """``aie.end``."""
    return EndOp(**more)


_EXPORTED = (
    AIEArch, AIEDevice, AIETileType, CascadeDir, ComboLogic, DMAChannelDir, EdgeTrigger, LockAction, LockBlocking,
    TraceMode, TracePacketType, MemRefValue, ScalarValue, find_ops, find_parent_of_type, get_target_model,
)  # fmt: skip
