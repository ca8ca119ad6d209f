"""Tilings as JSON: the schema of ``tilings.json`` cases -> :class:`TilingCase`, strict.

A case is an object with the members of UG1603's tiling parameters under their own names
(``buffer_dimension``, ``tiling_dimension``, ``offset``, ``tile_traversal`` ``[{dimension, stride, wrap}]``
innermost first, ``boundary_dimension``, ``packet_port_id``, ``repetition``, ``phase``), in elements, and
``element_bits`` or ``element_type``. ``memory`` and ``access`` default to a memory tile that is read.
``memref`` (MLIR: ``offset``, ``sizes``, ``strides``) stands for the tiling; messages name it by ``name`` or
``id``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from memtile.access.element_types import BLOCKS, ELEMENT_BITS, amd_bits
from memtile.access.expected import Expected, expected_problems, read_expected
from memtile.access.lowering.lower import Access, Lowering, lower
from memtile.access.memref import Memref
from memtile.access.request import Request
from memtile.access.tiling import NO_PORT, TilingParameters, TraversingParameters, problems
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.bd.descriptor import is_whole
from memtile.bd.descriptor_cases import wrong_keys
from memtile.bd.legality import shown
from memtile.errors import Problem, TransferError, raise_if

MEMORIES: Mapping[str, TileName] = MappingProxyType(
    {
        "memtile": "memory",
        "aie_ml_data_memory": "compute",
        "external_ddr_via_interface_tile": "interface",
    }
)
"""``memory`` of a case -> the tile kind whose DMA moves the data."""

MOST_ELEMENTS = 1 << 27
"""Longest stream that is enumerated: 1 GiB of indices."""

_SHAPES = ("buffer_dimension", "tiling_dimension", "offset", "boundary_dimension")
_NUMBERS = ("packet_port_id", "repetition", "phase", "buffer_iteration")
_SITE = ("memory", "access", "element_type", "element_bits")
_REMARKS = frozenset(("id", "what", "source", "expected", "compiler", "legal", "chain", "pair"))
_REMARKS |= {"num_buffers", "repetition_count", "template_values"}
_NAMES = ("name", "id")
_TILING = ("buffer_dimension", "tile_traversal", *_SHAPES[1:], *_NUMBERS)
_KEYS = frozenset((*_TILING, *_SITE, "memref", "name")) | _REMARKS
_MEMREF = ("offset", "sizes", "strides", "elements")
_LOOP = ("dimension", "stride", "wrap")
_SOURCE = "tiling schema"


@dataclass(frozen=True, slots=True)
class TilingCase:
    """A tiling, and where and how it runs.

    Attributes:
        name: ``name`` or ``id`` of the case; empty when it has none.
        tiling: the parameters.
        element_bits: size of an element.
        tile: kind of the tile whose DMA moves the data.
        access: ``"read"`` = MM2S, ``"write"`` = S2MM.
        declared: ``tile`` is what the case itself says, so UG1603's limit on the rank holds (DEV-TIL-1).
        legal: False for a known illegal case.
        expected: the published sequence, if any.
        published_bds: descriptors that AMD's compiler takes, in both of its phases, if published.
        memref: the memref that the tiling was made of; None = it was given as a tiling.
    """

    name: str
    tiling: TilingParameters
    element_bits: int
    tile: TileName = "memory"
    access: Access = "read"
    declared: bool = True
    legal: bool = True
    expected: Expected | None = None
    published_bds: int | None = None
    memref: Memref | None = None

    def request(self) -> Request:
        """The loop nest over the buffer.

        Raises:
            TransferError: the parameters contradict themselves or UG1603; all problems at once.
        """
        raise_if(problems(self.tiling, TILE_KINDS[self.tile] if self.declared else None), TransferError)
        return self.tiling.request(self.element_bits)

    def lowered(self) -> Lowering:
        """The fewest descriptors.

        Raises:
            TransferError: every reason why there are none.
        """
        request = self.request()
        raise_if(_too_long(request), TransferError)
        port = self.tiling.packet_port_id
        alone = self.access == "write" and port != NO_PORT
        try:
            lowering = lower(request, self.tile, self.access, iteration=not alone)
        except TransferError as error:
            kind = TILE_KINDS[self.tile]
            raise (
                error if self.memref is None else self.memref.in_its_words(error, self.element_bits, kind)
            ) from None
        raise_if(_several(lowering, port) if alone else [], TransferError)
        return lowering


def _too_long(request: Request) -> list[Problem]:
    """A stream whose enumeration, the proof of its descriptors, would fill the machine's memory."""
    if request.size <= MOST_ELEMENTS:
        return []
    return [
        Problem(
            "stream",
            f"{request.size} elements",
            f"at most {MOST_ELEMENTS}",
            f"the stream has {request.size} elements; it must have at most {MOST_ELEMENTS}",
            "Lower it in several parts.",
            reason="stream",
            where="tiling",
            source="memtile compares every element of the stream with the walk",
        )
    ]


def _several(lowering: Lowering, port: int) -> list[Problem]:
    """A merge's tiling of several descriptors: the header of a packet names one."""
    bds = len(lowering.descriptors)
    return [
        Problem(
            "packet_port_id",
            f"port {port}, {bds} BDs",
            "one BD in one run",
            f"packet_port_id is {port}, and the tiling needs {bds} BDs in one run; what a merge stores "
            "must be one",
            "Write it as several tilings, each of them one packet.",
            reason="packet_port",
            where="tiling",
            source="UG1603, packet_port_id; AM020: the header of a packet names one BD",
        )
    ][: bds > 1]


def tilings_of(data: Any) -> tuple[list[Any], bool]:
    """The cases in a JSON value: one, a list, or an object with ``tilings``; and whether it is one."""
    if isinstance(data, dict) and "tilings" in data and "buffer_dimension" not in data:
        data = data["tilings"]
    return (data, False) if isinstance(data, list) else ([data], True)


def parse_tiling(data: object, tile: TileName | None = None, access: Access | None = None) -> TilingCase:
    """The tiling of a case; its shape is checked, whether it is legal is not.

    Args:
        data: a JSON value.
        tile: tile kind instead of the one that the case declares.
        access: direction instead of the one that the case declares.

    Raises:
        TransferError: the case is not in the schema; all problems at once.
    """
    if not isinstance(data, dict):
        raise TransferError.of(
            "tiling",
            shown(data),
            "an object with buffer_dimension and element_bits",
            reason="tiling",
            where="tiling",
            source=_SOURCE,
        )
    reader = _TilingReader(data)
    memref = reader.memref()
    case = TilingCase(
        name=reader.name(),
        tiling=reader.tiling() if memref is None else reader.tiling_of(memref),
        element_bits=reader.element_bits(),
        tile=tile or MEMORIES[reader.choice("memory", MEMORIES)],
        access=access or cast(Access, reader.choice("access", ("read", "write"))),
        declared=tile is None,
        legal=reader.flag("legal"),
        expected=reader.expected(),
        published_bds=reader.published_bds(),
        memref=memref,
    )
    raise_if(reader.problems, TransferError)
    return case


class _TilingReader:
    """Takes a case apart; whatever has the wrong shape becomes a problem and is replaced by a default."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.problems: list[Problem] = []
        known = _KEYS - frozenset(_TILING) if "memref" in data else _KEYS
        self._check_keys("", data, known, ())
        if not data.keys() & {"memref", "buffer_dimension"}:
            says = "buffer_dimension is missing, and there is no memory object to have it from"
            self._add("buffer_dimension", "nothing", "a list", reason="missing_key", says=says)

    def tiling(self) -> TilingParameters:
        given: dict[str, Any] = {key: self._shape(key) for key in _SHAPES if self.data.get(key) is not None}
        given |= {key: self._whole(key, self.data[key]) for key in _NUMBERS if key in self.data}
        return TilingParameters(**{"buffer_dimension": (1,), **given}, tile_traversal=self._loops())

    def name(self) -> str:
        """The name of the case in messages: its ``name`` or ``id``."""
        names = [self.text(key) for key in _NAMES if key in self.data]
        if len(set(names)) > 1:
            says = f"name is {shown(names[0])} and id is {shown(names[1])}; one of them is enough"
            self._add("name", shown(names[0]), "name or id", says=says)
        return names[0] if names else ""

    def memref(self) -> Memref | None:
        value = self.data.get("memref")
        form = "an object with sizes and strides, offset, elements"
        if "memref" in self.data and not isinstance(value, dict):
            self._add("memref", shown(value), form)
        if not isinstance(value, dict):
            return None
        self._check_keys("memref.", value, frozenset(_MEMREF), ("sizes", "strides"))
        sizes, strides = (self._list(f"memref.{key}", value.get(key, [])) for key in ("sizes", "strides"))
        return Memref(sizes, strides, self._whole("memref.offset", value.get("offset", 0)))

    def tiling_of(self, memref: Memref) -> TilingParameters:
        capacity = self.data["memref"].get("elements")
        if self.problems:
            return TilingParameters((1,))
        try:
            return memref.tiling(None if capacity is None else self._whole("memref.elements", capacity))
        except TransferError as error:
            self.problems += error.problems
            return TilingParameters((1,))

    def _type_bits(self, name: object) -> int | None:
        """The size of elements of a type; None, with a problem unless there is no type, if it has none."""
        size = amd_bits(name) if isinstance(name, str) else None
        if name is None or (size is not None and not size & (size - 1)):
            return size
        block = isinstance(name, str) and name in BLOCKS
        step = "Its elements share an exponent: give the blocks as int8." if block else ""
        self._add("element_type", shown(name), f"one of {', '.join(ELEMENT_BITS)}", next_step=step)
        return None

    def element_bits(self) -> int:
        bits, name = self.data.get("element_bits"), self.data.get("element_type")
        sizes = sorted(set(ELEMENT_BITS.values()))
        shown_sizes = ", ".join(map(str, sizes))
        size = self._type_bits(name)
        if bits is None and name is None:
            says = (
                f"element_bits is missing; it must be one of {shown_sizes}, or there must be an element_type"
            )
            self._add("element_bits", "nothing", f"{shown_sizes}, or an element_type", says=says)
        if bits is None:
            return size or sizes[0]
        if not is_whole(bits) or bits not in sizes:
            self._add("element_bits", shown(bits), f"one of {shown_sizes}")
            return sizes[0]
        if size not in (None, bits):
            self._add("element_bits", shown(bits), f"{size}, the size of {name}")
        return bits

    def choice(self, key: str, allowed: Iterable[str]) -> str:
        default, *_ = names = list(allowed)
        value = self.data.get(key, default)
        if value in names:
            return str(value)
        self._add(key, shown(value), " or ".join(names))
        return default

    def text(self, key: str) -> str:
        value = self.data.get(key, "")
        if not isinstance(value, str):
            self._add(key, shown(value), "a text")
        return str(value)

    def flag(self, key: str) -> bool:
        value = self.data.get(key, True)
        if not isinstance(value, bool):
            self._add(key, shown(value), "true or false")
        return value is not False

    def expected(self) -> Expected | None:
        value = self.data.get("expected")
        if value is None:
            return None
        wrong = expected_problems(value)
        self.problems += wrong
        return None if wrong else read_expected(value)

    def published_bds(self) -> int | None:
        compiler = self.data.get("compiler")
        if compiler is None:
            return None
        if not isinstance(compiler, dict):
            self._add("compiler", shown(compiler), "an object with bds_for_this_port")
            return None
        count = compiler.get("bds_for_this_port")
        return None if count is None else self._whole("compiler.bds_for_this_port", count)

    def _shape(self, key: str) -> tuple[int, ...]:
        return self._list(key, self.data[key])

    def _list(self, key: str, value: object) -> tuple[int, ...]:
        if not isinstance(value, list):
            self._add(key, shown(value), "a list of whole numbers")
            return ()
        return tuple(self._whole(f"{key}[{n}]", number) for n, number in enumerate(value))

    def _loops(self) -> tuple[TraversingParameters, ...]:
        value = self.data.get("tile_traversal", [])
        form = f"{{{', '.join(_LOOP)}}}"
        if not isinstance(value, list):
            self._add("tile_traversal", shown(value), f"a list of {form}")
            return ()
        loops = []
        for n, loop in enumerate(value):
            place = f"tile_traversal[{n}]"
            if not isinstance(loop, dict):
                self._add(place, shown(loop), form)
                continue
            self._check_keys(f"{place}.", loop, frozenset(_LOOP), _LOOP)
            numbers = (self._whole(f"{place}.{key}", loop.get(key, 1)) for key in _LOOP)
            loops.append(TraversingParameters(*numbers))
        return tuple(loops)

    def _whole(self, field: str, value: object) -> int:
        if is_whole(value):
            return value
        self._add(field, shown(value), "a whole number")
        return 1

    def _check_keys(
        self, prefix: str, data: Mapping[str, Any], known: Set[str], required: Iterable[str]
    ) -> None:
        for wrong in wrong_keys(data, known, required, _REMARKS):
            reason, key, given, allowed, hint = wrong
            says = wrong.says(prefix)
            self._add(prefix + key, given, allowed, reason=reason, next_step=hint, says=says)

    def _add(
        self, field: str, given: str, allowed: str, *, reason: str = "", next_step: str = "", says: str = ""
    ) -> None:
        reason = reason or field.partition("[")[0].replace(".", "_")
        name = next((self.data[key] for key in _NAMES if key in self.data), None)
        where = f"tiling {name}" if isinstance(name, str) else "tiling"
        self.problems.append(
            Problem(field, given, allowed, says, next_step, reason=reason, where=where, source=_SOURCE)
        )
