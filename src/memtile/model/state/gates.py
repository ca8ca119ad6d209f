"""State of the tiles' clocks, see ``column_clock``."""

from __future__ import annotations

from typing import NamedTuple

from memtile.model.state.columns import Ints


class Gates(NamedTuple):
    """Clock of each tile."""

    off: Ints  # 1 = it stands; in State.gated
    since: Ints  # first cycle that the tile does not have
    zeroising: Ints  # cycles that a zeroisation still needs, -1 = none is under way
