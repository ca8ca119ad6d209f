"""``memtile diff``: what changed between two designs, records or files of registers.

Anything that can be compared, from its file: designs are run, the others read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memtile.cli import run_options as options
from memtile.cli.exit_codes import ExitCode
from memtile.cli.failure import UsageError
from memtile.cli.graph_file import NO_GRAPH, GraphOptions, is_graph, of_graphs
from memtile.cli.mlir_file import SUFFIX
from memtile.cli.screen import show_lines
from memtile.errors import InputFileError
from memtile.input_files import read_text
from memtile.io.json_text import parse_json
from memtile.plain_text import json_text
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from memtile.cli.runnable import Runnable
    from memtile.explain.compare.comparison import ComparedSide

EXAMPLES = """\b
Examples:
  memtile diff old.py new.py
  memtile diff design.mlir design.mlir --second-set input_offset=8
  memtile diff old/graph.cpp new/graph.cpp -I src --set TILE=16
  memtile diff before.json after.json
  memtile diff --tolerance 2% before.json after.json
  memtile diff old/insts.bin new/insts.bin --device npu1
  memtile diff design.mlir build/ --device npu1
  memtile diff core.bin later.bin --device npu2
"""


_Tolerance = Annotated[
    str | None,
    typer.Option(
        metavar="PERCENT", help="Exit code 0 if cycles differ by no more than this and the words are equal."
    ),
]


@of_graphs
@options.running("max_cycles")
def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A design, record, program, build or dump.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    settings: options.Settings = None,
    second_settings: Annotated[
        list[str] | None,
        typer.Option("--second-set", metavar="NAME=VALUE", help="Parameter of B alone, after --set; repeat."),
    ] = None,
    given: options.In = None,
    kernels: options.Kernels = None,
    timing: options.TimingConstants = None,
    of_run: RunOptions = USUAL,
    tolerance: _Tolerance = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    graph: GraphOptions = NO_GRAPH,
    everything: options.AllLines = False,
) -> None:
    """Compare A with B: cycles by cause and channel, output words, registers by field.

    Designs in Python and MLIR and graphs in C++ are run; records are those of memtile run --record; files of
    register writes, builds, containers and dumps are compared as the registers that they leave, descriptors
    in words. Of two different kinds, the parts that both have are compared. Macros of graphs are given by -D,
    or by --set and --second-set; input files are below --in-folder, the working folder, or the folder of the
    graph.

    Ends with exit code 0 if nothing differs, with 1 if something does; with --tolerance registers and causes
    do not count, and cycles only beyond it.
    """
    from memtile.explain.compare.comparison import compared
    from memtile.explore.suite.settings import part_of

    part = None if tolerance is None else part_of(tolerance, "--tolerance")
    names = [name for name in (first, second) if not Path(name).exists()]
    if names:
        raise UsageError(f"{names[0]}: there is no such file or folder.")

    if not (is_graph([first]) or is_graph([second])):
        replace(graph, device=None).refuse()
    mixed = {Path(name).suffix for name in (first, second)} == {".py", SUFFIX}

    def side(name: str, its: Sequence[str]) -> ComparedSide:
        if is_graph([name]):
            return graph_side(name, graph, its, of_run)
        device = graph.device or ""
        own = None if mixed and Path(name).suffix == ".py" else kernels  # they are for the text
        return compared_file(
            name, device=device, settings=its, given=given or (), kernels=own, options=of_run
        )

    mine = list(settings or ())
    with options.with_timing(timing):
        found = compared(side(first, mine), side(second, [*mine, *(second_settings or ())]))
    if as_json:
        typer.echo(json_text(found.as_json(), indent=2))
    else:
        show_lines([*found.lines()], everything=everything)
    if not (found.same if part is None else found.is_within(part)):
        raise typer.Exit(ExitCode.BAD_RESULT)


def compared_file(
    name: str,
    *,
    device: str,
    settings: Sequence[str],
    given: Sequence[str],
    kernels: str | None,
    options: RunOptions,
) -> ComparedSide:
    """One side of a comparison.

    Raises:
        MemtileError: as reading or running it raises.
    """
    path = Path(name)
    if path.suffix in (".py", SUFFIX):
        from memtile.cli.runnable import load_beside

        made = load_beside(name, device=device, settings=settings, kernels=kernels, given=given)
        return _design(name, made, options)
    if path.suffix == ".json" and (record := _record(path)) is not None:
        return _of_record(name, record)
    if path.is_file() and _is_dump(path):
        return _dump(name, device)
    return _program(name, device)


def _design(name: str, made: Runnable, options: RunOptions) -> ComparedSide:
    from memtile.explain.compare.comparison import DESIGN, ComparedSide
    from memtile.explain.record import record
    from memtile.io.dumps import tiles_of

    locks = made.engine.state.locks.value.copy()
    ran = made.run(options)
    set_up = tiles_of(made.engine, locks)
    return ComparedSide(name, DESIGN, record(ran.result, made.engine), made.words(ran), set_up)


def graph_side(name: str, options: GraphOptions, settings: Sequence[str], of_run: RunOptions) -> ComparedSide:
    """A graph in C++ as a side of a comparison: its run, and its array before it.

    Raises:
        MemtileError: as compiling, planning or running it raises; ``main`` runs no graph.
    """
    from memtile.adf.program_run import ProgramRun
    from memtile.explain.compare.comparison import DESIGN, ComparedSide
    from memtile.explain.record import record
    from memtile.io.dumps import tiles_of

    graph = options.program([name], settings=settings, beside=True, of_run=of_run)
    engine = graph.array().engine
    set_up = tiles_of(engine, engine.state.locks.value.copy())
    program = ProgramRun(graph.files, graph.options)
    done = program.run()
    if done.result is None or program.array is None:
        raise InputFileError(f"{name}: main ran no graph, so that there is nothing to compare.")
    return ComparedSide(name, DESIGN, record(done.result, program.array.engine), done.outputs, set_up)


def _record(path: Path) -> dict[str, Any] | None:
    """The record of a file; None if it is other JSON.

    Raises:
        InputFileError: it is what ``--json`` of a run prints.
    """
    from memtile.explain.record import FORMAT

    try:
        found = parse_json(read_text(path), str(path))
    except InputFileError:
        return None  # its reader says what is wrong with it
    if isinstance(found, dict) and found.keys() >= {"status", "channels", "findings"}:
        raise InputFileError(
            f"{path}: this is the output of memtile run --json; records are compared. Write one: "
            "memtile run DESIGN --record FILE.json."
        )
    return found if isinstance(found, dict) and found.get("format") == FORMAT else None


def _of_record(name: str, found: dict[str, Any]) -> ComparedSide:
    import msgspec

    from memtile.explain.compare.comparison import ComparedSide
    from memtile.explain.compare.cycles import ComparedRecord
    from memtile.explain.record import VERSION

    if found.get("version") != VERSION or not isinstance(found.get("result"), dict):
        raise InputFileError(
            f"{name}: the record has version {found.get('version')!r}; this memtile reads version {VERSION}."
        )
    try:
        msgspec.convert(found, ComparedRecord)
    except msgspec.ValidationError as error:
        raise InputFileError(
            f"{name}: {error}. Write it again: memtile run DESIGN --record FILE.json."
        ) from None
    return ComparedSide(name, "record", found)


def _is_dump(path: Path) -> bool:
    from memtile.explain.dump.dump_formats import looks_like_coredump

    return looks_like_coredump(path)


def _dump(name: str, device: str) -> ComparedSide:
    from memtile.explain.compare.comparison import DUMP, ComparedSide
    from memtile.explain.dump.dump_formats import read_coredump
    from memtile.io.dumps import load_coredump, placed_words

    loaded = load_coredump(read_coredump(Path(name)), name, device)
    return ComparedSide(name, DUMP, tiles=placed_words(loaded.array.engine, loaded.words), notes=loaded.notes)


def _program(name: str, device: str) -> ComparedSide:
    from memtile.cli.program_files import read_alone
    from memtile.explain.compare.comparison import ComparedSide
    from memtile.io.dumps import written_tiles

    operations, array, notes = read_alone(name, device)
    return ComparedSide(name, "file of registers", tiles=written_tiles(operations, array), notes=notes)
