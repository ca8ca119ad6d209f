"""Packages that a browser does not have, and what stands for them there while a design is built.

A design needs little of them before it runs. An error names the package of what a stand-in does not have.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Iterable
from itertools import count
from types import ModuleType
from typing import Any

import numpy as np

_BITS = np.dtype([("bfloat16", np.uint16)])


class _Kind(type):
    """Of a class that is its NumPy type in every comparison, as types of NumPy itself are."""

    def __hash__(cls) -> int:
        return hash(_BITS)

    def __eq__(cls, other: object) -> bool:
        return other is cls or (isinstance(other, np.dtype) and other == _BITS)


class bfloat16(metaclass=_Kind):  # noqa: N801 - name of ml_dtypes
    """The type of ``ml_dtypes``: 16 bits of a number, which are stored and moved, not computed with."""

    dtype = _BITS

    def __new__(cls, value: float = 0) -> Any:
        """A number, rounded to the nearest as ``ml_dtypes`` does, ties to even; NaN stays NaN."""
        bits = int(np.float32(value).view(np.uint32))
        rounded = bits + 0x7FFF + (bits >> 16 & 1) if value == value else bits | 1 << 22
        return np.array([rounded >> 16], np.uint16).view(_BITS)[0]


class _Meta:
    """What annotations of JSON documents say; no document is read or written here."""

    def __init__(self, **_rules: Any) -> None: ...


class _Graph:
    """What routing uses of ``rustworkx.PyDiGraph``: nodes by number, edges with what they lead to."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.after: list[list[tuple[int, Any]]] = []

    def __getitem__(self, node: int) -> Any:
        return self.nodes[node]

    def add_nodes_from(self, values: Iterable[Any]) -> range:
        """The numbers of new nodes."""
        first = len(self.nodes)
        self.nodes += values
        self.after += [[] for _ in range(len(self.nodes) - first)]
        return range(first, len(self.nodes))

    def add_edges_from(self, edges: Iterable[tuple[int, int, Any]]) -> None:
        """Join nodes."""
        for start, end, value in edges:
            self.after[start].append((end, value))


def _shortest(graph: _Graph, start: int, end: int, weight_fn: Callable[[Any], float]) -> dict[int, list[int]]:
    """The cheapest way (Dijkstra) to ``end``, by that number; empty if there is none."""
    before: dict[int, int] = {}
    order = count()  # among equals the first that was found
    rest = [(0.0, next(order), start, start)]
    while rest:
        paid, _, node, came = heapq.heappop(rest)
        if node in before:
            continue
        before[node] = came
        if node == end:
            break
        for following, value in graph.after[node]:
            if following not in before:
                heapq.heappush(rest, (paid + weight_fn(value), next(order), following, node))
    if end not in before:
        return {}
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return {end: way[::-1]}


def _refused(name: str) -> RuntimeError:
    return RuntimeError(f"{name} is not in the browser. Run this with memtile on your computer.")


_HAS: dict[str, dict[str, Any]] = {
    "ml_dtypes": {"bfloat16": bfloat16},
    "msgspec": {"Meta": _Meta},
    "rustworkx": {"PyDiGraph": _Graph, "dijkstra_shortest_paths": _shortest},
}


def install() -> None:
    """Let the packages be imported."""
    for name, has in _HAS.items():
        module = ModuleType(name)
        vars(module).update(has, __getattr__=_absent(name))
        sys.modules[name] = module
    np.repeat = _repeat  # type: ignore[assignment]


def _repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """NumPy takes counts of 64 bits only where its indices have 64 bits; WebAssembly's have 32."""
    return _of_numpy(a, np.asarray(repeats).astype(np.intp), axis)


_of_numpy = np.repeat


def _absent(package: str) -> Any:
    def absent(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _refused(f"{package}.{name}")

    return absent
