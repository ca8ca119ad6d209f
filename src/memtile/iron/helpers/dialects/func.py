"""``aie.helpers.dialects.func``: functions of a design, written in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

from memtile.iron.helpers.util import try_convert_np_type_to_mlir_type
from memtile.iron.ops.attributes import TypeAttr
from memtile.iron.ops.operation_classes import operation_class, outcome
from memtile.iron.ops.operations import InsertionPoint, Operation, Value, top_of
from memtile.iron.ops.scalars import build, constant
from memtile.iron.ops.types import FunctionType, IndexType, IntegerType, Type

FuncOp = operation_class("func.func")
CallOp = operation_class("func.call")
ReturnOp = operation_class("func.return")


def function_type(operation: Any) -> FunctionType:
    """The type of a function."""
    return operation.attributes["function_type"].value  # type: ignore[no-any-return]


def call(callee: Any, arguments: Any = None, more: Any = None, *, loc: object = None, ip: Any = None) -> Any:
    """``func.call``: of a function with its arguments, or of types of results, a name and arguments.

    Raises:
        ValueError: the numbers of arguments differ, or one is no value.
    """
    if isinstance(callee, Operation):
        inputs = function_type(callee).inputs
        name = callee.attributes["sym_name"].value  # type: ignore[attr-defined]
        if len(arguments) != len(inputs):
            raise ValueError(f"{name} takes {len(inputs)} arguments, not {len(arguments)}")
        values = [as_argument(each, type) for each, type in zip(arguments, inputs, strict=True)]
        return outcome(CallOp(function_type(callee).results, name, values, ip=ip))
    return outcome(CallOp(list(callee), arguments, list(more or ()), ip=ip))


def as_argument(given: Any, type: Type) -> Value:
    """A value that a function takes: a number gets the type, an index is cast to it.

    Raises:
        ValueError: it is no value.
    """
    if isinstance(given, Operation):
        given = given.result
    if isinstance(given, (int, float)) or hasattr(given, "item"):
        return constant(given, type)  # type: ignore[no-any-return]
    if not isinstance(given, Value):
        given = getattr(given, "op", given)
        given = given.result if isinstance(given, Operation) else given
    if not isinstance(given, Value):
        raise ValueError(f"{given!r} is no argument of a function: values of the design and numbers are")
    if isinstance(given.type, IndexType) and isinstance(type, IntegerType):
        return build("arith.index_cast", type, given)  # type: ignore[no-any-return]
    return given


class FuncBase:
    """A function of a design: built once in each module, at its first call.

    Args:
        body_builder: Python's function; its annotations are the types of the arguments.
        sym_visibility: ``private``, or nothing.
        func_attrs: attributes of the function.
    """

    def __init__(
        self,
        body_builder: Callable[..., Any],
        sym_visibility: str | None = None,
        func_attrs: dict[str, Any] | None = None,
        return_types: Sequence[Type] = (),
    ) -> None:
        self.body_builder, self.func_name = body_builder, body_builder.__name__
        self.sym_visibility, self.func_attrs = sym_visibility, func_attrs or {}
        # texts (``from __future__ import annotations``) stand for what they name in the program
        annotations = inspect.get_annotations(body_builder, eval_str=True)
        self.input_types = [given for name, given in annotations.items() if name != "return"]
        self.return_types = list(return_types)
        self._built: list[tuple[Operation | None, Operation]] = []  # the top it is in, and it

    def _is_declaration(self) -> bool:
        return self.body_builder.__code__.co_code == (lambda: None).__code__.co_code

    def emit(self, *_: Any, force: bool = False) -> Operation:
        """Build it where the current insertion point is, unless its module has it."""
        top = top_of(InsertionPoint.current.block)
        for module, function in self._built:
            if module is top and not force:
                return function
        inputs = [self._type(each) for each in self.input_types]
        function = FuncOp(
            self.func_name, FunctionType(inputs, self.return_types), sym_visibility=self._visibility()
        )
        function.attributes.update(self.func_attrs)
        self._built.append((top, function))
        if not self._is_declaration():
            self._body(function, inputs)
        return function

    def _visibility(self) -> str | None:
        return "private" if self._is_declaration() else self.sym_visibility

    def _type(self, given: Any) -> Type:
        if inspect.isfunction(given):
            given = given()
        found = try_convert_np_type_to_mlir_type(given)
        if not isinstance(found, Type):
            raise TypeError(f"{given!r} is no type of an argument of {self.func_name}")
        return found

    def _body(self, function: Any, inputs: Sequence[Type]) -> None:
        block = function.regions[0].blocks.append(*inputs)
        with InsertionPoint(block):
            results = self.body_builder(*block.arguments)
            given = (
                [] if results is None else list(results) if isinstance(results, (tuple, list)) else [results]
            )
            values = [each.result if isinstance(each, Operation) else each for each in given]
            ReturnOp(values)
        types = [value.type for value in values]
        function.attributes["function_type"] = TypeAttr(FunctionType(inputs, types))

    def __call__(self, *arguments: Any) -> Any:
        """Call it where the current insertion point is; it is built before."""
        return call(self.emit(), arguments)


def func(
    f: Callable[..., Any] | None = None,
    *,
    sym_visibility: str | None = None,
    func_attrs: dict[str, Any] | None = None,
    emit: bool = False,
    **_: Any,
) -> Any:
    """Make a function of a design of one of Python; used with or without arguments."""

    def made(function: Callable[..., Any]) -> FuncBase:
        wrapped = FuncBase(function, sym_visibility, func_attrs)
        update_wrapper(wrapped, function)
        if emit or wrapped._is_declaration():
            wrapped.emit()
        return wrapped

    return made if f is None else made(f)
