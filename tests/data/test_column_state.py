"""Does every column of the state do what it declares, when its tile is reset or has no clock for a while?"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from memtile.arch.tiles import TileName
from memtile.model import column_clock, roster
from memtile.model.build.tables import arrays_at_rest, at_rest
from memtile.model.column_clock import reset_tile
from memtile.model.memory.neighbours import NOWHERE
from memtile.model.state.columns import (
    Column,
    Holds,
    Ints,
    Motion,
    Owner,
    Pause,
    Reset,
    Words,
    columns_of,
    dtypes_of,
    fields_of,
)
from memtile.model.state.rows import columns_of_tile
from memtile.model.state.state import State, StateTables
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine import Engine

Columns = dict[str, npt.NDArray[Any]]
SINCE, MISSED = 1000, 20
TILES: tuple[TileName, ...] = ("memory", "compute")

# Not filled with other values before a reset: lists that a filled entry would break, what the filling of
# ``column_clock`` decides on, depths by which rings are read, a bank mapping that has to be one, kernels.
NOT_FILLED = {
    "switch.depth",
    "gates.off",
    "gates.held",
    "flights",
    "memories.shift",
    "memories.mask",
    "memories.group_shift",
    "memories.group_mask",
    "memories.group_banks",
    "cores.phase",
}
# Of one cycle; a number of cycles; of interface tiles, which keep their clock.
NO_CYCLE_NUMBERS = {"observers.timer_trigger", "gates.zeroising", "flights"}


def declared() -> dict[str, Column]:
    found: dict[str, Column] = {}
    for field, (what, _) in fields_of(StateTables).items():
        own = {field: what} if isinstance(what, Column) else columns_of(what)
        prefix = "" if isinstance(what, Column) else f"{field}."
        found |= {prefix + name: column for name, column in own.items()}
    return found


DECLARED = declared()


def of_tile(state: State) -> Columns:
    """The rows of tile 0, by ``table.column``."""
    return {name: values[rows] for name, values, rows, _ in columns_of_tile(state, 0)}


def test_every_column_is_declared() -> None:
    """Tables have no default: what a column is, it says, or nothing can be built."""
    state = Engine([Placed("memory")]).state
    names = {name for name, *_ in columns_of_tile(state, 0)}
    of_model = {name for name, (_, owner) in fields_of(StateTables).items() if owner is Owner.MODEL}
    assert names | of_model >= {name for name in DECLARED if not name.startswith("clock.")}
    assert len(DECLARED) > 250

    class Silent(NamedTuple):
        """A table with a column that does not say what it is."""

        said: Annotated[Ints, Column(Motion.EQUAL, 0, Reset.CLEARED, Pause.STAYS, Holds(0, 1))]
        silent: Ints

    with pytest.raises(TypeError, match=r"Silent\.silent: a column of the state is declared"):
        columns_of(Silent)


def test_an_array_has_the_dtype_that_its_declaration_says_whatever_numpy_calls_its_type() -> None:
    """The arguments of NumPy's ``NDArray`` are its own matter; they changed in NumPy 2.5."""

    class Arrays(NamedTuple):
        """Arrays of a type that says nothing, but for the last."""

        short: Annotated[Any, np.dtype(np.int16), Column(Motion.EQUAL, 0, Reset.CLEARED, Pause.STAYS, None)]
        words: Annotated[Words, Column(Motion.DATA, 0, Reset.CLEARED, Pause.STAYS, None)]

    assert dtypes_of(Arrays) == {"short": np.int16, "words": np.uint32}

    class Silent(NamedTuple):
        """An array without dtype."""

        silent: Annotated[npt.NDArray[np.int64], Column(Motion.EQUAL, 0, Reset.CLEARED, Pause.STAYS, None)]

    with pytest.raises(TypeError, match=r"Silent\.silent: an array is declared with one dtype"):
        dtypes_of(Silent)


def test_a_builder_gives_what_depends_on_the_tile_and_nothing_else() -> None:
    locks = fields_of(StateTables)["locks"][0]
    assert isinstance(locks, type)
    assert at_rest(locks, 2, tile=[0, 0]) is not None
    with pytest.raises(TypeError, match=r"no value for \['tile'\]"):
        at_rest(locks, 2)
    with pytest.raises(TypeError, match=r"a value too many for \['turn'\]"):
        at_rest(locks, 2, tile=[0, 0], turn=1)
    with pytest.raises(TypeError, match="no value for"):
        arrays_at_rest({"memory": 4})


def after_reset(name: TileName, *, filled: bool) -> tuple[Columns, Columns]:
    """The rows of a tile before and after a column reset, ``filled`` with other values than those of rest."""
    engine = Engine([Placed(name)], switched=True)
    state = engine.state
    state.clock.now[0] = SINCE
    if filled:
        for column, values, rows, what in columns_of_tile(state, 0):
            if column not in NOT_FILLED and what.reset is not Reset.WIRED:
                values[rows] = np.where(values[rows] == 1, 2, 1)
    column_clock.stop(state, 0)
    before = {column: values.copy() for column, values in of_tile(state).items()}
    reset_tile(state, 0)
    return before, of_tile(state)


@pytest.mark.parametrize("name", [*TILES, "interface"])
def test_a_reset_does_what_each_column_declares(name: TileName) -> None:
    """DEV-CLK-3."""
    before, after = after_reset(name, filled=True)
    _, rested = after_reset(name, filled=False)
    for column, values in after.items():
        reset, rest = DECLARED[column].reset, DECLARED[column].rest
        if reset is Reset.CLEARED:
            assert (values == rest).all(), f"{column} is not at rest"
        elif reset is Reset.NOW:
            assert (values == SINCE).all(), f"{column} is not the cycle of the reset"
        elif reset is Reset.MEMORY and name == "memory" and column in ("memory", "flips"):
            assert not values.any(), f"{column} of a memory tile is not zero"
        elif reset is Reset.OWN:
            assert np.array_equal(values, rested[column]), f"{column} depends on what was before the reset"
        elif not set_by_configuration(column):
            assert np.array_equal(values, before[column]), f"{column} was declared to stay"


def set_by_configuration(column: str) -> bool:
    """Stale columns of the switch, the watchpoints and of interleaving: reset registers set them anew."""
    return column in {
        "switch.feeds",
        "switch.sibling",
        "switch.drop_header",
        "switch.targets",
        "switch.arbiter",
        "switch.in_header",
        "arbiters.holder",
        "arbiters.position",
        "arbiters.served",
        "guards.inspected",
        "fates",
    }


@pytest.mark.parametrize("name", TILES)
def test_a_pause_does_what_each_column_declares(name: TileName) -> None:
    """DEV-CLK-2: what was to happen at a known cycle happens so much later."""
    engine = Engine([Placed(name)], switched=True)
    state = engine.state
    state.clock.now[0] = SINCE
    column_clock.stop(state, 0)
    chosen = {c: v for c, v in paused(state).items() if v[0].size}
    for values, rows in chosen.values():
        values[rows] = SINCE
    state.clock.now[0] += MISSED
    column_clock.start(state, 0)
    for column, (values, rows) in chosen.items():
        moves = DECLARED[column].pause in (Pause.MOVES, Pause.MOVES_IF_AHEAD)
        assert (values[rows] == SINCE + MISSED * moves).all(), column
    assert any(DECLARED[column].pause is Pause.MOVES for column in chosen)


@pytest.mark.parametrize("name", TILES)
def test_what_is_over_before_a_pause_stays_over(name: TileName) -> None:
    state = Engine([Placed(name)], switched=True).state
    state.clock.now[0] = SINCE
    column_clock.stop(state, 0)
    chosen = {
        c: v for c, v in paused(state).items() if v[0].size and DECLARED[c].pause is Pause.MOVES_IF_AHEAD
    }
    for values, rows in chosen.values():
        values[rows] = SINCE - 1
    state.clock.now[0] += MISSED
    column_clock.start(state, 0)
    assert chosen
    assert {c for c, (values, rows) in chosen.items() if (values[rows] != SINCE - 1).any()} == set()


def paused(state: State) -> dict[str, tuple[npt.NDArray[Any], slice | Ints]]:
    """The columns that hold numbers of cycles, by their class, but what the clock's own code moves."""
    return {
        column: (values, rows)
        for column, values, rows, what in columns_of_tile(state, 0)
        if what.kind in (Motion.STAMP, Motion.DUE)
        and what.pause is not Pause.OWN
        and column not in NO_CYCLE_NUMBERS
    }


def test_nothing_wakes_what_has_no_clock() -> None:
    """The columns ``active`` are set to ``OFF`` and back, so that no list takes the tile in."""
    state = Engine([Placed("compute")], switched=True).state
    column_clock.stop(state, 0)
    active = {c: v for c, v in of_tile(state).items() if c.endswith(".active")}
    assert {c: set(v.tolist()) for c, v in active.items()} == {c: {roster.OFF} for c in active}
    column_clock.start(state, 0)
    assert roster.OFF not in {value for v in active.values() for value in v.tolist()}


@pytest.mark.parametrize("name", ["memory", "memory_v2"])
def test_a_reset_tile_is_isolated_again(name: TileName) -> None:
    state = Engine([Placed(name, east=1), Placed(name, 0, 2), Placed(name, west=1)]).state
    assert state.memories.reach.tolist() == [[NOWHERE, 0, 1], [0, 1, 2], [1, 2, NOWHERE]]
    reset_tile(state, 1)
    assert state.memories.reach.tolist() == [[NOWHERE, 0, NOWHERE], [0, 1, 2], [NOWHERE, 2, NOWHERE]]
