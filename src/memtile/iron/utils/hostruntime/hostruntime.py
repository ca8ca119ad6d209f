"""``aie.utils.hostruntime.hostruntime``: the runtime that host programs run designs with."""

from memtile.iron.utils.npuruntime import HostRuntime, HostRuntimeError, KernelHandle, KernelResult

__all__ = ["HostRuntime", "HostRuntimeError", "KernelHandle", "KernelResult"]
