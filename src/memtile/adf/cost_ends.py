"""A graph's cycles at both ends of what its kernels cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtile.corelib.call_costs import COUNTED, RANGE, UNKNOWN, CallCost
from memtile.explain.results import Status

if TYPE_CHECKING:
    from memtile.adf.graph_file import GraphProgram
    from memtile.adf.program_run import ProgramResult


@dataclass(frozen=True, slots=True)
class PortBand:
    """Data of an output PLIO at both ends of what kernels cost.

    Attributes:
        name: of the PLIO.
        likely: MB/s from its first word to its last one, in the run itself; 0 for a single word.
        low: MB/s with the most cycles of each kernel.
        high: MB/s with the least.
        earliest: cycle of its first word with the least cycles: the latency from the start of the run.
        latest: the same with the most.
    """

    name: str
    likely: float
    low: float
    high: float
    earliest: int
    latest: int


@dataclass(frozen=True, slots=True)
class LatencyBand:
    """Latency from an input PLIO to an output PLIO, over what kernels cost.

    Where a PLIO sets the pace, data waits longer before a faster kernel: the ends of the costs are not those
    of a latency, so the run itself counts too.

    Attributes:
        source: name of the input.
        target: name of the output.
        likely: cycles from the last word in to the last word out, in the run itself.
        low: the least of the runs.
        high: the most.
    """

    source: str
    target: str
    likely: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class CostBand:
    """Cycles of a graph, from run to run of its program at both ends of its kernels' costs.

    Attributes:
        cycles: of the run itself.
        low: with the least cycles of each kernel.
        high: with the most.
        ports: throughput of the output PLIOs.
        kernels: those whose cost is a range, with it.
        bounded: names of kernels whose cost is a lower bound at both ends.
        latencies: of each pair of PLIOs with data between them.
    """

    cycles: int
    low: int
    high: int
    ports: tuple[PortBand, ...]
    kernels: Mapping[str, CallCost]
    bounded: tuple[str, ...] = ()
    latencies: tuple[LatencyBand, ...] = ()

    @property
    def lines(self) -> Iterator[str]:
        """For people."""
        if not self.kernels:
            yield f"{self.cycles:,} cycles: no kernel has a range of costs"
        else:
            yield f"{self.low:,} to {self.high:,} cycles over the costs of {', '.join(self.kernels)}"
        yield from (
            f"{each.name}: {each.likely:,.2f} MB/s ({each.low:,.2f} to {each.high:,.2f}), "
            f"first word in cycle {each.earliest:,} to {each.latest:,}"
            for each in self.ports
            if self.kernels
        )
        yield from (
            f"{each.source} to {each.target}: last word out after {each.likely:,} cycles "
            f"({each.low:,} to {each.high:,})"
            for each in self.latencies
            if self.kernels
        )
        if self.bounded:
            names = ", ".join(self.bounded)
            yield f"costs of {names} are lower bounds: more cycles are possible. Give --cost"


def cost_band(graph: GraphProgram, done: ProgramResult) -> CostBand | None:
    """Run a graph's program again at both ends of what its kernels cost.

    Args:
        graph: it.
        done: its run.

    Returns:
        The band; None = Ctrl-C ended one of the runs.

    Raises:
        InputFileError: as of ``GraphProgram.run``.
        DesignError: as of ``GraphProgram.run``.
    """
    ranges = {name: cost for name, cost in done.costs.items() if cost.basis == RANGE}
    again = graph.options.run.run_again()
    ends = [done, done]
    if ranges:
        ends = [graph.run_again(again, "least"), graph.run_again(again, "most")]
    if any(one.result is not None and one.result.status is Status.INTERRUPTED for one in ends):
        return None
    times = [{each.name: each for each in one.times} for one in (done, *ends)]
    ports = tuple(
        PortBand(name, each.throughput, slow.throughput, fast.throughput, fast.first, slow.first)
        for name, each in times[0].items()
        if (fast := times[1].get(name)) and (slow := times[2].get(name))
    )
    bounded = tuple(name for name, cost in done.costs.items() if cost.basis in (COUNTED, UNKNOWN))
    cycles = (done.cycles, ends[0].cycles, ends[1].cycles)
    return CostBand(*cycles, ports, ranges, bounded, tuple(_latency_bands(done, ends)))


def _latency_bands(done: ProgramResult, ends: Sequence[ProgramResult]) -> Iterator[LatencyBand]:
    found = [
        {(each.source, each.target): each.last for each in one.graph.latencies} if one.graph else {}
        for one in (done, *ends)
    ]
    for pair, likely in found[0].items():
        cycles = [one[pair] for one in found if pair in one]
        yield LatencyBand(*pair, likely, min(cycles), max(cycles))
