"""What a plan found: designs, ranked, with certificates, as Python and as files to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from memtile import __version__
from memtile.design.array import Array
from memtile.design.run import make
from memtile.errors import InputFileError
from memtile.explore.plan.certificate import Proof
from memtile.explore.plan.machine import refuse
from memtile.explore.plan.source import filled
from memtile.explore.sweep.figures import FIGURES
from memtile.explore.sweep.frames import frame_of, table_of
from memtile.explore.sweep.front import costs_of, front
from memtile.explore.sweep.result import reasons
from memtile.explore.sweep.row import Row, State
from memtile.output_files import write_output
from memtile.sheet import Column, Sheet

_SHOWN = 10
_HIDDEN = ("data",)


@dataclass(frozen=True, repr=False)
class PlanResult:
    """The outcome of a plan.

    Attributes:
        layer: name of the design with holes.
        title: the layer in one line.
        place: device and columns.
        objectives: by which designs are ranked.
        ranked: good designs, best first.
        failed: those that were beaten before their end, or are infeasible.
        proofs: certificates by key of the row.
        candidates: how many ways there are, of which these were tried.
        seconds: that it took.
        shown: rows of the table.
    """

    layer: str
    title: str
    place: str
    objectives: Sequence[str]
    ranked: Sequence[Row]
    failed: Sequence[Row]
    proofs: Mapping[str, Proof]
    candidates: int
    seconds: float = 0.0
    shown: int = field(default=_SHOWN, compare=False)

    @cached_property
    def front(self) -> tuple[Row, ...]:
        """Designs that none is better than in all objectives."""
        costs = [costs_of(row.figures, self.objectives) for row in self.ranked]
        return tuple(self.ranked[place] for place in front(costs))

    @property
    def good(self) -> bool:
        """Whether there is a design with a certificate, if any was asked for."""
        return bool(self.ranked)

    def values(self, number: int = 0) -> dict[str, Any]:
        """Values of the arguments of a design, by its place in the ranking.

        Raises:
            DesignError: there is none with this number.
        """
        if not 0 <= number < len(self.ranked):
            allowed = f"0..{len(self.ranked) - 1}" if self.ranked else "none: no candidate is good"
            raise refuse(self.layer, "number", number, allowed)
        return {name: value for name, value in self.ranked[number].point.items() if name not in _HIDDEN}

    def source(self, number: int = 0) -> str:
        """The text of a design: a Python file with ``design()``, for ``memtile run`` and all others.

        Raises:
            DesignError: there is none with this number.
        """
        values = self.values(number)
        row = self.ranked[number]
        figures = ", ".join(f"{row.figures[name]:.0f} {name}" for name in ("cycles", "l2", "l1", "bds"))
        lines = [f"Planned by memtile {__version__}: {self.title}; {self.place}.", f"Simulated: {figures}."]
        if proof := self.proofs.get(row.key):
            lines.append(f"With data: {proof.text}.")
        return filled(self.layer, values, "\n".join(lines))

    def save(self, path: str | Path, number: int = 0) -> None:
        """Write the text of a design to a file.

        Raises:
            DesignError: there is none with this number.
            InputFileError: the file cannot be written, or its name does not end in ``.py``.
        """
        target = Path(path)
        if target.suffix != ".py":
            raise InputFileError(f"{path}: the name of a design must end in .py.")
        write_output(target, self.source(number))

    def design(self, number: int = 0, *, data: bool = True) -> Array:
        """A design, made and not yet run.

        Args:
            number: its place in the ranking.
            data: with matrices and images; else its time alone.

        Raises:
            DesignError: there is none with this number.
        """
        from importlib import import_module

        function = import_module(f"memtile.explore.plan.designs.{self.layer}").design
        made = make(function, {**self.values(number), "data": data}, self.layer)
        assert isinstance(made, Array)
        return made

    def arrow(self) -> Any:
        """The designs as a ``pyarrow.Table``, best first.

        Raises:
            InputFileError: pyarrow is not installed.
        """
        return table_of(self.ranked)

    def pandas(self) -> Any:
        """The designs as a pandas data frame, best first.

        Raises:
            InputFileError: pyarrow or pandas is not installed.
        """
        return frame_of(self.ranked)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        on_front = {row.key for row in self.front}
        return {
            "layer": self.layer,
            "title": self.title,
            "place": self.place,
            "good": self.good,
            "objectives": list(self.objectives),
            "candidates": self.candidates,
            "tried": len(self.ranked) + len(self.failed),
            "designs": [
                {
                    "values": self.values(number),
                    "figures": dict(row.figures),
                    "front": row.key in on_front,
                    "certificate": proof.as_json() if (proof := self.proofs.get(row.key)) else None,
                }
                for number, row in enumerate(self.ranked)
            ],
            "failed": [
                {
                    "values": {n: v for n, v in row.point.items() if n not in _HIDDEN},
                    "state": row.state.value,
                    "kind": row.kind,
                    "why": row.why,
                }
                for row in self.failed
            ],
        }

    def __repr__(self) -> str:
        return f"PlanResult({self.title}: {len(self.ranked)} designs, {len(self.proofs)} with a certificate)"

    def __str__(self) -> str:
        """The sheet as plain text."""
        return str(self.sheet())

    def __rich__(self) -> Sheet:
        """The sheet, for ``rich.print``."""
        return self.sheet()

    def _repr_html_(self) -> str:
        return self.sheet().html()

    def _names(self) -> tuple[list[str], dict[str, object]]:
        """The arguments in which designs differ, and the values of those that are equal in all."""
        every = [*self.ranked, *self.failed]
        first = every[0].point if every else {}
        names = [name for name in first if len({str(row.point[name]) for row in every}) > 1]
        return names, {n: value for n, value in first.items() if n not in (*names, *_HIDDEN)}

    def sheet(self) -> Sheet:
        """The best designs for people: what differs among them, figures, and the certificate of the best."""
        on_front = {row.key for row in self.front}
        names, same = self._names()
        shown = self.ranked[: self.shown]
        figures = [name for name in FIGURES if all(name in row.figures for row in shown)]
        rows = [
            (
                str(number),
                "*" if row.key in on_front else "",
                *_cells(row, names, figures),
                "proved" if row.key in self.proofs else "",
            )
            for number, row in enumerate(shown)
        ]
        heads = ("", "", *names, *figures, "")
        return Sheet(
            above=(f"{self.title}; {self.place}", "  " + ", ".join(f"{n} = {v}" for n, v in same.items())),
            columns=tuple(Column(head, right=head != "", one_line=True) for head in heads),
            rows=tuple(rows),
            below=tuple(self._lines(len(shown), names)),
        )

    def _lines(self, shown: int, names: Sequence[str]) -> list[str]:
        beaten = sum(row.state is State.BEATEN for row in self.failed)
        bad = len(self.failed) - beaten
        counts = f"{len(self.ranked)} good" + f", {beaten} beaten" * bool(beaten)
        counts += f", {bad} infeasible" * bool(bad)
        tried = len(self.ranked) + len(self.failed)
        lines = [f"{self.candidates} ways fit, the {tried} most promising were tried: {counts}"]
        lines.append(f"* = on the Pareto front of {', '.join(self.objectives)}")
        if shown < len(self.ranked):
            lines.append(f"{len(self.ranked) - shown} more good designs are not shown")
        lines += reasons([replace(row, point={n: row.point[n] for n in names}) for row in self.failed])
        lines += [f"{n}: {p.text}" for n, row in enumerate(self.ranked) if (p := self.proofs.get(row.key))]
        return lines


def _cells(row: Row, names: Sequence[str], figures: Sequence[str]) -> Iterator[str]:
    yield from (str(row.point[name]) for name in names)
    yield from (_figure(name, row.figures[name]) for name in figures)


def _figure(name: str, value: float) -> str:
    return f"{value:.1%}" if name == "share" else f"{value:.0f}"
