"""``aie.utils.npukernel``: a compiled design that a host program calls."""

from memtile.iron.utils.npuruntime import NPUKernel

__all__ = ["NPUKernel"]
