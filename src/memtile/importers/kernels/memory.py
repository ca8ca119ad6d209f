"""Memory in core bodies: elements, parts and shapes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from memtile.arch.tiles import COMPUTE
from memtile.importers.kernels.emitter import (
    Emitter,
    Handler,
    items_of,
    last_kind,
    loaded,
    stored,
    type_names,
)
from memtile.importers.kernels.expressions import RULES
from memtile.importers.kernels.maps import affine_map, expression
from memtile.importers.kernels.operands import affine_word, memory_of, number_of, place_of
from memtile.importers.kernels.source import SITE
from memtile.importers.kernels.views import working_type
from memtile.importers.mlir.attributes import number
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.types import shaped

_DYNAMIC = -(1 << 63)  # of a list, where a value says it


def load(emitter: Emitter, form: Form) -> None:
    """``memref.load %m[%i, %j] : memref<4x4xi32>``."""
    memory, kind = memory_of(emitter, form, form.values[0])
    text = loaded(f"{memory}[{place_of(emitter, form, 0, (memory, kind))}]", kind.element)
    emitter.lines.add(f"{emitter.define(form.result, kind.element)} = {text}")


def store(emitter: Emitter, form: Form) -> None:
    """``memref.store %v, %m[%i, %j] : memref<4x4xi32>``."""
    memory, kind = memory_of(emitter, form, form.values[1])
    value = stored(number_of(emitter, form, form.values[0]), kind.element)
    emitter.lines.add(f"{memory}[{place_of(emitter, form, 1, (memory, kind))}] = {value}")


def indices_of(emitter: Emitter, form: Form) -> list[str]:
    """The indices in brackets, affine expressions of values among them."""
    at = form.bracket("[")
    texts = [] if at is None else [form.text(item) for item in form.split(at)]
    return [expression(text, use=emitter.use) for text in texts]


def parts_of(emitter: Emitter, form: Form) -> list[list[str]]:
    """Offsets, sizes and strides of a part of memory.

    Raises:
        InputFileError: it does not have the three lists.
    """
    names = ("static_offsets", "static_sizes", "static_strides")
    if names[0] in form.attributes:
        rest = (emitter.use(value) for value in form.values[1:])
        lists = [items_of(form.attributes[name]) for name in names]
        return [[next(rest) if n == _DYNAMIC else str(n) for n in each] for each in lists]
    found = []
    for n in range(3):
        at = form.bracket("[", n)
        if at is None:
            raise form.error("it needs offsets, sizes and strides", "three lists")
        found.append([affine_word(emitter, form, form.text(item)) for item in form.split(at)])
    return found


def subview(emitter: Emitter, form: Form) -> None:
    """``memref.subview %m[0, %i] [1, 8] [1, 1] : memref<..> to memref<..>``."""
    memory, source = memory_of(emitter, form, form.values[0])
    lists = parts_of(emitter, form)
    kind = type_names(form)[-1]
    target = shaped(kind)
    if {len(each) for each in lists} != {len(source.shape)}:
        says = f"it has not {len(source.shape)} offsets, sizes and strides"
        raise form.error(says, "one of each for every dimension", reason="mlir_index")
    for n, (o, s, t) in enumerate(zip(*lists, strict=True)):
        emitter.lines.add(f"reach({o}, {s}, {t}, {memory}.shape[{n}], {SITE})")
    slices = [f"{o}:{o} + ({s} - 1) * {t} + 1:{t}" for o, s, t in zip(*lists, strict=True)]
    if target is not None and len(target.shape) < len(source.shape):
        drop = len(source.shape) - len(target.shape)
        for n, size in enumerate(lists[1]):
            if drop and size == "1":
                slices[n], drop = lists[0][n], drop - 1
        if not target.shape:
            slices[-1] = f"{lists[0][-1]}:{lists[0][-1]} + 1"  # of one element, see _place
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {memory}[{', '.join(slices)}]")


def reinterpret(emitter: Emitter, form: Form) -> None:
    """``memref.reinterpret_cast %m to offset: [0], sizes: [64], strides: [1]``."""
    memory, _ = memory_of(emitter, form, form.values[0])
    kind = type_names(form)[-1]
    (offset, *_), sizes, strides = (parts or ["0"] for parts in parts_of(emitter, form))
    flat = f"{memory}.reshape(-1)"
    if all(number(text) is not None for text in (*sizes, *strides)) and _in_order(sizes, strides):
        count = prod(map(int, sizes))
        emitter.lines.add(f"reach({offset}, {count}, 1, {memory}.size, {SITE})")
        text = f"{flat}[{offset}:{offset} + {count}].reshape(({', '.join(sizes)},))"
    elif len(sizes) == 1:
        emitter.lines.add(f"reach({offset}, {sizes[0]}, {strides[0]}, {memory}.size, {SITE})")
        text = f"{flat}[{offset}:{offset} + ({sizes[0]} - 1) * {strides[0]} + 1:{strides[0]}]"
    else:
        says = "its elements lie neither in order nor in one dimension"
        raise form.error(says, "parts of memory in order", reason="mlir_unknown")
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def _in_order(sizes: Sequence[str], strides: Sequence[str]) -> bool:
    wanted = [prod(map(int, sizes[n + 1 :])) for n in range(len(sizes))]
    return all(int(size) == 1 or int(s) == w for size, s, w in zip(sizes, strides, wanted, strict=True))


def reshape(emitter: Emitter, form: Form) -> None:
    """``memref.collapse_shape``, ``memref.expand_shape`` and ``memref.reshape``."""
    memory, source = memory_of(emitter, form, form.values[0])
    kind = type_names(form)[-1]
    target = shaped(kind)
    if target is not None and 0 <= source.elements != target.elements >= 0:
        says = f"{source.elements} elements become {target.elements}"
        raise form.error(says, "as many elements", reason="mlir_type")
    if target is None or sum(size < 0 for size in target.shape) > 1:
        raise form.error(
            "its shape is known at run time only", "one size at most that is open", reason="mlir_unknown"
        )
    shape = ", ".join(map(str, target.shape or (1,)))
    plain = [size for size in target.shape if size != 1] == [size for size in source.shape if size != 1]
    text = f"{memory}.reshape(({shape},))"
    if plain and len(target.shape) < len(source.shape) and target.shape:  # works for memory with gaps too
        kept = list(target.shape)
        slots = []
        for size in source.shape:
            if kept and size == kept[0]:
                kept.pop(0)
                slots.append(":")
            else:
                slots.append("0")
        text = f"{memory}[{', '.join(slots)}]"
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def same(emitter: Emitter, form: Form) -> None:
    """The same value under another name."""
    kind = last_kind(form) or emitter.types.get(form.values[0], "")
    source = emitter.types.get(form.values[0], kind)
    chosen = source if shaped(source) is not None else kind
    emitter.lines.add(f"{emitter.define(form.result, chosen)} = {emitter.use(form.values[0])}")


def copy(emitter: Emitter, form: Form) -> None:
    """``memref.copy %a, %b``."""
    (source, one), (target, other) = (memory_of(emitter, form, value) for value in form.values.exactly(2))
    if len(one.shape) != len(other.shape) or any(
        a != b for a, b in zip(one.shape, other.shape, strict=True) if a >= 0 <= b
    ):
        raise form.error("its memories have not the same shape", "memories of one shape", reason="mlir_type")
    emitter.lines.add(f"{target}[...] = {source}")


def dimension(emitter: Emitter, form: Form) -> None:
    """``memref.dim %m, %i``."""
    memory, kind = memory_of(emitter, form, form.values[0])
    which = number_of(emitter, form, form.values[1])
    size = f"{memory}.shape[place({which}, {len(kind.shape)}, {emitter.lines.site})]"
    emitter.lines.add(f"{emitter.define(form.result, 'index')} = {size}")


def rank(emitter: Emitter, form: Form) -> None:
    """``memref.rank %m``."""
    _, kind = memory_of(emitter, form, form.values[0])
    emitter.lines.add(f"{emitter.define(form.result, 'index')} = {len(kind.shape)}")


def allocate(emitter: Emitter, form: Form) -> None:
    """``memref.alloc(%n) : memref<?x4xi32>`` and ``memref.alloca``: memory of the stack, zero at first."""
    kind = type_names(form)[-1]
    target = shaped(kind)
    if target is None:
        raise form.error("its result is no memref", "memref<..>")
    size = target.elements * working_type(target.element).itemsize
    if size > COMPUTE.memory_bytes:
        says = f"it has {size} bytes"
        raise form.error(says, f"0..{COMPUTE.memory_bytes} bytes, all memory of the tile", reason="mlir_size")
    given = iter(number_of(emitter, form, value) for value in form.values)
    most = f"{COMPUTE.memory_bytes + 1}, {SITE}"
    sizes = [f"place({next(given)}, {most})" if size < 0 else str(size) for size in target.shape or (1,)]
    name = f"np.{working_type(target.element).name}"
    emitter.lines.add(f"{emitter.define(form.result, kind)} = np.zeros(({', '.join(sizes)},), {name})")


def view(emitter: Emitter, form: Form) -> None:
    """``memref.view %m[%at][%n] : memref<4096xi8> to memref<?x4xi32>``: bytes as elements."""
    memory, _ = memory_of(emitter, form, form.values[0])
    kind = type_names(form)[-1]
    target = shaped(kind)
    if target is None:
        raise form.error("its result is no memref", "memref<..>")
    at, *rest = (emitter.use(value) for value in form.values[1:])
    given = iter(rest)
    sizes = [next(given) if size < 0 else str(size) for size in target.shape or (1,)]
    dtype = working_type(target.element)
    bytes_ = f"({' * '.join(sizes)}) * {dtype.itemsize}"
    emitter.lines.add(f"reach({at}, {bytes_}, 1, {memory}.size, {SITE})")
    text = f"{memory}[{at}:{at} + {bytes_}].view(np.{dtype.name}).reshape(({', '.join(sizes)},))"
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def transpose(emitter: Emitter, form: Form) -> None:
    """``memref.transpose %m (i, j) -> (j, i) : memref<..> to memref<..>``: another order."""
    memory, source = memory_of(emitter, form, form.values[0])
    kind = type_names(form)[-1]
    given = form.attributes.get("permutation")
    if given is not None:
        results = affine_map(form, str(given)).results
        order = [int(text[1:]) for text in results]
    else:
        first, second = ([form.text(item) for item in form.items("(", n)] for n in (0, 1))
        order = [first.index(name) for name in second]
    assert len(order) == len(source.shape)
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {memory}.transpose({tuple(order)})")


def read_modify_write(emitter: Emitter, form: Form) -> None:
    """``%old = memref.atomic_rmw addi %v, %m[%i] : (i32, memref<8xi32>) -> i32``."""
    value, (memory, kind) = form.values[0], memory_of(emitter, form, form.values[1])
    word = str(form.attributes.get("kind", form.operation.words[0])).strip('"')
    names = {"maxs": "maxsi", "mins": "minsi", "maxu": "maxui", "minu": "minui"} | dict.fromkeys(
        ("assign",), ""
    )
    name = names.get(word, word)
    if name and f"arith.{name}" not in RULES:
        raise form.error(f"{word} is not known", "addi, addf, mulf, maxs, ..., assign", reason="mlir_unknown")
    cell = f"{memory}[{place_of(emitter, form, 1, (memory, kind))}]"
    old = emitter.define(form.result, kind.element)
    emitter.lines.add(f"{old} = {loaded(cell, kind.element)}")
    new = (
        RULES[f"arith.{name}"]([old, emitter.use(value)], kind.element, kind.element)
        if name
        else emitter.use(value)
    )
    emitter.lines.add(f"{cell} = {stored(new, kind.element)}")


def get_global(emitter: Emitter, form: Form) -> None:
    """``memref.get_global @table``."""
    name = str(form.attributes.get("name") or form.symbol)
    text, kind = emitter.constant_array(name, form)
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def nothing(_emitter: Emitter, _form: Form) -> None:
    """Changes nothing."""


HANDLERS: Mapping[str, Handler] = {
    "memref.load": load,
    "memref.store": store,
    "affine.load": load,
    "affine.store": store,
    "memref.subview": subview,
    "memref.reinterpret_cast": reinterpret,
    "memref.rank": rank,
    "memref.view": view,
    "memref.transpose": transpose,
    "memref.atomic_rmw": read_modify_write,
    "memref.memory_space_cast": same,
    "memref.collapse_shape": reshape,
    "memref.expand_shape": reshape,
    "memref.cast": same,
    "memref.assume_alignment": same,
    "memref.copy": copy,
    "memref.dim": dimension,
    "memref.alloc": allocate,
    "memref.alloca": allocate,
    "memref.dealloc": nothing,
    "memref.get_global": get_global,
}
