"""Runs of the text that a graph is written as: its host and its kernels are those of the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from memtile.adf.core_loop import MakeCaller
from memtile.adf.host_transfers import HostChannel, HostTransfers
from memtile.adf.kernel_calls import Caller, LockUse, PortMemory, PortValue, StreamPort, Value
from memtile.adf.lowering import Lowered, lower
from memtile.adf.plan import Plan
from memtile.adf.plio_ports import plio_ports_of
from memtile.adf.running import GraphRun
from memtile.design.array import Array
from memtile.importers.design import load
from memtile.mlir_writer.graph_functions import Taken, functions_of, ports_of
from memtile.mlir_writer.graphs import module_of_graph
from memtile.runs.observing import observing
from memtile.runs.options import USUAL, RunOptions
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core

Function = Callable[..., Any]
Functions = Mapping[str, Any]
SIDES = ((0, -1), (-1, 0), (0, 1), (0, 0))
"""Where the tiles are whose locks a core numbers from 0, 16, 32 and 48 on (aie-rt)."""
LOCKS = 16


class TextRun(GraphRun):
    """A graph whose array is that of its text; its cores go on without end.

    Args:
        plan: of the graph.
        make: makes the calls of its kernels.
        folder: for the text.
        functions: that the text calls; None = the graph's kernels.
        options: of the run.
    """

    def __init__(
        self,
        plan: Plan,
        make: MakeCaller,
        folder: Path,
        functions: Callable[[Lowered], Functions] | None = None,
        options: RunOptions = USUAL,
    ) -> None:
        super().__init__(plan, make, options)
        text = lower(plan, make, plio_ports_of(plan.device))
        text.array.route()
        path = folder / "graph.mlir"
        path.write_text(str(module_of_graph(text)), encoding="utf-8")
        array = load(path, functions=(functions or functions_in_python(make))(text)).array
        ports, lookup = plio_ports_of(plan.device), self.lowered.lookup
        outside = [
            (plio, end)
            for net in plan.nets
            for end in (*net.sources, *net.targets)
            if (plio := lookup.plio_at(end.port)) is not None
        ]
        channels = {key: _in(array, each) for key, each in self.lowered.host_channels.items()}
        self.lowered = replace(
            self.lowered,
            array=array,
            inputs={p.id: ports.input(array, p, end) for p, end in outside if p.direction == "in"},
            outputs={p.id: ports.output(array, p, end) for p, end in outside if p.direction == "out"},
            host_channels=channels,
            fills=[],
        )
        self._array = array
        array.route()
        self._transfers = HostTransfers(array, channels, self.advance)
        self._stack.close()
        self._stack = ExitStack()
        self._observed = self._stack.enter_context(observing(array, options))

    def run(self, graph: int, iterations: int | None = None) -> None:
        """The cores run already, whatever is asked for."""
        self._graphs.ready(graph, "run").asked = iterations or 0

    def wait(self, graph: int, cycles: int | None = None) -> None:
        """So many cycles, or until nothing moves."""
        self._graphs.ready(graph, "wait")
        self._array.engine.wait(cycles) if cycles is not None else self.advance(lambda: False)


def _in(array: Array, of: HostChannel) -> HostChannel:
    place = of.channel.tile.place
    assert place is not None
    tile = array.interface_tile(place[0])
    channel = (tile.s2mm if of.channel.receives else tile.mm2s)[of.channel.number].named(of.name)
    return HostChannel(of.name, channel, of.end, of.gmio)


def functions_in_python(make: MakeCaller) -> Callable[[Lowered], Functions]:
    """What makes functions of a text that call the kernels of its graph."""

    def made(lowered: Lowered) -> Functions:
        kernels = {each.kernel: each for core in lowered.cores.values() for each in core.kernels}
        return {
            name: _function(make, number, ports_of(lowered, kernels[number]))
            for number, name in functions_of(lowered).items()
        }

    return made


def _function(make: MakeCaller, kernel: int, ports: Sequence[Taken]) -> Function:
    callers: dict[str, Caller] = {}

    def function(*given: Any, core: Core) -> Generator[Action, Any, None]:
        left = list(given)
        values = [_value(port, left, core) for port in ports]
        if core.name not in callers:
            callers[core.name] = make(kernel, core)
        yield from callers[core.name](values)

    return function


def _value(port: Taken, left: list[Any], core: Core) -> PortValue:
    """What a kernel gets for a port; its arguments are taken from those that are left."""
    if not port.types:
        return StreamPort(port.ids)
    if port.scalar:
        return Value(int(left.pop(0)) & 0xFFFFFFFF)
    buffers = tuple(_seen(port, left.pop(0), type_) for type_ in port.types)
    if not port.locks:
        return PortMemory(buffers)
    numbers = np.array([int(left.pop(0)) for _ in range(port.locks * len(buffers))]).reshape(len(buffers), -1)
    return PortMemory(
        buffers,
        tuple((_use(core, row[0], -row[1]), *(_use(core, each, 1) for each in row[2:])) for row in numbers),
    )


def _seen(port: Taken, memory: Any, type_: Any) -> Any:
    if port.letter in "pv":
        return memory
    shape, dtype = type_
    return memory.reshape(-1).view(np.uint8)[port.skipped :][: port.nbytes].view(dtype).reshape(shape)


def _use(core: Core, number: int, value: int) -> LockUse:
    column, row = map(int, re.findall(r"\d+", core.name))
    right, up = SIDES[number // LOCKS]
    lock: Any = SimpleNamespace(id=int(number) % LOCKS, place=(column + right, row + up))
    return LockUse(lock, int(value))
