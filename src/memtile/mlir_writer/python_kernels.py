"""Kernels in Python as programs of cores: their actions are recorded, rolled into loops, and written.

A kernel is recorded by running it on a copy of the memory that its core sees: with what is there, and with
noise. Locks that it takes and gives must be the same each time; what it does between them becomes a call
of a function with the buffers that it touched.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from types import GeneratorType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE, SIDES
from memtile.arch.tiles import COMPUTE
from memtile.design.array import Array
from memtile.errors import DesignError
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.rolled import MOST_STEPS, Loop, rolled
from memtile.mlir_writer.scene import Place
from memtile.sim.kernels.actions import (
    Action,
    CascadeGet,
    EventInstruction,
    LockOperation,
    StreamGet,
    Wait,
)
from memtile.sim.kernels.kernel_core import Core, Kernel, KernelBuffer
from memtile.sim.kernels.running_cores import is_endless

MOST_ACTIONS = 100_000
_PROBE = 4096
"""Actions after which a kernel in a loop without end is probed for a period, then after twice as many."""


class TouchedPart(NamedTuple):
    """Bytes of a tile's memory that a kernel reads or writes.

    Attributes:
        place: column and row of the tile.
        first: byte.
        nbytes: how many.
    """

    place: Place
    first: int
    nbytes: int


class LockAction(NamedTuple):
    """A lock that a kernel takes or gives: of which tile, which one, ``aie.use_lock``'s action, how much."""

    place: Place
    number: int
    action: str
    value: int


class EventMark(NamedTuple):
    """An event that a kernel raises: its number."""

    number: int


class Work(NamedTuple):
    """What a kernel does between two locks.

    Attributes:
        lines: of the kernel where it begins and ends.
        parts: of memory that it touches, in the order in which it first does.
        kinds: shapes and types by which it sees them.
        cycles: that it waits.
    """

    lines: tuple[int, int]
    parts: tuple[TouchedPart, ...]
    kinds: tuple[Hashable, ...]
    cycles: int


Recorded = LockAction | EventMark | Work


@dataclass(frozen=True, slots=True)
class Recording:
    """What a kernel does, from its first action to its last.

    Attributes:
        steps: as loops.
        endless: it has no end: ``steps`` ends with a loop that is repeated for ever.
    """

    steps: tuple[Hashable, ...]
    endless: bool


class _Noise:
    """Bytes that a kernel does not expect.

    Args:
        how: the largest value of a byte, and the distance of bytes that are not 0.
    """

    def __init__(self, how: tuple[int, int]) -> None:
        self._most, self._every = how
        self._random = np.random.default_rng(seed=1)

    def fill(self, memory: npt.NDArray[np.uint8]) -> None:
        """Fill some memory."""
        memory[:] = 0
        part = memory[:: self._every]
        part[:] = self._random.integers(0, self._most + 1, len(part), dtype=np.uint8)


_NOISE = ((1, 4), (127, 4), (255, 1))
"""The largest value of a byte, and the distance of bytes that are not 0: small words, and any."""


class _NoBus:
    """The registers of its tile, which a recorded kernel must not need."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, what: str) -> Any:
        raise refused(
            self._name,
            f"{self._name} accesses registers of its tile (core.bus.{what})",
            "kernels that use locks and memory",
            "Leave it out, or write the core in C++.",
        )


class _RecordingCore(Core):
    """A core whose memory is a copy, and which notes what its kernel touches."""

    def __init__(self, array: Array, tile: int, kernel: str, noise: _Noise | None) -> None:
        super().__init__(array.engine.state, tile, kernel)
        self.bus: Any = _NoBus(self.name)
        self._noise = noise
        tiles = array.engine.spec.tiles
        self._places = list(zip(tiles.column.tolist(), tiles.row.tolist(), strict=True))
        self._memories: dict[int, npt.NDArray[np.uint8]] = {}
        self._touched: dict[TouchedPart, Hashable] = {}

    def place_of(self, owner: int) -> Place:
        """Column and row of a tile."""
        return self._places[owner]

    def taken(self) -> dict[TouchedPart, Hashable]:
        """What was touched since the last call."""
        found, self._touched = self._touched, {}
        return found

    def answer(self, action: Action) -> npt.NDArray[Any] | None:
        """What an action brings: noise or zeros."""
        if isinstance(action, CascadeGet):
            count, dtype = CORE.cascade_bits // (8 * action.dtype.itemsize), action.dtype
        elif isinstance(action, StreamGet):
            count, dtype = action.count * 4 // action.dtype.itemsize, action.dtype
        else:
            return None
        return self._filled(np.zeros(count * dtype.itemsize, np.uint8)).view(dtype)

    def read(self, piece: KernelBuffer, *, tile: Any = None) -> npt.NDArray[Any]:
        """A copy of the buffer."""
        return self.view(piece, tile=tile).copy()

    def write(self, piece: KernelBuffer, values: npt.ArrayLike, *, tile: Any = None) -> None:
        """Fill the copy of the buffer."""
        self.view(piece, tile=tile)[...] = values

    def view(self, piece: KernelBuffer, *, tile: Any = None) -> npt.NDArray[Any]:
        """The copy of the buffer."""
        owner, first, nbytes = self._place(piece, tile)
        part = TouchedPart(self._places[owner], first, nbytes)
        self._touched.setdefault(part, (tuple(piece.shape), piece.dtype.str))
        return self._array(piece, owner, first).reshape(piece.shape)

    def has_word(self) -> bool:
        """Refused: it depends on time."""
        raise self._timed("has_word")

    def has_room(self) -> bool:
        """Refused: it depends on time."""
        raise self._timed("has_room")

    def _timed(self, what: str) -> DesignError:
        says = f"{self.name} looks at its stream port (core.{what}), which depends on time"
        return refused(self.name, says, "kernels that wait for words", "Use core.get_stream.")

    def _filled(self, memory: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        if self._noise is not None:
            self._noise.fill(memory)
        return memory

    def _array(self, piece: KernelBuffer, owner: int, first: int) -> npt.NDArray[Any]:
        if owner not in self._memories:
            base = int(self._tiles.memory_base[owner])
            words = self._state.memory[base : base + COMPUTE.memory_bytes // 4]
            self._memories[owner] = self._filled(np.array(words).view(np.uint8))
        nbytes = prod(piece.shape) * piece.dtype.itemsize
        return self._memories[owner][first : first + nbytes].view(piece.dtype.newbyteorder("<"))


@dataclass(slots=True)
class _Recorder:
    """Turns actions into what is recorded."""

    array: Array
    core: _RecordingCore
    line: int = 0
    cycles: int = 0
    busy: bool = False
    ended: bool = False
    period: int = 0
    failed: bool = False
    found: list[Recorded] = field(default_factory=list)
    known: dict[tuple[int, int, bool], LockAction] = field(default_factory=dict)

    def add(self, action: Action, line: int) -> None:
        """Note an action that the kernel yields at a line."""
        if isinstance(action, LockOperation):
            self.work(line)
            self.found.append(self._lock(action))
        elif isinstance(action, EventInstruction):
            self.work(line)
            self.found.append(EventMark(action.number))
        else:
            self.busy = True
            self.cycles += action.cycles if isinstance(action, Wait) else 0

    def work(self, line: int) -> None:
        """Note what was done since the last lock, if anything was."""
        touched = self.core.taken()
        if touched or self.busy:
            kinds = tuple(touched.values())
            self.found.append(Work((self.line, line), tuple(touched), kinds, self.cycles))
        self.line, self.cycles, self.busy = line, 0, False

    def _lock(self, action: LockOperation) -> LockAction:
        key = action.lock, action.value, action.acquire
        if key not in self.known:
            self.known[key] = self._found(action)
        return self.known[key]

    def _found(self, action: LockOperation) -> LockAction:
        side, first = next(
            (side, at) for side, at in CORE.lock_windows.items() if at <= action.lock < at + COMPUTE.locks
        )
        owner = int(self.array.engine.spec.tiles.core_reach[self.core.tile][SIDES.index(side)])
        kind = "Release"
        if action.acquire:
            kind = "Acquire" if action.value >= 0 else "AcquireGreaterEqual"
        return LockAction(self.core.place_of(owner), action.lock - first, kind, abs(action.value))


def record(array: Array, place: Place, kernel: Kernel) -> Recording:
    """What a kernel does.

    Args:
        array: that has not run; it is not changed.
        place: column and row of the core.
        kernel: that it runs.

    Raises:
        DesignError: a kernel whose locks depend on data or time, or that has no end and no period.
    """
    recorder = _recorded(array, place, kernel, None)
    found = recorder.found
    if not recorder.ended and not recorder.period:
        says = f"core {place} runs a kernel that after {MOST_ACTIONS:,} actions has no end"
        allowed = "kernels that end, or repeat themselves in a loop without end"
        raise refused(f"core {place}", says, allowed, "Write while True where it has no end.")
    for most in _NOISE:
        again = _recorded(array, place, kernel, _Noise(most))
        same = again.found == found[: len(again.found)]
        if not same or (again.ended != recorder.ended and not again.failed):
            raise _depends(place, kernel)
    if recorder.ended:
        return Recording(_limited(place, rolled(found)), False)
    first = len(found) - 2 * recorder.period
    while first and found[first - 1] == found[first - 1 + recorder.period]:
        first -= 1
    loop = Loop(0, rolled(found[first : first + recorder.period]))
    return Recording(_limited(place, (*rolled(found[:first]), loop)), True)


def recorded_actions(array: Array, place: Place, kernel: Kernel) -> list[Recorded]:
    """Everything that a kernel does, up to ``MOST_ACTIONS`` actions; see :func:`record`."""
    return _recorded(array, place, kernel, None).found


def _depends(place: Place, kernel: Kernel) -> DesignError:
    name = getattr(kernel, "__name__", "a kernel")
    return refused(
        f"core {place}",
        f"core {place} runs the Python kernel {name!r}, whose actions depend on data",
        "kernels that take and give the same locks whatever the data",
        "Write this core in MLIR or C++.",
    )


def _recorded(array: Array, place: Place, kernel: Kernel, noise: _Noise | None) -> _Recorder:
    """Everything that a kernel does, up to ``MOST_ACTIONS`` actions.

    Errors that noise causes end the recording: what a kernel computes of it may overflow.
    """
    name = getattr(kernel, "__name__", "a kernel")
    core = _RecordingCore(array, array.compute_tile(*place).index, name, noise)
    recorder = _Recorder(array, core)
    try:
        with np.errstate(all="ignore" if noise else None):
            _follow(recorder, iter(kernel(core)))
    except DesignError:
        raise
    except Exception:
        if noise is None:
            raise
        recorder.failed = True
    return recorder


def _follow(recorder: _Recorder, actions: Iterator[Action]) -> None:
    """Note all actions of a kernel, or those up to where it repeats itself for ever."""
    answer: npt.NDArray[Any] | None = None
    for count in range(MOST_ACTIONS):
        if count >= _PROBE and count & (count - 1) == 0 and is_endless(actions):
            recorder.period = _shortest(recorder.found)
            if recorder.period:
                return
        try:
            action = actions.send(answer) if isinstance(actions, GeneratorType) else next(actions)
        except StopIteration:
            recorder.work(0)
            recorder.ended = True
            return
        recorder.core.made.remove(action)
        frame = actions.gi_frame if isinstance(actions, GeneratorType) else None
        recorder.add(action, frame.f_lineno or 0 if frame else 0)
        answer = recorder.core.answer(action)


def _shortest(found: Sequence[Recorded]) -> int:
    """The shortest period of the second half of a recording; 0 if it has none."""
    half = found[len(found) // 2 :]
    for period in range(1, len(half) // 4):
        if half[-1] == half[-1 - period] and all(a == b for a, b in zip(half, half[period:], strict=False)):
            return period
    return 0


def _limited(place: Place, steps: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    count = sum(_sizes(steps))
    if count > MOST_STEPS:
        says = f"core {place} would have {count:,} operations, as its kernel repeats nothing"
        raise refused(f"core {place}", says, f"up to {MOST_STEPS:,}", "Give the kernel loops.")
    return steps


def _sizes(steps: Sequence[Hashable]) -> Iterator[int]:
    for each in steps:
        yield 1
        if isinstance(each, Loop):
            yield from _sizes(each.body)
