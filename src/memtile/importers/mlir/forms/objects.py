"""Object FIFOs and their links as the text declares them."""

from __future__ import annotations

from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.description import DeviceDescription, FifoDescription, LinkDescription
from memtile.importers.mlir.forms.dense_constants import dense
from memtile.importers.mlir.forms.operands import OperationForm, levels, list_at, paddings, shown
from memtile.importers.mlir.tree import Operation, TokenSpan
from memtile.importers.mlir.types import Shaped, shaped

_PREFIX, _SUFFIX = "!aie.objectfifo<", ">"


def object_fifo(device: DeviceDescription, operation: Operation) -> None:
    """``aie.objectfifo @name(%p dimensionsToStream [..], {%c dimensionsFromStream [..]}, 2 : i32) : ..``."""
    form = OperationForm(operation)
    made = _generic(form) if form.generic else _pretty(form)
    _attributes(form, made)
    if not made.consumers:
        raise form.error("it has no consumer", "tiles that read its objects", reason="mlir_operands")
    if min(made.depths) < 1:
        raise form.error(f"it has {min(made.depths)} buffers", "1 or more", reason="mlir_depth")
    if len(made.depths) not in (1, 1 + len(made.consumers)):
        says = f"it has {len(made.depths)} depths and {1 + len(made.consumers)} ends"
        raise form.error(says, "one depth for all, or one for each end", reason="mlir_depth")
    device.fifos[made.name] = made


def _attributes(form: OperationForm, made: FifoDescription) -> None:
    """What stands in braces, in both forms."""
    made.repeat = _optional(form, "repeat_count")
    if made.repeat is not None and made.repeat < 1:
        raise form.error(f"its repeat_count is {made.repeat}", "1 or more", reason="mlir_number")
    if "padDimensions" in form.attributes:
        made.padding = paddings([form.attributes["padDimensions"]])
    made.pad_value = form.integer("padValue", 0)
    made.iterations = _optional(form, "iter_count")
    made.stream, made.stream_port = _optional(form, "aie_stream"), _optional(form, "aie_stream_port")
    made.via_dma, made.plio = bool(form.attributes.get("via_DMA")), bool(form.attributes.get("plio"))
    made.synchronised = not form.attributes.get("disable_synchronization")
    made.shared_side = _optional(form, "via_shared_mem")
    made.pinned = _optional(form, "prod_dma_channel")
    if "cons_dma_channels" in form.attributes:
        made.consumer_pins = form.integers("cons_dma_channels")


def _optional(form: OperationForm, name: str) -> int | None:
    return form.integer(name) if name in form.attributes else None


def link(device: DeviceDescription, operation: Operation) -> None:
    """``aie.objectfifo.link [@in] -> [@out0, @out1] ([] [0, 8])``."""
    form = OperationForm(operation)
    if form.generic:
        given = form.attributes
        lists = [
            given["fifoIns"],
            given["fifoOuts"],
            given.get("src_offsets", []),
            given.get("dst_offsets", []),
        ]
        packed = not any(lists[2:])
    else:
        at = form.bracket()
        tops = [form.bracket("[", n) for n in range(2)]
        inner = [] if at is None else _lists(form, at)
        lists = [[] if top is None else list_at(operation, top) for top in tops]
        lists += [list_at(operation, place) for place in inner]
        packed = not inner
        lists += [[]] * (4 - len(lists))
    sources, targets = ([str(name) for name in names] for names in lists[:2])
    into, out = ([int(offset) for offset in offsets] for offsets in lists[2:4])
    _check_counts(form, (sources, into), (targets, out))
    device.links.append(LinkDescription(sources, targets, into, out, operation, packed))


def _check_counts(form: OperationForm, *sides: tuple[list[str], list[int]]) -> None:
    """One offset for each FIFO where objects are cut or joined; elsewhere they mean nothing, on one side."""
    if any(not names for names, _ in sides):
        raise form.error("it links nothing on one side", "[@in] -> [@out]", reason="mlir_link")
    if all(len(names) == 1 for names, _ in sides):
        if all(offsets for _, offsets in sides):
            says = "it has offsets on both sides, and neither cuts nor joins objects"
            raise form.error(says, "([] [])", reason="mlir_link")
        return
    for names, offsets in sides:
        if offsets and len(offsets) != len(names):
            says = f"it has {len(offsets)} offsets for {len(names)} object FIFOs"
            raise form.error(says, "one for each, or none", reason="mlir_link")


def register_external(device: DeviceDescription, operation: Operation) -> None:
    """``aie.objectfifo.register_external_buffers @in (%tile, {%a, %b}) : (..)``."""
    form = OperationForm(operation)
    tile_, *buffers = form.values
    _fifo(device, form).registered[tile_] = buffers


def allocate(device: DeviceDescription, operation: Operation) -> None:
    """``aie.objectfifo.allocate @of (%tile)``: whose memory the objects are in, of two that share it."""
    form = OperationForm(operation)
    _fifo(device, form).delegates.append((form.values[0], operation))


def _fifo(device: DeviceDescription, form: OperationForm) -> FifoDescription:
    given = form.attributes
    named = (given[key] for key in ("objFifo_name", "objfifo_name") if key in given)
    symbols = (word[1:].strip('"') for word in form.operation.words if word[:1] == "@")
    name = str(next(named, None) or next(symbols, ""))
    if name not in device.fifos:
        says = f"no object FIFO has the name {name}"
        raise form.error(says, "an object FIFO above it", reason="mlir_object_fifo", given=name)
    return device.fifos[name]


def element_of(kind: str) -> Shaped | None:
    """Type of the objects of ``!aie.objectfifo<memref<8xi32>>``."""
    inner = kind.removeprefix(_PREFIX).removesuffix(_SUFFIX) if kind.startswith(_PREFIX) else kind
    return shaped(inner)


def _lists(form: OperationForm, opening: int) -> list[int]:
    """Places of the lists in a bracket that no comma separates."""
    tokens, found = form.operation.tokens, list[int]()
    at = opening + 1
    while at < tokens.close[opening]:
        if tokens.words[at] == "[":
            found.append(at)
        at = tokens.close.get(at, at) + 1
    return found


def _pretty(form: OperationForm) -> FifoDescription:
    tokens = form.operation.tokens
    producer, consumers, *depth = form.items().first(max(2, len(form.items())))
    places = form.split(consumers.first)
    elements = _elements(form)
    made = FifoDescription(
        form.symbol,
        tokens.words[producer.first],
        [tokens.words[place.first] for place in places],
        _depths(form, depth),
        elements[0],
        form.operation,
        elements[1] if len(elements) > 1 else None,
    )
    made.to_stream = levels(_dimensions(form, producer))
    for number, place in enumerate(places):
        found = levels(_dimensions(form, place))
        if found:
            made.from_stream[number] = found
    initial = form.initial()
    if isinstance(initial, list):
        made.initial = [dense(value, made.element) or [] for value in initial]
    return made


def _dimensions(form: OperationForm, span: TokenSpan) -> list[object]:
    """The list behind ``dimensionsToStream`` or ``dimensionsFromStream``, earlier ``toStream``."""
    words = form.operation.tokens.words
    for at in range(span.first, span.end):
        if words[at] == "[":
            return list_at(form.operation, at)
    return []


def _depths(form: OperationForm, given: list[TokenSpan]) -> list[int]:
    if not given:
        raise form.error("it has no depth", "a number of buffers")
    value = form.value(given[0])
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(each, int) for each in found):
        raise form.error(f"its depth is {shown(value)}", "a number of buffers", reason="mlir_depth")
    return [int(each) for each in found]


def _elements(form: OperationForm) -> list[Shaped]:
    """Types of the objects: of all ends, or of the producer's and of the consumers' behind an arrow."""
    tokens, found = form.operation.tokens, list[Shaped | None]()
    for first, end in form.operation.spans:
        for at in range(first, end):
            if tokens.words[at] == "!aie.objectfifo" and at + 1 in tokens.close:
                found.append(shaped(tokens.join(at + 2, tokens.close[at + 1])))
    known = [each for each in found if each is not None]
    if not known or len(known) != len(found):
        raise form.error("its objects have no type", "!aie.objectfifo<memref<..>>")
    return known


def _generic(form: OperationForm) -> FifoDescription:
    given = form.attributes
    producer, *consumers = form.values.first(max(2, len(form.values)))
    depth = given["elemNumber"]
    element = element_of(str(given["elemType"]))
    if element is None:
        raise form.error("its objects have no type", "!aie.objectfifo<memref<..>>")
    depths = [int(each) for each in depth] if isinstance(depth, list) else [int(depth)]
    made = FifoDescription(form.symbol, producer, consumers, depths, element, form.operation)
    if "consumerElemType" in given:
        made.consumer_element = element_of(str(given["consumerElemType"]))
    if "initValues" in given:
        made.initial = [dense(value, element) or [] for value in given["initValues"]]
    if "dimensionsToStream" in given:
        made.to_stream = levels([given["dimensionsToStream"]])
    per_consumer = given.get("dimensionsFromStreamPerConsumer")
    if isinstance(per_consumer, Compound):
        inner = per_consumer.listed[0].listed if per_consumer.listed else ()
        for number, each in enumerate(inner):
            found = levels([each])
            if found:
                made.from_stream[number] = found
    return made
