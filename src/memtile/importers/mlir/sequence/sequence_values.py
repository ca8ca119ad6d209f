"""Values of a sequence: numbers, constants, arguments and parts of them, loops."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.importers.kernels.arithmetic import divide, remainder, w64
from memtile.importers.mlir.attributes import attributes
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.forms.dense_constants import array_of, dense
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.sequence.sequence_reader import MOST_STEPS, ArgumentView, Call, Reader, Value
from memtile.importers.mlir.tree import OperationBlock


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
    data = OperationForm(operation)
    shape = data.last_type()
    values = dense(data.initial() or data.attributes.get("initial_value"), shape)
    if shape is None or values is None:
        raise data.error("it has no type or no numbers", "memref<..> = dense<..>", reason="mlir_constant")
    reader.values[form.result] = array_of(data, values, shape, MOST_STEPS * WORD_BYTES)


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
    reader.values[form.result] = ArgumentView(source.argument, source.offset + offset * size, shape)


def _row_strides(sizes: tuple[int, ...]) -> list[int]:
    return [int(np.prod(sizes[n + 1 :])) for n in range(len(sizes))]


def loop(reader: Reader, form: Call) -> None:
    """``%r = scf.for %i = %a to %b step %c iter_args(%x = %y) -> (index) { .. }``, unrolled."""
    words, block = form.operation.words, form.block()
    low, high, step = (form.whole(form.after(key)) for key in ("=", "to", "step"))
    if step < 1:
        raise form.error(f"its step is {step}", "1 or more", reason="mlir_loop")
    carried = _carried(words)
    for name, initial in carried:
        reader.values[name] = form.known(initial)
    for value in range(low, high, step):
        reader.turn(form)
        reader.values[words[0]] = value
        reader.run(reader, block)
        _assign(reader, [name for name, _ in carried], _yielded(form, block))
    _assign(reader, form.operation.results, [reader.values[name] for name, _ in carried])


def branch(reader: Reader, form: Call) -> None:
    """``%r = scf.if %c -> (index) { .. } else { .. }``: the region that the condition chooses."""
    regions = form.operation.regions
    chosen = 0 if form.whole(form.values[0]) else 1
    if chosen < len(regions):
        reader.run(reader, regions[chosen].blocks[0])
        _assign(reader, form.operation.results, _yielded(form, regions[chosen].blocks[0]))


def compare(reader: Reader, form: Call) -> None:
    """``arith.cmpi slt, %a, %b : index``."""
    predicate = str(form.attributes.get("predicate", "".join(form.operation.words[:1]))).strip('"')
    one, other = (form.whole(value) for value in form.values.exactly(2))
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


def _yielded(form: Call, block: OperationBlock) -> list[Value]:
    """What a block hands on."""
    last = block.operations[-1] if block.operations else None
    if last is None or last.name != "scf.yield":
        return []
    return [form.known(word) for word in last.words if word[:1] == "%"]


def _assign(reader: Reader, names: Sequence[str], values: Sequence[Value]) -> None:
    single = names if len(names) <= 1 else names[1:]  # of several, the first is what they are called together
    reader.values.update(zip(single if len(names) > len(values) else names, values, strict=False))


def integers(reader: Reader, form: Call) -> None:
    """Arithmetic on numbers that are known."""
    compute = ARITHMETIC[form.operation.name]
    given = [form.whole(value) for value in form.values.exactly(1 if form.operation.name in _CASTS else 2)]
    if form.operation.name in _DIVISIONS and given[1] == 0:
        raise form.error(f"{given[0]} is divided by zero", "another number than 0", reason="mlir_division")
    if form.operation.name == "arith.shli" and not 0 <= given[1] < _BITS:
        raise form.error(f"it shifts by {given[1]}", f"0..{_BITS - 1}", reason="mlir_shift")
    reader.values[form.result] = w64(compute(*given))


_BITS = 64
_DIVISIONS = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui")
_CASTS = ("arith.index_cast", "arith.extsi", "arith.extui", "arith.trunci")
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
    "arith.divsi": divide,
    "arith.divui": lambda a, b: a // b,
    "arith.remsi": remainder,
    "arith.remui": lambda a, b: a % b,
    "arith.shli": lambda a, b: a << b,
    "arith.ori": lambda a, b: a | b,
    "arith.andi": lambda a, b: a & b,
    **dict.fromkeys(_CASTS, lambda a: a),
}
