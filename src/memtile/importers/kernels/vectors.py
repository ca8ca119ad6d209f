"""Vectors in core bodies: a value is a flat array of its elements, each a number as scalars are.

What is done to a vector is a loop over its elements with the scalar's expression, so that vectors compute
what scalars do; compiled, the loop is machine code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from memtile.importers.kernels.body_operands import index_of, listed_indices, number_of
from memtile.importers.kernels.body_operations import give
from memtile.importers.kernels.emitter import Emitter, Handler
from memtile.importers.kernels.expressions import RULES, bits_of, paired
from memtile.importers.kernels.maps import affine_map
from memtile.importers.kernels.quote import Node, every, expr, number, part
from memtile.importers.kernels.ssa_values import (
    begin,
    element,
    elementwise,
    nest,
    numpy_of,
    place,
    put,
    result_vector,
    text_of,
    vector_of,
    whole,
)
from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.forms.operands import OperationForm, shown
from memtile.importers.mlir.tree import TokenSpan
from memtile.importers.mlir.types import Shaped

_SAME = ("minsi", "minui", "maxsi", "maxui", "minimumf", "maximumf", "minnumf", "maxnumf", "minf", "maxf")
_COMBINING = {"add": "add", "mul": "mul", "and": "andi", "or": "ori", "xor": "xori"} | dict(
    zip(_SAME, _SAME, strict=True)
)
_KIND_NUMBERS = (
    "add", "mul", "minui", "minsi", "minnumf", "maxui", "maxsi", "maxnumf", "and", "or", "xor",
    "maximumf", "minimumf",
)  # fmt: skip


def combined(kind: str, one: Node, other: Node, element_kind: str) -> Node:
    """Two numbers combined as a reduction does."""
    name = _COMBINING[kind]
    if name in ("add", "mul"):
        name += "i" if bits_of(element_kind) is not None else "f"
    return RULES[f"arith.{name}"]([one, other], element_kind, element_kind)


def _kind(form: OperationForm) -> str:
    """The kind of a reduction, ``<add>``, or ``#vector.kind<add>``."""
    given = form.attributes.get("kind")
    if given is None:
        at = form.bracket("<")
        given = "add" if at is None else form.operation.tokens.words[at + 1]
    if isinstance(given, Compound):
        given = str(given.listed[0])
    if isinstance(given, int):
        given = _KIND_NUMBERS[given]
    if given not in _COMBINING:
        raise form.error(
            f"the kind {shown(given)} is not known", ", ".join(_COMBINING), reason="mlir_unknown"
        )
    return str(given)


def broadcast(emitter: Emitter, form: OperationForm) -> None:
    """``vector.broadcast %x : f32 to vector<16xf32>``; sizes of 1 and dimensions in front are repeated."""
    target, source = result_vector(form), vector_of(emitter, form.values[0])
    name = begin(emitter, form, target)
    with nest(emitter, target.shape) as names:
        own = names[len(names) - len(source.shape) :]
        at = [n if size > 1 else number(0) for n, size in zip(own, source.shape, strict=True)]
        value = element(emitter, form.values[0], place(at, source.shape))
        put(emitter, name, place(names, target.shape), value)


def shape_cast(emitter: Emitter, form: OperationForm) -> None:
    """``vector.shape_cast``: the same elements in another shape."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    if (source.elements, source.element) != (target.elements, target.element):
        says = f"{source.elements} {source.element} become {target.elements} {target.element}"
        raise form.error(says, "the same elements", reason="mlir_type")
    give(emitter, form.result, text_of(target), emitter.use(form.values[0]))


def bitcast(emitter: Emitter, form: OperationForm) -> None:
    """``vector.bitcast``: the same bits as elements of another width."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    given, wide = _width(form, source.element), _width(form, target.element)
    into = {"bf16": "bf16", "f32": "f32"}
    if given * source.elements != wide * target.elements:
        says = f"{given * source.elements} bits become {wide * target.elements}"
        raise form.error(says, "as many bits", reason="mlir_type")
    name = begin(emitter, form, target)

    def bits(at: Node) -> Node:
        value = element(emitter, form.values[0], at)
        return RULES["arith.bitcast"]([value], source.element, f"i{given}")

    with nest(emitter, [target.elements]) as (at,):
        if wide <= given:
            many = given // wide
            word = expr(
                "_bits >> (_wide * (_at % _many))",
                _bits=bits(expr("_at // _many", _at=at, _many=many)),
                _wide=wide,
                _at=at,
                _many=many,
            )
        else:
            many = wide // given
            parts = [
                expr(
                    "(_bits & _mask) << _by",
                    _bits=bits(expr("_at * _many + _n", _at=at, _many=many, _n=n)),
                    _mask=(1 << given) - 1,
                    _by=given * n,
                )
                for n in range(many)
            ]
            word = reduce(lambda one, other: paired("|", one, other), parts)
        wrapped = RULES["arith.trunci"]([word], "i64", f"i{wide}")
        kind = into.get(target.element, target.element)
        put(emitter, name, at, RULES["arith.bitcast"]([wrapped], f"i{wide}", kind))


def _width(form: OperationForm, kind: str) -> int:
    found = bits_of(kind) or {"bf16": 16, "f32": 32}.get(kind)
    if found is None:
        raise form.error(
            f"elements of type {kind} have no bits here", "integers, bf16, f32", reason="mlir_unknown"
        )
    return found


def positions(emitter: Emitter, form: OperationForm, first: int) -> list[Node]:
    """Places in a vector: the numbers of the last list in brackets, values among them.

    Args:
        emitter: of the operation.
        form: of it.
        first: how many of its values come before those in the list, in generic form.
    """
    given = form.attributes.get("static_position", form.attributes.get("position"))
    if given is not None:
        return listed_indices(emitter, form, given, first)
    at = form.bracket("[")
    if at is None:
        return [number_of(emitter, form, value) for value in form.values[first:]]
    return [index_of(emitter, form, form.text(_untyped(form, item))) for item in form.split(at)]


def _untyped(form: OperationForm, item: TokenSpan) -> TokenSpan:
    """A value of a list without its type, which ``vector.extractelement`` prints: ``[%i : index]``."""
    words = form.operation.tokens.words
    return TokenSpan(item.first, next((at for at in range(*item) if words[at] == ":"), item.end))


def _part_of(emitter: Emitter, form: OperationForm, whole_: Shaped, first: int) -> tuple[Node, Shaped]:
    """Where a part of a vector begins, and the part: each index is checked in its own dimension."""
    at = positions(emitter, form, first)
    if len(at) > len(whole_.shape):
        says = f"it has {len(at)} indices for {len(whole_.shape)} dimensions"
        raise form.error(says, "an index for each", reason="mlir_index")
    checked = [
        expr("place(_at, _size, SITE)", _at=each, _size=size)
        for each, size in zip(at, whole_.shape, strict=False)
    ]
    inner = Shaped(whole_.shape[len(at) :], whole_.element)
    begin_ = place(checked, whole_.shape[: len(at)])
    return (paired("*", begin_, inner.elements) if inner.elements != 1 else begin_), inner


def _stretch(first: Node, many: int) -> Node:
    return part(first, expr("_first + _many", _first=first, _many=many))


def extract(emitter: Emitter, form: OperationForm) -> None:
    """``vector.extract %v[1, %i] : f32 from vector<4x8xf32>``: an element, or a smaller vector."""
    source = vector_of(emitter, form.values[0])
    first, inner = _part_of(emitter, form, source, 1)
    vector = emitter.use(form.values[0])
    if inner.shape:
        stretch = _stretch(first, inner.elements)
        give(emitter, form.result, text_of(inner), expr("_v[_part].copy()", _v=vector, _part=stretch))
    else:
        give(emitter, form.result, source.element, element(emitter, form.values[0], first))


def insert(emitter: Emitter, form: OperationForm) -> None:
    """``vector.insert %x, %v[1] : f32 into vector<4xf32>``: the vector with one part changed."""
    source, target = (vector_of(emitter, value) for value in form.values.first(2))
    first, inner = _part_of(emitter, form, target, 2)
    if inner != source:
        says = f"{text_of(source)} goes where {text_of(inner)} is"
        raise form.error(says, "a part of the vector", reason="mlir_type")
    own, value = emitter.use(form.values[1]), emitter.use(form.values[0])
    name = emitter.define(form.result, text_of(target))
    emitter.lines.add("_name = _own.copy()", _name=name, _own=own)
    put(emitter, name, _stretch(first, source.elements) if source.shape else first, value)


def _is_part(moves: Sequence[int], sizes: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a block of these sizes lies in a shape, moved so far along each dimension."""
    return all(0 <= m <= n - s for m, s, n in zip(moves, sizes, shape, strict=True))


def strided_slice(emitter: Emitter, form: OperationForm) -> None:
    """``vector.extract_strided_slice`` and ``insert_strided_slice``, with steps of 1."""
    taking = form.operation.name.endswith(".extract_strided_slice")
    small = result_vector(form) if taking else vector_of(emitter, form.values[0])
    large = vector_of(emitter, form.values[0 if taking else 1])
    offsets = form.integers("offsets")
    if {*form.attributes.get("strides", [])} - {1}:
        raise form.error("its steps are not 1", "steps of 1", reason="mlir_unknown")
    lead = len(large.shape) - len(small.shape)
    moves = [*offsets, *[0] * (len(large.shape) - len(offsets))]
    sizes = [1] * lead + list(small.shape)
    if lead < 0 or not _is_part(moves, sizes, large.shape):
        raise form.error(f"its offsets are {offsets}", f"parts of {text_of(large)}", reason="mlir_index")
    if taking:
        name = begin(emitter, form, small)
    else:
        own = emitter.use(form.values[1])
        name = emitter.define(form.result, text_of(large))
        emitter.lines.add("_name = _own.copy()", _name=name, _own=own)
    with nest(emitter, small.shape) as names:
        moving = [number(0)] * lead + names
        there = [paired("+", each, m) if m else each for each, m in zip(moving, moves, strict=True)]
        outer, inner = place(there, large.shape), place(names, small.shape)
        at, of = (inner, outer) if taking else (outer, inner)
        put(emitter, name, at, element(emitter, form.values[0], of))


def reduction(emitter: Emitter, form: OperationForm) -> None:
    """``vector.reduction <add>, %v, %acc : vector<16xi32> into i32``: from the first element to the last."""
    source, kind = vector_of(emitter, form.values[0]), _kind(form)
    values = form.values
    later = 0 if len(values) > 1 else 1
    initial = number_of(emitter, form, values[1]) if not later else element(emitter, values[0], 0)
    total = emitter.lines.fresh("sum")
    emitter.lines.add("_total = _initial", _total=total, _initial=initial)
    with nest(emitter, [source.elements - later]) as (at,):
        other = element(emitter, values[0], paired("+", at, later) if later else at)
        emitter.lines.add(
            "_total = _value", _total=total, _value=combined(kind, total, other, source.element)
        )
    give(emitter, form.result, source.element, total)


def _sums(emitter: Emitter, given: str, target: Shaped) -> Node:
    """A copy of the vector, or of the number, that a reduction begins with."""
    sums, own = emitter.lines.fresh("sums"), emitter.use(given)
    if vector_of(emitter, given) != target:
        raise ValueError(f"{given} is no {text_of(target)}")
    value = expr("_own.copy()", _own=own)
    if not target.shape:
        value = expr("np.full(1, _own, _type)", _own=own, _type=numpy_of(target.element))
    emitter.lines.add("_sums = _value", _sums=sums, _value=value)
    return sums


def _reduced(emitter: Emitter, form: OperationForm, sums: Node, target: Shaped) -> None:
    """The sums as the result."""
    kind = text_of(target) if target.shape else target.element
    give(emitter, form.result, kind, sums if target.shape else whole(expr("_s[0]", _s=sums), target.element))


def multi_reduction(emitter: Emitter, form: OperationForm) -> None:
    """``vector.multi_reduction <add>, %v, %acc [0] : vector<4x8xf32> to vector<8xf32>``."""
    source, kind = vector_of(emitter, form.values[0]), _kind(form)
    given = form.attributes.get("reduction_dims")
    at = form.bracket("[")
    dims = set(form.whole_list(at) if given is None and at is not None else form.integers("reduction_dims"))
    kept = [n for n in range(len(source.shape)) if n not in dims]
    target = Shaped(tuple(source.shape[n] for n in kept), source.element)
    sums = _sums(emitter, form.values[1], target)
    with nest(emitter, source.shape) as names:
        cell = expr("_sums[_at]", _sums=sums, _at=place([names[n] for n in kept], target.shape))
        other = element(emitter, form.values[0], place(names, source.shape))
        total = combined(kind, whole(cell, source.element), other, source.element)
        emitter.lines.add("_cell = _total", _cell=cell, _total=total)
    _reduced(emitter, form, sums, target)


def contract(emitter: Emitter, form: OperationForm) -> None:
    """``vector.contract {indexing_maps, iterator_types, kind} %a, %b, %c``: products summed up."""
    maps = [affine_map(form, str(text)) for text in form.attributes["indexing_maps"]]
    shapes = [vector_of(emitter, value) for value in form.values.first(3)]
    sizes = [1] * len(maps[0].dims)
    for found, shape in zip(maps, shapes, strict=True):
        for n, size in enumerate(shape.shape):
            dimension = found.dimension(n)
            if dimension is not None:
                sizes[dimension] = size
    target, kind = shapes[2], _kind(form) if "kind" in form.attributes else "add"
    sums = _sums(emitter, form.values[2], target)
    with nest(emitter, sizes) as names:
        places = [place(found.nodes(names), shape.shape) for found, shape in zip(maps, shapes, strict=True)]
        given = [element(emitter, form.values[n], places[n]) for n in (0, 1)]
        name = "arith.muli" if bits_of(target.element) is not None else "arith.mulf"
        product = RULES[name](given, target.element, target.element)
        cell = expr("_sums[_at]", _sums=sums, _at=places[2])
        total = combined(kind, whole(cell, target.element), product, target.element)
        emitter.lines.add("_cell = _total", _cell=cell, _total=total)
    _reduced(emitter, form, sums, target)


def outer_product(emitter: Emitter, form: OperationForm) -> None:
    """``vector.outerproduct %a, %b, %acc``."""
    one, other = (vector_of(emitter, value) for value in form.values.first(2))
    target = Shaped((*one.shape, *other.shape), one.element)
    name, integer = begin(emitter, form, target), bits_of(one.element) is not None
    with nest(emitter, target.shape) as names:
        at = place(names, target.shape)
        given = [element(emitter, form.values[0], names[0])]
        given.append(element(emitter, form.values[1], names[1] if other.shape else 0))
        value = RULES["arith.muli" if integer else "arith.mulf"](given, one.element, one.element)
        if len(form.values) > 2:
            value = combined("add", element(emitter, form.values[2], at), value, one.element)
        put(emitter, name, at, value)


def _listed(form: OperationForm, *names: str) -> list[int]:
    """The numbers of an attribute, or of the list in brackets."""
    found = next((name for name in names if name in form.attributes), "")
    at = form.bracket("[")
    return form.integers(found or names[0]) if found or at is None else form.whole_list(at)


def transpose(emitter: Emitter, form: OperationForm) -> None:
    """``vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>``."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    order = _listed(form, "permutation", "transp")
    if sorted(order) != list(range(len(source.shape))):
        says = f"its order is {shown(order)}"
        raise form.error(says, f"each of {len(source.shape)} dimensions once", reason="mlir_index")
    if target.shape != tuple(source.shape[n] for n in order):
        raise form.error("its type is not that of its order", text_of(source), reason="mlir_type")
    name = begin(emitter, form, target)
    with nest(emitter, target.shape) as names:
        back = [names[order.index(n)] for n in range(len(order))]
        value = element(emitter, form.values[0], place(back, source.shape))
        put(emitter, name, place(names, target.shape), value)


def shuffle(emitter: Emitter, form: OperationForm) -> None:
    """``vector.shuffle %a, %b [0, 4, 1] : vector<4xf32>, vector<4xf32>``: parts of both, by number."""
    one, other = (vector_of(emitter, value) for value in form.values.first(2))
    order = _listed(form, "mask")
    first, second = (shape.shape[0] if shape.shape else 1 for shape in (one, other))
    if any(not 0 <= part_ < first + second for part_ in order):
        says, allowed = f"its mask is {shown(order)}", f"0..{first + second - 1}"
        raise form.error(says, allowed, reason="mlir_index")
    if (one.shape[1:], one.element) != (other.shape[1:], other.element):
        raise form.error("its vectors have not the same parts", text_of(one), reason="mlir_type")
    inner = Shaped(one.shape[1:], one.element)
    name = begin(emitter, form, Shaped((len(order), *inner.shape), one.element))
    for n, part_ in enumerate(order):
        source, where = (0, part_) if part_ < first else (1, part_ - first)
        with nest(emitter, [inner.elements]) as (e,):
            value = element(emitter, form.values[source], paired("+", number(where * inner.elements), e))
            put(emitter, name, paired("+", number(n * inner.elements), e), value)


def interleave(emitter: Emitter, form: OperationForm) -> None:
    """``vector.interleave %a, %b``: elements of both in turn."""
    shape = vector_of(emitter, form.values[0])
    target = Shaped((*shape.shape[:-1], 2 * shape.shape[-1]), shape.element)

    def rule(at: Node) -> Node:
        half = expr("_at // 2", _at=at)
        one, other = (element(emitter, value, half) for value in form.values.first(2))
        return expr("_one if _at % 2 == 0 else _other", _one=one, _at=at, _other=other)

    elementwise(emitter, form, target, rule)


def fused(emitter: Emitter, form: OperationForm) -> None:
    """``vector.fma %a, %b, %c``."""
    values, shape = form.values.exactly(3), vector_of(emitter, form.values[0])

    def rule(at: Node) -> Node:
        given = [element(emitter, value, at) for value in values]
        return RULES["math.fma"](given, shape.element, shape.element)

    elementwise(emitter, form, shape, rule)


def create_mask(emitter: Emitter, form: OperationForm) -> None:
    """``vector.create_mask %n, %m`` and ``vector.constant_mask [2, 3]``: 1 in front of the bounds."""
    target = result_vector(form)
    if form.values:
        bounds = [number_of(emitter, form, value) for value in form.values]
    else:
        bounds = [number(n) for n in _listed(form, "mask_dim_sizes")]
    name = begin(emitter, form, target)
    with nest(emitter, target.shape) as names:
        inside = every([paired("<", n, bound) for n, bound in zip(names, bounds, strict=True)])
        value = expr("1 if _inside else 0", _inside=inside)
        put(emitter, name, place(names, target.shape), value)


def step(emitter: Emitter, form: OperationForm) -> None:
    """``vector.step``: 0, 1, 2 ..."""
    elementwise(emitter, form, result_vector(form), lambda at: at)


HANDLERS: Mapping[str, Handler] = {
    "vector.broadcast": broadcast,
    "vector.splat": broadcast,
    "vector.shape_cast": shape_cast,
    "vector.bitcast": bitcast,
    "vector.extract": extract,
    "vector.extractelement": extract,
    "vector.insert": insert,
    "vector.insertelement": insert,
    "vector.extract_strided_slice": strided_slice,
    "vector.insert_strided_slice": strided_slice,
    "vector.reduction": reduction,
    "vector.multi_reduction": multi_reduction,
    "vector.contract": contract,
    "vector.outerproduct": outer_product,
    "vector.transpose": transpose,
    "vector.shuffle": shuffle,
    "vector.interleave": interleave,
    "vector.fma": fused,
    "vector.create_mask": create_mask,
    "vector.constant_mask": create_mask,
    "vector.step": step,
}
