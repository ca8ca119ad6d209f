"""``x86simulator`` and ``aiesimulator``: run a work folder, write its files, end as users' scripts expect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memtile.cli.amd_tools.command_line import CommandLine, read_command_line
from memtile.cli.amd_tools.report import Report
from memtile.cli.amd_tools.simulator_options import AIESIMULATOR, SOURCE, X86SIMULATOR
from memtile.cli.amd_tools.work_folder import read_work
from memtile.cli.exit_codes import ExitCode
from memtile.errors import DesignError

_TABLES = {"x86simulator": X86SIMULATOR, "aiesimulator": AIESIMULATOR}


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
        return _run(tool, line, report, asked)
    finally:
        report.close()


def _run(tool: str, line: CommandLine, report: Report, asked: object) -> int:
    from memtile.cli.amd_tools.graph_stages import simulate
    from memtile.cli.amd_tools.work_folder import Compilation
    from memtile.runs.options import MAX_CYCLES, RunOptions

    assert isinstance(asked, Compilation)
    options = RunOptions(max_cycles=_cycles(line, tool) or MAX_CYCLES)
    folder = Path(line.last("output-dir", f"{tool}_output"))
    ended = simulate(asked, Path(line.last("input-dir", ".")), folder, options)
    found = ended.graph
    assert found is not None
    for each in (*ended.cautions, *found.notes):
        report.line(f"note: {each}")
    if not asked.is_functional:
        report.info(f"{found.cycles:,} cycles of the array clock.")
        for port in found.times:
            report.info(f"{port.name}: first word in cycle {port.first:,}, {port.throughput:,.2f} MB/s.")
    problems = [each.message for each in found.missing]
    problems += [f"{each} did not finish" for each in found.unfinished]
    for text in problems:
        report.line(f"ERROR: {text}.")
    if problems or ended.code:
        report.line(f"Simulation ended without success: main returned {ended.code}.")
        return ended.code or ExitCode.BAD_RESULT
    report.line("Simulation completed successfully returning zero")
    return ExitCode.OK


def _cycles(line: CommandLine, tool: str) -> int:
    text = line.last("simulation-cycle-timeout", "0")
    if not text.isdecimal():
        raise DesignError.of(
            "simulation-cycle-timeout", repr(text), "a number of cycles",
            reason="tool_cycles", where=tool, source=SOURCE,
        )  # fmt: skip
    return int(text)
