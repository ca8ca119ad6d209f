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
    if name in ("zeros", "ones", "full", "arange", "rand", "randint", "zeros_like"):
        return getattr(DEFAULT_TENSOR_CLASS, name)
    raise AttributeError(name)


class NPUKernel:
    def __init__(
        self,
        xclbin_path: Path | str | None = None,
        insts_path: Path | str | None = None,
        device_index: int = 0,
        kernel_name: str = "MLIR_AIE",
        trace_config: Any = None,
        num_host_bos: int | None = None,
        elf_path: Path | str | None = None,
    ) -> None:
        self.device_index = device_index
        self.xclbin_path, self.insts_path, self.elf_path = xclbin_path, insts_path, elf_path
        self.kernel_name, self.num_host_bos, self.trace_config = kernel_name, num_host_bos, trace_config

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _DefaultNPURuntime.load_and_run(self, list(args), **kwargs)
