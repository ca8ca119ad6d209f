"""Vectors as values: flat arrays of numbers, and loops over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import reduce
from math import prod
from typing import Any

from memtile.importers.kernels.emitter import Emitter, type_names
from memtile.importers.kernels.expressions import bits_of, paired
from memtile.importers.kernels.operands import element_type
from memtile.importers.kernels.quote import Node, expr, number, numpy_type, temporary
from memtile.importers.mlir.forms.faults import limit_error
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.types import Shaped, shaped
from memtile.limits import limit


def vector_of(emitter: Emitter, value: str) -> Shaped:
    """The type of a vector; a scalar is one of a single element."""
    kind = emitter.types.get(value, "")
    return is_vector(kind) or Shaped((), kind)


def is_vector(kind: str) -> Shaped | None:
    """The vector that a type is, None if it is something else."""
    found = shaped(kind)
    return found if found is not None and kind.startswith("vector<") else None


def check_vector(form: Form, shape: Shaped) -> None:
    """Refuse a vector of open size, or one that no memory of a core holds.

    Raises:
        InputFileError: it is one.
    """
    size = shape.elements * element_type(form, shape.element).itemsize
    if size < 0:
        raise form.error("it makes a vector whose size is open", "a size in its type", reason="mlir_size")
    if size > limit("vector_bytes"):
        raise limit_error(form.operation, "vector_bytes", f"it makes a vector of {size} bytes")


def numpy_of(element: str) -> Node:
    """NumPy's type that an element's number has."""
    return numpy_type("int64" if bits_of(element) is not None else {"f64": "float64"}.get(element, "float32"))


def text_of(shape: Shaped) -> str:
    """The type of a vector as text."""
    return f"vector<{''.join(f'{size}x' for size in shape.shape)}{shape.element}>"


def element(emitter: Emitter, value: str, at: Node | int) -> Node:
    """An element of a value: of a vector the one at a place, of a scalar itself."""
    kind = emitter.types.get(value, "")
    shape = is_vector(kind)
    if shape is None:
        return emitter.use(value)
    return whole(expr("_vector[_at]", _vector=emitter.use(value), _at=at), shape.element)


def whole(node: Node, kind: str) -> Node:
    """An element as a number of generated code: integers as Python has them."""
    return expr("whole(_node)", _node=node) if bits_of(kind) is not None else node


def begin(emitter: Emitter, form: Form, shape: Shaped) -> Node:
    """A new vector, whose elements follow."""
    check_vector(form, shape)
    name = emitter.define(form.result, text_of(shape))
    emitter.lines.add(
        "_name = np.empty(_size, _type)", _name=name, _size=shape.elements, _type=numpy_of(shape.element)
    )
    return name


@contextmanager
def nest(emitter: Emitter, sizes: Sequence[int | Node]) -> Iterator[list[Node]]:
    """Loops within each other; their counters."""
    emitter.lines.book()
    key = emitter.lines.fresh("e").id
    names: list[Node] = [temporary(key, n) for n in range(len(sizes))]
    with ExitStack() as loops:
        for name, size in zip(names, sizes, strict=True):
            loops.enter_context(
                emitter.lines.within("for _name in range(_size): pass", _name=name, _size=size)
            )
        yield names
        emitter.lines.book()


def place(names: Sequence[Node], sizes: Sequence[int]) -> Node:
    """The place of an element in a flat array, by its indices."""
    steps = [prod(sizes[n + 1 :]) for n in range(len(sizes))]
    terms = [paired("*", name, step) if step != 1 else name for name, step in zip(names, steps, strict=True)]
    return reduce(lambda one, other: paired("+", one, other), terms) if terms else number(0)


def elementwise(emitter: Emitter, form: Form, shape: Shaped, rule: Callable[[Node], Node]) -> None:
    """A vector whose elements are the rule's expressions of a place."""
    name = begin(emitter, form, shape)
    with nest(emitter, [shape.elements]) as (at,):
        emitter.lines.add("_name[_at] = _value", _name=name, _at=at, _value=rule(at))


def constant_node(form: Form, values: Any, element_kind: str) -> Node:
    """A vector of numbers that are known, in Python."""
    flat, dtype = values.ravel(), numpy_of(element_kind)
    if flat.size and (flat == flat[0]).all():
        return expr("np.full(_size, _value, _type)", _size=flat.size, _value=flat[0].item(), _type=dtype)
    if flat.size > limit("vector_numbers"):
        raise limit_error(form.operation, "vector_numbers", f"it has {flat.size} different numbers")
    nodes = [number(each) for each in flat.tolist()]
    return expr("np.array([*_values], _type)", _values=nodes, _type=dtype)


def put(emitter: Emitter, vector: Node, at: Node, value: Node) -> None:
    """Give an element of a new vector its value."""
    emitter.lines.add("_vector[_at] = _value", _vector=vector, _at=at, _value=value)


def result_vector(form: Form) -> Shaped:
    """The vector that an operation says that it gives."""
    found = is_vector((type_names(form) or [""])[-1])
    if found is None:
        raise form.error("its result is no vector", "vector<..>")
    check_vector(form, found)
    return found
