"""The complete run for people: a table of every channel's cycles by cause, and all lines around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memtile.arch.tiles import DIRECTIONS
from memtile.explain.finding_places import in_order, placed
from memtile.explain.findings import Finding
from memtile.explain.limit import table_lines
from memtile.explain.skipped_time import RECALLED, skipped_text
from memtile.explain.summary import (
    Layout,
    caution_lines,
    doubts,
    limit_lines,
    parameter_lines,
    time_lines,
    verdict,
)
from memtile.explain.tile_map import MapTile, Place, tile_map
from memtile.model.state.causes import Cause, CoreCause
from memtile.plain_text import markup_text
from memtile.sheet import Sheet, SheetColumn

if TYPE_CHECKING:
    from memtile.explain.results import ChannelUse, Result


def sheet_of(result: Result) -> Sheet:
    """Return the sheet of a run: the verdict and what limits it, the table, and the lines that have more.

    Args:
        result: of the run.
    """
    causes = [c for c in Cause if any(use.spent.get(c) for use in result.channels)]
    named = any(use.label for use in result.channels)
    return Sheet(
        above=tuple(_above(result)),
        columns=tuple(_columns(causes, named=named, timed=result.timed)),
        rows=tuple(_row(use, causes, result, named=named) for use in result.channels),
        below=tuple(_below(result)),
    )


def result_html(result: Result) -> str:
    """Return the run for notebooks: its summary, and a picture of what worked how long.

    Args:
        result: of the run.
    """
    lines = "\n".join(markup_text(line) for line in result.summary(_IN_NOTEBOOKS))
    return f"<pre style='font-family:monospace'>{lines}</pre>{_picture(result)}"


_IN_NOTEBOOKS = Layout(90, rows=6, height=16, complete="result.sheet()")
_BARS = 6  # channels that have a bar each; more are tiles of a map
_PLACE = re.compile(r"(?P<role>\w+) ?\((?P<column>\d+), ?(?P<row>\d+)\)")


def _picture(result: Result) -> str:
    """A bar for each of a few channels, else a map of the tiles; nothing without time."""
    if not result.timed:
        return ""
    if len(result.channels) <= _BARS:
        return result.picture().svg
    busy = [(use.name, use.busy) for use in result.channels]
    busy += [(use.name, use.spent.get(CoreCause.RUNNING, 0) / max(result.cycles, 1)) for use in result.cores]
    tiles: dict[Place, MapTile] = {}
    for name, share in busy:
        if found := _PLACE.match(name):
            place = int(found["column"]), int(found["row"])
            role = "compute" if found["role"] == "core" else found["role"]
            tiles[place] = MapTile(role, max(share, tiles[place].share if place in tiles else 0.0))
    if not tiles:
        return ""
    columns, rows = (1 + max(place[axis] for place in tiles) for axis in (0, 1))
    return tile_map(columns, rows, tiles)


def _above(result: Result) -> Iterator[str]:
    yield verdict(result)
    yield from doubts(result)
    yield from time_lines(result)
    yield from limit_lines(result)
    if result.limit is not None:
        yield from table_lines(result.lifted, result.cycles)
    yield from caution_lines(result)


def _columns(causes: Sequence[Cause], *, named: bool, timed: bool) -> Iterator[SheetColumn]:
    yield SheetColumn("channel", one_line=True)
    if named:
        yield SheetColumn("name", one_line=True)
    yield from (SheetColumn(cause.text if timed else "words", right=True) for cause in causes)
    if timed:
        yield SheetColumn("busy", right=True, one_line=True)


def _row(use: ChannelUse, causes: Sequence[Cause], result: Result, *, named: bool) -> tuple[str, ...]:
    cells = (f"{use.spent.get(cause, 0):,}" if use.spent.get(cause) else "-" for cause in causes)
    share = [f"{use.spent.get(Cause.MOVING, 0) / max(result.cycles, 1):.1%}"] if result.timed else []
    return (use.name, *[use.label] * named, *cells, *share)


def _below(result: Result) -> Iterator[str]:
    if result.timed:
        yield _rates(result)
    yield from parameter_lines(result)
    yield from (core.text for core in result.cores)
    if result.recalled:
        yield RECALLED
    if said := skipped_text(result.cycles, result.jumped, result.idle, result.stepped):
        yield said
    if result.assumed:
        yield f"depends on assumed timing: {', '.join(result.assumed)}"
    yield from (check.text for check in result.checks if not check.exact)
    topics = {
        "error": result.errors,
        "finding": in_order(result.findings),
        "waiting": result.waiting,
        "idle": result.resting,
    }
    yield from (line for topic, lines in topics.items() for each in lines for line in _said(topic, each))
    if result.proved is not None:
        yield f"timing: {result.proved.text}"


def _rates(result: Result) -> str:
    """Rates of the streams, by direction."""
    rates = (f"{d} {result.bytes_per_cycle(d):.2f} B/cycle" for d in DIRECTIONS)
    speeds = (f"{result.gigabytes_per_second(d):.2f} GB/s" for d in DIRECTIONS)
    most = "up to " if any(c.beat_words > 1 for c in result.channels) else ""
    return f"{most}{', '.join(rates)} ({' in, '.join(speeds)} out at {result.clock_mhz} MHz)"


def _said(topic: str, line: object) -> Iterator[str]:
    """A line of a topic; below a finding the repair that was tried."""
    yield f"{topic}: {placed(line) if isinstance(line, Finding) else line}"
    if isinstance(line, Finding) and line.repair is not None:
        yield f"  {line.repair.text}"
