"""Which words of a state fast-forward may compare, and how: from the classes that the columns declare.

A column that nobody looked at is compared for being equal: it can keep time from being jumped over, and
nothing else. ``live_parts`` says which rows are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.jit.addresses import WORD
from memtile.jit.settings import ENABLED
from memtile.jit.structs import StructPlace, addresses_at, at_hand, place_like, place_of
from memtile.jit.tables import plain, row_words, table_in, words_of
from memtile.model.state.columns import Column, Ints, Motion, Owner, Reset, columns_of, fields_of
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State, StateTables
from memtile.sim.loop.memory_pool import keep, kept, lend_pages
from memtile.sim.skip.probe_policy import Policy, choices
from memtile.sim.skip.records import (
    ALL_FLOWS,
    HEAD,
    MOST_SEGMENTS,
    OF_CHANNEL,
    OF_EXTERNAL,
    OF_TILES,
    RING_COLUMNS,
    SLOTS,
    TABLES,
    Arrays,
    Layout,
    Moves,
    RowsOf,
    Search,
    Segments,
    SpanRule,
    Spans,
    Ways,
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
"""Columns that have guards of their own; ``repeat_guards`` compares and moves them."""

RAISED = frozenset({"registers", "stamps", "earlier"})
"""What hardware changes only where events are raised by their number, but for registers of BDs that iterate.

Sticky bits of registers are set by more, and nothing is else after they are set again.
"""

OBSERVED = {
    "observers.counting": SpanRule.EQUAL,
    "observers.edge_was": SpanRule.EQUAL,
    "observers.derived": SpanRule.EQUAL,
    "observers.timer_base": SpanRule.STAMP,
    "traces.state": SpanRule.EQUAL,
    "traces.stopping": SpanRule.EQUAL,
    "traces.gap": SpanRule.GAP,
    "traces.mask": SpanRule.EQUAL,
    "traces.delta": SpanRule.EQUAL,
    "traces.repeats": SpanRule.REPEATS,
    "traces.used": SpanRule.EQUAL,
    "traces.full": SpanRule.EQUAL,
    "traces.left": SpanRule.EQUAL,
    "traces.lost": SpanRule.ACCOUNT,
}
"""What event units at work change, and how it is compared; ``unit_guards`` has the rest of their guards."""

RINGS = frozenset({"switch.last", "switch.entered"})
"""Columns of ports with a slot for each word."""

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
    Owner.REGISTER: RowsOf.REGISTER,
    Owner.WORD: RowsOf.MODEL,
}
LISTS = {  # what has as many entries as something is live
    "active_channels": RowsOf.LIST,
    "waiting_channels": RowsOf.LIST,
    "active_cores": RowsOf.LIST,
    "active_ports": RowsOf.LENGTH,  # pipes leave it in another order
    **dict.fromkeys(("bidding", "releasing", "asked_interfaces"), RowsOf.LENGTH),  # empty behind a cycle
    **dict.fromkeys(("active_controls", "active_units", "guarding", "asking_axi"), RowsOf.LENGTH),
    **dict.fromkeys(("zeroising", "gated"), RowsOf.LENGTH),
}

_FIRST = ("clock", "granules", "fifos", "channels", "walks", "banks", "locks")  # these tell most often
_LAST = ("registers", "stamps", "earlier")


def stays(name: str, column: Column, owner: Owner) -> bool:
    """Whether a column changes only by software, or while events are on their way: both keep jumps away."""
    of_units = owner in (Owner.UNIT, Owner.NODE) and name not in RAISED and name not in OBSERVED
    return of_units or column.kind is Motion.SETTING


def how(name: str, column: Column, owner: Owner) -> SpanRule | None:
    """How a column is compared; None = it has guards of its own, or stays, or is not the model's business."""
    if name in FLAGS:
        return SpanRule.EQUAL
    if name in OBSERVED:
        return OBSERVED[name]
    if name in GUARDED or stays(name, column, owner) or column.kind in (Motion.DATA, Motion.PROCESS):
        return None
    if column.reset is Reset.WIRED:
        return None
    if column.kind is Motion.STAMP:
        return SpanRule.STAMP
    if column.kind is Motion.DUE:
        return SpanRule.DUE
    if column.kind is Motion.COUNT and column.reset is Reset.BOOKS:
        return SpanRule.ACCOUNT
    return SpanRule.EQUAL


class WordSpan(NamedTuple):
    """Words of a row of a table.

    Attributes:
        at: their first byte in the row.
        words: how many.
        compared: how.
        ring: whether they are slots of a ring, of which some are in use.
    """

    at: int
    words: int
    compared: SpanRule
    ring: bool


def _layout(st: State) -> Iterator[tuple[str, list[list[int]]]]:
    """Name and layout of each table that is compared, with addresses counted from where it begins."""
    for field, (what, owner) in fields_of(StateTables).items():
        values = _whole(getattr(st, field))
        if isinstance(what, Column):
            host = what.reset is Reset.OUTSIDE  # laid out anew, and not written by cycles
            compared = None if host else how(field, what, owner)
            spans = [] if compared is None else [WordSpan(0, _row_words(values, owner), compared, False)]
        else:
            spans = _spans_of(field, what, owner)
        if values.size and spans:
            rows_of = LISTS.get(field, _ROWS_OF[owner])
            yield (
                field,
                [
                    [0, values.strides[0], RowsOf.RING if ring else rows_of, at, words, compared]
                    for at, words, compared, ring in spans
                ],
            )


def _row_words(values: npt.NDArray[Any], owner: Owner) -> int:
    """Words of a row of an array; one that belongs to the model is one row."""
    return values.size if owner is Owner.MODEL else values.size // max(len(values), 1)


class _Template(NamedTuple):
    """What the arrays for all states of the same shapes and kinds of tiles have in common.

    Attributes:
        kind: what states have that it is for.
        layout: with addresses counted from where the table begins.
        tables: names of the tables and arrays.
        places: where the struct has their addresses, see ``addresses_at``.
        numbers: which of these each entry is of.
        rows: of each tile in the tables, see ``records``.
        cuts: of one array, by field of ``Arrays``: they begin and end there.
        slot: entries of a slot.
        bases: of each ``Part``, where its flags begin, and their number.
        may_be_live: see :func:`rows_that_may_be_live`, of all tiles.
        laid: where the first such arrays are, and the address of all of them; none yet.
    """

    kind: Hashable
    layout: Ints
    tables: list[str]
    places: Ints
    numbers: Ints
    rows: Ints
    cuts: dict[str, tuple[int, int]]
    slot: int
    bases: Ints
    may_be_live: int
    laid: list[tuple[StructPlace, int]]


_templates: dict[tuple[Any, ...], _Template] = {}


def _template(st: State) -> _Template:
    t = at_hand(st.spec).tiles
    shapes = t.kind.tobytes(), t.has_dma.tobytes(), len(at_hand(st).switch.held)
    if shapes not in _templates:
        _templates[shapes] = _made(st, shapes)
    return _templates[shapes]


def _made(st: State, kind: Hashable) -> _Template:
    ranked = sorted(_layout(st), key=lambda found: _rank(found[0]))
    layout = np.array([row for _, of_table in ranked for row in of_table], np.int64)
    numbers = np.array([n for n, (_, of_table) in enumerate(ranked) for _ in of_table])
    tables = [field for field, _ in ranked]
    counts = np.array([len(_whole(getattr(st, table))) for table in tables])[numbers]
    counts[layout[:, Layout._fields.index("rows_of")] >= RowsOf.MODEL] = 1
    most, words = int((counts + 1).sum()), int((counts * layout[:, Layout._fields.index("words")]).sum())
    at = addresses_at(st) if ENABLED else {}
    places = np.array([at[table] for table in tables if at], np.int64)
    ports, channels, tiles = len(st.switch.held), len(st.channels.phase), len(st.spec.tiles.kind)
    parts = tiles, channels, len(st.cores.phase), len(st.externals.head), ports
    bases, rows = np.cumsum([0, *parts]), _rows(st)
    slot = HEAD + channels * OF_CHANNEL + parts[3] * OF_EXTERNAL + words
    sizes = {
        "search": row_words(Search),
        "channels": channels * row_words(Moves),
        "ways": ports * row_words(Ways),
        "moving": channels,
        "live_channels": channels,
        "segments": MOST_SEGMENTS * row_words(Segments),
        "passed": ports,
        "policy": row_words(Policy),
        "plan": most * row_words(Spans),
        "kept": SLOTS * slot,
        "ring": RING_COLUMNS * EXTERNAL_SLOTS,
        "flow": ALL_FLOWS // 2,
        "flow_last": ALL_FLOWS // 8,
        "layout": len(layout) * row_words(Layout),
        "rows": rows.size,
        "live": -(-int(bases[-1]) // WORD),
        "lists": int(bases[-1]),
    }
    ends = np.cumsum(list(sizes.values())).tolist()
    cuts = dict(zip(sizes, pairwise([0, *ends]), strict=True))
    may_be_live = int(rows_that_may_be_live(st).sum())
    return _Template(kind, layout, tables, places, numbers, rows, cuts, slot, bases, may_be_live, [])


def _rows(st: State) -> Ints:
    """First row and number of rows that each tile has in tables of each kind, in the order of ``RowsOf``."""
    t = plain(st.spec.tiles)
    tiles = len(t.kind)
    each, found = np.arange(tiles), np.zeros((OF_TILES, tiles, 2), np.int64)
    found[RowsOf.TILE] = np.stack([each, np.ones(tiles)], -1)
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
    if len(template.places):
        return (st.place or place_of(st)).words[template.places].view(np.int64)
    first = [_whole(getattr(st, table)).__array_interface__["data"][0] for table in template.tables]
    return np.array(first, np.int64)


@cache
def _spans_of(field: str, columns: type, owner: Owner) -> list[WordSpan]:
    """Spans of a row of a table; neighbours are one span, but for those of rings."""
    found: list[WordSpan] = []
    at = 0
    for name, column in columns_of(columns).items():
        words, compared = words_of(columns, name), how(f"{field}.{name}", column, owner)
        ring = f"{field}.{name}" in RINGS
        if compared is not None:
            last = found[-1] if found else WordSpan(0, 0, compared, True)
            if last.at + last.words * WORD == at and last.compared is compared and not (ring or last.ring):
                found[-1] = last._replace(words=last.words + words)
            else:
                found.append(WordSpan(at, words, compared, ring))
        at += words * WORD
    return found


def _rank(table: str) -> int:
    """Where a table comes: what differs most often first."""
    if table in _FIRST:
        return _FIRST.index(table)
    return len(_FIRST) + (1 + _LAST.index(table) if table in _LAST else 0)


class PooledSpans:
    """Arrays for fast-forward of an engine; when it is gone they wait for the next one of its kind.

    Args:
        st: state of the engine.

    Attributes:
        arrays: they; valid as long as its tables.
    """

    _kind: Hashable = None  # where there was no memory for the arrays, nothing waits for the next one

    def __init__(self, st: State) -> None:
        template = _template(st)
        self.arrays: Arrays = kept(template.kind) or _laid_out(template)
        self._kind = template.kind
        _begin(st, template, self.arrays)

    def __del__(self, keep: Callable[[Hashable, Any], None] = keep) -> None:
        if self._kind is not None:
            keep(self._kind, self.arrays)


def arrays(st: State) -> Arrays:
    """The arrays for fast-forward of a state; valid as long as its tables."""
    template = _template(st)
    made = _laid_out(template)
    _begin(st, template, made)
    return made


def _begin(st: State, template: _Template, made: Arrays) -> None:
    """Let the arrays be those of a state of which nothing is known."""
    seen = at_hand(made)
    search = seen.search
    made.forgotten[:] = 0
    seen.layout.table[:] = template.layout[:, 0] + _addresses(st, template)[template.numbers]
    search.slot_size[0], search.scope_rows[0] = template.slot, template.may_be_live
    search.first_flag[0] = template.bases


def _laid_out(template: _Template) -> Arrays:
    """New arrays."""
    area, _ = lend_pages(template.cuts["lists"][1], np.int64)
    found: dict[str, Any] = {name: area[first:end] for name, (first, end) in template.cuts.items()}
    found |= {name: table_in(columns, found[name]) for name, columns in TABLES.items()}
    for name, values in zip(Layout._fields, template.layout.T, strict=True):
        getattr(plain(found["layout"]), name)[:] = values
    for name, choice in choices().items():
        getattr(plain(found["policy"]), name)[:] = choice.value
    found["rows"][:] = template.rows
    found["flow"] = found["flow"].view(np.uint32)
    found |= {name: found[name].view(np.uint8) for name in ("flow_last", "live")}
    made = Arrays(**found)
    made.forgotten = area[: template.cuts["ways"][1]]
    if ENABLED:
        _give_place(made, template, int(area.ctypes.data))
    return made


def _give_place(made: Arrays, template: _Template, address: int) -> None:
    """Say where the arrays are, all of them in one; the first ones of a template are looked at."""
    if template.laid:
        place_like(made, template.laid[0][0], address - template.laid[0][1])
    else:
        template.laid.append((place_of(made), address))


def rows_that_may_be_live(st: State) -> Ints:
    """Of each tile, about how much is looked at to find what is live."""
    t = plain(st.spec.tiles)
    rows: Ints = 1 + 4 * t.channels + t.slaves + t.masters
    return rows
