"""Set-ups of traces of object FIFOs: tiles and objects that come to a core, or pass it, by a memory tile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from memtile.arch.ports import PORTS
from memtile.arch.tiles import MM2S, S2MM
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import DmaAddress, DmaLock
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from support.designs.interface_bench import Column
from support.silicon.silicon_cores import (
    COMES,
    IN_FREE,
    IN_FULL,
    LEAVES,
    OUT_FULL,
    SETTLED,
    buffers,
    crossed,
    passing,
    two_places,
    way_down,
    way_up,
)
from support.silicon.silicon_streams import Port, long_gaps, set_lock, watched

Measured = dict[str, float]


def eights(work: int, objects: int = 8, words: int = 8) -> Measured:
    """Objects of 8 words through a memory tile with buffers of 16 to a core, and back the same way.

    Args:
        work: cycles of the core for an object, more than the words need that come ahead of it.
        objects: in all.
        words: of each.
    """
    column = Column()
    buffers(column, words, words)
    way_up(column, True, 2 * words)
    way_down(column, True, 2 * words)
    column.engine.attach_kernel(2, lambda core: passing(core, work, out_first=False))
    _tasks(column, objects * words)
    stalled: list[int] = []
    came, went = crossed(column, stalled, SETTLED)
    assert len(came) == len(went) == objects * words
    ahead, full = long_gaps(came)[0], came[words - 1]
    begun = next(n for n in range(full + 1, full + work) if n in stalled and n + 1 not in stalled)
    return {
        "taken_ahead": ahead,
        "ahead_span": came[ahead - 1] + 1 - came[0],
        "full_to_core": begun - full,
    }


def _tasks(column: Column, words: int) -> None:
    """External memory of as many words each way, and both tasks of the interface tile."""
    come = column.engine.external.add("in", np.arange(words, dtype=np.uint32))
    go = column.engine.external.add("out", np.zeros(words, np.uint32))
    column.put(0, 0, Descriptor("interface", words, come.at()))
    column.put(0, 1, Descriptor("interface", words, go.at()))
    column.issue(0, MM2S, 0, 0)
    column.issue(0, S2MM, 0, 1)


def freed_to_port(words: int) -> Measured:
    """A core's release of a buffer, for which its S2MM waits, to the next word at the port, by events."""
    column = Column()
    buffers(column, words, words)
    way_up(column, False, words)
    unit = EventUnit(column.doors[2], "core")
    port = PORTS["compute"].master("DMA0")
    unit.write("Stream_Switch_Event_Port_Selection_0", Port_0_ID=port, Port_0_Master_Slave=1)
    unit.count(0, "INSTR_LOCK_RELEASE_REQ", "PORT_RUNNING_0")

    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(IN_FULL)
        yield core.cycles(200)
        yield core.release(IN_FREE)

    column.engine.attach_kernel(2, kernel)
    come = column.engine.external.add("in", np.arange(8 * words, dtype=np.uint32))
    column.put(0, 0, Descriptor("interface", 8 * words, come.at()))
    column.issue(0, MM2S, 0, 0)
    column.engine.run(SETTLED)
    return {"cycles": unit.counted(0)}


def two_matrices(work: int, objects: int, row: int = 1024) -> Measured:
    """Tiles of two matrices, 64 x 64 16-bit values each, in blocks of 4 x 4, to a core by a memory tile.

    Args:
        work: cycles of the core for a tile of both.
        objects: tiles of each matrix.
        row: words of a row of the matrices in external memory.
    """
    column, words = Column(), 2048
    for n, port in enumerate(("SOUTH3", "SOUTH7")):
        column.circuit(0, port, f"NORTH{n}")
        column.circuit(1, f"SOUTH{n}", f"DMA{n}")
        column.circuit(1, f"DMA{n}", f"NORTH{n}")
        column.circuit(2, f"SOUTH{n}", f"DMA{n}")
        two_places(column, n, words, (Dim(1, 2), Dim(32, 4), Dim(2, 16), Dim(128, 0)))
        set_lock(column, 2, 2 * n, 2)
        for at in range(2):
            guards: dict[str, Any] = {
                "acquire": Acquire(DmaLock(2 * n), -1, True),
                "release": Release(DmaLock(2 * n + 1), 1),
            }
            place, bd = DmaAddress(words * (2 * n + at)), 4 * n + at
            column.put(2, bd, Descriptor("compute", words, place, next=4 * n + 1 - at, **guards))
        column.issue(2, S2MM, n, 4 * n)
        matrix = column.engine.external.add(f"matrix {n}", np.zeros(64 * row, np.uint32))
        tiles = Dim(1, 32), Dim(row, 64), Dim(32, 0)
        column.put(0, n, Descriptor("interface", objects * words, matrix.at(), dims=tiles))
        column.issue(0, MM2S, n, n)

    def kernel(core: Core) -> Iterator[Action]:
        while True:
            yield core.acquire(1)
            yield core.acquire(3)
            yield core.cycles(work)
            yield core.release(0)
            yield core.release(2)

    column.engine.attach_kernel(2, kernel)
    stalled: list[int] = []
    came, other = crossed(
        column, stalled, SETTLED + objects * (work + 4 * words), (COMES, Port(2, "DMA1", True))
    )
    assert len(came) == len(other) == objects * words
    lasts = came[words - 1 :: words]
    return {
        "span": float(
            np.median([last + 1 - first for first, last in zip(came[::words], lasts, strict=True)])
        ),
        "full_to_core": float(np.median([_ended(stalled, last) - last for last in lasts if last in stalled])),
        "period": float(np.median(np.diff(came[::words])[1:])),
        "taken_ahead": float(np.median([n % words for n in long_gaps(came)[1:]] or [0])),
        "dead": float(
            np.median([after - last - 1 for last, after in zip(lasts, came[words::words], strict=False)])
        ),
    }


def _ended(stalled: list[int], since: int) -> int:
    """The last cycle of the wait that is on in a cycle."""
    waits = set(stalled)
    return next(n for n in range(since, stalled[-1] + 1) if n + 1 not in waits)


def result(words: int) -> Measured:
    """First to last word of a core's result at the port of its tile, on the way to a memory tile."""
    column = Column()
    buffers(column, words, words)
    way_down(column, True, words)

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(60)
        yield core.release(OUT_FULL)

    column.engine.attach_kernel(2, kernel)
    (left,) = watched(column, [LEAVES], 2 * words + 200)
    return {"span": left[-1] + 1 - left[0]}


SETUPS = {each.__name__: each for each in (eights, freed_to_port, two_matrices, result)}
