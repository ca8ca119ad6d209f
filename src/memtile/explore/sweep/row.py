"""One variant of a sweep: where it is in the space, and what came of it.

It also says which variants are better than which: domination and the Pareto front.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memtile.explore.sweep.space import Label
from memtile.explore.sweep.variant_figures import FIGURES
from memtile.runs.options import RunOptions

_ASKED = ("max_cycles", "check")  # said in any case
Set = Mapping[str, Label]


class VariantState(StrEnum):
    """What became of a variant."""

    GOOD = "good"
    INFEASIBLE = "infeasible"  # refused, stuck, wrong, or with a finding that is an error
    BEATEN = "beaten"  # stopped early: it could not be better than one that is known


@dataclass(frozen=True, slots=True)
class Variant(RunOptions):
    """What is to be tried, and the options of its run: all that decides what comes out, and so the key.

    Attributes:
        sources: hash of the design's sources and memtile's.
        point: labels of parameters, and of timing constants behind ``timing.``.
        energy: table of energies; empty = none is counted.
    """

    sources: str
    point: Set
    energy: str = ""

    @property
    def key(self) -> str:
        """Hash of it all: 16 hexadecimal digits."""
        asked = [self.sources, dict(self.point), self.max_cycles, self.check]
        others = {name: value for name, value in self.changed().items() if name not in _ASKED}
        more = [*([self.energy] if self.energy else []), *([others] if others else [])]
        text = json.dumps([*asked, *more], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SweepRow:
    """A variant and what came of it.

    Attributes:
        key: of the task.
        sources: hash of the sources.
        point: labels of what is varied or set.
        state: what became of it.
        why: one line, where it is not good.
        kind: one word for it, or the code of a finding.
        figures: by name; of one that did not finish those that are known without a run.
        number: when it was asked for, from 0.
        seconds: that it took.
    """

    key: str
    sources: str
    point: Set
    state: VariantState
    why: str = ""
    kind: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    number: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "key": self.key,
            "sources": self.sources,
            "number": self.number,
            "point": dict(self.point),
            "state": self.state.value,
            "kind": self.kind,
            "why": self.why,
            "figures": dict(self.figures),
            "seconds": round(self.seconds, 4),
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> SweepRow:
        """What ``as_json`` wrote down."""
        return cls(**{**data, "state": VariantState(data["state"])})


Costs = tuple[float, ...]
"""Of one variant, one number for each objective, less being better."""


def costs_of(figures: Mapping[str, float], objectives: Sequence[str]) -> Costs:
    """The costs of a variant."""
    return tuple(FIGURES[name].cost(figures[name]) for name in objectives)


def dominates(one: Costs, other: Costs) -> bool:
    """Whether one variant is nowhere worse and somewhere better than another."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def front(costs: Sequence[Costs]) -> list[int]:
    """Places of those that nobody dominates, in the order of their costs; equals are all in it."""
    kept: list[int] = []
    for place in sorted(range(len(costs)), key=lambda place: (costs[place], place)):
        if not any(dominates(costs[other], costs[place]) for other in kept):
            kept.append(place)
    return kept
