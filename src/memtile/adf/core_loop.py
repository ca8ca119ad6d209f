"""What a core does in one run of a graph: its kernels in their order, their buffers, locks and parameters.

A call begins when all synchronous inputs are full and all outputs empty (UG1603, Synchronous Buffer Port
Access); the caller of the kernel yields what happens inside, and its cycles. Which buffer is next, and the
margins, stay from run to run. Two kernels of one core hand over in a buffer without locks: they follow each
other (UG1079, Buffer Allocation Control).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from memtile.adf.buffer_turns import Turn
from memtile.adf.kernel_calls import Caller, LockUse, PortMemory, PortValue, StreamPort, Value
from memtile.design.buffers import Buffer
from memtile.design.locks import Lock
from memtile.errors import DesignError
from memtile.sim.kernels.actions import Action, StreamGet, StreamPut
from memtile.sim.kernels.kernel_core import Core, Kernel

Bytes = npt.NDArray[np.uint8]
MakeCaller = Callable[[int, Core], Caller]
"""What makes the calls of a kernel: its id, and the core."""


@dataclass(slots=True)
class BufferPort:
    """Buffers of a kernel's port.

    Attributes:
        name: of the port.
        buffers: ping, or ping and pong; each with the margin before its elements.
        turns: lock operations for each buffer; empty = a buffer that only kernels of this core use.
        margin: bytes before the elements.
        writes: it is an output.
        is_async: the kernel acquires and releases it.
        place: its buffers and those of the port that it is joined to in the same core; empty = none.
        number: of the turn that comes next.
        tail: what the margin of the next block is.
    """

    name: str
    buffers: tuple[Buffer, ...]
    turns: tuple[Turn, ...]
    margin: int = 0
    writes: bool = False
    is_async: bool = False
    place: str = ""
    number: int = 0
    tail: Bytes | None = None

    @property
    def slot(self) -> int:
        """Number of the buffer that is next."""
        return self.number % len(self.buffers)


@dataclass(slots=True)
class ParameterPort:
    """A number or an array of a kernel's argument list, in data memory.

    Attributes:
        name: of the port.
        buffers: one, or ping and pong.
        is_array: the kernel gets memory, not a value.
        is_async: sticky: each call sees the last complete value.
        writes: the kernel gives it back.
        turns: lock operations of a synchronous one for each buffer.
        nbytes: of the value.
        number: of the buffer that a synchronous one uses next.
        latest: the buffer with the last complete value of an asynchronous one.
        written: whether there is a value.
        in_use: the buffer that a call uses; -1 = none.
    """

    name: str
    buffers: tuple[Buffer, ...]
    is_array: bool
    is_async: bool
    writes: bool
    turns: tuple[Turn, ...] = ()
    nbytes: int = 0
    number: int = 0
    latest: int = 0
    written: bool = False
    in_use: int = -1

    @property
    def slot(self) -> int:
        """Number of the buffer that the next call uses."""
        if self.is_async and not self.writes:
            return self.latest
        return self.number % len(self.buffers)


@dataclass(frozen=True, slots=True)
class StreamLink:
    """A stream or a cascade of a kernel: it has no memory."""

    name: str
    packet_ids: tuple[int, ...] = ()


KernelPort = BufferPort | ParameterPort | StreamLink


@dataclass(slots=True)
class KernelTurns:
    """A kernel of a core.

    Attributes:
        kernel: its id.
        name: the user's.
        repetition: calls in one iteration.
        ports: in the order of the function's parameters.
    """

    kernel: int
    name: str
    repetition: int
    ports: tuple[KernelPort, ...]


@dataclass(slots=True)
class CoreState:
    """A core of a graph, and what stays from run to run.

    Attributes:
        kernels: in their order.
        make: makes the calls.
        calls: of each kernel so far, by id.
        iterations: ended so far.
        moved: numbers of words that calls of each kernel, by id, got from streams and put on them.
    """

    kernels: tuple[KernelTurns, ...]
    make: MakeCaller
    calls: Counter[int] = field(default_factory=Counter)
    iterations: int = 0
    moved: dict[int, set[tuple[int, int]]] = field(default_factory=dict)
    _callers: dict[int, Caller] = field(default_factory=dict)
    _core: _SameCore | None = None

    @property
    def name(self) -> str:
        """Names of its kernels."""
        return ", ".join(each.name for each in self.kernels)

    @property
    def releases(self) -> Iterator[Lock]:
        """The locks that its kernels release."""
        for kernel in self.kernels:
            for port in kernel.ports:
                for turn in () if isinstance(port, StreamLink) else port.turns:
                    yield from turn.releases

    def program(self, iterations: int | None) -> Kernel:
        """What the core runs for so many iterations of the graph; None = without end."""

        def kernel(core: Core) -> Iterator[Action]:
            self._bind(core)
            order = call_order(self.kernels)
            if iterations is None:
                while True:
                    yield from self._iteration(core, order)
            for _ in range(iterations):
                yield from self._iteration(core, order)

        kernel.__name__ = self.name
        return kernel

    def _bind(self, core: Core) -> None:
        """Let the callers, which live as long as the core, use what this run sees of it."""
        if self._core is None:
            self._core = _SameCore(core)
            same = cast("Core", self._core)
            self._callers = {each.kernel: self.make(each.kernel, same) for each in self.kernels}
        else:
            core.modes = self._core.core.modes
            self._core.core = core

    def _iteration(self, core: Core, order: Sequence[KernelTurns]) -> Iterator[Action]:
        for kernel in order:
            yield from self._call(core, kernel)
        self.iterations += 1

    def _call(self, core: Core, kernel: KernelTurns) -> Iterator[Action]:
        """One call: inputs full and outputs empty, the kernel, and the turn of the others."""
        for port in kernel.ports:
            yield from _acquired(core, port)
        values = [_value(core, port) for port in kernel.ports]
        same = cast("_SameCore", self._core)
        got, put = same.got, same.put
        yield from self._callers[kernel.kernel](values)
        self.calls[kernel.kernel] += 1
        self.moved.setdefault(kernel.kernel, set()).add((same.got - got, same.put - put))
        for port in kernel.ports:
            yield from _released(core, port)


class _SameCore:
    """The core as its callers see it from run to run: each run has an object of its own for it.

    Attributes:
        got: words of streams that its callers asked for.
        put: words that they put on streams.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self.got = self.put = 0

    def get_stream(self, count: int = 1, dtype: npt.DTypeLike = np.int32) -> StreamGet:
        """Get words of the stream, which are counted."""
        self.got += count
        return self.core.get_stream(count, dtype)

    def put_stream(self, values: npt.ArrayLike, *, last: bool = False) -> StreamPut:
        """Put words on the stream, which are counted."""
        self.put += np.size(values)
        return self.core.put_stream(values, last=last)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)


def call_order(kernels: Sequence[KernelTurns]) -> list[KernelTurns]:
    """The calls of one iteration: as often as possible in order, as far as buffers within the core allow.

    Raises:
        DesignError: kernels of the core wait for each other in a circle.
    """
    left = {each.kernel: each.repetition for each in kernels}
    full: Counter[str] = Counter()
    order: list[KernelTurns] = []
    while any(left.values()):
        before = len(order)
        for each in kernels:
            while left[each.kernel] and _is_ready(each, full):
                _use(each, full)
                left[each.kernel] -= 1
                order.append(each)
        if len(order) == before:
            names = ", ".join(each.name for each in kernels if left[each.kernel])
            raise DesignError.of(
                "kernels",
                names,
                "an order in which each has its inputs",
                f"kernels {names} of one core wait for each other's buffers",
                "Place them in different cores, or balance their repetition counts.",
                reason="adf_order",
                where=", ".join(each.name for each in kernels),
                source="UG1603: kernels of one core run one after the other",
            )
    return order


def _inside(kernel: KernelTurns) -> Iterator[BufferPort]:
    return (port for port in kernel.ports if isinstance(port, BufferPort) and port.place and not port.turns)


def _is_ready(kernel: KernelTurns, full: Counter[str]) -> bool:
    return all(
        full[port.place] < len(port.buffers) if port.writes else full[port.place] > 0
        for port in _inside(kernel)
    )


def _use(kernel: KernelTurns, full: Counter[str]) -> None:
    for port in _inside(kernel):
        full[port.place] += 1 if port.writes else -1


def _acquired(core: Core, port: KernelPort) -> Iterator[Action]:
    if isinstance(port, BufferPort) and port.is_async:
        return
    if isinstance(port, BufferPort | ParameterPort) and port.turns:
        turn = port.turns[port.slot]
        if turn.acquire is not None:
            yield core.acquire(turn.acquire, -turn.count)
    if isinstance(port, BufferPort) and port.margin:
        _carry_margin(core, port)


def _carry_margin(core: Core, port: BufferPort) -> None:
    """Put the end of the block before in front of this one (UG1603, buffer port margin; DEV-ADF-31)."""
    memory = _bytes(core, port.buffers[port.slot])
    if port.tail is not None:
        memory[: port.margin] = port.tail


def _released(core: Core, port: KernelPort) -> Iterator[Action]:
    if isinstance(port, StreamLink) or (isinstance(port, BufferPort) and port.is_async):
        return
    turn = port.turns[port.slot] if port.turns else None
    if isinstance(port, ParameterPort):
        turn = port.turns[port.in_use] if port.turns else None
        port.latest = port.in_use if port.writes else port.latest
        port.written, port.in_use = port.written or port.writes, -1
    elif port.margin:
        port.tail = _bytes(core, port.buffers[port.slot])[-port.margin :].copy()
    port.number += 1
    for lock in turn.releases if turn is not None else ():
        yield core.release(lock)


def _bytes(core: Core, buffer: Buffer) -> Bytes:
    found: Bytes = core.view(buffer).reshape(-1).view(np.uint8)
    return found


def _value(core: Core, port: KernelPort) -> PortValue:
    """What the call gets for a port."""
    if isinstance(port, StreamLink):
        return StreamPort(port.packet_ids)
    if isinstance(port, ParameterPort):
        memory = _parameter(core, port)
        if port.is_array or port.writes:
            return PortMemory((memory,))
        return Value(int.from_bytes(memory.tobytes()[: port.nbytes], "little"))
    if not port.is_async:
        return PortMemory((core.view(port.buffers[port.slot]),))
    return PortMemory(tuple(map(core.view, port.buffers)), tuple(_uses(turn) for turn in port.turns))


def _parameter(core: Core, port: ParameterPort) -> npt.NDArray[Any]:
    """The memory of a parameter for this call; one that the kernel gives begins with the value before."""
    port.in_use = port.slot
    memory = core.view(port.buffers[port.in_use])
    if port.writes and port.written and port.latest != port.in_use:
        memory[...] = core.view(port.buffers[port.latest])
    return memory


def _uses(turn: Turn) -> tuple[LockUse, ...]:
    """The locks of an asynchronous buffer: the one that is acquired, then those that are released."""
    assert turn.acquire is not None  # it has writers and readers
    return LockUse(turn.acquire, -turn.count), *(LockUse(lock, 1) for lock in turn.releases)
