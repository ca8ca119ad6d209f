"""What the core of a graph does in its loop: locks of buffers, calls of its kernels, and their margins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import gcd, lcm

from memtile.adf.core_loop import BufferPort, KernelTurns, ParameterPort, call_order
from memtile.adf.lowering import Lowered
from memtile.arch.core import CORE
from memtile.arch.tiles import WORD_BYTES
from memtile.design.buffers import Buffer
from memtile.design.locks import Lock
from memtile.mlir_writer.cores import (
    Argument,
    CallLoop,
    CallStep,
    CopyStep,
    LockStep,
    LoopStep,
    NumberArgument,
    ScalarArgument,
    Step,
)
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import Place

MOST_STEPS = 4096
_LONGEST_LOOP = 32  # calls in the body of a loop within the loop of a core
_FEWEST_TURNS = 3
_Slots = tuple[int, tuple[int, ...]]
"""A call: the kernel, and which buffer it has of each port."""
_SIDES: Mapping[tuple[int, int], str] = {(0, -1): "south", (-1, 0): "west", (0, 1): "north", (0, 0): "own"}


def core_loop(
    lowered: Lowered, tile: Place, functions: Mapping[int, str], objects: Mapping[int, tuple[str, ...]]
) -> CallLoop:
    """The loop of a core: so many iterations of the graph that all buffers have their turn again.

    Args:
        lowered: the graph.
        tile: of the core.
        functions: their names by kernel.
        objects: files with them, by kernel.

    Raises:
        DesignError: more steps than a text should have.
    """
    core = lowered.cores[tile]
    order, counts, made = call_order(core.kernels), Counter[int](), dict[_Slots, tuple[Step, ...]]()
    calls = [
        _slots(kernel, counts)
        for _ in range(lcm(*(_period(kernel) for kernel in core.kernels)))
        for kernel in order
    ]
    kernels = {kernel.kernel: kernel for kernel in core.kernels}
    for each in calls:
        if each not in made:
            made[each] = tuple(_call(tile, kernels[each[0]], each[1], functions[each[0]]))
    steps = _folded(calls[: _cycle(calls)], made)
    if (many := _length(steps)) > MOST_STEPS:
        raise refused(
            core.name,
            f"one turn of the core of {core.name} has {many:,} steps that are not alike",
            f"up to {MOST_STEPS:,}",
            "Give buffers of one core the same number, or lower repetition counts.",
        )
    files = dict.fromkeys(name for kernel in core.kernels for name in objects[kernel.kernel])
    mine = {kernel.kernel for kernel in core.kernels}
    stacks = [each.stack.nbytes for each in lowered.plan.kernels if each.kernel in mine and each.stack]
    return CallLoop(steps, tuple(files), max(stacks, default=0))


def _period(kernel: KernelTurns) -> int:
    """Iterations after which each port uses its first buffer again."""
    found = 1
    for port in kernel.ports:
        if isinstance(port, BufferPort) and not port.is_async and len(port.buffers) > 1:
            many = len(port.buffers)
            found = lcm(found, many // gcd(many, kernel.repetition))
    return found


def _slots(kernel: KernelTurns, counts: Counter[int]) -> _Slots:
    """The next call of a kernel: which buffer of each port it has."""
    number = counts[kernel.kernel]
    counts[kernel.kernel] += 1
    return kernel.kernel, tuple(
        number % len(port.buffers) if isinstance(port, BufferPort) and not port.is_async else 0
        for port in kernel.ports
    )


def _cycle(calls: Sequence[_Slots]) -> int:
    """After how many calls they are those from the beginning again."""
    count = len(calls)
    return next(n for n in range(1, count + 1) if count % n == 0 and calls[n:] == calls[:-n])


def _folded(calls: Sequence[_Slots], made: Mapping[_Slots, tuple[Step, ...]]) -> list[Step]:
    """The steps of calls; calls that come again at once are a loop, the shortest that is found first."""
    found: list[Step] = []
    at = 0
    while at < len(calls):
        length, times = next(
            (
                (n, times)
                for n in range(1, _LONGEST_LOOP + 1)
                if (times := _times(calls, at, n)) >= _FEWEST_TURNS
            ),
            (1, 1),
        )
        steps = tuple(step for call in calls[at : at + length] for step in made[call])
        found += [LoopStep(times, steps)] if times > 1 else steps
        at += length * times
    return found


def _times(calls: Sequence[_Slots], at: int, length: int) -> int:
    """How often the calls from a place on come one after the other."""
    times, block = 1, calls[at : at + length]
    while calls[at + times * length : at + (times + 1) * length] == block:
        times += 1
    return times


def _length(steps: Sequence[Step]) -> int:
    return sum(_length(each.steps) if isinstance(each, LoopStep) else 1 for each in steps)


def _call(tile: Place, kernel: KernelTurns, slots: Sequence[int], function: str) -> list[Step]:
    """One call: locks of its ports, the function, the margins of the next blocks, and the locks again."""
    before: list[Step] = []
    margins: list[Step] = []
    after: list[Step] = []
    arguments: list[Argument] = []
    for port, slot in zip(kernel.ports, slots, strict=True):
        if not isinstance(port, BufferPort | ParameterPort):
            continue  # streams and cascades are no arguments: the function has their port itself
        if isinstance(port, BufferPort) and port.is_async:
            arguments += _asynchronous(tile, port)
            continue
        arguments.append(_argument(port, slot))
        if isinstance(port, BufferPort) and port.margin:
            margins.append(_margin(port, slot))
        if port.turns:
            turn = port.turns[slot]
            if turn.acquire is not None:
                before.append(LockStep(turn.acquire, "AcquireGreaterEqual", turn.count))
            after += [LockStep(lock, "Release", 1) for lock in turn.releases]
    return [*before, CallStep(function, tuple(arguments)), *margins, *after]


def _argument(port: BufferPort | ParameterPort, slot: int) -> Buffer | ScalarArgument:
    buffer = port.buffers[slot]
    if isinstance(port, BufferPort) or port.is_array or port.writes or port.nbytes > WORD_BYTES:
        return buffer
    return ScalarArgument(buffer)


def _margin(port: BufferPort, slot: int) -> CopyStep:
    """The end of a block before the next one, as long as the kernel has the block."""
    count = port.margin // WORD_BYTES
    source = port.buffers[slot]
    return CopyStep(source, source.words - count, port.buffers[(slot + 1) % len(port.buffers)], count)


def _asynchronous(tile: Place, port: BufferPort) -> Iterator[Argument]:
    """The buffers that a kernel acquires itself; then for each its lock, how much, and locks to release."""
    yield from port.buffers
    for turn in port.turns:
        assert turn.acquire is not None  # it has writers and readers
        yield NumberArgument(lock_number(tile, turn.acquire))
        yield NumberArgument(turn.count)
        for lock in turn.releases:
            yield NumberArgument(lock_number(tile, lock))


def lock_number(tile: Place, lock: Lock) -> int:
    """The number by which the instructions of a core know a lock.

    Args:
        tile: of the core.
        lock: of its tile, or of one beside.
    """
    assert lock.place is not None
    side = _SIDES[lock.place[0] - tile[0], lock.place[1] - tile[1]]
    return CORE.lock_windows[side] + lock.id
