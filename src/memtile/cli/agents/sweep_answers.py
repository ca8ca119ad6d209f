"""Answers about sweeps: the best variants, the Pareto front, and why others are infeasible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memtile.explore.sweep.row import VariantState
from memtile.runs.options import RunOptions

if TYPE_CHECKING:
    from memtile.explore.sweep.sweep_attempt import Subject

_PARTS = 3
"""Of the time of a sweep: variants begin in the first, and a process may have one that waits for another."""
_LEAST = 0.1  # seconds for a variant


def sweep_answer(
    subject: Subject,
    vary: Mapping[str, str],
    settings: Mapping[str, Any],
    by: str,
    random: tuple[int | None, int],
    of_run: RunOptions,
    seconds: float,
) -> dict[str, Any]:
    """Try the variants of a design; return the best of them, as ``--json`` of the command has them.

    Args:
        subject: a design by its file, or a graph.
        vary: values by name.
        settings: values of what is not varied.
        by: figures, the first of which ranks.
        random: how many variants are tried by chance, and the seed; None = all variants are tried.
        of_run: options of each run.
        seconds: for all of it, at most.

    Raises:
        MemtileError: as :func:`memtile.sweep` raises it.
    """
    from memtile.explore.sweep.sweep import SweepPlan, sweep

    count, seed = random
    plan = SweepPlan(
        strategy="grid" if count is None else "random",
        count=count,
        objectives=by,
        vary=vary,
        set={name: str(value) for name, value in settings.items()},
        seed=seed,
        budget=max(seconds, 0.0) / _PARTS,
        seconds=max(seconds / _PARTS, _LEAST),
        **of_run.changed(),
    )
    found = sweep(subject, plan)
    data = found.as_json()
    rows = {row["key"]: row for row in data.pop("rows")}
    bad = [rows[row.key] for row in found.rows if row.state is not VariantState.GOOD]
    return {
        "good": found.good,
        **data,
        "front": [rows[row.key]["point"] for row in found.front],
        "variants": [rows[row.key] for row in found.ranked],
        "infeasible": bad,
    }
