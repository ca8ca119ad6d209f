"""One variant of a sweep: where it is in the space, and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memtile.explore.sweep.space import Label
from memtile.runs.options import RunOptions

_ASKED = ("max_cycles", "check")  # said in any case
Set = Mapping[str, Label]


class State(StrEnum):
    """What became of a variant."""

    GOOD = "good"
    INFEASIBLE = "infeasible"  # refused, stuck, wrong, or with a finding that is an error
    BEATEN = "beaten"  # stopped early: it could not be better than one that is known


@dataclass(frozen=True, slots=True)
class Task(RunOptions):
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
class Row:
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
    state: State
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
    def of(cls, data: Mapping[str, Any]) -> Row:
        """What ``as_json`` wrote down."""
        return cls(**{**data, "state": State(data["state"])})
