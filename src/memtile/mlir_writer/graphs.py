"""A graph of UG1603 as a module: its array, and the calls of its kernels as loops of cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, lcm
from pathlib import PurePosixPath

from memtile.adf.core_loop import BufferPort, CoreState, KernelPort, KernelTurns, ParameterPort, call_order
from memtile.adf.lowering import Lowered
from memtile.arch.tiles import WORD_BYTES
from memtile.design.buffers import Buffer
from memtile.iron.ops.operations import Module
from memtile.mlir_writer.cores import CallLoop, CallStep, LockStep, ScalarArgument, Step
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import Names, Place, Scene
from memtile.mlir_writer.writer import module_of

_MOST_STEPS = 4096


def module_of_graph(lowered: Lowered) -> Module:
    """The module of a graph that is in an array and has not run.

    Args:
        lowered: the graph.

    Raises:
        DesignError: what no operation of mlir-aie says, with the graph's names.
    """
    functions = _functions(lowered)
    return module_of(
        lowered.array, _Graph({tile: _loop(lowered, core, functions) for tile, core in lowered.cores.items()})
    )


@dataclass(frozen=True, slots=True)
class _Graph:
    """What a graph adds to its array: the loops of its cores."""

    cores: Mapping[Place, CallLoop]

    @property
    def controllers(self) -> Mapping[Place, int]:
        """None: a graph's host gets no tokens."""
        return {}

    def begin(self, scene: Scene) -> None:
        """Nothing stands before the cores."""

    def end(self, scene: Scene) -> None:
        """Nothing stands behind them: a graph's host is a program of its own."""


def _functions(lowered: Lowered) -> dict[int, str]:
    """Names of functions by kernel: one for all kernels of a function or class whose ports are alike."""
    names, known, found = Names(), dict[object, str](), dict[int, str]()
    for core in lowered.cores.values():
        for kernel in core.kernels:
            said = lowered.lookup.kernels[kernel.kernel]
            key = (said.function, said.object_type, said.arguments, said.source, _shapes(kernel))
            wanted = f"{said.object_type}_{said.function}" if said.object_type else said.function
            if key not in known:
                known[key] = names.of(wanted)
            found[kernel.kernel] = known[key]
    return found


def _shapes(kernel: KernelTurns) -> tuple[object, ...]:
    """What the types of a call's arguments depend on."""
    ports = [port for port in kernel.ports if isinstance(port, BufferPort | ParameterPort)]
    return tuple((port.buffers[0].shape, port.buffers[0].dtype.str, type(port)) for port in ports)


def _loop(lowered: Lowered, core: CoreState, functions: dict[int, str]) -> CallLoop:
    """The loop of a core: so many iterations of the graph that all buffers have their turn again."""
    order = call_order(core.kernels)
    turns = lcm(*(_period(kernel) for kernel in core.kernels))
    counts: dict[int, int] = {}
    steps: list[Step] = []
    for _ in range(turns):
        for kernel in order:
            steps += _call(kernel, counts, functions)
            if len(steps) > _MOST_STEPS:
                raise refused(
                    core.name,
                    f"one turn of the core of {core.name} has more than {_MOST_STEPS} steps",
                    f"up to {_MOST_STEPS}",
                    "Give buffers of one core the same number, or lower repetition counts.",
                )
    files = dict.fromkeys(_object(lowered, kernel.kernel) for kernel in core.kernels)
    mine = {kernel.kernel for kernel in core.kernels}
    stacks = [each.stack.nbytes for each in lowered.plan.kernels if each.kernel in mine and each.stack]
    return CallLoop(steps, tuple(files), max(stacks, default=0))


def _object(lowered: Lowered, kernel: int) -> str:
    """The object file of a kernel's source."""
    return f"{PurePosixPath(lowered.lookup.kernels[kernel].source).stem}.o"


def _period(kernel: KernelTurns) -> int:
    """Iterations after which each port uses its first buffer again."""
    found = 1
    for port in kernel.ports:
        if isinstance(port, BufferPort | ParameterPort) and len(port.buffers) > 1 and not _is_sticky(port):
            many = len(port.buffers)
            found = lcm(found, many // gcd(many, kernel.repetition))
    return found


def _is_sticky(port: KernelPort) -> bool:
    """Whether it is a parameter of which each call sees the last value."""
    return isinstance(port, ParameterPort) and port.is_async and not port.writes


def _call(kernel: KernelTurns, counts: dict[int, int], functions: dict[int, str]) -> list[Step]:
    """One call: locks of its ports, the function, and the locks again."""
    before: list[Step] = []
    after: list[Step] = []
    arguments: list[Buffer | ScalarArgument] = []
    for port in kernel.ports:
        if not isinstance(port, BufferPort | ParameterPort):
            continue  # streams and cascades are no arguments: the function has their port itself
        _check(port)
        number = counts.get(id(port), 0)
        counts[id(port)] = number + 1
        slot = 0 if _is_sticky(port) else number % len(port.buffers)
        arguments.append(_argument(port, slot))
        if port.turns:
            turn = port.turns[slot]
            if turn.acquire is not None:
                before.append(LockStep(turn.acquire, "AcquireGreaterEqual", turn.count))
            after += [LockStep(lock, "Release", 1) for lock in turn.releases]
    return [*before, CallStep(functions[kernel.kernel], tuple(arguments)), *after]


def _argument(port: BufferPort | ParameterPort, slot: int) -> Buffer | ScalarArgument:
    buffer = port.buffers[slot]
    if isinstance(port, BufferPort) or port.is_array or port.writes or port.nbytes > WORD_BYTES:
        return buffer
    return ScalarArgument(buffer)


def _check(port: BufferPort | ParameterPort) -> None:
    """Refuse ports whose calls need more than arguments and locks.

    Raises:
        DesignError: margins, or buffers that the kernel acquires itself.
    """
    if isinstance(port, BufferPort) and port.margin:
        raise refused(
            port.name,
            f"{port.name} has a margin of {port.margin} bytes, which a graph copies between calls",
            "ports without margins",
            "Keep the end of the block in the kernel.",
        )
    if isinstance(port, BufferPort) and port.is_async:
        raise refused(
            port.name,
            f"{port.name} is asynchronous: the kernel calls the runtime of a graph for its buffers",
            "synchronous buffers",
            "Make it synchronous.",
        )
