"""Graphs of kernels without connections, and cores that call their kernels."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memtile.adf.description import Description, Kernel, Port, Table
from memtile.adf.kernel_calls import KernelCode, PortMemory, PortValue
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core, MemoryPiece

SOURCE = Path(__file__).with_name("graph_kernels.cc")
_KINDS: dict[str, Any] = {"async": "async_buffer", "array": "parameter_array", "packet": "packet_stream"}


@dataclass
class Declared:
    """A kernel, as a test says it: kinds of its ports, ``>`` before those that it writes."""

    function: str
    ports: str
    parameters: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)


def described(
    kernels: dict[str, Declared], *, source: Path = SOURCE, tables: tuple[Table, ...] = ()
) -> Description:
    """A description of kernels; their ids are their places, ports have names like ``k.a``."""
    ports, made = list[Port](), list[Kernel]()
    for number, (name, kernel) in enumerate(kernels.items()):
        first = len(ports)
        for at, word in enumerate(kernel.ports.split()):
            kind = _KINDS.get(word.lstrip(">"), word.lstrip(">"))
            name_of_port = f"{name}.{'abcde'[at]}"
            direction: Any = "out" if word.startswith(">") else "in"
            ports.append(Port(first + at, name_of_port, number, direction, at, kind, argument=at))
        own = tuple(range(first, len(ports)))
        parameters = kernel.parameters or ("",) * len(own)
        made.append(Kernel(number, name, 0, kernel.function, source.name, parameters, own, **kernel.more))
    return Description(kernels=tuple(made), ports=tuple(ports), tables=tables)


class Memory:
    """Arrays in the data memory of a core, one after another from 0x1000 on.

    Args:
        core: whose memory it is.
    """

    def __init__(self, core: Core) -> None:
        self._core, self._at = core, 0x1000

    def __call__(self, values: Any, dtype: Any = np.int32) -> Any:
        """An array with these values; a number is that of zeros."""
        given = np.zeros(values, dtype) if isinstance(values, int) else np.array(values, dtype)
        view = self._core.view(MemoryPiece("m", self._at, given.shape, given.dtype))
        view[...] = given
        self._at += -(-given.nbytes // 64) * 64
        return view


def port(*buffers: Any, **more: Any) -> PortMemory:
    """Memory of a port."""
    return PortMemory(tuple(buffers), **more)


def run_calls(
    code: KernelCode, number: int, core: Core, calls: Sequence[Sequence[PortValue]]
) -> Iterator[Action]:
    """Call a kernel several times."""
    caller = code.caller(number, core)
    for values in calls:
        yield from caller(values)


def kernel_of(body: Any, ended: Callable[[], object]) -> Any:
    """What a core runs, of a function of the core and its memory; calls ``ended`` at its end."""

    def kernel(core: Core) -> Generator[Action, Any, None]:
        yield core.cycles(1)
        yield from body(core, Memory(core))
        ended()

    return kernel
