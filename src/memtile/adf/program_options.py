"""How a graph program is compiled and run, and what its options make of its description."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.adf.description import Description
from memtile.adf.graph_program import MACROS
from memtile.adf.kernel_calls import RangeEnd
from memtile.adf.output_files import OutputFiles
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:  # the array is imported when a graph runs
    from memtile.sim.loop.engine import Engine


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """How a graph program is compiled and run.

    Attributes:
        device: name of the device.
        include: folders of headers.
        defines: macros; None = without a value.
        flags: more words for the compiler.
        instance: a graph that the sources do not make, see :func:`~memtile.adf.graph_program.graph_program`.
        words: arguments of ``main``.
        folder: that paths of files are relative to, and ``main`` runs in.
        inputs: that paths of input files are relative to; None = ``folder``.
        written: files of output PLIOs that are there after each ``end()``, for a ``main`` that reads them;
            None = no files but those of :meth:`ProgramResult.write_outputs`.
        macros: by which sources tell the simulators apart.
        stack_bytes: of kernels that say nothing; 0 = as usual.
        heap_bytes: the same of heaps.
        pl_mhz: of PLIOs that say nothing; 0 = as usual.
        sanitize: check every access of kernels to memory.
        cycles: of a call, by the kernel's name in the graph or its function.
        end: of the ranges of other costs which calls take; empty = the likely cycles.
        run: of the array.
        stdout: descriptor for the standard output of ``main``; None = that of memtile.
        stderr: the same of its standard error.
        seconds: of time for which ``main`` may run; None = as long as it likes.
        watch: makes a context in which the array runs; None = there is none.
        change: makes another description of what the program describes; None = it is taken as it is.
        updates: what calls of ``update`` give instead of what ``main`` says, by their number from 0.
    """

    device: str = "xcve2802"
    include: tuple[Path, ...] = ()
    defines: Mapping[str, str | int | None] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    instance: str = ""
    words: tuple[str, ...] = ()
    folder: Path = Path()
    inputs: Path | None = None
    written: OutputFiles | None = None
    macros: Mapping[str, str | int | None] = field(default_factory=lambda: MACROS)
    stack_bytes: int = 0
    heap_bytes: int = 0
    pl_mhz: float = 0.0
    sanitize: bool = False
    cycles: Mapping[str, int] = field(default_factory=dict)
    end: RangeEnd = ""
    run: RunOptions = USUAL
    stdout: int | None = None
    stderr: int | None = None
    seconds: float | None = None
    watch: Callable[[Engine], AbstractContextManager[None]] | None = None
    change: Callable[[Description], Description] | None = None
    updates: Mapping[int, bytes] = field(default_factory=dict)

    def silent(self, seconds: float | None = None) -> ProgramOptions:
        """Those of one more run of ``main``, for so many seconds, whose output is dropped."""
        null = subprocess.DEVNULL
        return replace(self, stdout=null, stderr=null, seconds=seconds, watch=None, written=None)

    def completed(self, found: Description) -> Description:
        """A description with what the options say of kernels and PLIOs that say nothing themselves."""
        found = found if self.change is None else self.change(found)
        kernels = tuple(
            replace(
                each,
                stack_size=each.stack_size or self.stack_bytes or None,
                heap_size=each.heap_size or self.heap_bytes or None,
            )
            for each in found.kernels
        )
        plios = tuple(replace(each, mhz=each.mhz or self.pl_mhz) for each in found.plios)
        return replace(found, kernels=kernels, plios=plios)
