"""Structured operations on memory: loops over all dimensions of their operands, in order.

Each named operation is the general one with maps and an expression of its own, as the dialect defines it:
products are made in the type of the result, and sums rounded to it one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memtile.importers.kernels.body_operands import memory_of, number_of
from memtile.importers.kernels.body_operations import give, yielded
from memtile.importers.kernels.emitter import Emitter, Handler, loaded, stored
from memtile.importers.kernels.expressions import RULES, bits_of
from memtile.importers.kernels.maps import AffineMap, affine_map, plain_map
from memtile.importers.kernels.memref_handlers import check_element
from memtile.importers.kernels.quote import Node, expr, number
from memtile.importers.kernels.ssa_values import nest
from memtile.importers.mlir.forms.operand_faults import Parts
from memtile.importers.mlir.forms.operands import OperationForm, shown
from memtile.importers.mlir.tree import OperationBlock
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


def split_operands(form: OperationForm) -> tuple[Parts[str], Parts[str]]:
    """The operands that are read and those that are written."""
    inputs, outputs = _split(form)
    return Parts(form.operation, inputs, "input"), Parts(form.operation, outputs, "output")


def _split(form: OperationForm) -> tuple[list[str], list[str]]:
    values = form.values
    key = next(
        (key for key in ("operandSegmentSizes", "operand_segment_sizes") if key in form.attributes), ""
    )
    if key:
        count = form.integers(key)[0] if form.integers(key) else -1
        if not 0 <= count <= len(values):
            says = f"its operands are {len(values)}, its segments {shown(form.integers(key))}"
            raise form.error(says, "inputs and outputs", reason="mlir_operands")
        return values[:count], values[count:]
    inputs, outputs = _bracketed(form, "ins"), _bracketed(form, "outs")
    return (inputs, outputs) if outputs else (values[:-1], values[-1:])


def _bracketed(form: OperationForm, word: str) -> list[str]:
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


def _with_maps(
    emitter: Emitter, form: OperationForm, values: Sequence[str], maps: Sequence[AffineMap]
) -> list[Operand]:
    """Operands, each with its map.

    Raises:
        InputFileError: there are more or fewer maps.
    """
    if len(values) != len(maps):
        says = f"it has {len(values)} operands and {len(maps)} maps"
        raise form.error(says, "a map for each operand", reason="mlir_operands")
    return [operand(emitter, value, each) for value, each in zip(values, maps, strict=True)]


Body = Callable[[list[Node], list[Node]], list[Node]]
"""From the elements and the counters of the loops to what the outputs become."""


def structured(
    emitter: Emitter, form: OperationForm, operands: Sequence[Operand], outputs: int, body: Body
) -> None:
    """Loops over what the maps say, in which the body computes elements of the last operands.

    Args:
        emitter: of the operation.
        form: of it.
        operands: those that are read, then those that are written.
        outputs: how many are written.
        body: that computes.
    """
    _check_maps(emitter, form, operands, outputs)
    sizes = _sizes(emitter, operands)
    for each, n, dimension in _plain(operands):
        size = expr("_memory.shape[_n]", _memory=emitter.use(each.value), _n=n)
        emitter.lines.add("reach(0, _many, 1, _size, SITE)", _many=sizes[dimension], _size=size)
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
            emitter.lines.add("_cell = _value", _cell=cell, _value=stored(result, each.kind.element))


def _check_maps(emitter: Emitter, form: OperationForm, operands: Sequence[Operand], outputs: int) -> None:
    """Refuse maps that are not of their operands, and results that are no memory."""
    with_map = [each for each in operands if each.map is not None]
    for each in operands:
        if (each.map is not None) != emitter.types.get(each.value, "").startswith("memref"):
            raise form.error(f"{each.value} is neither memory nor a number", "memrefs", reason="mlir_type")
    if any(each.map is None for each in operands[-outputs:]) or not operands:
        raise form.error("a result of it is no memory", "memrefs", reason="mlir_type")
    if len({len(each.map.dims) for each in with_map if each.map is not None}) > 1:
        raise form.error(
            "its maps take not the same dimensions", "maps of one list of loops", reason="mlir_index"
        )
    for each in with_map:
        if each.map is not None and len(each.map.results) != len(each.kind.shape):
            says = f"the map of {each.value} gives {len(each.map.results)} indices"
            raise form.error(says, f"{len(each.kind.shape)}, as its type has", reason="mlir_index")


def _plain(operands: Sequence[Operand]) -> Iterator[tuple[Operand, int, int]]:
    """The dimensions of operands that are loops: operand, dimension, loop."""
    for each in operands:
        for n in range(len(each.map.results)) if each.map is not None else ():
            dimension = each.map.dimension(n) if each.map is not None else None
            if dimension is not None:
                yield each, n, dimension


def _sizes(emitter: Emitter, operands: Sequence[Operand]) -> list[Node]:
    """How many turns each loop has: what the last operand has that names it."""
    dims = max((len(each.map.dims) for each in operands if each.map is not None), default=0)
    sizes = [number(1)] * dims
    for each, n, dimension in _plain(operands):
        size = each.kind.shape[n]
        open_ = expr("_memory.shape[_n]", _memory=emitter.use(each.value), _n=n)
        sizes[dimension] = number(size) if size >= 0 else open_
    return sizes


def _cell(emitter: Emitter, each: Operand, names: Sequence[Node]) -> Node:
    memory = emitter.use(each.value)
    if each.map is None:
        return memory
    places = each.map.nodes(names) if each.kind.shape else [number(0)]
    return expr("_memory[*_at]", _memory=memory, _at=places)


def generic(emitter: Emitter, form: OperationForm) -> None:
    """``linalg.generic {indexing_maps, iterator_types} ins(..) outs(..) { ^bb0(..): .. linalg.yield }``."""
    inputs, outputs = split_operands(form)
    maps = [affine_map(form, str(text)) for text in form.attributes["indexing_maps"]]
    operands = _with_maps(emitter, form, (*inputs, *outputs), maps)
    block = form.operation.regions[0].blocks[0]
    structured(emitter, form, operands, len(outputs), _inside(emitter, form, block))


def _inside(emitter: Emitter, form: OperationForm, block: OperationBlock) -> Body:
    """The body that a block is: its arguments are the elements, what it yields the results."""
    inputs, outputs = split_operands(form)
    outside = {*inputs, *outputs}
    arguments = [argument for argument in block.arguments if argument[0] not in outside]

    def body(given: list[Node], names: list[Node]) -> list[Node]:
        for (name, kind), value in zip(arguments, given, strict=False):
            give(emitter, name, kind, value)
        _numbered(emitter, block, names)
        emitter.block(block)
        values = yielded(block)
        if len(values) != len(outputs):
            says = f"its body yields {len(values)} values for {len(outputs)} results"
            raise form.error(says, "a value for each", reason="mlir_operands")
        for each, memory in zip(values, outputs, strict=True):
            kind = emitter.types.get(memory, "")
            check_element(emitter, form, each, (shaped(kind) or Shaped((), kind)).element)
        return [emitter.use(each) for each in values]

    return body


def _numbered(emitter: Emitter, block: OperationBlock, names: Sequence[Node]) -> None:
    """The counters that ``linalg.index`` asks for."""
    for operation in block.operations:
        if operation.name == "linalg.index":
            form = OperationForm(operation)
            dim = form.integer("dim") if "dim" in form.attributes else form.whole(operation.words[0])
            if not 0 <= dim < len(names):
                raise form.error(f"it asks for loop {dim}", f"0..{len(names) - 1}", reason="mlir_index")
            give(emitter, form.result, "index", names[dim])


def _identity(rank: int) -> AffineMap:
    return plain_map(rank, range(rank))


def fill(emitter: Emitter, form: OperationForm) -> None:
    """``linalg.fill ins(%c : i32) outs(%m : memref<..>)``."""
    value = form.values[0]
    memory, kind = memory_of(emitter, form, form.values[1])
    check_element(emitter, form, value, kind.element)
    given = stored(number_of(emitter, form, value), kind.element)
    emitter.lines.add("_memory[...] = _value", _memory=memory, _value=given)


def cast(node: Node, source: str, target: str, *, unsigned: bool = False) -> Node:
    """A number in the type of the result, as named operations take it."""
    if source == target:
        return node
    sign, bits, target_bits = "u" if unsigned else "s", bits_of(source), bits_of(target)
    if bits is not None and target_bits is not None:
        name = f"ext{sign}i" if target_bits > bits else "trunci"
    elif bits is not None:
        name = f"{sign}itofp"
    else:
        name = "extf" if target_bits is None else f"fpto{sign}i"
    return RULES[f"arith.{name}"]([node], source, target)


def _arithmetic(name: str, given: Sequence[Node], kind: str) -> Node:
    suffix = "i" if bits_of(kind) is not None else "f"
    return RULES[f"arith.{name}{suffix}"](given, kind, kind)


def product(maps: Sequence[str]) -> Handler:
    """A named contraction: the maps of both operands and of the result, as letters of loops."""
    order = sorted(set("".join(maps)), key="".join((maps[2], maps[0], maps[1])).index)
    found = [plain_map(len(order), [order.index(letter) for letter in text]) for text in maps]

    def handler(emitter: Emitter, form: OperationForm) -> None:
        inputs, outputs = split_operands(form)
        values = (*inputs.exactly(2), *outputs.exactly(1))
        given_maps = form.attributes.get("indexing_maps")
        chosen = found if given_maps is None else [affine_map(form, str(text)) for text in given_maps]
        operands = _with_maps(emitter, form, values, chosen)
        kind = operands[2].kind.element
        unsigned = "unsigned" in str(form.attributes.get("cast", ""))

        def body(given: list[Node], _names: list[Node]) -> list[Node]:
            one, other = (
                cast(node, each.kind.element, kind, unsigned=unsigned)
                for node, each in zip(given[:2], operands, strict=False)
            )
            return [_arithmetic("add", [given[2], _arithmetic("mul", [one, other], kind)], kind)]

        structured(emitter, form, operands, 1, body)

    return handler


def mapped(rule: Callable[[list[Node], str], Node], arity: int = 1) -> Handler:
    """A named operation element by element, of so many inputs."""

    def handler(emitter: Emitter, form: OperationForm) -> None:
        given_inputs, given_outputs = split_operands(form)
        inputs, outputs = given_inputs.exactly(arity), given_outputs.exactly(1)
        kind = shaped(emitter.types.get(outputs[0], "")) or Shaped((), "")
        identity = _identity(len(kind.shape))
        operands = [operand(emitter, value, identity) for value in (*inputs, *outputs)]

        def body(given: list[Node], _names: list[Node]) -> list[Node]:
            nodes = [
                cast(node, each.kind.element, kind.element)
                for node, each in zip(given[:-1], operands, strict=False)
            ]
            return [rule(nodes, kind.element)]

        structured(emitter, form, operands, 1, body)

    return handler


def _math(name: str) -> Handler:
    arity = 2 if name == "powf" else 1
    return mapped(lambda given, kind: RULES[f"math.{name}"](given, kind, kind), arity)


def _either(integer: str, floating: str) -> Handler:
    def rule(given: list[Node], kind: str) -> Node:
        name = integer if bits_of(kind) is not None else floating
        return RULES[f"arith.{name}"](given, kind, kind)

    return mapped(rule, 2)


def _dims(form: OperationForm, *names: str) -> list[int]:
    for name in names:
        if name in form.attributes:
            return form.integers(name)
    at = form.bracket("[")
    return [] if at is None else form.whole_list(at)


def moved(emitter: Emitter, form: OperationForm) -> None:
    """``linalg.transpose .. permutation = [1, 0]``, and ``linalg.broadcast .. dimensions = [0]``."""
    inputs, outputs = split_operands(form)
    kind = shaped(emitter.types.get(outputs[0], "")) or Shaped((), "")
    rank = len(kind.shape)
    listed = _dims(form, "permutation", "dimensions")
    if form.operation.name == "linalg.transpose" and sorted(listed) != list(range(rank)):
        says = f"its order is {shown(listed)}"
        raise form.error(says, f"each of {rank} dimensions once", reason="mlir_index")
    if form.operation.name == "linalg.transpose":
        taken = [listed.index(n) for n in range(rank)]
    else:
        taken = [n for n in range(rank) if n not in listed]
    maps = [plain_map(rank, taken), _identity(rank)]
    operands = _with_maps(emitter, form, (*inputs, *outputs), maps)
    structured(emitter, form, operands, 1, lambda given, _: [given[0]])


def reduce(emitter: Emitter, form: OperationForm) -> None:
    """``linalg.reduce ins(..) outs(..) dimensions = [1] (%in, %acc) { .. }``, or ``{ arith.addf }``."""
    inputs, outputs = split_operands(form)
    kind = shaped(emitter.types.get(inputs[0], "")) or Shaped((), "")
    dims, rank = set(_dims(form, "dimensions")), len(kind.shape)
    result = plain_map(rank, [n for n in range(rank) if n not in dims])
    operands = [operand(emitter, value, _identity(rank)) for value in inputs]
    operands += [operand(emitter, value, result) for value in outputs]
    structured(emitter, form, operands, len(outputs), _body_of(emitter, form))


def map_(emitter: Emitter, form: OperationForm) -> None:
    """``linalg.map ins(..) outs(..) (%a, %b) { .. linalg.yield }``."""
    inputs, outputs = split_operands(form)
    kind = shaped(emitter.types.get(outputs[0], "")) or Shaped((), "")
    operands = [operand(emitter, value, _identity(len(kind.shape))) for value in (*inputs, *outputs)]
    structured(emitter, form, operands, 1, _body_of(emitter, form))


def _body_of(emitter: Emitter, form: OperationForm) -> Body:
    if not form.operation.regions:
        raise form.error("its body is not there", "a region", reason="mlir_unknown")
    block = form.operation.regions[0].blocks[0]
    return _inside(emitter, form, block)


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
    "linalg.reciprocal": mapped(lambda given, kind: RULES["arith.divf"]([number(1.0), given[0]], kind, kind)),
    **{f"linalg.{name}": _math(name) for name in _MATH},
    **{f"linalg.{name}": product(maps) for name, maps in _PRODUCTS.items()},
    "linalg.transpose": moved,
    "linalg.broadcast": moved,
    "linalg.reduce": reduce,
    "linalg.map": map_,
    "linalg.index": lambda _emitter, _form: None,
}
