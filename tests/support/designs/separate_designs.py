"""Random work of several tiles side by side, of which some have to do with each other and some have not.

Rows of memory tiles whose channels may reach the memory and the locks of their neighbours, and columns that
may share areas of external memory or have kernels, which may keep to themselves, reach their neighbours and
raise errors. For tests of parts that have clocks of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from memtile.arch.tiles import MM2S, S2MM
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Dim, Release
from memtile.bd.windows import EAST, OWN, WEST
from memtile.kernels import Action, Core, Kernel, apart
from memtile.sim.kernels.kernel_core import MemoryPiece
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.testing.rig import Rig
from support.designs import flowing_designs, repeating_designs
from support.designs.flowing_designs import CORE, MEM, add_area, kernel_of
from support.designs.interface_bench import Column, side_by_side
from support.designs.repeating_designs import EAGER, LOCKS, Work, works

BESIDE = (Dim(1, 16), Dim(64, 0))  # rows of words beside those of other columns
REACHING = 4  # channels of each direction that reach the neighbours


class Row(NamedTuple):
    """What memory tiles side by side do, and the cycles at which a run stops."""

    tiles: tuple[repeating_designs.Design, ...]
    stops: tuple[int, ...]


class Manner(NamedTuple):
    """What a kernel does beside its work.

    Attributes:
        apart: says that it keeps to itself.
        names: says that it reaches the tile in the west.
        west: does so.
        fails: raises an error instead of its action of this number; -1 = it does not.
        behind: words behind the beginning of an area that those of its column go to.
    """

    apart: bool
    names: bool
    west: bool
    fails: int
    behind: int


class Columns(NamedTuple):
    """What columns side by side do, with the areas that their words come from and go to.

    Beside them are columns in which a memory tile sends so many words again and again.
    """

    columns: tuple[tuple[flowing_designs.Design, int, int, Manner], ...]
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
def _manners(draw: st.DrawFn, number: int) -> Manner:
    reaches = number > 0 and draw(st.integers(0, 3)) == 0
    return Manner(
        apart=draw(st.integers(0, 7)) < 7,
        names=number > 0 and (draw(st.integers(0, 5)) > 0 if reaches else draw(st.integers(0, 5)) == 0),
        west=reaches,
        fails=draw(st.integers(0, 120)) if draw(st.integers(0, 4)) == 0 else -1,
        behind=16 * number if draw(st.integers(0, 2)) == 0 else -1,
    )


@st.composite
def columns(draw: st.DrawFn) -> Columns:
    """One to three columns with or without kernels, and up to two of which the memory tile only sends."""
    count = draw(st.sampled_from([3, 2, 1]))
    timing = draw(st.sampled_from(flowing_designs.TIMINGS))
    with_kernels, sharing = draw(st.integers(0, 3)) < 3, draw(st.integers(0, 3)) == 3
    found = []
    for number in range(count):
        design = draw(flowing_designs.designs(kernels=with_kernels and draw(st.integers(0, 3)) < 3))
        if with_kernels and not design.waits:
            design = design._replace(waits=(draw(st.integers(1, 200)),))
        came = draw(st.sampled_from([2 * number, 2 * number, 0])) if sharing else 2 * number
        went = draw(st.sampled_from([2 * number + 1, 2 * number + 1, 0])) if sharing else 2 * number + 1
        manner = draw(_manners(number))
        if manner.behind >= 0:
            went, design = 1, design._replace(went=BESIDE)
        found.append((design._replace(timing=timing), came, went, manner))
    senders = draw(st.lists(st.integers(5, 400), min_size=2 - min(count, 2), max_size=2))
    return Columns(tuple(found), tuple(senders), tuple(draw(_stops())))


def with_manner(work: Kernel, manner: Manner, number: int) -> Kernel:
    """A kernel that does its work in a manner, in the column of this number."""
    west = number - 1, CORE
    there = MemoryPiece("there", 0xF000, (4,), np.dtype(np.int32), west)

    def kernel(core: Core) -> Iterator[Action]:
        for n, action in enumerate(work(core)):
            if n == manner.fails:
                core.made.remove(action)
                raise ArithmeticError(n)
            yield action
            if manner.west and n % 5 == 3:
                core.write(there, [n] * 4)
                yield core.release(9, tile=west)
                yield core.acquire(9, tile=west)
                core.view(there)[n % 4] += 1

    if not manner.apart:
        return kernel
    return apart(west)(kernel) if manner.names else apart(kernel)


def ended(engine: Engine, until: int) -> Stop | tuple[type, str, list[str]]:
    """How a run ends: why it stopped, or by which error."""
    try:
        return engine.run(until)
    except (Exception, KeyboardInterrupt) as error:
        return type(error), str(error), list(getattr(error, "__notes__", []))


def parts(engine: Engine) -> int:
    """How many parts the last run had."""
    found = engine.clocks.parts
    return 1 if found is None else len(found.own)


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
    for area in sorted({area for _, came, went, _ in design.columns for area in (came, went)}):
        add_area(engine, f"area {area}", area)
    for number, (each, came, went, manner) in enumerate(design.columns):
        column = Column(beside=engine, number=number)
        kernel = with_manner(kernel_of(each), manner, number)
        flowing_designs.set_up(column, each, came, went, kernel, max(manner.behind, 0))
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
