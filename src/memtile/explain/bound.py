"""What limits a run: the resource that was busy longest, and what it did in the cycles in which it was not.

A channel moves one beat a cycle, a core computes one cycle a cycle, a host makes one access after the other:
no run of the same work is shorter than what the busiest of them does. So the bound is never above the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memtile.documents import Count, plain

_SHOWN = 3  # causes of the rest in one line
_BUSY = 0.5  # of the cycles: less limits nothing, latencies do
_DOES = {
    "moving": "moves data in",
    "computing": "computes in",
    "between its accesses": "is busy with register accesses in",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles that the limiting resource spent on something else."""

    cause: str
    cycles: Count


@dataclass(frozen=True, slots=True)
class Bound:
    """The lower bound of a run, and who makes it.

    Attributes:
        cycles: that the limiting resource needs at least.
        elapsed: cycles of the run.
        resource: its name, as the user gave it, and its place.
        does: what it does in those cycles: ``moving``, ``computing``, ``accesses of the host``.
        costs: what it did in the others, longest first.
    """

    cycles: int
    elapsed: int
    resource: str
    does: str
    costs: Sequence[Cost] = ()

    @property
    def share(self) -> float:
        """The part of the run that the bound is, 0 to 1."""
        return self.cycles / max(self.elapsed, 1)

    @property
    def text(self) -> str:
        """One sentence."""
        return self._line("Limited by" if self.share >= _BUSY else "No resource is saturated; the busiest is")

    @property
    def busiest(self) -> str:
        """One sentence beside another one that says what limits the run."""
        return self._line("The busiest resource is")

    def _line(self, limits: str) -> str:
        share = f"{100 * self.share:.0f} % of cycles ({self.cycles:,})"
        head = f"{limits} {self.resource}, which {_DOES.get(self.does, self.does)} {share}"
        rest = ", ".join(f"{cost.cycles:,} {cost.cause}" for cost in self.costs[:_SHOWN])
        return f"{head}; otherwise {rest}." if rest else f"{head}."

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "cycles": self.cycles,
            "share": round(self.share, 6),
            "resource": self.resource,
            "does": self.does,
            "costs": plain(self.costs),
        }


class ResourceUse(NamedTuple):
    """What a resource did in a run.

    Attributes:
        resource: its name.
        does: what it does when it is busy.
        busy: cycles in which it was.
        others: its other cycles by cause.
    """

    resource: str
    does: str
    busy: int
    others: Mapping[str, int]


def bound_of(elapsed: int, uses: Iterable[ResourceUse]) -> Bound | None:
    """What limits a run; None if nothing was done.

    Args:
        elapsed: cycles of the run.
        uses: of everything that does one thing after the other.
    """
    found = max(uses, key=lambda use: use.busy, default=None)
    if found is None or not found.busy or not elapsed:
        return None
    costs = sorted((Cost(cause, n) for cause, n in found.others.items() if n), key=lambda cost: -cost.cycles)
    return Bound(found.busy, elapsed, found.resource, found.does, tuple(costs))
