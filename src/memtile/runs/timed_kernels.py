"""Kernels that compute, and the steps that they are said to do whatever the words are.

A run without words takes the steps instead of such kernels, if they alone would need words: then it moves
none, and can be taken from an earlier run.
"""

from __future__ import annotations

from dataclasses import replace

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
        kernel: a function that computes.
        steps: what ``acquire``, ``release``, ``cycles`` and ``loop`` of ``memtile.kernels`` return.
    """
    name = getattr(kernel, "__name__", type(kernel).__name__)
    setattr(kernel, _STEPS, (kernel, listed(*steps, name=name)))
    return kernel


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
