"""Vectors from and to memory: what lies outside is padding, or is not written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtile.importers.kernels.emitter import Emitter, Handler, loaded, stored
from memtile.importers.kernels.expressions import paired
from memtile.importers.kernels.maps import affine_map, plain_map
from memtile.importers.kernels.operands import indices_of, memory_of, number_of
from memtile.importers.kernels.quote import Node, every, expr, number
from memtile.importers.kernels.values import begin, element, nest, place, put, result_vector, vector_of
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.types import Shaped


def transfer_read(emitter: Emitter, form: Form) -> None:
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


def transfer_write(emitter: Emitter, form: Form) -> None:
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


def _check_kinds(form: Form, memory: Shaped, vector: Shaped) -> None:
    """Refuse elements of two types, and a vector of more dimensions than memory."""
    if memory.element != vector.element:
        says = f"elements of memory are {memory.element}, those of the vector {vector.element}"
        raise form.error(says, "elements of one type", reason="mlir_type")


def memory_operands(emitter: Emitter, form: Form, at: int) -> tuple[Node, Shaped, list[Node], list[str]]:
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
    form: Form, memory: Node, indices: Sequence[Node], names: Sequence[Node]
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


def masked_access(emitter: Emitter, form: Form) -> None:
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
