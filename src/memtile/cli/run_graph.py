"""A graph's run, shown: the verdict first, then ports, what is missing or waits, and the files written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memtile.cli.result_output import leave
from memtile.explain.waiting_sentences import named_waits
from memtile.plain_text import json_text, printable

if TYPE_CHECKING:
    from memtile.adf.cost_ends import CostBand
    from memtile.adf.program_run import ProgramResult
    from memtile.adf.running import GraphResult, PortTimes
    from memtile.corelib.call_costs import CallCost
    from memtile.explain.results import Result

OUTPUT_FOLDER = Path("memtile_output")
"""Where output files of PLIOs go, beside those that the user keeps."""
_SHOWN = 6  # waits of a run, and findings


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A graph's run, and the files that it left.

    Attributes:
        device: its name.
        done: what the run left.
        files: of its output PLIOs.
        band: its cycles at both ends of the costs of kernels, if they were asked for.
    """

    device: str
    done: ProgramResult
    files: Sequence[Path]
    band: CostBand | None = None

    @property
    def status(self) -> str | None:
        """How the run ended, in a word of run-output; None = there was no run."""
        return str(self.done.result.status) if self.done.result else None

    def as_json(self) -> dict[str, Any]:
        """Plain data; schema run-graph-output."""
        done, graph = self.done, self.done.graph
        return {
            "device": self.device,
            "good": done.good,
            "status": self.status,
            "code": done.code,
            "cycles": done.cycles,
            "iterations": dict(graph.iterations) if graph else {},
            "ports": [
                _port_json(name, len(got.words), next((t for t in done.times if t.name == name), None))
                for name, got in (graph.outputs.items() if graph else ())
            ],
            "missing": [
                {"port": each.name, "element": each.element, "came": each.elements, "needed": each.needed}
                for each in done.missing
            ],
            "unfinished": list(graph.unfinished) if graph else [],
            "waits": list(_waits(graph)) if graph else [],
            "notes": [*done.cautions, *(graph.notes if graph else ())],
            "kernels": [_cost_json(name, cost) for name, cost in done.costs.items()],
            "band": _band_json(self.band),
            "files": list(map(str, self.files)),
            "run": done.result.as_json() if done.result else None,
        }

    def lines(self) -> Iterator[str]:
        """The run for people, at most a screen."""
        yield from map(printable, self._lines())

    def _lines(self) -> Iterator[str]:
        done, graph = self.done, self.done.graph
        yield f"{'good' if done.good else 'not good'}: {self._verdict()}"
        if graph is None:
            return
        for name, got in graph.outputs.items():
            times = next((each for each in done.times if each.name == name), None)
            yield _port_line(name, len(got.words), times)
        yield from (f"missing: {each.message}." for each in done.missing)
        yield from self._stuck_lines(graph)
        if graph.result.cost_unknown:
            names = ", ".join(graph.result.cost_unknown)
            yield f"cycles unknown, counted as 0: {names}. Give them: --cost KERNEL=CYCLES."
        if self.band is not None:
            yield from self.band.lines
        yield from (f"note: {each}" for each in (*done.cautions, *graph.notes))
        yield from (f"saved: {each}" for each in self.files)

    def _verdict(self) -> str:
        done, graph = self.done, self.done.graph
        if graph is None:
            return f"main returned {done.code} and ran no graph"
        result = graph.result
        counts = (f"{name} {count:,} iterations" for name, count in graph.iterations.items())
        ended = f"{self.status} after {result.cycles:,} cycles at {result.clock_mhz} MHz"
        return ", ".join([ended, *counts, f"main returned {done.code}"])

    def _stuck_lines(self, graph: GraphResult) -> Iterator[str]:
        yield from (f"unfinished: {each}" for each in graph.unfinished)
        waits = list(_waits(graph))
        yield from (f"waiting: {each}" for each in waits[:_SHOWN])
        if len(waits) > _SHOWN:
            yield f"waiting: {len(waits) - _SHOWN} more, see --json"
        for each in graph.result.findings[:_SHOWN]:
            yield f"finding: {each.code} {each.severity}: {each.message} {each.fix}".rstrip()


def _waits(graph: GraphResult) -> Iterator[str]:
    found = [*named_waits(graph.result.waits)]
    yield from found or graph.result.waiting


def _port_line(name: str, words: int, times: PortTimes | None) -> str:
    if times is None:
        return f"{name}: {words:,} words"
    rate = f", {times.throughput:,.2f} MB/s" if times.throughput else ""
    return f"{name}: {words:,} words, first in cycle {times.first:,}, last in cycle {times.last:,}{rate}"


def _port_json(name: str, words: int, times: PortTimes | None) -> dict[str, Any]:
    return {
        "port": name,
        "words": words,
        "first": times.first if times else None,
        "last": times.last if times else None,
        "megabytes_per_second": round(times.throughput, 3) if times else None,
    }


def _cost_json(name: str, cost: CallCost) -> dict[str, Any]:
    is_range = bool(cost.most)
    least, most = (cost.least, cost.most) if is_range else (None, None)
    return {"kernel": name, "cycles": cost.cycles, "basis": cost.basis, "least": least, "most": most}


def _band_json(band: CostBand | None) -> dict[str, Any] | None:
    if band is None:
        return None
    ports = [
        {
            "port": each.name,
            "megabytes_per_second": round(each.likely, 3),
            "low": round(each.low, 3),
            "high": round(each.high, 3),
            "earliest": each.earliest,
            "latest": each.latest,
        }
        for each in band.ports
    ]
    return {"low": band.low, "high": band.high, "ports": ports, "bounded": list(band.bounded)}


def finish_graph(
    done: ProgramResult,
    device: str,
    folder: Path,
    *,
    as_json: bool,
    draw: Callable[[Result], None],
    band: CostBand | None = None,
) -> None:
    """Write the output files, draw, show what happened, and leave with the exit code for it."""
    from memtile.explain.results import Status

    shown = ShownRun(device, done, done.write_outputs(folder, timed=True), band)
    if done.result is not None:
        draw(done.result)
    if as_json:
        typer.echo(json_text(shown.as_json(), indent=2))
    else:
        typer.echo("\n".join(shown.lines()))
    interrupted = done.result is not None and done.result.status is Status.INTERRUPTED
    leave(interrupted=interrupted, good=done.good)
