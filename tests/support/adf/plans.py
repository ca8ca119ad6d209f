"""Plans made by hand for graphs of a sketch, and kernels in Python that take the place of C++."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.adf.graph_result import GraphResult
from memtile.adf.kernel_calls import Caller, PortMemory, PortValue
from memtile.adf.plan import Blocks, End, Net, Plan, PlannedKernel, PlannedMemory
from memtile.adf.planning import plan_of
from memtile.adf.running import GraphRun
from memtile.explain.results import Status
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from support.adf.sketch import ROOT, Made, Sketch

Body = Callable[..., Generator[Action, Any, None]]
Simple = Callable[..., None]


def calls(**bodies: Body) -> Callable[[int, Core], Caller]:
    """What makes the calls of kernels: generators by the id of the kernel as ``k<id>``.

    Each gets the core, and per port an array, a :class:`Value` or a stream.
    """

    def make(kernel: int, core: Core) -> Caller:
        body = bodies[f"k{kernel}"]

        def call(values: Sequence[PortValue]) -> Generator[Action, Any, None]:
            yield from body(core, *(_plain(value) for value in values))

        return call

    return make


def _plain(value: PortValue) -> Any:
    if isinstance(value, PortMemory) and value.locks is None:
        return value.buffers[0]
    return value


def compute(function: Simple, cycles: int = 20) -> Body:
    """A kernel that calls a function with its arrays, and takes so many cycles."""

    def body(core: Core, *values: Any) -> Generator[Action, Any, None]:
        function(*values)
        yield core.cycles(cycles)

    return body


def started(g: Sketch, bodies: Mapping[Made, Body], device: str = "npu1") -> GraphRun:
    """The run of a graph on a device, initialised."""
    made = calls(**{f"k{k.id}": body for k, body in bodies.items()})
    run = GraphRun(plan_of(g.description(), device), made)
    run.init(ROOT)
    return run


def ended(run: GraphRun, iterations: int) -> GraphResult:
    """What a run gives that finishes."""
    run.run(ROOT, iterations)
    run.end(ROOT)
    found = run.result()
    assert found.result.status is Status.FINISHED, found.result.waiting
    return found


def ints(array: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The memory of a port as int32."""
    return array.reshape(-1).view(np.int32)


__all__ = [
    "Blocks",
    "End",
    "Net",
    "Plan",
    "PlannedKernel",
    "PlannedMemory",
    "Sketch",
    "calls",
    "compute",
    "ended",
    "ints",
    "started",
]
