"""``memtile lower``: tiling parameters to the fewest buffer descriptors, with proof and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memtile.arch.tiles import TileName
from memtile.cli.exit_codes import ExitCode
from memtile.cli.input_file import read_json
from memtile.cli.json_output import print_answers
from memtile.cli.output_file import check_writable
from memtile.cli.progress import watched

if TYPE_CHECKING:
    from memtile.report.lowering import Answer

EXAMPLES = """\b
Examples:
  memtile lower tiling.json
  memtile lower tiling.json --picture order.svg
  memtile lower tilings.json --json --elements
  echo '{"buffer_dimension": [8, 6], "tiling_dimension": [1, 6], "element_bits": 32,
         "tile_traversal": [{"dimension": 0, "stride": 1, "wrap": 8}]}' | memtile lower -
"""


def lower(
    file: Annotated[str, typer.Argument(metavar="FILE.json|-", help="JSON file; - is standard input.")],
    tile: Annotated[
        TileName | None,
        typer.Option(help="Tile kind whose DMA moves the data, whatever the file says."),
    ] = None,
    access: Annotated[
        Literal["read", "write"] | None,
        typer.Option(help="Direction, whatever the file says: read = MM2S, write = S2MM."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the access order: .svg, .png, or .html (animated).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Data instead of text.")] = False,
    elements: Annotated[
        bool, typer.Option("--elements", help="With --json: the element indices of the stream.")
    ] = False,
) -> None:
    """Turn tiling parameters (UG1603) into the fewest buffer descriptors that do exactly that.

    Reads one tiling or a list as JSON: buffer_dimension, tiling_dimension, offset, tile_traversal
    [{dimension, stride, wrap}, ...], boundary_dimension, element_bits, memory, access. Prints the loops after
    each rewrite step, the descriptors and their words. With --json writes, in order, {"descriptors", "bds",
    "runs"} or {"error"}; a list for a list. Exits with 1 when a tiling was refused or a published sequence
    is not met.
    """
    from memtile.access.tiling_cases import tilings_of
    from memtile.report.lowering import answer, wrong_sequences

    if elements and not as_json:
        raise typer.BadParameter("--elements needs --json.")
    _check_picture(picture)
    items, single = tilings_of(read_json(file))
    pictures = _pictures(picture, len(items))
    answers = [
        answer(item, n, tile=tile, access=access) for n, item in enumerate(watched(items, "lowering"), 1)
    ]
    if pictures:  # before anything is shown: an error is then alone on standard output
        _draw(answers, pictures)
    if as_json:
        print_answers([given.as_json(elements=elements) for given in answers], single=single)
    else:
        _print(answers, single)
    if wrong_sequences(answers)[0] or not all(given.as_declared for given in answers):
        raise typer.Exit(ExitCode.BAD_RESULT)


def _check_picture(picture: Path | None) -> None:
    if picture is None:
        return
    from memtile.report.access_files import SUFFIXES

    if picture.suffix not in SUFFIXES:
        raise typer.BadParameter(
            f"{picture}: the name of a picture must end in one of {', '.join(SUFFIXES)}."
        )


def _pictures(picture: Path | None, number: int) -> list[Path]:
    """A file for each tiling; all of them have a place."""
    from memtile.report.access_files import picture_paths

    paths = [] if picture is None else picture_paths(picture, number)
    for path in paths:
        check_writable(path)
    return paths


def _print(answers: list[Answer], single: bool) -> None:
    from memtile.report.lowering import print_answer, print_summary
    from memtile.sheet import stdout_console

    console = stdout_console()
    for given in answers:
        print_answer(given, console)
        console.print()
    if not single:
        print_summary(answers, console)


def _draw(answers: list[Answer], paths: list[Path]) -> None:
    from memtile.report.access_files import save_picture

    for given, path in watched(list(zip(answers, paths, strict=True)), "drawing"):
        save_picture(given, path)
