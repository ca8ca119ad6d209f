"""Which words of a state fast-forward compares, and how: from the classes that the columns declare.

A column that nobody looked at is compared for being equal: it can keep time from being jumped over, and
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from mmap import mmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.jit.tables import plain, words_of
from memtile.jit.words import WORD
from memtile.model.state.columns import Column, Ints, Kind, Reset, columns_of, fields_of
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State, StateTables
from memtile.model.streams.switch_config import OFF
from memtile.sim.forward.places import (
    ADDRESS,
    ALL_FLOWS,
    COUNT_OF_ROWS,
    COUNT_OF_WORDS,
    HEAD,
    MOST_SEGMENTS,
    OF_CHANNEL,
    OF_CORE,
    OF_EXTERNAL,
    OF_PORT,
    PLANNED,
    RING_COLUMNS,
    SCRATCH,
    SEGMENT,
    SLOTS,
    Arrays,
    Book,
    Compared,
)

GUARDED = frozenset(
    {
        "channels.moved",
        "channels.runs_left",
        "walks.address",
        "walks.left",
        "walks.position",
        "granules.target",
        "granules.port_target",
        "fifos.head",
        "ports.source_position",
        "ports.source_base",
        "ports.source_end",
        "ports.source_more",
        "ports.sink_count",
        "ports.sink_taken",
        "cores.step",
        "accesses",  # of a core that makes them, it has its step; of the others they are over
        "externals.passed",
        "externals.following",
        "externals.head",
        "externals.ready",
        "externals.target",
        "externals.length",
        "externals.last",
    }
)
"""Columns that have guards of their own; ``guards`` compares and moves them."""

BY_SOFTWARE = frozenset({"lines"})
"""What only writes of registers change: a host that waits makes none, those of others keep jumps away."""

FLAGS = frozenset({"switch.last"})
"""Words that are compared for being equal: what is under way in switches ends where it ended before."""

_FIRST = ("clock", "granules", "fifos", "channels", "walks", "banks", "locks")  # these tell most often
_LAST = ("registers", "lines", "stamps", "earlier")


def how(name: str, column: Column) -> Compared | None:
    """How a column is compared; None = it has guards of its own, or is none of the model's business."""
    if name in FLAGS:
        return Compared.EQUAL
    if name in GUARDED or name in BY_SOFTWARE or column.kind in (Kind.DATA, Kind.PROCESS):
        return None
    if column.reset is Reset.WIRED:
        return None
    if column.kind is Kind.STAMP:
        return Compared.STAMP
    if column.kind is Kind.DUE:
        return Compared.DUE
    if column.kind is Kind.COUNT and column.reset is Reset.BOOKS:
        return Compared.ACCOUNT
    return Compared.EQUAL


def _spans(st: State) -> Iterator[tuple[str, list[list[int]]]]:
    """Name and spans of each table and array, with addresses counted from where it begins."""
    for field, (what, _owner) in fields_of(StateTables).items():
        values = getattr(st, field)
        if isinstance(what, Column):
            host = what.reset is Reset.OUTSIDE  # laid out anew, and not written by cycles
            compared = None if host else how(field, what)
            if compared is not None and values.size:
                yield field, [[0, 1, 0, values.size, compared]]
            continue
        first = _whole(values)
        rows, apart = len(first), first.strides[0]
        if rows:
            layout = _spans_of(field, what)
            runs = _runs(live_ports(st)) if field == "switch" else [(0, rows)]
            yield (
                field,
                [
                    [begin * apart + at, count, apart, n, compared]
                    for begin, count in runs
                    for at, n, compared in layout
                ],
            )


def live_ports(st: State) -> npt.NDArray[np.bool_]:
    """Which ports of the stream switches may hold words, as the switches are set now."""
    switch = plain(st.switch)
    live: npt.NDArray[np.bool_] = (switch.mode != OFF) | (switch.held > 0)
    beyond = switch.link[live & (switch.is_master == 1)]
    live[beyond[beyond >= 0]] = True
    for ports in (plain(st.channels).switch_port, plain(st.cores).stream_out):
        live[ports[ports >= 0]] = True
    for ports in (plain(st.controls).slave_port, plain(st.spec.event_units).trace_port):
        live[ports[ports >= 0]] = True
    return live


def _runs(rows: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First one and number of the rows that follow each other."""
    edges = np.flatnonzero(np.diff(rows.astype(np.int8), prepend=0, append=0)).tolist()
    return [(begin, end - begin) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


class _Template(NamedTuple):
    """The plan of all states of the same shapes.

    Attributes:
        spans: with addresses counted from where the table begins.
        tables: names of the tables and arrays.
        rows: which of these each span is of.
    """

    spans: Ints
    tables: list[str]
    rows: Ints


_templates: dict[tuple[Any, ...], _Template] = {}  # by the shapes of all tables, and the ports in use


def _template(st: State) -> _Template:
    shapes = *(_whole(getattr(st, field)).shape for field in _fields()), live_ports(st).tobytes()
    if shapes not in _templates:
        ranked = sorted(_spans(st), key=lambda found: _rank(found[0]))
        spans = [span for _, of_table in ranked for span in of_table]
        rows = [n for n, (_, of_table) in enumerate(ranked) for _ in of_table]
        tables = [field for field, _ in ranked]
        _templates[shapes] = _Template(np.array(spans, np.int64), tables, np.array(rows))
    return _templates[shapes]


@cache
def _fields() -> list[str]:
    return list(fields_of(StateTables))


def _whole(values: Any) -> npt.NDArray[Any]:
    """A table, or its first column where tables are tuples of columns."""
    found: npt.NDArray[Any] = values if isinstance(values, np.ndarray) else getattr(values, values._fields[0])
    return found


def _address(values: npt.NDArray[Any]) -> int:
    return int(values.ctypes.data)


@cache
def _spans_of(field: str, columns: type) -> list[tuple[int, int, Compared]]:
    """Spans of a row of a table: byte in it, words and how they are compared; neighbours are one span."""
    found: list[tuple[int, int, Compared]] = []
    at = 0
    for name, column in columns_of(columns).items():
        words, compared = words_of(columns, name), how(f"{field}.{name}", column)
        if compared is not None:
            last = found[-1] if found else (0, 0, compared)
            if last[0] + last[1] * WORD == at and last[2] is compared and found:
                found[-1] = (last[0], last[1] + words, compared)
            else:
                found.append((at, words, compared))
        at += words * WORD
    return found


def _rank(table: str) -> int:
    """Where a table comes: what differs most often first."""
    if table in _FIRST:
        return _FIRST.index(table)
    return len(_FIRST) + (1 + _LAST.index(table) if table in _LAST else 0)


def arrays(st: State) -> Arrays:
    """The arrays for fast-forward of a state; valid as long as its tables."""
    template = _template(st)
    plan, channels = template.spans.copy(), len(st.channels.phase)
    first = np.array([_address(_whole(getattr(st, table))) for table in template.tables], np.int64)
    plan[:, ADDRESS] += first[template.rows]
    words = int((plan[:, COUNT_OF_ROWS] * plan[:, COUNT_OF_WORDS]).sum())
    own = len(st.cores.phase) * OF_CORE + len(st.externals.head) * OF_EXTERNAL
    size = HEAD + channels * OF_CHANNEL + own + words
    book = untouched(Book.FIRST + channels * (SCRATCH + 1) + MOST_SEGMENTS * SEGMENT)
    book[Book.SLOT_SIZE] = size
    way = np.zeros(len(st.switch.held) * (OF_PORT + 1), np.int64)
    way[: len(st.switch.held) * OF_PORT].reshape(-1, OF_PORT)[:, PLANNED] = live_ports(st)
    return Arrays(
        plan.ravel(),
        untouched(SLOTS * size),
        book,
        way,
        np.zeros(RING_COLUMNS * EXTERNAL_SLOTS, np.int64),
        untouched(ALL_FLOWS // 2).view(np.uint32),
        untouched(ALL_FLOWS // 8).view(np.uint8),
    )


def untouched(words: int) -> Ints:
    """So many zeros that take memory where they are written, and only there: pages are small.

    NumPy asks for large pages; then a word at the head of each slot costs the clearing of 2 MB.
    """
    return np.frombuffer(mmap(-1, words * WORD), np.int64)
