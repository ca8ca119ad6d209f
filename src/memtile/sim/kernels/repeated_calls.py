"""Kernels that call a function again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.isolation import REACHES, keeps_apart, known_to_reach
from memtile.sim.kernels.kernel_core import Core, Kernel


def calls(
    function: Callable[[Core], None],
    *,
    acquire: Sequence[tuple[int, int]] = (),
    release: Sequence[tuple[int, int]] = (),
    cycles: int,
    times: int | None = None,
) -> Kernel:
    """A kernel that calls a function again and again.

    Args:
        function: reads and writes memory; called at the end of its cycles. If it keeps to itself, see
            ``isolation.apart``, so does the kernel.
        acquire: locks of the own tile and operands, in order, before each call.
        release: locks of the own tile and changes, in order, after each call.
        cycles: what a call takes between the last acquire and the first release.
        times: how often; None = without end.
    """

    def call(core: Core) -> Iterator[Action]:
        yield from [core.acquire(lock, value) for lock, value in acquire]
        yield core.cycles(cycles)
        function(core)
        yield from [core.release(lock, value) for lock, value in release]

    def kernel(core: Core) -> Iterator[Action]:
        if times is None:
            while True:
                yield from call(core)
        for _ in range(times):
            yield from call(core)

    kernel.__name__ = getattr(function, "__name__", "kernel")
    if keeps_apart(function):
        known_to_reach(kernel, getattr(function, REACHES))
    return kernel
