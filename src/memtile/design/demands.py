"""What buffers ask of a memory tile and its neighbours, and what a placement gives them.

Bytes are counted in the DMA's address space, where the west, own and east windows follow each other (AM020
chapter 5); a bank is a block of them in linear mode, and its number counts on through the windows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from memtile.arch.tiles import TileKind

Pair = tuple[str, str]
"""Two channels that run together, in alphabetical order."""


@dataclass(frozen=True, slots=True)
class Demand:
    """A buffer to place.

    Attributes:
        name: for messages and the plan.
        nbytes: size in bytes, whole 32-bit words.
        channels: the channels that access it, named as in results: ``"S2MM 0"``.
        window: ``"west"``, ``"own"`` or ``"east"``; None = any window the channels reach.
        at: first byte within the window; needs no solver. The window is ``"own"`` unless given.
        bank: bank of the window in which it must begin.
    """

    name: str
    nbytes: int
    channels: tuple[str, ...] = ()
    window: str | None = None
    at: int | None = None
    bank: int | None = None


class Spot(NamedTuple):
    """Where a buffer lies: the window, its first byte there, and its banks of that window (linear mode)."""

    window: str
    offset: int
    banks: range


class Collision(NamedTuple):
    """Two channels that run together and touch different buffers in one bank."""

    window: str
    bank: int
    channels: Pair


@dataclass(frozen=True, slots=True)
class PlacementTask:
    """A placement problem: demands, where each may begin, and which channels run together.

    Attributes:
        kind: tile kind.
        demands: the buffers.
        areas: per demand the address ranges (first byte, byte after the last start) it may begin in.
        pairs: channels that run together.
    """

    kind: TileKind
    demands: tuple[Demand, ...]
    areas: tuple[tuple[range, ...], ...]
    pairs: frozenset[Pair]

    def banks(self, index: int, start: int) -> range:
        """Banks, counted through the windows, of demand ``index`` when it begins at ``start``."""
        last = start + self.demands[index].nbytes - 1
        return range(start // self.kind.bank_bytes, last // self.kind.bank_bytes + 1)

    def meetings(self, one: int, other: int) -> frozenset[Pair]:
        """Pairs that meet in a bank which both demands touch: one channel on each of the two buffers."""
        pairs = {
            (min(a, b), max(a, b)) for a in self.demands[one].channels for b in self.demands[other].channels
        }
        return self.pairs & pairs

    def collisions(self, starts: Mapping[int, int]) -> set[tuple[int, Pair]]:
        """(Bank, pair) wherever two different buffers placed at ``starts`` make a pair meet."""
        found: set[tuple[int, Pair]] = set()
        for one, other in combinations(starts, 2):
            shared = set(self.banks(one, starts[one])) & set(self.banks(other, starts[other]))
            if shared:
                found.update((bank, pair) for pair in self.meetings(one, other) for bank in shared)
        return found


@dataclass(frozen=True, slots=True)
class Plan:
    """A place for every buffer.

    Attributes:
        places: buffer name -> spot.
        collisions: what the bank arbiters will have to settle; none are counted in interleaved mode.
        interleaved: consecutive 128-bit granules lie in consecutive banks, so that every buffer touches all
            banks and no place is better than another.
        solver: ``"cp-sat"`` or ``"greedy"``.
        optimal: no placement has fewer collisions (proven).
    """

    places: Mapping[str, Spot]
    collisions: tuple[Collision, ...]
    interleaved: bool
    solver: str
    optimal: bool

    @property
    def cost(self) -> int:
        """Pairs of channels that run together and share a bank, summed over the banks."""
        return len(self.collisions)

    def __str__(self) -> str:
        width = max(map(len, self.places), default=0)
        lines = [
            f"{name:{width}}  {spot.window:4}  {spot.offset:#07x}"
            + ("" if self.interleaved else f"  bank {_span(spot.banks)}")
            for name, spot in self.places.items()
        ]
        if self.interleaved:
            return "\n".join(
                [*lines, "interleaved: every buffer touches all banks, placement does not matter"]
            )
        lines += [f"{c.window} bank {c.bank}: {c.channels[0]} meets {c.channels[1]}" for c in self.collisions]
        grade = "the fewest possible" if self.optimal else "perhaps not the fewest"
        return "\n".join([*lines, f"collisions: {self.cost}, {grade} ({self.solver})"])


def concurrent(groups: Sequence[Collection[str]]) -> frozenset[Pair]:
    """All pairs of different channels in the same group."""
    return frozenset(pair for group in groups for pair in combinations(sorted(set(group)), 2))


def make_plan(
    task: PlacementTask, starts: Mapping[int, int], *, interleaved: bool, solver: str, optimal: bool
) -> Plan:
    """The plan of a placement that gives every demand its start."""

    def local(bank: int) -> tuple[str, int]:
        name, first = _window_of(task.kind, bank * task.kind.bank_bytes)
        return name, bank - first // task.kind.bank_bytes

    places = {}
    for index, demand in enumerate(task.demands):
        window, first = _window_of(task.kind, starts[index])
        banks = [local(bank)[1] for bank in task.banks(index, starts[index])]
        places[demand.name] = Spot(window, starts[index] - first, range(banks[0], banks[-1] + 1))
    met: Iterator[tuple[int, Pair]] = iter(() if interleaved else sorted(task.collisions(starts)))
    collisions = tuple(Collision(*local(bank), pair) for bank, pair in met)
    return Plan(places, collisions, interleaved, solver, optimal or interleaved)


def _window_of(kind: TileKind, address: int) -> tuple[str, int]:
    return max(
        ((name, first) for name, first in kind.memory_windows.items() if first <= address),
        key=lambda window: window[1],
    )


def _span(banks: range) -> str:
    return f"{banks[0]}" if len(banks) == 1 else f"{banks[0]}..{banks[-1]}"
