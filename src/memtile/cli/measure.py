"""``memtile measure``: designs that isolate timing constants, and what their traces say; cycles of calls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memtile.errors import InputFileError, Problem
from memtile.output_files import check_writable, write_output
from memtile.plain_text import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from memtile.explore.measure.fitted_constants import Measured

app = typer.Typer(
    help="Measure a board with its own trace units: its timing constants, and calls of its cores.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
WRITE_EXAMPLES = """\b
Examples:
  memtile measure write designs
  memtile measure write designs --device npu2
  memtile measure write designs --constant task_start --constant external_latency
"""
READ_EXAMPLES = """\b
Examples:
  memtile measure read designs
  memtile measure read designs --trace stream=run1.txt --trace stream=run2.txt
  memtile measure read designs --source "my laptop" --address https://example.org/npu --out cases.json
"""
CALLS_EXAMPLES = """\b
Examples:
  memtile measure calls trace.json --function mine --out costs.json
  memtile measure calls trace.csv --function 0,2=mine --function 0,3=other --out costs.json
  memtile measure calls pairs.csv --out costs.json
  memtile measure calls pairs.csv --json
  memtile run design.mlir --cost costs.json
"""
_ENDINGS = (".npy", ".txt")  # of traces beside their designs


@app.callback()
def _group() -> None:
    pass


Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the designs.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command(epilog=WRITE_EXAMPLES)
def write(
    folder: Folder,
    constant: Annotated[
        list[str] | None, typer.Option(help="Constant of docs/timing.md; repeat. Default: all.")
    ] = None,
    device: Annotated[str, typer.Option(help="Device to measure: npu1 or npu2.")] = "npu1",
    as_json: AsJson = False,
) -> None:
    """Write a design for each group of constants: MLIR text, a transaction, and the events to trace.

    NAME.mlir is for mlir-aie's compiler, NAME.bin does the same as one transaction, measure.json says what is
    traced. The first argument of each is its trace buffer, 4096 words; the others can be zeros. Both run in
    memtile too. Keep the traces as DIR/NAME.npy or DIR/NAME.txt, for memtile measure read.
    """
    from memtile.explore.measure.experiment_files import write_folder
    from memtile.explore.measure.fitted_constants import experiments_for
    from memtile.explore.measure.script import TRACE_WORDS

    made = write_folder(folder, experiments_for(constant or ()), device)
    if as_json:
        typer.echo(json_text(made, indent=2))
        return
    for each in made["designs"]:
        names = ", ".join(one["name"] for one in each["constants"])
        typer.echo(f"{folder / each['name']}.mlir: {names}")
    name = folder / made["designs"][0]["name"]
    typer.echo(
        f"run each, on the board or here: memtile run {name}.mlir --out 0:uint32:{TRACE_WORDS}={name}.npy"
    )
    typer.echo(f"then: memtile measure read {folder}")


@app.command(epilog=READ_EXAMPLES)
def read(
    folder: Folder,
    trace: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="Trace of design NAME; repeat, for more runs too. Without it DIR/NAME.npy and DIR/NAME.txt.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.json", help="Write a file of cases.")] = None,
    source: Annotated[str, typer.Option(help="Who measured what, for the file of cases.")] = "",
    address: Annotated[str, typer.Option(help="Where it is published, https://...")] = "",
    as_json: AsJson = False,
) -> None:
    """Read timing constants from traces of these designs.

    A trace is a file as memtile trace decode takes it: words in hexadecimal, raw words with zeros behind
    them, or a NumPy array. Of several traces of a design the median counts. The file of cases is one as in
    tests/silicon/cases of memtile's source; it names its source and its address.
    """
    from memtile.explore.measure.experiment_files import device_of
    from memtile.explore.measure.fitted_constants import measured

    if out is not None:
        check_writable(out)
    if out is not None or as_json:
        _check_source(source, address)
    device = device_of(folder)
    found = measured(device, _traces(folder, trace or ()))
    if out is not None or as_json:
        _write_cases(found.cases(source, address), out, as_json=as_json)
    if not as_json:
        _show(found)


@app.command(epilog=CALLS_EXAMPLES)
def calls(
    file: Annotated[str, typer.Argument(metavar="FILE.csv|FILE.json", help="Marks of calls; see below.")],
    function: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[PLACE=]NAME",
            help="Function whose calls a place marks; repeat. A single place needs no name.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.json", help="Write the file for --cost.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Measure the cost of calls of your cores' functions, from a trace of their event0() and event1().

    FILE is JSON as mlir-aie's parse_trace writes it, CSV as memtile trace decode --csv does, or CSV of your
    own with the columns function, event0 and event1, in cycles. The fewest cycles of a function's calls
    count: what made others longer is in the run. --out writes the file that memtile run --cost takes.
    """
    from memtile.explore.measure.call_counts import calls_of, costs
    from memtile.input_files import read_text

    if out is not None:
        check_writable(out)
    found = calls_of(read_text(file), file)
    document = {"functions": costs(found, function or (), file)}
    if out is not None:
        write_output(out, json_text(document, indent=2) + "\n")
    if as_json:
        typer.echo(json_text({**document, "places": [each.as_json() for each in found]}, indent=2))
        return
    for each in found:
        typer.echo(each.line)
    typer.echo(json_text(document) if out is None else f"to run with them: memtile run --cost {out}")


def _show(found: Measured) -> None:
    from memtile.sheet import print_whole, stdout_console

    print_whole(stdout_console(), found.sheet())


def _write_cases(cases: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    text = json_text(cases, indent=2) + "\n"
    if out is not None:
        write_output(out, text)
    if as_json:
        typer.echo(text, nl=False)


def _check_source(source: str, address: str) -> None:
    if not source.strip():
        raise typer.BadParameter("a file of cases names its source.", param_hint="--source")
    if not address.startswith("https://"):
        raise typer.BadParameter("it must begin with https://.", param_hint="--address")


def _traces(folder: Path, given: Sequence[str]) -> dict[str, list[tuple[str, npt.NDArray[np.uint32]]]]:
    """The words of each trace, by design."""
    from memtile.explore.measure.fitted_constants import EXPERIMENTS
    from memtile.input_files import read_bytes
    from memtile.io.trace.trace_packets import read_words

    names = [each.name for each in EXPERIMENTS]
    pairs = [text.partition("=")[::2] for text in given]
    told = zip(given, pairs, strict=True)
    wrong = [_wrong(text, names) for text, (name, file) in told if name not in names or not file]
    if wrong:
        raise InputFileError(wrong)
    if not given:
        files = [(name, folder / f"{name}{ending}") for name in names for ending in _ENDINGS]
        pairs = [(name, str(file)) for name, file in files if file.is_file()]
    if not pairs:
        raise InputFileError(
            f"{folder}: there are no traces, such as {folder / names[0]}.npy. "
            "Run the designs, or give --trace."
        )
    found: dict[str, list[tuple[str, npt.NDArray[np.uint32]]]] = {}
    for name, file in pairs:
        found.setdefault(name, []).append((file, read_words(read_bytes(file), file)))
    return found


def _wrong(text: str, names: Sequence[str]) -> Problem:
    return Problem(
        "--trace",
        repr(text),
        f"NAME=FILE, NAME one of {', '.join(names)}",
        reason="measure_trace",
        where="command line",
        source="form of the option",
    )
