"""Designs that apply one function to all tiles of tensors, or to a whole one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from memtile.iron.controlflow import range_
from memtile.iron.dataflow import ObjectFifo
from memtile.iron.helpers.taplib import TensorAccessPattern
from memtile.iron.helpers.util import array_type
from memtile.iron.kernel import ExternalFunction
from memtile.iron.ops.operations import Module
from memtile.iron.program import Program
from memtile.iron.runtime import Runtime, TaskGroup
from memtile.iron.utils import get_current_device
from memtile.iron.worker import Worker


@dataclass(frozen=True)
class TensorKind:
    """Shape and type of a tensor.

    Attributes:
        shape: its dimensions.
        dtype: of its elements.
    """

    shape: tuple[int, ...]
    dtype: Any

    @property
    def size(self) -> int:
        """All its elements."""
        return int(np.prod(self.shape))

    @property
    def type(self) -> Any:
        """NumPy's type of it, with its dimensions."""
        return array_type(self.shape, self.dtype)

    @property
    def flat(self) -> Any:
        """NumPy's type of it, in one dimension."""
        return array_type((self.size,), self.dtype)


def make_param_descriptor(tensor_ty: Any) -> TensorKind:
    """The kind of ``np.ndarray[(16,), np.dtype[np.int32]]``.

    Raises:
        TypeError: it is no such type.
    """
    inner = get_args(tensor_ty)
    if len(inner) != 2 or not isinstance(inner[0], tuple):
        raise TypeError(f"{tensor_ty!r} is no type of a tensor: write np.ndarray[(16,), np.dtype[np.int32]]")
    return TensorKind(tuple(inner[0]), get_args(inner[1])[0])


def _kind(given: Any) -> TensorKind:
    return (
        make_param_descriptor(given)
        if get_args(given)
        else TensorKind(tuple(given.shape), np.dtype(given.dtype).type)
    )


class _Parameters:
    """What a kernel takes beside its tiles: numbers as they are, tensors by object FIFOs."""

    def __init__(self, func: Any, tiles: int, given: Sequence[Any]) -> None:
        types = func.arg_types()[tiles:] if isinstance(func, ExternalFunction) else []
        self.given = list(given)
        self.tensors: list[tuple[int, TensorKind]] = []
        for at, (value, kind) in enumerate(zip(given, types, strict=False)):
            if not (isinstance(kind, type) and issubclass(kind, np.generic)):
                self.tensors.append((at, _kind(value)))
        self.fifos = [ObjectFifo(kind.type, name=f"param{at}") for at, kind in self.tensors]

    @property
    def types(self) -> list[Any]:
        """NumPy's types of the tensors."""
        return [kind.type for _, kind in self.tensors]

    def acquired(self, ends: Sequence[Any]) -> list[Any]:
        """All parameters in a core, in order."""
        found = list(self.given)
        for (at, _), end in zip(self.tensors, ends, strict=True):
            found[at] = end.acquire(1)
        return found


class _Tiled:
    """A function over all tiles, in one core or several.

    Args:
        func: of elements, or a kernel of tiles.
        inputs: tensors that it reads, all of one kind.
        params: what a kernel takes beside its tiles.
        tile_size: elements of a tile.
        with_size: the kernel takes the size of a tile as the last.
    """

    def __init__(
        self,
        func: Any,
        inputs: int,
        kind: TensorKind,
        params: Sequence[Any],
        tile_size: int,
        with_size: bool = True,
    ) -> None:
        self.func, self.inputs, self.kind, self.tile_size, self.with_size = (
            func,
            inputs,
            kind,
            tile_size,
            with_size,
        )
        self.is_kernel = isinstance(func, ExternalFunction)
        if self.is_kernel and func.tile_size() != tile_size:
            raise ValueError(
                f"tile_size {tile_size} does not match kernel {func.name}, which has tiles of "
                f"{func.tile_size()} elements"
            )
        self.tile = array_type((tile_size,), kind.dtype)
        self.params = _Parameters(func, inputs + 1, params)

    def turns(self, cores: int) -> int:
        """Tiles of each core.

        Raises:
            ValueError: they do not fit.
        """
        if self.kind.size % (self.tile_size * cores):
            raise ValueError(
                f"{self.kind.size} elements must be a multiple of tile size {self.tile_size} in each of "
                f"{cores} cores, that is of {self.tile_size * cores}"
            )
        return self.kind.size // (self.tile_size * cores)

    def body(self, turns: int) -> Callable[..., None]:
        """What a core does: its ends are inputs, parameters, the output and the function."""

        def core_fn(*ends: Any) -> None:
            into, params, out, func = ends[: self.inputs], ends[self.inputs : -2], ends[-2], ends[-1]
            values = self.params.acquired(params)
            for _ in range_(turns):
                tiles = [end.acquire(1) for end in into]
                result = out.acquire(1)
                if self.is_kernel:
                    func(*tiles, result, *values, *[self.tile_size] * self.with_size)
                else:
                    for at in range_(self.tile_size):
                        result[at] = func(*[tile[at] for tile in tiles])
                for end in (*into, out):
                    end.release(1)
            for end in params:
                end.release(1)

        return core_fn

    def worker(self, turns: int, into: Sequence[Any], out: Any, trace_size: int) -> Worker:
        """A core."""
        ends = [*(fifo.cons() for fifo in (*into, *self.params.fifos)), out.prod(), self.func]
        return Worker(self.body(turns), ends, trace=1 if trace_size > 0 else 0)


def _module(rt: Runtime, workers: list[Worker], trace_size: int) -> Module:
    device = get_current_device()
    if device is None:
        raise RuntimeError("an algorithm needs a device: iron.set_current_device")
    program = Program(device, rt, workers=workers)
    if trace_size > 0:
        program.enable_trace(trace_size)
    return program.resolve_program()


def _single(tiled: _Tiled, trace_size: int, in_place: bool = False) -> Module:
    kind, params, count = tiled.kind, tiled.params, tiled.inputs
    names = ["in"] if in_place else [f"in{at}" for at in range(count)]
    into, out = [ObjectFifo(tiled.tile, name=name) for name in names], ObjectFifo(tiled.tile, name="out")
    worker = tiled.worker(tiled.turns(1), into, out, trace_size)
    tensors = 1 if in_place else count + 1

    def sequence(*given: Any) -> None:
        buffers, values, ends = (
            given[:tensors],
            given[tensors : tensors + len(params.tensors)],
            given[tensors + len(params.tensors) :],
        )
        for end, buffer in zip(ends[:count], buffers, strict=False):
            end.fill(buffer)
        for end, value in zip(ends[count + 1 :], values, strict=True):
            end.fill(value)
        ends[count].drain(buffers[-1], wait=True)

    ends = [*(fifo.prod() for fifo in into), out.cons(), *(fifo.prod() for fifo in params.fifos)]
    return _module(Runtime(sequence, [*[kind.flat] * tensors, *params.types, *ends]), [worker], trace_size)


def _parallel(tiled: _Tiled, trace_size: int, num_channels: int) -> Module:
    """One core for each channel of each column."""
    if num_channels not in (1, 2):
        raise ValueError(f"an interface tile has 1 or 2 channels each way, not {num_channels}")
    if num_channels > 1 and tiled.params.given:
        raise ValueError("parameters go with num_channels=1 alone")
    device = get_current_device()
    if device is None:
        raise RuntimeError("an algorithm needs a device: iron.set_current_device")
    places = [(col, chan) for col in range(device.cols) for chan in range(num_channels)]
    names = [f"{col}" if num_channels == 1 else f"{col}_{chan}" for col, chan in places]
    kind, params, turns = tiled.kind, tiled.params, tiled.turns(len(places))
    into = [[ObjectFifo(tiled.tile, name=f"in{at}_{name}") for at in range(tiled.inputs)] for name in names]
    outs = [ObjectFifo(tiled.tile, name=f"out_{name}") for name in names]
    workers = [tiled.worker(turns, each, out, trace_size) for each, out in zip(into, outs, strict=True)]
    share = kind.size // len(places)
    taps = [
        TensorAccessPattern((1, kind.size), share * at, [1, 1, 1, share], [0, 0, 0, 1])
        for at in range(len(places))
    ]
    fills = [[fifo.prod() for fifo in each] for each in into]
    drains, values = [fifo.cons() for fifo in outs], [fifo.prod() for fifo in params.fifos]

    def sequence(*given: Any) -> None:
        buffers = given[: tiled.inputs + 1]
        group = TaskGroup()
        for ends, tap in zip(fills, taps, strict=True):
            for end, buffer in zip(ends, buffers, strict=False):
                end.fill(buffer, tap, group=group)
        group.finish()
        for end, value in zip(values, given[tiled.inputs + 1 :], strict=False):
            end.fill(value)
        group = TaskGroup()
        for end, tap in zip(drains, taps, strict=True):
            end.drain(buffers[-1], tap, wait=True, group=group)
        group.finish()

    ends = [*(end for each in fills for end in each), *drains, *values]
    arguments = [*[kind.flat] * (tiled.inputs + 1), *params.types, *ends]
    return _module(Runtime(sequence, arguments, strict_task_groups=not values), workers, trace_size)


def transform(func: Any, tensor_ty: Any, *params: Any, tile_size: int = 16, trace_size: int = 0) -> Module:
    """A function over a tensor, in one core."""
    return _single(_Tiled(func, 1, _flat(tensor_ty), params, tile_size), trace_size)


def transform_binary(func: Any, tensor_ty: Any, tile_size: int = 16, trace_size: int = 0) -> Module:
    """A function over two tensors, in one core."""
    return _single(_Tiled(func, 2, _flat(tensor_ty), (), tile_size), trace_size)


def transform_parallel(
    func: Any,
    tensor_ty: Any,
    *params: Any,
    tile_size: int = 16,
    trace_size: int = 0,
    num_channels: int = 1,
    pass_size_to_kernel: bool = True,
) -> Module:
    """A function over a tensor, in one core for each channel of each column."""
    tiled = _Tiled(func, 1, _flat(tensor_ty), params, tile_size, pass_size_to_kernel)
    return _parallel(tiled, trace_size, num_channels)


def transform_parallel_binary(
    func: Any,
    tensor_ty: Any,
    tile_size: int = 16,
    trace_size: int = 0,
    num_channels: int = 1,
    pass_size_to_kernel: bool = True,
) -> Module:
    """A function over two tensors, in one core for each channel of each column."""
    tiled = _Tiled(func, 2, _flat(tensor_ty), (), tile_size, pass_size_to_kernel)
    return _parallel(tiled, trace_size, num_channels)


def for_each(func: Any, tensor_ty: Any, tile_size: int = 16) -> Module:
    """A function over a tensor, in its place."""
    return _single(_Tiled(func, 1, _flat(tensor_ty), (), tile_size), 0, in_place=True)


def _flat(tensor_ty: Any) -> TensorKind:
    kind = make_param_descriptor(tensor_ty)
    return TensorKind((kind.size,), kind.dtype)


def reduce(func: Any, input_ty: Any, output_ty: Any, *, trace_size: int = 0) -> Module:
    """One call of a kernel on a whole tensor.

    Raises:
        TypeError: the function is no kernel.
    """
    if not isinstance(func, ExternalFunction):
        raise TypeError("reduce takes a kernel, which keeps what it has so far")
    into, out = make_param_descriptor(input_ty), make_param_descriptor(output_ty)
    of_in, of_out = ObjectFifo(into.type, name="in"), ObjectFifo(out.type, name="out")

    def core_fn(of_in: Any, of_out: Any, kernel: Any) -> None:
        result = of_out.acquire(1)
        kernel(of_in.acquire(1), result, into.size)
        of_in.release(1)
        of_out.release(1)

    def sequence(source: Any, target: Any, fills: Any, drains: Any) -> None:
        fills.fill(source)
        drains.drain(target, wait=True)

    worker = Worker(core_fn, [of_in.cons(), of_out.prod(), func], trace=1 if trace_size > 0 else 0)
    return _module(
        Runtime(sequence, [into.type, out.type, of_in.prod(), of_out.cons()]), [worker], trace_size
    )
