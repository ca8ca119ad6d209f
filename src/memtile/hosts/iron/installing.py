"""Make the twin the NPU of mlir-aie in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Unpack

from memtile.arch.devices import device as find_device
from memtile.hosts.iron.kernel_files import Options
from memtile.hosts.iron.runtime import runtime_class
from memtile.hosts.iron.tensor import tensor_class
from memtile.importers.design_file import functions_of
from memtile.runs.options import USUAL, RunKeywords, RunOptions

_NONE: Mapping[str, Callable[..., Any]] = {}


def install(
    *,
    device: str = "npu1",
    functions: Mapping[str, Callable[..., Any]] | Path | str = _NONE,
    options: RunOptions = USUAL,
    **more: Unpack[RunKeywords],
) -> Any:
    """Make the twin the NPU of mlir-aie: its runtime and its tensors are the default ones from now on.

    Tensors that exist already stay what they are; install before the first one is made.

    Args:
        device: the NPU, ``"npu1"`` or ``"npu2"``.
        functions: that cores call and texts only declare, by name, or a Python file with them.
        options: of every run.
        more: fields of :class:`RunOptions`; they override ``options``.

    Returns:
        The runtime, as ``aie.utils.DefaultNPURuntime`` has it too.

    Raises:
        ImportError: mlir-aie is not installed.
        DesignError: no such device.
        InputFileError: the file of functions cannot be read, is not Python, or fails.
    """
    utils = import_module("aie.utils")
    tensors = import_module("aie.utils.hostruntime.tensor_class")
    runtimes = import_module("aie.utils.hostruntime.hostruntime")
    given = functions_of(Path(functions)) if isinstance(functions, Path | str) else dict(functions)
    tensor = tensor_class(tensors.NpuTensor, tensors.Storage)
    of_runs = RunOptions.of(options, more).changed()
    runtime = runtime_class(runtimes, tensor)(Options(find_device(device).name, given, **of_runs))
    utils.set_tensor_class(tensor)
    # there is no function for it; DefaultNPURuntime looks here
    utils._DefaultNPURuntime = runtime  # type: ignore[attr-defined]
    return runtime
