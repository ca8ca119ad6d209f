"""The default runtime, the default tensors, and kernels that run on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_DefaultNPURuntime: Any = None
DEFAULT_TENSOR_CLASS: Any = None


def set_tensor_class(cls: type[Any]) -> None:
    from aie.utils.hostruntime.tensor_class import NpuTensor

    global DEFAULT_TENSOR_CLASS
    if not issubclass(cls, NpuTensor):
        raise ValueError(cls)
    DEFAULT_TENSOR_CLASS = cls


def tensor(*args: Any, **kwargs: Any) -> Any:
    return DEFAULT_TENSOR_CLASS(*args, **kwargs)


def __getattr__(name: str) -> Any:
    if name == "DefaultNPURuntime":
        return _DefaultNPURuntime
    raise AttributeError(name)


class NPUKernel:
    def __init__(
        self,
        xclbin_path: Path | str | None = None,
        insts_path: Path | str | None = None,
        kernel_name: str = "MLIR_AIE",
        num_host_bos: int | None = None,
        elf_path: Path | str | None = None,
    ) -> None:
        self.xclbin_path, self.insts_path, self.elf_path = xclbin_path, insts_path, elf_path
        self.kernel_name, self.num_host_bos = kernel_name, num_host_bos

    def __call__(self, *args: Any) -> Any:
        handle = _DefaultNPURuntime.load(self)
        return _DefaultNPURuntime.run(handle, list(args))
