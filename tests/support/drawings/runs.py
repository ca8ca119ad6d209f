"""Pictures of what happens in time, drawn from runs of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log2

import numpy as np

from memtile import Array, MemoryTile
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import OWN
from memtile.kernels import Action, Core
from memtile.testing.rig import Rig
from support.drawings.sheet import Sheet

CELL = 11


def words(length: int, first: int = 0, **more: object) -> Descriptor:
    return Descriptor("memory", length, OWN.address(first), **more)  # type: ignore[arg-type]


def _tracks(title: str, rows: Mapping[str, str], note: str, *, cell: float = CELL) -> Sheet:
    """A timeline: a row for each channel, a colour for each cause."""
    cycles = max(map(len, rows.values()))
    sheet = Sheet(max(700, int(110 + cycles * cell + 20)), 106 + 30 * len(rows), title)
    for cycle in range(0, cycles, 10):
        sheet.say(100 + cycle * cell, 22, str(cycle), style="small")
    sheet.say(92, 22, "cycle", "end", "small")
    for n, (name, letters) in enumerate(rows.items()):
        sheet.say(92, 46 + 30 * n, name, "end")
        sheet.track(100, 31 + 30 * n, letters, cell)
    sheet.legend(20, 58 + 30 * len(rows))
    sheet.say(20, 84 + 30 * len(rows), note, style="soft")
    return sheet


def timeline() -> Sheet:
    """A read of two descriptors: start, words, switch of descriptor."""
    rig = Rig()
    m = rig.mm2s()
    rig.catch(m)
    rig.write_bd(0, words(16, next=1))
    rig.write_bd(1, words(16, 64))
    rig.issue(m, 0)
    rig.step(42)
    rows = {"MM2S 0": rig.timeline(m)}
    return _tracks(
        "The timeline of a run", rows, "Every cycle of a channel has one cause; they add up to the run."
    )


def lock() -> Sheet:
    """A reader that waits for the release of a writer."""
    rig = Rig()
    s, m = rig.s2mm(), rig.mm2s()
    rig.catch(m)
    rig.write_bd(0, words(12, release=Release(OWN.lock(0), 1)))
    rig.write_bd(1, words(12, acquire=Acquire(OWN.lock(0), -1, True)))
    rig.feed(s, 12)
    rig.issue(s, 0)
    rig.issue(m, 1)
    rig.step(38)
    rows = {"S2MM 0": rig.timeline(s), "MM2S 0": rig.timeline(m)}
    note = "The writer releases 'full' after its last word; the reader's acquire waits for it."
    return _tracks("A lock hands a buffer from a writer to a reader", rows, note)


def _exchange(buffers: int) -> dict[str, str]:
    """Writer and reader over a ring of buffers, with counting locks."""
    rig = Rig()
    s, m = rig.s2mm(), rig.mm2s()
    rig.set_lock(1, buffers)
    rig.catch(m)
    rig.feed(s, 48)
    for n in range(buffers):
        following = (n + 1) % buffers
        empty, full = OWN.lock(1), OWN.lock(0)
        rig.write_bd(
            n, words(8, 64 * n, next=following, acquire=Acquire(empty, -1, True), release=Release(full, 1))
        )
        read = words(
            8, 64 * n, next=4 + following, acquire=Acquire(full, -1, True), release=Release(empty, 1)
        )
        rig.write_bd(4 + n, read)
    rig.issue(s, 0)
    rig.issue(m, 4)
    rig.step(64)
    return {"S2MM 0": rig.timeline(s), "MM2S 0": rig.timeline(m)}


def one_buffer() -> Sheet:
    """One buffer: writer and reader take turns."""
    note = "With one buffer the two channels take turns; each waits for the other's lock."
    return _tracks("One buffer between a writer and a reader", _exchange(1), note, cell=9)


def ping_pong() -> Sheet:
    """Two buffers: writer and reader work at the same time."""
    note = "With two buffers one is written while the other is read: both channels move words."
    return _tracks("Two buffers: ping-pong", _exchange(2), note, cell=9)


def bank_conflict() -> Sheet:
    """Two readers whose words are in one bank."""
    rig = Rig()
    rig.memory_control(interleaved=False)
    channels = [rig.mm2s(n) for n in (0, 2)]
    for n, ch in enumerate(channels):
        rig.write_bd(n, words(10, 64 * n, dims=((2, 0),)))
        rig.catch(ch)
        rig.issue(ch, n)
    rig.step(30)
    rows = {f"MM2S {n}": rig.timeline(ch) for n, ch in zip((0, 2), channels, strict=True)}
    return _tracks(
        "A bank conflict", rows, "Both want bank 0 in the same cycle: one is served, the other waits a cycle."
    )


def back_pressure() -> Sheet:
    """A sender whose receiver takes a word every third cycle."""
    rig = Rig()
    m = rig.mm2s()
    rig.write_bd(0, words(24))
    rig.catch(m, [0, 0, 1])
    rig.issue(m, 0)
    rig.step(48)
    note = "The receiver takes one word in three cycles; the sender's buffer fills, then the sender waits."
    return _tracks("Back-pressure", {"MM2S 0": rig.timeline(m)}, note)


def starvation() -> Sheet:
    """A writer whose words come slowly."""
    rig = Rig()
    s = rig.s2mm()
    rig.write_bd(0, words(12))
    rig.feed(s, 12, [0, 0, 1])
    rig.issue(s, 0)
    rig.step(44)
    note = "A word arrives in every third cycle; between them the channel has no input word."
    return _tracks("Starvation", {"S2MM 0": rig.timeline(s)}, note)


def deadlock() -> Sheet:
    """Two channels each of which needs what the other would release; the run finds the circle."""
    tile = MemoryTile("npu1")
    inbox = tile.buffer("block", 16)
    empty, full = tile.lock(0, "empty"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(inbox).guarded(empty.acquire(), full.release()), loop=True)
    tile.mm2s[0].start(tile.read(inbox).guarded(full.acquire(), empty.release()), loop=True)
    tile.s2mm[0].feed(np.zeros(16, np.int32))
    tile.mm2s[0].collect(np.int32)
    run = tile.run()
    circle = next(finding for finding in run.findings if finding.severity == "error")
    sheet = Sheet(660, 224, "A deadlock is a circle of waits")
    sheet.box(40, 70, 190, 60, "green", "S2MM 0 'block'\nreleases 'full'")
    sheet.box(430, 70, 190, 60, "gold", "MM2S 0 'block'\nreleases 'empty'")
    sheet.arrow([(135, 70), (135, 40), (525, 40), (525, 70)], "waits for lock 'empty' (0, needs 1)")
    sheet.arrow([(525, 130), (525, 166), (135, 166), (135, 130)], "waits for lock 'full' (0, needs 1)")
    note = f"{circle.code}: give 'empty' the number of free buffers as its first value."
    sheet.say(20, 206, note, style="soft")
    return sheet


def race() -> Sheet:
    """A writer and a reader of one buffer without a lock."""
    rig = Rig()
    s, m = rig.s2mm(), rig.mm2s()
    rig.catch(m)
    rig.feed(s, 12, [0, 1])
    rig.write_bd(0, words(12))
    rig.write_bd(1, words(12))
    rig.issue(s, 0)
    rig.issue(m, 1)
    rig.step(34)
    rows = {"S2MM 0": rig.timeline(s), "MM2S 0": rig.timeline(m)}
    note = "Nothing orders the two: the reader overtakes the writer, and the result depends on their speeds."
    return _tracks("A race: two channels, one buffer, no lock", rows, note)


def design_space() -> Sheet:
    """Variants of one design: cycles against bytes, and which of them no other one beats."""
    found = {(words, depth): _variant(words, depth) for words in (128, 256, 512) for depth in (1, 2, 4)}
    sheet = Sheet(700, 330, "A design space: cycles and bytes of nine variants, the best ones marked")
    left, top, wide, high = 80, 30, 560, 230
    most_bytes, most = 4 * 4 * 512, max(found.values())
    least = min(found.values())
    sheet.arrow([(left, top), (left, top + high), (left + wide, top + high)], tip=False)
    for (words, depth), cycles in found.items():
        size = 4 * words * depth
        beaten = any(
            (other <= cycles and 4 * w * d <= size) and (other, 4 * w * d) != (cycles, size)
            for (w, d), other in found.items()
        )
        x = left + 50 + (wide - 80) * log2(size / 512) / log2(most_bytes / 512)
        y = top + high - 20 - (high - 50) * (cycles - least) / (most - least)
        sheet.box(x - 6, y - 6, 12, 12, "plain" if beaten else "green")
        sheet.say(x, y + (-12 if depth < 4 else 20), f"{words} x {depth}", "middle", "small")
    sheet.say(left - 8, top + high - 14, f"{least:,}", "end", "small")
    sheet.say(left - 8, top + 34, f"{most:,}", "end", "small")
    sheet.say(left - 8, top + 8, "cycles", "end", "soft")
    sheet.say(
        left + wide, top + high + 20, f"bytes of buffers, 512 to {most_bytes:,}, logarithmic", "end", "soft"
    )
    sheet.say(
        20,
        312,
        "words of a block x number of buffers; green: no variant has fewer cycles and bytes",
        style="soft",
    )
    return sheet


def _variant(words: int, depth: int) -> int:
    """The cycles of 2,048 words through ``depth`` buffers."""
    tile = MemoryTile()
    blocks = [tile.buffer(f"block{n}", words) for n in range(depth)]
    free, full = tile.lock(depth, "free"), tile.lock(0, "full")
    rounds = 2048 // (words * depth)
    tile.s2mm[0].feed(np.arange(2048, dtype=np.int32))
    tile.mm2s[0].collect(np.int32)
    writes = [tile.write(block).guarded(free.acquire(), full.release()) for block in blocks]
    reads = [tile.read(block).guarded(full.acquire(), free.release()) for block in blocks]
    tile.s2mm[0].start(*writes, repeat=rounds)
    tile.mm2s[0].start(*reads, repeat=rounds)
    return tile.run().cycles


def stuck_array() -> Sheet:
    """An array that stands still: what each part waits for, as the run has it."""
    array = Array("npu1", 1)
    memory, compute = array.memory_tile(0), array.compute_tile(0, 2)
    block, band = memory.buffer("block", 16, data=np.arange(16)), compute.buffer("band", 16)
    free, never = compute.lock(0, "free"), compute.lock(0, "never", id=9)

    def hold(core: Core) -> Iterator[Action]:
        yield core.acquire(never)
        yield core.release(free)

    compute.run_kernel(hold)
    memory.mm2s[0].start(memory.read(block))
    compute.s2mm[0].start(compute.write(band).guarded(free.acquire()))
    array.connect(memory.mm2s[0], compute.s2mm[0])
    run = array.run()
    assert run.status == "stuck"
    sheet = Sheet(720, 250, "A stuck array: each arrow is a wait, and the last one is the root")
    sheet.box(20, 60, 190, 56, "blue", "memory tile (0,1)\nMM2S 0 has words left")
    sheet.box(270, 60, 190, 56, "gold", "compute tile (0,2)\nS2MM 0 'band'")
    sheet.box(520, 60, 180, 56, "red", "core (0,2)\nkernel 'hold'")
    sheet.arrow([(210, 88), (270, 88)])
    sheet.arrow([(460, 88), (520, 88)])
    sheet.say(240, 48, "output not taken", "middle", "small")
    sheet.say(490, 48, "lock 'free' is 0", "middle", "small")
    sheet.arrow([(610, 116), (610, 170)])
    sheet.box(520, 172, 180, 44, "plain", "lock 9 'never' is 0:\nnothing releases it")
    sheet.say(20, 200, "Follow the waits to the one without a successor: there the repair is.", style="soft")
    return sheet
