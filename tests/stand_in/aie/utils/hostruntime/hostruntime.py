"""The runtime that a backend derives from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class HostRuntimeError(Exception):
    pass


class KernelHandle(ABC):  # noqa: B024 (as mlir-aie has it)
    pass


class KernelResult(ABC):
    def __init__(self, npu_time: int, trace_config: Any = None) -> None:
        self.npu_time, self.trace_config = npu_time, trace_config

    @abstractmethod
    def is_success(self) -> bool: ...


class HostRuntime(ABC):
    def check_device_consistency(self) -> None:
        assert self.device() is not None

    @abstractmethod
    def load(self, npu_kernel: Any, **kwargs: Any) -> Any: ...

    @abstractmethod
    def run(self, kernel_handle: Any, args: Any, **kwargs: Any) -> Any: ...

    @abstractmethod
    def device(self) -> Any: ...
