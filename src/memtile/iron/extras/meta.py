"""``aie.extras.meta``: bodies of operations, written as functions of Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from memtile.iron.ops.operations import InsertionPoint, Operation, Region


def region_op(constructor: Callable[..., Any], terminator: Callable[..., Any] | None = None) -> Any:
    """A decorator with the arguments of an operation, whose function builds the operation's first region.

    Args:
        constructor: makes the operation.
        terminator: makes the last operation of the region, of what the function returns.
    """

    @wraps(constructor)
    def with_arguments(*given: Any, **named: Any) -> Any:
        def decorate(function: Callable[..., Any]) -> Operation:
            operation = constructor(*given, **named)
            _fill(operation.regions[0], function, terminator)
            return operation  # type: ignore[no-any-return]

        return decorate

    return with_arguments


def region_adder(terminator: Callable[..., Any] | None = None) -> Any:
    """A decorator of a function that gives a region, which then is a decorator that builds the region.

    Args:
        terminator: makes the last operation of the region, of what the function returns.
    """

    def decorate(chosen: Callable[..., Region]) -> Any:
        @wraps(chosen)
        def of_operation(operation: Any, *given: Any, **named: Any) -> Any:
            def build(function: Callable[..., Any]) -> Operation:
                operation_ = getattr(operation, "operation", operation)
                _fill(chosen(operation_, *given, **named), function, terminator)
                return operation_  # type: ignore[no-any-return]

            return build

        return of_operation

    return decorate


def _fill(region: Region, function: Callable[..., Any], terminator: Callable[..., Any] | None) -> None:
    """Build a region: its block, with arguments as the function has them, and what the function builds."""
    types = [parameter.annotation for parameter in inspect.signature(function).parameters.values()]
    block = region.blocks[0] if region.blocks else region.blocks.append(*types)
    with InsertionPoint(block):
        results = function(*block.arguments)
        if terminator is not None:
            terminator(results)
