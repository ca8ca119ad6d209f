"""Runs of random work that a file interrupts, and undisturbed ones."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import numpy as np

from memtile.sim.loop.engine import Engine
from memtile.sim.loop.engine_snapshot import Snapshot, put_back, take
from memtile.testing.rig import Rig
from support.designs.random_designs import Design, build
from support.designs.repeating_designs import OUTSIDE

END = 1500  # of random work, which waits or is done by then
STEPPED = OUTSIDE | {"seen", "granules.port_bank"}
"""Columns that depend on which cycles are stepped when nothing moves, and so on where a run begins."""


def interrupted(design: Design, moments: Sequence[int]) -> None:
    """Save and load the work at some moments; it ends like work that only stopped there."""
    undisturbed, saved = build(design).engine, build(design).engine
    for moment in (*sorted(moments), END):
        for engine in (undisturbed, saved):
            engine.wait(moment - engine.now)
        before = take(saved)
        saved = stored(before, Rig(timing=design.timing).engine)
        assert unlike(before, take(saved)) == set()
    assert unlike(take(undisturbed), take(saved)) - {f"state/{name}" for name in STEPPED} == set()


def stored(snapshot: Snapshot, made: Engine) -> Engine:
    """A new engine, brought by a file to where the one of a snapshot was."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **snapshot.arrays)
    facts = json.loads(json.dumps(snapshot.facts))
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        put_back(made, Snapshot(dict(arrays), facts))
    return made


def unlike(one: Snapshot, other: Snapshot) -> set[str]:
    """Names of the arrays and facts that two snapshots do not have in common."""
    names = one.arrays.keys() | other.arrays.keys()
    both = one.arrays.keys() & other.arrays.keys()
    same = {name for name in both if np.array_equal(one.arrays[name], other.arrays[name])}
    facts = {name for name in one.facts if one.facts[name] != other.facts[name]}
    return (names - same) | facts
