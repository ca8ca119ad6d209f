"""One variant of a sweep: where it is in the space, what came of it, what is better, its form in logs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memtile.errors import InputFileError
from memtile.explain.findings import Severity
from memtile.explain.results import Result, Status
from memtile.explore.sweep.space import TIMING, Label
from memtile.explore.sweep.variant_figures import FIGURES
from memtile.forms import Each, Either, Form, NamedForms, Such, misfit
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
        """Return plain data."""
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


MOST_ROWS = 1 << 20
MOST_BYTES = 1 << 30
"""Of the rows of a log, and of their text once it is unpacked."""

_MOST_FILES = 1 << 10  # of a design
_MOST_TEXT = 1 << 24  # characters of all of them together
_MOST_AXES = 64
_KEY = re.compile(r"[0-9a-f]{16}")
_NUMBER = range(1 << 53)
_LABEL = Either((range(-1 << 63, 1 << 63), float, bool, str, None))


def _few(value: Any) -> bool:
    """Whether a design has no more files and text than a design can have."""
    if misfit(value, NamedForms(str)):
        return False
    return len(value) <= _MOST_FILES and sum(map(len, value.values())) <= _MOST_TEXT


_HASH = Such(lambda value: isinstance(value, str) and bool(_KEY.fullmatch(value)), "16 hexadecimal digits")
_STATE = Such(
    lambda value: isinstance(value, str) and value in [*VariantState], f"one of {', '.join(VariantState)}"
)
_NAMES = ", ".join(FIGURES)
_FIGURE = Such(lambda value: isinstance(value, str) and value in FIGURES, f"one of {_NAMES}")
_OBJECTIVES = Such(
    lambda value: bool(value) and misfit(value, Each(_FIGURE)) is None, f"a list of at least one of {_NAMES}"
)
_FILES = Such(_few, f"texts by path, {_MOST_FILES:,} files and {_MOST_TEXT:,} characters at most")
_SPACE = Each({"name": str, "values": Each(_LABEL), "span": (float, float), "log": bool})
_AXES = Such(
    lambda value: misfit(value, _SPACE) is None and len(value) <= _MOST_AXES,
    f"a list of up to {_MOST_AXES} axes, each with name, values, span and log",
)
HEAD: Form = {
    "format": str,
    "version": int,
    "design": str,
    "hash": _HASH,
    "sources": NamedForms({"name": str, "files": _FILES}, lambda key: bool(_KEY.fullmatch(key))),
    "space": _AXES,
    "set": NamedForms(_LABEL),
    "objectives": _OBJECTIVES,
    "strategy": str,
    "max_cycles": _NUMBER,
    "check": bool,
    "energy": str,
    "data": bool,
}
ROW: Form = {
    "key": _HASH,
    "sources": _HASH,
    "number": _NUMBER,
    "point": NamedForms(_LABEL),
    "state": _STATE,
    "kind": str,
    "why": str,
    "figures": NamedForms(float),
    "seconds": float,
}
_LATER = {"energy": "", "data": True}  # what the first logs do not say


def checked_head(data: Any, path: object) -> dict[str, Any]:
    """The head of the log ``path``.

    Raises:
        InputFileError: it is none, or that of another memtile.
    """
    if isinstance(data, dict):
        data = {**_LATER, **data}
    if wrong := misfit(data, HEAD, "head"):
        raise InputFileError(f"{path}: the log is damaged: {wrong}. Give another log.")
    head: dict[str, Any] = data
    return head


def checked_row(data: Any, path: object, number: int) -> dict[str, Any]:
    """Row ``number`` of the log ``path``, counted from 1.

    Raises:
        InputFileError: it is none.
    """
    if wrong := misfit(data, ROW, f"row {number}"):
        raise InputFileError(f"{path}: the log is damaged: {wrong}. Give another log.")
    row: dict[str, Any] = data
    return row


def points_of(task: Variant) -> tuple[dict[str, Label], dict[str, Label]]:
    """The values of a variant: of parameters, and of timing constants."""
    given = {name: value for name, value in task.point.items() if not name.startswith(TIMING)}
    constants = {n.removeprefix(TIMING): v for n, v in task.point.items() if n.startswith(TIMING)}
    return given, constants


def row_of(task: Variant, state: VariantState, why: str, kind: str, figures: Mapping[str, float]) -> SweepRow:
    """The row of a variant."""
    return SweepRow(task.key, task.sources, task.point, state, why, kind, dict(figures))


def fault(result: Result) -> tuple[str, str]:
    """Code or word, and a line, for what is wrong with a run."""
    wrong = [finding for finding in result.findings if finding.severity is Severity.ERROR]
    if wrong:
        return wrong[0].code, wrong[0].message
    if result.errors:
        return "error", result.errors[0]
    if result.exact is False:
        return "wrong", next(check.text for check in result.checks if not check.exact)
    if result.status is Status.LIMIT:
        return "limit", f"not done after {result.cycles} cycles, the limit"
    known = [str(each) for each in result.findings] or result.waiting
    return result.status.value, "; ".join(known) or f"the run is {result.status}"
