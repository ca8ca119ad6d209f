"""Values of a sequence: numbers, constants, arguments and parts of them, loops."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from math import prod

from memtile.arch.tiles import WORD_BYTES
from memtile.importers.kernels.arithmetic import divide, remainder, w64
from memtile.importers.mlir.attributes import attributes
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.forms.dense_constants import array_of, dense
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.sequence.runtime_values import carried
from memtile.importers.mlir.sequence.sequence_reader import MOST_STEPS, ArgumentView, Call, Reader, Value
from memtile.importers.mlir.tree import OperationBlock
from memtile.importers.mlir.types import Shaped


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
    """Casts and parts of arguments, as mlir-aie finds their first byte (traceSubviewToBlockArgument)."""
    source = form.argument(form.values[0])
    offset = _PARTS.get(form.operation.name, _nothing)(form, source.shape)
    shape = form.last_type() or source.shape
    reader.values[form.result] = ArgumentView(source.argument, source.offset + offset, shape)


def _nothing(_form: Call, _source: Shaped) -> int:
    return 0


def _subview(form: Call, source: Shaped) -> int:
    """Bytes before a part; what it has must follow each other in memory."""
    if form.generic:
        offsets, sizes, steps = (form.integers(f"static_{name}") for name in ("offsets", "sizes", "strides"))
    else:
        lists = [form.whole_list(at) for at in (form.bracket("[", n) for n in range(3)) if at is not None]
        offsets, sizes, steps = lists
    strides = _strides(form, source)
    expected, ordered = 1, all(step == 1 for step in steps)
    for size, stride in reversed(list(zip(sizes, strides, strict=True))):
        ordered &= size == 1 or stride == expected
        expected *= size
    if not ordered:
        says = "what it takes does not lie at one place in memory"
        raise form.error(says, "steps of 1, and whole rows of the inner dimensions", reason="mlir_part")
    return sum(o * s for o, s in zip(offsets, strides, strict=True)) * element_bytes(form, source)


def _reinterpreted(form: Call, source: Shaped) -> int:
    """Nothing: mlir-aie takes the same first byte, whatever the cast says."""
    given = form.integers("static_offsets") if form.generic else []
    at = form.bracket("[", 0)
    given = form.whole_list(at) if at is not None and not form.generic else given
    if any(given) and not any(_offset(source) == offset for offset in given):
        says = f"its offset is {given[0]}, which mlir-aie leaves out"
        raise form.error(says, "offset: [0]", reason="mlir_part", step="Take the part with memref.subview.")
    return 0


def _view(form: Call, _source: Shaped) -> int:
    """The byte where a view of bytes begins."""
    if len(form.values) != 2:
        raise form.error("its sizes are values", "a type with all sizes", reason="mlir_part")
    return form.whole(form.values[1])


_PARTS: Mapping[str, Callable[[Call, Shaped], int]] = {
    "memref.subview": _subview,
    "memref.reinterpret_cast": _reinterpreted,
    "memref.view": _view,
}
_STRIDED = re.compile(r"strided<\[([0-9,]*)\](?:,offset:([0-9]+))?>")


def _strides(form: Call, source: Shaped) -> list[int]:
    """Elements from one to the next along each dimension, as the type says or in order."""
    said = _STRIDED.match(source.layout)
    if source.layout and said is None:
        raise form.error(
            f"its source has the layout {source.layout}", "strided<[..]> or none", reason="mlir_part"
        )
    if said is not None:
        return [int(stride) for stride in said[1].split(",") if stride]
    sizes = source.shape
    return [prod(sizes[n + 1 :]) for n in range(len(sizes))]


def _offset(source: Shaped) -> int:
    said = _STRIDED.match(source.layout)
    return int(said[2] or 0) if said else 0


def loop(reader: Reader, form: Call) -> None:
    """``%r = scf.for %i = %a to %b step %c iter_args(%x = %y) -> (index) { .. }``, unrolled."""
    words, block = form.operation.words, form.block()
    low, high, step = (form.whole(form.after(key)) for key in ("=", "to", "step"))
    if step < 1:
        raise form.error(f"its step is {step}", "1 or more", reason="mlir_loop")
    handed = carried(words)
    for name, initial in handed:
        reader.values[name] = form.known(initial)
    for value in range(low, high, step):
        reader.turn(form)
        reader.values[words[0]] = value
        reader.run(reader, block)
        _assign(reader, [name for name, _ in handed], _yielded(form, block))
    _assign(reader, form.operation.results, [reader.values[name] for name, _ in handed])


def assert_field(_reader: Reader, form: Call) -> None:
    """``aiex.npu.assert_bd_field(%v) {max = 1023}``: a number that a field of a BD must hold."""
    value, most = form.whole(form.values[0]), form.integer("max")
    if not 0 <= value <= most:
        says = f"the number is {value}; it must be 0..{most}"
        raise form.error(says, f"0..{most}", reason="mlir_pattern", given=str(value))


def assert_divisible(_reader: Reader, form: Call) -> None:
    """``aiex.npu.assert_bd_divisible(%v) {divisor = 4}``: elements that are whole words together."""
    value, divisor = form.whole(form.values[0]), form.integer("divisor")
    unit = value == 1 and "allow_unit" in form.attributes
    if divisor < 1 or (value % divisor and not unit):
        says = f"the number is {value}; it must be a multiple of {divisor}"
        raise form.error(says, f"a multiple of {divisor}", reason="mlir_pattern", given=str(value))


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


def select(reader: Reader, form: Call) -> None:
    """``arith.select %c, %a, %b : index``."""
    chosen, one, other = form.values.exactly(3)
    reader.values[form.result] = form.known(one if form.whole(chosen) else other)


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
    if form.operation.name in ("arith.shli", "arith.shrsi") and not 0 <= given[1] < _BITS:
        raise form.error(f"it shifts by {given[1]}", f"0..{_BITS - 1}", reason="mlir_shift")
    reader.values[form.result] = w64(compute(*given))


_BITS = 64
_DIVISIONS = tuple(
    f"arith.{name}" for name in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi")
)
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
    "arith.xori": lambda a, b: a ^ b,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.floordivsi": lambda a, b: a // b,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.shrsi": lambda a, b: a >> b,
    **dict.fromkeys(_CASTS, lambda a: a),
}
