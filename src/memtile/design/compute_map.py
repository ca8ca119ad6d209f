"""Stack and heap of a compute tile's program, which lie in its data memory beside the buffers.

UG1603, AI Engine data memory: stack and heap lie in data memory, 1 KB each by default; the compiler may
compute the heap, and fails when the computed size is larger than the one given explicitly.
"""

from __future__ import annotations

from memtile.arch.core import DEFAULT_HEAP_BYTES, DEFAULT_STACK_BYTES
from memtile.design.buffers import Reserved
from memtile.errors import DesignError, Problem, raise_if

_SOURCE = "UG1603: AI Engine data memory"


def stack_and_heap(
    where: str,
    *,
    stack: int = DEFAULT_STACK_BYTES,
    heap: int | None = None,
    heap_computed: int | None = None,
    stack_at: int | None = None,
    heap_at: int | None = None,
) -> list[Reserved]:
    """What a program takes of its tile's data memory beside the buffers; see ``ComputeTile.reserve``.

    Raises:
        DesignError: a negative size, or a heap that is smaller than computed.
    """
    size = max(DEFAULT_HEAP_BYTES, heap_computed or 0) if heap is None else heap
    raise_if([*_sizes(where, stack, size), *_heap(where, size, heap_computed)], DesignError)
    return [Reserved("stack", stack, stack_at), Reserved("heap", size, heap_at)]


def _sizes(where: str, stack: int, heap: int) -> list[Problem]:
    return [
        Problem(
            name,
            f"{nbytes} bytes",
            "0 bytes or more",
            f"the {name} is {nbytes} bytes; it must be 0 bytes or more",
            reason="size",
            where=where,
            source=_SOURCE,
        )
        for name, nbytes in (("stack", stack), ("heap", heap))
        if nbytes < 0
    ]


def _heap(where: str, given: int, computed: int | None) -> list[Problem]:
    if computed is None or computed <= given:
        return []
    return [
        Problem(
            "heap",
            f"{computed} bytes computed",
            f"at most the {given} bytes given",
            f"the code needs a heap of {computed} bytes; the heap given has {given}",
            f"Give a heap of {computed} bytes, or none.",
            reason="heap_size",
            where=where,
            source=_SOURCE,
        )
    ]
