"""Changes of numbers of a graph that may be what was meant: tilings of buffers, sizes of kernels' ports.

A tiling with which the ports of a buffer pass each of its elements is likelier than one that leaves some
out or writes them twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from memtile.adf.description import Loop, MemoryObject, Port, Tiling
from memtile.adf.graph_changes import GraphChange
from memtile.adf.objects import BUFFERS, Objects
from memtile.adf.unwritten import inside, of_port
from memtile.errors import MemtileError
from memtile.explain.repairs import Candidate

_COMPLETE, _BETTER, _SAME = 0.15, 0.35, 0.6
"""How unlikely a tiling is that leaves nothing out where the present one does, less than it, as much."""
_ODD, _DOUBLE = 0.25, 0.4
"""How unlikely a size of a port is: that of all others of its kernel, or twice or half of what it has."""
_MOST_ELEMENTS = 1 << 16  # of a buffer whose tilings are tried
_MOST_PLACES = 64  # of a tiling along a dimension
_ELEMENT_BYTES = (2, 4, 8)
_PAIR = 2
_Made = tuple[str, str, str, Tiling]
"""What is changed, its old and new value, and the tiling with it."""


def size_changes(objects: Objects) -> Iterator[GraphChange]:
    """Changes of tilings and of sizes, in no order.

    Args:
        objects: of a description.
    """
    for memory in objects.description.memories:
        if not memory.external and prod(memory.dimensions) <= _MOST_ELEMENTS:
            yield from _of_memory(objects, memory)
    for kernel in objects.description.kernels:
        ports = [objects.ports[each] for each in kernel.ports]
        yield from _of_kernel([each for each in ports if each.kind in BUFFERS and each.dimensions])


def _of_memory(objects: Objects, memory: MemoryObject) -> Iterator[GraphChange]:
    """Other tilings for the ports of a shared buffer."""
    for ports, access in ((memory.inputs, "write_access"), (memory.outputs, "read_access")):
        writes, before = access == "write_access", _left_out(objects, memory, ports)
        for number in ports:
            port = objects.ports[number]
            tilings: tuple[Tiling, ...] = getattr(port, access)
            for n, tiling in enumerate(tilings):
                for what, old, new, made in () if tiling.is_older else _tilings(tiling):
                    new_port: dict[str, Any] = {access: (*tilings[:n], made, *tilings[n + 1 :])}
                    changed = replace(port, **new_port)
                    left = _left_out(_with(objects, changed), memory, ports)
                    if (
                        left is None
                        or before is None
                        or left[0] + writes * left[1] > before[0] + writes * before[1]
                    ):
                        continue
                    unlikely = _unlikely(left, before, writes=writes)
                    of = "" if len(tilings) == 1 else f", tiling {n}"
                    says = f"in {access} of {port.name}{of}, set {what} to {new} instead of {old}"
                    candidate = Candidate(
                        "tiling", says, (), unlikely, (port.name, what, new), place=port.line
                    )
                    yield GraphChange(candidate, (changed,))


def _unlikely(left: tuple[int, int], before: tuple[int, int], *, writes: bool) -> float:
    now, then = (each[0] + writes * each[1] for each in (left, before))
    if now == then:
        return _SAME
    return _BETTER if now else _COMPLETE


def _left_out(objects: Objects, memory: MemoryObject, ports: Sequence[int]) -> tuple[int, int] | None:
    """Elements that no port of a side passes, and those that pass again; None = a tiling that is refused."""
    size = prod(memory.dimensions)
    try:
        passed = [inside(of_port(objects, each, memory), size) for each in ports]
    except MemtileError:
        return None
    often = np.bincount(np.concatenate(passed), minlength=size)
    return int(np.count_nonzero(often == 0)), int(np.maximum(often - 1, 0).sum())


def _with(objects: Objects, port: Port) -> Objects:
    """The objects of the description with another port."""
    ports = tuple(port if each.id == port.id else each for each in objects.description.ports)
    return Objects(replace(objects.description, ports=ports))


def _tilings(tiling: Tiling) -> Iterator[_Made]:
    """Other tilings, each with one number changed or two loops exchanged."""
    for d, size in enumerate(tiling.buffer_dimension):
        tile = tiling.tiling_dimension[d] if d < len(tiling.tiling_dimension) else 1
        if d < len(tiling.offset):
            yield from _numbers(tiling, "offset", d, _offsets(tiling.offset[d], tile, size))
        if tiling.tiling_dimension:
            strides = [each.stride for each in tiling.tile_traversal if each.dimension == d]
            yield from _numbers(tiling, "tiling_dimension", d, [2 * tile, tile // 2, size, *strides])
    for name in ("tiling_dimension", "offset"):
        yield from _exchanged(tiling, name)
    loops = tiling.tile_traversal
    for n, loop in enumerate(loops):
        size = tiling.buffer_dimension[loop.dimension] if loop.dimension < len(tiling.buffer_dimension) else 0
        tile = tiling.tiling_dimension[loop.dimension] if tiling.tiling_dimension else 1
        for stride in dict.fromkeys((tile, 2 * loop.stride, loop.stride // 2)):
            yield from _looped(tiling, n, "stride", loop.stride, replace(loop, stride=stride), stride)
        for wrap in dict.fromkeys(
            (size // max(loop.stride, 1), 2 * loop.wrap, loop.wrap // 2, loop.wrap + 1)
        ):
            if wrap:
                yield from _looped(tiling, n, "wrap", loop.wrap, replace(loop, wrap=wrap), wrap)
    for one, other in combinations(range(len(loops)), 2):
        made = list(loops)
        made[one], made[other] = made[other], made[one]
        order, text = f"{one}, {other}", f"{other}, {one}"
        yield "order of traversals", order, text, replace(tiling, tile_traversal=tuple(made))


def _exchanged(tiling: Tiling, name: str) -> Iterator[_Made]:
    """A list of a tiling with two dimensions in the other order."""
    old: tuple[int, ...] = getattr(tiling, name)
    for one, other in combinations(range(len(old)), 2):
        if old[one] != old[other]:
            new = list(old)
            new[one], new[other] = new[other], new[one]
            yield name, _braced(old), _braced(new), _with_list(tiling, name, new)


def _with_list(tiling: Tiling, name: str, values: Sequence[int]) -> Tiling:
    made: dict[str, Any] = {name: tuple(values)}
    return replace(tiling, **made)


def _offsets(offset: int, tile: int, size: int) -> list[int]:
    """Other places along a dimension: beside it in steps of the tile, of one in bytes, then all of them."""
    every = range(min(-tile, offset), size)
    in_bytes = [offset // each for each in _ELEMENT_BYTES if offset and offset % each == 0]
    rest = every if len(every) <= _MOST_PLACES else every[::tile]
    return [*(offset + by for by in (tile, -tile)), *in_bytes, *rest]


def _numbers(tiling: Tiling, name: str, d: int, values: Sequence[int]) -> Iterator[_Made]:
    """A list of a tiling with another number for a dimension."""
    old: tuple[int, ...] = getattr(tiling, name)
    for value in dict.fromkeys(values):
        if value != old[d] and (value > 0 or name == "offset"):
            new = (*old[:d], value, *old[d + 1 :])
            yield name, _braced(old), _braced(new), _with_list(tiling, name, new)


def _looped(tiling: Tiling, n: int, what: str, old: int, loop: Loop, new: int) -> Iterator[_Made]:
    if new != old:
        loops = (*tiling.tile_traversal[:n], loop, *tiling.tile_traversal[n + 1 :])
        name = f"{what} of dimension {loop.dimension}"
        yield name, str(old), str(new), replace(tiling, tile_traversal=loops)


def _of_kernel(ports: Sequence[Port]) -> Iterator[GraphChange]:
    """Other sizes for the buffers of a kernel: that of its other ports, twice or half the size."""
    sizes = {each.id: prod(each.dimensions) for each in ports}
    for port in ports:
        own, others = sizes[port.id], {size for number, size in sizes.items() if number != port.id}
        odd = [*others] if len(ports) > _PAIR and len(others) == 1 else []
        for size in dict.fromkeys((*odd, 2 * own, own // 2)):
            inner = prod(port.dimensions[:-1])
            if size and size != own and size % inner == 0:
                dimensions = (*port.dimensions[:-1], size // inner)
                unlikely = _ODD if size in odd else _DOUBLE
                old, new = _braced(port.dimensions), _braced(dimensions)
                says = f"set dimensions({port.name}) to {new} instead of {old}"
                target = (port.name, "dimensions", new)
                candidate = Candidate("size", says, (), unlikely, target, place=port.line)
                yield GraphChange(candidate, (replace(port, dimensions=dimensions),))


def _braced(values: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"
