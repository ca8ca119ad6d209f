"""Calls of a graph's kernels by the cores of the model: C++ of the user, with the memory of its ports.

Kernels of one core that come from one source share its globals and ``static`` variables, as they do on the
chip; each core has its own copy, and so has each run. Kernels of different sources share nothing: each source
is a library of its own (DEV-ADF-20).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.adf.description import Description
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core, Semaphore

Values = npt.NDArray[Any]


class LockUse(NamedTuple):
    """What an asynchronous buffer does with a lock, in the terms of ``Core.acquire`` and ``Core.release``.

    Attributes:
        lock: itself, or its number in ``tile``.
        value: of the acquire (below 0: at least that much) or the change of the release.
        tile: column and row; None = the core's own.
    """

    lock: int | Semaphore
    value: int
    tile: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PortMemory:
    """Memory of a port, or of a parameter, in the data memory that the core reaches.

    Attributes:
        buffers: contiguous arrays of the core's memory, of any type and shape. Each is all that the kernel
            sees: of a port with a margin, margin and block. A synchronous port, a window and a parameter have
            one, that of this call; an asynchronous port has all of its buffers, in the order of their turns.
        locks: of an asynchronous port: what ``acquire()`` and ``release()`` of the kernel do, a pair for each
            buffer; None = a synchronous port, whose locks belong to the caller.
    """

    buffers: tuple[Values, ...]
    locks: tuple[tuple[LockUse, LockUse], ...] | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A parameter by value, or by reference to ``const``.

    Attributes:
        bits: its bytes as they lie in memory, little-endian, as one number: ``-1`` of an int16 is 0xFFFF.
    """

    bits: int

    @staticmethod
    def of(number: npt.ArrayLike | np.generic) -> Value:
        """The value of a NumPy scalar, in its own type: ``Value.of(np.int16(-1))``."""
        return Value(int.from_bytes(np.asarray(number).tobytes(), "little"))


@dataclass(frozen=True, slots=True)
class StreamPort:
    """A stream, packet stream or cascade: it has no memory.

    Attributes:
        packet_ids: what ``getPacketid(stream, index)`` gives, by index.
    """

    packet_ids: tuple[int, ...] = ()


PortValue = PortMemory | Value | StreamPort
"""What a port is called with; one for each parameter of the kernel's function, in their order."""
Caller = Callable[[Sequence[PortValue]], Generator[Action, Any, None]]
"""A call of a kernel: what it waits for are actions, and the last one is the cycles that it takes.

Which buffer of an asynchronous port is next, and the state of kernel objects and of globals, stay from call
to call.
"""


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """How the sources of kernels are compiled, and what is known of them.

    Attributes:
        root: folder that ``source(k)`` of the graph is relative to, the folder in which ``graph.cpp`` lies.
        include: folders of headers, where sources are looked for as well.
        defines: macros; None = without a value.
        flags: more words for the compiler.
        generation: of the cores, ``AIE-ML`` or ``AIE2P``; AIE-ML v2 is AIE2P's instruction set.
        sanitize: check every access of memory.
        cycles: of a call, by the kernel's name in the graph (``gr.k_mean``) or function.
        stack: bytes of stack, by id of the kernel, for checked kernels.
    """

    root: Path = Path()
    include: tuple[Path, ...] = ()
    defines: Mapping[str, str | int | None] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    generation: str = "AIE-ML"
    sanitize: bool = False
    cycles: Mapping[str, int] = field(default_factory=dict)
    stack: Mapping[int, int] = field(default_factory=dict)


class KernelCode:
    """The compiled kernels of a description.

    Args:
        description: of the graph.
        options: how they are compiled.

    Raises:
        InputFileError: a source is not found, or does not compile; with the user's file and line.
    """

    def __init__(self, description: Description, options: KernelOptions) -> None:
        self.description, self.options = description, options

    def caller(self, kernel_id: int, core: Core) -> Caller:
        """What the core calls for a kernel; made once for each run, before the first call.

        Args:
            kernel_id: ``Kernel.id`` of the description.
            core: that the kernel runs on.

        Raises:
            KeyError: no kernel has this id.
        """
        raise NotImplementedError
