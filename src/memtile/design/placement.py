"""Place buffers in banks so that channels that run together meet in as few banks as possible.

In linear mode a bank holds a block of addresses and does one access per cycle (AM020 chapter 5), so two
channels that work on different buffers of one bank take turns. The readers and writers of one buffer are not
counted against each other: locks keep them apart in time.

It also has greedy placement: the largest buffers first, each where it adds the fewest collisions.

Deterministic, milliseconds for a full tile. Not always the best; ``placement_cpsat`` is.

It also says what is wrong with a placement before it is tried, and what lacked room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, get_args

from memtile.arch.tiles import DIRECTIONS, MEMORY, WORD_BYTES, TileKind
from memtile.design.demands import Demand, Pair, PlacementTask, Plan, concurrent, make_plan
from memtile.design.placement_cpsat import installed, place_by_cpsat
from memtile.errors import DesignError, Problem, raise_if

_MEMORY = "AM020 chapter 5: memory tile memory"
_REACH = "AM020 chapter 5: channels 0-3 reach the neighbours"
_WINDOWS = "AM020 chapter 5: west, own and east memory"


def usable_windows(demand: Demand, windows: Sequence[str], kind: TileKind) -> list[str]:
    """Windows in which a demand may lie: the one it names, or all that its channels reach."""
    if demand.window or demand.at is not None:
        return [demand.window or "own"]
    return [w for w in windows if w == "own" or not _out_of_reach(demand, kind)]


def demand_problems(demands: Sequence[Demand], windows: Sequence[str], kind: TileKind) -> Iterator[Problem]:
    """Everything that contradicts the tile, or another demand, in the order of the demands."""
    names = Counter(demand.name for demand in demands)
    for window in windows:
        if window not in kind.memory_windows:
            yield Problem(
                "windows",
                window,
                " or ".join(kind.memory_windows),
                f"one of the windows is {window}; it must be {' or '.join(kind.memory_windows)}",
                reason="window",
                where="placement",
                source=_WINDOWS,
            )
    for name, count in names.items():
        if count > 1:
            yield Problem(
                "name",
                f"{count} buffers",
                "one",
                f"{count} buffers have this name; there must be one",
                reason="name",
                where=_where(name),
                source="names tell buffers apart",
            )
    for demand in demands:
        yield from _own_problems(demand, windows, kind)
    yield from _overlaps([d for d in demands if d.at is not None])


def channel_problems(groups: Sequence[Collection[str]], kind: TileKind) -> list[Problem]:
    """Channels that the tile does not have."""
    unknown = sorted({c for group in groups for c in group} - _channels(kind).keys())
    last = kind.channels - 1
    return [
        Problem(
            "channel",
            c,
            f"S2MM 0..{last} and MM2S 0..{last}",
            f"the tile has no channel {c}; it has S2MM 0..{last} and MM2S 0..{last}",
            reason="channel",
            where="placement",
            source="AM020: DMA channels",
        )
        for c in unknown
    ]


def room_problems(
    task: PlacementTask, starts: Mapping[int, int], left: Sequence[int], windows: Sequence[str]
) -> list[Problem]:
    """One problem per demand that found no room, with the bytes that are missing."""
    asked = sum(task.demands[index].nbytes for index in left)
    problems = []
    for index in left:
        demand = task.demands[index]
        free = [len(gap) for span in _spans(demand, windows, task.kind) for gap in gaps(task, starts, span)]
        largest = max(free, default=0)
        allowed = f"{largest} bytes (the largest gap where it may lie)"
        step = f"{max(demand.nbytes - largest, 0)} bytes are missing{_wider(task, index)}."
        if len(left) > 1:
            step += f" {len(left)} buffers of {asked} bytes found no room."
        problems.append(
            Problem(
                "size",
                f"{demand.nbytes} bytes",
                allowed,
                f"the buffer has {demand.nbytes} bytes; the largest gap where it may lie has {largest}",
                step,
                reason="buffer_fit",
                where=_where(demand.name),
                source=_MEMORY,
            )
        )
    return problems


def _spans(demand: Demand, windows: Sequence[str], kind: TileKind) -> Iterator[range]:
    """The memory in which a demand may lie, from its first possible byte on."""
    skipped = (demand.bank or 0) * kind.bank_bytes + (demand.at or 0)
    for window in usable_windows(demand, windows, kind):
        first = kind.memory_windows[window]
        yield range(first + skipped, first + kind.memory_bytes)


def _own_problems(demand: Demand, windows: Sequence[str], kind: TileKind) -> Iterator[Problem]:
    where = _where(demand.name)
    if demand.nbytes <= 0 or demand.nbytes % WORD_BYTES:
        yield Problem(
            "size",
            f"{demand.nbytes} bytes",
            "a positive number of whole 32-bit words",
            reason="size",
            where=where,
            source=_MEMORY,
        )
    if demand.window is not None and demand.window not in windows:
        yield Problem(
            "window", demand.window, " or ".join(windows), reason="window", where=where, source=_WINDOWS
        )
    elif demand.window not in (None, "own") and (short := _out_of_reach(demand, kind)):
        yield Problem(
            "window",
            f"{demand.window} for {', '.join(short)}",
            "own",
            f"window is {demand.window}, but {', '.join(short)} {'reach' if short[1:] else 'reaches'} "
            "the own window only",
            reason="reach",
            where=where,
            source=_REACH,
        )
    if demand.at is not None and demand.bank is not None:
        yield Problem(
            "place",
            "at and bank",
            "one of them",
            "both at and bank say where the buffer is",
            "Leave out bank.",
            reason="place",
            where=where,
            source="at alone says where it is",
        )
    if demand.bank is not None and not 0 <= demand.bank < kind.banks:
        yield Problem(
            "bank", str(demand.bank), f"0..{kind.banks - 1}", reason="bank", where=where, source=_MEMORY
        )
    if demand.at is not None:
        yield from _fixed_problems(demand, demand.at, kind)


def _fixed_problems(demand: Demand, at: int, kind: TileKind) -> Iterator[Problem]:
    where = _where(demand.name)
    if at % kind.granule_bytes:
        yield Problem(
            "at",
            f"{at:#x}",
            f"a multiple of {kind.granule_bytes:#x}",
            reason="alignment",
            where=where,
            source="AM020 chapter 5: 128-bit memory access",
        )
    if at < 0 or at + demand.nbytes > kind.memory_bytes:
        yield Problem(
            "at",
            f"bytes {at:#x}..{at + demand.nbytes - 1:#x}",
            f"0x0..{kind.memory_bytes - 1:#x}",
            f"the buffer takes bytes {at:#x}..{at + demand.nbytes - 1:#x}, "
            f"allowed are 0x0..{kind.memory_bytes - 1:#x}",
            reason="buffer_fit",
            where=where,
            source=_MEMORY,
        )


def _overlaps(fixed: Sequence[Demand]) -> Iterator[Problem]:
    for one, other in combinations(fixed, 2):
        first, second = _bytes(one), _bytes(other)
        same = (one.window or "own") == (other.window or "own")
        if same and first.start < second.stop and second.start < first.stop:
            yield Problem(
                "at",
                f"{second.start:#x}..{second.stop - 1:#x}",
                f"bytes that {one.name} at {first.start:#x}..{first.stop - 1:#x} does not take",
                f"bytes {second.start:#x}..{second.stop - 1:#x} overlap {one.name}, "
                f"which takes {first.start:#x}..{first.stop - 1:#x}",
                reason="buffer_overlap",
                where=_where(other.name),
                source=_MEMORY,
            )


def _bytes(demand: Demand) -> range:
    return range(demand.at or 0, (demand.at or 0) + demand.nbytes)


def _wider(task: PlacementTask, index: int) -> str:
    """What else could help: the neighbours where they are in reach, or smaller buffers."""
    demand, kind = task.demands[index], task.kind
    if demand.nbytes > kind.memory_bytes:
        return ". A buffer cannot lie in two tiles"
    pinned = demand.window or demand.at is not None or _out_of_reach(demand, kind)
    return (
        "" if pinned or len(task.areas[index]) > 1 else ". Its channels reach the neighbours: allow windows"
    )


def _out_of_reach(demand: Demand, kind: TileKind) -> list[str]:
    """Channels of a demand that do not reach the neighbours."""
    return [c for c in demand.channels if _channels(kind).get(c) not in kind.neighbour_channels]


def _channels(kind: TileKind) -> dict[str, int]:
    return {f"{direction} {n}": n for direction in DIRECTIONS for n in range(kind.channels)}


def _where(name: str) -> str:
    return f"placement, buffer {name}"


Starts = dict[int, int]


def place_greedily(task: PlacementTask) -> tuple[Starts, list[int]]:
    """Starts of the demands that fit, and the indices of those that found no room.

    Tried first with starts at bank boundaries too, which keeps channels apart but leaves holes; when
    something does not fit, once more without them.
    """
    spread = _pass(task, spread=True)
    return (
        spread if not spread[1] else min((_pass(task, spread=False), spread), key=lambda found: len(found[1]))
    )


def gaps(task: PlacementTask, starts: Mapping[int, int], area: range) -> Iterator[range]:
    """Free pieces of the windows in which something may begin within ``area``, as byte ranges."""
    unit, size = task.kind.granule_bytes, task.kind.memory_bytes
    for first in task.kind.memory_windows.values():
        cursor = first
        taken = sorted(
            (s, s + task.demands[i].nbytes) for i, s in starts.items() if first <= s < first + size
        )
        for begin, end in [*taken, (first + size, first + size)]:
            gap = range(max(cursor, area.start), begin)
            if len(gap) and gap.start < area.stop:
                yield gap
            cursor = max(cursor, -(-end // unit) * unit)


def _pass(task: PlacementTask, *, spread: bool) -> tuple[Starts, list[int]]:
    starts: Starts = {}
    left: list[int] = []
    for index in sorted(range(len(task.demands)), key=lambda i: _order(task, i)):
        choices = list(_choices(task, index, starts, spread=spread))
        if choices:
            starts[index] = min(choices, key=lambda start: _added(task, index, start, starts))
        else:
            left.append(index)
    return starts, sorted(left)


def _order(task: PlacementTask, index: int) -> tuple[int, int, int, int]:
    """Fixed places first, then fixed banks, upwards and the one that may reach beyond last, then by size."""
    demand = task.demands[index]
    if demand.at is not None:
        return 0, 0, 0, index
    if demand.bank is not None:
        return 1, demand.bank, demand.nbytes, index
    return 2, 0, -demand.nbytes, index


def _choices(task: PlacementTask, index: int, starts: Starts, *, spread: bool) -> Iterator[int]:
    """Starts worth trying: the beginning of each gap and, to spread, each bank that begins in it."""
    nbytes, bank = task.demands[index].nbytes, task.kind.bank_bytes
    for area in task.areas[index]:
        for gap in gaps(task, starts, area):
            last = min(gap.stop - nbytes, area.stop - 1)
            boundaries = range(-(-gap.start // bank) * bank, last + 1, bank) if spread else ()
            yield from (start for start in (gap.start, *boundaries) if start <= last)


def _added(task: PlacementTask, index: int, start: int, starts: Starts) -> int:
    """Collisions that appear when demand ``index`` begins at ``start``."""
    mine = set(task.banks(index, start))
    found: set[tuple[int, Pair]] = set()
    for other, begin in starts.items():
        shared = mine.intersection(task.banks(other, begin))
        if shared:
            found.update((bank, pair) for pair in task.meetings(index, other) for bank in shared)
    return len(found)


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
    """Return a place for every buffer, with as few bank collisions as the solver finds.

    Args:
        demands: the buffers.
        together: groups of channels that run at the same time; None = all of them do.
        windows: memories that may be used; add ``"west"`` and ``"east"`` where the tile has neighbours.
        interleaved: the tile's bank mode; True = placement cannot change which accesses conflict.
        solver: ``"auto"`` takes CP-SAT when it is installed and the greedy placement has collisions or fails.
        effort: limit of the CP-SAT search in deterministic time, about seconds.
        kind: tile kind, for its windows, banks and sizes.

    Raises:
        DesignError: every demand that contradicts the tile or another demand; or all that do not fit, with
            the missing bytes and the largest gap; or CP-SAT is requested and not installed.
    """
    groups = [{c for d in demands for c in d.channels}] if together is None else together
    problems = [
        *_solver_problems(solver),
        *demand_problems(demands, windows, kind),
        *channel_problems([*groups, *(d.channels for d in demands)], kind),
    ]
    raise_if(problems, DesignError)
    areas = tuple(tuple(filter(len, _areas(d, windows, kind))) for d in demands)
    task = PlacementTask(kind, tuple(demands), areas, frozenset() if interleaved else concurrent(groups))
    starts, used, optimal = _solve(task, solver, effort, windows)
    return make_plan(task, starts, interleaved=interleaved, solver=used, optimal=optimal)


def _solve(
    task: PlacementTask, solver: Solver, effort: float, windows: Sequence[str]
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
