"""Is what several share named as such: one stream for cores, one lock for descriptors?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memtile import Array, Lock
from memtile.kernels import Action, Core


def dealt(turns: int) -> Array:
    """A memory tile that deals two objects to each of two cores, which take so many."""
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    array.connect(door.mm2s[0], shared.s2mm[0])
    parts = []
    for n in range(2):
        tile = array.compute_tile(0, 2 + n)
        array.connect(shared.mm2s[n], tile.s2mm[0])
        half, free, full = shared.buffer(f"half{n}", 16), shared.lock(1), shared.lock(0)
        parts.append(shared.write(half).guarded(free.acquire(), full.release()))
        shared.mm2s[n].start(shared.read(half).guarded(full.acquire(), free.release()), loop=True)
        box, room, there = tile.buffer("box", 16), tile.lock(1, "room"), tile.lock(0, "there")
        tile.s2mm[0].start(tile.write(box).guarded(room.acquire(), there.release()), loop=True)

        def kernel(core: Core, room: Lock = room, there: Lock = there) -> Iterator[Action]:
            for _ in range(turns):
                yield core.acquire(there)
                yield core.release(room)

        tile.run_kernel(kernel)
    shared.s2mm[0].start(*parts, loop=True)
    door.mm2s[0].start(door.read(array.external("x", np.arange(64, dtype=np.int32))))
    return array


def test_cores_that_take_more_than_is_sent_are_named_before_who_passes_it_on() -> None:
    assert dealt(2).run().findings == ()
    (finding,) = dealt(3).run().findings
    assert [side.who[:11] for side in finding.sides][:2] == ["core (0, 2)", "core (0, 3)"]
    assert "as other cores do, waits until lock 1 'there'" in finding.message
    assert finding.fix.startswith("Let each of these cores take less in its turns, or send")
