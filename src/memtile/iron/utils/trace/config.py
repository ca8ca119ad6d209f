"""``aie.utils.trace.config``: what a program wants of a trace, and its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.output_files import write_output


class TraceConfig:
    """What a program wants of a trace.

    Args:
        trace_size: in bytes.
        trace_file: where the words of the trace go, one hexadecimal word a line.
        reuse_output_buffer: the trace is behind the last output, else in a buffer of its own.
        enable_ctrl_pkts: control packets are used too.
        last_tensor_shape: of the last output.
        last_tensor_dtype: of its elements.

    Raises:
        ValueError: the size is not above 0.
    """

    DEFAULT_TRACE_FILE: ClassVar[str] = "trace.txt"

    def __init__(
        self,
        trace_size: int,
        trace_file: str = DEFAULT_TRACE_FILE,
        reuse_output_buffer: bool = False,
        enable_ctrl_pkts: bool = False,
        last_tensor_shape: Any = None,
        last_tensor_dtype: Any = None,
    ) -> None:
        if trace_size <= 0:
            raise ValueError(f"Invalid trace size: {trace_size}; it is in bytes and above 0")
        self.trace_size, self.trace_file = trace_size, trace_file
        self.reuse_output_buffer, self.enable_ctrl_pkts = reuse_output_buffer, enable_ctrl_pkts
        self.last_tensor_shape, self.last_tensor_dtype = last_tensor_shape, last_tensor_dtype
        self.physical_mlir_path: str | None = None

    def __repr__(self) -> str:
        given = [f"trace_size={self.trace_size}"]
        if self.trace_file != self.DEFAULT_TRACE_FILE:
            given.append(f"trace_file={self.trace_file!r}")
        given += [
            f"{name}=True" for name in ("reuse_output_buffer", "enable_ctrl_pkts") if getattr(self, name)
        ]
        return f"TraceConfig({', '.join(given)})"

    def __str__(self) -> str:
        names = ("physical_mlir_path", "last_tensor_shape", "last_tensor_dtype")
        found = [f"{name}={getattr(self, name)}" for name in names if getattr(self, name) is not None]
        return "\n  ".join([repr(self), *found])

    def write_trace(self, trace: Any) -> None:
        """Write the words of a trace to its file, without the zeros at the end."""
        words = np.trim_zeros(np.asarray(trace).reshape(-1).view(np.uint32), "b")
        write_output(Path(self.trace_file), "\n".join(f"{int(word):08x}" for word in words))

    def read_trace(self) -> npt.NDArray[np.uint32]:
        """The words of the file, with zeros up to the trace's size."""
        lines = Path(self.trace_file).read_text().split()
        words = np.array([int(line, 16) for line in lines], np.uint32)
        return np.pad(words, (0, max(0, self.trace_size // WORD_BYTES - words.size)))

    def trace_to_json(
        self, mlir_file: str, output_name: str = "trace.json", colshift: int | None = None
    ) -> None:
        """Write the trace of the file as Chrome's trace events.

        Args:
            mlir_file: the lowered design.
            output_name: file that is written.
            colshift: columns that the design was loaded further right; None = the least that fits.
        """
        from memtile.iron.utils.trace.parse import parse_trace

        records = parse_trace(self.read_trace(), Path(mlir_file).read_text(), colshift)
        write_output(Path(output_name), "[" + ",\n".join(map(json.dumps, records)) + "]\n")
