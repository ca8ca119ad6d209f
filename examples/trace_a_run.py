"""Trace a run: what two tiles do, as packets of their trace units, decoded and written for Perfetto.

Run it with ``python examples/trace_a_run.py`` and open ``trace_a_run.json`` at https://ui.perfetto.dev;
``memtile run examples/trace_a_run.py`` runs the design alone.

A memory tile hands four frames to a compute tile through a buffer; a kernel takes 60 cycles for each and
marks when it is done. Channels, locks and marks are events; their packets leave the array through the
stream switches.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from memtile import Array, Event
from memtile.kernels import Action, Core
from memtile.trace import Tracing

FRAMES, WORDS, CYCLES = 4, 64, 60


def design() -> Array:
    """One column: frames go from the memory tile to the compute tile under two locks."""
    array = Array("npu1", columns=1)
    memory, worker = array.memory_tile(0), array.compute_tile(0, 2)
    frames = np.arange(FRAMES * WORDS, dtype=np.int32).reshape(FRAMES, WORDS)
    source = memory.buffer("frames", frames.shape, data=frames)
    frame, empty, full = worker.buffer("frame", WORDS), worker.lock(1, "empty"), worker.lock(0, "full")
    sums = worker.buffer("sums", FRAMES)

    def kernel(core: Core) -> Iterator[Action]:
        for number in range(FRAMES):
            yield core.acquire(full)
            yield core.cycles(CYCLES)
            core.view(sums)[number] = core.view(frame).sum()
            yield core.event(0)
            yield core.release(empty)

    array.connect(memory.mm2s[0], worker.s2mm[0])
    memory.mm2s[0].start(memory.read(source))
    worker.s2mm[0].start(worker.write(frame).guarded(empty.acquire(), full.release()), repeat=FRAMES)
    worker.run_kernel(kernel)
    worker.expect(sums, frames.sum(axis=1))
    return array


def events(array: Array) -> list[Event]:
    """What is worth a look: where the sender and the receiver wait, and when the kernel is done."""
    memory, worker = array.memory_tile(0), array.compute_tile(0, 2)
    return [
        memory.events.event("STREAM_BACKPRESSURE", memory.mm2s[0]),
        worker.events.event("STALLED_LOCK", worker.s2mm[0]),
        worker.events.event("FINISHED_BD", worker.s2mm[0]),
        worker.events.event("LOCK_STALL"),
        worker.events.event("INSTR_EVENT_0"),
    ]


def main(path: Path) -> None:
    """Run, decode, print what each event did, and write the file."""
    array = design()
    tracing = Tracing(array, events(array))
    print(array.run().status)
    tracing.stop()
    for unit in tracing.units():
        for slot, name in enumerate(unit.events):
            times = [(i.begin, i.end) for i, _ in unit.intervals() if i.slot == slot]
            if name != "NONE":
                cycles = sum(end - begin for begin, end in times)
                print(f"{unit.process:24} {name:32} {len(times)} times, {cycles} cycles")
    tracing.save_perfetto(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "trace_a_run.json"))
