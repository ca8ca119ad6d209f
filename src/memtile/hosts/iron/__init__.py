"""The twin as the NPU of IRON programs: a host runtime for mlir-aie, switched on by one line.

``install()`` before the program makes its first tensor, or ``memtile run PROGRAM.py``. The interface is
that of mlir-aie main of 2026-08-14 (``aie.utils.hostruntime``); nothing of mlir-aie is imported before it is
needed. ``docs/mlir.md`` says what runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.hosts.iron.installing import install
    from memtile.hosts.iron.kernel_files import RUNNERS, KernelFiles, Options, Ran, Runner

_HOMES = {
    "KernelFiles": "memtile.hosts.iron.kernel_files",
    "Options": "memtile.hosts.iron.kernel_files",
    "RUNNERS": "memtile.hosts.iron.kernel_files",
    "Ran": "memtile.hosts.iron.kernel_files",
    "Runner": "memtile.hosts.iron.kernel_files",
    "install": "memtile.hosts.iron.installing",
}

__all__ = ["RUNNERS", "KernelFiles", "Options", "Ran", "Runner", "install"]

__getattr__, __dir__ = offer(__name__, _HOMES)
