"""Values of a sequence: numbers, constants, arguments and parts of them, loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from memtile.importers.mlir.attributes import Compound, attributes
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.sequence.reader import Call, Reader, View


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
    """``scf.for %i = %a to %b step %c { .. }``, unrolled."""
    words = form.operation.words
    bounds = [form.whole(words[words.index(key) + 1]) for key in ("=", "to", "step")]
    (region,) = form.operation.regions
    for value in range(*bounds):
        reader.values[words[0]] = value
        reader.run(reader, region.blocks[0])


def integers(reader: Reader, form: Call) -> None:
    """Arithmetic on numbers that are known."""
    compute = ARITHMETIC[form.operation.name]
    reader.values[form.result] = compute(*(form.whole(value) for value in form.values))


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
