"""Random work for one memory tile: channels, chains, strides, padding, locks and slow ports."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Pad, Release
from memtile.bd.windows import OWN
from memtile.testing.rig import Rig

CHAIN = 3  # BDs of a channel at most; six channels share a half of 24
LOCKS = 3
TIMINGS = (
    Timing(zeroisation=50),
    Timing(ingress_words=1, memory_egress_words=4, task_start=1, zeroisation=7),
    Timing(ingress_words=5, memory_egress_words=13, task_start=23, zeroisation=200),
)


class Work(NamedTuple):
    """What one channel does."""

    receives: bool
    number: int
    chain: tuple[Descriptor, ...]
    runs: int
    words: int
    pattern: tuple[int, ...]


class Design(NamedTuple):
    """Everything that a run depends on."""

    timing: Timing
    interleaved: bool
    zeroise: bool
    locks: tuple[int, ...]
    work: tuple[Work, ...]


@st.composite
def descriptors(draw: st.DrawFn, receives: bool) -> Descriptor:
    """A short BD that stays in the first few banks; its lock may never come."""
    dims = draw(st.sampled_from([(), (Dim(3, 0),), (Dim(1, 3), Dim(8, 2), Dim(64, 0)), (Dim(2, 4),)]))
    pad = (Pad(1, 2), Pad(1, 0)) if not receives and len(dims) == 3 and draw(st.booleans()) else ()
    lock = OWN.lock(draw(st.integers(0, LOCKS - 1)))
    free = OWN.lock(draw(st.integers(0, LOCKS - 1)))
    return Descriptor(
        "memory",
        draw(st.integers(0, 14)),
        OWN.address(draw(st.integers(0, 40))),
        dims=dims,
        pad=pad,
        acquire=Acquire(lock, draw(st.sampled_from([-2, -1, -1, 0, 1])), draw(st.booleans())),
        release=Release(free, draw(st.sampled_from([0, 1, 1, 2]))),
        tlast_suppress=draw(st.booleans()),
    )


@st.composite
def works(draw: st.DrawFn, channel: int) -> Work:
    """A chain for one of the twelve channels, and how its port behaves."""
    receives = channel < 6
    return Work(
        receives,
        channel % 6,
        tuple(draw(st.lists(descriptors(receives), min_size=1, max_size=CHAIN))),
        draw(st.integers(1, 3)),
        draw(st.integers(0, 60)),
        tuple(draw(st.lists(st.integers(0, 1), max_size=5).filter(lambda p: not p or any(p)))),
    )


@st.composite
def designs(draw: st.DrawFn) -> Design:
    """Up to five busy channels of one tile."""
    channels = draw(st.lists(st.integers(0, 11), min_size=1, max_size=5, unique=True))
    return Design(
        draw(st.sampled_from(TIMINGS)),
        draw(st.booleans()),
        draw(st.booleans()),
        tuple(draw(st.lists(st.integers(0, 3), min_size=LOCKS, max_size=LOCKS))),
        tuple(draw(works(channel)) for channel in channels),
    )


def build(design: Design) -> Rig:
    """A rig with everything written and pushed, before its first cycle."""
    rig = Rig(timing=design.timing)
    rig.memory_control(interleaved=design.interleaved, zeroise=design.zeroise)
    for lock, value in enumerate(design.locks):
        rig.set_lock(lock, value)
    for work in design.work:
        ch = rig.s2mm(work.number) if work.receives else rig.mm2s(work.number)
        first = 24 * (work.number % 2) + CHAIN * (work.number // 2 + 3 * work.receives)
        for n, descriptor in enumerate(work.chain):
            last = n + 1 == len(work.chain)
            rig.write_bd(first + n, descriptor.but(next=None if last else first + n + 1))
        rig.issue(ch, first, work.runs)
        if work.receives:
            rig.feed(ch, work.words, work.pattern)
        else:
            rig.catch(ch, work.pattern)
    return rig
