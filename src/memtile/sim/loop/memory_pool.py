"""Memory that is used again: a machine takes longer to give new memory than to fill it with words.

What was lent comes back when the last array that looks at it is gone, and is lent again as it is.

An engine that nobody has any more is gone at once. Designs are not: their parts know each other, so Python's
collector has to find them, and it counts objects, not the memory that they hold. Therefore it is called
before another engine is made, when much memory was asked for since.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable
from mmap import PAGESIZE, mmap
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")


class PooledMemory(NamedTuple):
    """Memory of the process.

    Attributes:
        address: of its first byte.
        size: bytes.
        held: whoever keeps it.
    """

    address: int
    size: int
    held: npt.NDArray[np.uint8]


KEPT = 1 << 26  # bytes that wait for being lent again, at most
LONGEST = 1 << 25  # bytes; longer ones are not kept
AREAS = 4  # of small pages that wait for being lent again, of each size or kind
AREAS_IN_ALL = 16  # those of the size or kind that came back longest ago are given up for others

MUCH = 1 << 28  # bytes of new memory after which engines that nobody has are looked for

_asked = [0]  # bytes of new memory since then
_resident = [0]  # bytes of memory that the process had then
_collected = [0]  # how often the collector had gone through all objects then
_free: dict[int, list[PooledMemory]] = {}  # by size
# what is of small pages, by size or by kind, in the order in which they came back
_areas: dict[Hashable, list[Any]] = {}


class _PooledArray:
    """The owner of an array that was lent, as NumPy sees it."""

    def __init__(self, memory: PooledMemory, count: int, dtype: np.dtype[Any]) -> None:
        self._memory = memory
        self.__array_interface__ = {
            "data": (memory.address, False),
            "shape": (count,),
            "typestr": dtype.str,
            "version": 3,
        }

    def __del__(self, free: dict[int, list[PooledMemory]] = _free, kept: int = KEPT) -> None:
        size = self._memory.size
        if size + sum([each * len(waiting) for each, waiting in list(free.items())]) <= kept:
            free.setdefault(size, []).append(self._memory)


def lend(count: int, dtype: Any) -> npt.NDArray[Any]:
    """An array of ``count`` elements, of any values."""
    kind = np.dtype(dtype)
    wanted = count * kind.itemsize
    if wanted > LONGEST:
        note_new(wanted)
        return np.empty(count, dtype)
    size = 1 << max(wanted - 1, 0).bit_length()
    memory = _taken(_free, size)
    if memory is None:
        note_new(size)
        memory = _noted(np.empty(size, np.uint8))
    found = np.asarray(_PooledArray(memory, count, kind))
    return found if found.dtype == kind else found.view(kind)  # those of ml_dtypes have no name in NumPy


def keep(
    kind: Hashable,
    what: Any,
    areas: dict[Hashable, list[Any]] = _areas,
    most: int = AREAS,
    in_all: int = AREAS_IN_ALL,
) -> None:
    """Let something of small pages wait for whoever asks for one of its kind."""
    waiting = areas.pop(kind, [])
    waiting.append(what)  # to the same list: another thread may be about to take from it
    del waiting[most:]
    areas[kind] = waiting
    while sum(map(len, list(areas.values()))) > in_all:
        del areas[next(iter(areas))]


def kept(kind: Hashable) -> Any:
    """One of those that wait, None if none does."""
    return _taken(_areas, kind)


class _Area(_PooledArray):
    """Memory of an array of small pages, which waits for the next one when the array is dropped."""

    def __del__(self, keep: Callable[[Hashable, Any], None] = keep) -> None:  # type: ignore[override]
        keep(self._memory.size, self._memory)


def lend_pages(count: int, dtype: Any) -> tuple[npt.NDArray[Any], bool]:
    """An array of ``count`` elements that takes memory where it is written, and only there: pages are small.

    NumPy asks for large pages; then a word here and there costs the clearing of 2 MB each.

    Returns:
        The array, and whether all of it is zero: it is new.
    """
    size = count * np.dtype(dtype).itemsize
    waited: PooledMemory | None = kept(size)
    memory = _noted(np.frombuffer(mmap(-1, size), np.uint8)) if waited is None else waited
    return np.asarray(_Area(memory, count, np.dtype(dtype))), waited is None


def _noted(held: npt.NDArray[np.uint8]) -> PooledMemory:
    return PooledMemory(int(held.ctypes.data), len(held), held)


def _taken(free: dict[Any, list[T]], kind: Hashable) -> T | None:
    """One of those that wait, None if none does; another thread may be about to take the same."""
    try:
        return free[kind].pop()
    except (KeyError, IndexError):
        return None


def note_new(count: int) -> None:
    """So many bytes of new memory, or of a file, are taken."""
    _asked[0] += count


def make_room() -> None:
    """Give back what engines hold that nobody has any more, if much was taken since the last time.

    What was asked for is less than what they hold: pages that are written later are new memory too, and
    count where the system says what the process has. Nothing happens where the collector is off.
    """
    collections = gc.get_stats()[-1]["collections"]
    if collections != _collected[0]:  # it has been called meanwhile
        _begin(collections)
    if gc.isenabled() and max(_asked[0], resident() - _resident[0]) >= MUCH:
        gc.collect()
        _begin(collections + 1)


def _begin(collections: int) -> None:
    _asked[0], _resident[0], _collected[0] = 0, resident(), collections


def resident() -> int:
    """Bytes of memory that the process has, 0 where the system does not say it so."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGESIZE
    except OSError:
        return 0
