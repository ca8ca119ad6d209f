"""Which words of a state fast-forward compares, and how: from the classes that the columns declare.

A column that nobody looked at is compared for being equal: it can keep time from being jumped over, and
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.jit.words import WORD
from memtile.model.state.columns import Column, Ints, Kind, Reset
from memtile.model.state.compare import columns
from memtile.model.state.state import State
from memtile.sim.forward.places import (
    CLASS,
    COUNT_OF_ROWS,
    COUNT_OF_WORDS,
    HEAD,
    MOST_SEGMENTS,
    OF_CHANNEL,
    SCRATCH,
    SEGMENT,
    SLOTS,
    SPAN,
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
        "ports.source_ends",
        "ports.source_more",
        "ports.sink_count",
        "ports.sink_taken",
    }
)
"""Columns that have guards of their own; ``guards`` compares and moves them."""

_FIRST = ("clock", "granules", "fifos", "channels", "walks", "banks", "locks")  # these tell most often
_LAST = ("registers", "lines", "stamps", "earlier")


class Arrays(NamedTuple):
    """What fast-forward works with, beside the state."""

    plan: Ints
    kept: Ints
    book: Ints


def how(name: str, column: Column) -> Compared | None:
    """How a column is compared; None = it has guards of its own, or is none of the model's business."""
    if name in GUARDED or column.kind in (Kind.DATA, Kind.PROCESS):
        return None
    if column.kind is Kind.STAMP:
        return Compared.STAMP
    if column.kind is Kind.DUE:
        return Compared.DUE
    if column.kind is Kind.COUNT and column.reset is Reset.BOOKS:
        return Compared.ACCOUNT
    return Compared.EQUAL


def _spans(st: State) -> Iterator[tuple[str, list[int]]]:
    """Name and entries of each span, a column each."""
    for name, values, column, _owner in columns(st):
        compared = how(name, column)
        host = "." not in name and column.reset is Reset.OUTSIDE  # laid out anew, not written by cycles
        if compared is not None and not host and values.size:
            yield name, _entries(values, compared)


def _entries(values: npt.NDArray[np.int64], compared: Compared) -> list[int]:
    address = values.__array_interface__["data"][0]
    if values.flags.c_contiguous:
        return [address, 1, 0, values.size, compared]
    return [address, len(values), values.strides[0], values[0].size, compared]


def _joined(spans: list[list[int]]) -> list[list[int]]:
    """Spans that continue each other in every row as one."""
    joined: list[list[int]] = []
    for span in spans:
        before = joined[-1] if joined else [0] * SPAN
        same = before[COUNT_OF_ROWS : COUNT_OF_ROWS + 2] == span[COUNT_OF_ROWS : COUNT_OF_ROWS + 2]
        adjacent = before[0] + before[COUNT_OF_WORDS] * WORD == span[0] and before[CLASS] == span[CLASS]
        if same and adjacent and span[COUNT_OF_ROWS] > 1:
            before[COUNT_OF_WORDS] += span[COUNT_OF_WORDS]
        else:
            joined.append(list(span))
    return joined


def _rank(name: str) -> int:
    """Where a column's table comes: what differs most often first."""
    table = name.partition(".")[0]
    if table in _FIRST:
        return _FIRST.index(table)
    return len(_FIRST) + (1 + _LAST.index(table) if table in _LAST else 0)


def arrays(st: State) -> Arrays:
    """The arrays for fast-forward of a state; valid as long as its tables."""
    ranked = sorted(_spans(st), key=lambda found: _rank(found[0]))
    spans = _joined([span for _, span in ranked])
    channels = len(st.channels.phase)
    words = sum(span[COUNT_OF_ROWS] * span[COUNT_OF_WORDS] for span in spans)
    size = HEAD + channels * OF_CHANNEL + words
    book = np.zeros(Book.FIRST + channels * (SCRATCH + 1) + MOST_SEGMENTS * SEGMENT, np.int64)
    book[Book.SLOT_SIZE] = size
    return Arrays(np.array(spans, np.int64).ravel(), np.zeros(SLOTS * size, np.int64), book)
