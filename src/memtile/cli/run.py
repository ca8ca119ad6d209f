"""``memtile run``: run a design file, or files of register writes, and show what every channel did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memtile.cli import run_options as options
from memtile.cli.array_file import expected_output, parse_wanted, read_given
from memtile.cli.conditions import with_conditions
from memtile.cli.costs import design_costs
from memtile.cli.graph_file import graph_program, is_graph, refuse_options
from memtile.cli.iron_program import is_iron, run_as_it_is
from memtile.cli.kernel_sources import NO_KERNELS, KernelSources
from memtile.cli.mlir_file import SUFFIX
from memtile.cli.repairs import with_tried_repair
from memtile.cli.report_files import ReportFiles, Studies, WaveformFile
from memtile.cli.result_output import leave, show_result, show_verdict
from memtile.cli.run_options import TimingConstants, number, with_timing
from memtile.cli.run_program import save_arrays, show_program
from memtile.cli.runnable import (
    Maker,
    ProgramOptions,
    Runnable,
    iron_design,
    mlir_design,
    program_files,
    python_design,
)
from memtile.cli.screen import SCREEN, Shown, show_run
from memtile.output_files import check_writable
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from memtile.explain.results import Result
    from memtile.runs.array_names import Given, Wanted
    from memtile.runs.program import Run

EXAMPLES = """\b
Examples:
  memtile run design.py
  memtile run --untimed design.py
  memtile run --all design.py
  memtile run --check design.py
  memtile run --check --schedules 8 design.py
  memtile run --json --max-cycles 100000 design.py
  memtile run --set m=32 --set element=int8 matmul.py
  memtile run --timing external_latency=200 design.py
  memtile run --no-fast-forward design.py
  memtile run --no-data design.py
  memtile run --sandbox --root project/ project/design.py
  memtile run --picture cycles.png design.py
  memtile run --coredump core.bin design.mlir
  memtile run --sensitivity --bottleneck design.py
  memtile run --record run.json design.py
  memtile run --report run.html --perfetto run.json design.py
  memtile run --vcd run.vcd --signals '*.mm2s?.cause' --signals '*.lock0' design.py
  memtile run transpose.bin --in x=in.npy --out y:int32:16x8=out.npy
  memtile run design.mlir --in 0=a.npy --out 2:int32:256x256=c.npy --kernels functions.py
  memtile run design.mlir --in 0=a.npy --expect 2=golden.npy --junit
  memtile run whole_array.py --dev npu2 -m 32
  memtile run --report run.html --set m=32 whole_array.py --dev npu2
  memtile run design.mlir --set input_offset=8 --in 0=a.npy --out 1:int32:8=b.npy
  memtile run input_physical.mlir --against build/ --in 0=a.npy --out 2:int32:64=c.npy
  memtile run final.xclbin insts.bin --in 0=a.npy --out 1=b.npy
  memtile run graph.cpp -I src -D ROUNDS=4 --in-folder data --out-folder out --cost gr.k=2088
  memtile run build/ --kernels kernels.py --in 0=a.npy --out 1=b.npy
  memtile run aie_cdo_*.bin insts.txt --kernels kernels.py --in 0=a.npy --in 1=b.npy --out 2=c.npy
"""


@options.with_shown
@options.with_kernels
@options.running()
def run(
    files: options.Files,
    of_run: RunOptions = USUAL,
    schedules: options.Schedules = 0,
    as_json: options.AsJson = False,
    as_sarif: options.AsSarif = False,
    as_junit: options.AsJunit = False,
    settings: options.Settings = None,
    timing: TimingConstants = None,
    picture: options.Picture = None,
    vcd: options.Vcd = None,
    signals: options.Signals = None,
    given: options.In = None,
    wanted: options.Out = None,
    expect: options.Expect = None,
    device: options.DeviceName = None,
    format: options.FileFormat = "auto",
    base: options.Base = "0",
    kernel: options.Kernel = None,
    kernels: KernelSources = NO_KERNELS,
    keep_order: options.KeepOrder = False,
    against: options.Against = None,
    costs: options.Costs = None,
    sensitivity: options.Sensitivity = False,
    bottleneck: options.Bottleneck = False,
    repair: options.Repair = True,
    record: options.Record = None,
    coredump: options.Coredump = None,
    report: options.ReportFile = None,
    perfetto: options.Perfetto = None,
    in_folder: options.InFolder = None,
    out_folder: options.OutFolder = None,
    shown: Shown = SCREEN,
) -> None:
    """Run a design, or a program of register writes, and show its cycles and the cause of every stalled one.

    A design of mlir-aie is MLIR text, high-level or lowered (docs/mlir.md); its arrays are the arguments of
    its host sequence by position, --kernels has the functions that its cores call, in Python or C++, and
    --set NAME=NUMBER its numbers and scratchpad parameters; link_with finds C++ beside it (docs/cpp.md).

    A design is a Python file with a design() function; --set gives values to its arguments, which memtile
    info DESIGN.py lists. Other files, and build folders, are one program (docs/files.md): those of a build in
    the order elfs, init, enable, instructions, others as given; --kernels says what its cores do. NAME is a
    kernel argument (0), an external address (0x100000000), a tile memory (memory(0,1)+0x400), a stream
    (memory(0,1) MM2S 0), or your own: these name in order what is read (--in) or written (--out, --expect).

    A program of IRON imports aie; words behind it are its own, and it runs unchanged: its output, its exit
    code. With options of memtile in front, but for --device and --timing, the design that it runs first is
    run with its tensors; --set gives values to its options and CompileTime parameters (docs/iron.md).
    A graph of UG1603 is its C++ sources, compiled with -I and -D; main runs as it is written, and its exit
    code is reported. It is for the VEK280 unless --device says another; --cost gr.k=2088 has the cycles of
    a call of a kernel. Its PLIO files are below --in-folder, and are written below --out-folder.

    Signals are tile0_1.mm2s0.cause, tile0_1.lock0.value, tile0_2.core.phase; tile0_1.mm2s0 is all of its own.
    Ctrl-C stops the run and shows what was done until then."""
    chosen = locals()
    if is_iron(files[0]) and _is_plain(chosen):
        _run_program(files, device, timing)
    else:
        _run_chosen(chosen)


_OF_PROGRAMS = ("files", "timing", "device")
_UNCHOSEN: tuple[Any, ...] = (None, False, "auto", "0", USUAL, NO_KERNELS, SCREEN)


def _is_plain(chosen: Mapping[str, Any]) -> bool:
    """Whether no option asks for what only the run of a design has."""
    asked = {name: value for name, value in chosen.items() if name not in (*_OF_PROGRAMS, "repair")}
    return chosen["repair"] and all(value in _UNCHOSEN for value in asked.values())


def _run_program(files: Sequence[str], device: str | None, timing: Sequence[str] | None) -> None:
    """Run a program of IRON as it is."""
    with with_timing(timing):
        run_as_it_is(files[0], files[1:], device)


def _run_chosen(chosen: Mapping[str, Any]) -> None:
    """Run a graph in C++ or any other design, with one form of output."""
    if chosen["as_json"] + chosen["as_sarif"] + chosen["as_junit"] > 1:
        raise typer.BadParameter("--json, --sarif and --junit exclude each other. Give one of them.")
    chosen["shown"].check()
    (_run_graph if is_graph(chosen["files"]) else _run_design)(**chosen)


def _run_design(*, files: Sequence[str], of_run: RunOptions, **chosen: Any) -> None:
    """Run a design or a program with what the command was given, and leave with the exit code for it."""
    if chosen["in_folder"] or chosen["out_folder"]:
        raise typer.BadParameter("--in-folder and --out-folder are for graphs in C++.")
    untimed, schedules, kernels = of_run.untimed, chosen["schedules"], chosen["kernels"]
    written = _report_files(chosen["report"], chosen["perfetto"], untimed)
    draw, dump = (
        _drawing(chosen["picture"], untimed),
        _waveform_file(chosen["vcd"], chosen["signals"], untimed),
    )
    asked_for = _studies(
        chosen["sensitivity"], chosen["bottleneck"], chosen["record"], chosen["coredump"], untimed
    )
    studies = replace(asked_for, report=written)
    of_program = ProgramOptions(
        chosen["given"] or (), chosen["wanted"] or (), chosen["device"], chosen["format"],
        number(chosen["base"], "--base"), kernels, chosen["keep_order"], chosen["kernel"],
        chosen["expect"] or (),
    )  # fmt: skip
    asked = replace(of_run, check=_checked(of_run, schedules, kernels), history=written.wanted)
    with with_timing(chosen["timing"]):
        if chosen["costs"] and not (is_iron(files[0]) or SUFFIX in {Path(file).suffix for file in files}):
            raise typer.BadParameter("--cost is for designs in MLIR, programs of IRON and graphs in C++.")
        if is_iron(files[0]) and chosen["against"]:
            raise typer.BadParameter("--against is for designs in MLIR, not for programs of IRON.")
        costs, against = design_costs(chosen["costs"]), chosen["against"]
        mlir = partial(mlir_design, costs=costs, against=against, sources_beside=True)
        expected = [read_given(text, "--expect") for text in of_program.expected]
        iron = partial(iron_design, kernels=kernels, costs=costs)
        make, saved = _loaded(files, of_program, asked, chosen["settings"] or (), (mlir, iron), expected)
        made, done = studied_run(make, asked, schedules, studies, dump)
        right = {each.name: each.array for each in expected if made.is_program}
        done = done.against(right) if right or not done.expected else done
        if chosen["repair"]:
            done = with_conditions(made, with_tried_repair(made, done, asked, right or done.expected), asked)
        paths = save_arrays(done, saved)
        draw(done.result)
        if chosen["as_sarif"] or chosen["as_junit"]:
            show_verdict(files[0], done.result, as_sarif=chosen["as_sarif"])
        elif made.is_program:
            device = made.design.device.name
            show_program(done, made.notes, paths, device, as_json=chosen["as_json"], shown=chosen["shown"])
        elif chosen["as_json"]:
            show_result(done.result, as_json=True)
        else:
            show_run(done.result, chosen["shown"])
    _leave(done.result)


_NOT_OF_GRAPHS = ("given", "wanted", "kernel", "keep_order", "against")
_NAMES = {"given": "--in", "wanted": "--out"}


def _run_graph(*, files: Sequence[str], of_run: RunOptions, **chosen: Any) -> None:
    """Run a graph in C++ with what the command was given, and leave with the exit code for it."""
    from memtile.adf.cost_ends import cost_band
    from memtile.adf.graph_repairs import repaired
    from memtile.cli.progress import run_progress
    from memtile.cli.run_graph import OUTPUT_FOLDER, finish_graph, studied

    kernels, as_json, schedules = chosen["kernels"], chosen["as_json"], chosen["schedules"]
    as_sarif = chosen["as_sarif"] if chosen["as_sarif"] or chosen["as_junit"] else None
    wrong = {_NAMES.get(name, f"--{name.replace('_', '-')}"): chosen[name] for name in _NOT_OF_GRAPHS}
    of_kernels = {"--kernels": kernels.kernels, "--debug": kernels.debug}
    of_files = {"--format": chosen["format"] != "auto", "--base": chosen["base"] != "0"}
    of_runs = {"--untimed": of_run.untimed, "--no-data": not of_run.data, "--dispatch": of_run.dispatch}
    more = {"--against-kernels": kernels.against_kernels, "--pad-arguments": of_run.pad_arguments}
    refuse_options({**wrong, **of_kernels, **of_files, **of_runs, **more})
    written = _report_files(chosen["report"], chosen["perfetto"], untimed=False)
    draw = _drawing(chosen["picture"], untimed=False)
    dump = _waveform_file(chosen["vcd"], chosen["signals"], untimed=False)
    asked_for = _studies(
        chosen["sensitivity"], chosen["bottleneck"], chosen["record"], chosen["coredump"], untimed=False
    )
    folder = chosen["out_folder"] or OUTPUT_FOLDER
    asked = replace(of_run, check=_checked(of_run, schedules, kernels), history=written.wanted)
    with with_timing(chosen["timing"]):
        graph = graph_program(
            files, chosen["device"], kernels, chosen["costs"] or (),
            settings=chosen["settings"] or (), in_folder=chosen["in_folder"], out_folder=folder,
            of_run=asked, quiet=as_json or as_sarif is not None, watch=dump.recorded,
        )  # fmt: skip
        with run_progress(before=f"compiling {files[0]}") as progress:
            done = graph.run(asked, progress=progress)
        right = dict(expected_output(text) for text in chosen["expect"] or ())
        done = done.against(right)
        if right and chosen["repair"]:
            done = repaired(graph, done, right, asked)
        band = cost_band(graph, done) if chosen["sensitivity"] else None
        done = studied(done, graph, replace(asked_for, report=written), schedules)
    if as_sarif is not None and done.result is not None:
        show_verdict(files[0], done.result, as_sarif=as_sarif)
        leave(interrupted=False, good=done.good)
        return
    device, how = graph.options.device, chosen["shown"]
    finish_graph(done, device, folder, as_json=as_json, draw=draw, band=band, how=how)


def _checked(of_run: RunOptions, schedules: int, kernels: KernelSources) -> bool:
    """Whether accesses are looked at for what orders them."""
    return of_run.check or schedules > 0 or kernels.sanitize


def _report_files(report: Path | None, perfetto: Path | None, untimed: bool) -> ReportFiles:
    if untimed and (report or perfetto):
        raise typer.BadParameter("an untimed run has no cycles for --report and --perfetto.")
    files = ReportFiles(report, perfetto)
    files.check()
    return files


def _studies(
    sensitivity: bool, bottleneck: bool, record: Path | None, coredump: Path | None, untimed: bool
) -> Studies:
    if untimed and (sensitivity or bottleneck):
        raise typer.BadParameter("an untimed run has no cycles for --sensitivity and --bottleneck.")
    studies = Studies(sensitivity, bottleneck, record, coredump)
    studies.check()
    return studies


def _loaded(
    files: Sequence[str],
    of_program: ProgramOptions,
    of_run: RunOptions,
    settings: Sequence[str],
    loaders: tuple[Callable[..., Maker], Callable[..., Maker]],
    expected: Sequence[Given],
) -> tuple[Maker, list[tuple[Wanted, Path]]]:
    """What loads the files, a design of MLIR or of Python, else a program; and the arrays that are saved.

    ``loaders`` are those of MLIR and of IRON.

    Raises:
        BadParameter: options that are for others.
    """
    mlir, iron = loaders
    kinds = {Path(file).suffix for file in files}
    if not of_run.data:
        _refuse_words(of_run, of_program, expected, loads=SUFFIX in kinds or ".py" in kinds)
    if is_iron(files[0]):
        _refuse_for_iron(of_program)
        saved = [parse_wanted(text) for text in of_program.wanted]
        wanted = _taken(saved, expected)
        device = of_program.device or ""
        return iron(files[0], files[1:], settings, of_program.given, wanted, device), saved
    if SUFFIX not in kinds and ".py" in kinds:
        of_program.kernels.check_used(beside=False)
        alone = (
            replace(of_program, expected=()) == ProgramOptions()
            and not of_run.pad_arguments
            and of_run.dispatch is None
        )
        if len(files) > 1 or not alone:
            raise typer.BadParameter(options.FOR_PROGRAMS)
        return python_design(files[0], settings, expected), []
    if SUFFIX in kinds and len(files) > 1:
        raise typer.BadParameter("an MLIR design is run alone.")
    if SUFFIX not in kinds and settings:
        raise typer.BadParameter("--set is for designs; a program has no parameters.")
    saved = [parse_wanted(text) for text in of_program.wanted]
    wanted = _taken(saved, expected)
    if SUFFIX in kinds:
        return mlir(files[0], of_program, settings, wanted), saved
    return program_files(files, of_program, wanted), saved


def _taken(saved: Sequence[tuple[Wanted, Path]], expected: Sequence[Given]) -> list[Wanted]:
    """The arrays to take at the end: those that are saved, and others that are expected."""
    from memtile.runs.array_names import Wanted

    found = {each.name: each for each, _ in saved}
    for each in expected:
        given = found.setdefault(each.name, Wanted(each.name))
        dtype, shape = given.dtype or each.array.dtype, given.shape or each.array.shape
        found[each.name] = replace(given, dtype=dtype, shape=shape)
    return list(found.values())


def _refuse_for_iron(given: ProgramOptions) -> None:
    """Refuse options that a program of IRON has no use for.

    Raises:
        BadParameter: which they are.
    """
    bodies = given.kernels.file is not None and Path(given.kernels.file).suffix == SUFFIX
    others = {"--format": given.format != "auto", "--base": given.base, "--kernel": given.kernel}
    asked = {"--kernels with MLIR": bodies, **others, "--keep-order": given.keep_order}
    if wrong := ", ".join(name for name, value in asked.items() if value):
        raise typer.BadParameter(f"{wrong}: a program of IRON has its design and its order itself.")


def _refuse_words(
    of_run: RunOptions, of_program: ProgramOptions, expected: Sequence[Given], *, loads: bool
) -> None:
    """Refuse options that have no meaning without words.

    Raises:
        BadParameter: which they are.
    """
    if of_run.untimed or not loads:
        raise typer.BadParameter("--no-data is for designs that run with a clock.")
    if of_program.wanted or expected:
        raise typer.BadParameter("--no-data leaves no arrays for --out and --expect.")


def _drawing(picture: Path | None, untimed: bool) -> Callable[[Result], None]:
    """What draws the result, before anything is shown: an error is then alone on standard output.

    Raises:
        InputFileError: what cannot be drawn, before the run.
    """
    if picture is None:
        return lambda _result: None
    from memtile.report.cycles_picture import check_picture, save_cycles

    check_picture(picture, timed=not untimed)
    check_writable(picture)
    return lambda result: save_cycles(result, picture)


def _waveform_file(vcd: Path | None, signals: list[str] | None, untimed: bool) -> WaveformFile:
    if signals and vcd is None:
        raise typer.BadParameter("--signals chooses what a --vcd file shows. Give --vcd FILE too.")
    if vcd is not None and untimed:
        raise typer.BadParameter("an untimed run has no cycles for a --vcd file.")
    return WaveformFile(vcd, signals or ("*",))


def studied_run(
    make: Maker, of_run: RunOptions, schedules: int, studies: Studies, dump: WaveformFile
) -> tuple[Runnable, Run]:
    """Return what was loaded, and what its run left, with the answers to what else is asked of it.

    Args:
        make: loads what is to run, each time anew.
        of_run: options of the run.
        schedules: how many more runs look for what depends on timing.
        studies: what is asked.
        dump: a file of waveforms.
    """
    from memtile.cli.progress import run_progress
    from memtile.design.run_design import with_schedules
    from memtile.importers.design_file import silent

    made, again = make(), of_run.run_again()
    with run_progress(untimed=of_run.untimed) as progress, dump.recorded(made.engine):
        done = made.run(of_run, progress=progress)

    def anew() -> Runnable:
        with silent():
            return make()

    def once() -> tuple[Result, Mapping[str, Any]]:
        other = anew()
        found = other.run(again, check=True)
        return found.result, other.outcomes(found)

    arrays = made.outcomes(done) if schedules else {}
    result = with_schedules(done.result, arrays, once, schedules)
    device, ignored = made.design.device, made.ignored
    result = studies.of(
        result, made.engine, lambda: anew().run(again).result, made.files, ignored, device=device
    )
    return made, replace(done, result=result)


def _leave(result: Result) -> None:
    """Leave with the exit code of the result."""
    from memtile.explain.results import Status

    leave(interrupted=result.status is Status.INTERRUPTED, good=result.good)
