"""``memtile run``: run a design file, or files of register writes, and show what every channel did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memtile.cli.exit_codes import ExitCode
from memtile.cli.numbers import number
from memtile.cli.output_file import check_writable
from memtile.cli.run_program import Format, ProgramOptions, run_files
from memtile.cli.waveform_file import WaveformFile

if TYPE_CHECKING:
    from memtile.explain.results import Result

_MAX_CYCLES = 10_000_000
EXAMPLES = """\b
Examples:
  memtile run examples/halo_tiling.py
  memtile run --untimed examples/halo_tiling.py
  memtile run --json --max-cycles 100000 examples/halo_tiling.py
  memtile run --picture cycles.png examples/halo_tiling.py
  memtile run --vcd run.vcd --signals '*.mm2s?.cause' --signals '*.lock0' examples/halo_tiling.py
  memtile run transpose.bin --in x=in.npy --out y:int32:16x8=out.npy
  memtile run aie_cdo_init.bin insts.bin --in 0=a.npy --in 1=b.npy --out 2=c.npy
"""


def run(
    files: Annotated[
        list[str], typer.Argument(metavar="DESIGN.py|FILE...", help="A design, or files of register writes.")
    ],
    untimed: Annotated[bool, typer.Option("--untimed", help="Move the data without a clock.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Data instead of a table.")] = False,
    max_cycles: Annotated[
        int,
        typer.Option(min=1, help="Stop after this many cycles, or after what --untimed could move in them."),
    ] = _MAX_CYCLES,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw each channel's cycles: .png, .svg or .pdf.")
    ] = None,
    vcd: Annotated[
        Path | None, typer.Option(help="Also write what happens in each cycle, for waveform viewers; slow.")
    ] = None,
    signals: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Signals of the --vcd by name, * for any characters; repeat."),
    ] = None,
    given: Annotated[
        list[str] | None, typer.Option("--in", metavar="NAME=FILE.npy", help="Array for the program.")
    ] = None,
    wanted: Annotated[
        list[str] | None,
        typer.Option("--out", metavar="NAME[:DTYPE][:SHAPE]=FILE.npy", help="Array from the program."),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Device to be, whatever the files say; see memtile info.")
    ] = None,
    format: Annotated[Format, typer.Option(help="Format of the files; auto looks at them.")] = "auto",
    base: Annotated[str, typer.Option(help="Address of the array in CDO files.")] = "0",
) -> None:
    """Run a design, or a program of register writes, and show its cycles and the cause of every stalled one.

    A design is a Python file with a design() function. Other files are transactions, CDO files or register
    dumps, done one after another as one program. NAME is a kernel argument (0; without pointer patches the
    buffers are counted by address), an external address (0x100000000), a tile memory (memory(0,1)+0x400), a
    stream (memory(0,1) MM2S 0), or your own: these name in order the buffers that are read (--in)
    or written (--out).

    A signal is called tile0_1.mm2s0.cause, tile0_1.lock0.value or tile0_2.core.phase; a pattern for
    tile0_1.mm2s0 takes all of its signals.

    Ctrl-C stops the run and shows what was done until then, marked as interrupted.
    """
    dump = _waveform_file(vcd, signals, untimed)
    if picture is not None:
        _check_picture(picture, untimed)
    options = ProgramOptions(given or (), wanted or (), device, format, number(base, "--base"))
    if any(Path(file).suffix == ".py" for file in files):
        if len(files) > 1 or options != ProgramOptions():
            raise typer.BadParameter(
                "a design is run alone, without --in, --out, --device, --format and --base."
            )
        result = _run_design(files[0], dump, untimed=untimed, as_json=as_json, max_cycles=max_cycles)
    else:
        result = run_files(files, options, dump, untimed=untimed, as_json=as_json, max_cycles=max_cycles)
    _end(result, picture)


def _check_picture(picture: Path, untimed: bool) -> None:
    from memtile.report.cycles_picture import check_picture

    check_picture(picture, timed=not untimed)
    check_writable(picture)


def _waveform_file(vcd: Path | None, signals: list[str] | None, untimed: bool) -> WaveformFile:
    if signals and vcd is None:
        raise typer.BadParameter("--signals chooses what a --vcd file shows. Give --vcd FILE too.")
    if vcd is not None and untimed:
        raise typer.BadParameter("an untimed run has no cycles for a --vcd file.")
    return WaveformFile(vcd, signals or ("*",))


def _run_design(file: str, dump: WaveformFile, *, untimed: bool, as_json: bool, max_cycles: int) -> Result:
    from memtile.cli.design_file import guarded, load_design
    from memtile.cli.progress import run_progress

    made = load_design(file)
    with run_progress(untimed=untimed) as progress, dump.recorded(made.engine):
        result: Result = guarded(file, lambda: made.run(max_cycles, untimed=untimed, progress=progress))
    if as_json:
        typer.echo(json.dumps(result.as_json(), indent=2))
    else:
        from rich.console import Console

        from memtile.sheet import print_whole

        print_whole(Console(highlight=False), result)
    return result


def _end(result: Result, picture: Path | None) -> None:
    """Draw the picture and leave with the exit code of the result."""
    from memtile.explain.results import Status

    if picture is not None:
        from memtile.report.cycles_picture import save_cycles

        save_cycles(result, picture)
    if result.status is Status.INTERRUPTED:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not result.good:
        raise typer.Exit(ExitCode.BAD_RESULT)
