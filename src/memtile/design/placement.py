"""Place buffers in banks so that channels that run together meet in as few banks as possible.

In linear mode a bank holds a block of addresses and does one access per cycle (AM020 chapter 5), so two
channels that work on different buffers of one bank take turns. The readers and writers of one buffer are not
counted against each other: locks keep them apart in time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, get_args

from memtile.arch.tiles import MEMORY, TileKind
from memtile.design.demands import Demand, Plan, Task, concurrent, make_plan
from memtile.design.placement_check import channel_problems, demand_problems, room_problems, usable_windows
from memtile.design.placement_cpsat import installed, place_by_cpsat
from memtile.design.placement_greedy import place_greedily
from memtile.errors import DesignError, Problem, raise_if

Solver = Literal["auto", "cp-sat", "greedy"]

EFFORT = 5.0
"""Default limit of the search, in CP-SAT's deterministic time; about seconds."""


def place_buffers(
    demands: Sequence[Demand],
    together: Sequence[Collection[str]] | None = None,
    *,
    windows: Sequence[str] = ("own",),
    interleaved: bool = False,
    solver: Solver = "auto",
    effort: float = EFFORT,
    kind: TileKind = MEMORY,
) -> Plan:
    """A place for every buffer, with as few collisions as the solver finds.

    Args:
        demands: the buffers.
        together: groups of channels that run at the same time; None = all of them do.
        windows: memories that may be used; add ``"west"`` and ``"east"`` where the tile has neighbours.
        interleaved: the tile's bank mode; True = placement cannot change who meets whom.
        solver: ``"auto"`` takes CP-SAT when it is installed and the greedy placement has collisions or fails.
        effort: limit of the CP-SAT search in deterministic time, about seconds.
        kind: tile kind, for its windows, banks and sizes.

    Raises:
        DesignError: every demand that contradicts the tile or another one, or all that do not fit, with the
            bytes that are missing and the largest gap; or CP-SAT is asked for and not installed.
    """
    groups = [{c for d in demands for c in d.channels}] if together is None else together
    problems = [
        *_solver_problems(solver),
        *demand_problems(demands, windows, kind),
        *channel_problems([*groups, *(d.channels for d in demands)], kind),
    ]
    raise_if(problems, DesignError)
    areas = tuple(tuple(filter(len, _areas(d, windows, kind))) for d in demands)
    task = Task(kind, tuple(demands), areas, frozenset() if interleaved else concurrent(groups))
    starts, used, optimal = _solve(task, solver, effort, windows)
    return make_plan(task, starts, interleaved=interleaved, solver=used, optimal=optimal)


def _solve(
    task: Task, solver: Solver, effort: float, windows: Sequence[str]
) -> tuple[Mapping[int, int], str, bool]:
    """Starts, the solver that found them, and whether they are proven best."""
    starts, left = place_greedily(task)
    cost = len(task.collisions(starts))
    wanted = solver == "cp-sat" or (solver == "auto" and installed() and (left or cost))
    found = place_by_cpsat(task, starts, effort) if wanted and all(task.areas) else None
    if found and (left or len(task.collisions(found[0])) <= cost):
        return found[0], "cp-sat", found[1]
    raise_if(room_problems(task, starts, left, windows), DesignError)
    return starts, "greedy", cost == 0


def _solver_problems(solver: Solver) -> list[Problem]:
    usable = [name for name in get_args(Solver) if name != "cp-sat" or installed()]
    problem = Problem(
        "solver",
        repr(solver),
        " or ".join(usable),
        next_step="" if installed() else 'OR-tools is not installed: pip install "ortools".',
        reason="solver",
        where="placement",
        source="OR-tools CP-SAT",
    )
    return [] if solver in usable else [problem]


def _areas(demand: Demand, windows: Sequence[str], kind: TileKind) -> Iterator[range]:
    """Where a demand may begin, own window first."""
    for window in sorted(usable_windows(demand, windows, kind), key=lambda name: name != "own"):
        first = kind.memory_windows[window]
        last = first + kind.memory_bytes - demand.nbytes
        if demand.at is not None:
            yield range(first + demand.at, first + demand.at + 1)
        elif demand.bank is not None:
            begin = first + demand.bank * kind.bank_bytes
            yield range(begin, min(begin + kind.bank_bytes, last + 1))
        else:
            yield range(first, last + 1)
