"""Cycles of DSPLib's kernels in a graph, by the published rows of its elements.

The template arguments of a kernel's class say what it works on. Their order is that of the library's own
classes (Vitis Libraries 2024.2, dsp/L1/include/aie). Classes that have no row, and helpers such as tilers,
have no such cost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import log2

from memtile.arch.library_cycles import CycleBand, KernelShape, cycle_band

_LIBRARY = "xf::dsp::aie::"
_CLASS = re.compile(r"(\w+)<(.*)>$")
_TYPES = {
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned int": "uint32",
    "float": "float",
    "bfloat16": "bfloat16",
    "aie::detail::complex_number<short>": "cint16",
    "aie::detail::complex_number<int>": "cint32",
    "aie::detail::complex_number<float>": "cfloat",
}
_PLAIN = (0, 0, 1, 1, 0)

Arguments = Sequence[str]


def library_cycles(object_type: str) -> CycleBand | None:
    """Cycles of a call of a kernel of DSPLib; None for any other kernel.

    Args:
        object_type: class of the kernel object, with its template arguments.
    """
    shape = kernel_shape(object_type)
    return cycle_band(shape) if shape is not None else None


def kernel_shape(object_type: str) -> KernelShape | None:
    """What the class of a kernel of DSPLib says of its calls; None for any other class."""
    found = _CLASS.search(object_type) if object_type.startswith(_LIBRARY) else None
    make = _SHAPES.get(found[1]) if found else None
    return make(_arguments(found[2])) if make and found else None


def _arguments(text: str) -> list[str]:
    """Template arguments, as C++ has them but for the suffixes of numbers."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [re.sub(r"(?<=\d)(?:u|l|ul)$", "", each.strip()) for each in found]


def _number(given: Arguments, at: int) -> int:
    return {"false": 0, "true": 1}[given[at]] if given[at] in ("false", "true") else int(given[at])


def _kernel(
    element: str,
    types: tuple[str, str],
    api: int,
    case: tuple[int, ...],
    work: float,
    items: float,
    chain: int = 1,
) -> KernelShape:
    data, other = (_TYPES.get(each, each) for each in types)
    return KernelShape(element, data, other, api == 1, case, work, items, chain)


def _fir(
    element: str, chain_at: int, reload_at: int, api_at: int, factor_at: int = 0, window_at: int = 5
) -> Callable[[Arguments], KernelShape]:
    """Filters: products of a kernel are outputs x taps; an interpolator has taps / factor for each."""

    def shape(given: Arguments) -> KernelShape:
        taps, window, chain = (_number(given, at) for at in (2, window_at, chain_at))
        factor = _number(given, factor_at) if factor_at else 1
        up, down = (factor, 1) if "interpolate" in element else (1, factor)
        items = window * up / down
        case = (0, min(_number(given, reload_at), 1), up, down, 0)
        work = items * taps / up / chain
        return _kernel(element, (given[0], given[1]), _number(given, api_at), case, work, items, chain)

    return shape


def _half_band(given: Arguments) -> KernelShape:
    taps, window, chain = (_number(given, at) for at in (2, 5, 10))
    case = (0, min(_number(given, 12), 1), 2, 1, 0)
    work = window * (taps + 1) / 4 / chain
    return _kernel(
        "fir_interpolate_hb", (given[0], given[1]), _number(given, 15), case, work, 2 * window, chain
    )


def _tdm(given: Arguments) -> KernelShape:
    taps, window, chain = (_number(given, at) for at in (3, 6, 12))
    return _kernel("fir_tdm", (given[0], given[2]), 0, _PLAIN, window * taps / chain, window, chain)


def _elementwise(
    element: str, sizes: Sequence[int], api_at: int | None, other_at: int = 0, mode_at: int | None = None
) -> Callable[[Arguments], KernelShape]:
    """Each element that a kernel gives is one operation."""

    def shape(given: Arguments) -> KernelShape:
        items = 1
        for at in sizes:
            items *= _number(given, at)
        api = _number(given, api_at) if api_at is not None else 0
        case = (_number(given, mode_at) if mode_at is not None else 0, *_PLAIN[1:])
        return _kernel(element, (given[0], given[other_at]), api, case, items, items)

    return shape


def _bitonic(given: Arguments) -> KernelShape:
    size, frames = _number(given, 1), _number(given, 2)
    stages = log2(size) * (log2(size) + 1) / 2
    return _kernel("bitonic_sort", (given[0], given[0]), 0, _PLAIN, size * frames * stages, size * frames)


def _convolution(given: Arguments) -> KernelShape:
    mode, compute, first, second, chain = (_number(given, at) for at in (3, 4, 5, 6, 12))
    items = (first + second - 1, first, first - second + 1)[compute]
    return _kernel(
        "conv_corr",
        (given[0], given[1]),
        _number(given, 8),
        (mode, *_PLAIN[1:]),
        items * second / chain,
        items,
        chain,
    )


def _dft(given: Arguments) -> KernelShape:
    points, chain, parallel, frames = (_number(given, at) for at in (2, 5, 6, 7))
    work = frames * points * points / (chain * parallel)
    return _kernel("dft", (given[0], given[1]), 0, _PLAIN, work, frames * points / parallel, chain)


def _fft(
    element: str, window_at: int, dynamic_at: int, api_at: int | None = None
) -> Callable[[Arguments], KernelShape]:
    def shape(given: Arguments) -> KernelShape:
        points, window = _number(given, 3), _number(given, window_at)
        api = min(_number(given, api_at), 1) if api_at is not None else 0
        case = (*_PLAIN[:-1], _number(given, dynamic_at))
        return _kernel(element, (given[0], given[2]), api, case, window * log2(points), window)

    return shape


def _matrices(given: Arguments) -> KernelShape:
    rows, inner, columns, chain = (_number(given, at) for at in (15, 16, 17, 19))
    return _kernel(
        "matrix_mult", (given[0], given[1]), 0, _PLAIN, rows * inner * columns, rows * columns, chain
    )


def _matrix_vector(given: Arguments) -> KernelShape:
    rows, columns, frames, chain = (_number(given, at) for at in (2, 3, 7, 8))
    work = rows * columns * frames / chain
    return _kernel("matrix_vector_mul", (given[0], given[1]), 0, _PLAIN, work, rows * frames, chain)


_SHAPES: dict[str, Callable[[Arguments], KernelShape]] = {
    "fir_decimate_asym": _fir("fir_decimate_asym", 11, 12, 15, factor_at=3, window_at=6),
    "fir_interpolate_asym": _fir("fir_interpolate_asym", 11, 12, 15, factor_at=3, window_at=6),
    "fir_sr_asym": _fir("fir_sr_asym", 10, 11, 14),
    "fir_interpolate_hb_asym": _half_band,
    "fir_tdm": _tdm,
    "bitonic_sort": _bitonic,
    "conv_corr": _convolution,
    "dft": _dft,
    "fft_ifft_dit_1ch": _fft("fft_ifft_dit_1ch", 9, 8, api_at=10),
    "mixed_radix_fft": _fft("mixed_radix_fft", 8, 11),
    "matrix_mult": _matrices,
    "matrix_vector_mul": _matrix_vector,
    "fft_window": _elementwise("fft_window", (3,), 5, other_at=1),
    "func_approx": _elementwise("func_approx", (4,), None),
    "sample_delay": _elementwise("sample_delay", (1,), 2),
    "hadamard": _elementwise("hadamard", (2, 3), 5, other_at=1),
    "kronecker": _elementwise("kronecker", (2, 3, 4, 5, 6), 7, other_at=1),
    "outer_tensor": _elementwise("outer_tensor", (2, 3, 4), 6, other_at=1),
    "dds_mixer": _elementwise("dds_mixer_lut", (1,), 4, mode_at=2),
}
