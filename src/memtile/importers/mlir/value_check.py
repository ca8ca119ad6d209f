"""Is every value of a device defined once, where it is used, and of the type that its use says?

MLIR's rules: a name is defined once as long as it is visible; a region sees what is around it unless its
operation is isolated; a use comes behind the definition, in a block that it dominates; and the types that
an operation writes down are those of its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.errors import InputFileError, Problem, raise_if
from memtile.importers.mlir.dominance import Dominance
from memtile.importers.mlir.tree import Operation, OperationBlock, Region
from memtile.importers.mlir.value_types import (
    definition_type,
    operands_of,
    result_count,
    same_type,
    signature,
    types_of,
    uses,
)

DEVICE = "aie.device"
ISOLATED = frozenset((DEVICE, "func.func", "func", "module", "builtin.module"))
"""Operations whose regions see nothing of what is around them."""
_FUNCTIONS, _CALLS = ("func.func", "func"), ("func.call", "call")
_BUFFER, _FEW = "aie.buffer", 3
_Visible = dict[str, Operation | OperationBlock]


def check_values(top: Region) -> None:
    """Look at the values of all devices: what is beside them may be of any dialect.

    Args:
        top: the tree of a text.

    Raises:
        InputFileError: values that are defined twice, used where they are not, or with another type; all of
            them.
    """
    found: list[Problem] = []
    for device in _devices(top):
        walk = _Walk(found, {_symbol(each): each for each in device.walk() if each.name in _FUNCTIONS})
        walk.operation(device, {})
    raise_if(found, InputFileError)


def _devices(top: Region) -> Iterator[Operation]:
    for block in top.blocks:
        for outermost in block.operations:
            yield from (each for each in outermost.walk() if each.name == DEVICE)


def _symbol(operation: Operation) -> str:
    return next((word[1:].strip('"') for word in operation.words if word[0] == "@"), "")


class _Walk:
    """Goes through operations in the order of the text.

    Args:
        found: problems, to which it adds.
        functions: of the device, by name.
    """

    def __init__(self, found: list[Problem], functions: dict[str, Operation]) -> None:
        self.found, self.functions = found, functions
        self.dominances: dict[int, Dominance] = {}

    def operation(self, operation: Operation, visible: _Visible) -> None:
        """Look at an operation and all within it.

        Args:
            operation: that is looked at.
            visible: what defines the names that are known so far.
        """
        if operation.name not in _FUNCTIONS:  # a declaration may name its arguments
            self._uses(operation)
        inner: _Visible = {} if operation.name in ISOLATED else visible
        for region in operation.regions:
            self._region(region, inner)
        if operation.parent is not None and operation.name != DEVICE:
            self._results(operation, visible)

    def _region(self, region: Region, visible: _Visible) -> None:
        """Its names are gone at its end."""
        defined: list[str] = []
        for block in region.blocks:
            for name, _ in block.arguments:
                self._define(name, block, visible, region.operation or block.operations[0], defined)
            for operation in block.operations:
                self.operation(operation, visible)
                defined += [name for name in operation.results if visible.get(name) is operation]
        for name in defined:
            visible.pop(name, None)

    def _results(self, operation: Operation, visible: _Visible) -> None:
        many = result_count(operation)
        given = len(operation.results) - (len(operation.results) > 1 and "#" in operation.results[-1])
        if operation.results and many is not None and many != given:
            says = f"{operation.name}: it gives {many} values, and {given} are named"
            self._problem(operation, operation.at, says, str(many), operation.results[0])
        for name in operation.results:
            self._define(name, operation, visible, operation, [])

    def _define(
        self,
        name: str,
        by: Operation | OperationBlock,
        visible: _Visible,
        at: Operation,
        defined: list[str],
    ) -> None:
        if name in visible and "#" not in name:
            other = visible[name]
            line = f" in line {other.line}" if isinstance(other, Operation) else " as an argument"
            says = f"{at.name}: the value {name} is defined{line} already"
            self._problem(at, at.at, says, "a name of its own", name)
        visible[name] = by
        defined.append(name)

    def _uses(self, operation: Operation) -> None:
        """Each use where its definition reaches it, and of its type."""
        operands = operands_of(operation)
        typed = {use.at: use.kind for use in uses(operation, operands)} if operands else {}
        for name, at in operands:
            found = definition(operation, name)
            if found is None:
                says = f"{operation.name} uses the value {name}, which nothing around it defines"
                step = "Look for its name where it should be defined."
                self._problem(operation, at, says, "values that are defined", name, step)
                continue
            by, region = found
            kind, wanted = definition_type(by, name), typed.get(at, "")
            if not self._reaches(by, region, operation):
                says = f"{operation.name}: {name} is used where its definition is not done yet"
                self._problem(operation, at, says, "values from before it", name, "Define it before its use.")
            elif kind and wanted and not same_type(operation.tokens, kind, wanted):
                says = f"{operation.name}: {name} is {kind}, and is used as {wanted}"
                others = _of_type(by, wanted) if isinstance(by, Operation) else []
                step = f"Write {kind}" + (f", or use buffer {' or '.join(others)}." if others else ".")
                self._problem(operation, at, says, kind, name, step)

        if operation.name in _CALLS:
            self._callee(operation)

    def _callee(self, operation: Operation) -> None:
        """A call has the types of the function."""
        name = _symbol(operation)
        function = self.functions.get(name)
        if function is None or function.tokens.words[function.at][0] == '"':
            return  # refused where it is called, or in generic form
        given, wanted = types_of(operation).operands, signature(function)
        same = len(given) == len(wanted) and all(
            same_type(operation.tokens, one, other) for one, other in zip(given, wanted, strict=True)
        )
        if not same:
            listed, asked = ", ".join(given) or "nothing", ", ".join(wanted) or "nothing"
            says = f"{operation.name}: it passes {listed}, and {name} takes {asked}"
            self._problem(operation, operation.at, says, asked, name, _exchange(operation, given, wanted))

    def _reaches(self, by: Operation | OperationBlock, region: Region, operation: Operation) -> bool:
        """Whether a definition in a region around an operation is done before it."""
        around = operation
        while around.parent is not None and around.parent.region is not region:
            owner = around.parent.region.operation
            assert owner is not None  # the region is one of those around it
            around = owner
        block = by if isinstance(by, OperationBlock) else by.parent
        if block is around.parent:
            return isinstance(by, OperationBlock) or by.at < around.at
        if id(region) not in self.dominances:
            self.dominances[id(region)] = Dominance(region)
        assert block is not None
        assert around.parent is not None
        return self.dominances[id(region)].holds(block, around.parent)

    def _problem(
        self, operation: Operation, at: int, says: str, allowed: str, given: str, step: str = ""
    ) -> None:
        text, offset = operation.tokens.text, operation.tokens.offset(at)
        error = text.error(offset, says, given=given, allowed=allowed, reason="mlir_value", step=step)
        self.found += error.problems


def _of_type(buffer: Operation, wanted: str) -> list[str]:
    """The other buffers of a buffer's tile that are of a type; a few of them."""
    if buffer.name != _BUFFER or buffer.parent is None:
        return []
    found = [
        each.results[0]
        for each in buffer.parent.operations
        if each.name == _BUFFER and each.results and _tile(each) == _tile(buffer)
        if same_type(buffer.tokens, definition_type(each, each.results[0]), wanted)
    ]
    return found[:_FEW]


def _tile(buffer: Operation) -> str:
    return next((word for word in buffer.words if word[:1] == "%"), "")


def _exchange(operation: Operation, given: Sequence[str], wanted: Sequence[str]) -> str:
    """The repair of a call two of whose arguments stand in each other's place; empty if that is not it."""
    if len(given) != len(wanted):
        return ""
    pairs = enumerate(zip(given, wanted, strict=True))
    off = [number for number, (one, other) in pairs if not same_type(operation.tokens, one, other)]
    crossed = len(off) == 2 and all(
        same_type(operation.tokens, given[one], wanted[other]) for one, other in (off, off[::-1])
    )
    return f"Exchange arguments {off[0]} and {off[1]}." if crossed else ""


def definition(operation: Operation, name: str) -> tuple[Operation | OperationBlock, Region] | None:
    """What defines a value that an operation sees, and the region; None if nothing does."""
    region = operation.parent.region if operation.parent else None
    while region is not None:
        if name in region.values:
            return region.values[name], region
        around = region.operation
        if around is None or around.name in ISOLATED or around.parent is None:
            return None
        region = around.parent.region
    return None
