"""Any design as the text of mlir-aie: one in Python, one read from MLIR, a graph of UG1603."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memtile.design.array import Array
from memtile.importers.loaded import Loaded
from memtile.mlir_writer.cores import CoreProgram
from memtile.mlir_writer.read_designs import module_of_text
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import Place, Scene
from memtile.mlir_writer.writer import module_of
from memtile.runs.core_kernels import attached

if TYPE_CHECKING:
    from memtile.adf.graph_file import GraphProgram


def to_mlir(design: Array | Loaded | GraphProgram) -> str:
    """Return a design as MLIR that mlir-aie takes.

    Tiles have their places, buffers their addresses, locks their numbers, streams their switch settings and
    descriptors their numbers. A text that is made of object FIFOs stays at that level.

    Args:
        design: an array that has not run, what :func:`memtile.load` returns, or a graph of
            :func:`memtile.adf.load`.

    Raises:
        DesignError: what no operation of mlir-aie says, with its name and place.
        InputFileError: a graph that does not compile.
    """
    if isinstance(design, Array):
        return str(module_of(design, _Python(design)))
    if isinstance(design, Loaded):
        return str(module_of_text(design))
    from memtile.mlir_writer.graphs import module_of_graph

    return str(module_of_graph(design.lowered(), design.updates()))


class _Python:
    """What a design in Python adds to its array.

    Raises:
        DesignError: kernels in Python, or host sequences in Python.
    """

    def __init__(self, array: Array) -> None:
        for place, kernel in attached(array.engine).items():
            name = getattr(kernel, "__name__", "a kernel")
            raise refused(
                f"core {place}",
                f"core {place} runs the Python kernel {name!r}, which has no operations of MLIR",
                "cores without kernels, texts in MLIR, graphs in C++",
                "Export the array without its kernels, and write the core in MLIR or C++.",
            )
        for host in array.hosts:
            raise refused(
                host.host.name,
                f"{host.host.name} is a function of Python, which decides while the array runs",
                "work that channels start with",
                "Start the tasks with channel.start before the run.",
            )

    @property
    def cores(self) -> Mapping[Place, CoreProgram]:
        """None."""
        return {}

    @property
    def controllers(self) -> Mapping[Place, int]:
        """None: a design in Python asks for no tokens."""
        return {}

    def begin(self, scene: Scene) -> None:
        """Nothing stands before the cores."""

    def end(self, scene: Scene) -> None:
        """Nothing stands at the end."""
