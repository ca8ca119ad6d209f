"""Programs of cores as operations: bodies of a text that was read, and loops of kernel calls of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memtile.design.buffers import Buffer
from memtile.design.locks import Lock
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.iron.ops.operation_classes import operation_class
from memtile.iron.ops.operations import Block, InsertionPoint, Value
from memtile.iron.ops.scalars import constant
from memtile.iron.ops.types import FunctionType, IntegerType, MemRefType, Type
from memtile.mlir_writer import texts
from memtile.mlir_writer.scene import Place, Scene
from memtile.mlir_writer.transfers import use_lock

_ENDLESS = 2**63 - 1
DEFAULT_STACK = 1024
"""Bytes of the stack of a core that says nothing (mlir-aie, CoreOp)."""


class CoreProgram(Protocol):
    """What a core does."""

    @property
    def stack(self) -> int:
        """Bytes of its stack; 0 = mlir-aie's default."""

    def write(self, scene: Scene, place: Place) -> None:
        """Write ``aie.core`` of a tile, and what it needs of the device before it."""


@dataclass(frozen=True, slots=True)
class ReadBody:
    """The body of a core as a text has it.

    Attributes:
        core: of the text.
        values: of the module that is written, by their names in the text.
    """

    core: CoreDescription
    values: texts.Values

    @property
    def stack(self) -> int:
        """Bytes of its stack."""
        return self.core.stack

    def write(self, scene: Scene, place: Place) -> None:
        """Write the core with the same body."""
        attributes = OperationForm(self.core.operation).attributes
        named: dict[str, Any] = {"stack_size": self.core.stack}
        for name in ("link_with", "link_files", "elf_file"):
            if name in attributes:
                named[name] = attributes[name]
        core = scene.add("aie.core", scene.tiles[place], **named)
        point = InsertionPoint(core.regions[0].blocks.append())
        if self.core.has_body:
            texts.body(self.core.operation, self.values, point)
        else:
            operation_class("aie.end")(ip=point)


@dataclass(frozen=True, slots=True)
class LockStep:
    """An operation on a lock: its action and how much."""

    lock: Lock
    action: str
    value: int


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A number that a call gets, the first word of a buffer."""

    buffer: Buffer


@dataclass(frozen=True, slots=True)
class NumberArgument:
    """A number that a call always gets, of 32 bits."""

    value: int


Argument = Buffer | ScalarArgument | NumberArgument


@dataclass(frozen=True, slots=True)
class CallStep:
    """A call of a kernel with buffers and numbers."""

    function: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class CopyStep:
    """Words that the core copies to the beginning of a buffer of words.

    Attributes:
        source: buffer of words.
        first: of its words.
        target: buffer that gets them; it may be the source.
        count: of words.
    """

    source: Buffer
    first: int
    target: Buffer
    count: int


@dataclass(frozen=True, slots=True)
class LoopStep:
    """Steps that the core does so many times."""

    count: int
    steps: tuple[Step, ...]


Step = LockStep | CallStep | CopyStep | LoopStep


@dataclass(frozen=True, slots=True)
class CallLoop:
    """A core that does the same steps again and again.

    Attributes:
        steps: of one turn, in order.
        files: objects with its functions.
        stack: bytes; 0 = mlir-aie's default.
    """

    steps: Sequence[Step]
    files: tuple[str, ...]
    stack: int = 0

    @property
    def functions(self) -> list[str]:
        """Names of what it calls, each once."""
        return list(dict.fromkeys(_called(self.steps)))

    def write(self, scene: Scene, place: Place) -> None:
        """Write the core as a loop without end, and the functions that it calls."""
        for step in self.steps:
            _declare(scene, step)
        named: dict[str, Any] = {"stack_size": self.stack} if self.stack else {}
        named |= {"link_with": self.files[0]} if len(self.files) == 1 else {"link_files": list(self.files)}
        core = scene.add("aie.core", scene.tiles[place], **named)
        with InsertionPoint(core.regions[0].blocks.append()):
            inside = _loop(_ENDLESS)
            operation_class("aie.end")()
        _fill(scene, self.steps, inside)


def _called(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, CallStep):
            yield step.function
        if isinstance(step, LoopStep):
            yield from _called(step.steps)


def _loop(count: int) -> Block:
    """The block of a loop that goes round so many times."""
    first, last, step_by = (constant(n, index=True) for n in (0, count, 1))
    return operation_class("scf.for")(first, last, step_by).regions[0].blocks.append(first.type)


def _fill(scene: Scene, steps: Sequence[Step], block: Block) -> None:
    """The steps of a loop."""
    for step in steps:
        _step(scene, step, InsertionPoint(block))
    operation_class("scf.yield")(ip=InsertionPoint(block))


def _step(scene: Scene, step: Step, point: InsertionPoint) -> None:
    if isinstance(step, LockStep):
        assert step.lock.place is not None
        use_lock(scene.locks[step.lock.place, step.lock.id], step.action, step.value, point)
        return
    if isinstance(step, CopyStep):
        _copy(scene, step, point)
        return
    if isinstance(step, LoopStep):
        with point:
            inside = _loop(step.count)
        _fill(scene, step.steps, inside)
        return
    with point:
        values = [_argument(scene, each) for each in step.arguments]
        operation_class("func.call")([], step.function, values)


def _copy(scene: Scene, step: CopyStep, point: InsertionPoint) -> None:
    """A loop over the words, first to last, so that a buffer may be copied within itself."""
    source, target = scene.buffer(step.source), scene.buffer(step.target)
    assert isinstance(source.type, MemRefType)
    with point:
        inside = _loop(step.count)
    with InsertionPoint(inside):
        (at,) = inside.arguments
        place = operation_class("arith.addi")(at.type, at, constant(step.first, index=True)).result
        word = operation_class("memref.load")(source.type.element_type, source, [place]).result
        operation_class("memref.store")(word, target, [at])
        operation_class("scf.yield")()


def _argument(scene: Scene, given: Argument) -> Value:
    if isinstance(given, Buffer):
        return scene.buffer(given)
    if isinstance(given, NumberArgument):
        number: Value = constant(given.value, IntegerType(32))
        return number
    value = scene.buffer(given.buffer)
    assert isinstance(value.type, MemRefType)
    at = [constant(0, index=True) for _ in value.type.shape]
    found: Value = operation_class("memref.load")(value.type.element_type, value, at).result
    return found


def _type(scene: Scene, given: Argument) -> Type:
    if isinstance(given, Buffer):
        return scene.buffer(given).type
    if isinstance(given, NumberArgument):
        return IntegerType(32)
    type = scene.buffer(given.buffer).type
    assert isinstance(type, MemRefType)
    return type.element_type


def _declare(scene: Scene, step: Step) -> None:
    """Declare the functions of a step, each once."""
    if isinstance(step, LoopStep):
        for each in step.steps:
            _declare(scene, each)
    if not isinstance(step, CallStep) or step.function in scene.functions:
        return
    types = [_type(scene, each) for each in step.arguments]
    scene.functions.add(step.function)
    operation_class("func.func")(
        step.function, FunctionType(types, []), sym_visibility="private", ip=InsertionPoint(scene.body)
    )
