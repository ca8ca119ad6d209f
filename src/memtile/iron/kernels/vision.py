"""``aie.iron.kernels.vision``: lines of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.iron.kernels._common import array, bits, kernel


def _line(name: str, file: str, into: int, out: int, use_chess: bool) -> Any:
    types = [array(into, np.uint8), array(out, np.uint8), np.int32]
    return kernel(name, file, types, use_chess=use_chess)


def rgba2hue(line_width: int = 1920, use_chess: bool = False) -> Any:
    """The hue of RGBA."""
    return _line("rgba2hueLine", "rgba2hue.cc", 4 * line_width, line_width, use_chess)


def rgba2gray(line_width: int = 1920, use_chess: bool = False) -> Any:
    """The gray of RGBA."""
    return _line("rgba2grayLine", "rgba2gray.cc", 4 * line_width, line_width, use_chess)


def gray2rgba(line_width: int = 1920, use_chess: bool = False) -> Any:
    """RGBA of gray."""
    return _line("gray2rgbaLine", "gray2rgba.cc", line_width, 4 * line_width, use_chess)


def threshold(line_width: int = 1920, dtype: Any = np.uint8, use_chess: bool = False) -> Any:
    """Compares with a bound."""
    width = bits(dtype, "threshold")
    number = np.int32 if width == 32 else np.int16
    line = array(line_width, dtype)
    types = [line, line, np.int32, number, number, np.int8]
    return kernel("thresholdLine", "threshold.cc", types, [f"-DBIT_WIDTH={width}"], use_chess=use_chess)


def _bitwise(word: str, line_width: int, dtype: Any, use_chess: bool) -> Any:
    width = bits(dtype, f"bitwise_{word.lower()}")
    types = [array(line_width, dtype)] * 3 + [np.int32]
    name = f"bitwise{word}"
    return kernel(f"{name}Line", f"{name}.cc", types, [f"-DBIT_WIDTH={width}"], use_chess=use_chess)


def bitwise_or(line_width: int = 1920, dtype: Any = np.uint8, use_chess: bool = False) -> Any:
    """Or of two lines."""
    return _bitwise("OR", line_width, dtype, use_chess)


def bitwise_and(line_width: int = 1920, dtype: Any = np.uint8, use_chess: bool = False) -> Any:
    """And of two lines."""
    return _bitwise("AND", line_width, dtype, use_chess)


def filter2d(line_width: int = 1920, use_chess: bool = False) -> Any:
    """A filter of 3 x 3 over three lines."""
    types = [array(line_width, np.uint8)] * 4 + [np.int32, array((3, 3), np.int16)]
    return kernel("filter2dLine", "filter2d.cc", types, use_chess=use_chess)


def add_weighted(line_width: int = 1920, dtype: Any = np.uint8, use_chess: bool = False) -> Any:
    """The weighted sum of two lines."""
    width = bits(dtype, "add_weighted")
    types = [array(line_width, dtype)] * 3 + [
        np.int32,
        np.int16,
        np.int16,
        {8: np.int8, 16: np.int16, 32: np.int32}[width],
    ]
    return kernel("addWeightedLine", "addWeighted.cc", types, [f"-DBIT_WIDTH={width}"], use_chess=use_chess)
