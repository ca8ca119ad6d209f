"""Data memory of a compute tile: stack, heap, and the buffers around them.

UG1603, AI Engine data memory: stack and heap lie in data memory, 1 KB each by default; the compiler may
compute the heap, and fails when the computed size is larger than the one given explicitly.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memtile.arch.core import DEFAULT_HEAP_BYTES, DEFAULT_STACK_BYTES
from memtile.arch.tiles import COMPUTE
from memtile.design.buffers import Buffer, MemoryMap
from memtile.errors import DesignError, Problem, raise_if

_SOURCE = "UG1603: AI Engine data memory"


class ComputeMap:
    """The 64 KB of one compute tile; stack and heap stand in it like buffers.

    Args:
        stack: stack in bytes.
        heap: heap in bytes as given by the user; None = the default, or the computed size if that is larger.
        heap_computed: heap that the compiler says the program asks for, in bytes; None = not known.
        stack_at: first byte of the stack; None = the lowest free one.
        heap_at: first byte of the heap; None = the lowest free one.

    Raises:
        DesignError: a size that is no positive number of bytes, a heap that is smaller than computed, or a
            stack or heap that does not fit or overlaps.
    """

    def __init__(
        self,
        *,
        stack: int = DEFAULT_STACK_BYTES,
        heap: int | None = None,
        heap_computed: int | None = None,
        stack_at: int | None = None,
        heap_at: int | None = None,
    ) -> None:
        size = max(DEFAULT_HEAP_BYTES, heap_computed or 0) if heap is None else heap
        raise_if([*_sizes(stack, size), *_heap(size, heap_computed)], DesignError)
        self._memory = MemoryMap(COMPUTE)
        wanted = [("stack", stack, stack_at), ("heap", size, heap_at)]
        for name, nbytes, at in sorted(wanted, key=lambda want: want[2] is None):
            self.buffer(name, nbytes, np.uint8, at=at)

    def __repr__(self) -> str:
        used = sum(b.nbytes for b in self.buffers)
        return f"ComputeMap({len(self.buffers)} pieces, {used} of {COMPUTE.memory_bytes} bytes)"

    def __str__(self) -> str:
        return "\n".join(f"{b.offset:#07x}  {b.nbytes:6}  {b.name}" for b in self.buffers)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Stack, heap and buffers in the order of their places."""
        return self._memory.buffers

    def buffer(
        self,
        name: str,
        shape: int | tuple[int, ...],
        dtype: npt.DTypeLike = np.int32,
        *,
        at: int | None = None,
    ) -> Buffer:
        """A buffer at byte ``at``, or at the first free place.

        Args:
            name: for messages and tables.
            shape: NumPy shape, last dimension contiguous.
            dtype: element type.
            at: first byte.

        Raises:
            DesignError: it does not fit, overlaps the stack, the heap or a buffer, or is not whole words.
        """
        size = (shape,) if isinstance(shape, int) else tuple(shape)
        return self._memory.place(name, size, dtype, at=at, bank=None)


def _sizes(stack: int, heap: int) -> list[Problem]:
    return [
        Problem("size", COMPUTE.title, name, f"{nbytes} bytes", "a positive number of bytes", _SOURCE)
        for name, nbytes in (("stack", stack), ("heap", heap))
        if nbytes <= 0
    ]


def _heap(given: int, computed: int | None) -> list[Problem]:
    if computed is None or computed <= given:
        return []
    text, allowed = f"{computed} bytes computed", f"at most the {given} bytes given"
    step = f"give a heap of {computed} bytes, or none"
    return [Problem("heap_size", COMPUTE.title, "heap", text, allowed, _SOURCE, step)]
