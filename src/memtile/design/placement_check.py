"""What is wrong with a placement before it is tried, and what is missing when something found no room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from memtile.arch.tiles import DIRECTIONS, WORD_BYTES, TileKind
from memtile.design.demands import Demand, Task
from memtile.design.placement_greedy import gaps
from memtile.errors import Problem

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
    task: Task, starts: Mapping[int, int], left: Sequence[int], windows: Sequence[str]
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


def _wider(task: Task, index: int) -> str:
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
