"""Object FIFOs of a design, and links between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.iron.dialects import _ops
from memtile.iron.helpers.util import try_convert_np_type_to_mlir_type
from memtile.iron.ops.attributes import ArrayAttr, DenseElementsAttr, TypeAttr
from memtile.iron.ops.enums import ObjectFifoPort
from memtile.iron.ops.operation_classes import attribute_of
from memtile.iron.ops.types import ObjectFifoSubviewType, ObjectFifoType

_OPS = _ops.AIE
ObjectFifoCreateOp = _OPS["ObjectFifoCreateOp"]


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
            dimensionsFromStreamPerConsumer
            if dimensionsFromStreamPerConsumer is not None
            else [[] for _ in consumers],
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
        taken = _OPS["ObjectFifoAcquireOp"](ObjectFifoSubviewType(type), port, name, num_elem)
        access = _OPS["ObjectFifoSubviewAccessOp"]
        objects = [access(type, taken.result, at).result for at in range(num_elem)]
        return objects[0] if num_elem == 1 else objects

    def release(self, port: Any, num_elem: int) -> Any:
        """Release objects."""
        return _OPS["ObjectFifoReleaseOp"](port, self.attributes["sym_name"].value, num_elem)

    def register_external_buffers(self, tile: Any, external_buffers: Sequence[Any]) -> Any:
        """Use buffers in external memory."""
        return _OPS["ObjectFifoRegisterExternalBuffersOp"](
            self.attributes["sym_name"].value, tile, external_buffers
        )

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
    fifoIns: Any,  # noqa: N803
    fifoOuts: Any,  # noqa: N803
    srcOffsets: Sequence[int] = (),  # noqa: N803
    dstOffsets: Sequence[int] = (),  # noqa: N803
) -> Any:
    """``aie.objectfifo.link`` of object FIFOs, or of their names."""
    sources, targets = (
        list(each) if isinstance(each, (list, tuple)) else [each] for each in (fifoIns, fifoOuts)
    )
    return _OPS["ObjectFifoLinkOp"](sources, targets, list(srcOffsets), list(dstOffsets))


__all__ = ["ObjectFifoCreateOp", "object_fifo", "object_fifo_link"]
