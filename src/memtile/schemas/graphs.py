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
    files: list[str]
    run: RunOutput | None
