"""``aie.utils``: tensors, devices, and running a design."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from memtile.iron.utils.hostruntime import chosen_device, set_current_device
from memtile.iron.utils.tensors import (
    Tensor,
    arange,
    ceildiv,
    full,
    ones,
    rand,
    randint,
    tensor,
    zeros,
    zeros_like,
)

DEFAULT_TENSOR_CLASS = Tensor


def get_current_device(*, probe_runtime: bool = True) -> Any:
    """The device that was chosen, else the NPU that the twin is: what ``MEMTILE_DEVICE`` says, or npu2."""
    if chosen_device() is not None or not probe_runtime:
        return chosen_device()
    import os

    from memtile.iron.device import from_name

    name, _, columns = os.environ.get("MEMTILE_DEVICE", "npu2").partition("_")  # npu2_4col is a part of npu2
    number = columns.removesuffix("col")
    return from_name(name, n_cols=int(number) if number.isdecimal() else None)


def ensure_current_device(*, probe_runtime: bool = True) -> Any:
    """Choose the device that :func:`get_current_device` gives."""
    chosen = chosen_device()
    if chosen is None and probe_runtime:
        set_current_device(chosen := get_current_device())
    return chosen


def set_tensor_class(cls: type[Tensor]) -> None:
    """Refused: the twin has one class of tensors.

    Raises:
        ValueError: it is another class.
    """
    if cls is not Tensor:
        raise ValueError(f"tensors of the twin are {Tensor.__name__}, not {cls.__name__}")


_LAZY = {
    "DefaultNPURuntime": "memtile.iron.utils.npuruntime",
    "HostRuntime": "memtile.iron.utils.npuruntime",
    "NPUKernel": "memtile.iron.utils.npuruntime",
    "TraceConfig": "memtile.iron.utils.trace",
}
"""Names whose modules load the engine, or are rarely used."""


def __getattr__(name: str) -> Any:
    home = _LAZY.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def cleanup_npu_runtime() -> None:
    """Release what the runtime has loaded."""


def _get_default_npu_runtime() -> Any:
    """The runtime, as programs of mlir-aie ask for it."""
    return __getattr__("DefaultNPURuntime")


__all__ = [
    "DefaultNPURuntime",
    "HostRuntime",
    "NPUKernel",
    "Tensor",
    "TraceConfig",
    "arange",
    "ceildiv",
    "cleanup_npu_runtime",
    "ensure_current_device",
    "full",
    "get_current_device",
    "ones",
    "rand",
    "randint",
    "set_current_device",
    "set_tensor_class",
    "tensor",
    "zeros",
    "zeros_like",
]
