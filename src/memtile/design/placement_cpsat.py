"""Placement by OR-tools CP-SAT: provably the fewest collisions, when given enough time.

One worker, a fixed seed and a limit in deterministic time make two runs give the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING, Any

from memtile.design.demands import Pair, PlacementTask

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

_SEED = 1


def installed() -> bool:
    """Whether OR-tools can be imported."""
    return find_spec("ortools") is not None


def place_by_cpsat(
    task: PlacementTask, hint: Mapping[int, int], effort: float
) -> tuple[dict[int, int], bool] | None:
    """Starts of all demands and whether they are proven best; None when nothing was found.

    Args:
        task: what to place.
        hint: starts to begin the search with, complete or not.
        effort: limit in CP-SAT's deterministic time, about seconds.
    """
    from ortools.sat.python import cp_model

    program = _IntegerProgram(task)
    for index, start in hint.items():
        program.model.add_hint(program.starts[index], start // task.kind.granule_bytes)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = _SEED
    solver.parameters.max_deterministic_time = effort
    status = solver.solve(program.model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    starts = {i: solver.value(s) * task.kind.granule_bytes for i, s in enumerate(program.starts)}
    return starts, bool(status == cp_model.OPTIMAL)


class _IntegerProgram:
    """The placement as an integer program; places count in granules.

    A variable says that a demand may touch a bank unless it ends before or begins after it, another that a
    pair meets in a bank; their sum is minimised, so neither needs to be forced to zero.
    """

    def __init__(self, task: PlacementTask) -> None:
        from ortools.sat.python import cp_model

        self._task = task
        self.model = cp_model.CpModel()
        self._touch = cache(self._new_touch)
        self.starts = [self._start(index) for index in range(len(task.demands))]
        self.model.add_no_overlap(
            self.model.new_fixed_size_interval_var(start, self._granules(index), f"at{index}")
            for index, start in enumerate(self.starts)
        )
        self.model.minimize(sum(self._meetings()))

    def _granules(self, index: int) -> int:
        return -(-self._task.demands[index].nbytes // self._task.kind.granule_bytes)

    def _start(self, index: int) -> cp_model.IntVar:
        from ortools.sat.python import cp_model

        unit = self._task.kind.granule_bytes
        areas = [[-(-a.start // unit), (a.stop - 1) // unit] for a in self._task.areas[index]]
        return self.model.new_int_var_from_domain(cp_model.Domain.from_intervals(areas), f"start{index}")

    def _reach(self, index: int) -> set[int]:
        """Banks that a demand can touch at all."""
        task = self._task
        return {
            bank
            for area in task.areas[index]
            for bank in range(task.banks(index, area.start).start, task.banks(index, area.stop - 1).stop)
        }

    def _new_touch(self, index: int, bank: int) -> Any:
        """True whenever the demand has a granule in the bank."""
        size = self._task.kind.bank_bytes // self._task.kind.granule_bytes
        before, after, touch = (
            self.model.new_bool_var(f"{w}{index}_{bank}") for w in ("before", "after", "in")
        )
        start = self.starts[index]
        self.model.add(start + self._granules(index) <= bank * size).only_enforce_if(before)
        self.model.add(start >= (bank + 1) * size).only_enforce_if(after)
        self.model.add_bool_or(before, after, touch)
        return touch

    def _meetings(self) -> list[Any]:
        """One variable per bank and pair of channels, true when two demands bring them together there."""
        met: dict[tuple[int, Pair], Any] = {}
        for one, other in combinations(range(len(self.starts)), 2):
            pairs = self._task.meetings(one, other)
            for bank in sorted(self._reach(one) & self._reach(other)) if pairs else ():
                both = (self._touch(one, bank).negated(), self._touch(other, bank).negated())
                for pair in sorted(pairs):
                    key = bank, pair
                    met.setdefault(key, self.model.new_bool_var(f"met{key}"))
                    self.model.add_bool_or(*both, met[key])
        return list(met.values())
