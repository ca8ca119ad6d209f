"""Calls of a graph's kernels by the cores of the model: C++ of the user, with the memory of its ports.

Kernels of one core that come from one source share its globals and ``static`` variables, as they do on the
chip; each core has its own copy, and so has each run. Kernels of different sources share nothing: each source
is a library of its own (DEV-ADF-40).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.adf.description import Description, Kernel, Port
from memtile.adf.kernel_sources import ARGUMENTS, KernelSource, kernel_sources, letter_of, parameter_ports
from memtile.adf.library_costs import library_cycles
from memtile.arch.core import DEFAULT_STACK_BYTES
from memtile.arch.tiles import Generation
from memtile.corelib.call_costs import GIVEN, RANGE, CallCost
from memtile.cpp.build import Sources, generated
from memtile.cpp.image import Ask, Image, RequestData
from memtile.cpp.kernel_calls import KernelCalls, Service, Signature
from memtile.cpp.kernels import CompiledKernels, CppKernels, Studies
from memtile.errors import DesignError, InputFileError
from memtile.sim.kernels.actions import Action

if TYPE_CHECKING:
    from memtile.sim.kernels.kernel_core import Core, Semaphore

Values = npt.NDArray[Any]
_SOURCE = "UG1603: Input and Output Buffers"
_VALUE_BYTES = 8
RangeEnd = Literal["", "least", "most"]
"""Which cycles of a range calls take."""
_NUMBER = ("u64", False)
_PLAIN_NUMBERS = {"b": 1, "a": 1, "w": 2}
"""Letter of a port -> numbers after the pointers to its buffers."""


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
        locks: of an asynchronous port, for each buffer: what ``acquire()`` of the kernel does, and after it
            what ``release()`` does, to one lock or several; None = a synchronous port: its caller has locks.
    """

    buffers: tuple[Values, ...]
    locks: tuple[tuple[LockUse, ...], ...] | None = None


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
"""A call of a kernel: what it waits for are actions, and the last one is the cycles left of its cost.

A call takes its cost, and what it waits for buffers that it acquires itself; waits for streams are part of
its cost. Its work is done before it gives such a buffer away (DEV-ADF-42).
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
        generation: of the cores.
        sanitize: check every access of memory.
        cycles: of a call, by the kernel's name in the graph, or else by its function.
        stack: bytes of stack, by id of the kernel, for checked kernels.
        end: of the range of a cost which calls take; empty = the likely cycles.
    """

    root: Path = Path()
    include: tuple[Path, ...] = ()
    defines: Mapping[str, str | int | None] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    generation: Generation = "AIE-ML"
    sanitize: bool = False
    cycles: Mapping[str, int] = field(default_factory=dict)
    stack: Mapping[int, int] = field(default_factory=dict)
    end: RangeEnd = ""


class KernelCode:
    """The compiled kernels of a description.

    Args:
        description: of the graph.
        options: how they are compiled.

    Attributes:
        charged: what calls of each kernel took, by id: cycles, and where they come from.

    Raises:
        InputFileError: a source is not found, or does not compile; with the user's file and line.
    """

    def __init__(self, description: Description, options: KernelOptions) -> None:
        self._options = options
        self._kernels = {kernel.id: kernel for kernel in description.kernels}
        self._ports = {port.id: port for port in description.ports}
        sources = kernel_sources(description, options.root, options.include)
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            libraries = list(pool.map(self._compiled, sources))
        self._code = {
            number: (library, symbol)
            for source, library in zip(sources, libraries, strict=True)
            for number, symbol in source.symbols.items()
        }
        self.charged: dict[int, dict[CallCost, None]] = {number: {} for number in self._kernels}

    def caller(self, kernel_id: int, core: Core) -> Caller:
        """What the core calls for a kernel; made once for each run, before the first call.

        Args:
            kernel_id: ``Kernel.id`` of the description.
            core: that the kernel runs on.

        Raises:
            KeyError: no kernel has this id.
        """
        kernel, (library, symbol) = self._kernels[kernel_id], self._code[kernel_id]
        ports = parameter_ports(kernel, self._ports)
        options = self._options
        stack = options.stack.get(kernel.id, kernel.stack_size or DEFAULT_STACK_BYTES)
        signature = _signature(kernel, ports, stack)
        calls = _Calls(kernel, ports, core, library.image(core), symbol, signature, options.sanitize)
        calls.stated = self._stated(kernel)
        charged = self.charged[kernel_id]

        def call(values: Sequence[PortValue]) -> Generator[Action, Any, None]:
            yield from calls(values)
            charged[calls.cost] = None

        return call

    @property
    def costs(self) -> dict[str, CallCost]:
        """What the last kind of call of each kernel cost, by the kernel's name."""
        return {self._kernels[number].name: list(each)[-1] for number, each in self.charged.items() if each}

    def _stated(self, kernel: Kernel) -> CallCost | None:
        """What a call takes by the user's number, else by published counts; None = by its operations."""
        options = self._options
        cycles = options.cycles.get(kernel.name, options.cycles.get(kernel.function))
        if cycles is not None:
            return CallCost(cycles, GIVEN)
        band = library_cycles(kernel.object_type)
        if band is None:
            return None
        taken = getattr(band, options.end or "cycles")
        return CallCost(taken, RANGE, band.least, band.most)

    def _compiled(self, source: KernelSource) -> CompiledKernels:
        options = self._options
        files = [generated(source.file.with_suffix(".cc").name, source.text)]
        if source.tables:
            files.append(generated("tables.cc", source.tables))
        made = Sources(
            tuple(files),
            (source.file.parent, *options.include, options.root),
            options.defines,
            options.flags,
            sanitize=options.sanitize,
            shown=(source.file,) * len(files),
        )
        return CppKernels(made, Studies({}, {}, None)).compiled(options.generation)


class _Calls:
    """Calls of one kernel by its core.

    Args:
        kernel: of the description.
        ports: that are its parameters.
        core: that it runs on.
        image: the core's copy of the compiled source.
        symbol: its C function.
        signature: of the C function.
        sanitize: accesses are checked.

    Attributes:
        stated: cost of a call; None = that of its counted operations.
    """

    def __init__(
        self,
        kernel: Kernel,
        ports: Sequence[Port],
        core: Core,
        image: Image,
        symbol: str,
        signature: Signature,
        sanitize: bool,
    ) -> None:
        self._kernel, self._ports, self._core = kernel, ports, core
        self.stated: CallCost | None = None
        self._began = 0  # later by each wait for a lock
        self._values: Sequence[PortValue] = ()
        self._next = [0] * len(ports)
        self._held: dict[int, tuple[int, Values | None]] = {}
        services: dict[Ask, Service] = {
            Ask.ACQUIRE_BUFFER: self._acquire,
            Ask.RELEASE_BUFFER: self._release,
            Ask.PACKET_ID: self._packet_id,
        }
        waiting = [_waits(port) for port in ports for _ in _kinds(port)]
        unnoted = frozenset(number for number, waits in enumerate(waiting) if waits)
        self._calls = KernelCalls(
            image, symbol, signature, core, sanitize=sanitize, services=services, unnoted=unnoted
        )
        self._sanitize = sanitize

    def __call__(self, values: Sequence[PortValue]) -> Generator[Action, Any, None]:
        """Call the kernel once.

        Raises:
            DesignError: it failed, or a port is given what it is not.
        """
        if len(values) != len(self._ports):
            raise self._wrong("ports", str(len(values)), f"{len(self._ports)}, one for each parameter")
        self._values, self._began = values, self._core.now
        given = list[Any]()
        for port, value in zip(self._ports, values, strict=True):
            given += self._arguments(port, value)
        yield from self._calls(*given)
        for number in self._held:
            says = f"the kernel returns without a release of {self._ports[number].name}"
            raise self._wrong(self._ports[number].name, "acquired", "released before the call ends", says)
        yield from self._worked()

    @property
    def cost(self) -> CallCost:
        """What the last call took at least, or this one so far; without its waits for locks."""
        return self._calls.cost() if self.stated is None else self.stated

    def _worked(self) -> Generator[Action, Any, None]:
        """The cycles of its work that have not gone by."""
        if (left := self.cost.cycles - (self._core.now - self._began)) > 0:
            yield self._core.cycles(left)

    def _arguments(self, port: Port, value: PortValue) -> list[Any]:
        """The numbers and arrays that a port is in the C function."""
        letter = letter_of(port)
        if letter == "s":
            self._check(port, value, StreamPort)
            return []
        if letter == "v" and isinstance(value, Value):
            return [value.bits]
        self._check(port, value, PortMemory)
        assert isinstance(value, PortMemory)
        first, last = value.buffers[0], value.buffers[-1]
        if letter == "v":
            return [int.from_bytes(np.asarray(first).tobytes()[:_VALUE_BYTES], "little")]
        if letter == "p":
            return [first]
        places = [first] if letter == "b" else [first, last]
        return [*places, first.nbytes, *[int(value.locks is not None)] * (letter == "w")]

    def _check(self, port: Port, value: PortValue, wanted: type) -> None:
        if not isinstance(value, wanted):
            allowed = f"a {wanted.__name__} for a port of kind {port.kind}"
            raise self._wrong(port.name, type(value).__name__, allowed)

    # requests --------------------------------------------------------------------------------------------

    def _acquire(self, request: RequestData) -> Generator[Action, Any, None]:
        """Take the next buffer of an asynchronous port (DEV-ADF-43)."""
        number, core = request.index, self._core
        memory = self._memory(number)
        turn = self._next[number]
        use = memory.locks[turn][0]  # type: ignore[index]
        asked = core.now
        yield core.acquire(use.lock, use.value, tile=use.tile)
        self._began += core.now - asked
        buffer = np.asarray(memory.buffers[turn])
        noted = core.notes is not None and not self._sanitize
        self._held[number] = turn, buffer.copy() if noted else None
        request.words[0] = turn

    def _release(self, request: RequestData) -> Generator[Action, Any, None]:
        """Give back the buffer that an asynchronous port has; the next one is its other one."""
        number, core = request.index, self._core
        memory = self._memory(number)
        turn, before = self._held.pop(number)
        buffer = np.asarray(memory.buffers[turn])
        if core.notes is not None and before is not None:
            core.notes.part(buffer, not np.array_equal(before.view(np.uint8), buffer.view(np.uint8)))
        self._next[number] = (turn + 1) % len(memory.buffers)
        self._calls.count()
        yield from self._worked()
        for use in memory.locks[turn][1:]:  # type: ignore[index]
            yield core.release(use.lock, use.value, tile=use.tile)

    def _memory(self, number: int) -> PortMemory:
        memory, name = self._values[number], self._ports[number].name
        if not isinstance(memory, PortMemory) or memory.locks is None:
            says = f"the kernel acquires {name}, which has no locks"
            raise self._wrong(name, "no locks", "an asynchronous port", says)
        return memory

    def _packet_id(self, request: RequestData) -> Generator[Action, Any, None]:
        """The id of packets of a branch."""
        port, branch = self._values[request.index], request.value
        ids = port.packet_ids if isinstance(port, StreamPort) else ()
        if not 0 <= branch < len(ids):
            name, allowed = self._ports[request.index].name, f"0..{len(ids) - 1}" if ids else "none"
            says = f"the kernel asks for the packet id of branch {branch} of {name}; it has {allowed}"
            raise self._wrong(name, str(branch), allowed, says)
        request.words[0] = ids[branch]
        yield from ()

    def _wrong(self, field: str, given: str, allowed: str, says: str = "") -> DesignError:
        return DesignError.of(
            field,
            given,
            allowed,
            says or f"{field} is {given}; it must be {allowed}",
            reason="graph_kernel",
            where=f"{self._core.name}, {self._kernel.name}",
            source=_SOURCE,
        )


def _signature(kernel: Kernel, ports: Sequence[Port], stack: int) -> Signature:
    """How the C function of a kernel is called.

    Raises:
        InputFileError: it has more arguments than a call can have.
    """
    kinds = [kind for port in ports for kind in _kinds(port)]
    names = [port.name for port in ports for _ in _kinds(port)]
    signature = Signature(kernel.name, tuple(kinds), stack=stack, names=tuple(names))
    if problem := signature.problem():
        raise InputFileError(f"kernel {kernel.name} has too many parameters: {problem}.")
    return signature


def _waits(port: Port) -> bool:
    """Whether the kernel itself acquires the buffers of a port."""
    return port.kind == "async_buffer" or (port.kind == "window" and port.is_async)


def _kinds(port: Port) -> list[tuple[str, bool]]:
    """Type of each argument of a port, and whether it is memory; of a number it may be either."""
    letter = letter_of(port)
    numbers = _PLAIN_NUMBERS.get(letter, 0)
    memory = "u64" if letter == "v" else port.element or "u8"
    return [(memory, True)] * (ARGUMENTS[letter] - numbers) + [_NUMBER] * numbers
