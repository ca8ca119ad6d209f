"""``memtile export``: a design as MLIR that mlir-aie takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memtile.cli.graph_file import graph_program, is_graph
from memtile.cli.kernel_sources import KernelSources
from memtile.cli.mlir_file import SUFFIX
from memtile.output_files import output_file

if TYPE_CHECKING:
    from memtile.adf.graph_file import GraphProgram
    from memtile.design.array import Array
    from memtile.design.memory_tile import MemoryTile
    from memtile.importers.loaded import Loaded

EXAMPLES = """\b
Examples:
  memtile export graph.cpp --mlir -o graph.mlir --functions .
  memtile export design.py --mlir --set columns=2
  memtile export design.py --mlir --without-bench
  memtile export design.mlir --mlir -o placed.mlir
  memtile export program.py --mlir --set m=64
"""


def export(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="DESIGN",
            help="A design.py, a program of IRON, a design.mlir, or the C++ sources of a graph.",
            show_default=False,
        ),
    ],
    mlir: Annotated[bool, typer.Option("--mlir", help="Write MLIR of mlir-aie.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write; standard output if omitted.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Parameter of a design in Python."),
    ] = None,
    function_folder: Annotated[
        Path | None,
        typer.Option(
            "--functions", metavar="FOLDER", help="Folder for C++ of a graph: functions that its text calls."
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Device of a graph, or of a text that leaves it open.")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option("-I", "--include", help="Folder of a graph's headers.")
    ] = None,
    without_bench: Annotated[
        bool,
        typer.Option("--without-bench", help="Leave out what the test bench of an array feeds and collects."),
    ] = False,
    define: Annotated[
        list[str] | None, typer.Option("-D", "--define", metavar="NAME=VALUE", help="Macro of a graph.")
    ] = None,
) -> None:
    """Write a design as MLIR that mlir-aie takes.

    Everything is placed: buffers have addresses, locks and descriptors numbers, streams switch settings. A
    text or a program that is made of object FIFOs stays at that level. Kernels become calls of functions in
    objects named after them or their sources, between the same locks; a host becomes a runtime sequence.
    The cores of a graph repeat its kernels without end, and --functions writes what they call. Parts that no
    operation can express are errors, reported by name.
    """
    from memtile.mlir_writer.designs import to_mlir

    if not mlir:
        raise typer.BadParameter("say in which form: --mlir.")
    given = {"--set": settings, "-I": include, "-D": define, "--device": device}
    _refuse(files, {**given, "--functions": function_folder, "--without-bench": without_bench})
    design = _design(files, settings or [], device, KernelSources(include=include, define=define))
    text = to_mlir(design, without_bench=without_bench)
    if function_folder is not None:
        _write_functions(design, function_folder)
    _write(text, output)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
        return
    with output_file(output) as file:
        file.write(text.encode())


def _refuse(files: list[str], given: dict[str, object]) -> None:
    """Refuse several designs, and options that mean nothing to one."""
    graph, file = is_graph(files), files[0]
    if not graph and len(files) != 1:
        raise typer.BadParameter("give one design, or the C++ sources of one graph.")
    allowed = (
        {"-I", "-D", "--device", "--functions"}
        if graph
        else {"--device"}
        if file.endswith(SUFFIX)
        else {"--set", "--without-bench"}
    )
    wrong = [name for name, value in given.items() if value and name not in allowed]
    if wrong:
        kind = "a graph in C++" if graph else "MLIR text" if file.endswith(SUFFIX) else "a design in Python"
        raise typer.BadParameter(f"{', '.join(wrong)} is not for {kind}.")


def _write_functions(design: object, folder: Path) -> None:
    """Write the C++ of a graph's functions into a folder that is there."""
    from memtile.adf.graph_file import GraphProgram
    from memtile.mlir_writer.graph_functions import function_files

    assert isinstance(design, GraphProgram)  # options of others were refused
    root = design.files[0].resolve().parent
    for name, text in function_files(design.lowered(), root, design.options.include).items():
        with output_file(folder / name) as file:
            file.write(text.encode())


def _design(
    files: list[str], settings: list[str], device: str | None, kernels: KernelSources
) -> Array | MemoryTile | Loaded | GraphProgram:
    """The design that is named."""
    if is_graph(files):
        return graph_program(files, device, kernels, quiet=True)
    if files[0].endswith(SUFFIX):
        from memtile.importers.design import load_still

        return load_still(files[0], device=device)
    return _python(files[0], settings)


def _python(file: str, settings: list[str]) -> Array | MemoryTile:
    """The design of a file in Python: what it makes, or of a program of IRON what it builds."""
    from memtile.cli.design_file import load_design

    return load_design(file, settings)
