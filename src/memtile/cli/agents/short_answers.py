"""Results of commands as short answers: what an agent needs, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtile.explain.results import Result

WORDS = 16
"""First words of an output."""


def run_answer(result: Result, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """A run in short: how it ended, what is wrong, where its cycles went, the first words of its outputs."""
    whole = result.as_json()
    kept = ("status", "cycles", "bit_exact", "bytes_per_cycle", "bound", "errors", "unsimulated")
    return {
        "good": result.good,
        **{key: whole[key] for key in kept},
        "findings": whole["findings"],
        "waiting": whole["waiting"],
        "resting": whole["resting"],
        "checks": [check for check in whole["checks"] if not check["exact"]],
        "channels": [without_zeros(channel) for channel in whole["channels"]],
        "cores": [without_zeros(core) for core in whole["cores"]],
        "outputs": {name: _array(array) for name, array in arrays.items()},
        "assumed": whole["assumed"],
        "parameters": whole["parameters"],
    }


def without_zeros(row: Mapping[str, Any]) -> dict[str, Any]:
    """A channel, core or kernel with the causes that it had."""
    spent = row["cycles"] or {}
    left = {key: value for key, value in row.items() if value not in ("", [], None) and key != "cycles"}
    return {**left, "cycles": {cause: cycles for cause, cycles in spent.items() if cycles}}


def _array(array: Any) -> dict[str, Any]:
    flat = array.reshape(-1)
    first = [each if isinstance(each, int | float) else str(each) for each in flat[:WORDS].tolist()]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "first": first}
