"""The host runtime of the twin for IRON: load, run, device.

Its classes are mixed with those of mlir-aie once that is there; what they use of it is in ``_aie``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from memtile.errors import MemtileError
from memtile.explain.results import Status
from memtile.hosts.iron.kernel_arguments import Argument
from memtile.hosts.iron.kernel_files import KernelFiles, KernelRun, Options, Ran, runner
from memtile.runs.program import Run

CONTEXTS = {"npu1": 6, "npu2": 32}
"""Kernels that keep their arrays, by NPU, as mlir-aie's CachedXRTRuntime has it."""
_NS = 1000  # nanoseconds of a cycle at 1 MHz
_NUMBERS = (int, float, np.integer, np.floating)


def npu_time(ran: Ran) -> int:
    """Nanoseconds that a run took on the array, from its cycles."""
    result = ran.done.result
    return round((result.cycles - ran.before) * _NS / result.clock_mhz)


class HandleParts:
    """A kernel that is ready to run, on an array of its own.

    What it leaves in memory, locks and cores is there in its next run, until a run fails or the runtime
    drops it; then the next one begins with a fresh array (DEV-HOST-4).

    Args:
        files: of the kernel.
        options: what all kernels have in common.

    Raises:
        MemtileError: the kernel cannot run.
    """

    def __init__(self, files: KernelFiles, options: Options) -> None:
        self.files, self.options, self.stamp = files, options, files.stamp()
        self._run: KernelRun | None = runner(files, options)

    def run(self, arguments: Sequence[Argument]) -> Ran:
        """Run it with the bytes of tensors, and numbers."""
        self._run = self._run or runner(self.files, self.options)
        return self._run(arguments)

    def drop(self) -> None:
        """Forget the array."""
        self._run = None


class ResultParts:
    """The outcome of a run.

    Attributes:
        done: memtile's result: cycles by cause, who waits for what.
    """

    def __init__(self, ran: Ran, trace_config: Any) -> None:
        super().__init__(npu_time(ran), trace_config)  # type: ignore[call-arg]
        self.done = ran.done

    def is_success(self) -> bool:
        """Whether the host sequence met all its waits, and no error bit is set."""
        return self.done.result.status is Status.FINISHED and not self.done.result.errors


class RuntimeParts:
    """The twin as a host runtime; ``HostRuntime`` says what it offers.

    Args:
        options: what all kernels have in common.
    """

    _aie: Any
    _tensor_class: type[Any]
    _handle_class: type[Any]
    _result_class: type[Any]
    check_device_consistency: Any

    def __init__(self, options: Options) -> None:
        self.options = options
        self._handles: dict[KernelFiles, Any] = {}  # the one that was loaded last is the last

    def load(self, npu_kernel: Any, **_: Any) -> Any:
        """A kernel, read and checked; HostRuntimeError if it cannot run.

        A kernel that is loaded already, and whose files are as they were, keeps its array.
        """
        self.check_device_consistency()
        try:
            files = KernelFiles.of(npu_kernel)
            handle = self._handles.pop(files, None)
            if handle is None or handle.stamp != files.stamp():
                handle = self._handle_class(files, self.options)
        except MemtileError as error:
            raise self._aie.HostRuntimeError(str(error)) from None
        self._handles[files] = handle
        while len(self._handles) > CONTEXTS[self.options.device]:
            self._handles.pop(next(iter(self._handles))).drop()
        return handle

    def run(
        self,
        kernel_handle: Any,
        args: Iterable[Any],
        trace_config: Any = None,
        fail_on_error: bool = True,
        **_: Any,
    ) -> Any:
        """Run a kernel with tensors and numbers; HostRuntimeError if it cannot, or does not finish."""
        arguments = self._arguments(args)
        tensors = {n: each for n, each in enumerate(arguments) if isinstance(each, self._tensor_class)}
        for each in tensors.values():
            each.to("npu")
        buffers = {n: each.buffer_object() for n, each in tensors.items()}
        try:
            ran = kernel_handle.run([buffers.get(n, each) for n, each in enumerate(arguments)])
        except MemtileError as error:
            raise self._aie.HostRuntimeError(str(error)) from None
        for number, array in ran.arrays.items():
            buffers[number][:] = array
        result = self._result_class(ran, trace_config)
        if not result.is_success():
            kernel_handle.drop()
            if fail_on_error:
                raise self._aie.HostRuntimeError(_why(ran.done))
        return result

    def cleanup(self) -> None:
        """Forget the arrays of all kernels."""
        for handle in self._handles.values():
            handle.drop()
        self._handles.clear()

    def evict_context(self, xclbin_path: Path | str) -> None:
        """Forget the arrays of the kernels of an xclbin or a full ELF."""
        path = Path(xclbin_path).resolve()
        for files in [files for files in self._handles if files.main == path]:
            self._handles.pop(files).drop()

    def _arguments(self, args: Iterable[Any]) -> list[Any]:
        """Tensors and numbers among the arguments; functions, which IRON passes on too, are neither."""
        found = [each for each in args if not callable(each)]
        for each in found:
            if not isinstance(each, (self._tensor_class, *_NUMBERS)):
                says = f"arguments are tensors of memtile or numbers; one is a {type(each).__name__}"
                step = "Install memtile before the first tensor is made."
                if isinstance(each, np.ndarray | list | tuple):
                    step = "Make a tensor of it, iron.tensor(...)."
                raise self._aie.HostRuntimeError(f"{says}. {step}")
        return found

    def device(self) -> Any:
        """The NPU as IRON has it, with all its columns."""
        return import_module("aie.iron.device").from_name(self.options.device, n_cols=None)


def runtime_class(aie: Any, tensor: type[Any]) -> type[Any]:
    """The runtime class of the twin.

    Args:
        aie: ``aie.utils.hostruntime.hostruntime``, or what has its names.
        tensor: class of the tensors that it takes.
    """
    parts = {
        "_aie": aie,
        "_tensor_class": tensor,
        "_handle_class": type("MemtileHandle", (HandleParts, aie.KernelHandle), {}),
        "_result_class": type("MemtileResult", (ResultParts, aie.KernelResult), {}),
    }
    return type("MemtileRuntime", (RuntimeParts, aie.HostRuntime), parts)


def _why(done: Run) -> str:
    """Why a run did not come to its end, all that is known."""
    result = done.result
    lines = [done.stopped, *result.unsimulated, *result.errors, *result.waiting]
    head = f"the kernel is {result.status.value} after {result.cycles} cycles"
    return "\n".join([head, *(line for line in lines if line)])
