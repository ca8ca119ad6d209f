"""``aie.iron.dataflow.objectfifo``: object FIFOs, their handles, and links between them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.iron.dataflow.endpoint import ObjectFifoEndpoint
from memtile.iron.dataflow.objectfifolink import ObjectFifoLink
from memtile.iron.dataflow.walks import alone, newer, one_each, pads, pairs
from memtile.iron.device import AnyMemTile, Tile, older_tile
from memtile.iron.dialects.aie import object_fifo
from memtile.iron.helpers.util import (
    np_ndarray_type_get_dtype,
    np_ndarray_type_get_shape,
    np_ndarray_type_to_memref_type,
    pack_pad_value,
)
from memtile.iron.ops.enums import ObjectFifoPort
from memtile.iron.ops.program_lines import program_line
from memtile.iron.resolvable import NotResolvedError, Resolvable

StreamDims = list[Sequence[int]]
PadDims = list[Sequence[int]]
_TO_STREAM = ("to_stream", "dims_to_stream")
_FROM_STREAM = ("from_stream", "dims_from_stream")
_FROM_STREAM_PER_CONS = ("from_stream_per_cons", "dims_from_stream_per_cons")


def _place(tile: Tile | None) -> tuple[int | None, int | None] | None:
    return None if tile is None else (tile.col, tile.row)


def _checked_depth(depth: int | None, name: str) -> int:
    if depth is None:
        raise ValueError(f"object FIFO {name} has no depth: give it, or to its handle")
    if depth < 1:
        raise ValueError(f"the depth of object FIFO {name} is at least 1, not {depth}")
    return depth


class ObjectFifo(Resolvable):
    """A channel of objects from one producer to consumers.

    Args:
        obj_type: NumPy's type of an object, ``np.ndarray[(16,), np.dtype[np.int32]]``.
        depth: objects at each end, unless the handle says otherwise.
        name: default = one of its own.
        to_stream: pattern in which the producer sends, or pairs of size and stride, the outermost first.
        from_stream_per_cons: that in which consumers receive, unless the handle says otherwise.
        dims_to_stream: the older name of ``to_stream``.
        dims_from_stream_per_cons: the older name of ``from_stream_per_cons``.
        plio: through the programmable logic.
        pad_dimensions: pairs of padding before and behind, the outermost first.
        pad_value: of each padded element.
        disable_synchronization: without locks.
        repeat_count: how often a memory tile sends an object.
        delegate_tile: whose memory has the objects.
        via_DMA: by DMA, even between neighbours.
        init_values: what is in the producer's objects at first.
        consumer_obj_type: type of a consumer's object, if it is another.
        aie_stream: end and port of a core's own stream.
        default_depth: the name of ``depth`` until June 2025.
        default_dims_from_stream_per_cons: the oldest name of ``from_stream_per_cons``.

    Raises:
        ValueError: a depth below 1.
    """

    _numbers = itertools.count()

    def __init__(
        self,
        obj_type: Any,
        depth: int | None = 2,
        name: str | None = None,
        dims_to_stream: StreamDims | None = None,
        dims_from_stream_per_cons: StreamDims | None = None,
        plio: bool = False,
        pad_dimensions: PadDims | None = None,
        *,
        pad_value: int = 0,
        disable_synchronization: bool = False,
        repeat_count: int | None = None,
        delegate_tile: Tile | None = None,
        via_DMA: bool = False,  # noqa: N803 - mlir-aie's name
        init_values: list[np.ndarray[Any, Any]] | None = None,
        consumer_obj_type: Any = None,
        aie_stream: tuple[int, int] | None = None,
        to_stream: Any = None,
        from_stream_per_cons: Any = None,
        default_depth: int | None = None,
        default_dims_from_stream_per_cons: StreamDims | None = None,
    ) -> None:
        depth = depth if default_depth is None else default_depth
        dims_from_stream_per_cons = dims_from_stream_per_cons or default_dims_from_stream_per_cons
        self.name = name if name is not None else f"of{next(ObjectFifo._numbers)}"
        self._depth = depth if depth is None else _checked_depth(depth, self.name)
        self._obj_type, self._consumer_obj_type = obj_type, consumer_obj_type
        sent = newer(to_stream, dims_to_stream, self.name, _TO_STREAM)
        received = newer(from_stream_per_cons, dims_from_stream_per_cons, self.name, _FROM_STREAM_PER_CONS)
        self._dims_to_stream: StreamDims | None = pairs(sent, self.name, _TO_STREAM[0])
        self._dims_from_stream_per_cons: StreamDims | None = pairs(
            received, self.name, _FROM_STREAM_PER_CONS[0]
        )
        self._pad_dimensions, self._pad_value = pads(sent, pad_dimensions, self.name), pad_value
        self._plio, self._via_dma = plio, via_DMA
        self._disable_synchronization, self._repeat_count = disable_synchronization, repeat_count
        self._delegate_tile, self._init_values, self._aie_stream = delegate_tile, init_values, aie_stream
        self._iter_count: int | None = None
        self._prod: ObjectFifoHandle | None = None
        self._cons: list[ObjectFifoHandle] = []
        self._op: Any = None
        self._resolving, self._line = False, program_line()

    @property
    def depth(self) -> int | None:
        """Objects at each end, unless the handle says otherwise."""
        return self._depth

    @property
    def dims_to_stream(self) -> StreamDims | None:
        """Sizes and strides in which the producer sends."""
        return self._dims_to_stream

    to_stream = dims_to_stream

    @property
    def dims_from_stream_per_cons(self) -> StreamDims | None:
        """Those in which consumers receive, unless the handle says otherwise."""
        return self._dims_from_stream_per_cons

    from_stream_per_cons = dims_from_stream_per_cons

    @property
    def obj_type(self) -> Any:
        """NumPy's type of an object."""
        return self._obj_type

    @property
    def shape(self) -> Sequence[int]:
        """The dimensions of an object."""
        return np_ndarray_type_get_shape(self._obj_type)

    @property
    def dtype(self) -> Any:
        """The type of an object's elements."""
        return np_ndarray_type_get_dtype(self._obj_type)

    @property
    def op(self) -> Any:
        """Its operation.

        Raises:
            NotResolvedError: it is not built yet.
        """
        if self._op is None:
            raise NotResolvedError(
                f"object FIFO {self.name} is not resolved yet: Program.resolve_program builds it"
            )
        return self._op

    def set_iter_count(self, iter_count: int) -> None:
        """How often the chain of a memory tile's descriptors runs, 1 to 256.

        Raises:
            ValueError: another number.
        """
        if not 1 <= iter_count <= 256:
            raise ValueError(
                f"Iter count must be in [1, 256] range. Object FIFO {self.name} was given {iter_count}."
            )
        self._iter_count = iter_count

    def prod(
        self, depth: int | None = None, channel: int | None = None, tile: Tile | None = None
    ) -> ObjectFifoHandle:
        """The producer's handle; there is one.

        Args:
            depth: objects at this end.
            channel: DMA channel; default = any.
            tile: interface tile, where the host fills it.

        Raises:
            ValueError: the handle there is has another channel or tile.
        """
        if self._prod is None:
            self._prod = ObjectFifoHandle(self, True, depth, channel=channel, tile=tile)
            return self._prod
        held = self._prod
        if channel is not None and held.channel != channel:
            raise ValueError(
                f"the producer of {self.name} is already pinned to DMA channel {held.channel}, not {channel}"
            )
        if tile is not None and _place(held._shim_tile) != _place(tile):
            raise ValueError(
                f"the producer of {self.name} is already pinned to shim tile {held._shim_tile}, not {tile}"
            )
        return held

    def cons(
        self,
        depth: int | None = None,
        dims_from_stream: StreamDims | None = None,
        channel: int | None = None,
        tile: Tile | None = None,
        from_stream: Any = None,
    ) -> ObjectFifoHandle:
        """A new consumer's handle.

        Args:
            depth: objects at this end.
            dims_from_stream: the older name of ``from_stream``.
            channel: DMA channel; default = any.
            tile: interface tile, where the host drains it.
            from_stream: pattern in which it receives, or pairs of size and stride.
        """
        depth = self._depth if depth is None else depth
        given = pairs(
            newer(from_stream, dims_from_stream, self.name, _FROM_STREAM), self.name, _FROM_STREAM[0]
        )
        dims = self._dims_from_stream_per_cons if given is None else given
        handle = ObjectFifoHandle(self, False, depth, dims, channel, tile)
        self._cons.append(handle)
        return handle

    def _ends(self) -> list[ObjectFifoHandle]:
        """The producer, then the consumers.

        Raises:
            ValueError: there is no producer, no consumer, or one is used by nothing.
        """
        if self._prod is None:
            raise ValueError(f"object FIFO {self.name} has no producer: nothing asks for its prod()")
        if not self._cons:
            raise ValueError(f"object FIFO {self.name} has no consumer: nothing asks for its cons()")
        ends = [self._prod, *self._cons]
        for handle in ends:
            if handle.endpoint is None:
                raise ValueError(f"nothing uses the {handle.handle_type}() of object FIFO {self.name}")
        return ends

    def tiles(self, cons_only: bool = False) -> list[Tile]:
        """The tiles of its ends."""
        return [handle.endpoint.tile for handle in self._ends()[1 if cons_only else 0 :]]

    def _get_endpoint(self, is_prod: bool) -> list[ObjectFifoEndpoint]:
        producer, *consumers = self._ends()
        return [each.endpoint for each in ([producer] if is_prod else consumers)]

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build it, and the links at its ends."""
        if self._resolving:
            return
        self._resolving = True
        producer, *consumers = self._ends()
        depths = [handle.depth for handle in (producer, *consumers)]
        self._op = object_fifo(
            self.name,
            producer.endpoint.tile.op,
            [handle.endpoint.tile.op for handle in consumers],
            depths[0] if len(set(depths)) == 1 else depths,
            np_ndarray_type_to_memref_type(self._obj_type),
            dimensionsToStream=self._dims_to_stream,
            dimensionsFromStreamPerConsumer=[handle.dims_from_stream or [] for handle in consumers],
            plio=self._plio,
            padDimensions=self._pad_dimensions,
            padValue=self._pad_word(),
            iter_count=self._iter_count,
            disable_synchronization=self._disable_synchronization or None,
            via_DMA=self._via_dma or None,
            initValues=self._init_values,
            consumer_datatype=self._consumer_obj_type,
        )
        self._op.place = self._line or self._op.place
        self._set_attributes(producer, consumers)
        for handle in (producer, *consumers):
            if isinstance(handle.endpoint, ObjectFifoLink):
                handle.endpoint.resolve()

    def _pad_word(self) -> int | None:
        if not self._pad_value:
            return None
        return pack_pad_value(self._pad_value, np.dtype(self.dtype).itemsize)

    def _set_attributes(self, producer: ObjectFifoHandle, consumers: list[ObjectFifoHandle]) -> None:
        op = self._op
        if self._repeat_count is not None:
            op.set_repeat_count(self._repeat_count)
        if self._aie_stream is not None:
            op.set_aie_stream(*self._aie_stream)
        if producer.channel is not None:
            op.set_prod_dma_channel(producer.channel)
        channels = [handle.channel for handle in consumers]
        if any(channel is not None for channel in channels):
            op.set_cons_dma_channels([-1 if channel is None else channel for channel in channels])
        if self._delegate_tile is not None:
            op.allocate(self._delegate_tile.op)

    def __str__(self) -> str:
        return f"ObjectFifo({self._obj_type}, depth={self._depth}, name={self.name!r})"

    __repr__ = __str__


class ObjectFifoHandle(Resolvable):
    """One end of an object FIFO."""

    def __init__(
        self,
        of: ObjectFifo,
        is_prod: bool,
        depth: int | None = None,
        dims_from_stream: StreamDims | None = None,
        channel: int | None = None,
        tile: Tile | None = None,
    ) -> None:
        if is_prod and dims_from_stream:
            raise ValueError(f"the producer of {of.name} sends: dims_from_stream belong to cons()")
        self._object_fifo, self._is_prod = of, is_prod
        self._depth = _checked_depth(of.depth if depth is None else depth, of.name)
        self._dims_from_stream = dims_from_stream
        self._channel, self._shim_tile = channel, tile
        self._port = ObjectFifoPort.Produce if is_prod else ObjectFifoPort.Consume
        self._endpoint: Any = None

    @property
    def name(self) -> str:
        """Of the object FIFO."""
        return self._object_fifo.name

    @property
    def op(self) -> Any:
        """Operation of the object FIFO."""
        return self._object_fifo.op

    @property
    def obj_type(self) -> Any:
        """NumPy's type of an object."""
        return self._object_fifo.obj_type

    @property
    def shape(self) -> Sequence[int]:
        """The dimensions of an object."""
        return self._object_fifo.shape

    @property
    def dtype(self) -> Any:
        """The type of an object's elements."""
        return self._object_fifo.dtype

    @property
    def handle_type(self) -> str:
        """``prod`` or ``cons``."""
        return "prod" if self._is_prod else "cons"

    @property
    def depth(self) -> int:
        """Objects at this end."""
        return self._depth

    @property
    def channel(self) -> int | None:
        """DMA channel; None = any."""
        return self._channel

    @property
    def dims_from_stream(self) -> StreamDims | None:
        """Sizes and strides in which a consumer receives.

        Raises:
            ValueError: it is the producer's.
        """
        if self._is_prod:
            raise ValueError(f"the producer of {self.name} sends: only consumers have dims_from_stream")
        return self._dims_from_stream

    from_stream = dims_from_stream

    @property
    def endpoint(self) -> Any:
        """What uses it."""
        return self._endpoint

    @endpoint.setter
    def endpoint(self, endpoint: Any) -> None:
        if self._endpoint is not None and self._endpoint != endpoint:
            raise ValueError(
                f"{self.name}.{self.handle_type}() is used by {self._endpoint} and by {endpoint}; each "
                f"end has one user"
            )
        self._endpoint = endpoint

    def _checked(self, num_elem: int, does: str) -> int:
        if not 1 <= num_elem <= self._depth:
            raise ValueError(
                f"{does} of {self.name} takes 1 to {self._depth} objects, its depth, not {num_elem}"
            )
        return num_elem

    def acquire(self, num_elem: int) -> Any:
        """Wait in a core for so many objects: one buffer, or a list of them."""
        count = self._checked(num_elem, "acquire")
        return self._object_fifo.op.acquire(self._port, count)

    def release(self, num_elem: int) -> None:
        """Give so many objects to the other end."""
        count = self._checked(num_elem, "release")
        self._object_fifo.op.release(self._port, count)

    def fill(self, source: Any, tap: Any = None, **more: Any) -> Any:
        """Send a buffer of the host into the object FIFO, within the runtime sequence.

        Args:
            source: the buffer.
            tap: offset, sizes and strides; default = all of it.
            more: of ``transfer`` in ``memtile.iron.runtime.transfers``.

        Raises:
            ValueError: it is a consumer's handle.
        """
        if not self._is_prod:
            raise ValueError(f"fill() of {self.name}: a consumer is drained")
        return self._transfer(source, tap, more)

    def drain(self, dest: Any, tap: Any = None, **more: Any) -> Any:
        """Receive into a buffer of the host from the object FIFO, within the runtime sequence.

        Args:
            dest: the buffer.
            tap: offset, sizes and strides; default = all of it.
            more: of ``transfer`` in ``memtile.iron.runtime.transfers``.

        Raises:
            ValueError: it is the producer's handle.
        """
        if self._is_prod:
            raise ValueError(f"drain() of {self.name}: a producer is filled")
        return self._transfer(dest, tap, more)

    def _transfer(self, data: Any, tap: Any, more: dict[str, Any]) -> Any:
        from memtile.iron.runtime.transfers import transfer

        return transfer(self, data, tap, **more)

    def all_of_endpoints(self) -> list[Any]:
        """What uses the ends of the object FIFO."""
        return [handle.endpoint for handle in self._object_fifo._ends()]

    def join(
        self,
        offsets: list[int],
        tile: Tile | None = AnyMemTile,
        depths: list[int] | None = None,
        obj_types: list[Any] | None = None,
        names: list[str] | None = None,
        dims_to_stream: list[StreamDims] | None = None,
        dims_from_stream: list[StreamDims] | None = None,
        plio: bool = False,
        repeat_counts: list[int | None] | None = None,
        to_stream: list[Any] | None = None,
        from_stream: list[Any] | None = None,
        placement: Tile | None = None,
    ) -> list[ObjectFifo]:
        """New object FIFOs that fill this producer, each a part of its object at an offset.

        Raises:
            ValueError: it is a consumer's handle, or a list has another length.
        """
        if not self._is_prod:
            raise ValueError(f"join() of {self.name}: a consumer is split")
        count = len(offsets)
        parts = zip(
            one_each(obj_types, self.obj_type, count, "obj_types"),
            one_each(depths, self.depth, count, "depths"),
            names if names is not None else [f"{self.name}_join{at}" for at in range(count)],
            one_each(newer(to_stream, dims_to_stream, self.name, _TO_STREAM), [], count, "to_stream"),
            one_each(newer(from_stream, dims_from_stream, self.name, _FROM_STREAM), [], count, "from_stream"),
            one_each(repeat_counts, None, count, "repeat_counts"),
            strict=True,
        )
        made, ends = [], []
        for obj_type, depth, name, to, of, repeat in parts:
            fifo = ObjectFifo(obj_type, name=name, depth=depth, to_stream=to, plio=plio, repeat_count=repeat)
            made.append(fifo)
            ends.append(fifo.cons(depth=depth, from_stream=of))
        ObjectFifoLink(ends, self, older_tile(tile, placement, AnyMemTile), offsets, [])
        return made

    def split(
        self,
        offsets: list[int],
        tile: Tile | None = AnyMemTile,
        depths: list[int] | None = None,
        obj_types: list[Any] | None = None,
        names: list[str] | None = None,
        dims_to_stream: list[StreamDims] | None = None,
        dims_from_stream: list[StreamDims] | None = None,
        plio: bool = False,
        repeat_counts: list[int | None] | None = None,
        pad_dimensions: list[PadDims | None] | None = None,
        pad_value: list[int] | None = None,
        to_stream: list[Any] | None = None,
        from_stream: list[Any] | None = None,
        channels: list[int | None] | None = None,
        placement: Tile | None = None,
    ) -> list[ObjectFifo]:
        """New object FIFOs that this consumer fills, each with a part of its object at an offset.

        Args:
            channels: DMA channels of their producers; default = any.

        Raises:
            ValueError: it is the producer's handle, or a list has another length.
        """
        if self._is_prod:
            raise ValueError(f"split() of {self.name}: a producer is joined")
        count = len(offsets)
        parts = zip(
            one_each(obj_types, self.obj_type, count, "obj_types"),
            one_each(depths, self.depth, count, "depths"),
            names if names is not None else [f"{self.name}_split{at}" for at in range(count)],
            one_each(newer(to_stream, dims_to_stream, self.name, _TO_STREAM), [], count, "to_stream"),
            one_each(newer(from_stream, dims_from_stream, self.name, _FROM_STREAM), [], count, "from_stream"),
            one_each(repeat_counts, None, count, "repeat_counts"),
            one_each(pad_dimensions, None, count, "pad_dimensions"),
            one_each(pad_value, 0, count, "pad_value"),
            strict=True,
        )
        made = [
            ObjectFifo(
                obj_type,
                name=name,
                depth=depth,
                to_stream=to,
                from_stream_per_cons=of,
                plio=plio,
                repeat_count=repeat,
                pad_dimensions=pads,
                pad_value=value,
            )
            for obj_type, depth, name, to, of, repeat, pads, value in parts
        ]
        numbers = one_each(channels, None, count, "channels")
        ends = [fifo.prod(channel=number) for fifo, number in zip(made, numbers, strict=True)]
        ObjectFifoLink(self, ends, older_tile(tile, placement, AnyMemTile), [], offsets)
        return made

    def forward(
        self,
        tile: Tile | None = AnyMemTile,
        obj_type: Any = None,
        depth: int | None = None,
        name: str | None = None,
        dims_to_stream: StreamDims | None = None,
        dims_from_stream: StreamDims | None = None,
        plio: bool = False,
        repeat_count: int | None = None,
        pad_dimensions: PadDims | None = None,
        pad_value: int = 0,
        to_stream: Any = None,
        from_stream: Any = None,
        channel: int | None = None,
        placement: Tile | None = None,
    ) -> ObjectFifo:
        """A new object FIFO that this consumer fills with its whole object, by a DMA ``channel``.

        Raises:
            ValueError: it is the producer's handle.
        """
        (made,) = self.split(
            [0],
            older_tile(tile, placement, AnyMemTile),
            [depth] if depth else None,
            [obj_type] if obj_type else None,
            [name or f"{self.name}_fwd"],
            None,
            None,
            plio,
            [repeat_count],
            [pad_dimensions],
            [pad_value],
            alone(newer(to_stream, dims_to_stream, self.name, _TO_STREAM)),
            alone(newer(from_stream, dims_from_stream, self.name, _FROM_STREAM)),
            None if channel is None else [channel],
        )
        return made

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build the object FIFO."""
        self._object_fifo.resolve(loc, ip)

    def __str__(self) -> str:
        return f"{self.name}.{self.handle_type}()"

    __repr__ = __str__
