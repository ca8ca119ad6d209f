"""Can the registers hold this descriptor, and will the tile run it? Every field, all problems at once.

Ranges come from the register fields (AM025) and from what exists behind them (BDs, locks, address space:
AM020). Whether the whole walk stays inside a memory is not asked here; that is ``access``'s question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from math import isfinite
from typing import Any, NamedTuple, TypeGuard

from memtile.arch.bd_layout import BdField, Encoding
from memtile.arch.tiles import MAX_DIMENSIONS, TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.bd.descriptor import DEFAULT_AXI, Descriptor, is_whole
from memtile.bd.fields import TERMS, fields_of, has_axi, padded_dimensions
from memtile.errors import Problem

_SPLIT_LOOP = "Split the loop over two dimensions or over several BDs."
_OWN_BDS = "Give every position of this loop a BD of its own."
_OUTER_LOOPS = "Put the outer loops on the iteration, or on more BDs."
_WHEN_TOO_LARGE = {
    "Buffer_Length": "Split the transfer over chained BDs.",
    "Iteration_Stepsize": _OWN_BDS,
    "Iteration_Wrap": _OWN_BDS,
    **{f"D{n}_Stepsize": _OWN_BDS for n in range(MAX_DIMENSIONS)},
    **{f"D{n}_Wrap": _SPLIT_LOOP for n in range(MAX_DIMENSIONS)},
}
_ENCODING_NOTE = {Encoding.AS_IS: "", Encoding.MINUS_ONE: ", stored minus one", Encoding.SIGNED: ", signed"}


def check(d: Descriptor, bd: int | None = None) -> list[Problem]:
    """Return every reason why the registers cannot hold the descriptor or the tile cannot run it.

    Args:
        d: the descriptor.
        bd: number of the BD it is for; checked when given.

    Returns:
        Problems in the order of the descriptor's attributes, rules about several fields last; empty when
        the descriptor is legal.
    """
    kind = d.kind
    where = kind.title if bd is None else f"{kind.title}, BD {shown(bd)}"
    problems = [] if bd is None else list(check_bd(kind, where, bd))
    for name, value in fields_of(d).items():
        if name in kind.bd_fields and name in TERMS:
            problems += _field(kind, where, name, value)
    return [*problems, *_missing(d, where), *_linear_range(d, where), *_pad_needs_wrap(d, where)]


def shown(value: object) -> str:
    """A value as a JSON file has it."""
    return str(int(value)) if is_whole(value) else json.dumps(value, default=str)


class _Limit(NamedTuple):
    low: int
    high: int
    source: str

    def __contains__(self, value: object) -> bool:
        return is_whole(value) and self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


def check_bd(kind: TileKind, where: str, bd: int) -> Iterator[Problem]:
    """Whether the tile has a BD of that number."""
    limit = _Limit(0, kind.bds - 1, f"AM020: {kind.bds} BDs")
    if bd not in limit:
        yield Problem(
            "bd",
            shown(bd),
            str(limit) if is_whole(bd) else f"a whole number in {limit}",
            reason="bd_number",
            where=where,
            source=limit.source,
        )


def _field(kind: TileKind, where: str, name: str, value: Any) -> Iterator[Problem]:
    """Type and range of one field that the tile kind has."""
    term, field, limit = TERMS[name], kind.bd_fields[name], _limit(kind.name, name)
    if _fits(field, limit, value):
        return
    if name == "Base_Address" and isinstance(value, float) and isfinite(value) and value % 1:
        yield _unaligned(where, value)
        return
    unit = f" {term.unit}" if term.unit else ""
    given, allowed = shown(value) + (unit if is_whole(value) else ""), _allowed(field, limit, value) + unit
    rule = ", allowed are" if is_whole(value) and field.bits > 1 else "; it must be"
    yield Problem(
        name,
        f"{term.name} {given}",
        allowed,
        f"{name} ({term.name}) is {given}{rule} {allowed}",
        _WHEN_TOO_LARGE.get(name, "") if is_whole(value) and value > limit.high else "",
        reason=term.reason,
        where=where,
        source=limit.source,
    )


def _fits(field: BdField, limit: _Limit, value: object) -> bool:
    if field.bits == 1:
        return isinstance(value, bool)
    if field.codes:
        return is_whole(value) and value in field.codes
    return value in limit


def _allowed(field: BdField, limit: _Limit, value: object) -> str:
    if field.bits == 1:
        return "true or false"
    numbers = ", ".join(map(str, field.codes)) if field.codes else str(limit)
    return numbers if is_whole(value) else f"a whole number, {'one of' if field.codes else 'in'} {numbers}"


@cache
def _limit(kind_name: TileName, name: str) -> _Limit:
    """What the field can hold, or less where fewer things exist behind it."""
    kind = TILE_KINDS[kind_name]
    field = kind.bd_fields[name]
    low, high = field.minimum, field.maximum
    exists = _existing(kind).get(name)
    if exists and exists.high < high:
        return exists
    note = _ENCODING_NOTE[field.encoding]
    return _Limit(low, high, f"AM025 DMA_BDn_{field.parts[0][0]}: {field.bits}-bit field{note}")


def _existing(kind: TileKind) -> dict[str, _Limit]:
    """Fields whose values name something that the tile has fewer of than the field can count."""
    windows = ", ".join(f"{name} {at}..{at + kind.locks - 1}" for name, at in kind.lock_windows.items())
    locks = _Limit(0, kind.locks * len(kind.lock_windows) - 1, f"AM020: DMA lock ids, {windows}")
    space = f"AM020: DMA address space of 0x{kind.dma_address_words * WORD_BYTES:X} bytes"
    return {
        "Base_Address": _Limit(0, kind.dma_address_words - 1, space),
        "Next_BD": _Limit(0, kind.bds - 1, f"AM020: {kind.bds} BDs"),
        "Lock_Acq_ID": locks,
        "Lock_Rel_ID": locks,
    }


def _unaligned(where: str, address: float) -> Problem:
    return Problem(
        "Base_Address",
        f"address {shown(address)} words = byte address {address * WORD_BYTES:.15g}",
        f"multiples of {WORD_BYTES} bytes",
        f"Base_Address (address) is {shown(address)} words, which is byte address "
        f"{address * WORD_BYTES:.15g}; it must be a multiple of {WORD_BYTES} bytes",
        "Start the buffer on a word boundary.",
        reason="address_alignment",
        where=where,
        source="AM025: BD addresses count 32-bit words",
    )


def _missing(d: Descriptor, where: str) -> Iterator[Problem]:
    """Things asked for that BDs of this tile kind have no field for."""
    kind, title = d.kind, d.kind.title
    fields = f"AM025: {title} BD fields"
    padded = padded_dimensions(kind)
    if len(d.dims) > kind.dimensions:
        yield Problem(
            "dims",
            f"{len(d.dims)} dimensions",
            f"at most {kind.dimensions}",
            f"dims has {len(d.dims)} dimensions; there can be at most {kind.dimensions}",
            _OUTER_LOOPS,
            reason="dims_count",
            where=where,
            source=f"AM020: {title} DMA",
        )
    for n, dim in enumerate(d.dims[kind.dimensions - 1 :], kind.dimensions - 1):
        if dim.wrap != 0 or not is_whole(dim.wrap):
            yield Problem(
                f"D{n}_Wrap",
                f"dims[{n}].wrap {shown(dim.wrap)}",
                "0 (no wrap field)",
                f"dims[{n}].wrap is {shown(dim.wrap)}; it must be 0, because D{n} has no wrap field",
                reason=f"wrap_d{n}",
                where=where,
                source=fields,
            )
    if d.pad and not kind.has_padding:
        says = f"pad is given, but the {title} has no padding"
        yield _unsupported(kind, where, "pad", "padding", "AM020: memory tile MM2S only", says)
    elif len(d.pad) > padded:
        yield Problem(
            "pad",
            f"padding of {len(d.pad)} dimensions",
            f"at most {padded}",
            f"pad has {len(d.pad)} dimensions; there can be at most {padded}",
            reason=f"pad_d{padded}",
            where=where,
            source=fields,
        )
    if d.compression is not False and not kind.has_compression:
        given = f"compression {shown(d.compression)}"
        says = f"compression is {shown(d.compression)}, but the {title} has no compression"
        yield _unsupported(kind, where, "compression", given, fields, says)
    yield from _missing_axi(d, where)


def _missing_axi(d: Descriptor, where: str) -> Iterator[Problem]:
    kind, title = d.kind, d.kind.title
    if d.axi != DEFAULT_AXI and not has_axi(kind):
        says = f"axi is given, but BDs of the {title} have no AXI properties"
        yield _unsupported(kind, where, "axi", "AXI properties", "AM025: interface tile BDs only", says)
    elif d.axi.smid != DEFAULT_AXI.smid and "SMID" not in kind.bd_fields:
        given = f"axi.smid {shown(d.axi.smid)}"
        says = f"axi.smid is {shown(d.axi.smid)}, but BDs of the {title} have no SMID"
        yield _unsupported(kind, where, "smid", given, "AM029: register SMID", says)


def _unsupported(kind: TileKind, where: str, field: str, given: str, source: str, says: str) -> Problem:
    return Problem(
        field,
        given,
        f"none on the {kind.title}",
        says,
        reason=f"{field}_unsupported",
        where=where,
        source=source,
    )


def contiguous_end(kind: TileKind) -> int | None:
    """First word that a contiguous transfer may not reach; ``None`` where only the walk is judged.

    The driver checks this against the address space of the kind's BDs. For the compute tile it allows twice
    the memory, which no base and length exceed.
    """
    return None if kind.role == "compute" else kind.dma_address_words


def _linear_range(d: Descriptor, where: str) -> Iterator[Problem]:
    """A contiguous transfer must end inside the DMA address space; zeros of padding take none of it."""
    space = contiguous_end(d.kind)
    if d.dims or d.pad or space is None or not _is_number(d.address) or not is_whole(d.length):
        return
    end = d.address + d.length
    if end > space:
        yield Problem(
            "Base_Address, Buffer_Length",
            f"address {shown(d.address)} + length {shown(d.length)} = {shown(end)} words",
            f"up to {space} words",
            f"address {shown(d.address)} + length {shown(d.length)} is {shown(end)} words; "
            f"the transfer must end by word {space}",
            "Lower the address or the length.",
            reason="linear_range",
            where=where,
            source=_existing(d.kind)["Base_Address"].source,
        )


def _is_number(value: object) -> TypeGuard[float]:
    return is_whole(value) or (isinstance(value, float) and isfinite(value))


def _pad_needs_wrap(d: Descriptor, where: str) -> Iterator[Problem]:
    """Padding after a dimension, and any padding above it, needs that dimension to wrap (driver)."""
    if not d.kind.has_padding:
        return
    for n, pad in enumerate(d.pad[: padded_dimensions(d.kind)]):
        wrap = d.dims[n].wrap if n < len(d.dims) else 0
        above = any(any(p) for p in d.pad[n + 1 :])
        if wrap == 0 and (pad.after or above):
            cause = f"padding above D{n}" if above else f"pad[{n}].after {shown(pad.after)}"
            yield Problem(
                f"D{n}_Wrap",
                f"dims[{n}].wrap 0 with {cause}",
                str(_limit(d.tile, f"D{n}_Wrap")._replace(low=1)),
                f"dims[{n}].wrap is 0 with {cause}, allowed are "
                f"{_limit(d.tile, f'D{n}_Wrap')._replace(low=1)}",
                f"Give D{n} the number of steps after which the pad comes.",
                reason=f"pad_needs_wrap_d{n}",
                where=where,
                source="AM020: pads are inserted when a dimension wraps; the driver refuses it",
            )
