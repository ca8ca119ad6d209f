"""``memtile run``: run a design file, or files of register writes, and show what every channel did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memtile.cli import run_options as options
from memtile.cli.mlir_file import SUFFIX, run_mlir
from memtile.cli.numbers import number
from memtile.cli.report_files import ReportFiles
from memtile.cli.result_output import leave, show_result
from memtile.cli.run_program import ProgramOptions, run_files
from memtile.cli.studies import Studies
from memtile.cli.timing_option import TimingConstants, with_timing
from memtile.cli.waveform_file import WaveformFile
from memtile.output_files import check_writable
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from memtile.explain.results import Result

EXAMPLES = """\b
Examples:
  memtile run design.py
  memtile run --untimed design.py
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
  memtile run design.mlir --set input_offset=8 --in 0=a.npy --out 1:int32:8=b.npy
  memtile run input_physical.mlir --against build/ --in 0=a.npy --out 2:int32:64=c.npy
  memtile run final.xclbin insts.bin --in 0=a.npy --out 1=b.npy
  memtile run build/ --kernels kernels.py --in 0=a.npy --out 1=b.npy
  memtile run aie_cdo_*.bin insts.txt --kernels kernels.py --in 0=a.npy --in 1=b.npy --out 2=c.npy
"""


@options.running()
def run(
    files: options.Files,
    of_run: RunOptions = USUAL,
    schedules: options.Schedules = 0,
    as_json: options.AsJson = False,
    settings: options.Settings = None,
    timing: TimingConstants = None,
    picture: options.Picture = None,
    vcd: options.Vcd = None,
    signals: options.Signals = None,
    given: options.In = None,
    wanted: options.Out = None,
    device: options.DeviceName = None,
    format: options.FileFormat = "auto",
    base: options.Base = "0",
    kernel: options.Kernel = None,
    kernels: options.Kernels = None,
    keep_order: options.KeepOrder = False,
    against: options.Against = None,
    costs: options.Costs = None,
    sensitivity: options.Sensitivity = False,
    bottleneck: options.Bottleneck = False,
    record: options.Record = None,
    coredump: options.Coredump = None,
    report: options.ReportFile = None,
    perfetto: options.Perfetto = None,
) -> None:
    """Run a design, or a program of register writes, and show its cycles and the cause of every stalled one.

    A design of mlir-aie is MLIR text, high-level or lowered (docs/mlir.md); its arrays are the arguments of
    its host sequence by position, --kernels has the functions that its cores call, and --set NAME=NUMBER the
    parameters of its scratchpad.

    A design is a Python file with a design() function; --set gives values to its arguments, which memtile
    info DESIGN.py lists. Other files, and build folders, are one program (docs/files.md): those of a build in
    the order elfs, init, enable, instructions, others as given; --kernels says what its cores do. NAME is a
    kernel argument (0), an external address (0x100000000), a tile memory (memory(0,1)+0x400), a stream
    (memory(0,1) MM2S 0), or your own: these name in order what is read (--in) or written (--out).

    A signal is called tile0_1.mm2s0.cause, tile0_1.lock0.value or tile0_2.core.phase; a pattern for
    tile0_1.mm2s0 takes all of its signals.

    Ctrl-C stops the run and shows what was done until then, marked as interrupted."""
    untimed = of_run.untimed
    written, draw = _report_files(report, perfetto, untimed), _drawing(picture, untimed)
    dump = replace(_waveform_file(vcd, signals, untimed), report=written)
    studies = replace(_studies(sensitivity, bottleneck, record, coredump, untimed), report=written)
    origin, arrays = number(base, "--base"), (given or (), wanted or ())
    of_program = ProgramOptions(*arrays, device, format, origin, kernels, keep_order, kernel)
    asked = replace(of_run, check=of_run.check or schedules > 0)
    with with_timing(timing):
        of_mlir = partial(_mlir, partial(run_mlir, against=against, costs=costs))
        run_it = _kind_of(files, of_mlir)(files, of_program, asked, settings, dump)
        result = run_it(schedules=schedules, as_json=as_json, draw=draw, studies=studies)
    _leave(result)


def _kind_of(
    files: Sequence[str], of_mlir: Callable[..., Callable[..., Result]]
) -> Callable[..., Callable[..., Result]]:
    """What takes the files: designs of MLIR or of Python, else a program."""
    kinds = {SUFFIX: of_mlir, ".py": _design}
    named = (kinds[kind] for kind in kinds if any(Path(file).suffix == kind for file in files))
    return next(named, _program)


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


def _mlir(
    run_it: Callable[..., Result],
    files: Sequence[str],
    of_program: ProgramOptions,
    of_run: RunOptions,
    settings: Sequence[str] | None,
    dump: WaveformFile,
) -> Callable[..., Result]:
    if len(files) > 1:
        raise typer.BadParameter("an MLIR design is run alone.")
    if of_program.kernel is not None:
        raise typer.BadParameter("--kernel chooses a program of an xclbin, a full ELF or a build folder.")
    return partial(run_it, files[0], of_program, _with_words(of_run), dump, settings=settings or ())


def _program(
    files: Sequence[str],
    of_program: ProgramOptions,
    of_run: RunOptions,
    settings: Sequence[str] | None,
    dump: WaveformFile,
) -> Callable[..., Result]:
    if settings:
        raise typer.BadParameter("--set is for designs; a program has no parameters.")
    return partial(run_files, files, of_program, _with_words(of_run), dump)


def _design(
    files: Sequence[str],
    of_program: ProgramOptions,
    of_run: RunOptions,
    settings: Sequence[str] | None,
    dump: WaveformFile,
) -> Callable[..., Result]:
    if len(files) > 1 or of_program != ProgramOptions() or of_run.pad_arguments:
        raise typer.BadParameter(options.FOR_PROGRAMS)
    if of_run.untimed:
        _with_words(of_run)
    return partial(_run_design, files[0], settings or (), of_run, dump)


def _with_words(of_run: RunOptions) -> RunOptions:
    """The options of a run that moves words."""
    if not of_run.data:
        raise typer.BadParameter("--no-data is for designs in Python that run with a clock.")
    return of_run


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


def _run_design(
    file: str,
    settings: Sequence[str],
    of_run: RunOptions,
    dump: WaveformFile,
    *,
    schedules: int,
    as_json: bool,
    draw: Callable[[Result], None],
    studies: Studies,
) -> Result:
    from memtile.cli.design_file import load_design
    from memtile.cli.progress import run_progress
    from memtile.design.run import result_arrays, with_schedules
    from memtile.importers.design_file import guarded

    def once(options: RunOptions) -> tuple[Result, Mapping[str, Any]]:
        other = load_design(file, settings)
        found = guarded(file, lambda: other.run(options))
        return found, result_arrays(other, found)

    made = load_design(file, settings)
    with run_progress(untimed=of_run.untimed) as progress, dump.recorded(made.engine):
        result = guarded(file, lambda: made.run(of_run, progress=progress))
    arrays, again = result_arrays(made, result) if schedules else {}, of_run.run_again()
    result = with_schedules(result, arrays, lambda: once(replace(again, check=True)), schedules)
    result = studies.of(result, made.engine, lambda: once(again)[0], [file], device=made.device)
    draw(result)
    show_result(result, as_json=as_json)
    return result


def _leave(result: Result) -> None:
    """Leave with the exit code of the result."""
    from memtile.explain.results import Status

    leave(interrupted=result.status is Status.INTERRUPTED, good=result.good)
