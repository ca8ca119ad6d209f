"""``memtile trace``: recorded traces of the model or of silicon, decoded and exported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memtile.arch.timing import ARRAY_CLOCK_MHZ
from memtile.cli.exit_codes import ExitCode
from memtile.input_files import name_of, read_bytes
from memtile.output_files import check_writable, write_output
from memtile.plain_text import json_text

if TYPE_CHECKING:
    from memtile.io.trace.decoder import Trace
    from memtile.io.trace.trace_names import NamedUnit
    from memtile.io.trace.trace_setup import TracedUnit

app = typer.Typer(
    help="Decode recorded traces.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)

DECODE_EXAMPLES = """\b
Examples:
  memtile trace decode trace.txt --program design.bin
  memtile trace decode trace.txt --events memtile=PORT_RUNNING_0,PORT_STALLED_0,-,42
  memtile trace decode trace.npy --events 1,2:core=LOCK_STALL --perfetto trace.pftrace
  memtile trace decode trace.bin --program design.bin --perfetto trace.json --time cycles
  memtile trace decode - --csv < trace.txt
"""


@app.callback()
def _group() -> None:
    pass


File = Annotated[str, typer.Argument(metavar="FILE|-", help="Trace; - is standard input.")]
Format = Annotated[
    Literal["auto", "hex", "bin", "npy"], typer.Option(help="Format of the trace; auto looks at it.")
]
Program = Annotated[
    str | None, typer.Option(help="Transaction, CDO file or register dump that sets the traced events.")
]
Device = Annotated[str, typer.Option(help="Device, where the program does not give the shape.")]
Events = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[[COLUMN,ROW:]MODULE=]EVENT,...",
        help="Events by slot, names or numbers; modules core, mem, shim, memtile; repeat.",
    ),
]
Types = Annotated[
    str,
    typer.Option(
        metavar="MODULE=TYPE,...",
        help="Packet types of modules without a program; default core=0,mem=1,shim=2,memtile=3.",
    ),
]
Shift = Annotated[int, typer.Option(help="Columns by which the design was loaded further right.")]
Clock = Annotated[float, typer.Option(min=1, help="Array clock, for ns.")]
Perfetto = Annotated[
    Path | None,
    typer.Option(help="Write for ui.perfetto.dev: Chrome's JSON to .json, else Perfetto's own format."),
]
Time = Annotated[
    Literal["ns", "cycles"],
    typer.Option(help="Time axis of .json: true time, or cycles shown as us as mlir-aie's tools do."),
]
Vcd = Annotated[Path | None, typer.Option(help="Write a value change dump.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="A row for each interval.")]


@app.command(epilog=DECODE_EXAMPLES)
def decode(
    file: File,
    format: Format = "auto",
    program: Program = None,
    device: Device = "npu1",
    events: Events = None,
    types: Types = "",
    column_shift: Shift = 0,
    clock_mhz: Clock = ARRAY_CLOCK_MHZ,
    perfetto: Perfetto = None,
    time: Time = "ns",
    vcd: Vcd = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show when the events of a trace were asserted.

    Reads packets in event-time mode of any number of trace units: hexadecimal words as mlir-aie writes them,
    raw little-endian words, or a NumPy array. Unreadable packets are reported with their word, as are lost
    events, and end with exit code 1; everything else is decoded.
    """
    from memtile.io.trace.decoder import decode as decode_words
    from memtile.io.trace.trace_names import named, unnamed, unplaced
    from memtile.io.trace.trace_packets import read_words
    from memtile.io.trace.trace_setup import types_of

    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv exclude each other.")
    if time == "cycles" and (perfetto is None or perfetto.suffix != ".json"):
        raise typer.BadParameter("it needs --perfetto FILE.json.", param_hint="--time cycles")
    for output in (perfetto, vcd):
        if output is not None:
            check_writable(output)
    name = name_of(file)
    setup, chosen = _setup(program, device, events or []), types_of(types)
    trace = decode_words(read_words(read_bytes(file), name, None if format == "auto" else format), name)
    units = named(trace, setup, column_shift, chosen)
    _write(units, clock_mhz, perfetto, time, vcd)
    _show(trace, units, clock_mhz, "csv" if as_csv else "json" if as_json else "table")
    notes = unnamed(units, setup, name) if setup else []
    for problem in [*trace.problems, *notes, *unplaced(units, name)]:
        typer.echo(problem.message, err=True)
    if trace.problems:
        raise typer.Exit(ExitCode.BAD_RESULT)


def _show(trace: Trace, units: list[NamedUnit], mhz: float, shape: str) -> None:

    from memtile.io.trace.trace_names import trace_csv, trace_json, trace_table, trace_title
    from memtile.sheet import print_whole, stdout_console

    if shape == "csv":
        typer.echo(trace_csv(units, mhz), nl=False)
    elif shape == "json":
        typer.echo(json_text(trace_json(trace, units, mhz), indent=2))
    else:
        typer.echo(trace_title(trace, mhz))
        print_whole(stdout_console(), trace_table(units, mhz))


def _setup(program: str | None, device: str, events: list[str]) -> list[TracedUnit]:
    from memtile.arch.devices import device as find_device
    from memtile.io.program.program_formats import read_program
    from memtile.io.trace.trace_setup import traced_as, traced_by
    from memtile.runs.operations import ArrayShape

    setup = [unit for text in events for unit in traced_as(text)]
    if program is not None:
        read = read_program(read_bytes(program), name_of(program))
        setup += traced_by(read.operations, read.shape or ArrayShape.of(find_device(device)))
    return setup


def _write(units: list[NamedUnit], mhz: float, perfetto: Path | None, time: str, vcd: Path | None) -> None:
    from memtile.io.trace.perfetto import perfetto_bytes
    from memtile.io.trace.trace_names import chrome_json
    from memtile.io.trace.waveform import trace_vcd

    if perfetto is not None and perfetto.suffix == ".json":
        write_output(perfetto, chrome_json(units, None if time == "cycles" else mhz))
    elif perfetto is not None:
        write_output(perfetto, perfetto_bytes(units, mhz))
    if vcd is not None:
        write_output(vcd, trace_vcd(units, mhz))
