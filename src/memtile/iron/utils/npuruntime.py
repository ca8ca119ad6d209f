"""``aie.utils.DefaultNPURuntime``: memtile as the NPU that host programs load designs on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memtile.iron.compiled_design import CompiledDesign, read_compiled
from memtile.iron.running import HostRuntimeError, forget_designs, run_design
from memtile.iron.utils import get_current_device
from memtile.iron.utils.hostruntime import bfloat16_safe_allclose
from memtile.iron.utils.tensors import Tensor

logger = logging.getLogger(__name__)
KERNEL_NAME = "MLIR_AIE"


class NPUKernel:
    """A compiled design: files that a program of IRON wrote with ``--xclbin-path`` and ``--insts-path``.

    Args:
        xclbin_path: of the design; None with ``elf_path``.
        insts_path: of its instructions; None with ``elf_path``.
        device_index: 0: memtile is one device.
        kernel_name: ``MLIR_AIE``, the one kernel of a design.
        trace_config: of the trace; None = no trace.
        num_host_bos: arguments of the host sequence; None = not known.
        elf_path: of a full ELF, design and instructions in one.
    """

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
        self.xclbin_path, self.insts_path, self.elf_path = xclbin_path, insts_path, elf_path
        self.kernel_name, self.trace_config, self.num_host_bos = kernel_name, trace_config, num_host_bos
        self._device_index = device_index

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Load the design and run it with tensors."""
        return DefaultNPURuntime.load_and_run(self, list(args), **kwargs)


class KernelResult:
    """The result of a run.

    Attributes:
        done: memtile's result.
        npu_time: nanoseconds that the array took.
        trace_config: of the trace; None = no trace.
    """

    def __init__(self, done: Any, trace_config: Any = None, *, before: int = 0) -> None:
        self.done, self.trace_config = done, trace_config
        self.npu_time = round((done.result.cycles - before) * 1000 / done.result.clock_mhz)

    def __repr__(self) -> str:
        return f"KernelResult({self.done.result!r})"

    def is_success(self) -> bool:
        """Whether the design finished."""
        return str(self.done.result.status.value) == "finished" and not self.done.result.errors

    def has_trace(self) -> bool:
        """Whether a trace was asked for."""
        return self.trace_config is not None


@dataclass(frozen=True)
class KernelHandle:
    """A design that is loaded.

    Attributes:
        design: what it was compiled from.
        file: that it was read from; empty if it was compiled in this process.
    """

    design: CompiledDesign
    file: str = ""


class HostRuntime:
    """Loads compiled designs and runs them in memtile."""

    def device(self) -> Any:
        """The device that memtile is."""
        return get_current_device()

    def cleanup(self) -> None:
        """Let every design begin anew when it runs next."""
        forget_designs()

    @property
    def npu_str(self) -> str:
        """``npu1`` or ``npu2``."""
        from memtile.iron.utils.compile import resolve_target_arch

        return {"aie2": "npu1", "aie2p": "npu2"}[resolve_target_arch(self.device())]

    def load(self, npu_kernel: NPUKernel, **_: Any) -> KernelHandle:
        """Read the files of a compiled design.

        Raises:
            HostRuntimeError: the design has no kernel of that name.
            InputFileError: the files are missing, or another compiler wrote them.
        """
        if npu_kernel.elf_path is None and npu_kernel.kernel_name != KERNEL_NAME:
            raise HostRuntimeError(
                f"there is no kernel {npu_kernel.kernel_name} in {npu_kernel.xclbin_path}; "
                f"its kernel is {KERNEL_NAME}"
            )
        path = npu_kernel.elf_path if npu_kernel.elf_path is not None else npu_kernel.xclbin_path
        if path is None:
            raise HostRuntimeError("an NPUKernel needs xclbin_path and insts_path, or elf_path")
        return KernelHandle(read_compiled(path, npu_kernel.insts_path), str(Path(path).resolve()))

    def run(
        self,
        kernel_handle: KernelHandle,
        args: Any,
        trace_config: Any = None,
        fail_on_error: bool = True,
        **_: Any,
    ) -> KernelResult:
        """Run a loaded design with tensors; what it writes is in them afterwards.

        Raises:
            HostRuntimeError: the design does not finish, or its arguments do not fit.
        """
        if trace_config is not None:
            raise HostRuntimeError(
                "a host program cannot fill trace_config here: run it without trace_size, memtile has its "
                "own trace"
            )
        done, before = run_design(
            kernel_handle.design, list(args), file=kernel_handle.file, must_finish=fail_on_error
        )
        return KernelResult(done, before=before)

    def load_and_run(
        self, npu_kernel: NPUKernel, run_args: list[Any], **kwargs: Any
    ) -> tuple[KernelHandle, KernelResult]:
        """Load a compiled design and run it."""
        handle = self.load(npu_kernel, **kwargs)
        return handle, self.run(handle, run_args, trace_config=npu_kernel.trace_config)

    def verify_results(
        self, io_args: list[Any], refs: Mapping[int, Any] | None = None, verbosity: int = 0
    ) -> int:
        """How many arguments differ from their references, by their numbers.

        Raises:
            HostRuntimeError: a reference for an argument that is not there.
        """
        wrong = 0
        for number, expected in (refs or {}).items():
            if not 0 <= number < len(io_args):
                raise HostRuntimeError(
                    f"there is a reference for argument {number}, and there are {len(io_args)}"
                )
            given = io_args[number]
            actual = given.numpy() if isinstance(given, Tensor) else np.asarray(given)
            if np.shape(expected) != np.shape(actual):
                raise HostRuntimeError(
                    f"argument {number} has shape {np.shape(actual)}, its reference {np.shape(expected)}"
                )
            wrong += not bfloat16_safe_allclose(actual.dtype, actual, expected)
        return wrong

    def run_test(
        self,
        npu_kernel: NPUKernel,
        io_args: Any,
        ref: Mapping[int, Any] | None = None,
        verify: bool = True,
        verbosity: int = 0,
    ) -> int:
        """Load, run and compare: 0 if all references are met, 1 if one is not."""
        arguments = io_args if isinstance(io_args, list) else [io_args]
        done = self.run(self.load(npu_kernel), arguments, trace_config=npu_kernel.trace_config)
        if verbosity >= 1:
            print(f"npu_time: {done.npu_time / 1000} us")
        wrong = self.verify_results(arguments, ref, verbosity) if verify else 0
        if wrong:
            logger.error("%d of the arguments differ from their references.", wrong)
        return int(wrong > 0)


DefaultNPURuntime = HostRuntime()
"""The one runtime."""

__all__ = [
    "DefaultNPURuntime",
    "HostRuntime",
    "HostRuntimeError",
    "KernelHandle",
    "KernelResult",
    "NPUKernel",
]
