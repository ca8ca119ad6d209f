"""Runs of a model with words and of another one without, and what they differ in beside words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.jit.tables import plain as table
from memtile.model.state.columns import Motion
from memtile.model.state.state_differences import columns
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.timing_only import moving_words
from support.designs.repeating_designs import OUTSIDE


def both(engines: Sequence[Engine], stops: Sequence[int]) -> None:
    """Run a design with words and without, and compare all of the states but words wherever it stops."""
    for cycles in stops:
        until = engines[0].now + cycles
        ended = [engines[0].run(until)]
        with moving_words(False):
            ended.append(engines[1].run(until))
        assert ended[0] == ended[1]
        assert not differences(*engines)
    assert engines[1].wordless


def differences(one: Engine, other: Engine) -> set[str]:
    """Names of what differs, but for words: TLAST of those under way counts, of others nobody sees it."""
    found = {"now"} if one.now != other.now else set()
    for (name, mine, column, _), (_, theirs, *_) in zip(
        columns(one.state), columns(other.state), strict=True
    ):
        words = column.kind is Motion.DATA or name in OUTSIDE or name == "clock.wordless"
        if not words and not np.array_equal(mine, theirs):
            found.add(name)
    for what in ("fifos", "switch"):
        if ends(getattr(one.state, what)) != ends(getattr(other.state, what)):
            found.add(f"TLAST in {what}")
    for ch in range(len(one.channels.phase)):
        if (taken(one, ch), one.pending(ch)) != (taken(other, ch), other.pending(ch)):
            found.add("taken")
        if one.words_caught(ch) != other.words_caught(ch):
            found.add("caught")
    return found


def ends(buffers: Any) -> list[list[int]]:
    """TLAST of the words that wait in each of some ring buffers, the oldest one first."""
    found = table(buffers)
    return [
        [int(found.last[row, (found.head[row] + n) & found.wrap[row]]) for n in range(found.held[row])]
        for row in range(len(found.head))
    ]


def taken(engine: Engine, ch: int) -> int:
    """Words that the channel has taken from its source."""
    ports = table(engine.state.ports)
    return int(ports.source_base[ch] + ports.source_position[ch])
