"""``aie.extras.meta``: bodies of operations, written as functions of Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from memtile.iron.ops.operations import InsertionPoint, Operation


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
            region = operation.regions[0]
            types = [p.annotation for p in inspect.signature(function).parameters.values()]
            block = region.blocks.append(*types)
            with InsertionPoint(block):
                results = function(*block.arguments)
                if terminator is not None:
                    terminator(results)
            return operation  # type: ignore[no-any-return]

        return decorate

    return with_arguments
