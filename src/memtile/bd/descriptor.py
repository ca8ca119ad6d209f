"""The buffer descriptor in the user's terms, one type for all tile kinds.

A ``Descriptor`` says *what* one execution of a buffer descriptor (BD) moves. It knows no register bits; see
``bd.codec`` for those and ``bd.legality`` for what a tile accepts. Building one checks nothing but the tile
name, so that all problems of a descriptor can be reported together: ``check`` lists them, and ``encode``, and
a channel or tile that is given the descriptor, refuse it with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeGuard, cast

from memtile.arch.bd_layout import BURST_BYTES
from memtile.arch.tiles import TILE_KINDS, TileKind, TileName
from memtile.bd.copies import with_changes
from memtile.bd.windows import DmaAddress, DmaLock
from memtile.errors import DescriptorError, Problem
from memtile.sheet import Sheet, SheetColumn


class Dim(NamedTuple):
    """One dimension of the walk: stride in words, and steps until the next one advances (0 = never)."""

    step: int
    wrap: int = 0


class Pad(NamedTuple):
    """Zeros around one dimension: D0 in words, D1 in rows of D0, D2 in planes of D1 (AM020 chapter 5)."""

    before: int = 0
    after: int = 0


class Iteration(NamedTuple):
    """Offset ``current * step`` words per execution; ``current`` counts 0..wrap-1, wrap 1..64 (AM025)."""

    step: int = 1
    wrap: int = 1
    current: int = 0

    def position(self, execution: int) -> int:
        """Return ``current`` of the ``execution``-th run from now on; a value beyond the wrap occurs once."""
        return (min(self.current, self.wrap - 1) + execution) % self.wrap if execution else self.current

    @property
    def different(self) -> int:
        """Executions until the positions repeat."""
        return self.wrap + (self.current >= self.wrap)


class Acquire(NamedTuple):
    """Lock taken before the first access: value < 0 waits for at least -value, value >= 0 for equality."""

    id: DmaLock = DmaLock(0)
    value: int = 0
    enable: bool = False


class Release(NamedTuple):
    """Lock change after the last access: ``value`` is added; 0 = no release (there is no enable bit)."""

    id: DmaLock = DmaLock(0)
    value: int = 0


class Packet(NamedTuple):
    """Packet header that an MM2S channel sends first (AM020 chapter 2, packet switching)."""

    id: int = 0
    type: int = 0


class Axi(NamedTuple):
    """AXI properties of an interface tile BD: burst in bytes, the rest as in AM025 DMA_BDn_3..5."""

    burst: int = BURST_BYTES[0]
    qos: int = 0
    cache: int = 0
    smid: int = 0
    secure: bool = False


NO_ITERATION, NO_ACQUIRE, NO_RELEASE, DEFAULT_AXI = Iteration(), Acquire(), Release(), Axi()


@dataclass(frozen=True, slots=True, repr=False)
class Descriptor:
    """One buffer descriptor.

    The constructor checks only the tile name. ``check`` returns the problems of the values; ``encode`` raises
    them, and so do ``write_bd`` and ``start`` in a design, which check the entire walk as well.

    Two descriptors are equal exactly when they give the same register words: trailing dimensions ``(1, 0)``
    and trailing pads ``(0, 0)``, which the registers cannot tell from absent ones, are dropped on
    construction.

    Attributes:
        tile: tile kind, ``"memory"``, ``"compute"`` or ``"interface"``; with the suffix ``_2p`` for AIE2P,
            ``_v2`` for AIE-ML v2.
        length: stream words of one execution, pad words included.
        address: first word in the DMA's address scheme; memory tile: west 0, own and east windows above it.
        dims: ``(step, wrap)`` from the fastest dimension on; none = contiguous. The last dimension a tile
            has (D3 on the memory tile, D2 elsewhere) has no wrap. Its step may be 0 on the memory tile of
            AIE-ML v2: MM2S repeats the lower dimensions (AM029 D3_Stepsize_Zero).
        pad: ``(before, after)`` from dimension 0 on; memory tile MM2S only.
        iteration: offset from one execution to the next.
        next: number of the BD that follows in the chain; ``None`` = the chain ends.
        acquire: lock operation before the transfer, ids as the DMA sees them.
        release: lock operation after the transfer, ids as the DMA sees them.
        packet: packet header to send; ``None`` = no header.
        ooo_id: out-of-order BD id put into the packet header.
        compression: run the stream through the compressor or decompressor.
        tlast_suppress: MM2S does not end the transfer with TLAST.
        valid: the Valid_BD bit; executing a descriptor without it is an error of the channel.
        axi: AXI properties, interface tile only.
    """

    tile: TileName
    length: int
    address: DmaAddress
    dims: tuple[Dim, ...] = ()
    pad: tuple[Pad, ...] = ()
    iteration: Iteration = NO_ITERATION
    next: int | None = None
    acquire: Acquire = NO_ACQUIRE
    release: Release = NO_RELEASE
    packet: Packet | None = None
    ooo_id: int = 0
    compression: bool = False
    tlast_suppress: bool = False
    valid: bool = True
    axi: Axi = DEFAULT_AXI

    if TYPE_CHECKING:  # what it takes is wider than what it holds: see __post_init__

        def __init__(
            self,
            tile: TileName,
            length: int,
            address: int,
            dims: Iterable[tuple[int, int] | Dim] = (),
            pad: Iterable[tuple[int, int]] = (),
            iteration: Iteration | tuple[int, int] | tuple[int, int, int] = NO_ITERATION,
            next: int | None = None,
            acquire: Acquire | tuple[int, int, bool] = NO_ACQUIRE,
            release: Release | tuple[int, int] = NO_RELEASE,
            packet: Packet | tuple[int, int] | None = None,
            ooo_id: int = 0,
            compression: bool = False,
            tlast_suppress: bool = False,
            valid: bool = True,
            axi: Axi = DEFAULT_AXI,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.tile not in TILE_KINDS:
            raise DescriptorError(unknown_tile(self.tile))
        dims, pad = [Dim(*d) for d in self.dims], [Pad(*p) for p in self.pad]
        if len(dims) <= self.kind.dimensions:
            _drop_trailing(dims, Dim(1, 0))
        if self.kind.has_padding:
            _drop_trailing(pad, Pad(0, 0))
        packed = {name: form(getattr(self, name)) for name, form in _FORMS.items()}
        for name, value in ({"dims": tuple(dims), "pad": tuple(pad)} | packed).items():
            object.__setattr__(self, name, value)

    @property
    def kind(self) -> TileKind:
        """Limits and layout of the descriptor's tile kind."""
        return TILE_KINDS[self.tile]

    def __repr__(self) -> str:
        given = ((f, getattr(self, f.name)) for f in fields(self))
        return f"Descriptor({', '.join(f'{f.name}={v!r}' for f, v in given if v != f.default)})"

    def _repr_html_(self) -> str:
        given = ((f, getattr(self, f.name)) for f in fields(self))
        rows = tuple((f.name, _plainly(value)) for f, value in given if value != f.default)
        return Sheet((SheetColumn("Descriptor"), SheetColumn("")), rows).html()

    def but(self, **changes: Any) -> Self:
        """Return a copy with some attributes changed."""
        if not _ALONE.isdisjoint(changes):
            return replace(self, **changes)
        formed = {name: _FORMS[name](changes[name]) for name in _FORMS if name in changes}
        return with_changes(self, **(changes | formed))


_ALONE = frozenset({"tile", "dims", "pad"})
"""Attributes that are held in a form which others of them decide about."""
_FORMS: Mapping[str, Callable[[Any], Any]] = {
    "iteration": lambda given: Iteration(*given),
    "acquire": lambda given: given if isinstance(given, Acquire) else Acquire(*given),
    "release": lambda given: given if isinstance(given, Release) else Release(*given),
    "packet": lambda given: None if given is None else Packet(*given),
    "axi": lambda given: Axi(*given),
}
"""The form in which a descriptor holds an attribute, whatever the others are."""


def _plainly(value: object) -> str:
    """A value in few words: ``(step 1, wrap 8)`` for a dimension."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return ", ".join(f"{name} {part}" for name, part in value._asdict().items())
    return "; ".join(map(_plainly, value)) if isinstance(value, tuple) else str(value)


def _drop_trailing(items: list[Any], default: object) -> None:
    while items and items[-1] == default and all(map(is_whole, items[-1])):
        items.pop()


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is an integer and not a truth value."""
    return isinstance(value, (int, Integral)) and not isinstance(value, bool)


def unknown_tile(given: object) -> Problem:
    """The problem of a tile kind that does not exist."""
    return Problem(
        "tile",
        json.dumps(given, default=str),
        " or ".join(cast(Sequence[str], tuple(TILE_KINDS))),
        reason="tile",
        where="descriptor",
        source="AM020: tile kinds with a DMA",
    )
