"""``aie.utils.npukernel``: a compiled design that a host program calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any


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
        from memtile.iron.utils.npuruntime import DefaultNPURuntime  # noqa: PLC0415 - running loads the engine

        return DefaultNPURuntime.load_and_run(self, list(args), **kwargs)


__all__ = ["NPUKernel"]
