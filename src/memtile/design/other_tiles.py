"""The other tiles of an array: compute tiles and interface tiles."""

from __future__ import annotations

from memtile.arch.core import DEFAULT_STACK_BYTES
from memtile.design.buffers import Buffer
from memtile.design.compute_map import stack_and_heap
from memtile.design.tile import Site, Tile
from memtile.errors import DesignError, Problem
from memtile.sim.kernels import Kernel


class ComputeTile(Tile):
    """A compute tile: 64 KB of data memory, 1 KB each of it for stack and heap; two channels each way.

    Args:
        site: where it is in the array.
    """

    def __init__(self, site: Site) -> None:
        super().__init__(site.bench.device.kind("compute"), site)
        self.reserve()

    @property
    def reserved(self) -> tuple[Buffer, ...]:
        """The bytes of stack and heap."""
        return self._memory.reserved

    def reserve(
        self,
        *,
        stack: int = DEFAULT_STACK_BYTES,
        heap: int | None = None,
        heap_computed: int | None = None,
        stack_at: int | None = None,
        heap_at: int | None = None,
    ) -> None:
        """Say what stack and heap take of the data memory, instead of 1 KB each at its beginning (UG1603).

        Args:
            stack: stack in bytes; 0 = none.
            heap: heap in bytes; None = the default, or the computed size if that is larger; 0 = none.
            heap_computed: heap that the compiler says the program asks for, in bytes; None = not known.
            stack_at: first byte of the stack; None = the lowest free one.
            heap_at: first byte of the heap; None = the lowest free one.

        Raises:
            DesignError: a negative size, a heap that is smaller than computed, or a stack or heap that does
                not fit or overlaps.
        """
        pieces = stack_and_heap(
            self.title,
            stack=stack,
            heap=heap,
            heap_computed=heap_computed,
            stack_at=stack_at,
            heap_at=heap_at,
        )
        self._memory.reserve(pieces)

    def run_kernel(self, kernel: Kernel, *, endless: bool | None = None) -> None:
        """Have the core run a kernel from the next cycle on.

        Args:
            kernel: generator function over a :class:`~memtile.sim.kernels.Core`.
            endless: True = it serves as long as there is work: a run may end while it waits for a lock. False
                = it has to end. None = a kernel in a loop without end (``while True``) may wait for work
                that can still come, see docs/array.md.

        Raises:
            DesignError: no function, or the core runs a kernel that has not ended.
        """
        if not callable(kernel):
            raise DesignError(
                Problem(
                    reason="kernel",
                    where=self.title,
                    field="kernel",
                    given=repr(kernel),
                    allowed="a generator function",
                    source="kernels are Python",
                    next_step="Write one such as def kernel(core): yield core.cycles(8).",
                )
            )
        self.engine.attach_kernel(self.index, kernel, endless=endless)


class InterfaceTile(Tile):
    """An interface tile: two channels each way between the array and external memory.

    Args:
        site: where it is in the array.
    """

    def __init__(self, site: Site) -> None:
        super().__init__(site.bench.device.kind("interface"), site)

    def _is_behind(self, window: str, place: tuple[int, int] | None) -> bool:
        """All interface tiles reach the same external memory; its buffers have no place in the array."""
        return window in self.kind.memory_windows and place is None
