"""``aiecompiler`` and ``v++ --mode aie``: from a command line to a work folder, an archive and a log."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from memtile.cli.amd_tools.command_line import CommandLine, Table, read_command_line
from memtile.cli.amd_tools.compiler_options import AIECOMPILER, CONFIG, SOURCE, VPP
from memtile.cli.amd_tools.config_file import with_config
from memtile.cli.amd_tools.platforms import device_of
from memtile.cli.amd_tools.report import Report
from memtile.cli.amd_tools.work_folder import OPTIONS, Compilation, write_archive, write_work
from memtile.cli.exit_codes import ExitCode
from memtile.errors import DesignError, InputFileError

LOG = "AIECompiler.log"
_TARGETS = {"hw": "hw", "hw_emu": "hw", "x86sim": "x86sim"}
_SOURCES = (".cpp", ".cc", ".cxx", ".c++")


def compile_command(tool: str, words: Sequence[str]) -> int:
    """Run a compiler's command line; its exit code: 1 where AMD's compiler would refuse the graph.

    Args:
        tool: ``aiecompiler`` or ``v++``.
        words: behind its name.

    Raises:
        MemtileError: it cannot be followed; all problems of the command line at once.
    """
    table = VPP if tool == "v++" else AIECOMPILER
    line = read_command_line(words, table)
    if tool == "v++":
        _check_mode(line)
    line = with_config(line, line.all("config"), CONFIG)
    asked = compilation_of(line, table)
    report = Report(Path(LOG), "aiecompiler")
    try:
        report.without_effect(line)
        from memtile.cli.amd_tools.amd_verdict import report_verdicts
        from memtile.cli.amd_tools.graph_stages import compile_graph

        found = compile_graph(asked)
        errors = report_verdicts(found.plan, report, functional=asked.is_functional)
        names = {each.id: each.name for each in found.plan.description.kernels}
        for kernel in found.plan.kernels:
            report.info(f"Repetition count for {names[kernel.kernel]} is {kernel.repetition}.", "77-5917")
        if errors:
            return _ended(report, errors)
        work = Path(line.last("workdir", "./Work"))
        write_work(work, asked, found.description)
        archive = Path(line.last("output-archive", "libadf.a"))
        write_archive(archive, {OPTIONS: (work / OPTIONS).read_bytes()})
        return _ended(report, errors)
    finally:
        report.close()


def _ended(report: Report, errors: int) -> int:
    """Report the end as AMD's compiler does; the exit code."""
    report.line("Compilation Failed" if errors else "Compilation Complete")
    report.line(f"(WARNING:0, CRITICAL-WARNING:0, ERROR:{errors})")
    return ExitCode.BAD_RESULT if errors else ExitCode.OK


def compilation_of(line: CommandLine, table: Table) -> Compilation:
    """What a command line asks for.

    Raises:
        DesignError: a value that is none of its option.
        InputFileError: there is no source, or one is missing.
    """
    here = Path.cwd()
    target = line.last("target", "hw")
    if target not in _TARGETS:
        raise _wrong(table, "target", target, "hw, hw_emu or x86sim")
    files = [(here / each).resolve() for each in line.files]
    for each in files:
        if each.suffix not in _SOURCES:
            raise _wrong(table, "source", str(each), "C++ sources of a graph")
        if not each.is_file():
            raise InputFileError(
                f"{each}: there is no such file. Name the source that has main of the graph."
            )
    if not files:
        raise InputFileError(f"{table.tool}: no source is given. Name the one that has main of the graph.")
    defines, include = _preprocessor(line, table)
    return Compilation(
        _TARGETS[target],
        device_of(line.last("platform"), line.last("part")).name,
        tuple(map(str, files)),
        tuple(str((here / each).resolve()) for each in (*line.all("include"), *include)),
        tuple(defines),
        _number(line, table, "stacksize"),
        _number(line, table, "heapsize"),
        _megahertz(line, table),
        str(here),
    )


def _check_mode(line: CommandLine) -> None:
    mode = line.last("mode")
    if mode != "aie":
        step = "v++ --compile" if line.has("compile") else "v++"
        given = f"--mode {mode}" if mode else f"{step} without --mode aie"
        raise DesignError.of(
            "mode",
            mode or "none",
            "aie",
            f"{given} builds programmable logic, which memtile does not have",
            "Run the AI Engine targets of the Makefile alone.",
            reason="tool_mode",
            where="v++",
            source=SOURCE,
        )


def _preprocessor(line: CommandLine, table: Table) -> tuple[list[str], list[str]]:
    """Macros and folders of headers: those of ``-D``, and those in the words of ``--Xpreproc``."""
    defines, include = list(line.all("define")), list[str]()
    for value in line.all("Xpreproc"):
        for word in shlex.split(value.strip().strip('"')):
            if word.startswith("-D"):
                defines.append(word[2:])
            elif word.startswith("-I"):
                include.append(word[2:])
            else:
                raise _wrong(table, "Xpreproc", word, "-DNAME, -DNAME=VALUE or -IFOLDER")
    return defines, include


def _number(line: CommandLine, table: Table, key: str) -> int:
    text = line.last(key, "0")
    if not text.isdecimal():
        raise _wrong(table, key, text, "a number of bytes")
    return int(text)


def _megahertz(line: CommandLine, table: Table) -> float:
    """The frequency of PLIOs that say nothing: ``--pl-freq`` in MHz, else ``--freqhz`` in Hz."""
    key = "pl-freq" if line.has("pl-freq") else "freqhz"
    text = line.last(key, "0")
    try:
        return float(text) / (1 if key == "pl-freq" else 1e6)
    except ValueError:
        raise _wrong(table, key, text, "a frequency") from None


def _wrong(table: Table, option: str, given: str, allowed: str) -> DesignError:
    return DesignError.of(
        option, repr(given), allowed, reason=f"tool_{option}", where=table.tool, source=table.source
    )
