"""The runtime that a backend derives from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np


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

    def load_and_run(self, npu_kernel: Any, run_args: list[Any], **kwargs: Any) -> Any:
        from aie.utils import tensor

        handle, traced = self.load(npu_kernel, **kwargs), npu_kernel.trace_config
        if traced:
            run_args.append(tensor((traced.trace_size,), dtype=np.uint8))
        done = self.run(handle, list(run_args), trace_config=traced)
        if traced:
            traced.write_trace(run_args[-1].numpy().view(np.uint32))
        return handle, done

    def cleanup(self) -> None:
        return

    def evict_context(self, xclbin_path: Any) -> None:
        assert xclbin_path
