"""``x86simulator`` and ``aiesimulator``: run a work folder, write its files, end as users' scripts expect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.cli.amd_tools.command_line import CommandLine, read_command_line
from memtile.cli.amd_tools.deadline import Deadline
from memtile.cli.amd_tools.port_tables import latency_table, profile_table, throughput_table
from memtile.cli.amd_tools.report import Report
from memtile.cli.amd_tools.simulator_options import AIESIMULATOR, SOURCE, X86SIMULATOR
from memtile.cli.amd_tools.work_folder import read_work
from memtile.cli.exit_codes import ExitCode
from memtile.errors import DesignError
from memtile.explain.findings import Severity

if TYPE_CHECKING:
    from memtile.adf.graph_result import GraphResult
    from memtile.adf.program_run import ProgramResult

_TABLES = {"x86simulator": X86SIMULATOR, "aiesimulator": AIESIMULATOR}
_TIMES, _NO_TIMES = ("yes", "ns"), "no"


def simulate_command(tool: str, words: Sequence[str]) -> int:
    """Run a simulator's command line; its exit code: that of ``main``, or 1 where the graph did not finish.

    Args:
        tool: ``x86simulator`` or ``aiesimulator``.
        words: behind its name.

    Raises:
        MemtileError: it cannot be followed, or the run cannot go on.
    """
    line = read_command_line(words, _TABLES[tool])
    asked = read_work(Path(line.last("pkg-dir", "./Work")), tool)
    report = Report(Path(f"{tool}.log"), tool)
    try:
        report.without_effect(line)
        with Deadline(_number(line, "timeout", tool, "a number of seconds"), report):
            return _run(tool, line, report, asked)
    finally:
        report.close()


def _run(tool: str, line: CommandLine, report: Report, asked: object) -> int:
    from memtile.cli.amd_tools.graph_stages import simulate
    from memtile.cli.amd_tools.work_folder import Compilation
    from memtile.runs.options import MAX_CYCLES, RunOptions

    assert isinstance(asked, Compilation)
    cycles = _number(line, "simulation-cycle-timeout", tool, "a number of cycles")
    options = RunOptions(max_cycles=cycles or MAX_CYCLES)
    is_timed = not asked.is_functional and _has_times(line, tool)
    folder = Path(line.last("output-dir", f"{tool}_output"))
    ended = simulate(asked, Path(line.last("input-dir", ".")), folder, options, timed=is_timed)
    found = ended.graph
    assert found is not None
    warnings = (each.message for each in found.result.findings if each.severity is Severity.WARNING)
    for each in (*ended.cautions, *found.notes, *(warnings if found.result.good else ())):
        report.line(f"note: {each}")
    if not asked.is_functional:
        _report_times(found, line, report)
    problems = list(_problems(ended, found))
    for text in problems:
        report.line(f"ERROR: {text}.")
    if problems or ended.code:
        for number, finding in enumerate(found.result.findings, 1):
            report.line(f"{number}. {finding.message} {finding.fix}".rstrip())
        code = "did not return" if ended.code is None else f"returned {ended.code}"
        report.line(f"Simulation ended without success: main {code}.")
        return ended.code or ExitCode.BAD_RESULT
    report.line("Simulation completed successfully returning zero")
    return ExitCode.OK


def _report_times(found: GraphResult, line: CommandLine, report: Report) -> None:
    """Cycles, and the tables that aiesimulator prints or is asked for."""
    report.info(f"{found.cycles:,} cycles of the array clock.")
    report.table(throughput_table(found))
    if line.has("graph-latency"):
        report.table(latency_table(found))
    if line.has("profile"):
        report.table(profile_table(found))


def _problems(ended: ProgramResult, found: GraphResult) -> Iterator[str]:
    if ended.held:
        yield ended.held
    yield from (each.message for each in found.missing)
    yield from (f"{each} did not finish" for each in found.unfinished)


def _number(line: CommandLine, key: str, tool: str, allowed: str) -> int:
    """The value of an option; 0 = it is not given."""
    text = line.last(key, "0")
    if not text.isdecimal():
        raise _wrong(key, text, allowed, tool)
    return int(text)


def _has_times(line: CommandLine, tool: str) -> bool:
    """Whether output files have the time of each line."""
    text = line.last("output-time-stamp", _TIMES[0])
    if text not in (*_TIMES, _NO_TIMES):
        raise _wrong("output-time-stamp", text, f"{', '.join(_TIMES)} or {_NO_TIMES}", tool)
    return text != _NO_TIMES


def _wrong(key: str, text: str, allowed: str, tool: str) -> DesignError:
    return DesignError.of(key, repr(text), allowed, reason="tool_value", where=tool, source=SOURCE)
