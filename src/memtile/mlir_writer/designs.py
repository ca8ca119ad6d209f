"""Any design as the text of mlir-aie: one in Python, one read from MLIR, a graph of UG1603."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.importers.hosted_array import HostedArray
from memtile.importers.loaded import Loaded
from memtile.mlir_writer.host_steps import host_steps
from memtile.mlir_writer.kernel_functions import functions_of
from memtile.mlir_writer.machine import ChannelWork, check_not_run
from memtile.mlir_writer.python_cores import FunctionNames, RecordedCore
from memtile.mlir_writer.python_kernels import record
from memtile.mlir_writer.read_designs import module_of_text
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import Place, Scene
from memtile.mlir_writer.sequences import write_sequence
from memtile.mlir_writer.writer import module_of
from memtile.runs.core_kernels import attached
from memtile.sim.kernels.kernel_core import Kernel

if TYPE_CHECKING:
    from memtile.adf.graph_file import GraphProgram


def to_mlir(design: Array | MemoryTile | Loaded | GraphProgram, *, without_bench: bool = False) -> str:
    """Return a design as MLIR that mlir-aie takes.

    Tiles have their places, buffers their addresses, locks their numbers, streams their switch settings and
    descriptors their numbers. A text or a program of IRON that is made of object FIFOs stays at that level.
    Kernels in Python become loops of locks and calls, external memory the arguments of a runtime sequence.

    Args:
        design: an array that has not run, what :func:`memtile.load` or :func:`memtile.load_iron` returns, or
            a graph of :func:`memtile.adf.load`.
        without_bench: leave out the feeds and collections of the test bench.

    Raises:
        DesignError: a part that no operation of mlir-aie can express, with its name and place.
        InputFileError: a graph that does not compile.
    """
    if isinstance(design, HostedArray):
        return str(module_of_text(design.loaded))
    if isinstance(design, Array):
        check_not_run(design)
        front = _Python(design)
        return str(module_of(design, front, is_queued=front.is_queued, without_bench=without_bench))
    if isinstance(design, Loaded):
        return str(module_of_text(design))
    if isinstance(design, MemoryTile):
        says = "the design is a memory tile alone, which no device of mlir-aie is"
        raise refused("a memory tile", says, "an array", "Put the tile into an Array.")
    from memtile.mlir_writer.graphs import module_of_graph

    return str(module_of_graph(design.lowered(), design.updates()))


def kernel_functions(design: Array) -> dict[str, Callable[..., None]]:
    """Return functions for the text that :func:`to_mlir` makes of a design with kernels in Python, by name.

    ``memtile.load(text, functions=...)`` takes them. Each function performs on its arguments the work of its
    core's kernel between two locks.

    Args:
        design: built for each run, as its kernels keep state between calls.

    Raises:
        DesignError: as :func:`to_mlir`.
    """
    front = _Python(design)
    module_of(design, front, is_queued=front.is_queued, without_bench=True)
    return functions_of(design, front.cores, front.functions)


class _Python:
    """What a design in Python adds to its array: its kernels, recorded, and what its host does.

    Raises:
        DesignError: kernels or hosts that decide by data or time.
    """

    def __init__(self, array: Array) -> None:
        self.functions = FunctionNames()
        self.cores: dict[Place, RecordedCore] = {
            place: RecordedCore(_name(kernel), record(array, place, kernel), self.functions)
            for place, kernel in attached(array.engine).items()
        }
        self._array = array

    @property
    def controllers(self) -> Mapping[Place, int]:
        """None: a design in Python gives tokens no ids."""
        return {}

    @staticmethod
    def is_queued(work: ChannelWork) -> bool:
        """Whether the host sequence starts it: what moves external memory, several tasks, and tokens."""
        is_plain = len(work.tasks) == 1 and not work.tasks[0].token
        return work.tile.kind.role == "interface" or not is_plain

    def begin(self, scene: Scene) -> None:
        """Nothing stands before the cores."""

    def end(self, scene: Scene) -> None:
        """Write what the host does."""
        if steps := host_steps(self._array, scene.queued):
            write_sequence(scene, steps)


def _name(kernel: Kernel) -> str:
    """The name of a kernel, as a symbol."""
    return getattr(kernel, "__name__", type(kernel).__name__)
