"""Kernels: what cores do, as Python generators that read and write memory and wait for locks.

A kernel is a function of a :class:`Core` that yields :data:`Action`; ``docs/array.md`` shows one.
``memtile.kernels.aie`` has functions that the cores of IRON and mlir-aie designs call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.corelib.cost import kernel
    from memtile.model.state.causes import CoreCause
    from memtile.sim.actions import (
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
    from memtile.sim.apart import apart
    from memtile.sim.kernel_calls import calls
    from memtile.sim.kernels import Core, Kernel

_HOMES = {
    "Accesses": "memtile.sim.actions",
    "Action": "memtile.sim.actions",
    "CascadeGet": "memtile.sim.actions",
    "CascadePut": "memtile.sim.actions",
    "Core": "memtile.sim.kernels",
    "CoreCause": "memtile.model.state.causes",
    "EventInstruction": "memtile.sim.actions",
    "Kernel": "memtile.sim.kernels",
    "LockOperation": "memtile.sim.actions",
    "Pattern": "memtile.sim.actions",
    "StreamGet": "memtile.sim.actions",
    "StreamPut": "memtile.sim.actions",
    "Wait": "memtile.sim.actions",
    "apart": "memtile.sim.apart",
    "calls": "memtile.sim.kernel_calls",
    "kernel": "memtile.corelib.cost",
}

__all__ = [
    "Accesses",
    "Action",
    "CascadeGet",
    "CascadePut",
    "Core",
    "CoreCause",
    "EventInstruction",
    "Kernel",
    "LockOperation",
    "Pattern",
    "StreamGet",
    "StreamPut",
    "Wait",
    "apart",
    "calls",
    "kernel",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES)
