"""A recorded kernel as ``aie.core``: loops of lock operations and of calls of functions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memtile.iron.ops.operation_classes import operation_class
from memtile.iron.ops.operations import InsertionPoint, Value
from memtile.iron.ops.scalars import constant
from memtile.iron.ops.types import FunctionType, Type
from memtile.mlir_writer.python_kernels import EventMark, LockAction, Recording, TouchedPart, Work
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.rolled import Loop
from memtile.mlir_writer.scene import Place, Scene
from memtile.mlir_writer.transfers import use_lock

_ENDLESS = 2**63 - 1


class FunctionKey(NamedTuple):
    """What calls of one function have in common.

    Attributes:
        kernel: its name.
        lines: of the kernel, where the work begins and ends.
        cycles: that it takes.
        types: of the arguments.
    """

    kernel: str
    lines: tuple[int, int]
    cycles: int
    types: tuple[str, ...]


@dataclass(slots=True)
class FunctionNames:
    """Names of functions: one for all calls from the same lines with arguments of the same types."""

    names: dict[FunctionKey, str] = field(default_factory=dict)

    def of(self, scene: Scene, kernel: str, work: Work, types: Sequence[Type]) -> str:
        """The name of what a kernel does; the function is declared at its first call."""
        key = FunctionKey(kernel, work.lines, work.cycles, tuple(map(str, types)))
        if key not in self.names:
            self.names[key] = scene.names.of(kernel)
            operation_class("func.func")(
                self.names[key],
                FunctionType(list(types), []),
                sym_visibility="private",
                ip=InsertionPoint(scene.body),
            )
        return self.names[key]


@dataclass(frozen=True, slots=True)
class RecordedCore:
    """A core whose kernel is Python.

    Attributes:
        kernel: its name.
        recording: what it does.
        functions: names of what it calls, shared by all cores.
        stack: bytes; 0 = mlir-aie's default.
    """

    kernel: str
    recording: Recording
    functions: FunctionNames
    stack: int = 0

    def write(self, scene: Scene, place: Place) -> None:
        """Write the core, and the functions that it calls."""
        calls = _calls(scene, self.recording.steps)
        named = {each: self._function(scene, place, each) for each in calls}
        link: dict[str, Any] = {"link_with": f"{self.kernel}.o"} if named else {}
        core = scene.add("aie.core", scene.tiles[place], **link)
        block = core.regions[0].blocks.append()
        _steps(scene, self.recording.steps, InsertionPoint(block), named)
        operation_class("aie.end")(ip=InsertionPoint(block))

    def _function(self, scene: Scene, place: Place, work: Work) -> tuple[str, list[Value]]:
        values = list({id(each): each for each in (_buffer(scene, place, p) for p in work.parts)}.values())
        return self.functions.of(scene, self.kernel, work, [each.type for each in values]), values


def _calls(scene: Scene, steps: Sequence[Hashable]) -> dict[Work, None]:
    """What is done between locks, each once, in order."""
    found: dict[Work, None] = {}
    for each in steps:
        if isinstance(each, Loop):
            found |= _calls(scene, each.body)
        elif isinstance(each, Work):
            found[each] = None
    return found


def _steps(
    scene: Scene,
    steps: Sequence[Hashable],
    point: InsertionPoint,
    named: dict[Work, tuple[str, list[Value]]],
) -> None:
    for each in steps:
        if isinstance(each, Loop):
            with point:
                bounds = [constant(n, index=True) for n in (0, each.times or _ENDLESS, 1)]
                loop = operation_class("scf.for")(*bounds)
            inside = InsertionPoint(loop.regions[0].blocks.append(bounds[0].type))
            _steps(scene, each.body, inside, named)
            operation_class("scf.yield")(ip=inside)
        elif isinstance(each, Work):
            function, values = named[each]
            operation_class("func.call")([], function, values, ip=point)
        elif isinstance(each, EventMark):
            operation_class("aie.event")(each.number, ip=point)
        else:
            assert isinstance(each, LockAction)
            use_lock(_lock(scene, each), each.action, each.value, point)


def _lock(scene: Scene, said: LockAction) -> Value:
    """The lock that a kernel names."""
    found = scene.locks.get((said.place, said.number))
    if found is None:
        where = f"core of tile {said.place}"
        says = f"a kernel uses lock {said.number} of tile {said.place}, which the design has not declared"
        raise refused(where, says, "locks of the design", "Declare it: tile.lock(initial, name, id=number).")
    return found


def _buffer(scene: Scene, place: Place, part: TouchedPart) -> Value:
    """The buffer in which a kernel reads or writes bytes."""
    for each in scene.memories.get(part.place, []):
        if each.first <= part.first and part.first + part.nbytes <= each.first + each.nbytes:
            return each.value
    says = f"core {place} reads or writes bytes {part.first:#x}.. of tile {part.place}, where no buffer is"
    raise refused(f"core {place}", says, "buffers of the design", "Declare a buffer there.")
