"""Graphs in C++ (UG1603): what ``memtile run graph.cpp`` writes."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from memtile.documents import Count
from memtile.explain.results import Status
from memtile.schemas.runs import RunOutput


class GraphPort(TypedDict):
    """What passed a PLIO: every output, and inputs that have sent words.

    Attributes:
        port: Its name in the graph.
        words: Words of 32 bits.
        first: Cycle of the first word; null = there is none, or it is not known.
        last: Cycle of the last word; of an input that in which its last PLIO word began.
        megabytes_per_second: Bytes by the time from the first word to the last one, as aiesimulator has it;
            0 for a single word.
    """

    port: str
    direction: Literal["in", "out"]
    words: Count
    first: Count | None
    last: Count | None
    megabytes_per_second: Annotated[float, Meta(ge=0)] | None


PortLatency = TypedDict("PortLatency", {"from": str, "to": str, "first": int, "last": int})
"""Cycles from an input PLIO to an output PLIO that its data reach: from the first word in to the first word
out (negative if that came before), and from the last one to the last one."""


class KernelWork(TypedDict):
    """What a core did.

    Attributes:
        kernel: Names of its kernels in the graph.
        calls: Of all of them.
        cycles: Of the core by cause; the causes are those of "cores" in "run".
    """

    kernel: str
    calls: Count
    cycles: dict[str, Count]


class MissingInput(TypedDict):
    """An input PLIO that ran out of data.

    Attributes:
        port: Its name in the graph.
        element: Type of its elements.
        came: Elements that came.
        needed: Elements that the iterations need; null = a stream, of which no graph says how much.
    """

    port: str
    element: str
    came: Count
    needed: Count | None


class KernelCost(TypedDict):
    """What the last call of a kernel cost.

    Attributes:
        kernel: Its name in the graph.
        cycles: That the call was charged.
        basis: Where they come from: given, range (published cycles of the library's kernels), lower bound by
            counted vector operations, or unknown.
        least: Of a range; null = the cost is none.
        most: Of a range.
    """

    kernel: str
    cycles: Count
    basis: str
    least: Count | None
    most: Count | None


class PortBand(TypedDict):
    """Data of an output PLIO at both ends of the costs of kernels.

    Attributes:
        port: Its name in the graph.
        megabytes_per_second: In the run itself.
        low: Megabytes per second with the most cycles of each kernel.
        high: Megabytes per second with the least.
        earliest: Cycle of its first word with the least.
        latest: Cycle of its first word with the most.
    """

    port: str
    megabytes_per_second: Annotated[float, Meta(ge=0)]
    low: Annotated[float, Meta(ge=0)]
    high: Annotated[float, Meta(ge=0)]
    earliest: Count
    latest: Count


LatencyBand = TypedDict("LatencyBand", {"from": str, "to": str, "likely": int, "low": int, "high": int})
"""Cycles from the last word into a PLIO to the last word out of another one that its data reach: in the run
itself, the least of the runs, and the most."""


class CostBand(TypedDict):
    """The run at both ends of the costs of kernels that are ranges.

    Attributes:
        low: Cycles with the least of each.
        high: Cycles with the most.
        ports: Output PLIOs.
        bounded: Kernels whose cost is a lower bound at both ends.
        latencies: Of each pair of PLIOs that data go between.
    """

    low: Count
    high: Count
    ports: list[PortBand]
    bounded: list[str]
    latencies: list[LatencyBand]


class GraphRunOutput(TypedDict):
    """The result of a graph program.

    Attributes:
        good: main returned 0, and every graph did what it was asked for; else the exit code is 1.
        status: How the run ended; null = main asked for no run.
        code: Exit code of main; null = it did not finish.
        held: The call of main that waits for ever; empty = there is none.
        cycles: Of the array clock.
        iterations: Per graph that ran, the fewest that one of its cores has ended.
        endless: Graphs that run without a count.
        ports: Throughput of PLIOs.
        latencies: Of each pair of PLIOs that data go between.
        kernels: The work of each core, most first.
        unfinished: Kernels of each core that did not end the iterations asked for.
        waits: What waits for what, in the names of the graph; texts for people.
        notes: What the model leaves out, and what files have that no guide describes; texts for people.
        costs: What calls of kernels cost.
        band: With --sensitivity.
        files: Of output PLIOs, as they were written.
        run: The array, as memtile run --json writes it of a design; null without a run.
    """

    device: str
    good: bool
    status: Status | None
    code: int | None
    held: str
    cycles: Count
    iterations: dict[str, Count]
    endless: list[str]
    ports: list[GraphPort]
    latencies: list[PortLatency]
    kernels: list[KernelWork]
    missing: list[MissingInput]
    unfinished: list[str]
    waits: list[str]
    notes: list[str]
    costs: list[KernelCost]
    band: CostBand | None
    files: list[str]
    run: RunOutput | None
