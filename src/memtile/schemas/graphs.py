"""Graphs in C++ (UG1603): what ``memtile run graph.cpp`` writes."""

from __future__ import annotations

from typing import Annotated, TypedDict

from msgspec import Meta

from memtile.documents import Count
from memtile.explain.results import Status
from memtile.schemas.runs import RunOutput


class OutputPort(TypedDict):
    """What left the array at an output PLIO.

    Attributes:
        port: Its name in the graph.
        words: Words of 32 bits.
        first: Cycle of the first word; null = there is none.
        last: Cycle of the last word.
        megabytes_per_second: From the first word to the last one; 0 for a single word.
    """

    port: str
    words: Count
    first: Count | None
    last: Count | None
    megabytes_per_second: Annotated[float, Meta(ge=0)] | None


class MissingInput(TypedDict):
    """An input PLIO that ran out of data.

    Attributes:
        port: Its name in the graph.
        element: Type of its elements.
        came: Elements that came.
        needed: Elements that the iterations need.
    """

    port: str
    element: str
    came: Count
    needed: Count


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


class CostBand(TypedDict):
    """The run at both ends of the costs of kernels that are ranges.

    Attributes:
        low: Cycles with the least of each.
        high: Cycles with the most.
        ports: Output PLIOs.
        bounded: Kernels whose cost is a lower bound at both ends.
    """

    low: Count
    high: Count
    ports: list[PortBand]
    bounded: list[str]


class GraphRunOutput(TypedDict):
    """The result of a graph program.

    Attributes:
        good: main returned 0, and every graph did what it was asked for; else the exit code is 1.
        status: How the run ended; null = main asked for no run.
        code: Exit code of main.
        cycles: Of the array clock.
        iterations: Per graph that ran, the fewest that one of its cores has ended.
        unfinished: Kernels of each core that did not end the iterations asked for.
        waits: What waits for what, in the names of the graph; texts for people.
        notes: What the model leaves out, and what files have that no guide describes; texts for people.
        kernels: What calls of kernels cost.
        band: With --sensitivity.
        files: Of output PLIOs, as they were written.
        run: The array, as memtile run --json writes it of a design; null without a run.
    """

    device: str
    good: bool
    status: Status | None
    code: int
    cycles: Count
    iterations: dict[str, Count]
    ports: list[OutputPort]
    missing: list[MissingInput]
    unfinished: list[str]
    waits: list[str]
    notes: list[str]
    kernels: list[KernelCost]
    band: CostBand | None
    files: list[str]
    run: RunOutput | None
