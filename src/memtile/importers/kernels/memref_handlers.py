"""Memory in core bodies: elements, parts and shapes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from memtile.arch.tiles import COMPUTE
from memtile.importers.kernels.body_operands import (
    element_type,
    index_of,
    indices_of,
    listed_indices,
    memory_of,
    number_of,
)
from memtile.importers.kernels.body_operations import give, nothing
from memtile.importers.kernels.emitter import (
    Emitter,
    Handler,
    items_of,
    last_kind,
    loaded,
    stored,
    type_names,
)
from memtile.importers.kernels.expressions import RULES, bits_of
from memtile.importers.kernels.maps import affine_map
from memtile.importers.kernels.quote import Node, all_of, expr, listed, number, numpy_type, part, value_of
from memtile.importers.mlir.forms.operands import OperationForm, shown
from memtile.importers.mlir.types import Shaped, shaped

_LISTS = ("static_offsets", "static_sizes", "static_strides")


def load(emitter: Emitter, form: OperationForm) -> None:
    """``memref.load %m[%i, %j] : memref<4x4xi32>``."""
    memory, kind = memory_of(emitter, form, form.values[0])
    give(emitter, form.result, kind.element, loaded(_cell(emitter, form, 0, memory, kind), kind.element))


def store(emitter: Emitter, form: OperationForm) -> None:
    """``memref.store %v, %m[%i, %j] : memref<4x4xi32>``."""
    memory, kind = memory_of(emitter, form, form.values[1])
    value = number_of(emitter, form, form.values[0])
    check_element(emitter, form, form.values[0], kind.element)
    cell = _cell(emitter, form, 1, memory, kind)
    emitter.lines.add("_cell = _value", _cell=cell, _value=stored(value, kind.element))


def _cell(emitter: Emitter, form: OperationForm, before: int, memory: Node, kind: Shaped) -> Node:
    return expr("_memory[*_at]", _memory=memory, _at=indices_of(emitter, form, before, kind))


def check_element(emitter: Emitter, form: OperationForm, value: str, element: str) -> None:
    """Refuse a number of another type than that of the elements that it goes to.

    Raises:
        InputFileError: it is one.
    """
    kind = emitter.types.get(value, "")
    kind = (shaped(kind) or Shaped((), kind)).element
    if kind and (bits_of(kind), kind[-2:] if bits_of(kind) is None else "") != (
        bits_of(element),
        element[-2:] if bits_of(element) is None else "",
    ):
        raise form.error(
            f"{value} is {kind}, elements are {element}", element, reason="mlir_type", given=value
        )


def parts_of(emitter: Emitter, form: OperationForm) -> list[list[Node]]:
    """Offsets, sizes and strides of a part of memory.

    Raises:
        InputFileError: it does not have the three lists.
    """
    if _LISTS[0] in form.attributes:
        lists, first = list[list[Node]](), 1
        for name in _LISTS:
            lists.append(listed_indices(emitter, form, form.attributes[name], first))
            first += sum(n == -(1 << 63) for n in items_of(form.attributes[name]))
        return lists
    found = []
    for n in range(3):
        at = form.bracket("[", n)
        if at is None:
            raise form.error("it needs offsets, sizes and strides", "three lists")
        found.append([index_of(emitter, form, form.text(item)) for item in form.split(at)])
    return found


def _memref(form: OperationForm) -> tuple[str, Shaped]:
    """The memref that an operation says that it gives.

    Raises:
        InputFileError: it says something else.
    """
    kind = (type_names(form) or [""])[-1]
    found = shaped(kind)
    if found is None or not kind.startswith("memref"):
        raise form.error("its result is no memref", "memref<..>")
    return kind, found


def _check_shape(form: OperationForm, sizes: Sequence[Node], source: Shaped, target: Shaped) -> None:
    """Refuse a type of the result that its sizes, or its elements, are not."""
    known = [value_of(size) for size in sizes]
    pairs = zip(known, target.shape, strict=True) if len(known) == len(target.shape) else [(0, 1)]
    if any(a is not None and b >= 0 and a != b for a, b in pairs) or source.element != target.element:
        raise form.error("its type is not that of its sizes", "a memref of these sizes", reason="mlir_type")


def _slices(lists: Sequence[Sequence[Node]], drop: int) -> tuple[list[Node], list[Node]]:
    """Slices and sizes of a view: of its dimensions of one element the first ``drop`` are indices."""
    slices, kept = [_stretch(o, s, t) for o, s, t in zip(*lists, strict=True)], list[Node]()
    for n, size in enumerate(lists[1]):
        if drop > 0 and value_of(size) == 1:
            slices[n], drop = lists[0][n], drop - 1
        else:
            kept.append(size)
    return slices, kept


def subview(emitter: Emitter, form: OperationForm) -> None:
    """``memref.subview %m[0, %i] [1, 8] [1, 1] : memref<..> to memref<..>``."""
    memory, source = memory_of(emitter, form, form.values[0])
    lists = parts_of(emitter, form)
    kind, target = _memref(form)
    if {len(each) for each in lists} != {len(source.shape)}:
        says = f"it has not {len(source.shape)} offsets, sizes and strides"
        raise form.error(says, "one of each for every dimension", reason="mlir_index")
    for n, (o, s, t) in enumerate(zip(*lists, strict=True)):
        emitter.lines.add(
            "reach(_o, _s, _t, _memory.shape[_n], SITE)", _o=o, _s=s, _t=t, _memory=memory, _n=n
        )
    slices, kept = _slices(lists, len(source.shape) - len(target.shape))
    _check_shape(form, kept, source, target)
    if not target.shape and slices:
        slices[-1] = _stretch(lists[0][-1], number(1), number(1))  # of one element, see indices_of
    give(emitter, form.result, kind, expr("_memory[*_slices]", _memory=memory, _slices=slices or [all_of()]))


def _stretch(offset: Node, size: Node, step: Node) -> Node:
    """The slice of so many elements, which are there."""
    if value_of(step) == 1:
        return part(offset, expr("_o + _s", _o=offset, _s=size))
    return part(offset, expr("_o + _s * _t", _o=offset, _s=size, _t=step), step)


def reinterpret(emitter: Emitter, form: OperationForm) -> None:
    """``memref.reinterpret_cast %m to offset: [0], sizes: [64], strides: [1]``."""
    memory, source = memory_of(emitter, form, form.values[0])
    kind, target = _memref(form)
    (offset, *_), sizes, strides = (parts or [number(0)] for parts in parts_of(emitter, form))
    _check_shape(form, sizes if target.shape else [], source, target)
    flat = expr("packed(_memory, SITE).reshape(-1)", _memory=memory)
    known = [value_of(node) for node in (*sizes, *strides)]
    if None not in known and _in_order(known[: len(sizes)], known[len(sizes) :]):
        count = number(prod(size or 0 for size in known[: len(sizes)]))
        emitter.lines.add("reach(_o, _n, 1, _memory.size, SITE)", _o=offset, _n=count, _memory=memory)
        stretch = _stretch(offset, count, number(1))
        value = expr("_flat[_part].reshape(_shape)", _flat=flat, _part=stretch, _shape=listed(sizes))
    elif len(sizes) == 1:
        (size,), (step,) = sizes, strides
        emitter.lines.add(
            "reach(_o, _s, _t, _memory.size, SITE)", _o=offset, _s=size, _t=step, _memory=memory
        )
        value = expr("_flat[_part]", _flat=flat, _part=_stretch(offset, size, step))
    else:
        says = "its elements lie neither in order nor in one dimension"
        raise form.error(says, "parts of memory in order", reason="mlir_unknown")
    give(emitter, form.result, kind, value)


def _in_order(sizes: Sequence[int | None], strides: Sequence[int | None]) -> bool:
    if any(size is None or size < 0 for size in sizes):
        return False
    wanted = [prod(size or 0 for size in sizes[n + 1 :]) for n in range(len(sizes))]
    return all(size == 1 or s == w for size, s, w in zip(sizes, strides, wanted, strict=True))


def reshape(emitter: Emitter, form: OperationForm) -> None:
    """``memref.collapse_shape``, ``memref.expand_shape`` and ``memref.reshape``."""
    memory, source = memory_of(emitter, form, form.values[0])
    kind, target = _memref(form)
    if 0 <= source.elements != target.elements >= 0:
        says = f"{source.elements} elements become {target.elements}"
        raise form.error(says, "as many elements", reason="mlir_type")
    opens = sum(size < 0 for size in target.shape)
    if opens > 1:
        raise form.error(
            "its shape is known at run time only", "one size at most that is open", reason="mlir_unknown"
        )
    if source.element != target.element:
        raise form.error("its elements become others", source.element, reason="mlir_type")
    if opens or source.elements < 0:
        most = prod(size for size in target.shape if size >= 0)
        emitter.lines.add("amount(_memory.size, _n, _open, SITE)", _memory=memory, _n=most, _open=opens)
    plain = [size for size in target.shape if size != 1] == [size for size in source.shape if size != 1]
    fewer = len(target.shape) < len(source.shape) or target.shape == source.shape
    if plain and fewer and target.shape:  # works for memory with gaps too
        value = expr("_memory[*_slots]", _memory=memory, _slots=_slots(source, target))
    else:
        shape = listed(target.shape or (1,))
        value = expr("packed(_memory, SITE).reshape(_shape)", _memory=memory, _shape=shape)
    give(emitter, form.result, kind, value)


def _slots(source: Shaped, target: Shaped) -> list[Node]:
    """All of the dimensions that stay, and the one index of those of size 1 that do not."""
    kept, found = list(target.shape), list[Node]()
    for size in source.shape:
        if kept and size == kept[0]:
            kept.pop(0)
            found.append(all_of())
        else:
            found.append(number(0))
    return found


def same(emitter: Emitter, form: OperationForm) -> None:
    """Give the value another name."""
    kind = last_kind(form) or emitter.types.get(form.values[0], "")
    source = emitter.types.get(form.values[0], kind)
    chosen = source if shaped(source) is not None else kind
    give(emitter, form.result, chosen, emitter.use(form.values[0]))


def copy(emitter: Emitter, form: OperationForm) -> None:
    """``memref.copy %a, %b``."""
    (source, one), (target, other) = (memory_of(emitter, form, value) for value in form.values.exactly(2))
    if len(one.shape) != len(other.shape) or any(
        a != b for a, b in zip(one.shape, other.shape, strict=True) if a >= 0 <= b
    ):
        raise form.error("its memories have not the same shape", "memories of one shape", reason="mlir_type")
    check_element(emitter, form, form.values[0], other.element)
    for n, (a, b) in enumerate(zip(one.shape, other.shape, strict=True)):
        if a < 0 or b < 0:
            emitter.lines.add("sized(_a.shape[_n], _b.shape[_n], SITE)", _a=source, _b=target, _n=n)
    emitter.lines.add("_target[...] = _source", _target=target, _source=source)


def dimension(emitter: Emitter, form: OperationForm) -> None:
    """``memref.dim %m, %i``."""
    memory, kind = memory_of(emitter, form, form.values[0])
    which = number_of(emitter, form, form.values[1])
    size = expr(
        "_memory.shape[place(_which, _rank, SITE)]", _memory=memory, _which=which, _rank=len(kind.shape)
    )
    give(emitter, form.result, "index", size)


def rank(emitter: Emitter, form: OperationForm) -> None:
    """``memref.rank %m``."""
    _, kind = memory_of(emitter, form, form.values[0])
    emitter.known(form.result, "index", len(kind.shape))


def allocate(emitter: Emitter, form: OperationForm) -> None:
    """``memref.alloc(%n) : memref<?x4xi32>`` and ``memref.alloca``: memory of the stack, zero at first."""
    kind, target = _memref(form)
    dtype, most = element_type(form, target.element), COMPUTE.memory_bytes
    size = target.elements * dtype.itemsize
    if size > most or any(each > most for each in target.shape):
        says = f"it has {size} bytes" if size >= 0 else "it has more than the tile"
        raise form.error(says, f"0..{most} bytes, all memory of the tile", reason="mlir_size")
    sizes = _sizes(emitter, form, form.values, target)
    if target.elements < 0:
        room = emitter.lines.fresh("room")
        emitter.lines.add("_room = _bytes", _room=room, _bytes=dtype.itemsize)
        for each in sizes:
            emitter.lines.add(
                "_room = place(_room * place(_size, _most, SITE), _most, SITE)",
                _room=room,
                _size=each,
                _most=most + 1,
            )
    value = expr("np.zeros(_shape, _type)", _shape=listed(sizes), _type=numpy_type(dtype.name))
    give(emitter, form.result, kind, value)


def _sizes(emitter: Emitter, form: OperationForm, values: Sequence[str], target: Shaped) -> list[Node]:
    """The sizes of new memory: those of its type, and a value for each that the type leaves open.

    Raises:
        InputFileError: there are more or fewer values.
    """
    wanted = sum(size < 0 for size in target.shape)
    if len(values) != wanted:
        says = f"it has {len(values)} sizes for {wanted} dimensions of open size"
        raise form.error(says, "a value for each ? of its type", reason="mlir_operands")
    given = iter([number_of(emitter, form, value) for value in values])
    return [next(given) if size < 0 else number(size) for size in target.shape or (1,)]


def view(emitter: Emitter, form: OperationForm) -> None:
    """``memref.view %m[%at][%n] : memref<4096xi8> to memref<?x4xi32>``: bytes as elements."""
    memory, source = memory_of(emitter, form, form.values[0])
    kind, target = _memref(form)
    if len(source.shape) != 1 or bits_of(source.element) != 8:
        raise form.error("it takes other memory than bytes", "memref<..xi8>", reason="mlir_type")
    at = number_of(emitter, form, form.values[1])
    sizes = _sizes(emitter, form, form.values[2:], target)
    dtype = element_type(form, target.element)
    room = emitter.lines.fresh("room")
    emitter.lines.add("_room = _bytes", _room=room, _bytes=dtype.itemsize)
    for each in sizes:
        emitter.lines.add("reach(0, _each, 1, _memory.size, SITE)", _each=each, _memory=memory)
        emitter.lines.add("_room = _room * _each", _room=room, _each=each)
        emitter.lines.add("reach(0, _room, 1, _memory.size, SITE)", _room=room, _memory=memory)
    emitter.lines.add("reach(_at, _room, 1, _memory.size, SITE)", _at=at, _room=room, _memory=memory)
    value = expr(
        "packed(_memory, SITE)[_part].view(_type).reshape(_shape)",
        _memory=memory,
        _part=_stretch(at, room, number(1)),
        _type=numpy_type(dtype.name),
        _shape=listed(sizes),
    )
    give(emitter, form.result, kind, value)


def _order(form: OperationForm) -> list[int | None]:
    """The dimensions of the source in the order of the result; None for what is no dimension."""
    given = form.attributes.get("permutation")
    if given is not None:
        found = affine_map(form, str(given))
        return [found.dimension(n) for n in range(len(found.results))]
    first, second = ([form.text(item) for item in form.items("(", n)] for n in (0, 1))
    return [first.index(name) for name in second]


def transpose(emitter: Emitter, form: OperationForm) -> None:
    """``memref.transpose %m (i, j) -> (j, i) : memref<..> to memref<..>``: another order."""
    memory, source = memory_of(emitter, form, form.values[0])
    kind, _ = _memref(form)
    order = _order(form)
    if sorted(-1 if n is None else n for n in order) != list(range(len(source.shape))):
        says = f"its order is {shown(order)}"
        raise form.error(says, f"each of {len(source.shape)} dimensions once", reason="mlir_index")
    value = expr("_memory.transpose(_order)", _memory=memory, _order=listed([n or 0 for n in order]))
    give(emitter, form.result, kind, value)


_RENAMED = {"maxs": "maxsi", "mins": "minsi", "maxu": "maxui", "minu": "minui", "assign": ""}


def read_modify_write(emitter: Emitter, form: OperationForm) -> None:
    """``%old = memref.atomic_rmw addi %v, %m[%i] : (i32, memref<8xi32>) -> i32``."""
    value, (memory, kind) = form.values[0], memory_of(emitter, form, form.values[1])
    word = str(form.attributes.get("kind", form.operation.words[0])).strip('"')
    name = _RENAMED.get(word, word)
    if name and f"arith.{name}" not in RULES:
        raise form.error(f"{word} is not known", "addi, addf, mulf, maxs, ..., assign", reason="mlir_unknown")
    check_element(emitter, form, value, kind.element)
    cell = _cell(emitter, form, 1, memory, kind)
    old = emitter.define(form.result, kind.element)
    emitter.lines.add("_old = _value", _old=old, _value=loaded(cell, kind.element))
    new = emitter.use(value)
    if name:
        new = RULES[f"arith.{name}"]([old, new], kind.element, kind.element)
    emitter.lines.add("_cell = _value", _cell=cell, _value=stored(new, kind.element))


def get_global(emitter: Emitter, form: OperationForm) -> None:
    """``memref.get_global @table``."""
    name = str(form.attributes.get("name") or form.symbol)
    value, kind = emitter.constant_array(name, form)
    give(emitter, form.result, kind, value)


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
