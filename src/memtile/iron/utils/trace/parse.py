"""``aie.utils.trace.parse``: a recorded trace as Chrome's trace events.

The text of the lowered design (mlir-aie's ``input_physical.mlir``) says which events a trace has, by its
``aiex.npu.write32``. The decoder is that of ``memtile trace decode``, which needs no text with ``--events``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.arch.devices import device as find_device
from memtile.io.trace.decoder import decode
from memtile.io.trace.trace_names import chrome_records, named, unplaced
from memtile.io.trace.trace_setup import TracedUnit, traced_by
from memtile.runs.operations import ArrayShape, Write, address_of

_CONSTANT = re.compile(r"(%[\w#]+) = arith\.constant (-?\d+) : i32")
_WRITE = re.compile(r"aiex?\.npu\.write32\s*(?:\((%[\w#]+), (%[\w#]+)\))?\s*\{([^}]*)\}")
_FIELD = re.compile(r"(\w+) = (-?\d+)")
_DEVICE = re.compile(r"aie\.device\((\w+)\)|AIE\.device\((\w+)\)")
_WORD = (1 << 32) - 1


def parse_trace(trace_buffer: Any, mlir_module_str: str, colshift: int | None = None) -> list[dict[str, Any]]:
    """Chrome's trace events of a trace; their times are cycles since the start event.

    Args:
        trace_buffer: words, whole numbers or hexadecimal text.
        mlir_module_str: text of the lowered design, whose writes set the traced events.
        colshift: columns that the design was loaded further right; None = the least that fits.

    Raises:
        ValueError: the text sets up no trace, or no column fits.
    """
    words = [int(each, 16) if isinstance(each, str) else int(each) & _WORD for each in _listed(trace_buffer)]
    setup = traced_units(mlir_module_str)
    if not setup:
        raise ValueError(
            "the design's text writes no trace register (aiex.npu.write32): give parse_trace the lowered "
            "module, mlir-aie's input_physical.mlir"
        )
    trace = decode(words)
    shift = _shift(setup, [unit.sender.column for unit in trace.units]) if colshift is None else colshift
    units = named(trace, setup, shift)
    if any(unplaced(units, "trace")):
        raise ValueError(
            f"packets of the trace come from tiles that the design does not trace (colshift={shift})"
        )
    return [dict(each) for each in chrome_records(units, None)]


def traced_units(text: str) -> list[TracedUnit]:
    """What the writes of a lowered design set its trace units up to trace."""
    constants = {name: int(value) for name, value in _CONSTANT.findall(text)}
    writes = []
    for address, value, fields in _WRITE.findall(text):
        said = {name: int(number) for name, number in _FIELD.findall(fields)}
        given = said | ({"address": constants[address], "value": constants[value]} if address else {})
        at = given["address"]
        if "column" in given and "row" in given:
            at = address_of(given["column"], given["row"], at)
        writes.append(Write(at, given["value"] & _WORD))
    found = _DEVICE.search(text)
    name = (found[1] or found[2]) if found else "npu1"
    return traced_by(writes, ArrayShape.of(find_device(name)))


def _listed(trace_buffer: Any) -> Sequence[Any]:
    if isinstance(trace_buffer, np.ndarray):
        return list(trace_buffer.reshape(-1).view(np.uint32))
    return list(trace_buffer)


def _shift(setup: Sequence[TracedUnit], columns: Sequence[int]) -> int:
    """Columns between the leftmost tile that is traced and the leftmost one that sent."""
    said = [unit.tile[0] for unit in setup if unit.tile is not None]
    return min(columns, default=0) - min(said, default=0) if columns else 0


__all__ = ["parse_trace", "traced_units"]
