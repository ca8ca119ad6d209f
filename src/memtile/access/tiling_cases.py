"""Tilings as JSON: the schema of ``tilings.json`` cases -> :class:`TilingCase`, strict.

A case is an object with the members of UG1603's tiling parameters under their own names
(``buffer_dimension``, ``tiling_dimension``, ``offset``, ``tile_traversal`` ``[{dimension, stride, wrap}]``
innermost first, ``boundary_dimension``, ``packet_port_id``, ``repetition``, ``phase``), in elements, and
``element_bits`` or ``element_type``. ``memory`` and ``access`` default to a memory tile that is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from memtile.access.expected import Expected, expected_problems, read_expected
from memtile.access.lowering.lower import Access, Lowering, lower
from memtile.access.request import Request
from memtile.access.tiling import TilingParameters, TraversingParameters, problems
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.bd.descriptor import is_whole
from memtile.bd.json_keys import wrong_keys
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

ELEMENT_BITS: Mapping[str, int] = MappingProxyType(
    {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (4, 8, 16, 32, 64)}
    | {"bfloat8": 8, "float8": 8, "bool": 8, "bfloat16": 16, "float16": 16, "float": 32, "double": 64}
    | {"cint16": 32, "cint32": 64, "cfloat": 64}
)
"""Element types of AMD's graphs (``adf`` headers) and their sizes."""

MOST_ELEMENTS = 1 << 27
"""Longest stream that is enumerated: 1 GiB of indices."""

_SHAPES = ("buffer_dimension", "tiling_dimension", "offset", "boundary_dimension")
_NUMBERS = ("packet_port_id", "repetition", "phase", "buffer_iteration")
_SITE = ("memory", "access", "element_type", "element_bits")
_REMARKS = frozenset(("id", "what", "source", "expected", "compiler", "legal", "chain", "pair"))
_REMARKS |= {"num_buffers", "repetition_count", "template_values"}
_KEYS = frozenset((*_SHAPES, *_NUMBERS, *_SITE, "tile_traversal")) | _REMARKS
_LOOP = ("dimension", "stride", "wrap")
_SOURCE = "tiling schema"


@dataclass(frozen=True, slots=True)
class TilingCase:
    """A tiling, and where and how it runs.

    Attributes:
        name: ``id`` of the case; empty when it has none.
        tiling: the parameters.
        element_bits: size of an element.
        tile: kind of the tile whose DMA moves the data.
        access: ``"read"`` = MM2S, ``"write"`` = S2MM.
        declared: ``tile`` is what the case itself says, so UG1603's limit on the rank holds (DEV-TIL-1).
        legal: False for a case that is known to be bad.
        expected: the published sequence, if any.
        published_bds: descriptors that AMD's compiler takes, in both of its phases, if published.
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
        return lower(request, self.tile, self.access)


def _too_long(request: Request) -> list[Problem]:
    """A stream whose enumeration, the proof of its descriptors, would fill the machine's memory."""
    if request.size <= MOST_ELEMENTS:
        return []
    return [
        Problem(
            reason="stream",
            where="tiling",
            field="stream",
            given=f"{request.size} elements",
            allowed=f"at most {MOST_ELEMENTS}",
            source="memtile compares every element of the stream with the walk",
            next_step="Lower it in several parts.",
            says=f"the stream has {request.size} elements; it must have at most {MOST_ELEMENTS}",
        )
    ]


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
        raise TransferError(
            Problem(
                reason="tiling",
                where="tiling",
                field="tiling",
                given=shown(data),
                allowed="an object with buffer_dimension and element_bits",
                source=_SOURCE,
            )
        )
    reader = _Reader(data)
    case = TilingCase(
        name=reader.text("id"),
        tiling=reader.tiling(),
        element_bits=reader.element_bits(),
        tile=tile or MEMORIES[reader.choice("memory", MEMORIES)],
        access=access or cast(Access, reader.choice("access", ("read", "write"))),
        declared=tile is None,
        legal=reader.flag("legal"),
        expected=reader.expected(),
        published_bds=reader.published_bds(),
    )
    raise_if(reader.problems, TransferError)
    return case


class _Reader:
    """Takes a case apart; whatever has the wrong shape becomes a problem and is replaced by a default."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.problems: list[Problem] = []
        self._check_keys("", data, _KEYS, ("buffer_dimension",))

    def tiling(self) -> TilingParameters:
        given: dict[str, Any] = {key: self._shape(key) for key in _SHAPES if self.data.get(key) is not None}
        given |= {key: self._whole(key, self.data[key]) for key in _NUMBERS if key in self.data}
        return TilingParameters(**{"buffer_dimension": (1,), **given}, tile_traversal=self._loops())

    def element_bits(self) -> int:
        bits, name = self.data.get("element_bits"), self.data.get("element_type")
        sizes = sorted(set(ELEMENT_BITS.values()))
        shown_sizes = ", ".join(map(str, sizes))
        size = ELEMENT_BITS.get(name) if isinstance(name, str) else None
        if name is not None and size is None:
            self._add("element_type", shown(name), f"one of {', '.join(ELEMENT_BITS)}")
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
        value = self.data[key]
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
        name = self.data.get("id")
        self.problems.append(
            Problem(
                reason=reason,
                where=f"tiling {name}" if isinstance(name, str) else "tiling",
                field=field,
                given=given,
                allowed=allowed,
                source=_SOURCE,
                next_step=next_step,
                says=says,
            )
        )
