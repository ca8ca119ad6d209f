"""What a program builds: operations with values, regions and blocks, and the place where the next one goes.

The names are those of mlir-aie's Python (``aie.ir``), as programs use them. Nothing is checked here
beyond what builds the tree: what mlir-aie's verifier refuses, the importer refuses when the design is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from memtile.iron.ops.attributes import Attribute
from memtile.iron.ops.program_lines import program_line
from memtile.iron.ops.types import FunctionType, Type


class Value:
    """A value: result of an operation, or argument of a block.

    Attributes:
        type: of the value.
        owner: the operation or the block that defines it.
    """

    def __init__(self, type: Type, owner: Operation | Block, at: int) -> None:
        self._type, self._owner, self._at = type, owner, at
        self.hint = ""

    @property
    def type(self) -> Type:
        """Of the value."""
        return self._type

    def set_type(self, type: Type) -> None:
        """Give it another type."""
        self._type = type

    @property
    def owner(self) -> Operation | Block:
        """The operation or the block that defines it."""
        return self._owner

    @property
    def result_number(self) -> int:
        """Its place among the results of its operation."""
        return self._at

    arg_number = result_number

    @property
    def uses(self) -> Iterator[Operation]:
        """The operations that have it as an operand."""
        owner = self._owner
        top = owner.region_above if isinstance(owner, Operation) else owner.region
        while top is not None and top.owner is not None and top.owner.region_above is not None:
            top = top.owner.region_above
        if top is not None:
            yield from (each for each in top.walk() if any(operand is self for operand in each.operands))

    def get_name(self, *_: object, **__: object) -> str:
        """Its name in the text of its module."""
        return _writers["value"](self)

    def replace_all_uses_with(self, other: Value) -> None:
        """Put another value wherever this one is an operand."""
        for operation in list(self.uses):
            operation.set_operands([other if each is self else each for each in operation.operands])

    def __str__(self) -> str:
        return f"Value({self._owner})"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._type})"


class Block:
    """Operations that follow each other.

    Attributes:
        region: that it is in; None until it is in one.
        arguments: its values.
        operations: in order.
    """

    def __init__(self, region: Region | None = None, types: Sequence[Type] = ()) -> None:
        self.region = region
        self.arguments = BlockArguments(self, types)
        self.operations: list[Operation] = []

    @staticmethod
    def create_at_start(region: Region, arguments: Sequence[Type] = (), *_: object) -> Block:
        """A new first block of a region."""
        block = Block(region, arguments)
        region.blocks.insert(0, block)
        return block

    def create_after(self, *types: Type) -> Block:
        """A new block behind this one."""
        assert self.region is not None
        block = Block(self.region, types)
        self.region.blocks.insert(self.region.blocks.index(self) + 1, block)
        return block

    def append(self, operation: Operation) -> None:
        """Put an operation at the end."""
        operation.move_to(self, len(self.operations))

    @property
    def owner(self) -> Operation | None:
        """The operation that it is in."""
        return self.region.owner if self.region is not None else None

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)


class BlockArguments(list[Value]):
    """The arguments of a block."""

    def __init__(self, block: Block, types: Sequence[Type]) -> None:
        self._block = block
        super().__init__()
        for each in types:
            self.add(each)

    def add(self, type: Type) -> Value:
        """One more argument."""
        value = made_value(type, self._block, len(self))
        self.append(value)
        return value

    @property
    def types(self) -> list[Type]:
        """Of the arguments, in order."""
        return [value.type for value in self]


class BlockList(list[Block]):
    """The blocks of a region."""

    def __init__(self, region: Region) -> None:
        self._region = region
        super().__init__()

    def append(self, *types: Any, arg_locs: object = None) -> Block:  # type: ignore[override]
        """A new block at the end, with arguments of these types."""
        block = Block(self._region, types)
        super().append(block)
        return block


class Region:
    """A region of an operation.

    Attributes:
        owner: the operation; None of a module's top.
        blocks: in order.
    """

    def __init__(self, owner: Operation | None) -> None:
        self.owner = owner
        self.blocks = BlockList(self)

    def walk(self) -> Iterator[Operation]:
        """All operations within, outer ones first."""
        for block in self.blocks:
            for operation in block.operations:
                yield operation
                for region in operation.regions:
                    yield from region.walk()

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, at: int) -> Block:
        return self.blocks[at]


class InsertionPoint:
    """Where the next operation goes; within ``with`` it is the current one.

    Args:
        at: a block, at whose end it is; or an operation, before which it is.
    """

    _stack: ClassVar[list[InsertionPoint]] = []

    def __init__(self, at: Block | Operation) -> None:
        if isinstance(at, Operation):
            assert at.block is not None, "the operation is in no block"
            self.block = at.block
            self._before: Operation | None = at
        else:
            self.block, self._before = getattr(at, "block", at), None

    @staticmethod
    def at_block_begin(block: Block) -> InsertionPoint:
        """Before the first operation of a block."""
        return InsertionPoint(block.operations[0]) if block.operations else InsertionPoint(block)

    @staticmethod
    def at_block_terminator(block: Block) -> InsertionPoint:
        """Before the last operation of a block."""
        return InsertionPoint(block.operations[-1])

    @staticmethod
    def after(operation: Operation) -> InsertionPoint:
        """Behind an operation."""
        block = operation.block
        assert block is not None, "the operation is in no block"
        at = block.operations.index(operation) + 1
        return InsertionPoint(block.operations[at]) if at < len(block.operations) else InsertionPoint(block)

    @classmethod
    def now(cls) -> InsertionPoint | None:
        """The current one; None outside of all."""
        return cls._stack[-1] if cls._stack else None

    current: ClassVar[Any]

    def insert(self, operation: Operation) -> None:
        """Put an operation there."""
        before = self._before
        operations = self.block.operations
        operation.move_to(self.block, operations.index(before) if before is not None else len(operations))

    @property
    def ref_operation(self) -> Operation | None:
        """The operation before which it is, if there is one."""
        return self._before

    def __enter__(self) -> Self:
        self._stack.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.pop()


class _Current:
    """``InsertionPoint.current``, an error outside of all."""

    def __get__(self, _: object, of: type[InsertionPoint]) -> InsertionPoint:
        point = of.now()
        if point is None:
            raise ValueError(
                "no current insertion point: operations are built within `with mlir_mod_ctx()`, "
                "a function of @device, @core or @runtime_sequence, or `with InsertionPoint(block)`"
            )
        return point


InsertionPoint.current = _Current()


class Operation:
    """An operation.

    Attributes:
        name: with its dialect, ``aie.tile``.
        operands: its values.
        results: the values that it defines.
        attributes: by name.
        regions: in order.
        successors: blocks that it may go on with.
        block: that it is in; None if it is in none.
        groups: how many of the operands belong to each of its lists of operands.
        place: of the program that builds it, ``program.py:57``; empty if there is none.
    """

    OPERATION_NAME: ClassVar[str] = ""

    def __init__(
        self,
        name: str,
        operands: Sequence[Any] = (),
        results: Sequence[Type] = (),
        attributes: Mapping[str, Attribute] | None = None,
        regions: int = 0,
        successors: Sequence[Block] = (),
        groups: Sequence[int] = (),
        ip: InsertionPoint | None = None,
    ) -> None:
        self._name = name
        self._operands = [value_of(each) for each in operands]
        self.attributes: dict[str, Attribute] = dict(attributes or {})
        self.regions = [Region(self) for _ in range(regions)]
        self.successors = list(successors)
        self.groups = tuple(groups)
        self.place = program_line()
        self.block: Block | None = None
        self._results = OpResults(made_value(each, self, at) for at, each in enumerate(results))
        point = ip if ip is not None else InsertionPoint.now()
        if point is not None:
            point.insert(self)

    @classmethod
    def create(
        cls,
        name: str,
        results: Sequence[Type] | None = None,
        operands: Sequence[Any] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        successors: Sequence[Block] | None = None,
        regions: int = 0,
        loc: object = None,
        ip: InsertionPoint | None = None,
    ) -> Operation:
        """An operation of any name."""
        return Operation(name, operands or (), results or (), attributes, regions, successors or (), ip=ip)

    @property
    def name(self) -> str:
        """With its dialect, ``aie.tile``."""
        return self._name

    @property
    def operands(self) -> list[Value]:
        """Its values, in order."""
        return self._operands

    def set_operands(self, operands: Sequence[Value]) -> None:
        """Put other values there, as many."""
        self._operands = list(operands)

    @property
    def results(self) -> OpResults:
        """The values that it defines."""
        return self._results

    @property
    def result(self) -> Value:
        """The one value that it defines.

        Raises:
            ValueError: it defines none or several.
        """
        if len(self._results) != 1:
            raise ValueError(f"{self._name} has {len(self._results)} results, not one")
        return self._results[0]

    @property
    def operation(self) -> Operation:
        """Itself."""
        return self

    opview = operation

    @property
    def parent(self) -> Operation | None:
        """The operation that it is in."""
        return self.block.owner if self.block is not None else None

    @property
    def region_above(self) -> Region | None:
        """The region that it is in."""
        return self.block.region if self.block is not None else None

    @property
    def location(self) -> None:
        """Nothing: ``place`` has it as text."""
        return

    def move_to(self, block: Block, at: int) -> None:
        """Put it into a block, from where it is."""
        self.detach()
        block.operations.insert(at, self)
        self.block = block

    def move_before(self, other: Operation) -> None:
        """Put it before another operation."""
        assert other.block is not None
        self.detach()
        self.move_to(other.block, other.block.operations.index(other))

    def detach(self) -> None:
        """Take it out of its block."""
        if self.block is not None:
            self.block.operations.remove(self)
            self.block = None

    erase = detach_from_parent = detach

    def verify(self) -> bool:
        """True: what cannot be is refused when the design is read."""
        return True

    def walk(self, does: Callable[[Operation], Any]) -> None:
        """Call a function for all operations within, and for itself last."""
        for region in self.regions:
            for each in list(region.walk()):
                does(each)
        does(self)

    def get_asm(self, *_: object, **__: object) -> str:
        """Its text."""
        return str(self)

    def __str__(self) -> str:
        return _writers["operation"](self)

    def __repr__(self) -> str:
        return f"<{self._name}>"


class TextOperation(Operation):
    """Operations that are nothing but their text, with values of the tree around them in it.

    Args:
        pieces: text, values from outside, and names of values that the text itself defines.

    Attributes:
        pieces: the same.
    """

    def __init__(self, pieces: Sequence[str | Value | LocalName], ip: InsertionPoint | None = None) -> None:
        values = [each for each in pieces if isinstance(each, Value)]
        super().__init__("memtile.text", values, ip=ip)
        self.pieces = list(pieces)


@dataclass(frozen=True)
class LocalName:
    """A name, without its percent sign, of a value that a text defines itself."""

    name: str


class OpResults(list[Value]):
    """The values that an operation defines."""

    @property
    def types(self) -> list[Type]:
        """Of the values, in order."""
        return [value.type for value in self]


class Module:
    """A module: the top of what a program builds.

    Attributes:
        operation: ``builtin.module``.
        context: None: there is one for all.
    """

    def __init__(self) -> None:
        self.operation = Operation("builtin.module", regions=1, ip=InsertionPoint(Block()))
        self.operation.detach()
        self.operation.regions[0].blocks.append()
        self.context = None
        noted = _noted.get()
        if noted is not None:
            noted.append(self)

    @staticmethod
    def create(loc: object = None) -> Module:
        """An empty module."""
        return Module()

    @property
    def body(self) -> Block:
        """Its block."""
        return self.operation.regions[0].blocks[0]

    def __str__(self) -> str:
        return f"{self.operation}\n"


_noted: ContextVar[list[Module] | None] = ContextVar("iron_modules", default=None)


@contextmanager
def noting_modules(noted: list[Module]) -> Iterator[None]:
    """Within ``with`` each module that is begun is added to a list."""
    token = _noted.set(noted)
    try:
        yield
    finally:
        _noted.reset(token)


def top_of(block: Block | None) -> Operation | None:
    """The outermost operation around a block."""
    owner = block.owner if block is not None else None
    while owner is not None and owner.parent is not None:
        owner = owner.parent
    return owner


_writers: dict[str, Callable[[Any], str]] = {}


def print_with(text_of: Callable[[Operation], str], name_of: Callable[[Value], str]) -> None:
    """Let these functions write operations and the names of values; ``printing`` does when it is imported."""
    _writers.update(operation=text_of, value=name_of)


_makers: list[Callable[[Type, Operation | Block, int], Value | None]] = []


def makes_values(maker: Callable[[Type, Operation | Block, int], Value | None]) -> None:
    """Let a function choose the class of values by their type; None = another function may."""
    _makers.append(maker)


def made_value(type: Type, owner: Operation | Block, at: int) -> Value:
    """A value of the class that its type has."""
    if not isinstance(type, Type):
        raise TypeError(f"{type!r} is no type of MLIR, like those of aie.extras.types")
    for maker in _makers:
        value = maker(type, owner, at)
        if value is not None:
            return value
    return Value(type, owner, at)


def value_of(given: Any) -> Value:
    """The value of a value, or of an operation with one result.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(given, Value):
        return given
    if isinstance(given, Operation):
        return given.result
    inner = getattr(given, "result", None) or getattr(given, "op", None)
    if isinstance(inner, (Value, Operation)):
        return value_of(inner)
    raise TypeError(f"{given!r} is no value: results of operations and arguments of bodies are")


__all__ = [
    "Block",
    "FunctionType",
    "InsertionPoint",
    "Module",
    "OpResults",
    "Operation",
    "Region",
    "Value",
    "made_value",
    "makes_values",
    "value_of",
]
