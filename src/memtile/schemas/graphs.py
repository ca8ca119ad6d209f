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


class GraphRunOutput(TypedDict):
    """The result of a graph program.

    Attributes:
        good: main returned 0, and every graph did what it was asked for; else the exit code is 1.
        status: How the run ended; null = main asked for no run.
        code: Exit code of main; null = it did not come to its end.
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
    files: list[str]
    run: RunOutput | None
