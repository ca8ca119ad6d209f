"""The two stages of AMD's flow: a compiler leaves a work folder, a simulator runs the graph from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memtile.adf import description as documents
from memtile.adf.graph_program import MACROS
from memtile.adf.output_files import OutputFiles
from memtile.adf.plan import Plan
from memtile.adf.program_options import ProgramOptions
from memtile.adf.program_run import ProgramResult, ProgramRun
from memtile.cli.amd_tools.work_folder import Compilation
from memtile.runs.options import USUAL, RunOptions

_X86 = {"__X86SIM__": 1, "__ADF_FRONTEND__": 1}


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the compile stage found.

    Attributes:
        plan: of the graph.
        description: as JSON.
    """

    plan: Plan
    description: str


def compile_graph(asked: Compilation) -> Compiled:
    """Compile a graph and its kernels, and plan it; ``main`` does not run.

    Raises:
        MemtileError: sources do not compile, or the graph does not fit its device.
    """
    found = ProgramRun(_files(asked), _options(asked, None, USUAL)).planned()
    return Compiled(found, documents.write(found.description))


def simulate(
    asked: Compilation, inputs: Path, outputs: Path, options: RunOptions, *, timed: bool
) -> ProgramResult:
    """Run a compiled graph with the ``main`` of its sources, and write its files.

    Args:
        asked: of the work folder.
        inputs: folder that names of input files are relative to.
        outputs: folder for output files.
        options: of the run.
        timed: write the time of each line.

    Raises:
        MemtileError: as of :func:`compile_graph`, or the run cannot go on.
    """
    files = OutputFiles(outputs, timed, asked.is_functional)
    ended = ProgramRun(_files(asked), _options(asked, inputs, options, files)).run()
    ended.write_outputs(outputs, timed=timed, functional=asked.is_functional)
    return ended


def _files(asked: Compilation) -> list[Path]:
    return [Path(each) for each in asked.files]


def _options(
    asked: Compilation, inputs: Path | None, options: RunOptions, written: OutputFiles | None = None
) -> ProgramOptions:
    return ProgramOptions(
        device=asked.device,
        include=tuple(Path(each) for each in (*asked.include, asked.folder)),
        defines=asked.macros(),
        inputs=inputs,
        written=written,
        macros=_X86 if asked.is_functional else MACROS,
        stack_bytes=asked.stack_bytes,
        heap_bytes=asked.heap_bytes,
        pl_mhz=asked.pl_mhz,
        run=options,
    )
