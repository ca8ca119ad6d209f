"""Does each option of an object FIFO in IRON become what mlir-aie's text has for it, or an error by name?

The attributes are those of ``aie.objectfifo`` in mlir-aie's documentation of its operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memtile import iron
from memtile.iron.controlflow import range_
from memtile.iron.dataflow.objectfifo import ObjectFifoHandle
from memtile.iron.dataflow.tile_dma import Bd, BdIteration, DmaChannel, TileDma
from memtile.iron.device import AnyComputeTile, NPU2Col1, Tile
from memtile.iron.dialects.aie import AIETileType, DMAChannelDir
from memtile.iron.helpers.taplib import TensorAccessPattern

N = 16
LINE: Any = np.ndarray[(N,), np.dtype[np.int32]]  # type: ignore[misc]
HALF: Any = np.ndarray[(N // 2,), np.dtype[np.int32]]  # type: ignore[misc]
BYTES: Any = np.ndarray[(N,), np.dtype[np.int8]]  # type: ignore[misc]
MM2S, S2MM = DMAChannelDir.MM2S, DMAChannelDir.S2MM


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    iron.set_current_device(NPU2Col1())
    yield
    iron.set_current_device(None)


def _declared(kind: Any = LINE, *, consumers: int = 1, ends: Any = None, **options: Any) -> str:
    """The line of an object FIFO ``x`` from the host to cores."""
    count = options.pop("iter_count", None)
    fifo = iron.ObjectFifo(kind, name="x", **options)
    if count is not None:
        fifo.set_iter_count(count)
    of_cons = ends or [{} for _ in range(consumers)]

    def core(handle: ObjectFifoHandle) -> None:
        handle.acquire(1)
        handle.release(1)

    workers = [iron.Worker(core, [fifo.cons(**more)]) for more in of_cons]
    runtime = iron.Runtime(lambda a, end: end.fill(a), [kind, fifo.prod()])
    text = str(iron.Program(NPU2Col1(), runtime, workers=workers).resolve_program())
    (line,) = (each.strip() for each in text.splitlines() if "aie.objectfifo @x" in each)
    return line


@pytest.mark.parametrize(
    ("options", "has"),
    [
        ({}, "2 : i32) : !aie.objectfifo<memref<16xi32>>"),
        ({"depth": 5}, "5 : i32)"),
        ({"depth": 3, "default_depth": 4}, "4 : i32)"),
        ({"plio": True}, "plio = true"),
        ({"via_DMA": True}, "via_DMA = true"),
        ({"disable_synchronization": True}, "disable_synchronization = true"),
        ({"repeat_count": 7}, "repeat_count = 7 : i32"),
        ({"iter_count": 256}, "iter_count = 256 : i32"),
        ({"iter_count": 1}, "iter_count = 1 : i32"),
        ({"dims_to_stream": [(4, 4), (4, 1)]}, "dimensionsToStream [<size = 4, stride = 4>"),
        ({"dims_from_stream_per_cons": [(8, 2)]}, "dimensionsFromStream [<size = 8, stride = 2>]"),
        ({"default_dims_from_stream_per_cons": [(8, 2)]}, "dimensionsFromStream [<size = 8, stride = 2>]"),
        ({"consumer_obj_type": HALF}, "memref<8xi32>"),
        ({"ends": [{"channel": 1}]}, "cons_dma_channels = array<i32: 1>"),
        ({"ends": [{}, {"channel": 1}]}, "cons_dma_channels = array<i32: -1, 1>"),
        ({"ends": [{"depth": 3}]}, "[2 : i32, 3 : i32]"),
        ({"ends": [{}, {"depth": 4}]}, "[2 : i32, 2 : i32, 4 : i32]"),
        ({"ends": [{"from_stream": [(4, 2)]}, {}]}, "dimensionsFromStream [<size = 4, stride = 2>]"),
    ],
    ids=str,
)
def test_an_option_is_an_attribute(options: dict[str, Any], has: str) -> None:
    plain, line = _declared(), _declared(**options)
    assert has in line
    assert (has in plain) != bool(options)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (lambda: iron.ObjectFifo(LINE, 0, name="x"), "x"),
        (lambda: iron.ObjectFifo(LINE, name="x").set_iter_count(0), r"\[1, 256\] range. Object FIFO x"),
        (lambda: iron.ObjectFifo(LINE, name="x").set_iter_count(257), "was given 257"),
        (lambda: iron.ObjectFifo(LINE, name="x").op, "object FIFO x is not resolved yet"),
        (lambda: iron.ObjectFifo(LINE, name="x").tiles(), "has no producer"),
        (lambda: _with_producer().tiles(), "x has no consumer"),
        (lambda: _with_both().tiles(), r"nothing uses the prod\(\) of object FIFO x"),
        (lambda: _with_producer().prod().dims_from_stream, "only consumers have dims_from_stream"),
        (lambda: _with_producer().prod().drain(None), r"drain\(\) of x: a producer is filled"),
        (lambda: _with_producer().cons().fill(None), r"fill\(\) of x: a consumer is drained"),
        (lambda: _with_producer().cons().join([0]), r"join\(\) of x: a consumer is split"),
        (lambda: _with_producer().prod().split([0]), r"split\(\) of x: a producer is joined"),
        (lambda: _with_producer().cons().acquire(3), "takes 1 to 2 objects, its depth, not 3"),
        (lambda: _with_producer().cons().release(0), "takes 1 to 2 objects, its depth, not 0"),
        (lambda: _with_producer(channel=1).prod(channel=0), "already pinned to DMA channel 1, not 0"),
        (lambda: _with_producer(tile=Tile(0, 0)).prod(tile=Tile(1, 0)), "already pinned to shim tile"),
    ],
)
def test_what_an_object_fifo_cannot_have(given: Any, says: str) -> None:
    with pytest.raises((ValueError, RuntimeError), match=says):
        given()


def _with_producer(**more: Any) -> iron.ObjectFifo:
    fifo = iron.ObjectFifo(LINE, name="x")
    fifo.prod(**more)
    return fifo


def _with_both() -> iron.ObjectFifo:
    fifo = _with_producer()
    fifo.cons()
    return fifo


def test_ends_say_what_they_are() -> None:
    fifo = iron.ObjectFifo(LINE, 4, name="x", from_stream_per_cons=[(4, 2)])
    sent, got = fifo.prod(3, channel=1), fifo.cons()
    assert fifo.prod() is sent
    assert fifo.prod(channel=1) is sent
    assert fifo.prod(tile=None) is sent
    assert (sent.handle_type, sent.depth, sent.channel, sent.name) == ("prod", 3, 1, "x")
    assert (got.handle_type, got.depth, got.channel, got.from_stream) == ("cons", 4, None, [(4, 2)])
    assert fifo.cons(2, from_stream=[(2, 8)]).from_stream == [(2, 8)]
    assert fifo.cons(2).depth == 2
    assert fifo.cons(dims_from_stream=[(2, 8)]).from_stream == [(2, 8)]
    assert (got.shape, got.dtype, got.obj_type) == ((N,), np.int32, LINE)
    names = {iron.ObjectFifo(LINE).name for _ in range(3)}
    assert len(names) == 3


@pytest.mark.parametrize(("kind", "value", "word"), [(LINE, 5, 5), (BYTES, 3, 0x03030303), (BYTES, -1, -1)])
def test_padding_has_a_value(kind: Any, value: int, word: int) -> None:
    """A channel pads with 32 bits: elements of a byte are there four times."""
    fifo = iron.ObjectFifo(kind, name="in")
    walk = TensorAccessPattern.full((2, 8)).pad([(1, 0), (0, 4)])
    out = fifo.cons().forward(name="x", to_stream=walk, pad_value=value)
    runtime = iron.Runtime(lambda a, put, get: (put.fill(a), get.drain(a)), [kind, fifo.prod(), out.cons()])
    text = str(iron.Program(NPU2Col1(), runtime).resolve_program())
    (found,) = (each for each in text.splitlines() if "aie.objectfifo @x" in each)
    said = int(found.partition("padValue = ")[2].partition(" ")[0])
    assert said & 0xFFFFFFFF == word & 0xFFFFFFFF
    assert _channel(kind, value).pad_word() & 0xFFFFFFFF == word & 0xFFFFFFFF


def _buffer(kind: Any = LINE, name: str = "b") -> iron.Buffer:
    return iron.Buffer(kind, tile=Tile(0, 1, tile_type=AIETileType.MemTile), name=name)


def _channel(kind: Any, value: int, *, pads: bool = True) -> DmaChannel:
    more: dict[str, Any] = {"sizes": [2, 8], "strides": [8, 1]}
    if pads:
        more["pad_dimensions"] = [(1, 0), (0, 4)]
    return DmaChannel(MM2S, 0, [Bd(_buffer(kind), **more)], pad_value=value)


def test_a_value_of_padding_is_of_one_size() -> None:
    assert _channel(LINE, 0, pads=False).pad_word() == 0
    with pytest.raises(ValueError, match=r"pad_value of .*MM2S 0: no descriptor of it is padded"):
        _channel(LINE, 5, pads=False).pad_word()
    two = DmaChannel(MM2S, 0, [*_channel(LINE, 1).bds, *_channel(BYTES, 1).bds], pad_value=1)
    with pytest.raises(
        ValueError, match=r"its elements have \[1, 4\] bytes; one value of one size is needed"
    ):
        two.pad_word()


def _dma(*channels: DmaChannel) -> str:
    runtime = iron.Runtime(lambda _: None, [LINE])
    runtime.add_tile_dma(TileDma(channels[0].bds[0].buffer.tile, channels))
    return str(iron.Program(NPU2Col1(), runtime).resolve_program())


@pytest.mark.parametrize(
    ("options", "has"),
    [
        ({"offset": 4, "length": 8}, "offset = 4 len = 8"),
        ({"sizes": [2, 4], "strides": [8, 1]}, "sizes = [2, 4] strides = [8, 1]"),
        ({"bd_id": 5}, "bd_id = 5"),
        ({"packet": (2, 3)}, "2, 3"),
        ({"iteration": BdIteration(3, 1)}, "iteration"),
        ({"iteration_size": 3, "iteration_stride": 1}, "iteration"),
        ({"tap": TensorAccessPattern((N,), 4, [2, 4], [8, 1])}, "offset = 4 len = 8 sizes = [2, 4]"),
        ({"tap": TensorAccessPattern((N,), 0, [2, 4], [8, 1]), "length": 6}, "len = 6"),
    ],
    ids=str,
)
def test_an_option_of_a_descriptor_is_in_its_text(options: dict[str, Any], has: str) -> None:
    text = _dma(DmaChannel(MM2S, 0, [Bd(_buffer(), **options)]))
    assert has in text
    assert has not in _dma(DmaChannel(MM2S, 0, [Bd(_buffer())]))


def test_options_of_a_descriptor_that_exclude_each_other() -> None:
    tap = TensorAccessPattern((N,), 4, [2, 4], [8, 1])
    for more in ({"offset": 1}, {"sizes": [4]}, {"strides": [1]}, {"pad_dimensions": [(1, 1)]}):
        with pytest.raises(
            ValueError, match="a Bd takes a tap, or offset, sizes, strides and pad_dimensions"
        ):
            Bd(_buffer(), tap=tap, **more)
    with pytest.raises(ValueError, match="a Bd takes iteration=, or iteration_size="):
        Bd(_buffer(), iteration=BdIteration(2, 1), iteration_size=2)
    iterated = Bd(_buffer(), iteration_size=4, iteration_current=2).iteration
    assert iterated == BdIteration(4, 0, 2)


def test_parts_of_an_object_go_where_their_offsets_say() -> None:
    """The host's line is split in a memory tile, both halves cross a core, and are joined the other way."""

    @iron.jit
    def swapped(_a: iron.In, _b: iron.Out) -> object:
        into, out = iron.ObjectFifo(LINE, name="in"), iron.ObjectFifo(LINE, name="out")
        parts = into.cons().split([0, N // 2], obj_types=[HALF] * 2, names=["a", "b"])
        joined = out.prod().join([0, N // 2], obj_types=[HALF] * 2)

        def core(source: Any, target: Any, factor: int) -> None:
            given, made = source.acquire(1), target.acquire(1)
            for at in range_(N // 2):
                made[at] = given[at] * factor
            source.release(1)
            target.release(1)

        workers = [
            iron.Worker(core, [part.cons(), to.prod(), 2 + at], tile=AnyComputeTile)
            for at, (part, to) in enumerate(zip(parts, reversed(joined), strict=True))
        ]

        def sequence(a: Any, b: Any, fills: Any, drains: Any) -> None:
            fills.fill(a)
            drains.drain(b, wait=True)

        runtime = iron.Runtime(sequence, [LINE, LINE, into.prod(), out.cons()])
        return iron.Program(iron.get_current_device(), runtime, workers=workers).resolve_program()

    got = iron.zeros(N, dtype=np.int32)
    swapped(iron.arange(N, dtype=np.int32), got)
    line = np.arange(N)
    assert got.numpy().tolist() == [*(line[N // 2 :] * 3), *(line[: N // 2] * 2)]
