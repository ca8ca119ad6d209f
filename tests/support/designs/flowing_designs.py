"""Random work of a column of tiles that goes on for long: external memory, switches, two DMAs and a core.

Words come from external memory to the memory tile and go on to the compute tile, whose core may work on them;
they come back through the memory tile. For tests of fast-forward against stepping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from memtile.arch.tiles import COMPUTE, MEMORY, MM2S, S2MM, WORD_BYTES
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import OWN, DmaLock
from memtile.jit.tables import plain
from memtile.model.state.state_differences import columns
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core, Kernel
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from support.designs.core_designs import Piece
from support.designs.interface_bench import COLUMN, WIDE, Column
from support.designs.repeating_designs import EAGER

INTERFACE, MEM, CORE = range(3)  # rows
WAYS = {  # row, slave, master
    "down": ((INTERFACE, "SOUTH3", "NORTH0"), (MEM, "SOUTH0", "DMA0")),
    "in": ((MEM, "DMA0", "NORTH0"), (CORE, "SOUTH0", "DMA0")),
    "out": ((CORE, "DMA0", "SOUTH0"), (MEM, "NORTH0", "DMA1")),
    "up": ((MEM, "DMA1", "SOUTH0"), (INTERFACE, "NORTH0", "SOUTH2")),
}
TIMINGS = (
    Timing(),
    Timing(
        external_latency=37,
        external_write_latency=11,
        external_egress_words=24,
        external_first_read=90,
        external_first_write=40,
    ),
    Timing(ingress_words=3, task_start=5, external_burst_overhead=3),
    Timing(port_pause=1, ingress_latency=2, wire_start=1),
    Timing(port_pause=1, core_lock_wait=4, s2mm_lock_wait=5, mm2s_lock_wait=6),
    Timing(ingress_ahead=0, ingress_words=6),
    Timing(external_burst_overhead=0, external_latency=37, external_egress_words=24),
)
QUICK = Timing(external_latency=20, external_write_latency=10, external_egress_words=16)
FULL, EMPTY = 0, 1  # locks of the compute tile's input; 2 and 3 are those of its output
AREA = 1 << 15  # words of each external buffer
PLACE = 0x10000  # their addresses, in bytes, and so far apart
BUFFER = 1024  # words from one buffer of a ring to the next


class Design(NamedTuple):
    """Everything that a run depends on, and the cycles at which it stops."""

    timing: Timing
    words: int  # of a buffer
    buffers: int  # of each ring
    sent: tuple[Dim, ...]  # walk of the memory tile over each of its buffers
    came: tuple[Dim, ...]  # walk of the interface tile over external memory
    went: tuple[Dim, ...]
    length: int  # of the BDs of external memory
    runs: int  # of each of them
    waits: tuple[int, ...]  # of the kernel; none = no kernel, and no locks around it
    moody: int  # the kernel waits for another cycle where a word is a multiple of it, 0 = never
    rounds: int  # buffers that the kernel makes, 0 = without end
    stops: tuple[int, ...]
    wide: bool = False  # beats of two words, accesses of eight


def design(**given: Any) -> Design:
    """A column whose words go round through a kernel of 50 cycles, but for what is ``given``."""
    what: dict[str, Any] = {
        "timing": QUICK, "words": 64, "buffers": 2, "sent": (), "came": (), "went": (), "length": 16384,
        "runs": 1, "waits": (50,), "moody": 0, "rounds": 0, "stops": (),
    }  # fmt: skip
    return Design(**{**what, **given})


@st.composite
def _walks(draw: st.DrawFn) -> tuple[Dim, ...]:
    """Steps and wraps over external memory that may go on for long."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return ()
    row = draw(st.sampled_from([4, 8, 16, 21, 32, 48]))
    if kind == 1:
        return (Dim(1, row), Dim(draw(st.sampled_from([16, 64, 67, 100])), 0))
    rows = draw(st.sampled_from([2, 4, 16]))
    return (
        Dim(1, row),
        Dim(draw(st.sampled_from([64, 67, 128])), rows),
        Dim(draw(st.sampled_from([16, 21, 32, 60])), 0),
    )


@st.composite
def designs(draw: st.DrawFn, kernels: bool = True) -> Design:
    """A column of which all four streams run, as far as locks and lengths let them, with a kernel or not."""
    words = draw(st.sampled_from([8, 12, 17, 64, 96, 255, 256, 500]))
    sent = draw(st.sampled_from([(), (Dim(2, words // 2), Dim(1, 0)), (Dim(4, words // 4), Dim(1, 0))]))
    waits = tuple(draw(st.lists(st.integers(1, 200), max_size=3))) if kernels else ()
    return Design(
        draw(st.sampled_from(TIMINGS)),
        words,
        draw(st.integers(1, 3)),
        sent,
        draw(_walks()),
        draw(_walks()),
        draw(st.sampled_from([words, 4 * words, 1024, 8192, 16384])),
        draw(st.sampled_from([1, 3, 200])),
        waits,
        draw(st.sampled_from([0, 0, 0, 7, 97])) if waits else 0,
        draw(st.sampled_from([0, 0, 0, 5, 40])) if waits else 0,
        tuple(draw(st.lists(st.integers(1, 30000), min_size=1, max_size=3))),
        draw(st.booleans()),
    )


def _ring(
    column: Column, row: int, direction: int, number: int, first: int, design: Design, **more: int
) -> None:
    """Have a channel go round its buffers for ever, with locks if the kernel has some."""
    kind = column.kinds[row]
    lock, other = more["lock"], more["other"]
    window = OWN.lock if row == MEM else DmaLock
    for n in range(design.buffers):
        address = more["base"] + n * BUFFER
        following = first + (n + 1) % design.buffers
        taken, given = Acquire(window(lock), -1, True), Release(window(other), 1)
        dims = design.sent if row == MEM and direction == MM2S else ()
        at = OWN.address(address) if row == MEM else address
        bd = Descriptor(kind, design.words, at, dims=dims, next=following, acquire=taken, release=given)
        column.put(row, first + n, bd)
    column.issue(row, direction, number, first)


def kernel_of(design: Design) -> Kernel:
    """The core adds up what it gets, and sends it on."""

    def kernel(core: Core) -> Iterator[Action]:
        total, done = 0, 0
        while not design.rounds or done < design.rounds:
            n = done % design.buffers
            given = Piece("in", n * BUFFER * WORD_BYTES, (design.words,), np.dtype(np.uint32))
            made = Piece("out", (n + 4) * BUFFER * WORD_BYTES, (design.words,), np.dtype(np.uint32))
            yield core.acquire(FULL, -1)
            for wait in design.waits:
                yield core.cycles(wait)
            values = core.read(given)
            total = (total + int(values.sum())) & 0xFFFFFFFF
            if design.moody and int(values[0]) % design.moody == 0:
                yield core.cycles(1)
            yield core.release(EMPTY, 1)
            yield core.acquire(EMPTY + 2, -1)
            if done % 2:
                core.view(made)[:] = values + np.uint32(total)
            else:
                core.write(made, values ^ np.uint32(total))
            yield core.release(FULL + 2, 1)
            done += 1

    return kernel


def build(design: Design, *, forward: bool, kernel: Callable[[Engine], Kernel] | None = None) -> Engine:
    """A column with everything written and pushed, before its first cycle; ``kernel`` makes another one."""
    column = Column(design.timing, kinds=WIDE if design.wide else COLUMN)
    engine = column.engine
    engine.forward.on, engine.forward.free = forward, EAGER
    add_area(engine, "came", 0)
    engine.external.add("went", np.zeros(AREA, np.uint32), PLACE + AREA * WORD_BYTES)
    set_up(column, design, 0, 1, kernel(engine) if kernel else kernel_of(design))
    return engine


def add_area(engine: Engine, name: str, area: int) -> None:
    """Add an area of external memory that is full of words."""
    values = (np.arange(AREA, dtype=np.uint32) * 2654435761) >> 3
    engine.external.add(name, values.astype(np.uint32) + np.uint32(area), PLACE + area * AREA * WORD_BYTES)


def set_up(column: Column, design: Design, came: int, went: int, kernel: Kernel, behind: int = 0) -> None:
    """Write and push everything of a column, whose words come from an area of external memory to another.

    They go there so many words ``behind`` its first one.
    """
    engine = column.engine
    for way in WAYS.values():
        for row, slave, master in way:
            column.circuit(row, slave, master)
    for row, lock in ((MEM, 1), (MEM, 3), (CORE, EMPTY), (CORE, EMPTY + 2)):
        set_lock_of(column, row, lock, design.buffers)
    _ring(column, MEM, S2MM, 0, 0, design, base=0, lock=1, other=0)
    _ring(column, MEM, MM2S, 0, 4, design, base=0, lock=0, other=1)
    _ring(column, MEM, S2MM, 1, 24, design, base=4 * BUFFER, lock=3, other=2)
    _ring(column, MEM, MM2S, 1, 28, design, base=4 * BUFFER, lock=2, other=3)
    _ring(column, CORE, S2MM, 0, 0, design, base=0, lock=EMPTY, other=FULL)
    if design.waits:
        _ring(column, CORE, MM2S, 0, 4, design, base=4 * BUFFER, lock=FULL + 2, other=EMPTY + 2)
        engine.attach_kernel(column.first + CORE, kernel, endless=True)
    else:  # what comes in goes out
        _ring(column, CORE, MM2S, 0, 4, design, base=0, lock=FULL, other=EMPTY)
    ways = (MM2S, design.came, came), (S2MM, design.went, went)
    for bd, (direction, dims, area) in enumerate(ways):
        at = PLACE // WORD_BYTES + area * AREA + (behind if direction == S2MM else 0)
        column.put(INTERFACE, bd, Descriptor(column.kinds[INTERFACE], design.length, at, dims=dims))
        column.issue(INTERFACE, direction, 0, bd, design.runs)


def set_lock_of(column: Column, row: int, lock: int, value: int) -> None:
    """Set a lock of a tile by its register."""
    kind = MEMORY if row == MEM else COMPUTE
    column.doors[row].write32(kind.lock_value_base + lock * kind.lock_value_stride, value)


_NOT_COMPARED = {"clock.quiet", "clock.activity", "externals.words"}


def differences(one: Engine, other: Engine) -> set[str]:
    """Names of the columns of the state, and of the external buffers, in which two engines differ.

    Words of reads that external memory has not answered are nobody's, and so are those behind short reads.
    """
    found = set()
    if not np.array_equal(_answered(one), _answered(other)):
        found.add("externals.words")
    for (name, mine, *_), (_, theirs, *_) in zip(columns(one.state), columns(other.state), strict=True):
        if name not in _NOT_COMPARED and not np.array_equal(mine, theirs):
            found.add(name)
    for name, buffer in one.external.buffers.items():
        if not np.array_equal(buffer.array, other.external.buffers[name].array):
            found.add(name)
    return found


def _answered(engine: Engine) -> np.ndarray:
    """The words of reads from external memory, with 0 for those that nobody gets."""
    x = plain(engine.state.externals)
    words = np.array(x.words)
    for row in range(len(x.head)):
        late = (x.head[row] + np.arange(x.arrived[row], x.held[row])) % x.ready.shape[1]
        words[row, late] = 0
        words[row][np.arange(words.shape[2]) >= x.length[row][:, None]] = 0
    return words


def compared(make: Callable[[bool], Engine], stops: range) -> Engine:
    """Hold runs to each of ``stops`` against stepping; the last engine that jumped."""
    stepping = make(False)
    for until in stops:
        jumping = make(True)
        stops_here = [engine.run(until) for engine in (jumping, stepping)]
        assert stops_here[0] == stops_here[1]
        assert not differences(jumping, stepping), until
        if stops_here[0] is Stop.QUIET:  # a further run would begin with cycles in which nothing moves
            break
    return jumping
