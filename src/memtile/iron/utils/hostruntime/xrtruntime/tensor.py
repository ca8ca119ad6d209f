"""``aie.utils.hostruntime.xrtruntime.tensor``: the class of tensors."""

from memtile.iron.utils.tensors import Tensor

XRTTensor = Tensor

__all__ = ["XRTTensor"]
