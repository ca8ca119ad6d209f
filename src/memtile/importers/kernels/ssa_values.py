"""Vectors as values: flat arrays of numbers, and loops over them.

It also has vectors from and to memory: what lies outside is padding, or is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import reduce
from math import prod
from typing import Any

from memtile.importers.kernels.body_operands import element_type, indices_of, memory_of, number_of
from memtile.importers.kernels.emitter import Emitter, Handler, loaded, stored, type_names
from memtile.importers.kernels.expressions import bits_of, paired
from memtile.importers.kernels.maps import affine_map, plain_map
from memtile.importers.kernels.quote import Node, every, expr, number, numpy_type, temporary
from memtile.importers.mlir.forms.operand_faults import limit_error
from memtile.importers.mlir.forms.operands import OperationForm
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


def check_vector(form: OperationForm, shape: Shaped) -> None:
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


def begin(emitter: Emitter, form: OperationForm, shape: Shaped) -> Node:
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


def elementwise(emitter: Emitter, form: OperationForm, shape: Shaped, rule: Callable[[Node], Node]) -> None:
    """A vector whose elements are the rule's expressions of a place."""
    name = begin(emitter, form, shape)
    with nest(emitter, [shape.elements]) as (at,):
        emitter.lines.add("_name[_at] = _value", _name=name, _at=at, _value=rule(at))


def constant_node(form: OperationForm, values: Any, element_kind: str) -> Node:
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


def result_vector(form: OperationForm) -> Shaped:
    """The vector that an operation says that it gives."""
    found = is_vector((type_names(form) or [""])[-1])
    if found is None:
        raise form.error("its result is no vector", "vector<..>")
    check_vector(form, found)
    return found


def transfer_read(emitter: Emitter, form: OperationForm) -> None:
    """``vector.transfer_read %m[%i, %j], %pad : memref<..>, vector<..>``: the padding where memory ends."""
    memory, kind, indices, rest = memory_operands(emitter, form, 0)
    shape = result_vector(form)
    _check_kinds(form, kind, shape)
    name = begin(emitter, form, shape)
    with nest(emitter, shape.shape) as names:
        at, inside = _moved(form, memory, indices, names)
        mask = [element(emitter, rest[1], place(names, shape.shape))] if len(rest) > 1 else []
        value = loaded(expr("_memory[*_at]", _memory=memory, _at=at), kind.element)
        pad = number_of(emitter, form, rest[0]) if rest else number(0)
        emitter.lines.add(
            "_name[_place] = _value if _test else _pad",
            _name=name,
            _place=place(names, shape.shape),
            _value=value,
            _test=every([*mask, *inside]),
            _pad=pad,
        )


def transfer_write(emitter: Emitter, form: OperationForm) -> None:
    """``vector.transfer_write %v, %m[%i, %j] : vector<..>, memref<..>``: what lies outside is not written."""
    memory, kind, indices, rest = memory_operands(emitter, form, 1)
    shape = vector_of(emitter, form.values[0])
    _check_kinds(form, kind, shape)
    with nest(emitter, shape.shape) as names:
        at, inside = _moved(form, memory, indices, names)
        own = place(names, shape.shape)
        mask = [element(emitter, rest[0], own)] if rest else []
        with emitter.lines.within("if _test: pass", _test=every([*mask, *inside])):
            value = stored(element(emitter, form.values[0], own), kind.element)
            emitter.lines.add("_memory[*_at] = _value", _memory=memory, _at=at, _value=value)


def _check_kinds(form: OperationForm, memory: Shaped, vector: Shaped) -> None:
    """Refuse elements of two types, and a vector of more dimensions than memory."""
    if memory.element != vector.element:
        says = f"elements of memory are {memory.element}, those of the vector {vector.element}"
        raise form.error(says, "elements of one type", reason="mlir_type")


def memory_operands(
    emitter: Emitter, form: OperationForm, at: int
) -> tuple[Node, Shaped, list[Node], list[str]]:
    """The memref at a place among the operands, its type and indices, and the values behind them."""
    memory, kind = memory_of(emitter, form, form.values[at])
    if form.operation.name.startswith("affine."):
        return memory, kind, indices_of(emitter, form, at, kind), []
    rank = len(kind.shape)
    given = form.values[at + 1 : at + 1 + rank]
    indices, rest = [number_of(emitter, form, v) for v in given], form.values[at + 1 + rank :]
    if len(indices) != rank:
        says = f"it has {len(indices)} indices for {rank} dimensions"
        raise form.error(says, "an index for each", reason="mlir_index")
    return memory, kind, indices, rest


def _moved(
    form: OperationForm, memory: Node, indices: Sequence[Node], names: Sequence[Node]
) -> tuple[list[Node], list[Node]]:
    """Indices of an element in memory, and the conditions that it is there."""
    given = form.attributes.get("permutation_map")
    rank = len(indices)
    if given is None and len(names) > rank:
        says = f"a vector of {len(names)} dimensions is in memory of {rank}"
        raise form.error(says, f"up to {rank} dimensions", reason="mlir_index")
    found = plain_map(rank, range(rank - len(names), rank)) if given is None else affine_map(form, str(given))
    moved = list(indices)
    for n, name in enumerate(names):
        dimension = found.dimension(n)
        if dimension is not None:
            moved[dimension] = paired("+", moved[dimension], name)
    inside = [
        expr("0 <= _at < _memory.shape[_n]", _at=each, _memory=memory, _n=n) for n, each in enumerate(moved)
    ]
    return moved or [number(0)], inside


def masked_access(emitter: Emitter, form: OperationForm) -> None:
    """``vector.maskedload %m[%i], %mask, %pass`` and ``vector.maskedstore %m[%i], %mask, %v``."""
    memory, kind, indices, rest = memory_operands(emitter, form, 0)
    if len(rest) < 2 or not indices:
        raise form.error("it has no mask or no vector", "memory, a mask and a vector", reason="mlir_operands")
    mask, value = rest[:2]
    loads, shape = form.operation.name.endswith("load"), vector_of(emitter, value)
    _check_kinds(form, kind, shape)
    name = begin(emitter, form, shape) if loads else None
    with nest(emitter, [shape.elements]) as (at,):
        moved = [*indices[:-1], paired("+", indices[-1], at)]
        own, chosen = element(emitter, value, at), element(emitter, mask, at)
        cell = expr("_memory[*_at]", _memory=memory, _at=moved)
        if name is not None:
            put(emitter, name, at, own)
        with emitter.lines.within("if _chosen: pass", _chosen=chosen):
            if name is not None:
                put(emitter, name, at, loaded(cell, kind.element))
            else:
                emitter.lines.add("_cell = _value", _cell=cell, _value=stored(own, kind.element))


HANDLERS: Mapping[str, Handler] = {
    "vector.transfer_read": transfer_read,
    "vector.transfer_write": transfer_write,
    "vector.load": transfer_read,
    "vector.store": transfer_write,
    "affine.vector_load": transfer_read,
    "affine.vector_store": transfer_write,
    "vector.maskedload": masked_access,
    "vector.maskedstore": masked_access,
}
