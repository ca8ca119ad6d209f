"""Which words of a state fast-forward may compare, and how: from the classes that the columns declare.

A column that nobody looked at is compared for being equal: it can keep time from being jumped over, and
nothing else. ``live`` says which rows are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.jit.settings import ENABLED
from memtile.jit.structs import addresses_at, place_of
from memtile.jit.tables import plain, words_of
from memtile.jit.words import WORD
from memtile.model.state.columns import Column, Ints, Kind, Owner, Reset, columns_of, fields_of
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State, StateTables
from memtile.sim.forward.places import (
    ALL_FLOWS,
    FIRST_TILE,
    HEAD,
    MOST_SEGMENTS,
    OF_CHANNEL,
    OF_EXTERNAL,
    OF_PORT,
    OF_TILES,
    RING_COLUMNS,
    ROW_WORDS,
    ROWS_IN_SCOPE,
    ROWS_OF,
    SCRATCH,
    SEGMENT,
    SLOTS,
    SPAN,
    TABLE,
    Arrays,
    Book,
    Compared,
    RowsOf,
    segments,
)
from memtile.sim.recycled import lend_pages

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
        "fifos.held",
        "ports.source_position",
        "ports.source_base",
        "ports.source_end",
        "ports.source_more",
        "ports.sink_count",
        "ports.sink_taken",
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

_ROWS_OF = {
    Owner.MODEL: RowsOf.MODEL,
    Owner.TILE: RowsOf.TILE,
    Owner.CHANNEL: RowsOf.CHANNEL,
    Owner.EXTERNAL: RowsOf.EXTERNAL,
    Owner.CORE: RowsOf.CORE,
    Owner.LOCK: RowsOf.LOCK,
    Owner.BANK: RowsOf.BANK,
    Owner.INTERFACE: RowsOf.INTERFACE,
    Owner.PORT: RowsOf.PORT,
    Owner.ARBITER: RowsOf.ARBITER,
    Owner.UNIT: RowsOf.UNIT,
    Owner.NODE: RowsOf.NODE,
    Owner.REGISTER: RowsOf.REGISTER,
    Owner.WORD: RowsOf.MODEL,
}
_LISTS = {  # what has as many entries as something is live
    "active_channels": RowsOf.LIST,
    "waiting_channels": RowsOf.LIST,
    "bidding": RowsOf.LIST,
    "releasing": RowsOf.LIST,
    "active_cores": RowsOf.LIST,
    "active_ports": RowsOf.PORT_LIST,
}

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


def _layout(st: State) -> Iterator[tuple[str, list[list[int]]]]:
    """Name and layout of each table that is compared, with addresses counted from where it begins."""
    for field, (what, owner) in fields_of(StateTables).items():
        values = _whole(getattr(st, field))
        if isinstance(what, Column):
            host = what.reset is Reset.OUTSIDE  # laid out anew, and not written by cycles
            compared = None if host else how(field, what)
            spans = [] if compared is None else [(0, _row_words(values, owner), compared)]
        else:
            spans = _spans_of(field, what)
        if values.size and spans:
            rows_of = _LISTS.get(field, _ROWS_OF[owner])
            yield field, [[0, values.strides[0], rows_of, at, n, compared] for at, n, compared in spans]


def _row_words(values: npt.NDArray[Any], owner: Owner) -> int:
    """Words of a row of an array; one that belongs to the model is one row."""
    return values.size if owner is Owner.MODEL else values.size // max(len(values), 1)


class _Template(NamedTuple):
    """The layout of all states of the same shapes and kinds of tiles.

    Attributes:
        layout: with addresses counted from where the table begins.
        tables: names of the tables and arrays.
        places: where the struct has their addresses, see ``addresses_at``.
        numbers: which of these each entry is of.
        rows: of each tile in the tables, see ``places``.
        most: spans of a plan at most.
        words: of these at most.
    """

    layout: Ints
    tables: list[str]
    places: list[int]
    numbers: Ints
    rows: Ints
    most: int
    words: int


_templates: dict[tuple[Any, ...], _Template] = {}


def _template(st: State) -> _Template:
    t = st.spec.tiles
    shapes = np.asarray(t.kind).tobytes(), np.asarray(t.has_dma).tobytes(), len(st.switch.held)
    if shapes not in _templates:
        ranked = sorted(_layout(st), key=lambda found: _rank(found[0]))
        layout = np.array([row for _, of_table in ranked for row in of_table], np.int64)
        numbers = np.array([n for n, (_, of_table) in enumerate(ranked) for _ in of_table])
        tables = [field for field, _ in ranked]
        counts = np.array([len(_whole(getattr(st, table))) for table in tables])[numbers]
        counts[layout[:, ROWS_OF] >= RowsOf.MODEL] = 1
        most, words = int((counts // 2 + 1).sum()), int((counts * layout[:, ROW_WORDS]).sum())
        at = addresses_at(st) if ENABLED else {}
        places = [at[table] for table in tables if at]
        _templates[shapes] = _Template(layout, tables, places, numbers, _rows(st), most, words)
    return _templates[shapes]


def _rows(st: State) -> Ints:
    """First row and number of rows that each tile has in tables of each kind, in the order of ``RowsOf``."""
    t = plain(st.spec.tiles)
    tiles = len(t.kind)
    nodes = np.bincount(np.asarray(plain(st.spec.nodes).tile), minlength=tiles)
    each, found = np.arange(tiles), np.zeros((OF_TILES, tiles, 2), np.int64)
    found[RowsOf.TILE] = np.stack([each, np.ones(tiles)], -1)
    found[RowsOf.NODE] = np.stack([np.cumsum(nodes) - nodes, nodes], -1)
    for rows_of, first, count in (
        (RowsOf.LOCK, t.lock_base, t.locks),
        (RowsOf.BANK, t.bank_base, t.banks),
        (RowsOf.UNIT, t.first_unit, t.units),
        (RowsOf.REGISTER, t.register_base, t.registers),
    ):
        found[rows_of] = np.stack([first, count], -1)
    for rows_of, table in ((RowsOf.INTERFACE, st.interfaces), (RowsOf.ARBITER, st.arbiters)):
        every = len(_whole(table)) // tiles
        found[rows_of] = np.stack([each * every, np.full(tiles, every)], -1)
    return found.ravel()


def _whole(values: Any) -> npt.NDArray[Any]:
    """A table, or its first column where tables are tuples of columns."""
    found: npt.NDArray[Any] = values if isinstance(values, np.ndarray) else getattr(values, values._fields[0])
    return found


def _addresses(st: State, template: _Template) -> Ints:
    """Where the tables of the template begin."""
    if template.places:
        return place_of(st).words[template.places].astype(np.int64)
    first = [_whole(getattr(st, table)).__array_interface__["data"][0] for table in template.tables]
    return np.array(first, np.int64)


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
    layout, channels = template.layout.copy(), len(st.channels.phase)
    layout[:, TABLE] += _addresses(st, template)[template.numbers]
    parts = len(st.spec.tiles.kind), channels, len(st.cores.phase), len(st.externals.head)
    bases = np.cumsum([0, *parts, len(st.switch.held)])
    size = HEAD + channels * OF_CHANNEL + parts[3] * OF_EXTERNAL + template.words
    words = {
        "plan": template.most * SPAN,
        "kept": SLOTS * size,
        "book": Book.FIRST + channels * (SCRATCH + 2) + MOST_SEGMENTS * SEGMENT,
        "way": len(st.switch.held) * (OF_PORT + 1),
        "ring": RING_COLUMNS * EXTERNAL_SLOTS,
        "flow": ALL_FLOWS // 2,
        "flow_last": ALL_FLOWS // 8,
        "live": -(-int(bases[-1]) // WORD),
        "lists": int(bases[-1]),
        "scope": FIRST_TILE + parts[0],
    }
    ends = np.cumsum(list(words.values()))
    area, new = lend_pages(int(ends[-1]), np.int64)
    found: dict[str, Any] = dict(zip(words, np.split(area, ends[:-1]), strict=True))
    if not new:
        found["way"][: len(st.switch.held) * OF_PORT] = 0
        found["book"][: segments(channels)] = 0
    found |= {"flow": found["flow"].view(np.uint32), "layout": layout.ravel(), "rows": template.rows}
    found |= {name: found[name].view(np.uint8) for name in ("flow_last", "live")}
    found["book"][Book.SLOT_SIZE] = size
    found["scope"][:] = 1
    found["scope"][ROWS_IN_SCOPE] = rows_that_may_be_live(st).sum()
    found["book"][Book.BASE : Book.ALL + 1] = bases
    return Arrays(**found)


def rows_that_may_be_live(st: State) -> Ints:
    """Of each tile, about how much is looked at to find what is live."""
    t = plain(st.spec.tiles)
    rows: Ints = 1 + 4 * t.channels + t.slaves + t.masters
    return rows
