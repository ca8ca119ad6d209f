"""``memtile explain``: why a dead machine does not go on, and what limits a design or a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memtile.cli import run_options as options
from memtile.cli.exit_codes import ExitCode
from memtile.cli.explain_design import explain_design, is_design
from memtile.cli.failure import UsageError
from memtile.cli.graph_file import NO_GRAPH, GraphOptions, is_graph, of_graphs
from memtile.cli.report_files import ReportFiles, Studies
from memtile.cli.runnable import load_beside
from memtile.cli.screen import show_lines
from memtile.errors import InputFileError
from memtile.output_files import check_writable, write_output
from memtile.plain_text import json_text
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from memtile.cli.runnable import Maker, Runnable
    from memtile.explain.dump.report import DumpReport, ServedReport
    from memtile.io.dumps import LoadedDump

EXAMPLES = """\b
Examples:
  memtile explain gemm.py --set m=32
  memtile explain design.mlir --kernels functions.py --in 0=a.npy
  memtile explain core.bin --device npu2
  memtile explain core.elf --design design.mlir
  memtile explain core.bin --design build/ --kernels kernels.py --in 0=a.npy
  memtile explain registers.txt --device npu1 --json
  memtile explain --server localhost:5555 --device npu1
  memtile explain --server localhost:5555 --report run.html --record run.json
  memtile explain graph.cpp -I src -D N=4 --cost gr.k=2088
"""


_Token = Annotated[str, typer.Option(metavar="TOKEN", envvar="MEMTILE_TOKEN", help="Token of the server.")]


@of_graphs
@options.running("max_cycles", "dispatch")
def explain(
    dump: Annotated[
        str | None,
        typer.Argument(
            metavar="DUMP|DESIGN|GRAPH.cpp",
            help="A coredump, raw or ELF, a register dump as text or JSON; or a design or graph, to be run.",
        ),
    ] = None,
    design: Annotated[
        str | None,
        typer.Option(metavar="DESIGN.py|DESIGN.mlir|BUILD", help="The design that ran: its names, its run."),
    ] = None,
    server: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Read the registers of a live server instead.")
    ] = None,
    token: _Token = "",
    settings: options.Settings = None,
    given: options.In = None,
    kernels: options.Kernels = None,
    timing: options.TimingConstants = None,
    of_run: RunOptions = USUAL,
    report: options.ReportFile = None,
    perfetto: options.Perfetto = None,
    record: options.Record = None,
    graph: GraphOptions = NO_GRAPH,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    everything: options.All = False,
) -> None:
    """Explain why an array is stuck, from a dump of its memories and registers, or what limits a design.

    Coredumps are those of XRT, raw or ELF (Runtime.aie_coredump_file in xrt.ini), and those of memtile run
    --coredump. Registers show what channels, locks and cores do, not what is queued or which lock a core
    waits for. With --design the design is run too: if both reach the same state, the findings of the run
    hold for the machine; if not, the registers that differ are listed. A running memtile serve knows
    more: queued tasks, sent words, and with its --check races; it also gives its --record, and with its
    --history its --report and --perfetto so far.

    A design in Python, IRON or MLIR, or a graph in C++ is run: why it is stuck, or what limits it, and what
    lifting each limit would gain; of a graph its kernels by their work. Exit code 1: something is wrong.
    """
    beside = {"--design": design, "--server": server, "--set": settings, "--in": given}
    files = ReportFiles(report, perfetto)
    with options.with_timing(timing):
        if dump is not None and is_graph([dump]):
            _refuse(dump, beside | {"--kernels": kernels, "--dispatch": of_run.dispatch})
            _explain_graph(dump, graph, of_run, files, record, as_json=as_json, everything=everything)
            return
        _refuse(dump or server or "nothing", graph.given, "a graph in C++")
        if dump is not None and is_design(dump):
            _refuse(dump, {"--design": design, "--server": server})
            make = _maker(dump, graph.device, settings, kernels, given)
            explain_design(make, of_run, files, record, as_json=as_json, everything=everything)
            return
        found = report_of(
            dump, design, server=server, token=token, device=graph.device or "", settings=settings or (),
            kernels=kernels, given=given or (), of_run=of_run, files=(report, perfetto, record),
        )  # fmt: skip
    _finish(found, as_json=as_json, everything=everything)


_SHOWN = 4  # lines of a kind


def _maker(
    file: str,
    device: str | None,
    settings: Sequence[str] | None,
    kernels: str | None,
    given: Sequence[str] | None,
) -> Maker:
    """What loads a design, each time anew."""
    return partial(
        load_beside, file, device=device or "", settings=settings or (), kernels=kernels, given=given or ()
    )


def _finish(found: DumpReport, *, as_json: bool, everything: bool) -> None:
    """Show what a dump says, and leave with the exit code for it."""
    if as_json:
        typer.echo(json_text(found.as_json(), indent=2))
    else:
        show_lines([*found.lines(None if everything else _SHOWN)], everything=everything)
    if not found.good:
        raise typer.Exit(ExitCode.BAD_RESULT)


def _refuse(what: str, given: Mapping[str, object], whose: str = "dumps and servers") -> None:
    """Refuse options that are for something else.

    Raises:
        UsageError: which they are.
    """
    if wrong := ", ".join(name for name, value in given.items() if value):
        raise UsageError(f"{what}: {wrong} {'are' if ', ' in wrong else 'is'} for {whose}.")


def _explain_graph(
    file: str,
    graph: GraphOptions,
    of_run: RunOptions,
    files: ReportFiles,
    record: Path | None,
    *,
    as_json: bool,
    everything: bool,
) -> None:
    """Run a graph, and say why it is stuck or what limits it; leave with the exit code for it."""
    from memtile.cli.progress import run_progress
    from memtile.cli.result_output import leave
    from memtile.cli.run_graph import MOST, ShownRun, explained_lines, studied
    from memtile.explain.results import Status

    files.check()
    studies = Studies(bottleneck=True, record=record, report=files)
    studies.check()
    asked = replace(of_run, history=files.wanted)
    program = graph.program([file], of_run=asked)
    with run_progress(before=f"compiling {file}") as progress:
        done = program.run(asked, progress=progress)
    most = None if everything else MOST
    shown = ShownRun(program.options.device, studied(done, program, studies), most=most)
    if as_json:
        typer.echo(json_text(shown.as_json(), indent=2))
    else:
        show_lines([*explained_lines(shown)], everything=everything)
    interrupted = done.result is not None and done.result.status is Status.INTERRUPTED
    leave(interrupted=interrupted, good=done.good)


def report_of(
    dump: str | None,
    design: str | None = None,
    *,
    server: str | None = None,
    token: str = "",
    device: str = "",
    settings: Sequence[str] = (),
    kernels: str | None = None,
    given: Sequence[str] = (),
    of_run: RunOptions = USUAL,
    files: tuple[Path | None, Path | None, Path | None] = (None, None, None),
) -> DumpReport:
    """What a dump, or the registers of a live server, say; the arguments are those of the command.

    Raises:
        UsageError: neither a dump nor a server, or both; no such file; options of a design without one.
        MemtileError: as reading the dump and loading the design raise it; files that a server does not give.
    """
    if (dump is None) == (server is None):
        raise UsageError("Give a dump or --server HOST:PORT, one of them.")
    beside = None
    if design is not None:
        beside = load_beside(design, device=device, settings=settings, kernels=kernels, given=given)
    elif settings or given or kernels:
        raise UsageError("--set, --in and --kernels are for the design; give --design too.")
    told = _told(server, token, *files)
    at = device or (told.device if told else "")
    loaded = _served(server, token, at, beside) if server else _read(dump or "", device, beside)
    return _explained(loaded, beside, of_run, told)


def _told(
    server: str | None, token: str, report: Path | None, perfetto: Path | None, record: Path | None
) -> ServedReport | None:
    """What a served model says itself, and the files that it gives; None of anything else."""
    from memtile.cli.served_files import wanted_answers
    from memtile.explain.dump.report import ServedReport
    from memtile.hosts.register_client import ask
    from memtile.hosts.server_requests import RESULT

    wanted = list(wanted_answers(report, perfetto, record))
    if server is None:
        if wanted:
            raise UsageError("--report, --perfetto and --record come from a server; give --server HOST:PORT.")
        return None
    for path, _ in wanted:
        check_writable(path)
    for path, what in wanted:
        answer = ask(server, what, token)
        if answer is None:
            raise InputFileError(f"server {server}: it takes no questions; {path} needs a memtile serve.")
        good, given = answer
        if not good:
            raise InputFileError(given.decode())
        write_output(path, given)
    known = ask(server, RESULT, token)
    return ServedReport.read(known[1], f"server {server}") if known is not None and known[0] else None


def _read(name: str, device: str, beside: Runnable | None) -> LoadedDump:
    from memtile.cli.program_files import read_programs
    from memtile.explain.dump.dump_formats import looks_like_coredump, read_coredump
    from memtile.io.dumps import load_coredump, load_registers

    path, array = Path(name), beside.array if beside else None
    if not path.is_file():
        raise UsageError(f"{name}: there is no such file.")
    if looks_like_coredump(path):
        return load_coredump(read_coredump(path), name, device, array)
    (program,), *_ = read_programs([name], None, 0)
    return load_registers(program.operations, name, device or "npu1", array)


def _served(where: str, token: str, device: str, beside: Runnable | None) -> LoadedDump:
    from memtile.design.array import Array
    from memtile.hosts.register_client import read_registers
    from memtile.io.dumps import addresses_asked, load_registers

    array = beside.array if beside else Array(device or "npu1")
    writes = list(read_registers(where, addresses_asked(array), token))
    return load_registers(writes, f"server {where}", array.device.name, beside.array if beside else None)


def _explained(
    loaded: LoadedDump, beside: Runnable | None, of_run: RunOptions, told: ServedReport | None
) -> DumpReport:
    from memtile.explain.dump.report import explained
    from memtile.explain.dump.twin import ran
    from memtile.explain.take_names import take_names
    from memtile.runs.observing import moves_of

    twin = None
    if beside is not None:
        twin = ran(beside.name, beside.engine, lambda: beside.run(of_run).result, loaded.words, loaded.known)
        take_names(loaded.array.engine, beside.array.engine)
    moves = moves_of(beside.array) if beside is not None else {}
    return explained(
        loaded.array.engine, loaded.source, moves=moves, twin=twin, notes=loaded.notes, told=told
    )
