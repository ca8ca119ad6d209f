"""Graphs of UG1603 in C++: their description, their placement in the array, and their run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.adf.cost_ends import CostBand, LatencyBand, PortBand, cost_band
    from memtile.adf.description import Description
    from memtile.adf.graph_file import GraphProgram, load
    from memtile.adf.plan import Plan
    from memtile.adf.port_times import PortTimes
    from memtile.adf.program_run import ProgramResult
    from memtile.adf.run_end import Missing
    from memtile.adf.verdict.verdicts import Verdict
    from memtile.io.plio_csv import read_plio_csv, write_plio_csv
    from memtile.io.plio_text import PlioWords, read_plio, write_plio

_HOMES = {
    "CostBand": "memtile.adf.cost_ends",
    "Description": "memtile.adf.description",
    "GraphProgram": "memtile.adf.graph_file",
    "LatencyBand": "memtile.adf.cost_ends",
    "Missing": "memtile.adf.run_end",
    "Plan": "memtile.adf.plan",
    "PlioWords": "memtile.io.plio_text",
    "PortBand": "memtile.adf.cost_ends",
    "PortTimes": "memtile.adf.port_times",
    "ProgramResult": "memtile.adf.program_run",
    "Verdict": "memtile.adf.verdict.verdicts",
    "cost_band": "memtile.adf.cost_ends",
    "load": "memtile.adf.graph_file",
    "read_plio": "memtile.io.plio_text",
    "read_plio_csv": "memtile.io.plio_csv",
    "write_plio": "memtile.io.plio_text",
    "write_plio_csv": "memtile.io.plio_csv",
}

__all__ = [
    "CostBand",
    "Description",
    "GraphProgram",
    "LatencyBand",
    "Missing",
    "Plan",
    "PlioWords",
    "PortBand",
    "PortTimes",
    "ProgramResult",
    "Verdict",
    "cost_band",
    "load",
    "read_plio",
    "read_plio_csv",
    "write_plio",
    "write_plio_csv",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES)
