"""Operations on vectors in core bodies, and structured ones on memory (``linalg``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from support.bodies.body_memory import array
from support.bodies.body_texts import FLOATS, Piece, memref, vector

Maker = Callable[[Piece], None]
KINDS = ("i8", "i32", "i64", "f32", "bf16")
_INTEGER_KINDS = ("add", "mul", "minui", "minsi", "maxui", "maxsi", "and", "or", "xor")
_FLOAT_KINDS = ("add", "mul", "minimumf", "maximumf", "minnumf", "maxnumf")


def some_kind(piece: Piece) -> str:
    """A type of elements."""
    return piece.rng.choice(KINDS)


def combining(piece: Piece, kind: str) -> str:
    """A kind of a reduction."""
    return piece.rng.choice(_FLOAT_KINDS if kind in FLOATS else _INTEGER_KINDS)


def simple(
    piece: Piece, name: str, shapes: tuple[Sequence[int], Sequence[int]], kind: str, text: str = "to"
) -> None:
    """A vector of one shape that becomes one of another."""
    value, (one, other) = piece.vector(kind, shapes[0]), (vector(shape, kind) for shape in shapes)
    result = piece.op(name, [value], ([one], [other]), f"{name} {value} : {one} {text} {other}")
    piece.put_vector(result, kind, shapes[1])


def broadcast(piece: Piece) -> None:
    """``vector.broadcast`` of numbers and of vectors."""
    kind = some_kind(piece)
    if piece.rng.random() < 0.5:
        value, of = piece.value(kind)[0], vector((2, 3), kind)
        result = piece.op(
            "vector.broadcast", [value], ([kind], [of]), f"vector.broadcast {value} : {kind} to {of}"
        )
        piece.put_vector(result, kind, (2, 3))
        return
    simple(
        piece, "vector.broadcast", piece.rng.choice((((3,), (2, 3)), ((1, 4), (3, 4)), ((1,), (5,)))), kind
    )


def splat(piece: Piece) -> None:
    """``vector.splat``."""
    kind = some_kind(piece)
    value, of = piece.value(kind)[0], vector((4,), kind)
    piece.put_vector(
        piece.op("vector.splat", [value], ([kind], [of]), f"vector.splat {value} : {of}"), kind, (4,)
    )


def shape_cast(piece: Piece) -> None:
    """``vector.shape_cast``."""
    shapes = piece.rng.choice((((2, 4), (8,)), ((6,), (2, 3)), ((2, 2, 2), (4, 2))))
    simple(piece, "vector.shape_cast", shapes, some_kind(piece))


def bitcast(piece: Piece) -> None:
    """``vector.bitcast`` to narrower and wider elements."""
    widths = {"i8": 8, "i16": 16, "i32": 32, "bf16": 16, "f32": 32, "i64": 64}
    first, kind = (piece.rng.choice(("i8", "i16", "i32", "bf16", "f32")) for _ in range(2))
    count = 8
    other = count * widths[first] // widths[kind]
    if not 1 <= other <= 16:
        first, kind, other = "i32", "i16", 16
    value, one, of = piece.vector(first, (count,)), vector((count,), first), vector((other,), kind)
    result = piece.op("vector.bitcast", [value], ([one], [of]), f"vector.bitcast {value} : {one} to {of}")
    piece.put_vector(result, kind, (other,))


def _positions(piece: Piece, sizes: Sequence[int]) -> tuple[list[str], list[int], list[str]]:
    """Positions as text, as numbers of the generic form, and the values among them."""
    texts, numbers, values = [], [], []
    for size in sizes:
        if piece.rng.random() < 0.6:
            name = piece.index(size)
            texts.append(name)
            numbers.append(-(1 << 63))
            values.append(name)
        else:
            number = piece.rng.choice((0, size - 1, size - 1, size))
            texts.append(str(number))
            numbers.append(number)
    return texts, numbers, values


def extract(piece: Piece) -> None:
    """``vector.extract`` at positions that the text or memory says."""
    kind, shape = some_kind(piece), piece.rng.choice(((4,), (2, 3), (2, 2, 3)))
    depth = piece.rng.randint(1, len(shape))
    value, of, rest = piece.vector(kind, shape), vector(shape, kind), shape[depth:]
    texts, numbers, values = _positions(piece, shape[:depth])
    what = vector(rest, kind) if rest else kind
    pretty = f"vector.extract {value}[{', '.join(texts)}] : {what} from {of}"
    types = [of, *["index"] * len(values)]
    attributes = f"static_position = {array(numbers)}"
    result = piece.op("vector.extract", [value, *values], (types, [what]), pretty, attributes)
    if rest:
        piece.put_vector(result, kind, rest)
    else:
        piece.put(result, kind)


def insert(piece: Piece) -> None:
    """``vector.insert`` at positions that the text or memory says."""
    kind, shape = some_kind(piece), piece.rng.choice(((4,), (2, 3), (2, 2, 3)))
    depth = piece.rng.randint(1, len(shape))
    whole, of, rest = piece.vector(kind, shape), vector(shape, kind), shape[depth:]
    part, what = (piece.vector(kind, rest), vector(rest, kind)) if rest else (piece.value(kind)[0], kind)
    texts, numbers, values = _positions(piece, shape[:depth])
    pretty = f"vector.insert {part}, {whole}[{', '.join(texts)}] : {what} into {of}"
    types = [what, of, *["index"] * len(values)]
    attributes = f"static_position = {array(numbers)}"
    result = piece.op("vector.insert", [part, whole, *values], (types, [of]), pretty, attributes)
    piece.put_vector(result, kind, shape)


def extract_element(piece: Piece) -> None:
    """``vector.extractelement``."""
    kind = some_kind(piece)
    value, at, of = piece.vector(kind, (4,)), piece.index(4), vector((4,), kind)
    name = "vector.extractelement"
    result = piece.op(name, [value, at], ([of, "index"], [kind]), f"{name} {value}[{at} : index] : {of}")
    piece.put(result, kind)


def insert_element(piece: Piece) -> None:
    """``vector.insertelement``."""
    kind, name = some_kind(piece), "vector.insertelement"
    part, whole, at, of = piece.value(kind)[0], piece.vector(kind, (4,)), piece.index(4), vector((4,), kind)
    pretty = f"{name} {part}, {whole}[{at} : index] : {of}"
    piece.put_vector(piece.op(name, [part, whole, at], ([kind, of, "index"], [of]), pretty), kind, (4,))


def extract_slice(piece: Piece) -> None:
    """``vector.extract_strided_slice``, also one that begins or ends outside."""
    kind, name = some_kind(piece), "vector.extract_strided_slice"
    value, of = piece.vector(kind, (3, 4)), vector((3, 4), kind)
    offsets, sizes = piece.rng.choice(
        (((0, 1), (2, 3)), ((1, 0), (2, 4)), ((2, 3), (1, 1)), ((2, 2), (2, 2)))
    )
    what = vector(sizes, kind)
    text = f"offsets = {list(offsets)}, sizes = {list(sizes)}, strides = [1, 1]"
    result = piece.op(name, [value], ([of], [what]), f"{name} {value} {{{text}}} : {of} to {what}", text)
    piece.put_vector(result, kind, sizes)


def insert_slice(piece: Piece) -> None:
    """``vector.insert_strided_slice``, also one that begins or ends outside."""
    kind, name = some_kind(piece), "vector.insert_strided_slice"
    sizes, offsets = piece.rng.choice(
        (((2, 3), (0, 1)), ((1, 2), (2, 2)), ((2, 2), (2, 2)), ((3, 4), (0, 0)))
    )
    part, whole = piece.vector(kind, sizes), piece.vector(kind, (3, 4))
    what, of = vector(sizes, kind), vector((3, 4), kind)
    text = f"offsets = {list(offsets)}, strides = [1, 1]"
    pretty = f"{name} {part}, {whole} {{{text}}} : {what} into {of}"
    piece.put_vector(piece.op(name, [part, whole], ([what, of], [of]), pretty, text), kind, (3, 4))


def reduction(piece: Piece) -> None:
    """``vector.reduction`` of every kind, with and without a first value."""
    kind = some_kind(piece)
    way, value, of = combining(piece, kind), piece.vector(kind, (5,)), vector((5,), kind)
    first = [piece.value(kind)[0]] if piece.rng.random() < 0.5 else []
    pretty = f"vector.reduction <{way}>, {', '.join([value, *first])} : {of} into {kind}"
    types = [of, *[kind] * len(first)]
    attributes = f"kind = #vector.kind<{way}>"
    piece.put(piece.op("vector.reduction", [value, *first], (types, [kind]), pretty, attributes), kind)


def multi_reduction(piece: Piece) -> None:
    """``vector.multi_reduction``, also of all dimensions."""
    kind, shape = some_kind(piece), (2, 3)
    dims = piece.rng.choice(([0], [1], [0, 1]))
    rest = [size for n, size in enumerate(shape) if n not in dims]
    way, value, of = combining(piece, kind), piece.vector(kind, shape), vector(shape, kind)
    first, what = (piece.vector(kind, rest), vector(rest, kind)) if rest else (piece.value(kind)[0], kind)
    pretty = f"vector.multi_reduction <{way}>, {value}, {first} {dims} : {of} to {what}"
    attributes = f"kind = #vector.kind<{way}>, reduction_dims = {array(dims)}"
    result = piece.op("vector.multi_reduction", [value, first], ([of, what], [what]), pretty, attributes)
    if rest:
        piece.put_vector(result, kind, rest)
    else:
        piece.put(result, kind)


def contract(piece: Piece) -> None:
    """``vector.contract``: a product of matrices."""
    kind = piece.rng.choice(("i32", "f32", "bf16"))
    shapes = ((2, 3), (3, 2), (2, 2))
    values = [piece.vector(kind, shape) for shape in shapes]
    one, other, last = (vector(shape, kind) for shape in shapes)
    maps = ", ".join(f"affine_map<(d0, d1, d2) -> ({results})>" for results in ("d0, d2", "d2, d1", "d0, d1"))
    kinds = '["parallel", "parallel", "reduction"]'
    way = piece.rng.choice(("add", "maxsi" if kind == "i32" else "maximumf"))
    attributes = f"indexing_maps = [{maps}], iterator_types = {kinds}, kind = #vector.kind<{way}>"
    if piece.generic:
        names = (f"#vector.iterator_type<{name}>" for name in ("parallel", "parallel", "reduction"))
        attributes = attributes.replace(kinds, f"[{', '.join(names)}]")
    pretty = f"vector.contract {{{attributes}}} {', '.join(values)} : {one}, {other} into {last}"
    result = piece.op("vector.contract", values, ([one, other, last], [last]), pretty, attributes)
    piece.put_vector(result, kind, shapes[2])


def outer_product(piece: Piece) -> None:
    """``vector.outerproduct``, with and without what it is added to."""
    kind = some_kind(piece)
    values = [piece.vector(kind, (2,)), piece.vector(kind, (3,))]
    one, other, of = vector((2,), kind), vector((3,), kind), vector((2, 3), kind)
    types = [one, other]
    if piece.rng.random() < 0.5:
        values.append(piece.vector(kind, (2, 3)))
        types.append(of)
    pretty = f"vector.outerproduct {', '.join(values)} : {one}, {other}"
    attributes = "kind = #vector.kind<add>"
    piece.put_vector(piece.op("vector.outerproduct", values, (types, [of]), pretty, attributes), kind, (2, 3))


def transpose(piece: Piece) -> None:
    """``vector.transpose``."""
    kind = some_kind(piece)
    shape, order = piece.rng.choice((((2, 3), (1, 0)), ((2, 2, 3), (2, 0, 1)), ((2, 3), (0, 1))))
    target = [shape[n] for n in order]
    value, of, what = piece.vector(kind, shape), vector(shape, kind), vector(target, kind)
    pretty = f"vector.transpose {value}, {list(order)} : {of} to {what}"
    attributes = f"permutation = {array(order)}"
    piece.put_vector(piece.op("vector.transpose", [value], ([of], [what]), pretty, attributes), kind, target)


def shuffle(piece: Piece) -> None:
    """``vector.shuffle``, also by numbers that no element has."""
    kind = some_kind(piece)
    order = piece.rng.choice(([0, 5, 2, 7, 1], [7], [3, 3], [0, 8], [4, -1]))
    values, of, what = (
        [piece.vector(kind, (4,)) for _ in range(2)],
        vector((4,), kind),
        vector((len(order),), kind),
    )
    pretty = f"vector.shuffle {', '.join(values)} {order} : {of}, {of}"
    result = piece.op("vector.shuffle", values, ([of, of], [what]), pretty, f"mask = {array(order)}")
    piece.put_vector(result, kind, (len(order),))


def interleave(piece: Piece) -> None:
    """``vector.interleave``."""
    kind = some_kind(piece)
    values, of, what = [piece.vector(kind, (3,)) for _ in range(2)], vector((3,), kind), vector((6,), kind)
    pretty = f"vector.interleave {', '.join(values)} : {of} -> {what}"
    piece.put_vector(piece.op("vector.interleave", values, ([of, of], [what]), pretty), kind, (6,))


def fused(piece: Piece) -> None:
    """``vector.fma``."""
    kind = piece.rng.choice(("f32", "bf16"))
    values, of = [piece.vector(kind, (4,)) for _ in range(3)], vector((4,), kind)
    piece.put_vector(piece.op("vector.fma", values, ([of] * 3, [of])), kind, (4,))


def create_mask(piece: Piece) -> None:
    """``vector.create_mask``: bounds that memory says."""
    bounds = [piece.index(4), piece.index(3)]
    of = vector((4, 3), "i1")
    pretty = f"vector.create_mask {', '.join(bounds)} : {of}"
    result = piece.op("vector.create_mask", bounds, (["index", "index"], [of]), pretty)
    piece.put_vector(result, "i1", (4, 3))


def constant_mask(piece: Piece) -> None:
    """``vector.constant_mask``."""
    bounds, of = piece.rng.choice(([2, 3], [0, 0], [4, 3])), vector((4, 3), "i1")
    pretty = f"vector.constant_mask {bounds} : {of}"
    result = piece.op("vector.constant_mask", [], ([], [of]), pretty, f"mask_dim_sizes = {array(bounds)}")
    piece.put_vector(result, "i1", (4, 3))


def step(piece: Piece) -> None:
    """``vector.step``."""
    of = vector((5,), "index")
    piece.put_vector(piece.op("vector.step", [], ([], [of]), f"vector.step : {of}"), "index", (5,))


# structured operations on memory ---------------------------------------------------------------------------

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
_BINARY = ("add", "sub", "mul", "div", "max", "min", "powf", "div_unsigned")
_UNARY = (
    "copy",
    "negf",
    "abs",
    "square",
    "reciprocal",
    "exp",
    "log",
    "ceil",
    "floor",
    "sqrt",
    "rsqrt",
    "tanh",
    "erf",
    "round",
)
_FOR_INTEGERS = ("add", "sub", "mul", "div", "div_unsigned", "max", "min", "copy", "square")


def structured(
    piece: Piece,
    name: str,
    inputs: Sequence[tuple[str, str]],
    outputs: Sequence[tuple[str, str]],
    more: tuple[str, str] = ("", ""),
    region: str = "",
) -> None:
    """An operation with ``ins`` and ``outs``; ``more`` are its attributes in pretty and in generic form."""
    piece.covers.add(name)
    both = [*inputs, *outputs]
    if piece.generic:
        segments = f"operandSegmentSizes = {array([len(inputs), len(outputs)], 'i32')}"
        given = ", ".join(filter(None, (more[1], segments)))
        inside = f" ({{\n{region}\n}})" if region else ""
        types = ", ".join(kind for _, kind in both)
        piece.add(
            f'"{name}"({", ".join(value for value, _ in both)}) <{{{given}}}>{inside} : ({types}) -> ()'
        )
        return
    ins, outs = (
        f"{word}({', '.join(value for value, _ in each)} : {', '.join(kind for _, kind in each)})"
        for word, each in (("ins", inputs), ("outs", outputs))
    )
    piece.add(f"{name} {ins} {outs} {more[0]} {region}".rstrip())


def product(name: str) -> Maker:
    """A named contraction; now and then of memories that do not fit each other."""

    def make(piece: Piece) -> None:
        kind, wide = piece.rng.choice((("i8", "i32"), ("i32", "i32"), ("f32", "f32"), ("bf16", "f32")))
        sizes = dict.fromkeys("bmknMKN", 2) | {"b": 1 if "4d" in name else 2, "N": 1, "K": 1}
        sizes["k" if "4d" not in name else "m"] = piece.rng.choice((1, 2, 3))
        shapes = [[sizes[letter] for letter in letters] for letters in _PRODUCTS[name]]
        if piece.rng.random() < 0.25:
            at = piece.rng.randrange(len(shapes))
            if shapes[at]:
                shapes[at][piece.rng.randrange(len(shapes[at]))] += piece.rng.choice((1, -1))
        memories = [
            (piece.shaped(each, shape, way) if shape else _single(piece, each, way), memref(shape, each))
            for each, shape, way in zip((kind, kind, wide), shapes, ("in", "in", "out"), strict=True)
        ]
        structured(piece, f"linalg.{name}", memories[:2], memories[2:])

    return make


def _single(piece: Piece, kind: str, way: str) -> str:
    """Memory without dimensions."""
    name = piece.name()
    piece.add(
        f"{name} = memref.subview {piece.memory(kind, way)}[3] [1] [1] : memref<16x{kind}> to "
        f"memref<{kind}, strided<[], offset: 3>>"
    )
    return name


def element_by_element(name: str) -> Maker:
    """A named operation element by element."""

    def make(piece: Piece) -> None:
        integers = name in _FOR_INTEGERS and piece.rng.random() < 0.6
        kind = piece.rng.choice(("i8", "i32", "i64") if integers else ("f32", "bf16"))
        shape = piece.rng.choice(((4,), (2, 3), (2, 2, 2)))
        other = (*shape[:-1], shape[-1] + 1) if piece.rng.random() < 0.2 else shape
        count = 2 if name in _BINARY else 1
        inputs = [(piece.shaped(kind, shape), memref(shape, kind)) for _ in range(count)]
        outputs = [(piece.shaped(kind, other, "out"), memref(other, kind))]
        structured(piece, f"linalg.{name}", inputs, outputs)

    return make


def fill(piece: Piece) -> None:
    """``linalg.fill``."""
    kind, shape = some_kind(piece), piece.rng.choice(((4,), (2, 3)))
    value, memory = piece.value(kind)[0], piece.shaped(kind, shape, "out")
    structured(piece, "linalg.fill", [(value, kind)], [(memory, memref(shape, kind))])


def moved(name: str) -> Maker:
    """``linalg.transpose`` and ``linalg.broadcast``."""

    def make(piece: Piece) -> None:
        kind = some_kind(piece)
        one: tuple[int, ...] = (2, 3) if name == "transpose" else (3,)
        word, listed = ("permutation", [1, 0]) if name == "transpose" else ("dimensions", [1])
        other = (3, 2)
        if piece.rng.random() < 0.2:
            other = (other[0] + 1, other[1])
        inputs = [(piece.shaped(kind, one), memref(one, kind))]
        outputs = [(piece.shaped(kind, other, "out"), memref(other, kind))]
        more = f"{word} = {listed}", f"{word} = {array(listed)}"
        structured(piece, f"linalg.{name}", inputs, outputs, more)

    return make


def _combined(piece: Piece, kind: str, block: bool) -> tuple[str, str, str]:
    """A region that adds its two arguments; the names of the arguments."""
    one, other, result = piece.name(), piece.name(), piece.name()
    name = "arith.addf" if kind in FLOATS else "arith.addi"
    piece.covers |= {"linalg.yield", name}
    if piece.generic:
        lines = f'{result} = "{name}"({one}, {other}) : ({kind}, {kind}) -> {kind}\n'
        lines += f'"linalg.yield"({result}) : ({kind}) -> ()'
    else:
        lines = f"{result} = {name} {one}, {other} : {kind}\nlinalg.yield {result} : {kind}"
    if block or piece.generic:
        return f"^bb0({one}: {kind}, {other}: {kind}):\n{lines}", one, other
    return f"({one}: {kind}, {other}: {kind}) {{\n{lines}\n}}", one, other


def reduce(piece: Piece) -> None:
    """``linalg.reduce``."""
    kind = some_kind(piece)
    inputs = [(piece.shaped(kind, (2, 3)), memref((2, 3), kind))]
    outputs = [(piece.shaped(kind, (2,), "out"), memref((2,), kind))]
    region, *_ = _combined(piece, kind, block=False)
    structured(
        piece, "linalg.reduce", inputs, outputs, ("dimensions = [1]", "dimensions = array<i64: 1>"), region
    )


def mapped(piece: Piece) -> None:
    """``linalg.map``."""
    kind = some_kind(piece)
    inputs = [(piece.shaped(kind, (2, 3)), memref((2, 3), kind)) for _ in range(2)]
    outputs = [(piece.shaped(kind, (2, 3), "out"), memref((2, 3), kind))]
    region, *_ = _combined(piece, kind, block=False)
    structured(piece, "linalg.map", inputs, outputs, region=region)


def generic(piece: Piece) -> None:
    """``linalg.generic`` like a convolution: memory ends where its maps do, or before."""
    piece.covers |= {"linalg.generic", "linalg.index", "linalg.yield", "arith.index_cast", "arith.addi"}
    kind = piece.rng.choice(("i32", "i64"))
    factor, shift = piece.rng.choice((1, 2)), piece.rng.choice((0, 0, 1, -1))
    outer, inner = 3, 3
    most = factor * (outer - 1) + inner - 1 + shift
    size = max(1, min(16, most + 1 - piece.rng.choice((0, 0, 1, 2))))
    text = f"d0 * {factor} + d1" + (f" + {shift}" if shift > 0 else f" - {-shift}" if shift else "")
    maps = [f"affine_map<(d0, d1) -> ({each})>" for each in (text, "d1", "d0")]
    values = [piece.shaped(kind, (size,)), piece.shaped(kind, (inner,)), piece.shaped(kind, (outer,), "out")]
    types = [memref((each,), kind) for each in (size, inner, outer)]
    a, b, c, at, moved_, one, two = (piece.name() for _ in range(7))
    which = piece.rng.choice((0, 1))
    if piece.generic:
        body = (
            f'{at} = "linalg.index"() <{{dim = {which} : i64}}> : () -> index\n'
            f'{moved_} = "arith.index_cast"({at}) : (index) -> {kind}\n'
            f'{one} = "arith.addi"({a}, {moved_}) : ({kind}, {kind}) -> {kind}\n'
            f'{two} = "arith.addi"({one}, {c}) : ({kind}, {kind}) -> {kind}\n'
            f'"linalg.yield"({two}) : ({kind}) -> ()'
        )
    else:
        body = (
            f"{at} = linalg.index {which} : index\n{moved_} = arith.index_cast {at} : index to {kind}\n"
            f"{one} = arith.addi {a}, {moved_} : {kind}\n{two} = arith.addi {one}, {c} : {kind}\n"
            f"linalg.yield {two} : {kind}"
        )
    block = f"^bb0({a}: {kind}, {b}: {kind}, {c}: {kind}):\n{body}"
    if piece.generic:
        kinds = "#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>"
        attributes = (
            f"indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}], "
            f"operandSegmentSizes = array<i32: 2, 1>"
        )
        piece.add(
            f'"linalg.generic"({", ".join(values)}) <{{{attributes}}}> ({{\n{block}\n}}) '
            f": ({', '.join(types)}) -> ()"
        )
    else:
        attributes = f'indexing_maps = [{", ".join(maps)}], iterator_types = ["parallel", "reduction"]'
        piece.add(
            f"linalg.generic {{{attributes}}} ins({values[0]}, {values[1]} : {types[0]}, {types[1]}) "
            f"outs({values[2]} : {types[2]}) {{\n{block}\n}}"
        )


MAKERS: Mapping[str, Maker] = {
    "vector.broadcast": broadcast,
    "vector.splat": splat,
    "vector.shape_cast": shape_cast,
    "vector.bitcast": bitcast,
    "vector.extract": extract,
    "vector.extractelement": extract_element,
    "vector.insert": insert,
    "vector.insertelement": insert_element,
    "vector.extract_strided_slice": extract_slice,
    "vector.insert_strided_slice": insert_slice,
    "vector.reduction": reduction,
    "vector.multi_reduction": multi_reduction,
    "vector.contract": contract,
    "vector.outerproduct": outer_product,
    "vector.transpose": transpose,
    "vector.shuffle": shuffle,
    "vector.interleave": interleave,
    "vector.fma": fused,
    "vector.create_mask": create_mask,
    "vector.constant_mask": constant_mask,
    "vector.step": step,
    **{f"linalg.{name}": product(name) for name in _PRODUCTS},
    **{f"linalg.{name}": element_by_element(name) for name in (*_BINARY, *_UNARY)},
    "linalg.fill": fill,
    **{f"linalg.{name}": moved(name) for name in ("transpose", "broadcast")},
    "linalg.reduce": reduce,
    "linalg.map": mapped,
    **dict.fromkeys(("linalg.generic", "linalg.index", "linalg.yield"), generic),
}
