"""Kernels that compute, and the steps that they are said to do whatever the words are.

A run without words takes the steps instead of such kernels, if they alone would need words: then it moves
none, and can be taken from an earlier run.
"""

from __future__ import annotations

from dataclasses import replace
from functools import WRAPPER_ASSIGNMENTS, partial
from types import FunctionType, MethodType

from memtile.errors import DesignError
from memtile.jit.tables import plain
from memtile.model.state.causes import CorePhase
from memtile.runs.machine import Machine
from memtile.sim.kernels.isolation import REACHES
from memtile.sim.kernels.kernel_core import Kernel
from memtile.sim.kernels.listed_actions import KernelStep, listed, steps_of
from memtile.sim.kernels.running_cores import Running
from memtile.sim.loop.engine import OF_CORES

_STEPS = "__timed_by__"
"""Attribute of a kernel: itself and the kernel of its steps. Copied to another function it says nothing."""


def timed_by(kernel: Kernel, *steps: KernelStep) -> Kernel:
    """Return a kernel of which it is known that it does these steps in order, whatever the words are.

    A run with ``data=False`` does the steps and not what the kernel computes, moves no words then, and can be
    taken from an earlier run (``docs/speed.md``). A run with words is as without it. It promises that the
    kernel asks for the same locks and cycles as the steps, in their order, and for nothing else that takes
    time: ``core.read`` and ``core.write`` take none.

    Args:
        kernel: a function that computes; what is returned is a copy, so that each has steps of its own.
        steps: what ``acquire``, ``release``, ``cycles`` and ``loop`` of ``memtile.kernels`` return.

    Raises:
        DesignError: not a function.
    """
    if not callable(kernel):
        step = "Write one such as def kernel(core): yield core.cycles(8)."
        given, allowed = repr(kernel), "a generator function"
        says = f"kernel is {given}; it must be {allowed}"
        where, source = "timed_by", "kernels are Python"
        raise DesignError.of(
            "kernel", given, allowed, says, step, reason="kernel", where=where, source=source
        )
    if steps_of(kernel) is not None:
        return kernel  # its steps are known already
    name = getattr(kernel, "__name__", type(kernel).__name__)
    made = _copy_of(kernel, name)
    noted = made.__func__ if isinstance(made, MethodType) else made  # a method shows what its function has
    setattr(noted, _STEPS, (made, listed(*steps, name=name)))
    return made


def take_steps(machine: Machine) -> None:
    """Have cores do the steps of their kernels, if a run without words needs words for these alone.

    Args:
        machine: that is to run without words.
    """
    engine = machine.engine
    if list(engine.needs_words()) != [OF_CORES] or any(each.compresses for each in machine.hosts):
        return
    phases, found = plain(engine.state.cores).phase, dict[int, Running]()
    for core, running in engine.cores.running.items():
        if steps_of(running.function) is None:
            alone = _steps_beside(running.function)
            begun = phases[core] != CorePhase.NEXT or running.released or running.taken or engine.now
            if alone is None or begun:
                return
            found[core] = replace(running, function=alone, actions=iter(alone(running.core)))
    engine.cores.running.update(found)


def _steps_beside(kernel: Kernel | None) -> Kernel | None:
    """The kernel of the steps that a kernel is said to do; None if nothing is said of it."""
    known: tuple[Kernel | None, Kernel | None] = getattr(kernel, _STEPS, (None, None))
    said, alone = known
    if said is not kernel or alone is None:
        return None
    setattr(alone, REACHES, getattr(kernel, REACHES, None))
    return alone


def _copy_of(kernel: Kernel, name: str) -> Kernel:
    """A kernel that does the same and has the same name, lines and notes, such as those of ``apart``."""
    if isinstance(kernel, MethodType) and isinstance(kernel.__func__, FunctionType):
        return MethodType(_copy_of(kernel.__func__, name), kernel.__self__)
    if isinstance(kernel, FunctionType):
        own = kernel.__code__, kernel.__globals__, name, kernel.__defaults__, kernel.__closure__
        made = FunctionType(*own)
        made.__kwdefaults__ = kernel.__kwdefaults__
        for each in WRAPPER_ASSIGNMENTS:
            setattr(made, each, getattr(kernel, each))
        vars(made).update(vars(kernel))
        return made
    called = partial(kernel)
    vars(called).update({"__name__": name, **getattr(kernel, "__dict__", {})})
    return called
