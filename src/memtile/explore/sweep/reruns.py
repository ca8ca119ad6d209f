"""A variant of a log run again, from the sources that the log has."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtile.arch.energy import PUBLISHED
from memtile.cpp.build import SUFFIXES
from memtile.errors import InputFileError
from memtile.explore.sweep.log import Log
from memtile.explore.sweep.row import SweepRow, Variant, VariantState
from memtile.explore.sweep.sources import DesignSources
from memtile.explore.sweep.space import TIMING
from memtile.explore.sweep.sweep_attempt import Rivals, attempt
from memtile.explore.sweep.sweep_result import SweepResult, read_result
from memtile.explore.sweep.variant_figures import ENERGY
from memtile.sheet import Sheet, SheetColumn


@dataclass(frozen=True, slots=True)
class VariantReplay:
    """A variant, as the log has it and as it came out now.

    Attributes:
        then: the row of the log.
        now: the row of this run.
        other_memtile: the log was written by another memtile, which may count other cycles.
    """

    then: SweepRow
    now: SweepRow
    other_memtile: bool

    @property
    def same(self) -> bool:
        """Whether state and figures are those of the log."""
        return (self.then.state, dict(self.then.figures)) == (self.now.state, dict(self.now.figures))

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        sides = {"then": self.then.as_json(), "now": self.now.as_json()}
        return {"key": self.then.key, "same": self.same, "other_memtile": self.other_memtile, **sides}

    def __rich__(self) -> Sheet:
        """The sheet, for ``rich.print``."""
        return self.sheet()

    def sheet(self) -> Sheet:
        """Both, for people."""
        names = list(dict.fromkeys([*self.then.figures, *self.now.figures]))
        sides: Mapping[str, SweepRow] = {"log": self.then, "now": self.now}
        point = ", ".join(f"{name} = {value}" for name, value in self.then.point.items())
        below = ["the same" if self.same else "NOT the same"]
        if self.other_memtile:
            below.append("the log is of another memtile, which may have counted other cycles")
        return Sheet(
            above=(f"{self.then.key}: {point}",),
            columns=tuple(
                SheetColumn(head, right=head in names, one_line=True) for head in ("", "state", *names)
            ),
            rows=tuple(
                (side, row.state.value, *(str(row.figures.get(name, "-")) for name in names))
                for side, row in sides.items()
            ),
            below=(*below, *(f"{side}: {row.why}" for side, row in sides.items() if row.why)),
        )


def _macros(row: SweepRow) -> str:
    """The options of ``memtile run`` for a variant of a graph."""
    options = (
        ("--timing", name.removeprefix(TIMING)) if name.startswith(TIMING) else ("-D", name)
        for name in row.point
    )
    return shlex.join(
        word
        for (option, name), value in zip(options, row.point.values(), strict=True)
        for word in (option, f"{name}={value}")
    )


def _best_of(result: SweepResult) -> list[SweepRow]:
    return [result.best] if result.best else []


def replay(path: str | Path, key: str = "") -> VariantReplay:
    """Run a variant again: this runs the Python code that the log has, with all rights of the user.

    Args:
        path: log of a sweep.
        key: of the variant, or how it begins; empty = the best of the last sweep.

    Raises:
        InputFileError: no log, no such variant, or several; or a file of the log that is not below its
            folder.
    """
    result = read_result(path)
    head = (log := Log(Path(path))).head
    rows = [row for row in log.rows.values() if row.key.startswith(key)] if key else _best_of(result)
    if len(rows) != 1:
        found = "no variant" if not rows else f"{len(rows)} variants"
        raise InputFileError(f"{path}: {found} with the key {key!r}. sweep show --json lists them.")
    (then,) = rows
    if then.state is VariantState.BEATEN:
        raise InputFileError(f"{path}: {then.key} was stopped early: there is nothing to compare with.")
    if Path(head["design"]).suffix in SUFFIXES:
        raise InputFileError(
            f"{path}: the log is of a graph in C++, whose sources and data a log does not have. "
            f"Run the variant: memtile run {head['design']} {_macros(then)}"
        )
    if then.sources not in head["sources"]:
        raise InputFileError(f"{path}: the log has no sources of {then.key}. Give another log.")
    sources = DesignSources(**head["sources"][then.sources])
    table = (head["energy"] or PUBLISHED) if ENERGY in then.figures else ""
    limits = {name: head[name] for name in ("max_cycles", "check", "data")}
    task = Variant(then.sources, then.point, table, **limits)
    with tempfile.TemporaryDirectory() as place:
        now = attempt(sources.put(Path(place)), task, Rivals(()))
    return VariantReplay(then, now, then.sources != sources.hash)
