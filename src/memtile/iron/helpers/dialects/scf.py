"""``aie.helpers.dialects.scf``: loops and branches of a design, known when it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from memtile.iron.ops.operation_classes import operation_class, outcome
from memtile.iron.ops.operations import InsertionPoint, Operation, Value
from memtile.iron.ops.scalars import build, constant
from memtile.iron.ops.types import IndexType


def yield_(values: Sequence[Any] = (), *, loc: object = None, ip: Any = None) -> None:
    """``scf.yield``: the values of a loop's next turn, or of a branch."""
    operation_class("scf.yield")(list(values), ip=ip)


def _bound(value: Any) -> Any:
    """A bound of a loop as an index.

    Raises:
        ValueError: it is no whole number.
    """
    if isinstance(value, Operation):
        value = value.result
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return constant(int(value), index=True)
    if isinstance(value, Value):
        return value if isinstance(value.type, IndexType) else build("arith.index_cast", IndexType(), value)
    raise ValueError(f"a loop goes over whole numbers, not {type(value).__name__}")


def _for(
    start: Any,
    stop: Any = None,
    step: Any = None,
    iter_args: Sequence[Any] | None = None,
    insert_yield: bool = True,
    *,
    entries: int | None = None,
    loc: object = None,
    ip: Any = None,
) -> Iterator[Any]:
    """``scf.for`` as Python's ``for``: its body is built once.

    Args:
        start: first number, or the end if it is alone.
        stop: end, not included.
        step: default = 1.
        iter_args: values that go from turn to turn; then each turn gives the number, these and the results.
        insert_yield: end the body with a ``scf.yield`` of nothing.
        entries: what the program's ``yield_`` takes, for the message; default = as many as ``iter_args``.

    Raises:
        ValueError: a body that carries values has no ``yield_``.
    """
    if stop is None:
        start, stop = 0, start
    lower, upper, by = (_bound(each) for each in (start, stop, 1 if step is None else step))
    initial = [each.result if isinstance(each, Operation) else each for each in iter_args or ()]
    types = [each.type for each in initial]
    loop = operation_class("scf.for")(types, lower, upper, by, initial, ip=ip)
    body = loop.regions[0].blocks.append(IndexType(), *types)
    number, *inner = body.arguments
    with InsertionPoint(body):
        if not inner:
            yield number
        elif len(inner) == 1:
            yield number, _alone(inner[0]), _alone(loop.results[0])
        else:
            yield number, tuple(inner), tuple(loop.results)
        if insert_yield and not (body.operations and body.operations[-1].name == "scf.yield"):
            if inner:
                raise ValueError(
                    f"a range_ body with iter_args must end with yield_([...]), one entry per iter_arg "
                    f"({len(inner) if entries is None else entries} here)"
                )
            yield_([])


def _alone(value: Any) -> Any:
    """A value that a loop carries alone: it is given as it is, and unpacks as a tuple of one."""
    value.alone = True
    return value


range_ = for_ = _for


@contextmanager
def if_(
    cond: Any,
    hasElse: bool = True,  # noqa: N803 - mlir-aie's name
    insert_yield: bool = True,
    loc: object = None,
    ip: Any = None,
) -> Iterator[Any]:
    """``scf.if``: its first branch is built within ``with``."""
    branch = operation_class("scf.if")([], cond, ip=ip)
    then, otherwise = branch.regions
    with InsertionPoint(then.blocks.append()):
        yield branch
        if insert_yield:
            yield_([])
    if hasElse:
        with InsertionPoint(otherwise.blocks.append()):
            if insert_yield:
                yield_([])


@contextmanager
def else_(if_op: Any, insert_yield: bool = True) -> Iterator[None]:
    """The second branch of an ``if_``."""
    (block,) = if_op.regions[1].blocks
    point = InsertionPoint.at_block_terminator(block) if block.operations else InsertionPoint(block)
    with point:
        yield


__all__ = ["_for", "else_", "for_", "if_", "outcome", "range_", "yield_"]
