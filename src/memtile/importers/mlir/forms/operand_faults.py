"""Errors of operations: which one, where in the text, and what it should be.

What an operation lacks is an error of the operation: :class:`Attributes` and :class:`Parts` say so when they
are asked for what is not there, and :func:`reading` when what is there is not of the kind that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, SupportsIndex, TypeVar, overload

from memtile.errors import InputFileError, MemtileError
from memtile.importers.mlir.tree import Operation
from memtile.limits import LIMITS, how_to_raise, limit

SPELLING = "mlir_spelling"
"""Reason of what :func:`reading` found."""
_ALLOWED = "an operation as mlir-aie prints it"
_LONGEST = 60  # characters of a Python message that are shown
T = TypeVar("T")


def operation_error(
    operation: Operation,
    says: str,
    allowed: str,
    *,
    reason: str = "mlir_operation",
    given: str = "",
    step: str = "",
) -> InputFileError:
    """The error of an operation; what is ``given`` is its name, or what it names."""
    tokens = operation.tokens
    return tokens.text.error(
        tokens.offset(operation.at),
        f"{operation.name}: {says}",
        allowed=allowed,
        given=given or operation.name,
        reason=reason,
        step=step,
    )


def limit_error(operation: Operation, name: str, says: str) -> InputFileError:
    """The error of an operation that exceeds a limit of inputs.

    Args:
        operation: that does.
        name: of the limit.
        says: what it has.
    """
    allowed = f"up to {limit(name)} {LIMITS[name].what}"
    return operation_error(operation, says, allowed, reason="mlir_limit", step=how_to_raise(name))


@contextmanager
def reading(operation: Operation) -> Iterator[None]:
    """What goes wrong within is an error of the operation, with its place in the text.

    A name, a number or a type that is not what is needed there becomes an :class:`InputFileError` of reason
    :data:`SPELLING`. Errors of the design that know no text get the place in front of theirs.
    """
    try:
        yield
    except InputFileError:
        raise
    except MemtileError as error:
        raise _placed(operation, error) from error
    except (LookupError, ValueError, TypeError, ArithmeticError) as error:
        cause = f"{type(error).__name__}: {str(error)[:_LONGEST]}"
        says = f"its operands are not those of any spelling that is known ({cause})"
        raise operation_error(operation, says, _ALLOWED, reason=SPELLING) from error


def _placed(operation: Operation, error: MemtileError) -> MemtileError:
    """The error with the place of the operation in front."""
    tokens = operation.tokens
    place = tokens.text.where(tokens.offset(operation.at))
    if not error.problems:
        return type(error)(f"{place}: {error}")
    name = tokens.text.name
    return type(error)(
        [
            each if each.where.startswith(name) else replace(each, where=f"{place}: {each.where}")
            for each in error.problems
        ]
    )


class Attributes(dict[str, Any]):
    """Attributes of an operation by name; to ask for one that it lacks is its error.

    Args:
        operation: that has them.
        found: what it has.
    """

    def __init__(self, operation: Operation, found: Mapping[str, Any]) -> None:
        super().__init__(found)
        self._operation = operation

    def __missing__(self, name: str) -> Any:
        raise operation_error(self._operation, f"it has no {name}", f"{name} = ..", reason="mlir_attribute")


class Parts(list[T]):
    """Operands of an operation, or what else it has several of; to ask for more is its error.

    Args:
        operation: that has them.
        found: what it has.
        what: they are, one of them.
    """

    def __init__(self, operation: Operation, found: list[T], what: str) -> None:
        super().__init__(found)
        self._operation, self._what = operation, what

    @overload
    def __getitem__(self, at: SupportsIndex) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> list[T]: ...

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        if isinstance(at, slice):
            return list.__getitem__(self, at)
        if not -len(self) <= at.__index__() < len(self):
            raise self._short(f"number {at.__index__() + 1}")
        return list.__getitem__(self, at)

    def first(self, many: int) -> list[T]:
        """So many of them."""
        if len(self) < many:
            raise self._short(f"{many} of them")
        return list.__getitem__(self, slice(many))

    def exactly(self, many: int) -> list[T]:
        """All of them, which are so many."""
        return self.first(many) if len(self) <= many else self.first(len(self) + 1)

    def _short(self, wanted: str) -> InputFileError:
        many = len(self)
        says = f"it has {many or 'no'} {self._what}{'' if many == 1 else 's'}"
        return operation_error(self._operation, says, wanted, reason="mlir_operands")
