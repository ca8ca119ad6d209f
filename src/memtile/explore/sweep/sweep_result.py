"""What a sweep found: its rows, who is on the front, why the others are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from memtile.access.drawing import Drawing
from memtile.documents import plain
from memtile.errors import DesignError, InputFileError, Problem, raise_if
from memtile.explore.sweep.data_frames import dataset_of, frame_of, table_of
from memtile.explore.sweep.log import Log
from memtile.explore.sweep.row import SweepRow, VariantState, costs_of, front
from memtile.explore.sweep.sensitivity import sensitivity
from memtile.explore.sweep.space import Space, space_from
from memtile.explore.sweep.sweep_page import PageRow, sweep_page
from memtile.explore.sweep.sweep_picture import sweep_picture
from memtile.explore.sweep.variant_figures import ENERGY, FIGURES, objectives_of
from memtile.output_files import write_output
from memtile.plain_text import printable
from memtile.sheet import Sheet, SheetColumn

INTERRUPTED = "interrupted"
_SHOWN, _ON_PAGE = 10, 1000  # rows of a table, and of that of a page
_APART = 0.01  # of energies: below it they tell nothing apart
_LEAST = 0.01  # of a variance, for a line to name what explains it
_REASONS = 4  # of infeasible variants, most frequent first


@dataclass(frozen=True, repr=False)
class SweepResult:
    """The outcome of a sweep.

    Attributes:
        design: name of its file.
        space: what was varied.
        objectives: names of the figures that rank the variants, the most important first.
        rows: the variants, in the order in which they were asked for.
        ran: number of variants run now; the others were known from the log.
        seconds: that it took.
        stopped: why the sweep ended early; empty = it did not.
        lost: the scheduler was lost before the end.
        expected: largest number of variants to try; None = unlimited.
        shown: rows of the table.
        lost_workers: workers of the cluster lost before the end.
    """

    design: str
    space: Space
    objectives: Sequence[str]
    rows: Sequence[SweepRow]
    ran: int = 0
    seconds: float = 0.0
    stopped: str = ""
    lost: bool = False
    expected: int | None = None
    shown: int = field(default=_SHOWN, compare=False)
    lost_workers: int = field(default=0, compare=False)

    @cached_property
    def ranked(self) -> tuple[SweepRow, ...]:
        """The good variants, best first: by the first objective, then by the others."""
        good = (
            row
            for row in self.rows
            if row.state is VariantState.GOOD and row.figures.keys() >= {*self.objectives}
        )
        return tuple(sorted(good, key=lambda row: (costs_of(row.figures, self.objectives), row.number)))

    @cached_property
    def front(self) -> tuple[SweepRow, ...]:
        """The Pareto front: good variants that no other variant beats in all objectives."""
        costs = [costs_of(row.figures, self.objectives) for row in self.ranked]
        return tuple(self.ranked[place] for place in front(costs))

    @property
    def best(self) -> SweepRow | None:
        """The best variant; None if no variant is good."""
        return next(iter(self.ranked), None)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.stopped == INTERRUPTED

    @property
    def good(self) -> bool:
        """Whether there is a good variant, and the sweep was not interrupted."""
        return bool(self.ranked) and not self.lost

    def count(self, state: VariantState) -> int:
        """Return the variants in this state."""
        return sum(row.state is state for row in self.rows)

    def arrow(self) -> Any:
        """The rows as a ``pyarrow.Table``: ``number``, ``state``, ``why``, parameters, figures, ``seconds``.

        Raises:
            InputFileError: pyarrow is not installed.
        """
        return table_of(self.rows)

    def pandas(self) -> Any:
        """The rows as a pandas data frame, with the columns of :meth:`arrow`.

        Raises:
            InputFileError: pyarrow or pandas is not installed.
        """
        return frame_of(self.rows)

    def xarray(self) -> Any:
        """The good variants as an ``xarray.Dataset``: a dimension for each axis, a variable for each figure.

        Points that were not tried, or are not good, are NaN.

        Raises:
            InputFileError: xarray is not installed.
            DesignError: an axis without steps.
        """
        return dataset_of(self.space, self.rows)

    def sensitivity(self, figure: str = "") -> Mapping[str, float]:
        """The part of a figure's variance over good variants that each axis explains alone, largest first.

        Args:
            figure: its name; the first objective if omitted.

        Raises:
            DesignError: no such figure, or one that the variants do not have.
        """
        name = figure or self.objectives[0]
        objectives_of(name)
        raise_if([_without(name) for row in self.ranked[:1] if name not in row.figures], DesignError)
        return sensitivity(self.space, self.ranked, name)

    def picture(self, path: Path | str | None = None) -> Drawing:
        """Parallel coordinates of all good variants, and the front over its first two objectives.

        Args:
            path: also write it to a file, ``.svg`` or ``.html``.

        Raises:
            InputFileError: the file cannot be written.
        """
        made = sweep_picture(self.space, self.objectives, self.ranked, self.front)
        if path is not None:
            made.save(path)
        return made

    def page(self, path: Path | str) -> None:
        """Write the table and the picture as one page.

        Raises:
            InputFileError: the name does not end in .html, or the file cannot be written.
        """
        if Path(path).suffix != ".html":
            raise InputFileError(f"{path}: the name of a page must end in .html.")
        on_front = {row.key for row in self.front}
        names, shown = [axis.name for axis in self.space.axes], [*self.ranked[:_ON_PAGE]]
        rows = [
            PageRow(row.key, _cells(row, names, self._figures, row.key in on_front), row.key in on_front)
            for row in (*shown, *(row for row in self.ranked[_ON_PAGE:] if row.key in on_front))
        ]
        facts = [_many(self.space), *(axis.text for axis in self.space.axes), *self._lines(len(rows))]
        heads = ["", *names, *self._figures]
        text = sweep_page(self.design, facts, self.picture().svg, heads, rows)
        write_output(Path(path), text)

    def as_json(self) -> dict[str, Any]:
        """Return plain data; the same sweep gives the same data on every machine."""
        on_front = {row.key for row in self.front}
        return {
            "design": self.design,
            "objectives": list(self.objectives),
            "space": plain(self.space.axes),
            "size": self.space.size,
            "expected": self.expected,
            "counts": {state.value: self.count(state) for state in VariantState},
            "stopped": self.stopped,
            "front": [row.key for row in self.front],
            "rows": [_row_json(row, row.key in on_front) for row in self.rows],
        }

    def _repr_html_(self) -> str:
        return self.sheet().html() + self.picture().svg

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(state)} {state}" for state in VariantState)
        return f"SweepResult({printable(self.design)}: {counts}, {len(self.front)} on the front)"

    def __str__(self) -> str:
        """The sheet as plain text."""
        return str(self.sheet())

    def __rich__(self) -> Sheet:
        """The sheet, for ``rich.print``."""
        return self.sheet()

    def sheet(self) -> Sheet:
        """Return the best variants for people, and why the others are not good."""
        on_front = {row.key for row in self.front}
        first = [*self.ranked[: self.shown]]
        later = [row for row in self.ranked[self.shown :] if row.key in on_front]
        names = [axis.name for axis in self.space.axes]
        return Sheet(
            above=(f"{self.design}: {_many(self.space)}", *(f"  {axis.text}" for axis in self.space.axes)),
            columns=(
                SheetColumn("", one_line=True),
                *(SheetColumn(name, right=True, one_line=True) for name in names),
                *(SheetColumn(name, right=True, one_line=True) for name in self._figures),
            ),
            rows=tuple(_cells(row, names, self._figures, row.key in on_front) for row in (*first, *later)),
            below=tuple(self._lines(len(first) + len(later))),
        )

    def _moved(self) -> str:
        """What moves the first objective most, in a line; empty where nothing does."""
        parts = [(name, part) for name, part in self.sensitivity().items() if part >= _LEAST]
        listed = ", ".join(f"{name} {part:.0%}" for name, part in parts)
        if not parts:
            return ""
        shared = " (they act together: each alone)" if sum(part for _, part in parts) > 1 else ""
        return f"what moves {self.objectives[0]} among the good ones: {listed}{shared}"

    @property
    def _figures(self) -> list[str]:
        """What the table shows: energies where they were counted and tell variants apart."""
        least, most = self._energies
        shows = ENERGY in self.objectives or most - least >= _APART * most
        return [name for name in FIGURES if name != ENERGY or (most and shows)]

    @property
    def _energies(self) -> tuple[float, float]:
        """The least and the most energy of the good variants; zeros where none was counted."""
        found = [row.figures[ENERGY] for row in self.ranked if ENERGY in row.figures]
        return (min(found), max(found)) if found else (0.0, 0.0)

    def _counts(self) -> str:
        return ", ".join(f"{self.count(state)} {state}" for state in VariantState if self.count(state))

    def _lines(self, shown: int) -> list[str]:
        counts = self._counts()
        lines = [f"{len(self.rows)} variants: {counts}" if counts else "no variants"]
        if self.ranked:
            lines.append(f"* = on the Pareto front of {', '.join(self.objectives)}: {len(self.front)}")
        if len(self.ranked) > 1 and (moved := self._moved()):
            lines.append(moved)
        least, most = self._energies
        if most and ENERGY not in self._figures:
            lines.append(f"energy: {least:,.0f} to {most:,.0f}, the same for all variants")
        if shown < len(self.ranked):
            lines.append(f"{len(self.ranked) - shown} more good variants are not shown")
        lines += reasons(self.rows)
        if self.seconds and self.ran < len(self.rows):
            lines.append(f"{self.ran} ran, {len(self.rows) - self.ran} known from the log")
        if self.lost_workers:
            lines.append(
                f"workers of the cluster that were lost: {self.lost_workers}; others ran their variants"
            )
        if self.stopped:
            end = "" if self.stopped.endswith(".") else "."
            lines.append(f"{self.stopped}{end} The variants above had finished by then.")
        return lines


def _without(name: str) -> Problem:
    return Problem(
        "figure",
        name,
        "figures that the variants have",
        f"the variants have no figure {name}",
        "Run the sweep with --energy." if name == ENERGY else "",
        reason="figure",
        where="sweep",
        source="docs/sweep.md",
    )


def reasons(rows: Sequence[SweepRow]) -> list[str]:
    """Why variants are infeasible: how many by kind, the most frequent first, with what one of them says."""
    bad = [row for row in rows if row.state is VariantState.INFEASIBLE]
    lines = []
    for kind, count in Counter(row.kind for row in bad).most_common(_REASONS):
        one = next(row for row in bad if row.kind == kind)
        point = ", ".join(f"{name} = {value}" for name, value in one.point.items())
        lines.append(f"{count} infeasible, {kind}: with {point}: {one.why}")
    return lines


def _unknown_figures(chosen: Sequence[str], rows: Sequence[SweepRow]) -> list[str]:
    """Figures that no good variant has, if there are good ones."""
    good = [row.figures for row in rows if row.state is VariantState.GOOD]
    return [name for name in chosen if good and not any(name in figures for figures in good)]


def read_result(path: str | Path, objectives: Sequence[str] = (), shown: int = _SHOWN) -> SweepResult:
    """The sweep that a log is of: rows of the sources that it was last used with.

    Args:
        path: of the Parquet file, or where it will be while a journal is all there is.
        objectives: by which variants are compared; none = those of the sweep.
        shown: rows of the table.

    Raises:
        InputFileError: no log, or one that cannot be read.
    """
    log = Log(Path(path))
    if not log.found:
        raise InputFileError(f"{path}: there is no log of a sweep. memtile sweep DESIGN.py writes one.")
    head: Mapping[str, Any] = log.head
    known = (row for row in log.rows.values() if row.sources == head["hash"])
    rows = tuple(sorted(known, key=lambda row: row.number))
    space = space_from(head["space"])
    chosen = tuple(objectives or head["objectives"])
    raise_if([_without(name) for name in _unknown_figures(chosen, rows)], DesignError)
    return SweepResult(head["design"], space, chosen, rows, expected=space.size, shown=shown)


def _row_json(row: SweepRow, on_front: bool) -> dict[str, Any]:
    data = row.as_json()
    return {**{name: data[name] for name in data if name not in ("seconds", "sources")}, "front": on_front}


def _many(space: Space) -> str:
    return "variants without end" if space.size is None else f"a space of {space.size} variants"


def _cells(row: SweepRow, names: Sequence[str], shown: Sequence[str], on_front: bool) -> tuple[str, ...]:
    figures = (_figure(name, row.figures.get(name)) for name in shown)
    return ("*" if on_front else "", *(_text(row.point.get(name)) for name in names), *figures)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if name == "share" else f"{value:.0f}"
