"""Does a kernel that was attached begin while a host writes, and not only when the array is run?"""

from __future__ import annotations

from collections.abc import Iterator

from memtile import Array
from memtile.sim.actions import Action
from memtile.sim.kernels import Core


def test_a_kernel_begins_while_the_host_is_busy_with_its_accesses() -> None:
    array = Array("npu1", 1)
    tile, lock = array.compute_tile(0, 2), array.compute_tile(0, 2).lock()
    begun = []

    def kernel(core: Core) -> Iterator[Action]:
        begun.append(array.engine.now)
        yield core.cycles(3)
        yield core.release(lock)

    tile.run_kernel(kernel)
    start = array.engine.now
    for _ in range(4):
        array.door.write32(array.memory_tile(0).kind.bd_base + (1 << 20), 0)  # each takes access_cycles
    assert begun == [start]
    assert tile.own_door.read32(tile.kind.lock_value_base + lock.id * tile.kind.lock_value_stride) == 1
