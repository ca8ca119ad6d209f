"""A graph program as a thing of Python: what it describes, where it goes, what AMD would say, its runs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from memtile.adf.description import Description
from memtile.adf.kernel_sources import kernel_sources
from memtile.adf.macros import check_macros
from memtile.adf.plan import Plan
from memtile.adf.program_options import ProgramOptions
from memtile.adf.program_run import ProgramResult, ProgramRun
from memtile.adf.verdict.judge import amd_verdicts
from memtile.adf.verdict.verdicts import Verdict
from memtile.errors import InputFileError
from memtile.runs.options import RunKeywords, RunOptions

_CHECKED_SECONDS = 10.0  # for which ``main`` may run in a check: it may poll its memory for data of the array

if TYPE_CHECKING:  # the array is imported when a graph is brought into one
    from memtile.adf.host_record import Updated
    from memtile.adf.kernel_calls import RangeEnd
    from memtile.adf.lowering import Lowered
    from memtile.design.array import Array
    from memtile.explain.findings import Finding


def load(
    *files: Path | str,
    include: Sequence[Path | str] = (),
    defines: Mapping[str, str | int | None] | None = None,
    device: str = "xcve2802",
    cycles: Mapping[str, int] | None = None,
    sanitize: bool = False,
    folder: Path | str = ".",
    instance: str = "",
) -> GraphProgram:
    """Return a graph program in C++; its first use compiles it.

    Args:
        files: sources, one with ``main``.
        include: folders of headers, beside those of the sources.
        defines: macros; None = without a value.
        device: name of the device.
        cycles: of a call, by a kernel's name in the graph or by its function.
        sanitize: check every access of kernels to memory; slow.
        folder: that the paths of PLIO files are relative to, and ``main`` runs in.
        instance: a graph that no source makes, of headers: ``my_graph<16> gr`` or only its class.

    Raises:
        InputFileError: no source is given, or one is missing.
    """
    options = ProgramOptions(
        device=device,
        include=tuple(map(Path, include)),
        defines=defines or {},
        folder=Path(folder),
        sanitize=sanitize,
        cycles=cycles or {},
        instance=instance,
    )
    return GraphProgram([Path(each) for each in files], options)


class GraphProgram:
    """A graph program in C++; :func:`load` makes it.

    Args:
        files: its sources.
        options: how it is compiled and run.

    Attributes:
        files: its sources.
        options: how it is compiled and run.

    Raises:
        InputFileError: no source is given, a file or folder is missing, or a macro's name is none.
    """

    def __init__(self, files: Sequence[Path], options: ProgramOptions) -> None:
        if not files:
            raise InputFileError("graph: no source is given. Name the one that has main of the graph.")
        for each in files:
            if not each.is_file():
                raise InputFileError(
                    f"{each}: there is no such file. Name the source that has main of the graph."
                )
        for each in (*options.include, *filter(None, [options.folder, options.inputs])):
            if not each.is_dir():
                raise InputFileError(f"{each}: there is no such folder.")
        check_macros(options.defines)
        self.files, self.options = tuple(files), options

    def __repr__(self) -> str:
        macros = (
            name if value is None else f"{name}={value}" for name, value in self.options.defines.items()
        )
        parts = [", ".join(each.name for each in self.files), self.options.device, *macros]
        return f"GraphProgram({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return self.array()._repr_html_()

    @property
    def description(self) -> Description:
        """The graphs as their constructors describe them.

        Raises:
            InputFileError: the program does not compile, stops with an error, or has no graph.
            DesignError: no such device.
        """
        return self._run.described()

    @cached_property
    def plan(self) -> Plan:
        """Where the graphs go: tiles, buffers, channels; kernels are compiled too.

        Raises:
            InputFileError: as of ``description``, or a kernel does not compile.
            DesignError: the graph does not fit the device.
        """
        return self._run.planned()

    def verdicts(self) -> list[Verdict]:
        """Errors that AMD's compiler would report by its public rules; memtile runs the graph anyway.

        Raises:
            InputFileError: as of ``description``.
            DesignError: no such device, or connections that contradict themselves.
        """
        return amd_verdicts(self.description, self.options.device)

    def check(self) -> Plan:
        """Place the graphs in an array without running them; raise an error if they do not fit.

        Returns:
            The plan.

        Raises:
            InputFileError: as of ``plan``.
            DesignError: the graph does not fit the device: its tiles, descriptors, locks or routes.
        """
        self.lowered()
        return self.plan

    def lowered(self) -> Lowered:
        """Return an array with the graphs placed and routed, not running.

        Raises:
            InputFileError: as of ``plan``.
            DesignError: as of :meth:`check`.
        """
        return self._run.lowered(self.plan)

    def updates(self) -> list[Updated]:
        """What ``main`` gives parameters, by a run of it without a model, in which all is done at once.

        Raises:
            InputFileError: as of ``run``.
            DesignError: ``main`` never ends.
        """
        return self._silent().updates()

    def host_findings(self, lowered: Lowered) -> list[Finding]:
        """What ``main`` gives too little of for the calls in which it waits, by a run of it without a model.

        Args:
            lowered: the graph, of :meth:`lowered`, to which nothing has been fed yet.

        Raises:
            InputFileError: ``main`` crashes or does not end, or a file of a PLIO is wrong.
            DesignError: a call of ``main`` is out of order.
        """
        return self._silent(_CHECKED_SECONDS).host_findings(lowered)

    def _silent(self, seconds: float | None = None) -> ProgramRun:
        """A run without output of ``main`` and without files."""
        return ProgramRun(self.files, self.options.silent(seconds))

    def array(self) -> Array:
        """Return a new array with the graphs placed and routed, not yet run.

        Raises:
            InputFileError: as of ``plan``.
            DesignError: as for :meth:`check`.
        """
        return self.lowered().array

    def within(self, folders: Sequence[Path]) -> GraphProgram:
        """This graph, to be run in the first of some folders that has all its input files, else in the first.

        Raises:
            InputFileError: as of ``description``.
            DesignError: likewise.
        """
        files = [each.file for each in self.description.plios if each.direction == "in" and each.file]
        has_all = (each for each in folders if all((each / name).is_file() for name in files))
        chosen = next(has_all, folders[0])
        return GraphProgram(self.files, replace(self.options, folder=chosen, inputs=None))

    def run(self, options: RunOptions | int | None = None, **more: Unpack[RunKeywords]) -> ProgramResult:
        """Run ``main`` with the model in place of the array; each call starts from the beginning.

        Args:
            options: of the run, or the limit of cycles of each call that waits.
            more: fields of :class:`memtile.RunOptions`.

        Raises:
            InputFileError: the program crashes or refuses, a source or a file of a PLIO is wrong.
            DesignError: the graph does not fit the device, or a call of the host is out of order.
        """
        chosen = RunOptions.of(options, more).refuse(
            "a graph in C++", "untimed", "data", "recall", "pad_arguments", "dispatch"
        )
        return ProgramRun(self.files, replace(self.options, run=chosen)).run()

    def run_again(self, options: RunOptions, end: RangeEnd = "") -> ProgramResult:
        """Run the graph again for its cycles, without output of ``main`` and without progress reports.

        Args:
            options: of the run.
            end: of the ranges of costs; empty = the likely cycles.

        Raises:
            InputFileError: as of ``run``.
            DesignError: as of ``run``.
        """
        silent = replace(self.options, run=options, end=end, stdout=subprocess.DEVNULL, watch=None)
        return ProgramRun(self.files, silent).run()

    def files_read(self, plan: Plan) -> list[Path]:
        """The files that a run reads: sources of the graph and of its kernels, and those of input PLIOs."""
        inputs = self.options.inputs or self.options.folder
        kernels = kernel_sources(plan.description, self.files[0].resolve().parent, self.options.include)
        plios = [each.file for each in plan.description.plios if each.direction == "in" and each.file]
        found = [*self.files, *(each.file for each in kernels), *(inputs / each for each in plios)]
        return list(dict.fromkeys(found))

    @cached_property
    def _run(self) -> ProgramRun:
        return ProgramRun(self.files, self.options)
