"""Structured operations on memory: loops over all dimensions of their operands, in order.

Each named operation is the general one with maps and an expression of its own, as the dialect defines it:
products are made in the type of the result, and sums rounded to it one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memtile.importers.kernels.emitter import Emitter, Handler, items_of, loaded, stored
from memtile.importers.kernels.expressions import RULES, bits_of
from memtile.importers.kernels.maps import AffineMap, affine_map
from memtile.importers.kernels.operations import yielded
from memtile.importers.kernels.source import SITE
from memtile.importers.kernels.values import nest
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.tree import Block
from memtile.importers.mlir.types import Shaped, shaped


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand: memory with a map, or a number.

    Attributes:
        value: of the text.
        kind: its type; of a number that of an element.
        map: from the loops to its elements; None = a number.
    """

    value: str
    kind: Shaped
    map: AffineMap | None


def split_operands(form: Form) -> tuple[list[str], list[str]]:
    """The operands that are read and those that are written."""
    given = form.attributes.get("operandSegmentSizes", form.attributes.get("operand_segment_sizes"))
    values = form.values
    if given is not None:
        count = int(items_of(given)[0])
        return values[:count], values[count:]
    inputs, outputs = _bracketed(form, "ins"), _bracketed(form, "outs")
    return (inputs, outputs) if outputs else (values[:-1], values[-1:])


def _bracketed(form: Form, word: str) -> list[str]:
    """The values in the bracket behind a word."""
    tokens = form.operation.tokens
    for first, end in form.operation.spans:
        for at in range(first, end):
            if tokens.words[at] == word and at + 1 in tokens.close:
                return [each for each in tokens.words[at + 2 : tokens.close[at + 1]] if each[:1] == "%"]
    return []


def operand(emitter: Emitter, value: str, found: AffineMap | None) -> Operand:
    """An operand with its type."""
    kind = emitter.types.get(value, "")
    memory = shaped(kind)
    return Operand(value, memory or Shaped((), kind), found if memory is not None else None)


def structured(
    emitter: Emitter,
    operands: Sequence[Operand],
    outputs: int,
    body: Callable[[list[str], list[str]], list[str]],
) -> None:
    """Loops over what the maps say, in which the body computes elements of the last operands.

    Args:
        emitter: of the operation.
        operands: those that are read, then those that are written.
        outputs: how many are written.
        body: from the elements and the counters of the loops to what the outputs become.
    """
    dims = max((each.map.dims for each in operands if each.map is not None), default=0)
    sizes = ["1"] * dims
    for each in operands:
        for n, _ in enumerate(each.kind.shape if each.map is not None else ()):
            dimension = each.map.dimension(n)  # type: ignore[union-attr]
            if dimension is not None:
                size = each.kind.shape[n]
                sizes[dimension] = str(size) if size >= 0 else f"{emitter.use(each.value)}.shape[{n}]"
    _check_sizes(emitter, operands, sizes)
    with nest(emitter, sizes) as names:
        emitter.loop_cost()
        cells = [_cell(emitter, each, names) for each in operands]
        given = [
            cell if each.map is None else loaded(cell, each.kind.element)
            for cell, each in zip(cells, operands, strict=True)
        ]
        results = body(given, names)
        last = list(zip(cells, operands, strict=True))[-outputs:]
        for result, (cell, each) in zip(results, last, strict=True):
            emitter.lines.add(f"{cell} = {stored(result, each.kind.element)}")


def _check_sizes(emitter: Emitter, operands: Sequence[Operand], sizes: Sequence[str]) -> None:
    """See that the operands have what the loops come to, along each dimension by itself."""
    for each in operands:
        for n in range(len(each.kind.shape)) if each.map is not None else ():
            dimension = each.map.dimension(n)  # type: ignore[union-attr]
            if dimension is not None:
                size = f"{emitter.use(each.value)}.shape[{n}]"
                emitter.lines.add(f"reach(0, {sizes[dimension]}, 1, {size}, {SITE})")


def _cell(emitter: Emitter, each: Operand, names: Sequence[str]) -> str:
    if each.map is None:
        return emitter.use(each.value)
    places = each.map.expressions(names) if each.kind.shape else ["0"]
    return f"{emitter.use(each.value)}[{', '.join(places)}]"


def generic(emitter: Emitter, form: Form) -> None:
    """``linalg.generic {indexing_maps, iterator_types} ins(..) outs(..) { ^bb0(..): .. linalg.yield }``."""
    inputs, outputs = split_operands(form)
    maps = [affine_map(form, str(text)) for text in form.attributes["indexing_maps"]]
    operands = [operand(emitter, v, m) for v, m in zip((*inputs, *outputs), maps, strict=True)]
    block = form.operation.regions[0].blocks[0]
    structured(emitter, operands, len(outputs), _inside(emitter, block))


def _inside(emitter: Emitter, block: Block) -> Callable[[list[str], list[str]], list[str]]:
    """The body that a block is: its arguments are the elements, what it yields the results."""

    operation = block.region.operation
    outside = {value for each in split_operands(Form(operation)) for value in each} if operation else set()
    arguments = [argument for argument in block.arguments if argument[0] not in outside]

    def body(given: list[str], names: list[str]) -> list[str]:
        for (name, kind), text in zip(arguments, given, strict=False):
            emitter.lines.add(f"{emitter.define(name, kind)} = {text}")
        _numbered(emitter, block, names)
        emitter.block(block)
        return [emitter.use(value) for value in yielded(block)]

    return body


def _numbered(emitter: Emitter, block: Block, names: Sequence[str]) -> None:
    """The counters that ``linalg.index`` asks for."""
    for operation in block.operations:
        if operation.name == "linalg.index":
            form = Form(operation)
            number = form.attributes.get("dim")
            number = int(operation.words[0]) if number is None else int(number)
            emitter.lines.add(f"{emitter.define(form.result, 'index')} = {names[number]}")


def _identity(rank: int) -> AffineMap:
    return AffineMap(rank, tuple(f"d{n}" for n in range(rank)))


def fill(emitter: Emitter, form: Form) -> None:
    """``linalg.fill ins(%c : i32) outs(%m : memref<..>)``."""
    value, memory = form.values[:2]
    kind = shaped(emitter.types.get(memory, ""))
    text = stored(emitter.use(value), kind.element if kind is not None else "")
    emitter.lines.add(f"{emitter.use(memory)}[...] = {text}")


def cast(text: str, source: str, target: str, *, unsigned: bool = False) -> str:
    """A number in the type of the result, as named operations take it."""
    integers = bits_of(source) is not None, bits_of(target) is not None
    if source == target:
        return text
    if integers == (True, True):
        wider = (bits_of(target) or 0) > (bits_of(source) or 0)
        name = ("extui" if unsigned else "extsi") if wider else "trunci"
    elif integers == (False, False):
        name = "extf"
    else:
        name = ("uitofp" if unsigned else "sitofp") if integers[0] else ("fptoui" if unsigned else "fptosi")
    return RULES[f"arith.{name}"]([text], source, target)


def _arithmetic(name: str, given: Sequence[str], kind: str) -> str:
    suffix = "i" if bits_of(kind) is not None else "f"
    return RULES[f"arith.{name}{suffix}"](given, kind, kind)


def product(maps: Sequence[str]) -> Handler:
    """A named contraction: the maps of both operands and of the result, as letters of loops."""
    order = sorted(set("".join(maps)), key="".join((maps[2], maps[0], maps[1])).index)
    found = [AffineMap(len(order), tuple(f"d{order.index(letter)}" for letter in text)) for text in maps]

    def handler(emitter: Emitter, form: Form) -> None:
        inputs, outputs = split_operands(form)
        given_maps = form.attributes.get("indexing_maps")
        chosen = found if given_maps is None else [affine_map(form, str(text)) for text in given_maps]
        operands = [operand(emitter, v, m) for v, m in zip((*inputs, *outputs), chosen, strict=True)]
        kind = operands[2].kind.element
        unsigned = "unsigned" in str(form.attributes.get("cast", ""))

        def body(given: list[str], _names: list[str]) -> list[str]:
            one, other = (
                cast(text, each.kind.element, kind, unsigned=unsigned)
                for text, each in zip(given[:2], operands, strict=False)
            )
            return [_arithmetic("add", [given[2], _arithmetic("mul", [one, other], kind)], kind)]

        structured(emitter, operands, 1, body)

    return handler


def mapped(rule: Callable[[list[str], str], str]) -> Handler:
    """A named operation element by element."""

    def handler(emitter: Emitter, form: Form) -> None:
        inputs, outputs = split_operands(form)
        kind = shaped(emitter.types.get(outputs[0], "")) or Shaped((), "")
        identity = _identity(len(kind.shape))
        operands = [operand(emitter, value, identity) for value in (*inputs, *outputs)]

        def body(given: list[str], _names: list[str]) -> list[str]:
            texts = [
                cast(text, each.kind.element, kind.element)
                for text, each in zip(given[:-1], operands, strict=False)
            ]
            return [rule(texts, kind.element)]

        structured(emitter, operands, 1, body)

    return handler


def _math(name: str) -> Handler:
    return mapped(lambda given, kind: RULES[f"math.{name}"](given, kind, kind))


def _either(integer: str, floating: str) -> Handler:
    def rule(given: list[str], kind: str) -> str:
        name = integer if bits_of(kind) is not None else floating
        return RULES[f"arith.{name}"](given, kind, kind)

    return mapped(rule)


def _dims(form: Form, *names: str) -> list[int]:
    for name in names:
        given = form.attributes.get(name)
        if given is not None:
            return [int(n) for n in items_of(given)]
    at = form.bracket("[")
    return [] if at is None else form.whole_list(at)


def moved(emitter: Emitter, form: Form) -> None:
    """``linalg.transpose .. permutation = [1, 0]``, and ``linalg.broadcast .. dimensions = [0]``."""
    inputs, outputs = split_operands(form)
    kind = shaped(emitter.types.get(outputs[0], "")) or Shaped((), "")
    rank = len(kind.shape)
    listed = _dims(form, "permutation", "dimensions")
    if form.operation.name == "linalg.transpose":
        texts = [f"d{listed.index(n)}" for n in range(rank)]
    else:
        texts = [f"d{n}" for n in range(rank) if n not in listed]
    maps = [AffineMap(rank, tuple(texts)), _identity(rank)]
    operands = [operand(emitter, v, m) for v, m in zip((*inputs, *outputs), maps, strict=True)]
    structured(emitter, operands, 1, lambda given, _: [given[0]])


def reduce(emitter: Emitter, form: Form) -> None:
    """``linalg.reduce ins(..) outs(..) dimensions = [1] (%in, %acc) { .. }``, or ``{ arith.addf }``."""
    inputs, outputs = split_operands(form)
    kind = shaped(emitter.types.get(inputs[0], "")) or Shaped((), "")
    dims, rank = set(_dims(form, "dimensions")), len(kind.shape)
    result = AffineMap(rank, tuple(f"d{n}" for n in range(rank) if n not in dims))
    operands = [operand(emitter, value, _identity(rank)) for value in inputs]
    operands += [operand(emitter, value, result) for value in outputs]
    structured(emitter, operands, len(outputs), _body_of(emitter, form))


def map_(emitter: Emitter, form: Form) -> None:
    """``linalg.map ins(..) outs(..) (%a, %b) { .. linalg.yield }``."""
    inputs, outputs = split_operands(form)
    kind = shaped(emitter.types.get(outputs[0], "")) or Shaped((), "")
    operands = [operand(emitter, value, _identity(len(kind.shape))) for value in (*inputs, *outputs)]
    structured(emitter, operands, 1, _body_of(emitter, form))


def _body_of(emitter: Emitter, form: Form) -> Callable[[list[str], list[str]], list[str]]:
    if not form.operation.regions:
        raise form.error("its body is not there", "a region", reason="mlir_unknown")
    block = form.operation.regions[0].blocks[0]
    return _inside(emitter, block)


_PRODUCTS = {
    "matmul": ("mk", "kn", "mn"),
    "matmul_transpose_a": ("km", "kn", "mn"),
    "matmul_transpose_b": ("mk", "nk", "mn"),
    "batch_matmul": ("bmk", "bkn", "bmn"),
    "batch_matmul_transpose_a": ("bkm", "bkn", "bmn"),
    "batch_matmul_transpose_b": ("bmk", "bnk", "bmn"),
    "batch_reduce_matmul": ("bmk", "bkn", "mn"),
    "matvec": ("mk", "k", "m"),
    "vecmat": ("k", "kn", "n"),
    "batch_matvec": ("bmk", "bk", "bm"),
    "batch_vecmat": ("bk", "bkn", "bn"),
    "dot": ("k", "k", ""),
    "mmt4d": ("MKmk", "NKnk", "MNmn"),
    "batch_mmt4d": ("bMKmk", "bNKnk", "bMNmn"),
}
_MATH = ("exp", "log", "ceil", "floor", "sqrt", "rsqrt", "tanh", "erf", "round", "powf")


HANDLERS: Mapping[str, Handler] = {
    "linalg.generic": generic,
    "linalg.fill": fill,
    "linalg.copy": mapped(lambda given, _kind: given[0]),
    "linalg.add": _either("addi", "addf"),
    "linalg.sub": _either("subi", "subf"),
    "linalg.mul": _either("muli", "mulf"),
    "linalg.div": _either("divsi", "divf"),
    "linalg.div_unsigned": _either("divui", "divf"),
    "linalg.max": _either("maxsi", "maximumf"),
    "linalg.min": _either("minsi", "minimumf"),
    "linalg.negf": mapped(lambda given, kind: RULES["arith.negf"](given, kind, kind)),
    "linalg.abs": mapped(lambda given, kind: RULES["math.absf"](given, kind, kind)),
    "linalg.square": mapped(lambda given, kind: _arithmetic("mul", [given[0], given[0]], kind)),
    "linalg.reciprocal": mapped(lambda given, kind: RULES["arith.divf"](["1.0", given[0]], kind, kind)),
    **{f"linalg.{name}": _math(name) for name in _MATH},
    **{f"linalg.{name}": product(maps) for name, maps in _PRODUCTS.items()},
    "linalg.transpose": moved,
    "linalg.broadcast": moved,
    "linalg.reduce": reduce,
    "linalg.map": map_,
    "linalg.index": lambda _emitter, _form: None,
}
