"""Random designs of each kind by name, and what makes an engine of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st

from memtile.sim.loop.engine import Engine
from support.designs import flowing_designs, piped_designs, random_designs, repeating_designs


class Maker(NamedTuple):
    """A kind of random designs.

    Attributes:
        designs: draws one.
        build: makes its engine, before its first cycle; True = time is skipped.
    """

    designs: st.SearchStrategy[Any]
    build: Callable[[Any, bool], Engine]


MAKERS = {
    "work": Maker(repeating_designs.designs(), lambda d, on: repeating_designs.build(d, forward=on).engine),
    "special": Maker(
        repeating_designs.special(), lambda d, on: repeating_designs.build(d, forward=on).engine
    ),
    "rings": Maker(repeating_designs.rings(), lambda d, on: repeating_designs.build(d, forward=on).engine),
    "cores": Maker(flowing_designs.designs(), lambda d, on: flowing_designs.build(d, forward=on)),
    "memory": Maker(random_designs.designs(), lambda d, _: random_designs.build(d).engine),
    "streams": Maker(piped_designs.designs(), lambda d, on: piped_designs.build(d, piped=on).engine),
}


def differences(one: Engine, other: Engine) -> set[str]:
    """Names of the columns of the state, and of the buffers outside, in which two engines differ."""
    found = flowing_designs.differences(one, other)
    for name in ("quiet", "activity"):
        if getattr(one.state.clock, name) != getattr(other.state.clock, name):
            found.add(f"clock.{name}")
    return found


def stepped(design: Any, jumping: Engine, stepping: Engine, unlike: Callable[[], set[str]]) -> int:
    """Hold an engine that skips time to one that steps, at each stop; how many jumps there were."""
    for cycles in design.stops:
        until = jumping.now + cycles
        stops = [engine.run(until) for engine in (jumping, stepping)]
        assert stops[0] == stops[1]
        assert not unlike()
    assert stepping.forward.jumps == 0
    return jumping.forward.jumps


def cut(maker: Maker, design: Any, cuts: list[int], skips: bool) -> None:
    """Hold a run that is cut into pieces to one that is not."""
    whole, pieces = maker.build(design, skips), maker.build(design, skips)
    end, at = sum(cuts), 0
    stop = whole.resume(end)
    last = stop
    for cycles in cuts:
        at += cycles
        last = pieces.resume(at)
    assert last is stop
    assert pieces.now == whole.now
    assert not differences(whole, pieces)
    assert pieces.resume(end) is stop, "a run behind the end adds nothing"
    assert stop.name == "LIMIT" or pieces.now == whole.now
