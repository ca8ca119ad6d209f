"""What a graph's run left, and when its PLIOs sent and received words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memtile.adf.description import Plio
from memtile.adf.limits import KernelWork
from memtile.adf.plio_ports import Collected, InputPort
from memtile.adf.port_times import Latency, PortTimes
from memtile.adf.run_end import Missing
from memtile.arch.tiles import WORD_BYTES
from memtile.explain.edge_streams import NO_EDGES, EdgeStreams
from memtile.explain.findings import Finding
from memtile.explain.results import Result


@dataclass(frozen=True, slots=True)
class GraphResult:
    """What a graph's run left.

    Attributes:
        result: of the array, with findings in the graph's names.
        outputs: per name of a PLIO what left the array.
        missing: inputs that ran out.
        times: of output PLIOs that have received words, where the model knows them.
        input_times: of input PLIOs that have sent words.
        latencies: from inputs to the outputs that their data reach.
        iterations: per graph that ran, the fewest that one of its cores has ended.
        unfinished: names of the kernels of each core that did not end the iterations asked for.
        notes: what the model leaves out, and what went on to the limit.
        endless: graphs that ``run`` was called for without a count.
        waits: what waits for what at the end, in the user's names, kernels first.
        kernels: the work of each core, most first.
        limits: notes on single buffers that are waited for.
        edges: the streams of its PLIOs.
    """

    result: Result
    outputs: Mapping[str, Collected] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    times: tuple[PortTimes, ...] = ()
    input_times: tuple[PortTimes, ...] = ()
    latencies: tuple[Latency, ...] = ()
    iterations: Mapping[str, int] = field(default_factory=dict)
    unfinished: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    endless: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    kernels: tuple[KernelWork, ...] = ()
    limits: tuple[Finding, ...] = ()
    edges: EdgeStreams = NO_EDGES

    @property
    def cycles(self) -> int:
        """Elapsed cycles of the array clock."""
        return self.result.cycles


def output_times(
    plios: Mapping[int, Plio], collected: Mapping[int, Collected], mhz: float
) -> dict[int, PortTimes]:
    """Return the times of the output PLIOs that have received words, by id, where the model knows them.

    Args:
        plios: all of the graph, by id.
        collected: what the outputs have received, by id.
        mhz: clock of the array.
    """
    found = {}
    for number, each in collected.items():
        if each.cycles is not None and len(each.cycles):
            plio, ends = plios[number], (int(each.cycles[0]), int(each.cycles[-1]))
            found[number] = PortTimes(plio.name, each.words.nbytes, *ends, mhz, plio.label)
    return found


def input_times(
    plios: Mapping[int, Plio], inputs: Mapping[int, InputPort], mhz: float
) -> dict[int, PortTimes]:
    """Return the times of the input PLIOs that have sent words, by id.

    Args:
        plios: all of the graph, by id.
        inputs: their ports, by id.
        mhz: clock of the array.
    """
    found = {}
    for number, port in inputs.items():
        if port.entered and port.ended >= 0:
            plio, sent = plios[number], port.entered * WORD_BYTES
            found[number] = PortTimes(plio.name, sent, port.began, port.ended, mhz, plio.label)
    return found
