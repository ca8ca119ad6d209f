"""Descriptor <-> register words, bit exact, driven by ``arch.bd_layout`` alone (AM025 DMA_BDn_w registers).

``encode`` and ``decode`` are exact inverses on everything a descriptor can say. What the registers can hold
beyond that has no effect on the hardware and does not survive a decode: reserved bits (refused), and the
contents of fields whose enable bit is off (dropped; ``idle_fields`` lists them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from memtile.arch.bd_layout import BdField, Encoding
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.bd.descriptor import Descriptor, is_whole, unknown_tile
from memtile.bd.fields import descriptor_of, fields_of
from memtile.bd.legality import check, shown
from memtile.errors import DescriptorError, Problem, raise_if

WORD_MAX = (1 << (8 * WORD_BYTES)) - 1
_UNDEFINED = 0  # value of a code that AM025 leaves undefined
_BURST = "Burst_Length"
GATES = {"Next_BD": "Use_Next_BD", "Packet_ID": "Enable_Packet", "Packet_Type": "Enable_Packet"}
"""Field -> the bit that gives it an effect."""
OVERRULED = {"D3_Stepsize": "D3_Stepsize_Zero"}
"""Field -> the bit that takes its effect away (AM029)."""


def encode(descriptor: Descriptor, bd: int | None = None) -> tuple[int, ...]:
    """The register words of a descriptor.

    Args:
        descriptor: what to encode.
        bd: number of the BD it is for; checked when given, and named in errors.

    Returns:
        ``kind.bd_words`` unsigned 32-bit words, word 0 first.

    Raises:
        DescriptorError: the tile cannot hold or run it; all problems at once.
    """
    raise_if(check(descriptor, bd), DescriptorError)
    return pack(descriptor.kind, fields_of(descriptor))


def decode(tile: TileName, words: Sequence[int], bd: int | None = None) -> Descriptor:
    """The descriptor that register words describe; not checked for legality.

    Args:
        tile: tile kind.
        words: all words of the BD, word 0 first.
        bd: number of the BD, named in errors.

    Raises:
        DescriptorError: wrong number of words, not 32-bit words, reserved bits set, or an undefined code.
    """
    if tile not in TILE_KINDS:
        raise DescriptorError(unknown_tile(tile))
    kind = TILE_KINDS[tile]
    raise_if(
        _check_words(kind, words, kind.title if bd is None else f"{kind.title}, BD {bd}"), DescriptorError
    )
    return descriptor_of(kind, unpack(kind, words))


def following_bd(tile: TileName, words: Sequence[int], bd: int | None = None) -> int | None:
    """The BD that follows the one that register words describe; None = none does.

    Args:
        tile: tile kind.
        words: all words of the BD, word 0 first.
        bd: number of the BD, named in errors.

    Raises:
        DescriptorError: as :func:`decode`, of words that are followed by another BD.
    """
    word, _, lsb = TILE_KINDS[tile].bd_fields["Use_Next_BD"].parts[0]
    return decode(tile, words, bd).next if words[word] >> lsb & 1 else None


def idle_fields(kind: TileKind, words: Sequence[int]) -> dict[str, int]:
    """Fields with a value that has no effect because of another bit, e.g. ``Next_BD`` without Use_Next_BD."""
    values = unpack(kind, words)
    idle = [name for name, gate in GATES.items() if values[name] and not values[gate]]
    for name, bit in OVERRULED.items():
        if values.get(bit) and values[name] > kind.limits(name)[0]:
            idle.append(name)
    return {name: values[name] for name in idle}


def pack(kind: TileKind, values: Mapping[str, int]) -> tuple[int, ...]:
    """Register words from logical field values that fit; absent fields give zero bits."""
    words = [0] * kind.bd_words
    for name, field in kind.bd_fields.items():
        if name not in values:
            continue
        raw = _to_bits(field, int(values[name]))
        for word, msb, lsb in field.parts:
            width = msb - lsb + 1
            words[word] |= (raw & ((1 << width) - 1)) << lsb
            raw >>= width
    return tuple(words)


def unpack(kind: TileKind, words: Sequence[int]) -> dict[str, int]:
    """Logical value of every field of a BD."""
    values = {}
    for name, field in kind.bd_fields.items():
        raw = shift = 0
        for word, msb, lsb in field.parts:
            width = msb - lsb + 1
            raw |= ((words[word] >> lsb) & ((1 << width) - 1)) << shift
            shift += width
        values[name] = _from_bits(field, raw)
    return values


@cache
def used_bits(kind_name: TileName) -> tuple[int, ...]:
    """Per word, the bits that belong to a field; the others are reserved."""
    kind = TILE_KINDS[kind_name]
    masks = [0] * kind.bd_words
    for field in kind.bd_fields.values():
        for word, msb, lsb in field.parts:
            masks[word] |= (1 << (msb + 1)) - (1 << lsb)
    return tuple(masks)


def _to_bits(field: BdField, value: int) -> int:
    if field.codes:
        return field.codes.index(value)
    return value - 1 if field.encoding is Encoding.MINUS_ONE else value


def _from_bits(field: BdField, raw: int) -> int:
    if field.codes:
        return field.codes[raw] if raw < len(field.codes) else _UNDEFINED
    if field.encoding is Encoding.SIGNED and raw > field.maximum:
        return raw - (1 << field.bits)
    return raw + 1 if field.encoding is Encoding.MINUS_ONE else raw


def _check_words(kind: TileKind, words: Sequence[int], where: str) -> list[Problem]:
    if len(words) != kind.bd_words:
        says = f"{len(words)} words are given; a BD of this tile has {kind.bd_words}"
        given, allowed = f"{len(words)} words", f"{kind.bd_words} words"
        return [_problem("word_count", where, "words", given, allowed, says, _other_kinds(len(words)))]
    problems = []
    for n, (word, used) in enumerate(zip(words, used_bits(kind.name), strict=True)):
        if not is_whole(word) or not 0 <= word <= WORD_MAX:
            given = f"{word:#x}" if is_whole(word) else shown(word)
            says = f"word {n} is {given}, allowed are 0x0..{WORD_MAX:#x}"
            problems.append(_problem("word", where, f"word {n}", given, f"0x0..{WORD_MAX:#x}", says))
        elif word & ~used:
            given, allowed = f"reserved bits {word & ~used:#010x} set", f"bits of {used:#010x}"
            says = (
                f"word {n} sets the reserved bits {word & ~used:#010x}, allowed are the bits of {used:#010x}"
            )
            problems.append(_problem("reserved_bits", where, f"word {n}", given, allowed, says))
    if not problems and unpack(kind, words).get(_BURST) == _UNDEFINED:
        codes = len(kind.bd_fields[_BURST].codes)
        says = f"{_BURST} has code {codes}, allowed are 0..{codes - 1}"
        problems.append(_problem("axi_burst", where, _BURST, f"code {codes}", f"codes 0..{codes - 1}", says))
    return problems


def _other_kinds(count: int) -> str:
    """Tile kinds of whose BDs so many words are."""
    names = [kind.name for kind in TILE_KINDS.values() if kind.bd_words == count]
    return (
        f"A BD of tile kind {' or '.join(names)} has {count} words: --tile, or tile in JSON." if names else ""
    )


def _problem(
    reason: str, where: str, field: str, given: str, allowed: str, says: str, next_step: str = ""
) -> Problem:
    return Problem(
        field, given, allowed, says, next_step, reason=reason, where=where, source="AM025 DMA_BDn_w"
    )
