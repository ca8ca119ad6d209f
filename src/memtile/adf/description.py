"""What a graph says: kernels, ports, buffers, tilings, connections and constraints, as one JSON document.

``adf.h`` of memtile records it while the constructors of a graph run; other tools may write it. Nothing in
it is chosen by memtile: places, channels, repetition counts and locks that the graph leaves open are open.

Every object and every port has an ``id``, which is unique in the document. Names are those of the user's
members (``gr.k_mean.in[0]``), lines his (``graph.h:23``). Sizes are in elements where a name does not say
bytes; dimension 0 of ``dimensions`` is the fastest. Source: UG1603 and UG1079; what is not public there is in
docs/deviations.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Literal, get_args, get_type_hints

import msgspec

from memtile.errors import InputFileError

FORMAT = "memtile graph"
VERSION = 1

Direction = Literal["in", "out", "inout"]
PortKind = Literal[
    "buffer",  # input_buffer, output_buffer
    "async_buffer",  # input_async_buffer and its like: the kernel acquires it
    "window",  # input_window, output_window of the first generation
    "stream",
    "cascade",
    "packet_stream",
    "parameter",  # a number of the kernel's argument list
    "parameter_array",
    "memory",  # of a shared_buffer or external_buffer
    "plio",
    "gmio",
    "packet",  # of a pktsplit or pktmerge
    "graph",  # input_port, output_port of a graph: joined to something else by a connection
]
Connect = Literal["", "window", "stream", "pktstream", "cascade", "parameter", "buffer"]
PlaceKind = Literal[
    "tile", "address", "bank", "offset", "dma_channel", "shim", "area", "same", "dma_fifo", "ss_fifo"
]


@dataclass(frozen=True, slots=True)
class Loop:
    """One traversal of a tiling (``traversing_parameters``)."""

    dimension: int
    stride: int
    wrap: int


@dataclass(frozen=True, slots=True)
class Tiling:
    """``tiling_parameters`` or ``buffer_descriptor_parameters``; empty members are the memory object's own.

    Attributes:
        steps: of the older ``buffer_descriptor``: (stride, wrap) pairs, dimension 0 first; empty = none. As
            written, in words of 32 bits; a wrap of 0 is not said.
        length: of the older ``buffer_descriptor``, as written, in words of 32 bits; 0 = not said. Its
            ``offset`` is in such words too.
    """

    buffer_dimension: tuple[int, ...] = ()
    tiling_dimension: tuple[int, ...] = ()
    offset: tuple[int, ...] = ()
    tile_traversal: tuple[Loop, ...] = ()
    packet_port_id: int = -1
    boundary_dimension: tuple[int, ...] | None = None
    repetition: int = 1
    phase: int = 0
    steps: tuple[tuple[int, int], ...] = ()
    length: int = 0

    @property
    def is_older(self) -> bool:
        """Whether it is a ``buffer_descriptor``, which counts words of 32 bits."""
        return bool(self.steps or self.length)


@dataclass(frozen=True, slots=True)
class Place:
    """One alternative of a ``location`` constraint.

    Attributes:
        kind: ``tile(column, row)`` (row 0 = the first row of cores), ``address(column, row, offset)``,
            ``bank(column, row, bank)``, ``offset(bytes)`` in the tile of the kernel,
            ``dma_channel(tile_kind, column, row, channel)``, ``shim(column, channel)``, ``area`` from column,
            row to last_column, last_row, or the ``same`` place as another object's, column and row
            steps from it (0 = none); of a connection ``dma_fifo(tile_kind, column, row, offset, nbytes)`` and
            ``ss_fifo(tile_kind, column, row, number)``.
        number: offset, bank or channel; -1 = not said.
        tile_kind: ``aie_tile``, ``memory_tile`` or ``shim_tile``.
        other: id of the object whose place it is; -1 = none.
        what: of the other object: ``kernel``, ``buffer``, ``stack``, ``parameter``.
    """

    kind: PlaceKind
    column: int = -1
    row: int = -1
    number: int = -1
    tile_kind: str = ""
    last_column: int = -1
    last_row: int = -1
    other: int = -1
    what: str = ""
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class Location:
    """``location<what>(object) = {places}``; several places are those of ping and pong.

    Attributes:
        what: ``kernel``, ``buffer``, ``stack``, ``parameter``, ``dma``, ``graph``, ``PLIO``, ``GMIO`` or
            ``fifo``.
        object: id of the kernel, port, buffer, table, connection or graph.
        exclusive: nothing else lies in the area.
        contains_routing: nets within the group stay in the area.
        excludes_routing: other nets stay out of it.
    """

    what: str
    object: int
    places: tuple[Place, ...]
    exclusive: bool = False
    line: str = ""
    contains_routing: bool = False
    excludes_routing: bool = False


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a kernel, a buffer, a graph, or of what leads out of the array.

    Attributes:
        owner: id of the object that it belongs to.
        number: place among the ports of its direction.
        element: C++ type of an element (``int32``, ``cint16``, ``bfloat16``); empty = not said.
        element_bytes: 0 = not said.
        dimensions: of the buffer, elements; empty = not said.
        margin: elements before each block, from the block before.
        single: ``single_buffer(port)``.
        is_async: ``async(port)``, or an asynchronous buffer.
        repetition: ``async_repetition`` or the like; None = not said.
        initial: ``initial_value``, as hexadecimal bytes; empty = none.
        write_access: tilings of ``write_access(port)``, a turn of the buffer together.
        read_access: those of ``read_access(port)``.
        argument: number of the kernel's parameter; -1 = none.
        is_sync: ``sync(port)``.
        is_member: a member of a kernel's class that REGISTER_PARAMETER names (``k.param[i]``): it has a place
            and no connection.
        packets: ``packet_count(port)``: that a pktorderedmerge takes of this input before the next one.
        samples: ``samples_per_iteration(port)``: elements that a stream passes in a call of its kernel; 0 =
            not said.
    """

    id: int
    name: str
    owner: int
    direction: Direction
    number: int
    kind: PortKind
    element: str = ""
    element_bytes: int = 0
    dimensions: tuple[int, ...] = ()
    margin: int = 0
    single: bool = False
    is_async: bool = False
    is_circular: bool = False
    repetition: int | None = None
    initial: str = ""
    write_access: tuple[Tiling, ...] = ()
    read_access: tuple[Tiling, ...] = ()
    argument: int = -1
    line: str = ""
    is_sync: bool = False
    is_member: bool = False
    packets: int = 1
    samples: int = 0


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph and the one that it is a member of; -1 = none."""

    id: int
    name: str
    parent: int = -1
    type: str = ""


@dataclass(frozen=True, slots=True)
class ConstructorArgument:
    """What a kernel object is made with: C++ type, and its values as C++ literals."""

    type: str
    values: tuple[str, ...]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: ``kernel::create(function)`` or ``kernel::create_object<Class>(arguments)``.

    Attributes:
        function: as its source has it, with template arguments: ``passthrough<16, 8>``, ``fir::filter``.
        object_type: class of a kernel object, ``fir_1<4>``; empty = a function.
        arguments: of its constructor.
        source: file of ``source(k)``, as the user gave it.
        parameters: C++ types of the function's parameters, in order.
        ports: ids in the order of the function's parameters; a port that has no parameter comes last.
        repetition: ``repetition_count(k)``; None = not said.
        runtime_ratio: None = not said.
        initialization: function of ``initialization_function(k)``; empty = none.
    """

    id: int
    name: str
    graph: int
    function: str
    source: str
    parameters: tuple[str, ...]
    ports: tuple[int, ...]
    object_type: str = ""
    arguments: tuple[ConstructorArgument, ...] = ()
    headers: tuple[str, ...] = ()
    runtime_ratio: float | None = None
    repetition: int | None = None
    stack_size: int | None = None
    heap_size: int | None = None
    tables: tuple[int, ...] = ()  # ids of look-up tables (parameter::array)
    initialization: str = ""  # initialization_function(k): runs once, before the first call
    line: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """``parameter::array(symbol)``: a global array of kernels.

    Attributes:
        data: hexadecimal; empty = a kernel's source defines the array, the graph's only declares it.
        bytes: of the array; 0 = those of ``data``.
    """

    id: int
    name: str
    symbol: str
    element: str
    element_bytes: int
    data: str
    bytes: int = 0

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.bytes or len(self.data) // 2


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """A ``shared_buffer`` (memory tile) or an ``external_buffer``.

    Attributes:
        inputs: ports that write it.
        outputs: ports that read it.
        num_buffers: None = not said.
        repetition: ``repetition_count``; None = not said.
        initial: bytes that the host put there before the graph runs, hexadecimal.
    """

    id: int
    name: str
    graph: int
    external: bool
    element: str
    element_bytes: int
    dimensions: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    num_buffers: int | None = None
    repetition: int | None = None
    initial: str = ""
    line: str = ""


@dataclass(frozen=True, slots=True)
class Plio:
    """``input_plio`` or ``output_plio``: a stream of the programmable logic.

    Attributes:
        label: logical name of ``create``.
        width: 32, 64 or 128 bits.
        file: of its words; empty = none.
        mhz: 0 = not said.
        hex: its file has hexadecimal words.
    """

    id: int
    name: str
    graph: int
    direction: Direction
    port: int
    label: str
    width: int
    file: str = ""
    mhz: float = 0.0
    hex: bool = False
    line: str = ""


@dataclass(frozen=True, slots=True)
class Gmio:
    """``input_gmio`` or ``output_gmio``: the DMA of an interface tile on linear memory.

    Attributes:
        burst_bytes: 0 = not said.
        mbytes_per_second: wanted; 0 = not said.
    """

    id: int
    name: str
    graph: int
    direction: Direction
    port: int
    label: str
    burst_bytes: int = 0
    mbytes_per_second: int = 0
    line: str = ""


@dataclass(frozen=True, slots=True)
class Packets:
    """``pktsplit<n>``, ``pktmerge<n>``, ``pktorderedmerge<n>``."""

    id: int
    name: str
    graph: int
    kind: Literal["split", "merge", "ordered_merge"]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    line: str = ""


@dataclass(frozen=True, slots=True)
class Connection:
    """``connect<kind>(source, target)``, as written: ports of graphs are not resolved.

    Attributes:
        bytes: N of ``window<N>``; 0 = not said.
        fifo_depth: words; None = not said.
    """

    id: int
    source: int
    target: int
    kind: Connect = ""
    bytes: int = 0
    margin: int = 0
    fifo_depth: int | None = None
    is_async: bool = False
    line: str = ""


@dataclass(frozen=True, slots=True)
class NotEqual:
    """``not_equal``: objects that may not share a tile."""

    objects: tuple[int, ...]
    line: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """The graphs of a program, with their kernels, ports and connections.

    Attributes:
        format: :data:`FORMAT`.
        version: :data:`VERSION`.
        program: the file of ``main``, as the user named it.
        device: empty = not said.
    """

    format: str = FORMAT
    version: int = VERSION
    program: str = ""
    device: str = ""
    graphs: tuple[Graph, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    memories: tuple[MemoryObject, ...] = ()
    plios: tuple[Plio, ...] = ()
    gmios: tuple[Gmio, ...] = ()
    packets: tuple[Packets, ...] = ()
    tables: tuple[Table, ...] = ()
    ports: tuple[Port, ...] = ()
    connections: tuple[Connection, ...] = ()
    locations: tuple[Location, ...] = ()
    not_equal: tuple[NotEqual, ...] = field(default_factory=tuple)


_WITH_ID = (
    *("graphs", "kernels", "memories", "plios", "gmios", "packets", "tables", "ports"),
    "connections",
)
_USED_IDS: Mapping[str, Mapping[str, str]] = {
    "kernels": {"ports": "ports", "tables": "tables"},
    "memories": {"inputs": "ports", "outputs": "ports"},
    "packets": {"inputs": "ports", "outputs": "ports"},
    "plios": {"port": "ports"},
    "gmios": {"port": "ports"},
    "connections": {"source": "ports", "target": "ports"},
    "locations": {"object": ""},
    "not_equal": {"objects": ""},
}
"""Keys with ids of other objects, and the list that these are in; empty = any of them."""
_PLACED = {"kernel": "kernels", "graph": "graphs", "PLIO": "plios", "GMIO": "gmios", "fifo": "connections"}
"""What a location places, and the list that its object is in; others may be in several."""


def read(data: bytes | str, origin: str) -> Description:
    """Read a description.

    Args:
        data: the JSON text.
        origin: file or program that it is of, for messages.

    Raises:
        InputFileError: it is no JSON, another document or version, or has an unknown key, value or id.
    """
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputFileError(f"{origin}: not the JSON of a graph ({error}).") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise InputFileError(f'{origin}: not a description of a graph: it has no "format": "{FORMAT}".')
    if raw.get("version") != VERSION:
        raise InputFileError(
            f"{origin}: version {raw.get('version')} of a graph's description; this memtile reads {VERSION}."
        )
    return convert(raw, origin)


def convert(raw: Any, origin: str) -> Description:
    """Return a description from plain dictionaries and lists; raises as :func:`read`."""
    if unknown := next(_unknown_keys(raw, Description, ""), None):
        raise InputFileError(f"{origin}: {unknown}.")
    try:
        description = msgspec.convert(raw, Description)
    except msgspec.ValidationError as error:
        raise InputFileError(f"{origin}: {error}.") from error
    if wrong := next(_wrong_ids(description), None):
        raise InputFileError(f"{origin}: {wrong}.")
    return description


def write(description: Description) -> str:
    """Return the JSON of a description, with a final line break."""
    return msgspec.json.format(msgspec.json.encode(description), indent=1).decode() + "\n"


def _wrong_ids(description: Description) -> Iterator[str]:
    """Yield a sentence for each id that two objects have, and for each one that is used and no object has."""
    every: dict[int, str] = {}
    for kind in _WITH_ID:
        for number, each in enumerate(getattr(description, kind)):
            if each.id in every:
                yield f"{kind}[{number}] has the id {each.id}, which {every[each.id]} has too"
            every[each.id] = f"{kind}[{number}]"
    ports = {port.id: port for port in description.ports}
    for number, port in enumerate(description.ports):
        if port.owner >= 0 and port.owner not in every:
            yield f"ports[{number}].owner is {port.owner}, and no object has this id"
    for place, each, used, wanted in _uses(description):
        if used not in every or not every[used].startswith(wanted):
            yield f"{place} has the id {used}, which none of {wanted or 'the objects'} has"
        elif wanted == "ports" and not isinstance(each, Connection) and ports[used].owner != each.id:
            yield f"{place} has {every[used]}, whose owner is {ports[used].owner}, not {each.id}"


def _uses(description: Description) -> Iterator[tuple[str, Any, int, str]]:
    """Yield the place of each id that refers to another object, what has it, the id, and its list."""
    for kind, keys in _USED_IDS.items():
        for number, each in enumerate(getattr(description, kind)):
            for key, wanted in keys.items():
                given = getattr(each, key)
                place = _PLACED.get(each.what, "") if isinstance(each, Location) else wanted
                for used in given if isinstance(given, tuple) else (given,):
                    yield f"{kind}[{number}].{key}", each, used, place


def _unknown_keys(raw: Any, form: Any, place: str) -> Iterator[str]:
    """Yield a sentence for each key that its class does not have."""
    if is_dataclass(form) and isinstance(raw, dict):
        types = get_type_hints(form)
        for key, value in raw.items():
            if key not in types:
                yield f"{place or 'the description'} has the key {key!r}, which {_name(form)} has not"
            else:
                yield from _unknown_keys(value, types[key], f"{place}.{key}" if place else key)
    elif isinstance(raw, list):
        part = next((each for each in get_args(form) if is_dataclass(each)), None)
        for number, value in enumerate(raw if part else ()):
            yield from _unknown_keys(value, part, f"{place}[{number}]")


def _name(form: Any) -> str:
    return str(form.__name__)
