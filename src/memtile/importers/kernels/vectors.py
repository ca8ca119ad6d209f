"""Vectors in core bodies: a value is a flat array of its elements, each a number as scalars are.

What is done to a vector is a loop over its elements with the scalar's expression, so that vectors compute
what scalars do; compiled, the loop is machine code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from memtile.importers.kernels.emitter import Emitter, Handler, items_of, loaded, stored, type_names
from memtile.importers.kernels.expressions import RULES, bits_of
from memtile.importers.kernels.maps import AffineMap, affine_map
from memtile.importers.kernels.memory import indices_of
from memtile.importers.kernels.source import SITE
from memtile.importers.kernels.values import (
    begin,
    element,
    elementwise,
    fresh,
    is_vector,
    nest,
    numpy_of,
    place,
    text_of,
    vector_of,
)
from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.types import Shaped, shaped

_DYNAMIC = -(1 << 63)  # of a list, where a value says it
_COMBINING = {"add": "add", "mul": "mul", "and": "andi", "or": "ori", "xor": "xori"} | {
    name: name
    for name in (
        "minsi",
        "minui",
        "maxsi",
        "maxui",
        "minimumf",
        "maximumf",
        "minnumf",
        "maxnumf",
        "minf",
        "maxf",
    )
}
_KIND_NUMBERS = (
    "add", "mul", "minui", "minsi", "minnumf", "maxui", "maxsi", "maxnumf", "and", "or", "xor",
    "maximumf", "minimumf",
)  # fmt: skip


def combined(kind: str, one: str, other: str, element_kind: str) -> str:
    """Two numbers combined as a reduction does."""
    name = _COMBINING[kind]
    if name in ("add", "mul"):
        name += "i" if bits_of(element_kind) is not None else "f"
    return RULES[f"arith.{name}"]([one, other], element_kind, element_kind)


def _kind(form: Form) -> str:
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
        raise form.error(f"the kind {given} is not known", ", ".join(_COMBINING), reason="mlir_unknown")
    return str(given)


def transfer_read(emitter: Emitter, form: Form) -> None:
    """``vector.transfer_read %m[%i, %j], %pad : memref<..>, vector<..>``: the padding where memory ends."""
    memory, indices, rest = memory_operands(emitter, form, 0)
    shape = result_vector(form)
    name, kind = begin(emitter, form, shape), shaped(emitter.types[form.values[0]])
    assert kind is not None
    with nest(emitter, shape.shape) as names:
        texts, inside = _moved(form, memory, indices, names)
        mask = [element(emitter, rest[1], place(names, shape.shape))] if len(rest) > 1 else []
        value = loaded(f"{memory}[{', '.join(texts) or '0'}]", kind.element)
        pad = emitter.use(rest[0]) if rest else "0"
        conditions = " and ".join((*mask, *inside)) or "True"
        emitter.lines.add(f"{name}[{place(names, shape.shape)}] = {value} if {conditions} else {pad}")


def transfer_write(emitter: Emitter, form: Form) -> None:
    """``vector.transfer_write %v, %m[%i, %j] : vector<..>, memref<..>``: what lies outside is not written."""
    memory, indices, rest = memory_operands(emitter, form, 1)
    shape, kind = vector_of(emitter, form.values[0]), shaped(emitter.types[form.values[1]])
    assert kind is not None
    with nest(emitter, shape.shape) as names:
        texts, inside = _moved(form, memory, indices, names)
        at = place(names, shape.shape)
        mask = [element(emitter, rest[0], at)] if rest else []
        emitter.lines.add(f"if {' and '.join((*mask, *inside)) or 'True'}:")
        value = stored(element(emitter, form.values[0], at), kind.element)
        emitter.lines.add(f"    {memory}[{', '.join(texts) or '0'}] = {value}")


def memory_operands(emitter: Emitter, form: Form, at: int) -> tuple[str, list[str], list[str]]:
    """The memref at a place among the operands, its indices, and the values behind them."""
    value = form.values[at]
    kind = shaped(emitter.types.get(value, ""))
    if kind is None:
        raise form.error(f"{value} is no memref", "a memref")
    if form.operation.name.startswith("affine."):
        return emitter.use(value), indices_of(emitter, form), []
    end = at + 1 + len(kind.shape)
    return emitter.use(value), [emitter.use(v) for v in form.values[at + 1 : end]], form.values[end:]


def _moved(
    form: Form, memory: str, indices: Sequence[str], names: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Indices of an element in memory, and the conditions that it is there."""
    given = form.attributes.get("permutation_map")
    rank = len(indices)
    results = [f"d{n}" for n in range(rank - len(names), rank)]
    found = AffineMap(rank, tuple(results)) if given is None else affine_map(form, str(given))
    texts = list(indices)
    for n, name in enumerate(names):
        dimension = found.dimension(n)
        if dimension is not None:
            texts[dimension] = f"{texts[dimension]} + {name}"
    return texts, [f"0 <= {text} < {memory}.shape[{n}]" for n, text in enumerate(texts)]


def result_vector(form: Form) -> Shaped:
    """The vector that an operation says that it gives."""
    found = is_vector(type_names(form)[-1])
    if found is None:
        raise form.error("its result is no vector", "vector<..>")
    return found


def broadcast(emitter: Emitter, form: Form) -> None:
    """``vector.broadcast %x : f32 to vector<16xf32>``; sizes of 1 and dimensions in front are repeated."""
    target, source = result_vector(form), vector_of(emitter, form.values[0])
    name = begin(emitter, form, target)
    with nest(emitter, target.shape) as names:
        own = names[len(names) - len(source.shape) :]
        at = [n if size > 1 else "0" for n, size in zip(own, source.shape, strict=True)]
        value = element(emitter, form.values[0], place(at, source.shape))
        emitter.lines.add(f"{name}[{place(names, target.shape)}] = {value}")


def shape_cast(emitter: Emitter, form: Form) -> None:
    """``vector.shape_cast``: the same elements in another shape."""
    source, names = form.values[0], type_names(form)
    kind = names[-1]
    text = emitter.use(source)
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def bitcast(emitter: Emitter, form: Form) -> None:
    """``vector.bitcast``: the same bits as elements of another width."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    given, wide = _width(form, source.element), _width(form, target.element)
    into = {"bf16": "bf16", "f32": "f32"}
    name = begin(emitter, form, target)

    def bits(at: str) -> str:
        value = element(emitter, form.values[0], at)
        return RULES["arith.bitcast"]([value], source.element, f"i{given}")

    with nest(emitter, [target.elements]) as (at,):
        if wide <= given:
            many = given // wide
            word = f"({bits(f'{at} // {many}')} >> ({wide} * ({at} % {many})))"
        else:
            many = wide // given
            mask = (1 << given) - 1
            word = " | ".join(
                f"(({bits(f'{at} * {many} + {n}')}) & {mask}) << {given * n}" for n in range(many)
            )
            word = f"({word})"
        wrapped = RULES["arith.trunci"]([word], "i64", f"i{wide}")
        kind = into.get(target.element, target.element)
        emitter.lines.add(f"{name}[{at}] = {RULES['arith.bitcast']([wrapped], f'i{wide}', kind)}")


def _width(form: Form, kind: str) -> int:
    found = bits_of(kind) or {"bf16": 16, "f32": 32}.get(kind)
    if found is None:
        raise form.error(
            f"elements of type {kind} have no bits here", "integers, bf16, f32", reason="mlir_unknown"
        )
    return found


def positions(emitter: Emitter, form: Form, first: int) -> list[str]:
    """Places in a vector: the numbers of the last list in brackets, values among them.

    Args:
        emitter: of the operation.
        form: of it.
        first: how many of its values come before those in the list, in generic form.
    """
    given = form.attributes.get("static_position", form.attributes.get("position"))
    if given is not None:
        listed = given.listed if isinstance(given, Compound) else given
        dynamic = iter(form.values[first:])
        return [emitter.use(next(dynamic)) if n == _DYNAMIC else str(n) for n in listed]
    at = form.bracket("[")
    if at is None:
        return [emitter.use(value) for value in form.values[first:]]
    texts = [form.text(item) for item in form.split(at)]
    return [emitter.use(text) if text[:1] == "%" else text for text in texts]


def extract(emitter: Emitter, form: Form) -> None:
    """``vector.extract %v[1, %i] : f32 from vector<4x8xf32>``: an element, or a smaller vector."""
    source, at = vector_of(emitter, form.values[0]), positions(emitter, form, 1)
    at = [f"place({text}, {size}, {SITE})" for text, size in zip(at, source.shape, strict=False)]
    inner = Shaped(source.shape[len(at) :], source.element)
    first = f"({place(at, source.shape[: len(at)])}) * {inner.elements}"
    text = emitter.use(form.values[0])
    if inner.shape:
        name = emitter.define(form.result, text_of(inner))
        emitter.lines.add(f"{name} = {text}[{first} : {first} + {inner.elements}].copy()")
    else:
        value = element(emitter, form.values[0], first)
        emitter.lines.add(f"{emitter.define(form.result, source.element)} = {value}")


def insert(emitter: Emitter, form: Form) -> None:
    """``vector.insert %x, %v[1] : f32 into vector<4xf32>``: the vector with one part changed."""
    source, target = (vector_of(emitter, value) for value in form.values[:2])
    at = positions(emitter, form, 2)
    at = [f"place({text}, {size}, {SITE})" for text, size in zip(at, target.shape, strict=False)]
    first = f"({place(at, target.shape[: len(at)])}) * {source.elements}"
    whole, text = emitter.use(form.values[1]), emitter.use(form.values[0])
    name = emitter.define(form.result, text_of(target))
    emitter.lines.add(f"{name} = {whole}.copy()")
    part = f"{first} : {first} + {source.elements}" if source.shape else first
    emitter.lines.add(f"{name}[{part}] = {text}")


def strided_slice(emitter: Emitter, form: Form) -> None:
    """``vector.extract_strided_slice`` and ``insert_strided_slice``, with steps of 1."""
    taking = form.operation.name.endswith(".extract_strided_slice")
    small = result_vector(form) if taking else vector_of(emitter, form.values[0])
    large = vector_of(emitter, form.values[0 if taking else 1])
    offsets = [int(n) for n in form.attributes["offsets"]]
    steps = form.attributes.get("strides", [])
    if any(step != 1 for step in steps):
        raise form.error("its steps are not 1", "steps of 1", reason="mlir_unknown")
    lead = len(large.shape) - len(small.shape)
    moves = [*offsets, *[0] * (len(large.shape) - len(offsets))]
    if taking:
        name = begin(emitter, form, small)
    else:
        whole = emitter.use(form.values[1])
        name = emitter.define(form.result, text_of(large))
        emitter.lines.add(f"{name} = {whole}.copy()")
    with nest(emitter, small.shape) as names:
        there = [f"({name_} + {m})" for name_, m in zip(["0"] * lead + names, moves, strict=True)]
        outer, inner = place(there, large.shape), place(names, small.shape)
        at, of = (inner, outer) if taking else (outer, inner)
        emitter.lines.add(f"{name}[{at}] = {element(emitter, form.values[0], of)}")


def reduction(emitter: Emitter, form: Form) -> None:
    """``vector.reduction <add>, %v, %acc : vector<16xi32> into i32``: from the first element to the last."""
    source, kind = vector_of(emitter, form.values[0]), _kind(form)
    values = form.values
    initial = emitter.use(values[1]) if len(values) > 1 else element(emitter, values[0], "0")
    key = f"sum{fresh(emitter)}"
    emitter.lines.add(f"{key} = {initial}")
    with nest(emitter, [source.elements if len(values) > 1 else source.elements - 1]) as (at,):
        other = element(emitter, values[0], at if len(values) > 1 else f"{at} + 1")
        emitter.lines.add(f"{key} = {combined(kind, key, other, source.element)}")
    emitter.lines.add(f"{emitter.define(form.result, source.element)} = {key}")


def multi_reduction(emitter: Emitter, form: Form) -> None:
    """``vector.multi_reduction <add>, %v, %acc [0] : vector<4x8xf32> to vector<8xf32>``."""
    source, kind = vector_of(emitter, form.values[0]), _kind(form)
    given = form.attributes.get("reduction_dims")
    at = form.bracket("[")
    listed = form.whole_list(at) if given is None and at is not None else items_of(given)
    dims = {int(n) for n in listed}
    kept = [n for n in range(len(source.shape)) if n not in dims]
    target = Shaped(tuple(source.shape[n] for n in kept), source.element)
    name = emitter.define(form.result, text_of(target) if target.shape else target.element)
    copied = f"{emitter.use(form.values[1])}.copy()"
    whole = (
        copied
        if target.shape
        else f"np.full(1, {emitter.use(form.values[1])}, np.{numpy_of(source.element)})"
    )
    key = f"sums{fresh(emitter)}"
    emitter.lines.add(f"{key} = {whole}")
    with nest(emitter, source.shape) as names:
        place_ = place([names[n] for n in kept], target.shape)
        one = f"whole({key}[{place_}])" if bits_of(source.element) is not None else f"{key}[{place_}]"
        other = element(emitter, form.values[0], place(names, source.shape))
        emitter.lines.add(f"{key}[{place_}] = {combined(kind, one, other, source.element)}")
    emitter.lines.add(f"{name} = {key}" if target.shape else f"{name} = {key}[0]")


def contract(emitter: Emitter, form: Form) -> None:
    """``vector.contract {indexing_maps, iterator_types, kind} %a, %b, %c``: products summed up."""
    maps = [affine_map(form, str(text)) for text in form.attributes["indexing_maps"]]
    shapes = [vector_of(emitter, value) for value in form.values[:3]]
    sizes = [1] * maps[0].dims
    for found, shape in zip(maps, shapes, strict=True):
        for n, size in enumerate(shape.shape):
            dimension = found.dimension(n)
            if dimension is not None:
                sizes[dimension] = size
    target, kind = shapes[2], _kind(form) if "kind" in form.attributes else "add"
    key, acc = f"sums{fresh(emitter)}", emitter.use(form.values[2])
    whole = f"{acc}.copy()" if target.shape else f"np.full(1, {acc}, np.{numpy_of(target.element)})"
    emitter.lines.add(f"{key} = {whole}")
    with nest(emitter, sizes) as names:
        places = [
            place(found.expressions(names), shape.shape) for found, shape in zip(maps, shapes, strict=True)
        ]
        given = [element(emitter, form.values[n], places[n]) for n in (0, 1)]
        integer = bits_of(target.element) is not None
        one = f"whole({key}[{places[2]}])" if integer else f"{key}[{places[2]}]"
        product = RULES["arith.muli" if integer else "arith.mulf"](given, target.element, target.element)
        emitter.lines.add(f"{key}[{places[2]}] = {combined(kind, one, product, target.element)}")
    kind_text = text_of(target) if target.shape else target.element
    name = emitter.define(form.result, kind_text)
    emitter.lines.add(f"{name} = {key}" if target.shape else f"{name} = {key}[0]")


def outer_product(emitter: Emitter, form: Form) -> None:
    """``vector.outerproduct %a, %b, %acc``."""
    one, other = (vector_of(emitter, value) for value in form.values[:2])
    target = Shaped((*one.shape, *other.shape), one.element)
    name, integer = begin(emitter, form, target), bits_of(one.element) is not None
    with nest(emitter, target.shape) as names:
        at = place(names, target.shape)
        given = [element(emitter, form.values[0], names[0])]
        given.append(element(emitter, form.values[1], names[1] if other.shape else "0"))
        value = RULES["arith.muli" if integer else "arith.mulf"](given, one.element, one.element)
        if len(form.values) > 2:
            value = combined("add", element(emitter, form.values[2], at), value, one.element)
        emitter.lines.add(f"{name}[{at}] = {value}")


def transpose(emitter: Emitter, form: Form) -> None:
    """``vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>``."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    given, at = form.attributes.get("permutation", form.attributes.get("transp")), form.bracket("[")
    order = form.whole_list(at) if given is None and at is not None else items_of(given)
    name = begin(emitter, form, target)
    with nest(emitter, target.shape) as names:
        back = [names[order.index(n)] for n in range(len(order))]
        value = element(emitter, form.values[0], place(back, source.shape))
        emitter.lines.add(f"{name}[{place(names, target.shape)}] = {value}")


def shuffle(emitter: Emitter, form: Form) -> None:
    """``vector.shuffle %a, %b [0, 4, 1] : vector<4xf32>, vector<4xf32>``: parts of both, by number."""
    one, other = (vector_of(emitter, value) for value in form.values[:2])
    given, at = form.attributes.get("mask"), form.bracket("[")
    order = form.whole_list(at) if given is None and at is not None else items_of(given)
    size = prod(one.shape[1:])
    first = one.shape[0] if one.shape else 1
    target = Shaped((len(order), *one.shape[1:]), one.element)
    name = begin(emitter, form, target)
    for n, part in enumerate(order):
        source, where = (0, part) if part < first else (1, part - first)
        with nest(emitter, [size]) as (e,):
            value = element(emitter, form.values[source], f"{where * size} + {e}")
            emitter.lines.add(f"{name}[{n * size} + {e}] = {value}")
    assert other.element == one.element


def interleave(emitter: Emitter, form: Form) -> None:
    """``vector.interleave %a, %b``: elements of both in turn."""
    shape = vector_of(emitter, form.values[0])
    target = Shaped((*shape.shape[:-1], 2 * shape.shape[-1]), shape.element)

    def rule(at: str) -> str:
        one, other = (element(emitter, value, f"{at} // 2") for value in form.values[:2])
        return f"{one} if {at} % 2 == 0 else {other}"

    elementwise(emitter, form, target, rule)


def fused(emitter: Emitter, form: Form) -> None:
    """``vector.fma %a, %b, %c``."""
    shape = vector_of(emitter, form.values[0])
    rule = RULES["math.fma"]
    elementwise(
        emitter,
        form,
        shape,
        lambda at: rule([element(emitter, value, at) for value in form.values], shape.element, shape.element),
    )


def create_mask(emitter: Emitter, form: Form) -> None:
    """``vector.create_mask %n, %m`` and ``vector.constant_mask [2, 3]``: 1 in front of the bounds."""
    target = result_vector(form)
    given = form.attributes.get("mask_dim_sizes")
    at = form.bracket("[")
    if form.values:
        bounds = [emitter.use(value) for value in form.values]
    else:
        bounds = [str(n) for n in (form.whole_list(at) if at is not None else items_of(given))]
    name = begin(emitter, form, target)
    with nest(emitter, target.shape) as names:
        inside = " and ".join(f"{n} < {bound}" for n, bound in zip(names, bounds, strict=True))
        emitter.lines.add(f"{name}[{place(names, target.shape)}] = 1 if {inside} else 0")


def step(emitter: Emitter, form: Form) -> None:
    """``vector.step``: 0, 1, 2 ..."""
    elementwise(emitter, form, result_vector(form), lambda at: at)


def masked_access(emitter: Emitter, form: Form) -> None:
    """``vector.maskedload %m[%i], %mask, %pass`` and ``vector.maskedstore %m[%i], %mask, %v``."""
    memory, indices, (mask, value, *_) = memory_operands(emitter, form, 0)
    kind, loads = shaped(emitter.types[form.values[0]]), form.operation.name.endswith("load")
    shape = vector_of(emitter, value)
    assert kind is not None
    name = begin(emitter, form, shape) if loads else ""
    with nest(emitter, [shape.elements]) as (at,):
        moved = [*indices[:-1], f"{indices[-1]} + {at}"]
        texts = [f"place({text}, {memory}.shape[{n}], {SITE})" for n, text in enumerate(moved)]
        own, chosen = element(emitter, value, at), element(emitter, mask, at)
        cell = f"{memory}[{', '.join(texts)}]"
        if loads:
            emitter.lines.add(f"{name}[{at}] = {own}")
        emitter.lines.add(f"if {chosen}:")
        text = (
            f"{name}[{at}] = {loaded(cell, kind.element)}"
            if loads
            else f"{cell} = {stored(own, kind.element)}"
        )
        emitter.lines.add(f"    {text}")


def same(emitter: Emitter, form: Form) -> None:
    """The same value."""
    kind = emitter.types[form.values[0]]
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {emitter.use(form.values[0])}")


HANDLERS: Mapping[str, Handler] = {
    "vector.transfer_read": transfer_read,
    "vector.transfer_write": transfer_write,
    "vector.load": transfer_read,
    "vector.store": transfer_write,
    "affine.vector_load": transfer_read,
    "affine.vector_store": transfer_write,
    "vector.maskedload": masked_access,
    "vector.maskedstore": masked_access,
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
