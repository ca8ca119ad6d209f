"""Values of a sequence: numbers, constants, arguments and parts of them, loops."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from memtile.importers.mlir.attributes import Compound, attributes
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.sequence.reader import Call, Reader, Value, View
from memtile.importers.mlir.tree import Block


def constant(reader: Reader, form: Call) -> None:
    """``arith.constant``."""
    found = attributes(form.operation).get("value")
    if found is None and form.operation.spans:
        found = form.value(form.operation.spans[0])
    reader.values[form.result] = (
        int(found) if isinstance(found, bool | int) else 0.0 if found is None else found
    )


def global_array(reader: Reader, form: Call) -> None:
    """``memref.get_global @data``."""
    operation = reader.made.device.constants.get(str(form.attributes.get("name") or form.symbol))
    if operation is None:
        raise form.error(f"no constant has the name {form.symbol}", "memref.global")
    data = Form(operation)
    given = data.initial() or data.attributes.get("initial_value")
    shape = data.last_type()
    values = list(given.listed) if isinstance(given, Compound) else []
    array = np.array(values[0] if len(values) == 1 else values)
    size = shape.elements if shape is not None else array.size
    reader.values[form.result] = np.broadcast_to(array, (size,)) if array.size == 1 else array


def part(reader: Reader, form: Call) -> None:
    """Casts and parts of arguments: the same bytes, from another one on."""
    source = form.argument(form.values[0])
    shape = form.last_type() or source.shape
    size = element_bytes(form, source.shape)
    offset = 0
    if form.operation.name == "memref.subview":
        lists = [form.whole_list(at) for at in (form.bracket("[", n) for n in range(3)) if at is not None]
        strides = _row_strides(source.shape.shape)
        offset = sum(o * s for o, s in zip(lists[0], strides, strict=True))
    elif form.operation.name == "memref.reinterpret_cast":
        at = form.bracket("[", 0)
        offset = sum(form.whole_list(at)) if at is not None else 0
    reader.values[form.result] = View(source.argument, source.offset + offset * size, shape)


def _row_strides(sizes: tuple[int, ...]) -> list[int]:
    return [int(np.prod(sizes[n + 1 :])) for n in range(len(sizes))]


def loop(reader: Reader, form: Call) -> None:
    """``%r = scf.for %i = %a to %b step %c iter_args(%x = %y) -> (index) { .. }``, unrolled."""
    words, (region,) = form.operation.words, form.operation.regions
    bounds = [form.whole(words[words.index(key) + 1]) for key in ("=", "to", "step")]
    carried = _carried(words)
    for name, initial in carried:
        reader.values[name] = reader.values[initial]
    for value in range(*bounds):
        reader.values[words[0]] = value
        reader.run(reader, region.blocks[0])
        _assign(reader, [name for name, _ in carried], _yielded(reader, region.blocks[0]))
    _assign(reader, form.operation.results, [reader.values[name] for name, _ in carried])


def branch(reader: Reader, form: Call) -> None:
    """``%r = scf.if %c -> (index) { .. } else { .. }``: the region that the condition chooses."""
    regions = form.operation.regions
    chosen = 0 if form.whole(form.values[0]) else 1
    if chosen < len(regions):
        reader.run(reader, regions[chosen].blocks[0])
        _assign(reader, form.operation.results, _yielded(reader, regions[chosen].blocks[0]))


def compare(reader: Reader, form: Call) -> None:
    """``arith.cmpi slt, %a, %b : index``."""
    predicate = str(form.attributes.get("predicate", form.operation.words[0])).strip('"')
    one, other = (form.whole(value) for value in form.values)
    if predicate not in COMPARISONS:
        raise form.error(f"the predicate {predicate} is not known", ", ".join(COMPARISONS))
    reader.values[form.result] = int(COMPARISONS[predicate](one, other))


def _carried(words: list[str]) -> list[tuple[str, str]]:
    """Names and first values of what a loop hands from turn to turn."""
    if "iter_args" not in words:
        return []
    first = words.index("iter_args")
    last = words.index(")", first)
    return [(words[at - 1], words[at + 1]) for at in range(first, last) if words[at] == "="]


def _yielded(reader: Reader, block: Block) -> list[Value]:
    """What a block hands on."""
    last = block.operations[-1] if block.operations else None
    if last is None or last.name != "scf.yield":
        return []
    return [reader.values[word] for word in last.words if word[:1] == "%"]


def _assign(reader: Reader, names: Sequence[str], values: Sequence[Value]) -> None:
    single = names if len(names) <= 1 else names[1:]  # of several, the first is what they are called together
    reader.values.update(zip(single if len(names) > len(values) else names, values, strict=False))


def integers(reader: Reader, form: Call) -> None:
    """Arithmetic on numbers that are known."""
    compute = ARITHMETIC[form.operation.name]
    reader.values[form.result] = compute(*(form.whole(value) for value in form.values))


COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
}
ARITHMETIC: Mapping[str, Callable[..., int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": lambda a, b: a // b,
    "arith.divui": lambda a, b: a // b,
    "arith.remsi": lambda a, b: a % b,
    "arith.remui": lambda a, b: a % b,
    "arith.shli": lambda a, b: a << b,
    "arith.ori": lambda a, b: a | b,
    "arith.andi": lambda a, b: a & b,
    "arith.index_cast": lambda a: a,
    "arith.extsi": lambda a: a,
    "arith.extui": lambda a: a,
    "arith.trunci": lambda a: a,
}
