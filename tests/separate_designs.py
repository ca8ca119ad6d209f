"""Random work of several tiles side by side, of which some have to do with each other and some have not.

Rows of memory tiles whose channels may reach the memory and the locks of their neighbours, and columns that
may share areas of external memory or have kernels. For tests of parts that have clocks of their own.
"""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

import flowing_designs
import repeating_designs
from flowing_designs import CORE, MEM, add_area, kernel_of
from interface_bench import Column, side_by_side
from memtile.arch.tiles import MM2S, S2MM
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Release
from memtile.bd.windows import EAST, OWN, WEST
from memtile.sim.engine import Engine
from memtile.testing.rig import Rig
from repeating_designs import EAGER, LOCKS, Work, works

REACHING = 4  # channels of each direction that reach the neighbours


class Row(NamedTuple):
    """What memory tiles side by side do, and the cycles at which a run stops."""

    tiles: tuple[repeating_designs.Design, ...]
    stops: tuple[int, ...]


class Columns(NamedTuple):
    """What columns side by side do, with the areas that their words come from and go to.

    Beside them are columns in which a memory tile sends so many words again and again.
    """

    columns: tuple[tuple[flowing_designs.Design, int, int], ...]
    senders: tuple[int, ...]
    stops: tuple[int, ...]


def _stops() -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 5000), min_size=1, max_size=3)


@st.composite
def _of_tile(draw: st.DrawFn, timing: Timing) -> repeating_designs.Design:
    """A few channels of a tile; some release locks of a neighbour, some use its memory."""
    channels = draw(st.lists(st.integers(0, 11), min_size=1, max_size=3, unique=True))
    reaches = draw(st.booleans())
    done: list[Work] = []
    for channel in channels:
        work = draw(works(channel, 3 if reaches else 1))
        if reaches and channel % 6 < REACHING and draw(st.integers(0, 3)) == 0:
            lock = draw(st.sampled_from([WEST, EAST])).lock(draw(st.integers(0, LOCKS - 1)))
            work = work._replace(chain=tuple(bd.but(release=Release(lock, 1)) for bd in work.chain))
        done.append(work)
    locks = tuple(draw(st.lists(st.integers(0, 3), min_size=LOCKS, max_size=LOCKS)))
    return repeating_designs.Design(timing, 1, draw(st.booleans()), locks, tuple(done), ())


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """Two to five memory tiles side by side."""
    timing = draw(st.sampled_from(repeating_designs.TIMINGS))
    tiles = draw(st.lists(_of_tile(timing), min_size=2, max_size=5))
    return Row(tuple(tiles), tuple(draw(_stops())))


@st.composite
def columns(draw: st.DrawFn) -> Columns:
    """One to three columns with or without kernels, and up to two of which the memory tile only sends."""
    count = draw(st.integers(1, 3))
    timing = draw(st.sampled_from(flowing_designs.TIMINGS))
    found = []
    for number in range(count):
        design = draw(flowing_designs.designs(kernels=draw(st.integers(0, 2)) == 0))
        came = draw(st.sampled_from([2 * number, 2 * number, 2 * number, 0]))
        went = draw(st.sampled_from([2 * number + 1, 2 * number + 1, 2 * number + 1, 0]))
        found.append((design._replace(timing=timing), came, went))
    senders = draw(st.lists(st.integers(5, 400), min_size=2 - min(count, 2), max_size=2))
    return Columns(tuple(found), tuple(senders), tuple(draw(_stops())))


def _ready(engine: Engine, *, forward: bool, own: bool) -> Engine:
    engine.forward.on, engine.forward.free = forward, EAGER
    engine.clocks.on = engine.clocks.free = own
    return engine


def row_of(design: Row, *, forward: bool, own: bool) -> Rig:
    """The memory tiles with everything written and pushed, before their first cycle."""
    rig = Rig(timing=design.tiles[0].timing, tiles=len(design.tiles))
    _ready(rig.engine, forward=forward, own=own)
    for number, tile in enumerate(design.tiles):
        repeating_designs.set_up(rig.beside(number), tile)
    return rig


def columns_of(design: Columns, *, forward: bool, own: bool) -> Engine:
    """The columns with everything written and pushed, before their first cycle."""
    engine = _ready(
        side_by_side(len(design.columns) + len(design.senders), design.columns[0][0].timing),
        forward=forward,
        own=own,
    )
    for area in sorted({area for _, *both in design.columns for area in both}):
        add_area(engine, f"area {area}", area)
    for number, (each, came, went) in enumerate(design.columns):
        column = Column(beside=engine, number=number)
        flowing_designs.set_up(column, each, came, went, kernel_of(each))
    for number, length in enumerate(design.senders, len(design.columns)):
        sending(engine, number, length)
    return engine


def sending(engine: Engine, number: int, length: int) -> None:
    """A memory tile sends for ever, to the compute tile of its column."""
    column = Column(beside=engine, number=number)
    column.circuit(MEM, "DMA0", "NORTH0")
    column.circuit(CORE, "SOUTH0", "DMA0")
    column.start(MEM, MM2S, 0, 0, length, OWN.address(0), next=0)
    column.start(CORE, S2MM, 0, 0, length, 0, next=0)
