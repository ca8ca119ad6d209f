"""``memtile lower``: tiling parameters to the fewest buffer descriptors, with proof and pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from memtile.arch.tiles import TileName
from memtile.cli.exit_codes import ExitCode
from memtile.cli.input_file import read_json_or_text
from memtile.cli.progress import watched
from memtile.cli.result_output import print_answers
from memtile.input_files import name_of
from memtile.output_files import check_writable

if TYPE_CHECKING:
    from memtile.report.lowering import Answer

EXAMPLES = """\b
Examples:
  memtile lower tiling.json
  memtile lower tiling.json --picture order.svg
  memtile lower tilings.json --json --elements
  memtile lower graph.h -D Dim0=8 -D Dim1=8
  memtile lower --memref "memref<4x8xi32, strided<[16, 1], offset: 3>>"
  echo '{"buffer_dimension": [8, 6], "tiling_dimension": [1, 6], "element_bits": 32,
         "tile_traversal": [{"dimension": 0, "stride": 1, "wrap": 8}]}' | memtile lower -
"""


MemrefText = Annotated[
    str | None,
    typer.Option(
        metavar="TYPE",
        help='MLIR\'s memref instead of a file: "memref<4x8xi32, strided<[16, 1], offset: 3>>".',
    ),
]
Defines = Annotated[
    list[str] | None,
    typer.Option(
        "-D",
        "--define",
        metavar="NAME=VALUE",
        help="With C++: the value of a name, as for a compiler; it overrides a line of the text.",
    ),
]
ElementType = Annotated[
    str | None,
    typer.Option(help="With C++: element type where the text names none that has a size."),
]
Plane = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="With --picture: dimensions to the right and downwards. Default 0,1, or 1,2 of three and more "
        "where dimension 0 (the channels of an image) is always moved whole.",
    ),
]


def lower(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="JSON or C++ text; - is standard input.")
    ] = "",
    memref: MemrefText = None,
    define: Defines = None,
    element_type: ElementType = None,
    tile: Annotated[
        TileName | None,
        typer.Option(help="Tile kind whose DMA moves the data, overriding the file."),
    ] = None,
    access: Annotated[
        Literal["read", "write"] | None,
        typer.Option(help="Direction, overriding the file: read = MM2S, write = S2MM."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the access order: .svg, .png, or .html (animated).")
    ] = None,
    plane: Plane = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    elements: Annotated[
        bool, typer.Option("--elements", help="With --json: the element indices of the stream.")
    ] = False,
) -> None:
    """Turn tiling parameters (UG1603) into the fewest buffer descriptors that do exactly that.

    Reads one tiling or a list as JSON: buffer_dimension, tiling_dimension, offset, tile_traversal
    [{dimension, stride, wrap}, ...], boundary_dimension, element_bits, memory, access, packet_port_id, name;
    or memref {offset, sizes, strides} for the tiling. Lines of JSON are a list. Or reads C++: an initialiser
    {.buffer_dimension = {...}, ...} of tiling_parameters, or any part of a graph with some. Prints the loops
    after each rewrite step, the descriptors and their words. With --json writes, in order, {"descriptors",
    "bds", "runs", "tasks"} or {"error"}; a list for a list. Exits with 1 when a tiling was refused or a
    published sequence is not met.
    """
    from memtile.access.tiling_cases import tilings_of
    from memtile.report.lowering import answer, wrong_sequences

    if elements and not as_json:
        raise typer.BadParameter("--elements needs --json.")
    if plane and not picture:
        raise typer.BadParameter("--plane needs --picture.")
    _check_picture(picture)
    shown = _plane(plane)
    given = _given(file, memref, define, element_type)
    items, single = tilings_of(given)
    pictures = _pictures(picture, len(items))
    answers = [
        answer(item, n, tile=tile, access=access) for n, item in enumerate(watched(items, "lowering"), 1)
    ]
    if pictures:  # before anything is shown: an error is then alone on standard output
        _draw(answers, pictures, shown)
    if as_json:
        print_answers([given.as_json(elements=elements) for given in answers], single=single)
    else:
        _print(answers, single)
    if wrong_sequences(answers)[0] or not all(given.as_declared for given in answers):
        raise typer.Exit(ExitCode.BAD_RESULT)


def _given(file: str, memref: str | None, define: list[str] | None, element_type: str | None) -> Any:
    """The JSON value of the file, the tilings of its C++ text, or the one that a memref stands for."""
    if (memref is None) == (not file):
        raise typer.BadParameter("give a file, - for standard input, or --memref; one of them.")
    if memref is not None:
        found: Any = memref_tiling(memref)
    else:
        found = read_json_or_text(file)
    if isinstance(found, str):
        return _of_text(found, file, define or [], element_type)
    if define or element_type:
        raise typer.BadParameter("-D and --element-type are for C++ text; JSON has its own values.")
    return found


def _of_text(text: str, file: str, define: list[str], element_type: str | None) -> Any:
    """The tilings of a C++ text; a single one is no list."""
    from memtile.access.element_types import amd_bits
    from memtile.access.graph_text.fragment import graph_tilings

    found = graph_tilings(text, dict(map(_defined, define)), file=name_of(file))
    if element_type:
        known = [each.element_type if amd_bits(each.element_type) else element_type for each in found]
        found = [replace(each, element_type=name) for each, name in zip(found, known, strict=True)]
    return found if len(found) > 1 else found[0]


def _defined(text: str) -> tuple[str, str]:
    """Name and value of ``-D NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not name.isidentifier() or not (value.strip() or not sign):
        raise typer.BadParameter(f"-D is {text!r}; it must be NAME=VALUE, such as Dim0=8.")
    return name, value


def given_tiling(tiling: Any, memref: str | None) -> Any:
    """A tiling as data, or the one that a memref stands for.

    Raises:
        BadParameter: both or neither.
        TransferError: the text of the memref.
    """
    if (tiling is None) == (memref is None):
        raise typer.BadParameter("give a tiling or a memref; one of them.")
    return tiling if memref is None else memref_tiling(memref)


def memref_tiling(memref: str) -> dict[str, Any]:
    """The tiling that the text of a memref stands for.

    Raises:
        TransferError: it is not one.
    """
    from memtile.access.memref import parse_memref

    found, bits = parse_memref(memref)
    sizes, strides = list(found.sizes), list(found.strides)
    return {
        "name": "memref",
        "element_bits": bits,
        "memref": {"sizes": sizes, "strides": strides, "offset": found.offset},
    }


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


def _plane(text: str | None) -> tuple[int, int] | None:
    """The dimensions of a picture."""
    if text is None:
        return None
    across, _, down = text.partition(",")
    if not (across.strip().isdecimal() and down.strip().isdecimal()):
        raise typer.BadParameter(f"--plane is {text!r}; it must be two dimensions, such as 1,2.")
    return int(across), int(down)


def _draw(answers: list[Answer], paths: list[Path], plane: tuple[int, int] | None) -> None:
    from memtile.report.access_files import save_picture

    for given, path in watched(list(zip(answers, paths, strict=True)), "drawing"):
        save_picture(given, path, plane)
