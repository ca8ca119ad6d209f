"""Whole states of engines for tests: every column by name, and two rigs brought to the same cycle."""

from __future__ import annotations

import numpy as np

from memtile.model.state.state import State
from memtile.model.state.state_differences import columns
from memtile.sim.loop import compiled_model
from memtile.sim.loop.clock import Stop
from memtile.testing.rig import Rig


def arrays(state: State) -> dict[str, bytes]:
    """Every column of a state by name."""
    return {name: np.ascontiguousarray(values).tobytes() for name, values, *_ in columns(state)}


def differences(one: Rig, other: Rig) -> set[str]:
    """Names of the columns that differ, the counter of quiet cycles aside."""
    for rig in (one, other):
        rig.engine.state.clock.quiet[0] = 0
    a, b = arrays(one.engine.state), arrays(other.engine.state)
    return {name for name in a if a[name] != b[name]}


def advance(skipping: Rig, stepping: Rig, until: int) -> Stop:
    """Both to the same cycle: one by the loop that skips, one cycle by cycle."""
    for rig in (skipping, stepping):
        rig.engine.run(rig.now)  # lays out what was fed, runs no cycle
    skipping.engine.state.clock.quiet[0] = 0
    stop = compiled_model.run(skipping.engine.state, until)
    while stepping.now < skipping.now:
        compiled_model.cycle(stepping.engine.state)
    return stop
