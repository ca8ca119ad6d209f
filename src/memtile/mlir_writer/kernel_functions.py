"""Functions that do what the kernels of a design in Python do, for its text that is read again.

The text calls a function for what a kernel does between two locks. Each call lets the kernel of its core run
on to the lock that comes behind, on the arguments of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.design.array import Array
from memtile.design.buffers import Buffer
from memtile.mlir_writer.python_cores import FunctionNames, RecordedCore
from memtile.mlir_writer.python_kernels import TouchedPart, Work
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.rolled import Loop
from memtile.mlir_writer.scene import Place
from memtile.runs.core_kernels import attached
from memtile.sim.kernels.actions import EventInstruction, LinkAction, LockOperation
from memtile.sim.kernels.kernel_core import Core, Kernel, KernelBuffer

Data = npt.NDArray[Any]


def functions_of(array: Array, cores: dict[Place, RecordedCore], names: FunctionNames) -> dict[str, Any]:
    """The functions that the text of a design calls.

    Args:
        array: of the design; its kernels are used up.
        cores: as they were written.
        names: of the functions.
    """
    kernels = attached(array.engine)
    replays = {place: _Replay(array, place, kernels[place], core) for place, core in cores.items()}
    return {name: _function(array, replays, key.cycles) for key, name in names.names.items()}


def _function(array: Array, replays: dict[Place, _Replay], cycles: int) -> Callable[..., None]:
    tiles = array.engine.spec.tiles

    def function(*given: Data, core: Core) -> None:
        replays[int(tiles.column[core.tile]), int(tiles.row[core.tile])].call(given)

    function.cycles = cycles  # type: ignore[attr-defined]
    return function


class _ReplayingCore(Core):
    """A core whose memory is the arguments of a call."""

    given: Sequence[tuple[Buffer, Data]] = ()
    touched = False

    def view(self, piece: KernelBuffer, *, tile: Any = None) -> Data:
        """The elements of the argument in which the buffer is."""
        owner, first, nbytes = self._place(piece, tile)
        place = int(self._spec.tiles.column[owner]), int(self._spec.tiles.row[owner])
        self.touched = True
        buffer, data = next(pair for pair in self.given if _holds(pair[0], TouchedPart(place, first, nbytes)))
        raw = data.reshape(-1).view(np.uint8)[first - buffer.offset :][
            : prod(piece.shape) * piece.dtype.itemsize
        ]
        return raw.view(piece.dtype).reshape(piece.shape)

    def read(self, piece: KernelBuffer, *, tile: Any = None) -> Data:
        """A copy of :meth:`view`."""
        return self.view(piece, tile=tile).copy()

    def write(self, piece: KernelBuffer, values: npt.ArrayLike, *, tile: Any = None) -> None:
        """Fill :meth:`view`."""
        self.view(piece, tile=tile)[...] = values


def _holds(buffer: Buffer, part: TouchedPart) -> bool:
    last = part.first + part.nbytes
    return (
        buffer.place == part.place and buffer.offset <= part.first and last <= buffer.offset + buffer.nbytes
    )


class _Replay:
    """The kernel of a core, which goes on with each call."""

    def __init__(self, array: Array, place: Place, kernel: Kernel, core: RecordedCore) -> None:
        self._array, self._place = array, place
        self._core = _ReplayingCore(array.engine.state, array.compute_tile(*place).index, core.kernel)
        self._actions = iter(kernel(self._core))
        self._works = _works(core.recording.steps)

    def call(self, given: Sequence[Data]) -> None:
        """Do what comes before the next lock."""
        buffers: dict[int, Buffer] = {}
        for part in next(self._works).parts:
            found = next(b for b in self._array.tile(*part.place).buffers if _holds(b, part))
            buffers.setdefault(id(found), found)
        self._core.given, self._core.touched = list(zip(buffers.values(), given, strict=True)), False
        busy = False
        for action in self._actions:
            self._core.made.remove(action)
            if isinstance(action, LinkAction):
                says = f"core {self._place} uses its stream or cascade, which a function of a text does not"
                raise refused(
                    f"core {self._place}", says, "kernels of memory and locks", "Run the design itself."
                )
            if not isinstance(action, LockOperation | EventInstruction):
                busy = True
            elif busy or self._core.touched:
                return


def _works(steps: Sequence[Hashable]) -> Iterator[Work]:
    """The calls of a recorded kernel, in order."""
    for each in steps:
        if isinstance(each, Work):
            yield each
        elif isinstance(each, Loop):
            done = 0
            while done < each.times or not each.times:
                yield from _works(each.body)
                done += 1
