"""Places for kernels where placing one after the other leaves some without: OR-tools CP-SAT.

One worker, a fixed seed and a limit in deterministic time make two runs give the same places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from memtile.adf.plan import Tile
from memtile.adf.sites import Apart
from memtile.arch.core import CASCADE_STEPS

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

_SEED = 1
_EFFORT = 20.0  # CP-SAT's deterministic time, about seconds
_STEPS = (CASCADE_STEPS["east"], CASCADE_STEPS["south"])


def places(
    domains: Mapping[int, Sequence[Tile]],
    chains: Sequence[Sequence[int]],
    aparts: Sequence[Apart],
    base: int,
) -> dict[int, Tile] | None:
    """A core for every kernel, close to a column; None = there is none, or none was found in time.

    Args:
        domains: kernel -> cores where it may lie; one for a kernel that has its place.
        chains: kernels that cascades join, each from its head.
        aparts: kernels at fixed steps from others.
        base: the column.
    """
    from ortools.sat.python import cp_model

    program = _Program(domains)
    program.one_core_each()
    for chain in chains:
        for one, other in pairwise(chain):
            program.cascade(one, other)
    for apart in aparts:
        program.step(apart)
    program.model.minimize(
        sum(abs(spot[0] - base) * at for at_kernel in program.at.values() for spot, at in at_kernel.items())
    )
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = _SEED
    solver.parameters.max_deterministic_time = _EFFORT
    if solver.solve(program.model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return {
        kernel: next(s for s, at in spots.items() if solver.value(at)) for kernel, spots in program.at.items()
    }


class _Program:
    """A truth value for every kernel and core; ``at[kernel][core]`` says that it lies there."""

    def __init__(self, domains: Mapping[int, Sequence[Tile]]) -> None:
        from ortools.sat.python import cp_model

        self.model = cp_model.CpModel()
        self.at: dict[int, dict[Tile, cp_model.IntVar]] = {
            kernel: {spot: self.model.new_bool_var(f"{kernel}@{spot}") for spot in spots}
            for kernel, spots in domains.items()
        }

    def one_core_each(self) -> None:
        """Every kernel has a core, every core at most one kernel."""
        for spots in self.at.values():
            self.model.add_exactly_one(spots.values())
        for spot in dict.fromkeys(spot for spots in self.at.values() for spot in spots):
            self.model.add_at_most_one(spots[spot] for spots in self.at.values() if spot in spots)

    def cascade(self, one: int, other: int) -> None:
        """A kernel lies east or south of another."""
        for spot, here in self.at[one].items():
            self.model.add_bool_or([here.negated(), *self._near(other, spot, _STEPS)])

    def step(self, apart: Apart) -> None:
        """A kernel lies at a fixed step from another."""
        for spot, here in self.at[apart.other].items():
            self.model.add_bool_or([here.negated(), *self._near(apart.kernel, spot, (apart.step,))])

    def _near(self, kernel: int, spot: Tile, steps: Sequence[Tile]) -> Iterator[cp_model.IntVar]:
        for column, row in steps:
            there = self.at[kernel].get((spot[0] + column, spot[1] + row))
            if there is not None:
                yield there
