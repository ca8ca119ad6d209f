"""Random work that goes on for long, so that time repeats: for tests of fast-forward against stepping.

Chains that loop or run many times, walks of up to four dimensions, padding, locks between producers and
consumers, neighbours' memory, slow ports, sources that end, TLAST at sources.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from memtile.arch.register_map import register_named
from memtile.arch.tiles import TileName
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Iteration, Pad, Release
from memtile.bd.windows import EAST, OWN, WEST, Window
from memtile.jit.tables import plain
from memtile.model.state.state_differences import columns
from memtile.testing.rig import Rig

EAGER = 1 << 60  # looks for periods wherever it can, however little is stepped
CHAIN = 3  # BDs of a channel at most
LOCKS = 3  # of random work
TIMINGS = (
    Timing(),
    Timing(ingress_words=1, memory_egress_words=4, task_start=1, neighbour_latency=3),
    Timing(ingress_words=5, memory_egress_words=13, task_start=23, finished_bd_delay=7),
    Timing(port_pause=1),
    Timing(core_lock_wait=3, s2mm_lock_wait=2, mm2s_lock_wait=5),
    Timing(port_pause=1, ingress_words=5, ingress_latency=2),
    Timing(ingress_ahead=0),
    Timing(ingress_ahead=0, ingress_words=5, ingress_bds=1),
)
KINDS: tuple[TileName, ...] = ("memory", "memory", "memory_2p", "memory_v2")
_FIELDS = {
    True: ("FoT_Mode", "Enable_Out_of_Order", "Decompression_Enable"),
    False: ("Compression_Enable",),
}
"""Of control registers, by whether the channel receives; the last one only where there is compression."""
OUTSIDE = frozenset(
    {"former", "clock.quiet", "clock.activity"}
    | {f"ports.source_{what}" for what in ("position", "end", "more", "base")}
)
"""Columns of the test bench's buffers, whose old words nobody sees, and of what the clock loop did last."""


class Work(NamedTuple):
    """What one channel does."""

    receives: bool
    number: int
    chain: tuple[Descriptor, ...]
    loops: bool
    runs: int
    words: int
    every: int
    pattern: tuple[int, ...]
    control: int = 0  # word of its control register


class Design(NamedTuple):
    """Everything that a run depends on, and the cycles at which it stops."""

    timing: Timing
    tiles: int
    interleaved: bool
    locks: tuple[int, ...]
    work: tuple[Work, ...]
    stops: tuple[int, ...]
    kind: TileName = "memory"


_LENGTHS = st.one_of(st.integers(1, 40), st.sampled_from([64, 100, 255, 256, 257, 500, 1024, 4096]))
_STEPS = st.sampled_from([1, 1, 2, 3, 4, 5, 8, 16, 32, 33, 64, 128])
_WRAPS = st.sampled_from([0, 1, 2, 3, 4, 7, 8, 16, 31, 64])


@st.composite
def descriptors(draw: st.DrawFn, receives: bool, tiles: int) -> Descriptor:
    """A BD that may be long, short, in order or not, and whose lock may never come."""
    kinds = draw(st.integers(0, 4))
    dims = tuple(Dim(draw(_STEPS), draw(_WRAPS)) for _ in range(kinds if kinds < 3 else 0))
    if len(dims) == 2:
        dims = (dims[0], Dim(dims[1].step, draw(_WRAPS)), Dim(draw(_STEPS), 0))
    pad = ()
    if not receives and len(dims) == 3 and all(d.wrap for d in dims[:2]) and draw(st.booleans()):
        pad = (Pad(draw(st.integers(0, 3)), draw(st.integers(0, 2))), Pad(draw(st.integers(0, 1)), 1))
    window: Window = draw(st.sampled_from([OWN, OWN, OWN, WEST, EAST])) if tiles > 1 else OWN
    locked = draw(st.integers(0, 2))
    return Descriptor(
        "memory",
        draw(_LENGTHS),
        window.address(draw(st.integers(0, 12)) * draw(st.sampled_from([1, 4, 64, 1000, 8192 - 12]))),
        dims=dims,
        pad=pad,
        iteration=Iteration(draw(st.sampled_from([1, 32, 64])), draw(st.sampled_from([1, 1, 1, 2, 3]))),
        acquire=Acquire(
            OWN.lock(draw(st.integers(0, LOCKS - 1))), draw(st.sampled_from([-1, -1, -2, 1])), locked == 2
        ),
        release=Release(OWN.lock(draw(st.integers(0, LOCKS - 1))), draw(st.sampled_from([0, 1, 1, 2]))),
        tlast_suppress=draw(st.booleans()),
    )


@st.composite
def works(draw: st.DrawFn, channel: int, tiles: int) -> Work:
    """A chain for one of the twelve channels, and how its port behaves."""
    receives = channel < 6
    reach = tiles if channel % 6 < 4 else 1  # the last two of each direction reach no neighbour
    return Work(
        receives,
        channel % 6,
        tuple(draw(st.lists(descriptors(receives, reach), min_size=1, max_size=CHAIN))),
        draw(st.booleans()),
        draw(st.sampled_from([1, 2, 50, 256])),
        draw(st.sampled_from([0, 100, 1000, 5000, 20000, 20000, 20000])),
        draw(st.sampled_from([0, 0, 0, 1, 8, 64, 100])),
        tuple(draw(st.lists(st.integers(0, 1), max_size=5).filter(lambda p: not p or any(p)))),
    )


@st.composite
def special(draw: st.DrawFn) -> Design:
    """A design of any generation: channels compress, take BDs in the order of packets, or end at TLAST."""
    design = draw(designs())
    kind = draw(st.sampled_from(KINDS))
    work = []
    for each in design.work:
        names = _FIELDS[each.receives] if kind == "memory" else _FIELDS[each.receives][:-1]
        control = sum(draw(st.sampled_from([0, 1, 1])) * _field(each.receives, name) for name in names)
        compresses = kind == "memory" and bool(control & _field(each.receives, names[-1]))
        chain = tuple(bd.but(compression=compresses and draw(st.booleans())) for bd in each.chain)
        work.append(each._replace(control=control, chain=chain))
    return design._replace(work=tuple(work), kind=kind)


def _field(receives: bool, name: str) -> int:
    """The lowest bit of a field of a channel's control register."""
    register = register_named("memory_tile", f"DMA_{'S2MM' if receives else 'MM2S'}_0_Ctrl")
    return 1 << register.field(name).lsb


@st.composite
def lanes(draw: st.DrawFn, number: int) -> tuple[Work, Work]:
    """A producer and a consumer that share buffers by two locks; what is written is read in another order."""
    free, filled = OWN.lock(2 * number), OWN.lock(2 * number + 1)
    words, buffers = draw(st.sampled_from([12, 64, 96, 250])), draw(st.integers(1, CHAIN))
    dims = draw(st.sampled_from([(), (Dim(2, words // 2), Dim(1, 2)), (Dim(1, 4), Dim(5, 0)), (Dim(3, 0),)]))
    pad = (Pad(draw(st.integers(0, 3)), 1), Pad(0, 1)) if len(dims) == 2 and dims[1].wrap else ()
    sent = words if not pad else (pad[0].before + words // 2 + 1) * 3
    base = draw(st.sampled_from([0, 8192, 3]))

    def chain(receives: bool) -> tuple[Descriptor, ...]:
        return tuple(
            Descriptor(
                "memory",
                words if receives else sent,
                OWN.address(number * 4096 + base + n * 1024),
                dims=() if receives else dims,
                pad=() if receives else pad,
                acquire=Acquire(free if receives else filled, -1, True),
                release=Release(filled if receives else free, 1),
            )
            for n in range(buffers)
        )

    given = draw(st.sampled_from([3000, 20000]))
    ready = draw(st.sampled_from([(), (), (1, 0), (1, 1, 0)]))
    return (
        Work(True, number, chain(True), True, 1, given, draw(st.sampled_from([0, 0, words])), ()),
        Work(False, number, chain(False), True, 1, 0, 0, ready),
    )


@st.composite
def rings(draw: st.DrawFn) -> Design:
    """One to three lanes of one tile."""
    numbers = draw(st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True))
    return Design(
        draw(st.sampled_from(TIMINGS)),
        1,
        draw(st.booleans()),
        (draw(st.integers(1, CHAIN)), 0) * 3,
        tuple(work for number in numbers for work in draw(lanes(number))),
        tuple(draw(st.lists(st.integers(1, 6000), min_size=1, max_size=4))),
    )


@st.composite
def designs(draw: st.DrawFn) -> Design:
    """Up to six busy channels of one tile, or of the one in the middle of three."""
    tiles = draw(st.sampled_from([1, 1, 1, 3]))
    channels = draw(st.lists(st.integers(0, 11), min_size=1, max_size=6, unique=True))
    return Design(
        draw(st.sampled_from(TIMINGS)),
        tiles,
        draw(st.booleans()),
        tuple(draw(st.lists(st.integers(0, 3), min_size=LOCKS, max_size=LOCKS))),
        tuple(draw(works(channel, tiles)) for channel in channels),
        tuple(draw(st.lists(st.integers(1, 6000), min_size=1, max_size=4))),
    )


def build(design: Design, *, forward: bool) -> Rig:
    """A rig with everything written and pushed, before its first cycle."""
    rig = Rig(design.kind, timing=design.timing, tiles=design.tiles, at=design.tiles // 2)
    rig = rig.beside(design.tiles // 2)
    rig.engine.forward.on, rig.engine.forward.free = forward, EAGER
    set_up(rig, design)
    return rig


def set_up(rig: Rig, design: Design) -> None:
    """Write and push everything of a design for the tile that the rig speaks to."""
    rig.memory_control(interleaved=design.interleaved)
    rig.fill(0, np.arange(1 << 13, dtype=np.uint32) + (7 << 20))
    for lock, value in enumerate(design.locks):
        rig.set_lock(lock, value)
    for work in design.work:
        ch = rig.s2mm(work.number) if work.receives else rig.mm2s(work.number)
        first = 24 * (work.number % 2) + CHAIN * (work.number // 2 + 3 * work.receives)
        for n, descriptor in enumerate(work.chain):
            last = n + 1 == len(work.chain)
            following = (first if work.loops else None) if last else first + n + 1
            rig.write_bd(first + n, descriptor.but(tile=design.kind, next=following))
        if work.control:
            local = work.number + (0 if work.receives else rig.kind.channels)
            rig.door.write32(rig.kind.control_base + local * rig.kind.channel_stride, work.control)
        rig.issue(ch, first, work.runs)
        if work.receives:
            words = np.arange(1, work.words + 1, dtype=np.uint32) + (ch << 24)
            ends = np.zeros(len(words), np.uint8)
            if work.every:
                ends[work.every - 1 :: work.every] = 1
            rig.engine.feed(ch, words, ends)
            rig.feed(ch, 0, work.pattern)
        else:
            rig.catch(ch, work.pattern)


def taken(rig: Rig, ch: int) -> int:
    """Words that the channel has taken from its source."""
    ports = plain(rig.engine.state.ports)
    return int(ports.source_base[ch] + ports.source_position[ch])


def differences(one: Rig, other: Rig) -> set[str]:
    """Names of the columns of the state, and ``caught`` and ``pending``, in which two rigs differ."""
    found = {"now"} if one.now != other.now else set()
    pairs = zip(columns(one.engine.state), columns(other.engine.state), strict=True)
    for (name, mine, *_), (_, theirs, *_) in pairs:
        if name not in OUTSIDE and not np.array_equal(mine, theirs):
            found.add(name)
    for ch in range(len(one.engine.channels.phase)):
        if taken(one, ch) != taken(other, ch):
            found.add("taken")
        if one.engine.pending(ch) != other.engine.pending(ch):
            found.add("pending")
        for what in ("caught", "tlasts"):
            mine, theirs = getattr(one.engine, what)(ch), getattr(other.engine, what)(ch)
            if not np.array_equal(mine, theirs):
                found.add(what)
    return found
