"""A graph's run, shown: the verdict first, then ports, what is missing or waits, and the files written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from memtile.arch.tiles import WORD_BYTES
from memtile.cli.result_output import leave
from memtile.cli.screen import SCREEN, Shown
from memtile.explain.finding_places import placed
from memtile.explain.limit import Lifted, Limit, table_lines
from memtile.explain.waiting_sentences import finding_in_users_words, in_users_words
from memtile.plain_text import json_text, printable

if TYPE_CHECKING:
    from memtile.adf.cost_ends import CostBand
    from memtile.adf.graph_file import GraphProgram
    from memtile.adf.graph_result import GraphResult
    from memtile.adf.port_times import Latency, PortTimes
    from memtile.adf.program_run import ProgramResult
    from memtile.cli.report_files import Studies
    from memtile.corelib.call_costs import CallCost
    from memtile.explain.findings import Finding
    from memtile.explain.results import Result

L = TypeVar("L", Lifted, Limit)

OUTPUT_FOLDER = Path("memtile_output")
"""Where output files of PLIOs go, beside those that the user keeps."""
MOST = 6
"""Lines of a kind that are shown."""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A graph's run, and the files that it left.

    Attributes:
        device: its name.
        done: what the run left.
        files: of its output PLIOs.
        band: its cycles at both ends of the costs of kernels, if they were asked for.
        most: lines of a kind that are shown; None = all.
    """

    device: str
    done: ProgramResult
    files: Sequence[Path] = ()
    band: CostBand | None = None
    most: int | None = MOST

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
            "held": done.held,
            "cycles": done.cycles,
            "iterations": dict(graph.iterations) if graph else {},
            "endless": list(graph.endless) if graph else [],
            "ports": list(_ports_json(graph)) if graph else [],
            "latencies": list(_latencies_json(graph)) if graph else [],
            "kernels": [
                {
                    "kernel": each.name,
                    "calls": each.calls,
                    "cycles": {cause.name.lower(): cycles for cause, cycles in each.spent.items()},
                }
                for each in (graph.kernels if graph else ())
            ],
            "missing": [
                {"port": each.name, "element": each.element, "came": each.elements, "needed": each.needed}
                for each in done.missing
            ],
            "unfinished": list(graph.unfinished) if graph else [],
            "waits": list(graph.waits) if graph else [],
            "notes": [*done.cautions, *(graph.notes if graph else ())],
            "costs": [_cost_json(name, cost) for name, cost in done.costs.items()],
            "band": _band_json(self.band),
            "files": list(map(str, self.files)),
            "run": done.result.as_json() if done.result else None,
        }

    def lines(self) -> Iterator[str]:
        """The run for people, at most a screen."""
        for text in self._lines():
            yield from map(printable, text.splitlines())

    def _lines(self) -> Iterator[str]:
        done, graph = self.done, self.done.graph
        yield f"{'good' if done.good else 'not good'}: {self._verdict()}"
        if graph is None:
            return
        yield from (f"missing: {each.message}." for each in done.missing)
        yield from (f"wrong: {each.text}" for each in graph.result.checks if not each.exact)
        yield from self._stuck_lines(graph)
        yield from _few([*port_lines(graph)], "ports", self.most)
        yield from _limit_lines(graph.result)
        if graph.result.cost_unknown:
            names = ", ".join(graph.result.cost_unknown)
            yield f"cycles unknown, counted as 0: {names}. Give them: --cost KERNEL=CYCLES."
        if self.band is not None:
            yield from self.band.lines
        yield from _few([f"note: {each}" for each in (*done.cautions, *graph.notes)], "notes", self.most)
        yield from _few([f"saved: {each}" for each in self.files], "files", self.most)

    def _verdict(self) -> str:
        done, graph = self.done, self.done.graph
        if graph is None:
            return f"main {_end_of_main(done)} and ran no graph"
        result = graph.result
        counts = (f"{name} {count:,} iterations" for name, count in graph.iterations.items())
        ended = f"{self.status} after {result.cycles:,} cycles at {result.clock_mhz} MHz"
        return ", ".join([ended, *counts, f"main {_end_of_main(done)}"])

    def _stuck_lines(self, graph: GraphResult) -> Iterator[str]:
        if graph.unfinished:
            yield f"unfinished: {', '.join(graph.unfinished)}"
        yield from _few([*map(_finding_lines, graph.result.findings)], "findings", self.most)
        yield from _few([f"waiting: {each}" for each in graph.waits], "waits", self.most)


def _finding_lines(finding: Finding) -> str:
    """A finding, and below it the repair that was tried."""
    repair = "" if finding.repair is None else f"\n  {finding.repair.text}"
    return f"finding: {placed(finding)}{repair}"


def _end_of_main(done: ProgramResult) -> str:
    if done.code is not None:
        return f"returned {done.code}"
    return f"waits for ever ({done.held})" if done.held else "was interrupted"


def _few(lines: Sequence[str], what: str, most: int | None) -> Iterator[str]:
    """The first lines, and how many more there are."""
    yield from lines[:most]
    if most is not None and len(lines) > most:
        yield f"{len(lines) - most} more {what} (--all)"


def _limit_lines(result: Result) -> Iterator[str]:
    """What limits the run, and what answers to questions about its cycles say."""
    if result.limit is not None:
        yield in_users_words(result.limit.text)
        yield from table_lines(result.lifted, result.cycles)
    if result.bound is not None:
        yield in_users_words(result.bound.text if result.limit is None else result.bound.busiest)
    if result.band is not None:
        yield from result.band.lines


def port_lines(graph: GraphResult) -> Iterator[str]:
    """One line for each PLIO whose data are known: outputs first, with their latency."""
    times = {each.name: each for each in (*graph.times, *graph.input_times)}
    latency = _earliest(graph.latencies)
    for name, got in graph.outputs.items():
        yield _port_line(name, len(got.words), times.get(name), latency.get(name), graph.result.clock_mhz)
    for each in graph.input_times:
        yield _port_line(each.name, each.nbytes // WORD_BYTES, each, None, graph.result.clock_mhz)


def _earliest(latencies: Sequence[Latency]) -> Mapping[str, Latency]:
    """Per output the latency from the input whose data came first."""
    found: dict[str, Latency] = {}
    for each in latencies:
        if each.target not in found or each.first > found[each.target].first:
            found[each.target] = each
    return found


def _port_line(name: str, words: int, times: PortTimes | None, latency: Latency | None, mhz: float) -> str:
    if times is None:
        return f"{name}: {words:,} words"
    rate = f", {times.throughput:,.2f} MB/s" if times.throughput else ""
    after = (
        f", latency {latency.first:,} cycles ({latency.first * 1000 / mhz:,.1f} ns) from {latency.source}"
        if latency
        else ""
    )
    return (
        f"{name}: {words:,} words, first in cycle {times.first:,}, last in cycle {times.last:,}{rate}{after}"
    )


def _ports_json(graph: GraphResult) -> Iterator[dict[str, Any]]:
    times = {each.name: each for each in (*graph.times, *graph.input_times)}
    for name, got in graph.outputs.items():
        yield _port_json(name, "out", len(got.words), times.get(name))
    for each in graph.input_times:
        yield _port_json(each.name, "in", each.nbytes // WORD_BYTES, each)


def _port_json(name: str, direction: str, words: int, times: PortTimes | None) -> dict[str, Any]:
    return {
        "port": name,
        "direction": direction,
        "words": words,
        "first": times.first if times else None,
        "last": times.last if times else None,
        "megabytes_per_second": round(times.throughput, 3) if times else None,
    }


def _latencies_json(graph: GraphResult) -> Iterator[dict[str, Any]]:
    for each in graph.latencies:
        yield {"from": each.source, "to": each.target, "first": each.first, "last": each.last}


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
    latencies = [
        {"from": each.source, "to": each.target, "likely": each.likely, "low": each.low, "high": each.high}
        for each in band.latencies
    ]
    ends = {"low": band.low, "high": band.high}
    return ends | {"ports": ports, "bounded": list(band.bounded), "latencies": latencies}


def studied(done: ProgramResult, graph: GraphProgram, studies: Studies, schedules: int = 0) -> ProgramResult:
    """A run with the answers to what else is asked of it, once its files are written.

    Args:
        done: the run.
        graph: that ran.
        studies: what is asked.
        schedules: how many more runs look for what depends on timing.
    """
    if done.graph is None or done.plan is None:
        return done
    from memtile.adf.limits import BUFFER_CODE
    from memtile.arch.devices import device
    from memtile.design.run_design import with_schedules

    plan, result, again = done.plan, done.graph.result, graph.options.run.run_again()
    assert result.kept is not None
    engine = result.kept.engine()

    def once() -> tuple[Result, Mapping[str, Any]]:
        other = graph.run_again(replace(again, check=True))
        assert other.result is not None
        return other.result, other.outputs

    def for_cycles() -> Result:
        other = graph.run_again(again).result
        assert other is not None
        return other

    result = with_schedules(result, done.outputs if schedules else {}, once, schedules)
    result = studies.answered(result, engine, for_cycles, device=device(graph.options.device))
    of_run = (each for each in result.findings if each.code != BUFFER_CODE)  # the graph has words for it
    named = tuple(map(finding_in_users_words, of_run))
    result = replace(
        result,
        findings=(*named, *(done.graph.limits if studies.bottleneck else ())),
        lifted=tuple(_said(each) for each in result.lifted),
        limit=None if result.limit is None else _said(result.limit),
    )
    done = replace(done, graph=replace(done.graph, result=result))
    ahead = () if done.graph is None else (*port_lines(done.graph), *_limit_lines(result))
    studies.write(result, engine, list(map(str, graph.files_read(plan))), ahead=ahead)
    return done


def _said(limit: L) -> L:
    """What a limit is called in the words of the graph."""
    return replace(limit, name=in_users_words(limit.name), what=in_users_words(limit.what))


def explained_lines(shown: ShownRun) -> Iterator[str]:
    """What a run says of itself, and below it the work of each kernel."""
    yield from shown.lines()
    if shown.done.graph is not None:
        yield from map(
            printable,
            _few([f"kernel {each.text}" for each in shown.done.graph.kernels], "kernels", shown.most),
        )


def finish_graph(
    done: ProgramResult,
    device: str,
    folder: Path,
    *,
    as_json: bool,
    draw: Callable[[Result], None],
    band: CostBand | None = None,
    how: Shown = SCREEN,
) -> None:
    """Write the output files, draw, show what happened, and leave with the exit code for it."""
    from memtile.explain.results import Status

    most = how.top or (None if how.everything else MOST)
    shown = ShownRun(device, done, done.write_outputs(folder, timed=True), band, most)
    if done.result is not None:
        draw(done.result)
    if as_json:
        typer.echo(json_text(shown.as_json(), indent=2))
    else:
        typer.echo("\n".join(islice(shown.lines(), 1 if how.quiet else None)))
    interrupted = done.result is not None and done.result.status is Status.INTERRUPTED
    leave(interrupted=interrupted, good=done.good)
