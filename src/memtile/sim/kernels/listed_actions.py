"""Kernels whose actions are a list: locks, cycles and loops, with nothing computed between them.

What such a kernel does is known before it runs, and depends neither on words nor on the time. So a run of
designs with no other kernels needs no words, and can be recognised as one that was run before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core, Kernel, Semaphore
from memtile.sim.kernels.kernel_lines import taken

_LIST = "__listed__"
"""Attribute of such a kernel: itself and its steps. Copied to another function it says nothing."""


@dataclass(frozen=True, slots=True)
class LockStep:
    """Acquire or release a lock; see ``Core.acquire`` and ``Core.release``."""

    lock: int | Semaphore
    value: int
    acquires: bool


@dataclass(frozen=True, slots=True)
class CycleStep:
    """Compute for a number of cycles."""

    count: int


@dataclass(frozen=True, slots=True)
class LoopStep:
    """Steps that are done a number of times."""

    times: int
    steps: tuple[KernelStep, ...]


KernelStep = LockStep | CycleStep | LoopStep
"""What :func:`acquire`, :func:`release`, :func:`cycles` and :func:`loop` return, for :func:`listed`."""
_Made = Action | tuple[int, tuple[Any, ...]]  # an action, or how often which others


def acquire(lock: int | Semaphore, value: int = -1) -> LockStep:
    """Return a step that acquires ``lock``; see ``Core.acquire``."""
    return LockStep(lock, value, True)


def release(lock: int | Semaphore, value: int = 1) -> LockStep:
    """Return a step that adds ``value`` to ``lock``; see ``Core.release``."""
    return LockStep(lock, value, False)


def cycles(count: int) -> CycleStep:
    """Return a step that computes for ``count`` cycles, 1 or more."""
    return CycleStep(count)


def loop(times: int, *steps: KernelStep) -> LoopStep:
    """Return steps that are done ``times`` times, one round after another."""
    return LoopStep(times, steps)


def listed(*steps: KernelStep, name: str = "kernel") -> Kernel:
    """Return a kernel that does steps in order and reads and writes no memory.

    It takes the time of a kernel without its work: a run with ``data=False`` moves no words then, and memtile
    can take its outcome from an earlier run (``docs/speed.md``).

    Args:
        steps: what :func:`acquire`, :func:`release`, :func:`cycles` and :func:`loop` return.
        name: of the kernel, for results.
    """

    def kernel(core: Core) -> Iterator[Action]:
        yield from _played(tuple(_made(core, step) for step in steps))

    kernel.__name__ = name
    setattr(kernel, _LIST, (kernel, steps))
    return kernel


def steps_of(kernel: object) -> tuple[KernelStep, ...] | None:
    """The steps of a kernel that :func:`listed` made; None of any other."""
    known: tuple[object, tuple[KernelStep, ...]] = getattr(kernel, _LIST, (None, ()))
    return known[1] if known[0] is kernel and kernel is not None else None


def plain_steps(steps: Iterable[KernelStep], core: int) -> list[Any]:
    """Steps of a kernel as plain data: what decides which actions its core is given.

    Args:
        steps: of the kernel.
        core: model index of the core that runs it.

    Returns:
        For a lock its place, number and operand, for cycles how many the core takes, for a loop its rounds
        and its steps.
    """
    return [_plain(step, core) for step in steps]


def _plain(step: KernelStep, core: int) -> list[Any]:
    if isinstance(step, LoopStep):
        return ["loop", step.times, plain_steps(step.steps, core)]
    if isinstance(step, CycleStep):
        return ["cycles", taken(step.count, core)]
    lock = step.lock
    place, number = (None, lock) if isinstance(lock, int) else (lock.place, lock.id)
    return ["acquire" if step.acquires else "release", place, number, step.value]


def _made(core: Core, step: KernelStep) -> _Made:
    """A step with its action, made once for all of its rounds."""
    if isinstance(step, LoopStep):
        return step.times, tuple(_made(core, each) for each in step.steps)
    action: Action
    if isinstance(step, CycleStep):
        action = core.cycles(step.count)
    else:
        action = (core.acquire if step.acquires else core.release)(step.lock, step.value)
    core.made.remove(action)  # it is yielded later, and again and again
    return action


def _played(made: Sequence[_Made]) -> Iterator[Action]:
    for each in made:
        if isinstance(each, tuple):
            times, steps = each
            for _ in range(times):
                yield from _played(steps)
        else:
            yield each
