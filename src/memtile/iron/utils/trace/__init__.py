"""``aie.utils.trace``: traces of tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class TraceConfig:
    """What a program wants of a trace.

    Attributes:
        trace_size: in bytes.
        trace_file: where it goes.
    """

    trace_size: int = 0
    trace_file: str = "trace.txt"
    trace_after_last_tensor: bool = False
    enable_ctrl_pkts: bool = False
    last_tensor_shape: Any = None
    last_tensor_dtype: Any = None
    physical_mlir_path: str | None = None


def configure_trace(tiles: list[Any], **_: Any) -> None:
    """Not built yet: a program that asks for a trace is refused.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("a trace is not built here yet: leave trace_size at 0; memtile's own trace needs none")


def start_trace(**_: Any) -> None:
    """Not built yet.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("a trace is not built here yet: leave trace_size at 0")
