"""The host runtime of the twin for IRON: load, run, device.

Its classes are mixed with those of mlir-aie once that is there; what they use of it is in ``_aie``.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from memtile.errors import MemtileError
from memtile.explain.results import Status
from memtile.hosts.iron.kernel_files import KernelFiles, Options, Run, runner
from memtile.io.program.run import ProgramResult

_NS = 1000  # nanoseconds of a cycle at 1 MHz


def npu_time(done: ProgramResult) -> int:
    """Nanoseconds that the run took on the array, from its cycles."""
    return round(done.result.cycles * _NS / done.result.clock_mhz)


class HandleParts:
    """A kernel that is ready to run.

    Attributes:
        files: of the kernel.
        run: runs it; each run begins with a fresh array.
    """

    def __init__(self, files: KernelFiles, run: Run) -> None:
        self.files, self.run = files, run


class ResultParts:
    """What a run left.

    Attributes:
        done: memtile's result: cycles by cause, who waits for what.
    """

    def __init__(self, done: ProgramResult, trace_config: Any) -> None:
        super().__init__(npu_time(done), trace_config)  # type: ignore[call-arg]
        self.done = done

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

    def load(self, npu_kernel: Any, **_: Any) -> Any:
        """A kernel, read and checked; HostRuntimeError if it cannot run."""
        self.check_device_consistency()
        try:
            files = KernelFiles.of(npu_kernel)
            return self._handle_class(files, runner(files, self.options))
        except MemtileError as error:
            raise self._aie.HostRuntimeError(str(error)) from error

    def run(
        self,
        kernel_handle: Any,
        args: Iterable[Any],
        trace_config: Any = None,
        fail_on_error: bool = True,
        **_: Any,
    ) -> Any:
        """Run a kernel with tensors; HostRuntimeError if it cannot, or does not finish."""
        tensors = self._tensors(args)
        for each in tensors:
            each.to("npu")
        buffers = [each.buffer_object() for each in tensors]
        try:
            ran = kernel_handle.run(buffers)
        except MemtileError as error:
            raise self._aie.HostRuntimeError(str(error)) from error
        for number, array in ran.arrays.items():
            buffers[number][:] = array
        result = self._result_class(ran.done, trace_config)
        if fail_on_error and not result.is_success():
            raise self._aie.HostRuntimeError(_why(ran.done))
        return result

    def _tensors(self, args: Iterable[Any]) -> list[Any]:
        """The tensors among the arguments; functions, which IRON passes on too, are none."""
        tensors = [each for each in args if not callable(each)]
        for each in tensors:
            if not isinstance(each, self._tensor_class):
                says = f"arguments are tensors of memtile; one is a {type(each).__name__}"
                step = "Install memtile before the first tensor is made."
                raise self._aie.HostRuntimeError(f"{says}. {step}")
        return tensors

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


def _why(done: ProgramResult) -> str:
    """Why a run did not come to its end, all that is known."""
    result = done.result
    lines = [done.stopped, *result.unsimulated, *result.errors, *result.waiting]
    head = f"the kernel is {result.status.value} after {result.cycles} cycles"
    return "\n".join([head, *(line for line in lines if line)])
