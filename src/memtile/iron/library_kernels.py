"""Kernels whose C++ source is not on this machine: functions of memtile's library stand in for them.

A kernel is built with macros, and some change what it computes. The library follows those that it knows; a
kernel that is built with another one is refused, since its function might be a different one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from memtile.errors import InputFileError
from memtile.iron.compiled_design import KernelSource

_COLUMNS = ("B_COL_MAJ", "C_COL_MAJ")
_SHOWN = re.compile(
    r"DIM_[MKN]|BIT_WIDTH|U?INT(8|16)_ACT|\w+_ONLY|SCALAR|REGULAR|UNSIGNED_SKIP|STRIDE[12]|STRIDE1_OUT_SPLIT"
    r"|POSTL2_PAD|BN\d+(_\w+)?|CONV_XYPOOL_FUSED_LARGE_PADDED|OPT_PERF_ENABLED"
)
"""Macros of ``aie_kernels`` (mlir-aie, 2026-08-14) that select a function by its name, or repeat what the
types of its arguments say; ``OPT_PERF_ENABLED`` changes the schedule of a loop."""


def library_kernel(kernel: KernelSource, device: str) -> dict[str, Any]:
    """The library's function for a kernel, by the kernel's name; empty if the library has none.

    Args:
        kernel: whose source is not there.
        device: that the design is for.

    Raises:
        InputFileError: the kernel is built with a macro whose effect the library does not have.
    """
    from memtile.corelib.library import library  # slow to load, and most designs have their sources

    if kernel.function not in (plain := library(device)):
        return {}
    own = set(plain[kernel.function].entry.defines.values())
    columns: set[str] = set()
    defines: dict[str, int] = {}
    for macro, value in _macros(kernel.flags):
        if macro in _COLUMNS and value is not None:
            columns.add(macro)
        elif macro in own and (value or "").isdecimal():
            defines[macro] = int(str(value))
        elif value is None or not _SHOWN.fullmatch(macro):
            raise InputFileError(_refusal(kernel, f"-D{macro}" if value is not None else f"-U{macro}"))
    b_columns, c_columns = (macro in columns for macro in _COLUMNS)
    found = library(device, b_columns=b_columns, c_columns=c_columns, defines=defines)
    return {kernel.name: found[kernel.function]}


def _macros(flags: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Macros of a compiler's options with their values; 1 where none is given, None where it is undefined."""
    words = iter(flags)
    for word in words:
        kind, text = word[:2], word[2:]
        if kind in ("-D", "-U"):
            name, given, value = (text or next(words, "")).partition("=")
            yield name.strip(), None if kind == "-U" else value if given else "1"


def _refusal(kernel: KernelSource, option: str) -> str:
    return (
        f"{kernel.file}: the source of kernel {kernel.function} is not there, and the kernel is built with "
        f"{option}, which memtile's library function {kernel.function} does not follow. Set MEMTILE_MLIR_AIE "
        f"to the folder of a clone of mlir-aie, or give the ExternalFunction a source_file that exists: its "
        f"C++ source is then compiled with the option."
    )


__all__ = ["library_kernel"]
