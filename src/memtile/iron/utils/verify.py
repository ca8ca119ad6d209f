"""``aie.utils.verify``: whether a result is right."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_RELATIVE = 0.128  # mlir-aie's own bound for what tables approximate


def nearly_equal(
    a: Any, b: Any, *, rtol: float = _RELATIVE, atol: float | None = None
) -> np.ndarray[Any, Any]:
    """Where ``abs(a - b)`` is below ``max(atol, rtol * (abs(a) + abs(b)))``, or both are equal."""
    left, right = (np.asarray(each, np.float32) for each in (a, b))
    floor = float(np.finfo(np.float32).tiny) if atol is None else atol
    with np.errstate(over="ignore", invalid="ignore"):
        sum_ = np.minimum(np.abs(left) + np.abs(right), np.finfo(np.float32).max)
        return np.asarray((left == right) | (np.abs(left - right) < np.maximum(floor, rtol * sum_)))


def count_mismatches(
    actual: Any,
    ref: Any,
    *,
    rtol: float = _RELATIVE,
    atol: float | None = None,
    stop_at_nonfinite: bool = True,
) -> tuple[int, int]:
    """How many elements differ, and how many were compared: up to the first that is not finite.

    Raises:
        ValueError: they have different shapes.
    """
    left, right = (np.asarray(each, np.float32).ravel() for each in (actual, ref))
    if left.shape != right.shape:
        raise ValueError(f"{left.size} and {right.size} elements cannot be compared")
    finite = np.isfinite(left) & np.isfinite(right)
    count = int(np.argmin(finite)) if stop_at_nonfinite and not finite.all() else left.size
    equal = nearly_equal(left[:count], right[:count], rtol=rtol, atol=atol)
    return int(count - np.count_nonzero(equal)), count


def _passes(actual: Any, expected: Any, rtol: float | None, atol: float | None) -> bool:
    if rtol is None and atol is None:
        return bool(np.array_equal(np.asarray(actual), np.asarray(expected)))
    return count_mismatches(actual, expected, rtol=_RELATIVE if rtol is None else rtol, atol=atol)[0] == 0


def assert_pass(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    fail_msg: str | None = None,
    print_pass: bool = True,
) -> None:
    """Print ``PASS!`` if the result is right: exactly, or within bounds that are given.

    Raises:
        SystemExit: it is wrong.
    """
    if not _passes(actual, expected, rtol, atol):
        sys.exit(f"FAIL! {fail_msg}" if fail_msg is not None else "FAIL!")
    if print_pass:
        print("PASS!")


def assert_close_with_benchmark(
    actual: Any,
    expected: Any,
    *,
    bench: Any,
    ops: float | None = None,
    gflops_fmt: str = ".2f",
    float_rtol: float = 0.05,
    float_atol: float = 0.5,
    fail_msg: str | None = None,
    mismatch_indices: bool = False,
) -> None:
    """Print times, then ``PASS!`` if the result is right: whole numbers exactly, others within bounds.

    Raises:
        SystemExit: it is wrong.
    """
    from memtile.iron.utils.benchmark import print_benchmark

    whole = np.issubdtype(np.asarray(expected).dtype, np.integer)
    if whole and mismatch_indices and not np.array_equal(np.asarray(actual), np.asarray(expected)):
        first = np.argwhere(np.asarray(actual) != np.asarray(expected))[:5].tolist()
        fail_msg = f"{fail_msg or 'output mismatch'} (first mismatches: {first})"
    bounds = {} if whole else {"rtol": float_rtol, "atol": float_atol}
    assert_pass(actual, expected, fail_msg=fail_msg, print_pass=False, **bounds)
    print()
    print_benchmark(bench)
    if ops is not None and bench.npu is not None:
        print(f"NPU GFLOPS                    : {ops / (1000 * bench.npu.avg_us):{gflops_fmt}}")
    print("PASS!")
