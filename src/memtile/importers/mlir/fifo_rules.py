"""What mlir-aie refuses of object FIFOs: its verifiers, and those of aie-objectFifo-stateful-transform.

A text that its compiler refuses has no machine, so none is made up here (AIEDialect.cpp and
AIEObjectFifoStatefulTransform.cpp of 2026-08-14).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from memtile.arch.tiles import TileKind
from memtile.errors import InputFileError
from memtile.importers.mlir.description import (
    CoreDescription,
    DeviceDescription,
    FifoDescription,
    Level,
    LinkDescription,
)
from memtile.importers.mlir.forms.locks import PORTS, fifo_form, object_types, subview_type
from memtile.importers.mlir.forms.operand_faults import operation_error, reading
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation

ACQUIRE, RELEASE, ACCESS = (f"aie.objectfifo.{name}" for name in ("acquire", "release", "subview.access"))
_MOST_ITERATIONS = 256
_STREAM_PORTS = (0, 1)
_END_NAMES = {"Produce": "producer", "Consume": "consumer"}
_FIFO_ERROR = partial(operation_error, reason="mlir_object_fifo")
_LINK_ERROR = partial(operation_error, reason="mlir_link")


def check_fifos(device: DeviceDescription, kinds: Mapping[str, TileKind]) -> None:
    """Look for object FIFOs, links and accesses that mlir-aie refuses.

    Args:
        device: with its tiles placed.
        kinds: kind of each tile, by the name of its value.

    Raises:
        InputFileError: the first of them.
    """
    for fifo in device.fifos.values():
        with reading(fifo.operation):
            _check_attributes(fifo, kinds)
            _check_stream(fifo, kinds)
            _check_delegates(fifo)
    for link in device.links:
        with reading(link.operation):
            _check_link(device, link, kinds)
    _check_links_apart(device)
    _check_generation(device)
    for function in device.functions.values():
        for operation in function.walk():
            if operation.name in (ACQUIRE, RELEASE, ACCESS):
                says = "a function has no ends of object FIFOs"
                raise _FIFO_ERROR(operation, says, "within aie.core", step="Do it before or after the call.")
    meets = {
        name: device.fifos[link.targets[0]].producer
        for link in device.links
        for name in (*link.sources, *link.targets)
    }
    for core in device.cores:
        _check_accesses(device, core, meets)


def sizes_asked(device: DeviceDescription, tile: str, name: str) -> Iterator[int]:
    """How many objects of a FIFO the core of a tile asks for, at each of its acquires."""
    for core in device.cores:
        if core.tile == tile:
            for operation in core.operation.walk():
                if operation.name == ACQUIRE:
                    form = OperationForm(operation)
                    fifo, _, count = fifo_form(form)
                    if fifo == name:
                        yield form.whole(count)


def _check_attributes(fifo: FifoDescription, kinds: Mapping[str, TileKind]) -> None:
    """The attributes of a FIFO against the kinds of its tiles (``ObjectFifoCreateOp::verify``)."""
    refused = partial(_FIFO_ERROR, fifo.operation)
    producer = kinds[fifo.producer]
    consumers = [kinds[tile] for tile in fifo.consumers]
    _check_outside(fifo, producer, consumers, kinds)
    if fifo.pad_value and not fifo.padding:
        raise refused("it has padValue without padDimensions", "both")
    if fifo.pad_value and not any(kind.pad_value_base for kind in (producer, *consumers)):
        raise refused(f"its padding is {fifo.pad_value}; memory tiles here pad with zeros", "0")
    if fifo.initial and len(fifo.initial) != fifo.depths[0]:
        says = f"it has {len(fifo.initial)} initial values for {fifo.depths[0]} objects"
        raise refused(says, "one for each", reason="mlir_depth")
    if fifo.iterations is not None:
        if not 1 <= fifo.iterations <= _MOST_ITERATIONS:
            raise refused(f"its iter_count is {fifo.iterations}", f"1..{_MOST_ITERATIONS}")
        if all(kind.role != "memory" for kind in (producer, *consumers)):
            raise refused("it has iter_count, and none of its ends is in a memory tile", "a memory tile")
    _check_consumer_element(fifo)


def _check_outside(
    fifo: FifoDescription, producer: TileKind, consumers: list[TileKind], kinds: Mapping[str, TileKind]
) -> None:
    """What ends in interface tiles do not have, for the host's transfers do that; and what only they have."""
    own = {
        "dimensionsToStream": bool(fifo.to_stream),
        "init values": bool(fifo.initial),
        "repeat_count": fifo.repeat is not None,
    }
    for name, has in own.items():
        if has and producer.role == "interface":
            says = f"its producer is an {producer.title}, and it has {name}"
            raise _FIFO_ERROR(fifo.operation, says, "producers in other tiles")
    for tile in fifo.registered:
        if tile in kinds and kinds[tile].role != "interface":
            says = f"external buffers are registered for {fifo.name} in a {kinds[tile].title}"
            raise _FIFO_ERROR(fifo.operation, says, "interface tiles")
    for number, kind in enumerate(consumers):
        if kind.role == "interface" and fifo.from_stream.get(number):
            says = f"consumer {number} is an {kind.title}, and has dimensionsFromStream"
            raise _FIFO_ERROR(fifo.operation, says, "patterns of core and memory tiles")


def _check_consumer_element(fifo: FifoDescription) -> None:
    one, other = fifo.element, fifo.consumer_element
    if other is None:
        return
    if one.element != other.element or other.elements <= 0 or one.elements % other.elements:
        says = f"its producer has {one.elements} {one.element} in an object, its consumers {other.elements} "
        allowed = "consumers' objects that are whole parts of the producer's, of one type"
        raise _FIFO_ERROR(fifo.operation, says + other.element, allowed)


def _check_stream(fifo: FifoDescription, kinds: Mapping[str, TileKind]) -> None:
    """The rules of ``aie_stream``."""
    refused = partial(_FIFO_ERROR, fifo.operation)
    if fifo.stream is None:
        if fifo.stream_port is not None:
            raise refused("it has aie_stream_port without aie_stream", "both")
        return
    if fifo.stream not in range(3):
        raise refused(
            f"its aie_stream is {fifo.stream}", "0 for the producer, 1 for the consumer, 2 for both"
        )
    if fifo.stream_port not in _STREAM_PORTS:
        raise refused(f"its aie_stream_port is {fifo.stream_port}", " or ".join(map(str, _STREAM_PORTS)))
    if len(fifo.consumers) > 1:
        raise refused(f"it has aie_stream and {len(fifo.consumers)} consumers", "one consumer")
    sends, receives = fifo.stream in (0, 2), fifo.stream in (1, 2)
    for tile in [fifo.producer] * sends + fifo.consumers * receives:
        if kinds[tile].role != "compute":
            raise refused(f"no {kinds[tile].title} has the stream port of a core", "compute tiles")
    unavailable = {
        "repeat_count": sends and fifo.repeat is not None,
        "init values": sends and bool(fifo.initial),
        "iter_count": sends and fifo.iterations is not None,
        "dimensionsToStream": sends and bool(fifo.to_stream),
        "dimensionsFromStream": bool(fifo.from_stream.get(0)),
        "a DMA channel": (sends and fifo.pinned is not None)
        or (receives and any(pin >= 0 for pin in fifo.consumer_pins)),
    }
    for name, has in unavailable.items():
        if has:
            raise refused(f"it has {name} at the end of a stream port", f"aie_stream without {name}")


def _check_delegates(fifo: FifoDescription) -> None:
    """The rules of ``aie.objectfifo.allocate``."""
    if not fifo.delegates:
        return
    refused = partial(_FIFO_ERROR, fifo.delegates[-1][1])
    if len(fifo.delegates) > 1:
        raise refused(f"{fifo.name} is allocated {len(fifo.delegates)} times", "once")
    if len(fifo.consumers) != 1:
        raise refused(f"{fifo.name} has {len(fifo.consumers)} consumers", "one consumer")
    unshared = {
        "via_DMA": fifo.via_dma,
        "repeat_count": fifo.repeat is not None,
        "dimensionsToStream": bool(fifo.to_stream),
        "aie_stream": fifo.stream is not None,
    }
    for name, has in unshared.items():
        if has:
            raise refused(f"{fifo.name} has {name}, so no memory that its ends share", f"no {name}")


def _check_link(device: DeviceDescription, link: LinkDescription, kinds: Mapping[str, TileKind]) -> None:
    """The rules of ``aie.objectfifo.link``."""
    refused = partial(_LINK_ERROR, link.operation)
    for name in (*link.sources, *link.targets):
        if name not in device.fifos:
            raise refused(f"no object FIFO has the name {name}", "object FIFOs of the device")
    joins, cuts = len(link.sources) > 1, len(link.targets) > 1
    if joins and cuts:
        raise refused("several FIFOs on both sides", "one on one side")
    sources, targets = ([device.fifos[name] for name in names] for names in (link.sources, link.targets))
    begin = {fifo.producer for fifo in targets}
    ends = [set(fifo.consumers) for fifo in sources]
    if len(begin) > 1 or not all(begin <= each for each in ends):
        raise _apart(link, sources, targets, kinds)
    tile = targets[0].producer
    if (joins or cuts) and kinds[tile].role != "memory":
        raise refused(f"it cuts or joins objects in {tile}, a tile without memory for them", "a memory tile")
    if (joins or cuts) and not link.packed:
        _check_offsets(link, sources, targets)
    if cuts and len({fifo.repeat for fifo in targets}) > 1:
        raise refused("its outgoing FIFOs have different repeat_counts", "one for all")


def _apart(
    link: LinkDescription,
    sources: Sequence[FifoDescription],
    targets: Sequence[FifoDescription],
    kinds: Mapping[str, TileKind],
) -> InputFileError:
    """Object FIFOs of a link that meet in no tile: the one whose ends are swapped, or the link."""
    tiles = sorted({fifo.producer for fifo in targets}.union(*(fifo.consumers for fifo in sources)))
    swapped = [
        (fifo, tile)
        for fifo in (*sources, *targets)
        for tile in fifo.consumers
        if len(fifo.consumers) == 1
        and kinds[_meeting(fifo, fifo in sources)].role != "interface"
        and _meet_but_for(fifo, sources, targets)
    ]
    if len(swapped) != 1:
        says = f"its FIFOs meet in {len(tiles)} tiles: {', '.join(tiles)}"
        return _LINK_ERROR(link.operation, says, "one tile, where all of them end or begin")
    ((fifo, consumer),) = swapped
    does, meeting = ("ends", fifo.producer) if fifo in sources else ("begins", consumer)
    names = [f"@{name}" for name in (*link.sources, *link.targets) if name != fifo.name]
    tokens = link.operation.tokens
    line = tokens.text.line(tokens.offset(link.operation.at))
    says = (
        f"@{fifo.name} goes from {fifo.producer} to {consumer}, but line {line} links it to "
        f"{', '.join(names)} in {meeting}"
    )
    step = f"Swap producer and consumer of @{fifo.name}."
    return _FIFO_ERROR(fifo.operation, says, f"an object FIFO that {does} in {meeting}", step=step)


def _meeting(fifo: FifoDescription, is_source: bool) -> str:
    """The tile in which a FIFO would meet the others of its link if its two ends were swapped."""
    return fifo.producer if is_source else fifo.consumers[0]


def _meet_but_for(
    fifo: FifoDescription, sources: Sequence[FifoDescription], targets: Sequence[FifoDescription]
) -> bool:
    """Whether all FIFOs of a link meet in one tile once the ends of this one are swapped."""
    tile = _meeting(fifo, fifo in sources)
    ends = all(tile in each.consumers for each in sources if each is not fifo)
    return ends and all(tile == each.producer for each in targets if each is not fifo)


def _check_offsets(
    link: LinkDescription, sources: list[FifoDescription], targets: list[FifoDescription]
) -> None:
    """Offsets of the side with several FIFOs, none of the other; patterns within the smallest part."""
    joins = len(sources) > 1
    own, other = (
        (link.source_offsets, link.target_offsets) if joins else (link.target_offsets, link.source_offsets)
    )
    many, whole = max(len(sources), len(targets)), (targets if joins else sources)[0]
    if len(own) != many or other:
        says = f"it has {len(own)} and {len(other)} offsets for {many} object FIFOs and one"
        raise _LINK_ERROR(link.operation, says, f"{many} and none")
    tile = targets[0].producer
    pattern = list(whole.to_stream if joins else whole.from_stream.get(whole.consumers.index(tile), ()))
    size = whole.element if joins or whole.consumer_element is None else whole.consumer_element
    ends = [*own[1:], size.elements]
    smallest = min(end - first for first, end in zip(own, ends, strict=True) if end > first)
    if pattern and _last_element(pattern) >= smallest:
        says = f"the pattern of {whole.name} reaches element {_last_element(pattern)} of a part"
        raise _LINK_ERROR(link.operation, says, f"up to {smallest - 1}, the end of the smallest part")


def _last_element(pattern: list[Level]) -> int:
    return sum((level.size - 1) * level.stride for level in pattern)


def _check_generation(device: DeviceDescription) -> None:
    """What versions of autumn 2026 lower in several ways, in texts that only they read (DEV-FIFO-3).

    Their acquires give the objects themselves. Chains of all tiles end by ``iter_count`` there, repeats of
    several objects come one after another or in turns, and explicit depths hold for ends with patterns.
    """
    acquires = (each for core in device.cores for each in core.operation.walk() if each.name == ACQUIRE)
    if not any(object_types(OperationForm(each)) for each in acquires):
        return
    for fifo in device.fifos.values():
        several = {
            "iter_count": fifo.iterations is not None,
            "repeat_count and several objects": (fifo.repeat or 1) > 1 and max(fifo.depths) > 1,
            "a depth for each end and a pattern": len(fifo.depths) > 1 and bool(fifo.from_stream),
        }
        for name, has in several.items():
            if has:
                says = f"it has {name}, which versions of mlir-aie lower differently"
                step = "Give the lowered text, input_with_addresses.mlir."
                raise _FIFO_ERROR(fifo.operation, f"{says} where acquires give memrefs", "others", step=step)


def _check_links_apart(device: DeviceDescription) -> None:
    """A FIFO is in one link at most."""
    used = Counter(name for link in device.links for name in (*link.sources, *link.targets))
    for name, many in used.items():
        if many > 1:
            says = f"{name} is linked {many} times"
            raise _LINK_ERROR(device.fifos[name].operation, says, "in one aie.objectfifo.link at most")


def _check_accesses(device: DeviceDescription, core: CoreDescription, meets: Mapping[str, str]) -> None:
    """What a core does with its ends of object FIFOs, those apart that ``meets`` links in a tile."""
    for operation in core.operation.walk():
        if operation.name in (ACQUIRE, RELEASE):
            name, port, count = fifo_form(OperationForm(operation))
            fifo = device.fifos.get(name)
            if fifo is None:
                continue  # the body says so
            if meets.get(name) == core.tile:
                says = f"{name} is linked to others in this tile, so its objects are not the core's"
                raise _FIFO_ERROR(operation, says, "object FIFOs that end or begin in the tile, and no link")
            _check_end(device, core, operation, fifo, port)
            _check_type(operation, fifo)
            if count.lstrip("-").isdecimal() and int(count) < 1:
                raise _FIFO_ERROR(operation, f"it is for {count} objects", "1 or more")
            if fifo.stream is not None and fifo.stream in (2, PORTS.index(port)):
                says = f"the {port} end of {name} is a stream port, which has no objects"
                raise _FIFO_ERROR(operation, says, "aie.put_stream and aie.get_stream")
        elif operation.name == ACCESS:
            _check_access(operation)
    for operation in core.operation.walk():
        if operation.name == "scf.for":
            _check_balance(operation, core)


def _check_end(
    device: DeviceDescription, core: CoreDescription, operation: Operation, fifo: FifoDescription, port: str
) -> None:
    """A core uses the ends that are in its tile."""
    ends = {"Produce": [fifo.producer], "Consume": fifo.consumers}
    at = {end: [device.tiles[tile].place for tile in tiles] for end, tiles in ends.items()}
    own = device.tiles[core.tile].place
    if own in at[port]:
        return
    tiles = f"tile{'' if len(at[port]) == 1 else 's'} {', '.join(map(str, at[port]))}"
    does, end = ("acquired" if operation.name == ACQUIRE else "released"), _END_NAMES[port]
    says = f"core {own}: @{fifo.name} is {does} at its {end} end, which is in {tiles}"
    here = [each for each in PORTS if own in at[each]]
    allowed = f"{here[0]}, the end in this tile" if here else "object FIFOs that begin or end in the tile"
    raise _FIFO_ERROR(operation, says, allowed)


def _check_type(operation: Operation, fifo: FifoDescription) -> None:
    """An acquire gives objects of the type of one of its ends."""
    own = [(each.shape, each.element) for each in (fifo.element, fifo.consumer_element) if each is not None]
    kind = subview_type(OperationForm(operation))
    if kind is not None and (kind.shape, kind.element) not in own:
        says = f"its type is not that of the objects of {fifo.name}"
        raise operation_error(operation, says, "the type of the object FIFO", reason="mlir_type")


def _check_access(operation: Operation) -> None:
    form = OperationForm(operation)
    region = operation.parent.region if operation.parent else None
    found = region.find(form.values[0]) if region is not None else None
    if not isinstance(found, Operation) or found.name != ACQUIRE:
        says = f"{form.values[0]} does not come from {ACQUIRE} at once"
        raise _FIFO_ERROR(operation, says, "what an acquire gives, not a value of a loop or branch")
    index = form.whole(form.texts("[")[0]) if form.bracket("[") is not None else form.integer("index")
    count = OperationForm(found).whole(fifo_form(OperationForm(found))[2])
    if not 0 <= index < count:
        raise _FIFO_ERROR(operation, f"it takes object {index} of {count}", f"0..{count - 1}")


def _check_balance(loop: Operation, core: CoreDescription) -> None:
    """A loop whose turns release more than they acquire would release objects that it does not hold."""
    found = _Balance()
    found.add(loop)
    acquired, released, last, nested = found.acquired, found.released, found.last, found.nested
    for key, many in released.items():
        if key not in nested and many > acquired[key]:
            says = f"each turn of the loop releases {many} objects of {key[0]} and acquires {acquired[key]}"
            step = _balanced(key, acquired[key], loop, core)
            raise _FIFO_ERROR(last[key], says, "at most as many releases as acquires", step=step)


def _balanced(key: tuple[str, str], acquired: int, loop: Operation, core: CoreDescription) -> str:
    """The repair of a loop whose turns release more objects of an end than they acquire."""
    if acquired:
        return f"Release {acquired} of @{key[0]} in each turn, or acquire as many."
    within = {id(each) for each in loop.walk()}
    for each in core.operation.walk():
        if each.name == ACQUIRE and id(each) not in within and fifo_form(OperationForm(each))[:2] == key:
            line = each.tokens.text.line(each.tokens.offset(each.at))
            return f"Acquire @{key[0]} in each turn, or release it after the loop (line {line} acquires it)."
    return f"Acquire @{key[0]} in each turn, or do not release it."


class _Balance:
    """Objects that a turn of a loop acquires and releases: of ways of which one is done, the most.

    Attributes:
        acquired: by object FIFO and port.
        released: likewise.
        last: the last operation of each.
        nested: what other loops within do.
    """

    def __init__(self) -> None:
        self.acquired, self.released = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        self.last: dict[tuple[str, str], Operation] = {}
        self.nested: set[tuple[str, str]] = set()

    def add(self, outer: Operation) -> None:
        """Count what is within an operation, but for what other loops do."""
        ways = []
        for region in outer.regions:
            way = _Balance()
            for each in (each for block in region.blocks for each in block.operations):
                way._step(each)
            ways.append(way)
            self.last |= way.last
            self.nested |= way.nested
        for mine, theirs in ((self.acquired, [way.acquired for way in ways]),
                             (self.released, [way.released for way in ways])):  # fmt: skip
            for key in set[tuple[str, str]]().union(*theirs):
                mine[key] += max(each[key] for each in theirs)

    def _step(self, operation: Operation) -> None:
        if operation.name in (ACQUIRE, RELEASE):
            name, port, count = fifo_form(OperationForm(operation))
            counts = self.acquired if operation.name == ACQUIRE else self.released
            counts[name, port] += _count(operation, count)
            self.last[name, port] = operation
        elif operation.name == "scf.for":
            self.nested |= {
                fifo_form(OperationForm(each))[:2]
                for each in operation.walk()
                if each.name in (ACQUIRE, RELEASE)
            }
        else:
            self.add(operation)


def _count(operation: Operation, given: str) -> int:
    """How many objects; 0 if only the run knows it."""
    try:
        return OperationForm(operation).whole(given)
    except InputFileError:
        return 0
