"""What is run, and what a run leaves, whatever front end it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from memtile.arch.dispatch import Launch
from memtile.explain.results import Result
from memtile.plain_text import printable
from memtile.runs.array_names import Given, Wanted
from memtile.runs.arrays import ExternalArray
from memtile.runs.core_kernels import Kernels
from memtile.runs.live_run import LiveHost
from memtile.runs.machine import HostProgram
from memtile.runs.operation_table import OperationTable


@dataclass(frozen=True, slots=True)
class Program:
    """What runs on a machine beside what its design has set up already.

    Attributes:
        operations: register writes, polls and waits of a host; None = there are none, the design runs.
        given: arrays for external memory, tile memories and streams.
        wanted: arrays to take at the end.
        kernels: by column and row of a tile what its core does, from when the program enables it.
        running: kernels that run already; they begin again when a reset of their core is over.
        programs: kernels that operations load, by number, see ``firmware.PROGRAM``.
        before: a host sequence that is done before the operations.
        after: a host sequence that is done after them.
        launch: how many of the first operations load the array long before the host begins (DEV-HOST-3).
        launched: the array is loaded already; cores come to where they wait before the host begins.
        said: how the files say that it is launched; None = they do not.
        live: a host that acts from outside meanwhile; then there are no operations, sequences and arrays.
    """

    operations: OperationTable | None = None
    given: Sequence[Given] = ()
    wanted: Sequence[Wanted] = ()
    kernels: Kernels = field(default_factory=dict)
    running: Kernels = field(default_factory=dict)
    programs: Sequence[Kernels] = ()
    before: HostProgram | None = None
    after: HostProgram | None = None
    launch: int = 0
    launched: bool = False
    said: Launch | None = None
    live: LiveHost | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """What a program left.

    Attributes:
        result: of the run, with the cycles of all channels.
        arrays: what was wanted, by name.
        buffers: external memory as it is at the end.
        stopped: why the program did not come to its end; empty when it did.
        notes: one line for each array that the program does not use, or that was filled up with zeros.
        launch: how it was launched and why so; None = without firmware.
    """

    result: Result
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    buffers: Sequence[ExternalArray] = ()
    stopped: str = ""
    notes: Sequence[str] = ()
    launch: Launch | None = None

    def __repr__(self) -> str:
        arrays = (f"{name}: {array.dtype} {array.shape}" for name, array in self.arrays.items())
        stopped = f", stopped: {self.stopped}" if self.stopped else ""
        return printable(f"Run({self.result!r}, arrays {{{', '.join(arrays)}}}{stopped})")


ProgramResult = Run
"""The name that :class:`Run` had before; it goes with the next release."""
