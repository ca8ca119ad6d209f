"""Operations on memory in core bodies: ``memref``, accesses of ``affine`` and ``vector``, with any index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from support.bodies.body_texts import ELEMENTS, KINDS, Piece, memref, strides, vector

Maker = Callable[[Piece], None]
DYNAMIC = -(1 << 63)
SHAPES = ((16,), (4, 4), (2, 8), (2, 2, 4), (1,), (3, 5))
_AFFINE = (
    "{}",
    "{} + 1",
    "{} * 2 - 1",
    "{} floordiv 2",
    "{} mod 3",
    "{} ceildiv 2",
    "-{} + 3",
    "{} * 3 - {}",
)
_RMW = ("addi", "muli", "ori", "andi", "maxs", "mins", "maxu", "minu", "assign")


def some_kind(piece: Piece) -> str:
    """A type of elements."""
    return piece.rng.choice(tuple(KINDS))


def placed(piece: Piece, shape: Sequence[int]) -> list[str]:
    """An index for each dimension."""
    return [piece.index(size) for size in shape]


def array(numbers: Sequence[int], kind: str = "i64") -> str:
    """An attribute that is a list of numbers."""
    return f"array<{kind}: {', '.join(map(str, numbers))}>" if numbers else f"array<{kind}>"


def load(piece: Piece) -> None:
    """``memref.load`` of any shape."""
    kind, shape = some_kind(piece), piece.rng.choice(SHAPES)
    memory, at = piece.shaped(kind, shape), placed(piece, shape)
    of = memref(shape, kind)
    pretty = f"memref.load {memory}[{', '.join(at)}] : {of}"
    piece.put(piece.op("memref.load", [memory, *at], ([of, *["index"] * len(at)], [kind]), pretty), kind)


def store(piece: Piece) -> None:
    """``memref.store`` of any shape."""
    kind, shape = some_kind(piece), piece.rng.choice(SHAPES)
    memory, at, value = piece.shaped(kind, shape, "out"), placed(piece, shape), piece.value(kind)[0]
    of = memref(shape, kind)
    pretty = f"memref.store {value}, {memory}[{', '.join(at)}] : {of}"
    piece.op("memref.store", [value, memory, *at], ([kind, of, *["index"] * len(at)], []), pretty)


def affine_access(name: str) -> Maker:
    """``affine.load`` and ``affine.store``, indices that are affine expressions."""

    def make(piece: Piece) -> None:
        kind, shape = some_kind(piece), piece.rng.choice(((16,), (4, 4)))
        loads = name == "affine.load"
        memory, at = piece.shaped(kind, shape, "in" if loads else "out"), placed(piece, shape)
        rules = [piece.rng.choice(_AFFINE) for _ in at]
        value, of = "" if loads else piece.value(kind)[0], memref(shape, kind)
        dims = [f"d{n}" for n in range(len(at))]
        results = ", ".join(rule.format(*[d] * 2) for rule, d in zip(rules, dims, strict=True))
        texts = ", ".join(rule.format(*[i] * 2) for rule, i in zip(rules, at, strict=True))
        attributes = f"map = affine_map<({', '.join(dims)}) -> ({results})>"
        before, kinds = ([], []) if loads else ([value], [kind])
        pretty = f"{name} {f'{value}, ' if value else ''}{memory}[{texts}] : {of}"
        result = piece.op(
            name,
            [*before, memory, *at],
            ([*kinds, of, *["index"] * len(at)], [kind] if loads else []),
            pretty,
            attributes,
        )
        if loads:
            piece.put(result, kind)

    return make


def _used(piece: Piece, memory: str, of: str, kind: str, shape: Sequence[int]) -> None:
    """Read an element of memory that a view is, and write one."""
    at, there = placed(piece, shape), placed(piece, shape)
    value = piece.name()
    piece.add(f"{value} = memref.load {memory}[{', '.join(at)}] : {of}")
    piece.put(value, kind)
    piece.add(f"memref.store {value}, {memory}[{', '.join(there)}] : {of}")


def subview(piece: Piece) -> None:
    """``memref.subview``: offsets, sizes and strides that the text says or that memory says."""
    kind, shape = some_kind(piece), piece.rng.choice(((16,), (4, 4), (2, 8)))
    memory = piece.shaped(kind, shape, "out")
    lists: list[list[int]] = [[], [], []]
    texts: list[list[str]] = [[], [], []]
    values: list[list[str]] = [[], [], []]
    for size in shape:
        offset = piece.rng.choice((0, 1, size - 1))
        stride = piece.rng.choice((1, 1, 2))
        count = max(1, (size - offset + stride - 1) // stride - piece.rng.choice((0, 0, 1, -1)))
        pools = (("place", size), ("place", size + 1), ("small", 3))
        for n, number in enumerate((offset, count, stride)):
            if piece.rng.random() < 0.4:
                name = piece.value("index", pools[n])[0]
                lists[n].append(DYNAMIC)
                texts[n].append(name)
                values[n].append(name)
            else:
                lists[n].append(number)
                texts[n].append(str(number))
    open_ = ", ".join("?" for _ in shape)
    of = memref(["?" if n == DYNAMIC else n for n in lists[1]], f"{kind}, strided<[{open_}], offset: ?>")  # type: ignore[misc]
    given = [memory, *values[0], *values[1], *values[2]]
    segments = array([1, *(len(each) for each in values)], "i32")
    names = ("static_offsets", "static_sizes", "static_strides")
    attributes = f"operandSegmentSizes = {segments}, " + ", ".join(
        f"{name} = {array(numbers)}" for name, numbers in zip(names, lists, strict=True)
    )
    brackets = " ".join(f"[{', '.join(each)}]" for each in texts)
    pretty = f"memref.subview {memory}{brackets} : {memref(shape, kind)} to {of}"
    result = piece.op(
        "memref.subview",
        given,
        ([memref(shape, kind), *["index"] * (len(given) - 1)], [of]),
        pretty,
        attributes,
    )
    sizes = [4 if n == DYNAMIC else n for n in lists[1]]
    _used(piece, result, of, kind, sizes)


def reinterpret(piece: Piece) -> None:
    """``memref.reinterpret_cast``: an offset, sizes and strides of memory."""
    kind = some_kind(piece)
    offset = piece.value("index", ("place", 12))[0]
    if piece.rng.random() < 0.5:
        shape = piece.rng.choice(((4,), (2, 2), (1, 4)))
        sizes, steps, extra = list(shape), strides(shape), []
        texts = list(map(str, sizes)), list(map(str, steps))
    else:
        count, step = piece.value("index", ("place", 8))[0], piece.value("index", ("small", 3))[0]
        shape, sizes, steps, extra, texts = (4,), [DYNAMIC], [DYNAMIC], [count, step], ([count], [step])
    open_ = ", ".join("?" if n == DYNAMIC else str(n) for n in steps)
    of = memref(["?" if n == DYNAMIC else n for n in sizes], f"{kind}, strided<[{open_}], offset: ?>")  # type: ignore[misc]
    memory = piece.memory(kind, "out")
    dynamic = [1, 1, len(extra) // 2, len(extra) // 2]
    attributes = (
        f"operandSegmentSizes = {array(dynamic, 'i32')}, static_offsets = {array([DYNAMIC])}, "
        f"static_sizes = {array(sizes)}, static_strides = {array(steps)}"
    )
    source = memref((ELEMENTS,), kind)
    pretty = (
        f"memref.reinterpret_cast {memory} to offset: [{offset}], sizes: [{', '.join(texts[0])}], "
        f"strides: [{', '.join(texts[1])}] : {source} to {of}"
    )
    given = [memory, offset, *extra]
    types = [source, *["index"] * (len(given) - 1)]
    _used(
        piece, piece.op("memref.reinterpret_cast", given, (types, [of]), pretty, attributes), of, kind, shape
    )


def view(piece: Piece) -> None:
    """``memref.view``: bytes as elements."""
    kind = piece.rng.choice(("i8", "i16", "i32", "f32"))
    at, size = piece.value("index", ("place", 12))[0], KINDS[kind].itemsize
    source = memref((ELEMENTS,), "i8")
    if piece.rng.random() < 0.5:
        count = piece.value("index", ("place", ELEMENTS // size + 1))[0]
        given, of, text = [at, count], f"memref<?x{kind}>", f"[{count}]"
    else:
        given, of, text = [at], memref((2,), kind), "[]"
    pretty = f"memref.view %out_i8[{at}]{text} : {source} to {of}"
    result = piece.op("memref.view", ["%out_i8", *given], ([source, *["index"] * len(given)], [of]), pretty)
    _used(piece, result, of, kind, (2,))


def transpose(piece: Piece) -> None:
    """``memref.transpose``."""
    kind, shape = some_kind(piece), piece.rng.choice(((2, 8), (4, 3)))
    memory, source = piece.shaped(kind, shape, "out"), memref(shape, kind)
    of = f"memref<{shape[1]}x{shape[0]}x{kind}, strided<[1, {shape[1]}]>>"
    pretty = f"memref.transpose {memory} (i, j) -> (j, i) : {source} to {of}"
    attributes = "permutation = affine_map<(d0, d1) -> (d1, d0)>"
    result = piece.op("memref.transpose", [memory], ([source], [of]), pretty, attributes)
    _used(piece, result, of, kind, shape[::-1])


def reshaped(name: str) -> Maker:
    """``memref.collapse_shape`` and ``memref.expand_shape``."""

    def make(piece: Piece) -> None:
        kind = some_kind(piece)
        one, other = piece.rng.choice((((4, 4), (16,)), ((2, 2, 4), (4, 4)), ((1, 8), (8,)), ((2, 8), (16,))))
        collapses = name == "memref.collapse_shape"
        first, second = (one, other) if collapses else (other, one)
        groups = "[[0, 1], [2]]" if len(one) == 3 else "[[0, 1]]"
        memory, source, of = piece.shaped(kind, first, "out"), memref(first, kind), memref(second, kind)
        sizes = "" if collapses else f" output_shape [{', '.join(map(str, second))}]"
        pretty = f"{name} {memory} {groups}{sizes} : {source} into {of}"
        attributes = f"reassociation = {groups}"
        if not collapses:
            attributes += f", static_output_shape = {array(second)}"
        _used(piece, piece.op(name, [memory], ([source], [of]), pretty, attributes), of, kind, second)

    return make


def cast(name: str) -> Maker:
    """``memref.cast``, ``memref.memory_space_cast``, ``memref.assume_alignment``."""

    def make(piece: Piece) -> None:
        kind, source = some_kind(piece), ""
        memory, source = piece.memory(kind, "out"), memref((ELEMENTS,), kind)
        of = {"memref.cast": f"memref<?x{kind}>", "memref.memory_space_cast": f"memref<{ELEMENTS}x{kind}, 2>"}
        target = of.get(name, source)
        if name == "memref.assume_alignment":
            pretty, attributes = f"{name} {memory}, 16 : {source}", "alignment = 16 : i32"
        else:
            pretty, attributes = f"{name} {memory} : {source} to {target}", ""
        result = piece.op(name, [memory], ([source], [target]), pretty, attributes)
        _used(piece, result, target, kind, (ELEMENTS,))

    return make


def copy(piece: Piece) -> None:
    """``memref.copy``, of parts whose sizes memory says too."""
    kind = some_kind(piece)
    source, target = memref((ELEMENTS,), kind), memref((ELEMENTS,), kind)
    one, other = piece.memory(kind), piece.memory(kind, "out")
    if piece.rng.random() < 0.6:
        of = f"memref<?x{kind}, strided<[1], offset: ?>>"
        parts = []
        for memory in (one, other):
            offset = piece.value("index", ("place", 6))[0]
            count = piece.value("index", ("small", 2))[0]
            part = piece.name()
            piece.add(f"{part} = memref.subview {memory}[{offset}] [{count}] [1] : {source} to {of}")
            parts.append(part)
        (one, other), source, target = parts, of, of
    piece.op(
        "memref.copy",
        [one, other],
        ([source, target], []),
        f"memref.copy {one}, {other} : {source} to {target}",
    )


def dimension(piece: Piece) -> None:
    """``memref.dim``: any number of a dimension."""
    kind, shape = some_kind(piece), piece.rng.choice(((2, 8), (16,), (2, 2, 4)))
    memory, which, of = piece.shaped(kind, shape), piece.index(len(shape)), memref(shape, kind)
    pretty = f"memref.dim {memory}, {which} : {of}"
    piece.put(piece.op("memref.dim", [memory, which], ([of, "index"], ["index"]), pretty), "index")


def rank(piece: Piece) -> None:
    """``memref.rank``."""
    kind, shape = some_kind(piece), piece.rng.choice(SHAPES)
    memory, of = piece.shaped(kind, shape), memref(shape, kind)
    piece.put(piece.op("memref.rank", [memory], ([of], ["index"]), f"memref.rank {memory} : {of}"), "index")


def allocated(name: str) -> Maker:
    """``memref.alloc``, ``memref.alloca`` and ``memref.dealloc``; sizes that memory says."""

    def make(piece: Piece) -> None:
        kind = some_kind(piece)
        way = "memref.alloc" if name == "memref.dealloc" else name
        if piece.rng.random() < 0.6:
            size, of = piece.value("index", ("place", 5))[0], f"memref<?x3x{kind}>"
            given, shape = [size], (4, 3)
        else:
            given, of, shape = [], memref((4, 3), kind), (4, 3)
        attributes = f"operandSegmentSizes = {array([len(given), 0], 'i32')}"
        pretty = f"{way}({', '.join(given)}) : {of}"
        memory = piece.op(way, given, (["index"] * len(given), [of]), pretty, attributes)
        _used(piece, memory, of, kind, shape)
        if way == "memref.alloc":
            piece.op("memref.dealloc", [memory], ([of], []), f"memref.dealloc {memory} : {of}")

    return make


def read_modify_write(piece: Piece) -> None:
    """``memref.atomic_rmw``, of every kind that the importer knows for integers and floats."""
    kind = piece.rng.choice(("i8", "i32", "i64", "f32", "bf16"))
    way = piece.rng.choice(_RMW if kind[0] == "i" else ("addf", "mulf", "maximumf", "minimumf", "assign"))
    memory, at, value = piece.memory(kind, "out"), piece.index(ELEMENTS), piece.value(kind)[0]
    of = memref((ELEMENTS,), kind)
    pretty = f"memref.atomic_rmw {way} {value}, {memory}[{at}] : ({kind}, {of}) -> {kind}"
    types = [kind, of, "index"]
    piece.put(
        piece.op("memref.atomic_rmw", [value, memory, at], (types, [kind]), pretty, f'kind = "{way}"'), kind
    )


def get_global(piece: Piece) -> None:
    """``memref.get_global`` of a table in the device."""
    kind, symbol = piece.rng.choice(("i8", "i32", "f32")), piece.symbol()
    numbers = ", ".join(f"{n}{'.0' if kind == 'f32' else ''}" for n in range(4))
    of = memref((4,), kind)
    piece.beside += f"memref.global constant {symbol} : {of} = dense<[{numbers}]>\n"
    pretty, at, value = f"memref.get_global {symbol} : {of}", piece.index(4), piece.name()
    memory = piece.op("memref.get_global", [], ([], [of]), pretty, f"name = {symbol}")
    piece.add(f"{value} = memref.load {memory}[{at}] : {of}")
    piece.put(value, kind)


def inner_buffer(piece: Piece) -> None:
    """``aie.buffer`` with contents, which the core alone knows."""
    symbol, of = piece.symbol()[1:], memref((4,), "i32")
    at, value, table = piece.index(4), piece.name(), "dense<[3, 1, 4, 1]>"
    pretty = f'aie.buffer(%tile) {{sym_name = "{symbol}"}} : {of} = {table}'
    said = f'initial_value = {table} : tensor<4xi32>, sym_name = "{symbol}"'
    memory = piece.op("aie.buffer", ["%tile"], (["index"], [of]), pretty, said)
    piece.add(f"{value} = memref.load {memory}[{at}] : {of}")
    piece.put(value, "i32")


def scope(piece: Piece) -> None:
    """``memref.alloca_scope`` with what it returns."""
    piece.covers |= {"memref.alloca_scope", "memref.alloca_scope.return"}
    result, (value, _) = piece.name(), piece.value("i32")
    if piece.generic:
        piece.add(
            f'{result} = "memref.alloca_scope"() ({{',
            f'"memref.alloca_scope.return"({value}) : (i32) -> ()',
            "}) : () -> i32",
        )
    else:
        piece.add(
            f"{result} = memref.alloca_scope -> (i32) {{", f"memref.alloca_scope.return {value} : i32", "}"
        )
    piece.put(result, "i32")


# vectors in memory -----------------------------------------------------------------------------------------


def vector_access(name: str) -> Maker:
    """``vector.load``, ``vector.store``, ``affine.vector_load``, ``affine.vector_store``."""

    def make(piece: Piece) -> None:
        kind, shape = some_kind(piece), piece.rng.choice(((16,), (4, 4)))
        loads = name.endswith("load")
        count = piece.rng.choice((1, 3, 4))
        memory, at = piece.shaped(kind, shape, "in" if loads else "out"), placed(piece, shape)
        of, what = memref(shape, kind), vector((count,), kind)
        affine = name.startswith("affine.")
        rules = [piece.rng.choice(_AFFINE) if affine else "{}" for _ in at]
        texts = ", ".join(rule.format(*[i] * 2) for rule, i in zip(rules, at, strict=True))
        dims = [f"d{n}" for n in range(len(at))]
        results = ", ".join(rule.format(*[d] * 2) for rule, d in zip(rules, dims, strict=True))
        attributes = f"map = affine_map<({', '.join(dims)}) -> ({results})>" if affine else ""
        indices = ["index"] * len(at)
        if loads:
            pretty = f"{name} {memory}[{texts}] : {of}, {what}"
            value = piece.op(name, [memory, *at], ([of, *indices], [what]), pretty, attributes)
            piece.put_vector(value, kind, (count,))
            return
        value = piece.vector(kind, (count,))
        pretty = f"{name} {value}, {memory}[{texts}] : {of}, {what}"
        piece.op(name, [value, memory, *at], ([what, of, *indices], []), pretty, attributes)

    return make


def transfer(name: str) -> Maker:
    """``vector.transfer_read`` and ``vector.transfer_write``: padded, masked, in any order of dimensions."""

    def make(piece: Piece) -> None:
        kind, shape = some_kind(piece), piece.rng.choice(((16,), (4, 4), (2, 8)))
        reads = name.endswith("read")
        inner = (4,) if len(shape) == 1 or piece.rng.random() < 0.5 else (2, 3)
        memory, at = piece.shaped(kind, shape, "in" if reads else "out"), placed(piece, shape)
        of, what, rank = memref(shape, kind), vector(inner, kind), len(shape)
        order = [f"d{n}" for n in range(rank - len(inner), rank)]
        if len(inner) == 2 and piece.rng.random() < 0.5:
            order.reverse()
        dims = ", ".join(f"d{n}" for n in range(rank))
        map_ = f"permutation_map = affine_map<({dims}) -> ({', '.join(order)})>"
        inside = ", ".join([piece.rng.choice(("true", "false"))] * len(inner))
        mask = [piece.vector("i1", inner)] if piece.rng.random() < 0.3 else []
        bits = [vector(inner, "i1")] * len(mask)
        indices = ["index"] * rank
        if reads:
            pad = piece.value(kind)[0]
            segments = array([1, rank, 1, len(mask)], "i32")
            text = f"{memory}[{', '.join(at)}], {', '.join([pad, *mask])}"
            given, types = [memory, *at, pad, *mask], [of, *indices, kind, *bits]
            tail = f"{of}, {what}"
        else:
            value = piece.vector(kind, inner)
            segments = array([1, 1, rank, len(mask)], "i32")
            text = f"{value}, {memory}[{', '.join(at)}]" + "".join(f", {each}" for each in mask)
            given, types = [value, memory, *at, *mask], [what, of, *indices, *bits]
            tail = f"{what}, {of}"
        attributes = f"in_bounds = [{inside}], {map_}"
        pretty = f"{name} {text} {{{attributes}}} : {tail}"
        attributes += f", operandSegmentSizes = {segments}"
        result = piece.op(name, given, (types, [what] if reads else []), pretty, attributes)
        if reads:
            piece.put_vector(result, kind, inner)

    return make


def masked(name: str) -> Maker:
    """``vector.maskedload`` and ``vector.maskedstore``."""

    def make(piece: Piece) -> None:
        kind = some_kind(piece)
        loads = name.endswith("load")
        memory, at = piece.memory(kind, "in" if loads else "out"), piece.index(ELEMENTS)
        mask, value = piece.vector("i1", (4,)), piece.vector(kind, (4,))
        of, bits, what = memref((ELEMENTS,), kind), vector((4,), "i1"), vector((4,), kind)
        text = f"{name} {memory}[{at}], {mask}, {value} : {of}, {bits}, {what}"
        given, types = [memory, at, mask, value], [of, "index", bits, what]
        if loads:
            result = piece.op(name, given, (types, [what]), f"{text} into {what}")
            piece.put_vector(result, kind, (4,))
        else:
            piece.op(name, given, (types, []), text)

    return make


MAKERS: Mapping[str, Maker] = {
    "memref.load": load,
    "memref.store": store,
    **{name: affine_access(name) for name in ("affine.load", "affine.store")},
    "memref.subview": subview,
    "memref.reinterpret_cast": reinterpret,
    "memref.view": view,
    "memref.transpose": transpose,
    **{name: reshaped(name) for name in ("memref.collapse_shape", "memref.expand_shape")},
    **{name: cast(name) for name in ("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")},
    "memref.copy": copy,
    "memref.dim": dimension,
    "memref.rank": rank,
    **{name: allocated(name) for name in ("memref.alloc", "memref.alloca", "memref.dealloc")},
    "memref.atomic_rmw": read_modify_write,
    "memref.get_global": get_global,
    "aie.buffer": inner_buffer,
    "memref.alloca_scope": scope,
    "memref.alloca_scope.return": scope,
    **{
        name: vector_access(name)
        for name in ("vector.load", "vector.store", "affine.vector_load", "affine.vector_store")
    },
    **{name: transfer(name) for name in ("vector.transfer_read", "vector.transfer_write")},
    **{name: masked(name) for name in ("vector.maskedload", "vector.maskedstore")},
}
