"""Operations that only the generator can do: what others see, and calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memtile.importers.kernels import cascade_handlers, control_flow
from memtile.importers.kernels.body_operands import index_of
from memtile.importers.kernels.body_operations import give, results_of
from memtile.importers.kernels.control_flow import RETURNS
from memtile.importers.kernels.core_locks import lock_used
from memtile.importers.kernels.emitter import last_kind, types_between
from memtile.importers.kernels.expressions import bits_of, wrapped
from memtile.importers.kernels.quote import Node, expr, temporary, text
from memtile.importers.mlir.description import FifoDescription
from memtile.importers.mlir.forms.locks import PORTS, fifo_form, lock_form, object_types
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation, OperationBlock, Region
from memtile.importers.mlir.types import Shaped, shaped

if TYPE_CHECKING:
    from memtile.importers.kernels.body import Writer

_OBJECTS = "objects:"
"""What a value of several objects has as its type, before the name of the FIFO and the port."""


def use_lock(writer: Writer, form: OperationForm) -> None:
    """``aie.use_lock(%l, AcquireGreaterEqual, %n)``."""
    said = lock_form(form, reason="mlir_lock")
    if said is None:
        return
    used = lock_used(writer.program.device, form, said.lock)
    if used not in writer.program.device.locks:
        raise form.error(f"{said.lock} is no lock of the device", "aie.lock", reason="mlir_lock")
    count, lock = _count(writer, form, said.units), writer.lock(used)
    writer.flush()
    if said.action == "release":
        with writer.lines.within("if _count: pass", _count=count):  # to release nothing changes nothing
            writer.lines.add("yield core.release(_lock, _count)", _lock=lock, _count=count)
    elif said.action == "acquire_ge":
        writer.lines.add("yield core.acquire(_lock, -_count)", _lock=lock, _count=count)
    else:
        writer.lines.add("yield core.acquire(_lock, _count)", _lock=lock, _count=count)


def acquire(writer: Writer, value: str, count: int) -> None:
    """Take a lock when it is exactly so much."""
    writer.flush()
    writer.lines.add("yield core.acquire(_lock, _count)", _lock=writer.lock(value), _count=count)


def fifo_acquire(writer: Writer, form: OperationForm) -> None:
    """``%s = aie.objectfifo.acquire @in(Consume, 1) : ..``: a subview, or the objects themselves."""
    name, port, end, count = _fifo(writer, form)
    writer.flush()
    writer.lines.add("yield from _end.acquire(_count)", _end=end, _count=count)
    objects, fifo = object_types(form), writer.program.device.fifos[name]
    if not objects:
        target = writer.define(form.result, f"{_OBJECTS}{name}:{port}")
        writer.lines.add("_target = _end.objects(_count)", _target=target, _end=end, _count=count)
        return
    results = results_of(form)
    if len(objects) != len(results) or form.whole(fifo_form(form)[2]) != len(results):
        says = f"it has {len(results)} results of {len(objects)} types"
        raise form.error(says, "one for each object that it acquires", reason="mlir_object_fifo")
    for number, (result, shape) in enumerate(zip(results, objects, strict=True)):
        value = expr("_end.object_at(_at)", _end=end, _at=number)
        give(writer, result, _memref(form, shape, fifo, port), value)


def fifo_release(writer: Writer, form: OperationForm) -> None:
    """``aie.objectfifo.release @in(Consume, 1)``."""
    _, _, end, count = _fifo(writer, form)
    writer.flush()
    writer.lines.add("yield from _end.release(_count)", _end=end, _count=count)


def fifo_access(writer: Writer, form: OperationForm) -> None:
    """``%e = aie.objectfifo.subview.access %s[0] : .. -> memref<..>``."""
    at = form.bracket("[")
    index: object = form.texts("[")[0] if at is not None else form.integer("index")
    kind, of = form.last_type(), writer.types.get(form.values[0], "")
    if not of.startswith(_OBJECTS):
        says = f"{form.values[0]} has no objects"
        raise form.error(says, "what aie.objectfifo.acquire gives", reason="mlir_object_fifo")
    name, port = of.removeprefix(_OBJECTS).rsplit(":", 1)
    fifo = writer.program.device.fifos[name]
    objects, at_ = writer.use(form.values[0]), index_of(writer, form, index)
    value = expr("_objects[place(_at, len(_objects), SITE)]", _objects=objects, _at=at_)
    give(writer, form.result, _memref(form, kind or _element(fifo, port), fifo, port), value)


def _element(fifo: FifoDescription, port: str) -> Shaped:
    """Type of an object at one end of a FIFO."""
    own = fifo.consumer_element if port == "Consume" else None
    return own or fifo.element


def _memref(form: OperationForm, shape: Shaped, fifo: FifoDescription, port: str) -> str:
    """The type of an object, which is that of its end of the FIFO."""
    own = _element(fifo, port)
    if (shape.shape, shape.element) != (own.shape, own.element):
        says = f"its type is not that of the objects of {fifo.name}"
        raise form.error(says, "the type of the object FIFO", reason="mlir_type")
    return f"memref<{''.join(f'{size}x' for size in shape.shape)}{shape.element}>"


def _count(writer: Writer, form: OperationForm, given: str) -> Node:
    """A number, or a value that is one."""
    return index_of(writer, form, given)


def _fifo(writer: Writer, form: OperationForm) -> tuple[str, str, Node, Node]:
    """Name, port, the core's end and count; the count may be a value."""
    name, port, count = fifo_form(form)
    device, tile = writer.program.device, writer.program.tile
    own = device.fifos.get(name)
    if own is None or port not in PORTS:
        raise form.error(f"no object FIFO has a port {name}, {port}", ", ".join(device.fifos) or "none")
    users = [own.producer] if port == "Produce" else own.consumers
    if device.aliases.get(tile, tile) not in users:
        says = f"the core has no {port} end of the object FIFO {name}"
        raise form.error(says, "ends in its tile", reason="mlir_object_fifo")
    end = expr("ports[_name, _port]", _name=text(name), _port=text(port))
    return name, port, end, _count(writer, form, count)


def call(writer: Writer, form: OperationForm) -> None:
    """``%r = func.call @f(%a, %b) : (..) -> ..``: a function of the module, or of the user."""
    function = writer.program.function(form.operation)
    assert function is not None
    given = form.values
    if not function.regions:
        _external(writer, form, function, given)
        return
    _inline(writer, form, function, given)


def _external(writer: Writer, form: OperationForm, function: Operation, given: list[str]) -> None:
    name = str(form.attributes.get("callee") or form.symbol)
    writer.program.externals.setdefault(name, function)
    arguments = []
    for value in given:
        node, memory = writer.use(value), shaped(writer.types.get(value, ""))
        if memory is not None:
            node = expr("for_user(_node, _element)", _node=node, _element=text(memory.element))
        arguments.append(node)
    writer.flush()
    writer.lines.add(
        "(answer, turn) = yield from externals[_name](*_given)", _name=text(name), _given=arguments
    )
    writer.lines.add("cycles += turn")
    results = results_of(form)
    kinds = _result_kinds(form)
    if len(results) != len(kinds):
        says = f"it has {len(results)} results, its type {len(kinds)}"
        raise form.error(says, "a result for each type", reason="mlir_results")
    names = [writer.define(result, kind) for result, kind in zip(results, kinds, strict=True)]
    if len(names) == 1:
        writer.lines.add("_name = answer", _name=names[0])
    elif names:
        writer.lines.add("(*_names,) = answer", _names=names)
    for each, kind in zip(names, kinds, strict=True):
        if bits_of(kind) is not None:
            given_back = wrapped(expr("integer(_name)", _name=each), kind)
            writer.lines.add("_name = _value", _name=each, _value=given_back)


def _result_kinds(form: OperationForm) -> list[str]:
    """The types of what a call gives: those behind its arrow."""
    tokens = form.operation.tokens
    for first, end in form.operation.spans:
        for at in range(first, end):
            if tokens.words[at] == "->":
                return types_between(form, at + 1, end)
    return []


def _inline(writer: Writer, form: OperationForm, function: Operation, given: list[str]) -> None:
    """Write the body of a function of the module in the place of its call."""
    region = function.regions[0]
    taken = region.blocks[0].arguments
    if len(taken) != len(given):
        says = f"{len(given)} values are given to a function of {len(taken)}"
        raise form.error(says, "a value for each argument", reason="mlir_call")
    for (name, kind), value in zip(taken, given, strict=True):
        one, other = shaped(kind), shaped(writer.types.get(value, ""))
        if (one is None) != (other is None) or (one and other and one.shape != other.shape):
            raise form.error(f"{value} is no {kind}, which {name} is", kind, reason="mlir_type")
    names = [name for name, _ in region.blocks[0].arguments]
    kinds = [kind for _, kind in region.blocks[0].arguments]
    nodes, before = [writer.use(value) for value in given], writer.prefix
    outer = dict(writer.types)
    writer.prefix = f"{before}f{writer.calls()}_"
    for name, kind, node in zip(names, kinds, nodes, strict=True):
        give(writer, name, kind, node)
    answers = _body(writer, region.blocks[0]) if len(region.blocks) == 1 else _blocks(writer, region)
    writer.prefix, writer.types = before, outer
    for result, (node, kind) in zip(results_of(form), answers, strict=False):
        give(writer, result, kind, node)


def _body(writer: Writer, block: OperationBlock) -> list[tuple[Node, str]]:
    """Write a function of one block; what it answers, and the types."""
    answers: list[tuple[Node, str]] = []
    for operation in block.operations:
        if operation.name in RETURNS:
            answers = _answers(writer, operation)
        else:
            writer.operation(operation)
    return answers


def _blocks(writer: Writer, region: Region) -> list[tuple[Node, str]]:
    """Write a function of several blocks, each of which may answer; the answers, and their types."""
    number, kinds = writer.calls(), list[str]()

    def leave(operation: Operation) -> None:
        answers = _answers(writer, operation)
        kinds[:] = [kind for _, kind in answers]
        for n, (node, _) in enumerate(answers):
            writer.lines.add("_name = _node", _name=temporary("answer", number, n), _node=node)

    control_flow.machine(writer, region, leave)
    return [(temporary("answer", number, n), kind) for n, kind in enumerate(kinds)]


def _answers(writer: Writer, operation: Operation) -> list[tuple[Node, str]]:
    values = [word for word in operation.words if word[:1] == "%"]
    return [(writer.use(value), writer.types.get(value, "index")) for value in values]


def end(writer: Writer, _form: OperationForm) -> None:
    """The body is over."""
    if writer.is_host:
        writer.flush()
        writer.lines.add("return")


def put_cascade(writer: Writer, form: OperationForm) -> None:
    """``aie.put_cascade(%v : vector<16xi32>)``."""
    value = form.values[0]
    kind = cascade_handlers.cascade_kind(form, writer.types.get(value) or last_kind(form))
    node = writer.use(value)
    writer.flush()
    writer.lines.add("yield core.put_cascade(to_words(_node, _kind))", _node=node, _kind=text(kind))


def get_cascade(writer: Writer, form: OperationForm) -> None:
    """``%v = aie.get_cascade() : vector<16xi32>``."""
    kind = cascade_handlers.cascade_kind(form, last_kind(form))
    writer.flush()
    writer.lines.add("words = yield core.get_cascade(np.uint32)")
    give(writer, form.result, kind, expr("from_words(words, _kind)", _kind=text(kind)))


def put_stream(writer: Writer, form: OperationForm) -> None:
    """``aie.put_stream(%port : i32, %v : i32)``; 128 bits are four words."""
    cascade_handlers.check_port(writer.program.device, form)
    value = form.values[-1]
    kind = cascade_handlers.stream_kind(form, writer.types.get(value) or last_kind(form))
    node = writer.use(value)
    writer.flush()
    writer.lines.add("yield core.put_stream(to_words(_node, _kind))", _node=node, _kind=text(kind))


def get_stream(writer: Writer, form: OperationForm) -> None:
    """``%v = aie.get_stream(%port : i32) : i32``; 128 bits are four words."""
    cascade_handlers.check_port(writer.program.device, form)
    kind = cascade_handlers.stream_kind(form, last_kind(form))
    writer.flush()
    count = (cascade_handlers.bits_in(kind) or 0) // cascade_handlers.WORD
    writer.lines.add("words = yield core.get_stream(_count, np.uint32)", _count=count)
    give(writer, form.result, kind, expr("from_words(words, _kind)", _kind=text(kind)))


def inner_buffer(writer: Writer, form: OperationForm) -> None:
    """``%b = aie.buffer(%tile) : memref<4xi32> = dense<..>`` within the core: it is one of its tile."""
    buffers = writer.program.device.buffers
    value = next(name for name, each in buffers.items() if each.operation is form.operation)
    give(writer, form.result, writer.types[value], writer.use(value))


HANDLERS: Mapping[str, Callable[[Writer, OperationForm], None]] = {
    "aie.buffer": inner_buffer,
    "aie.put_cascade": put_cascade,
    "aie.get_cascade": get_cascade,
    "aie.putCascade": put_cascade,
    "aie.getCascade": get_cascade,
    "aie.put_stream": put_stream,
    "aie.get_stream": get_stream,
    "aie.use_lock": use_lock,
    "aie.objectfifo.acquire": fifo_acquire,
    "aie.objectfifo.release": fifo_release,
    "aie.objectfifo.subview.access": fifo_access,
    "func.call": call,
    "call": call,
    "aie.end": end,
    "func.return": end,
    "return": end,
}
