"""What the command line says of a graph in C++ (UG1603): its sources, macros, folders and costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memtile.cli import run_options as options
from memtile.cli.costs import call_costs
from memtile.cli.design_file import settings_of
from memtile.cli.kernel_sources import CPP_SUFFIXES, NO_KERNELS, KernelSources
from memtile.errors import InputFileError
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from memtile.adf.graph_file import GraphProgram
    from memtile.explore.sweep.sweep_attempt import Subject
    from memtile.sim.loop.engine import Engine

DEVICE = "xcve2802"
"""Of a graph, unless ``--device`` says another: that of the VEK280."""


_STDERR = 2


def is_graph(files: Sequence[str]) -> bool:
    """Whether files are C++ sources of a graph."""
    return bool(files) and all(Path(each).suffix in CPP_SUFFIXES for each in files)


def refuse_options(given: Mapping[str, Any]) -> None:
    """Refuse options that mean nothing to a graph.

    Args:
        given: by name of the option; empty values were not given.

    Raises:
        BadParameter: which they are.
    """
    if wrong := [name for name, value in given.items() if value]:
        verb = "is" if len(wrong) == 1 else "are"
        raise typer.BadParameter(f"{', '.join(wrong)} {verb} not for a graph in C++.")


def macros_of(define: Sequence[str], settings: Sequence[str]) -> dict[str, str | None]:
    """Macros by name, of ``-D`` and ``--set``; None = without a value.

    Raises:
        InputFileError: a setting of another form, or a macro that both give.
    """
    named = [each.partition("=") for each in define]
    found = {name: value if equals else None for name, equals, value in named}
    more = settings_of(settings)
    if twice := [name for name in more if name in found]:
        raise InputFileError(f"command line: -D and --set both give {', '.join(twice)}. Leave one out.")
    return {**found, **more}


def graph_program(
    files: Sequence[str],
    device: str | None = None,
    kernels: KernelSources = NO_KERNELS,
    costs: Sequence[str] = (),
    *,
    settings: Sequence[str] = (),
    in_folder: Path | None = None,
    out_folder: Path | None = None,
    of_run: RunOptions = USUAL,
    quiet: bool = False,
    watch: Callable[[Engine], AbstractContextManager[None]] | None = None,
) -> GraphProgram:
    """The graph of C++ sources.

    Args:
        files: one of which has ``main``.
        device: name of the device; None = :data:`DEVICE`.
        kernels: macros, folders of headers, and whether accesses are checked.
        costs: as for :func:`~memtile.cli.costs.call_costs`.
        settings: ``NAME=VALUE`` of ``--set``: macros too.
        in_folder: that paths of input files are relative to; None = the current folder.
        out_folder: for output files that ``main`` may read after ``end()``; None = there are none.
        of_run: options of its run.
        quiet: what ``main`` prints goes to standard error.
        watch: makes a context in which the array runs.

    Raises:
        InputFileError: a source or a folder is missing, or a cost has another form.
    """
    from memtile.adf.graph_file import GraphProgram
    from memtile.adf.output_files import OutputFiles
    from memtile.adf.program_options import ProgramOptions

    options = ProgramOptions(
        device=device or DEVICE,
        include=tuple(map(Path, kernels.include or ())),
        defines=macros_of(kernels.define or (), settings),
        inputs=in_folder,
        written=None if out_folder is None else OutputFiles(out_folder, timed=True),
        sanitize=kernels.sanitize,
        cycles=call_costs(costs),
        run=of_run,
        stdout=_STDERR if quiet else None,
        watch=watch,
    )
    return GraphProgram([Path(each) for each in files], options)


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """Options of a command that are for graphs in C++ alone; see :func:`of_graphs`."""

    include: Sequence[str] | None = None
    define: Sequence[str] | None = None
    device: str | None = None
    in_folder: Path | None = None
    costs: Sequence[str] | None = None

    @property
    def given(self) -> dict[str, object]:
        """What is given for graphs alone, by option."""
        return {
            "-I": self.include,
            "-D": self.define,
            "--in-folder": self.in_folder,
            "--cost": self.costs,
        }

    def program(
        self,
        files: Sequence[str],
        *,
        settings: Sequence[str] = (),
        beside: bool = False,
        of_run: RunOptions = USUAL,
    ) -> GraphProgram:
        """The graph of C++ sources: see :func:`graph_program`; its ``main`` prints to standard error.

        Args:
            files: one of which has ``main``.
            settings: macros.
            beside: unless a folder is given, input files may also lie beside the first source, or above.
            of_run: options of its run.
        """
        kernels = KernelSources(include=self.include, define=self.define)
        found = graph_program(
            files,
            self.device,
            kernels,
            self.costs or (),
            settings=settings,
            in_folder=self.in_folder,
            of_run=of_run,
            quiet=True,
        )
        place = Path(files[0]).parent
        return found.within([Path(), place, place / ".."]) if beside and not self.in_folder else found

    def refuse(self) -> None:
        """Refuse what is given, for other files than a graph's.

        Raises:
            BadParameter: which options they are.
        """
        given = [name for name, value in {**self.given, "--device": self.device}.items() if value]
        if given:
            raise typer.BadParameter(f"{', '.join(given)}: only for graphs in C++.")


NO_GRAPH = GraphOptions()
_OFFERED = {
    "include": options.Include,
    "define": options.Define,
    "device": options.DeviceName,
    "in_folder": options.InFolder,
    "costs": options.Costs,
}


def of_graphs(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command offer options for graphs in place of its parameter ``graph``."""
    return options.in_place_of("graph", _OFFERED, GraphOptions, command)


def swept(files: Sequence[str], graph: GraphOptions) -> Subject:
    """What a sweep is of: a graph, or the file of a design.

    Raises:
        BadParameter: several designs, or options for graphs with a design.
        InputFileError: as for :func:`graph_program`.
    """
    if is_graph(files):
        return graph.program(files)
    graph.refuse()
    if len(files) > 1:
        raise typer.BadParameter("a design in Python is swept alone. Give one file.")
    return files[0]
