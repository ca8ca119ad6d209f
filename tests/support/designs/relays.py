"""A small design whose core and host only move objects on: all that it does is known before it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.access.views import view
from memtile.design.array import Array
from memtile.kernels import apart
from memtile.sim.kernels.listed_actions import acquire, cycles, listed, loop, release


def relay(
    objects: int = 3,
    words: int = 8,
    count: int = 5,
    *,
    device: str = "npu1",
    tasks: int = 0,
    again: int = 1,
    depth: int = 2,
    extra: int = 0,
    far: int = 0,
    endless: bool | None = None,
    reaches: tuple[Any, ...] = (),
    kernel: Any = None,
) -> Array:
    """Objects from outside to a core and back.

    Args:
        objects: of a task.
        words: of an object.
        count: cycles of the core for each.
        device: whose first column it is on.
        tasks: that a host starts one after another, each of ``objects``; 0 = there is no host.
        again: runs of each task of a host.
        depth: buffers at the core.
        extra: cycles of the core at its end; 0 = none.
        far: rows of the array outside that are left out between two objects.
        endless: what is declared of the kernel.
        reaches: places that the kernel says to reach beside its own; none = it says nothing.
        kernel: in place of the one that is a list.
    """
    array, rounds = Array(device, 1), max(tasks, 1) * again
    outside, core = array.interface_tile(0), array.compute_tile(0, array.device.compute_rows[0])
    given = {"shape": (words,), "dtype": np.int32, "depth": depth}
    come = array.object_fifo("in", outside, core, **given)
    go = array.object_fifo("out", core, outside, **given)
    (came,), gone = come.consumers, go.producer
    step = acquire(came.full), acquire(gone.free), cycles(count), release(came.free), release(gone.full)
    last = [cycles(extra)] if extra else []
    made = kernel or listed(loop(rounds * objects, *step), *last, name="relay")
    core.run_kernel(apart(*reaches)(made) if reaches else made, endless=endless)
    shape = max(tasks, 1) * objects * (1 + far), words
    a, b = (array.external(name, np.zeros(shape, np.int32)) for name in "AB")
    jobs = []
    for n in range(max(tasks, 1)):
        rows = slice(n * objects * (1 + far), (n + 1) * objects * (1 + far), 1 + far)
        jobs.append((come.producer.channel, outside.read(a, _rows(a, rows)), again))
        jobs.append((go.consumers[0].channel, outside.write(b, _rows(b, rows)), again))
    if tasks:
        array.start_in_order(jobs)
    else:
        for channel, work, runs in jobs:
            channel.start(work, repeat=runs)
    return array


def _rows(buffer: Any, rows: slice) -> Any:
    return view(buffer.shape, np.int32)[rows]
