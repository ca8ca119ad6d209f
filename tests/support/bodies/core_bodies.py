"""Bodies of cores on their own: MLIR text and arrays in, the arrays as the body leaves them out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np
import numpy.typing as npt

from memtile.arch.core_costs import CoreCosts
from memtile.importers.kernels import body_segments
from memtile.importers.kernels.body import CoreProgram, translate
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text

Array = npt.NDArray[Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
_NAMES = {"bfloat16": "bf16", "float32": "f32", "float64": "f64"}


class _Core:
    """A core of which only the time is asked for."""

    def cycles(self, count: int) -> int:
        return count


def kind_of(array: Array) -> str:
    """The memref that an array is."""
    name = array.dtype.name
    element = _NAMES.get(name) or f"i{8 * array.dtype.itemsize}"
    return f"memref<{''.join(f'{size}x' for size in array.shape)}{element}>"


def text_of(body: str, arrays: Mapping[str, Array], beside: str = "", module: str = "") -> str:
    """A device with a buffer for each array, and a core with the body."""
    buffers = "\n".join(
        f'%{name} = aie.buffer(%c) {{sym_name = "{name}"}} : {kind_of(array)}'
        for name, array in arrays.items()
    )
    return f"""{module}
aie.device(npu1_1col) {{
  %c = aie.tile(0, 2)
  {beside}
  {buffers}
  aie.core(%c) {{
    {body}
    aie.end
  }}
}}"""


def program_of(text: str) -> CoreProgram:
    """What the core of a text becomes."""
    (device,) = devices(read(Text("body.mlir", text)))
    return translate(device, device.cores[0].operation, CoreCosts())


def ran(
    lines: str,
    arrays: Mapping[str, Array],
    *,
    compiled: bool = False,
    beside: str = "",
    module: str = "",
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> dict[str, Array]:
    """Run a body on copies of arrays, by the interpreter, or all of its pieces compiled."""
    program = program_of(text_of(lines, arrays, beside, module))
    calls = {name: _called(function) for name, function in (functions or {}).items()}
    body = program.generator("<body>", {"for_user": lambda array, _: array})
    views = {f"%{name}": array.copy().view(_working(array)) for name, array in arrays.items()}
    with patch.object(body_segments, "COMPILED_FROM", -1), patch.object(body_segments, "ENABLED", compiled):
        actions: Iterator[Any] = body(_Core(), views, {}, {}, calls)
        for _ in actions:
            pass
    return {name: views[f"%{name}"].view(array.dtype) for name, array in arrays.items()}


def _called(function: Callable[..., Any]) -> Callable[..., Generator[None, None, tuple[Any, int]]]:
    """A function as the body calls it: actions, of which there are none, then its answer and its cycles."""

    def called(*given: Any) -> Generator[None, None, tuple[Any, int]]:
        yield from ()
        return function(*given), 0

    return called


def _working(array: Array) -> np.dtype[Any]:
    if array.dtype == BF16:
        return np.dtype(np.uint16)
    return np.dtype(f"int{8 * array.dtype.itemsize}") if array.dtype.kind in "ub" else array.dtype


def each(body: str, size: int) -> str:
    """A loop over so many places ``%i``, whose piece is compiled or interpreted as one."""
    return f"""%zero = arith.constant 0 : index
    %size = arith.constant {size} : index
    %one = arith.constant 1 : index
    scf.for %i = %zero to %size step %one {{
      {body}
    }}"""
