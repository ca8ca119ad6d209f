"""``aie.utils.hostruntime.tensor_class``: the class of tensors."""

from memtile.iron.utils.tensors import Tensor

NpuTensor = CPUOnlyTensor = Tensor
"""There is one memory for host and array, and one class."""

__all__ = ["CPUOnlyTensor", "NpuTensor", "Tensor"]
