"""Kernels: the work of cores, as Python generators that read and write memory and wait for locks.

A kernel is a function of a :class:`Core` that yields :data:`Action`; ``docs/array.md`` shows one.
``memtile.kernels.aie`` has functions that the cores of IRON and mlir-aie designs call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.corelib.cost import kernel
    from memtile.cpp.kernels import CppKernels, cpp
    from memtile.kernels import aie as aie
    from memtile.model.state.causes import CoreCause
    from memtile.runs.timed_kernels import timed_by
    from memtile.sim.kernels.actions import (
        Accesses,
        Action,
        CascadeGet,
        CascadePut,
        EventInstruction,
        LockOperation,
        Pattern,
        StreamGet,
        StreamPut,
        Wait,
    )
    from memtile.sim.kernels.isolation import apart
    from memtile.sim.kernels.kernel_core import Core, Kernel, calls
    from memtile.sim.kernels.listed_actions import (
        KernelStep,
        acquire,
        cycles,
        listed,
        loop,
        release,
    )

_HOMES = {
    "Accesses": "memtile.sim.kernels.actions",
    "Action": "memtile.sim.kernels.actions",
    "CascadeGet": "memtile.sim.kernels.actions",
    "CascadePut": "memtile.sim.kernels.actions",
    "Core": "memtile.sim.kernels.kernel_core",
    "CoreCause": "memtile.model.state.causes",
    "CppKernels": "memtile.cpp.kernels",
    "EventInstruction": "memtile.sim.kernels.actions",
    "Kernel": "memtile.sim.kernels.kernel_core",
    "KernelStep": "memtile.sim.kernels.listed_actions",
    "LockOperation": "memtile.sim.kernels.actions",
    "Pattern": "memtile.sim.kernels.actions",
    "StreamGet": "memtile.sim.kernels.actions",
    "StreamPut": "memtile.sim.kernels.actions",
    "Wait": "memtile.sim.kernels.actions",
    "acquire": "memtile.sim.kernels.listed_actions",
    "apart": "memtile.sim.kernels.isolation",
    "calls": "memtile.sim.kernels.kernel_core",
    "cpp": "memtile.cpp.kernels",
    "cycles": "memtile.sim.kernels.listed_actions",
    "kernel": "memtile.corelib.cost",
    "listed": "memtile.sim.kernels.listed_actions",
    "loop": "memtile.sim.kernels.listed_actions",
    "release": "memtile.sim.kernels.listed_actions",
    "timed_by": "memtile.runs.timed_kernels",
}

__all__ = [
    "Accesses",
    "Action",
    "CascadeGet",
    "CascadePut",
    "Core",
    "CoreCause",
    "CppKernels",
    "EventInstruction",
    "Kernel",
    "KernelStep",
    "LockOperation",
    "Pattern",
    "StreamGet",
    "StreamPut",
    "Wait",
    "acquire",
    "apart",
    "calls",
    "cpp",
    "cycles",
    "kernel",
    "listed",
    "loop",
    "release",
    "timed_by",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES, ("aie",))
