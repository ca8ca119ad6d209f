"""When data pass PLIOs: throughput of each, and latency from an input to an output that its data reach.

Source: UG1076, Latency and Throughput Estimates: from the first input data to the first output data, and
from the last ones to the last ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memtile.adf.plan import Plan


@dataclass(frozen=True, slots=True)
class PortTimes:
    """When data passed a PLIO.

    Attributes:
        name: of the PLIO.
        nbytes: that passed.
        first: cycle of the first word.
        last: cycle of the last one; of an input that in which its last PLIO word began.
        mhz: of the array's clock.
        label: its logical name, the argument of ``create``.
    """

    name: str
    nbytes: int
    first: int
    last: int
    mhz: float
    label: str = ""

    @property
    def throughput(self) -> float:
        """MB/s as aiesimulator has it: bytes by the time from first to last word; 0 for a single word."""
        return self.nbytes * self.mhz / (self.last - self.first) if self.last > self.first else 0.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Cycles of the array from an input PLIO to an output PLIO.

    Attributes:
        source: name of the input.
        target: name of the output.
        first: from the first word in to the first word out.
        last: from the last word in to the last word out.
    """

    source: str
    target: str
    first: int
    last: int


def latencies(
    plan: Plan, inputs: Mapping[int, PortTimes], outputs: Mapping[int, PortTimes]
) -> Iterator[Latency]:
    """The latency of each pair of PLIOs that data go between, by output and then by input.

    Args:
        plan: of the graph.
        inputs: times of input PLIOs by id.
        outputs: the same of output PLIOs.
    """
    ports = {plio.id: plio.port for plio in plan.description.plios}
    reached = {plio: reached_from(plan, ports[plio]) for plio in inputs}
    for target, out in outputs.items():
        for source, into in inputs.items():
            if ports[target] in reached[source]:
                yield Latency(into.name, out.name, out.first - into.first, out.last - into.last)


def _steps(plan: Plan) -> Mapping[int, set[int]]:
    """From each port those that its data reach next: along nets, through kernels and buffers."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for net in plan.nets:
        for source in net.sources:
            found[source.port].update(target.port for target in net.targets)
    into = {port.id for port in plan.description.ports if port.direction != "out"}
    for kernel in plan.description.kernels:
        for port in into.intersection(kernel.ports):
            found[port].update(set(kernel.ports) - {port})
    for memory in plan.description.memories:
        for port in memory.inputs:
            found[port].update(memory.outputs)
    return found


def reached_from(plan: Plan, port: int) -> set[int]:
    """A port and those that its data reach: along nets, through kernels and buffers."""
    steps = _steps(plan)
    seen, left = {port}, [port]
    while left:
        more = steps.get(left.pop(), set()) - seen
        seen |= more
        left += more
    return seen
