"""Answers about graphs in C++: how a run ended, what limits it, in the names that the graph gives.

An answer has the lines that the command prints, and beside them data of its ``--json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from memtile.cli.agents.short_answers import run_answer, without_zeros
from memtile.cli.graph_file import GraphOptions
from memtile.runs.options import RunOptions

if TYPE_CHECKING:
    from memtile.adf.graph_file import GraphProgram
    from memtile.adf.program_run import ProgramResult
    from memtile.cli.report_files import Studies
    from memtile.cli.run_graph import ShownRun

_KEPT = (
    "good", "code", "held", "iterations", "endless", "ports", "latencies", "kernels", "missing", "unfinished",
    "waits", "notes", "costs",
)  # fmt: skip
_OF_THE_ARRAY = ("channels", "cores", "resting", "waiting", "checks", "parameters")
"""Fields left out of an answer: the graph's own names replace them, or no graph has them."""
_RUNS = 16  # of the same length, that the questions about limits take with the first one
_LEFT_OUT = "what the run would be without each limit is left out: it takes {} runs; give more seconds"


def graph_options(
    device: str = "", include: str = "", in_folder: str = "", costs: Mapping[str, int] | None = None
) -> GraphOptions:
    """Return the options that commands have for graphs, from arguments of a tool; empty = not given."""
    return GraphOptions(
        include=[include] if include else None,
        device=device or None,
        in_folder=Path(in_folder) if in_folder else None,
        costs=[f"{name}={cycles}" for name, cycles in (costs or {}).items()],
    )


def graph_answer(
    file: str, graph: GraphOptions, settings: Sequence[str], of_run: RunOptions, *, whole: bool = False
) -> dict[str, Any]:
    """Run a graph; return how its run ended.

    Args:
        file: its source with ``main``.
        graph: options for graphs.
        settings: macros, ``NAME=VALUE``.
        of_run: options of the run.
        whole: return all that ``memtile run --json`` writes.

    Raises:
        MemtileError: as running a graph raises it.
    """
    from memtile.cli.report_files import Studies

    shown = _shown(*_ran(file, graph, settings, of_run), Studies())
    return shown.as_json() if whole else _short(shown, [*shown.lines()])


def graph_explained(
    file: str, graph: GraphOptions, settings: Sequence[str], of_run: RunOptions, seconds: float
) -> dict[str, Any]:
    """Run a graph; return why it is stuck, or what limits it, as ``memtile explain`` says it.

    Args:
        file: its source with ``main``.
        graph: options for graphs.
        settings: macros, ``NAME=VALUE``.
        of_run: options of the run.
        seconds: for all runs; what the run would be without each limit is left out if it takes longer.

    Raises:
        MemtileError: as running a graph raises it.
    """
    from memtile.cli.report_files import Studies
    from memtile.cli.run_graph import explained_lines

    begin = monotonic()
    program, done = _ran(file, graph, settings, of_run)
    is_short = (monotonic() - begin) * _RUNS <= seconds
    shown = _shown(program, done, Studies(bottleneck=is_short))
    lines = [*explained_lines(shown)]
    return _short(shown, lines if is_short else [*lines, _LEFT_OUT.format(_RUNS)])


def _ran(
    file: str, graph: GraphOptions, settings: Sequence[str], of_run: RunOptions
) -> tuple[GraphProgram, ProgramResult]:
    program = graph.program([file], settings=settings, beside=True, of_run=of_run)
    return program, program.run(of_run)


def _shown(program: GraphProgram, done: ProgramResult, studies: Studies) -> ShownRun:
    from memtile.cli.run_graph import ShownRun, studied

    return ShownRun(program.options.device, studied(done, program, studies))


def _short(shown: ShownRun, lines: Sequence[str]) -> dict[str, Any]:
    """An answer that an agent can read, in the names of the graph."""
    from memtile.explain.waiting_sentences import in_users_words

    data, result = shown.as_json(), shown.done.result
    data["kernels"] = [without_zeros(each) for each in data["kernels"]]
    kept = {name: data[name] for name in _KEPT}
    if result is None:
        return {**kept, "status": None, "lines": lines}
    short = run_answer(result, shown.done.outputs)
    if short["bound"] is not None:
        short["bound"]["resource"] = in_users_words(short["bound"]["resource"])
    of_run = {name: value for name, value in short.items() if name not in _OF_THE_ARRAY}
    return {**of_run, "lifted": data["run"]["lifted"], **kept, "lines": lines}
