"""Set-ups of measured cases in one tile: spans, back-pressure, banks, cores; each gives what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from memtile.access.compression import compress
from memtile.arch.core import CORE
from memtile.arch.register_map import register_named
from memtile.arch.tiles import COMPUTE, TileName
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Iteration, Release
from memtile.bd.windows import OWN, DmaAddress, DmaLock
from memtile.corelib.library import library
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.actions import Action, Pattern
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine
from memtile.testing.rig import Rig
from support.designs.core_designs import timelines
from support.formats.oracle_files import load

Measured = dict[str, float]
PAIR = 0x4000  # bytes of a logical bank of a compute tile
GRANULE = 16
_PHASE = 1  # cycles by which a transfer begins later in the core's loop; fits, as the loop does, one capture
BASE = CORE.memory_windows["own"]


def start(name: TileName) -> DmaAddress:
    """First word of the tile's own memory."""
    return OWN.address(0) if name == "memory" else DmaAddress(0)


def lock(name: TileName, number: int = 0) -> DmaLock:
    return OWN.lock(number) if name == "memory" else DmaLock(number)


def stall_ends(rig: Rig, ch: int) -> int:
    """The first cycle in which the lock stall of a channel, whose lock has just been given, is over."""
    rig.step_until(lambda: not rig.timeline(ch).endswith("L"))
    return rig.now - 1


def span(tile: TileName, stride_bytes: int, words: int = 256) -> Measured:
    """From the end of an MM2S lock stall to FINISHED_BD of a descriptor with one stride."""
    rig = Rig(tile)
    m = rig.mm2s()
    dims = () if stride_bytes == 4 else (Dim(stride_bytes // 4, 0),)
    take = Acquire(lock(tile), -1, True)
    rig.write_bd(0, Descriptor(tile, words, start(tile), dims=dims, next=0, acquire=take))
    rig.catch(m)
    rig.issue(m, 0)
    rig.step(40)
    rig.set_lock(0, 1)
    falling = stall_ends(rig, m)
    rig.step(words + 60)
    return {"span": rig.finished_bd(m) - falling}


def back_pressure(tile: TileName, window: int) -> Measured:
    """When a lock-blocked S2MM refuses words, after its ingress buffer was empty.

    Args:
        tile: of the channel.
        window: cycles of its lock stall.
    """
    rig = Rig(tile)
    s, wait = rig.s2mm(), int(rig.engine.state.spec.timing.s2mm_lock_wait[0])
    take = Acquire(lock(tile), -1, True)
    rig.write_bd(0, Descriptor(tile, 64, start(tile), next=0, acquire=take))
    rig.set_lock(0, 1)
    rig.issue(s, 0)
    rig.step(40)
    rig.feed(s, 1000)
    rig.step_until(lambda: rig.timeline(s).endswith("#L"))
    first = rig.now - 1
    rig.step(window - wait - 1)
    rig.set_lock(0, 1)
    end = stall_ends(rig, s)
    rig.step(30)
    refused = [cycle for cycle in range(first, rig.now - 20) if cycle not in rig.entered(s)]
    return {
        "start": refused[0] - first,
        "end": refused[-1] + 1 - end,
        "inside": sum(cycle < end for cycle in refused),
    }


def one_bank(fill_offset: int, *, fill: bool = True) -> Measured:
    """The mean of four phases between a fill and a drain of a memory tile, see :func:`filled_and_drained`."""
    each = [filled_and_drained(fill_offset, later, fill=fill) for later in range(4)]
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]}


def filled_and_drained(fill_offset: int, later: int, *, fill: bool) -> Measured:
    """An MM2S drains a bank while an S2MM fills a place ``fill_offset`` bytes behind it, 256 words each.

    Args:
        fill_offset: bytes from a place in the same bank, beyond what is drained, to the filled one.
        later: cycles from the task of the fill to the lock of the drain.
        fill: False = the drain alone.
    """
    rig = Rig("memory")
    s, m = rig.s2mm(), rig.mm2s()
    unit = EventUnit(rig.door)
    unit.count(0, "CONFLICT_DM_BANK_0", "CONFLICT_DM_BANK_0")
    dims = Dim(1, 4), Dim(64, 0)
    take = Acquire(OWN.lock(0), -1, True)
    rig.write_bd(0, Descriptor("memory", 256, OWN.address(0), dims=dims, acquire=take))
    rig.write_bd(1, Descriptor("memory", 256, OWN.address(0x4000 + fill_offset // 4), dims=dims))
    rig.catch(m)
    rig.issue(m, 0)
    rig.step(40)
    if fill:
        rig.feed(s, 256)
        rig.issue(s, 1)
    rig.step(later)
    rig.set_lock(0, 1)
    falling = stall_ends(rig, m)
    rig.step(400)
    return {"span": rig.finished_bd(m) - falling, "conflicts": unit.counted(0)}


def core_beside_dma(hammer: int, drained: int, *, at_work: bool = True) -> Measured:
    """A core's loop of ten cycles, two loads and a store, beside 16 times 256 words of an MM2S."""
    return _beside(hammering if at_work else None, hammer, drained)


def _beside(loop: Callable[[Core, int], Iterator[Action]] | None, at: int, drained: int) -> Measured:
    """Sixteen transfers of 256 words beside a core with a loop that works at a place, or without one."""
    rig = Rig("compute")
    m = rig.mm2s()
    unit = EventUnit(rig.door, "memory")
    unit.count(0, "GROUP_MEMORY_CONFLICT", "GROUP_MEMORY_CONFLICT")
    unit.count(1, "DMA_MM2S_0_MEMORY_STARVATION", "DMA_MM2S_0_MEMORY_STARVATION")
    take = Acquire(DmaLock(0), -1, True)
    rig.write_bd(0, Descriptor("compute", 256, DmaAddress(drained // 4), next=0, acquire=take))
    rig.catch(m)
    rig.issue(m, 0)
    if loop is not None:
        rig.engine.attach_kernel(0, lambda core: loop(core, at))
    rig.step(_PHASE)
    spans = []
    stalls = 0
    wait = int(rig.engine.state.spec.timing.mm2s_lock_wait[0])
    for _ in range(16):
        rig.step(50 - wait)
        rig.set_lock(0, 1)
        falling = stall_ends(rig, m)
        before = rig.engine.state.core_spent.copy()
        rig.step(299)
        stalls += int((rig.engine.state.core_spent - before)[0, CoreCause.BANK_CONFLICT])
        spans.append(rig.finished_bd(m) - falling)
    return {
        "span": float(np.median(spans)),
        "conflicts": unit.counted(0),
        "stalls": stalls,
        "starved": unit.counted(1),
    }


def hammering(core: Core, at: int) -> Iterator[Action]:
    """The accesses of the loop in three of its ten cycles, at the places that fit one of the captures."""
    for step in range(1536):
        first = BASE + at + 4 * step
        yield core.access(Pattern(np.array([first + GRANULE]), 32))
        yield core.access(Pattern(np.array([first]), 32))
        yield core.cycles(3)
        yield core.access(store=Pattern(np.array([first]), 32))
        yield core.cycles(4)


def paired_loads(trips: int, bundles: int, *, same_bank: bool, paired: bool = True) -> Measured:
    """A loop of ``bundles`` cycles whose first loads two vectors at once, or one."""
    engine = Engine([Placed("compute")])
    second = BASE + (512 if same_bank else PAIR)

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(trips):
            loads = [Pattern(np.array([BASE]), 256), Pattern(np.array([second]), 256)]
            yield core.access(*loads[: 1 + paired])
            yield core.cycles(bundles - 1)

    engine.attach_kernel(0, kernel)
    text = timelines(engine, trips * (bundles + 1) + 8)[0].rstrip("d")
    return {"cycles": len(text) / trips, "stalls": text.count("B")}


def panel(pairs: int, others: int, *, same_bank: bool, apart: int = 512) -> Measured:
    """A kernel of ``pairs`` instructions with two vector loads, and ``others`` without any: its cycles.

    Args:
        pairs: instructions with two loads.
        others: instructions without any, as evenly between them as can be.
        same_bank: both loads of an instruction are in one bank.
        apart: bytes between them there.
    """
    engine = Engine([Placed("compute")])
    second = BASE + (apart if same_bank else PAIR)
    ended: list[int] = []

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(pairs):
            yield core.access(Pattern(np.array([BASE]), 256), Pattern(np.array([second]), 256))
            yield core.cycles(others // pairs)
        if rest := others % pairs:
            yield core.cycles(rest)
        ended.append(engine.now)

    engine.attach_kernel(0, kernel)
    engine.run(3 * pairs + others)
    return {"cycles": ended[0]}


def load_and_store(trips: int) -> Measured:
    """A loop of one cycle that loads a word and stores one in the same bank."""
    engine = Engine([Placed("compute")])

    def kernel(core: Core) -> Iterator[Action]:
        at = BASE + 4 * np.arange(trips)
        yield core.access(Pattern(at, 32), store=Pattern(at + 256, 32))

    engine.attach_kernel(0, kernel)
    text = timelines(engine, 2 * trips + 8)[0].rstrip("d")
    return {"cycles": len(text), "stalls": text.count("B")}


def lock_operations(pairs: int) -> Measured:
    """Acquires and releases of a core that need not wait: how long each keeps it in LOCK_STALL."""
    engine = Engine([Placed("compute")])
    engine.door(0).write32(COMPUTE.lock_value_base, 1)

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(pairs):
            yield core.acquire(0)
            yield core.release(0)

    engine.attach_kernel(0, kernel)
    return {"stalls": timelines(engine, 8 * pairs + 8)[0].count("L") / (2 * pairs)}


def wrong_half() -> Measured:
    """Descriptor 24 queued at S2MM 2 of a memory tile."""
    rig = Rig()
    wrong = rig.s2mm(2)
    unit = EventUnit(rig.door)
    unit.count(0, "DMA_S2MM_ERROR", "DMA_S2MM_ERROR")
    rig.write_bd(24, Descriptor("memory", 4, OWN.address(0)))
    rig.feed(wrong, 4)
    rig.issue(wrong, 24)
    rig.step(20)
    return {"errors": unit.counted(0)}


def iterated(words: int) -> Measured:
    """An S2MM descriptor with two iterations, run once; how many words it wrote."""
    rig = Rig()
    s = rig.s2mm()
    rig.write_bd(0, Descriptor("memory", words, OWN.address(0), iteration=Iteration(16, 2)))
    rig.feed(s, 2 * words)
    rig.issue(s, 0)
    rig.step(4 * words)
    return {"words": int(np.count_nonzero(rig.memory(0, 2 * words)))}


def compressed() -> Measured:
    """Words of the stream of mlir-aie's compression test, of which the first descriptor is not compressed."""
    oracle = load("compression_goldens")
    source = np.arange(oracle["words_sent"], dtype=np.uint32)
    raw = int(oracle["raw_words"])
    return {"words": raw + len(compress(source[raw:]))}


def tokens(words: int, tasks: int) -> Measured:
    """Tasks of an interface tile whose tokens nobody waits for."""
    rig = Rig("interface")
    buffer = rig.engine.external.add("buffer", np.zeros(words, np.uint32))
    ch = rig.mm2s()
    rig.catch(ch)
    rig.write_bd(0, Descriptor("interface", words, buffer.at()))
    bit = register_named("noc", "DMA_S2MM_0_Task_Queue").field("Enable_Token_Issue").mask
    for first in range(0, tasks, rig.kind.queue_depth):
        for _ in range(first, min(first + rig.kind.queue_depth, tasks)):
            rig.issue(ch, bit)
        rig.engine.run(rig.now + 100_000)
    stalled = rig.spent(ch).get(Cause.TOKEN_BLOCKED, 0)
    return {"finished": int(rig.engine.state.channels.tasks_done[ch]), "stalls": stalled}


def all_channels(words: int) -> Measured:
    """All six channels of both directions of a memory tile: bytes a cycle each way, while they move."""
    rig = Rig("memory")
    for n in range(6):
        bd = 24 * (n % 2) + n
        rig.write_bd(bd, Descriptor("memory", words, OWN.address(n * words)))
        rig.write_bd(bd + 6, Descriptor("memory", words, OWN.address((6 + n) * words)))
        rig.catch(rig.mm2s(n))
        rig.issue(rig.mm2s(n), bd)
        rig.feed(rig.s2mm(n), words)
        rig.issue(rig.s2mm(n), bd + 6)
    rig.engine.run(10 * words)
    quiet = Cause.IDLE, Cause.TASK_START
    channels = [*map(rig.mm2s, range(6)), *map(rig.s2mm, range(6))]
    took = max(sum(n for cause, n in rig.spent(ch).items() if cause not in quiet) for ch in channels)
    return {"bytes_a_cycle": 6 * 4 * words / took}


def give_back(words: int = 64) -> Measured:
    """A memory tile's S2MM fills buffers that are free, one after the other, from a stream without gaps.

    Returns:
        From the FINISHED_BD of a descriptor to the release of its own lock, and to the next release after it.
    """
    rig = Rig("memory")
    s = rig.s2mm()
    release = Release(OWN.lock(1), 1)
    rig.write_bd(0, Descriptor("memory", words, OWN.address(0), next=0, release=release))
    rig.feed(s, 4 * words)
    rig.issue(s, 0)
    released = [rig.step_until(lambda value=value: rig.lock(1) == value) for value in (1, 2)]  # type: ignore[misc]
    rig.step(10)
    finished = rig.finished_bd(s) - (released[1] - released[0])
    return {"own_release": released[0] - finished, "next_release": released[1] - finished}


def marching(core: Core, at: int, words: int = 1500) -> Iterator[Action]:
    """A store in every cycle, to one word after the other, again and again."""
    places = BASE + at + 4 * np.arange(words)
    while True:
        yield core.access(store=Pattern(places, 32))


def store_beside_dma(marched: int, drained: int) -> Measured:
    """The same 16 transfers beside a core that stores in every cycle."""
    return _beside(marching, marched, drained)


def library_call(name: str, arguments: list[list[object] | int], device: str) -> Measured:
    """Cycles of a call of the library; arguments are a shape and a type each, or numbers."""
    made = [each if isinstance(each, int) else np.zeros(*each) for each in arguments]  # type: ignore[arg-type]
    return {"cycles": library(device)[name].cycles(*made)}


SETUPS = {
    each.__name__: each
    for each in (
        span,
        back_pressure,
        one_bank,
        core_beside_dma,
        store_beside_dma,
        paired_loads,
        panel,
        load_and_store,
        lock_operations,
        wrong_half,
        iterated,
        compressed,
        tokens,
        all_channels,
        give_back,
        library_call,
    )
}
