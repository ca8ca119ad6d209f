"""Sizes and strides of a transfer as the registers of a BD have them, and what mlir-aie refuses of them.

A rule stands here once, for transfers (AIEDmaToNpu) and tasks (AIEDMATasksToNPU) alike: lists begin with the
innermost dimension and have four entries, of which the last is the iteration. Fields have the names and the
values of ``aiex.npu.writebd``, stored off by one where the registers do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from memtile.arch.tiles import INTERFACE, TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.importers.mlir.forms.operands import OperationForm

GRANULE_BITS = WORD_BYTES * 8
INNER = 3
"""Dimensions of one run of a BD; the one outside of them is its iteration."""
_REASON = "mlir_pattern"
_KEPT = 4096  # BDs: sequences have the same ones again and again

Fields = Mapping[str, int]
"""Attributes of ``aiex.npu.writebd``."""


class Pattern(NamedTuple):
    """An access pattern, innermost dimension first.

    Attributes:
        sizes: elements, or repetitions of the dimensions inside.
        strides: in elements.
        offset: first element.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def length(self) -> int:
        """Elements of one run."""
        return prod(self.sizes[:INNER])


def pattern_of(sizes: Sequence[int], strides: Sequence[int], offset: int = 0) -> Pattern:
    """The pattern of lists that begin with the outermost dimension; sizes that are not there are 1."""
    missing = INNER + 1 - len(sizes)
    return Pattern((*reversed(sizes), *[1] * missing), (*reversed(strides), *[0] * missing), offset)


def is_contiguous(pattern: Pattern) -> bool:
    """Whether one run goes through memory in order (mlir-aie, isContiguousTransfer)."""
    (inner, one, two, _), strides = pattern.sizes, pattern.strides
    ordered = one <= 1 or strides[1] == inner
    return strides[0] == 1 and ordered and (two <= 1 or strides[2] == inner * one)


def is_linear(kind: TileKind, pattern: Pattern) -> bool:
    """Whether the BD needs no dimensions, so that only its length is limited."""
    (_, one, two, _), strides = pattern.sizes, pattern.strides
    plain = one == two == 1 and strides[:INNER] == (1, 0, 0)
    return plain or (kind.role == "interface" and is_contiguous(pattern))


def hardware(bits: int, pattern: Pattern) -> tuple[list[int], list[int]]:
    """Sizes and strides as the registers store them (mlir-aie, encodeHardwareStridesWraps).

    Args:
        bits: of an element.
        pattern: in elements.
    """

    def biased(stride: int) -> int:
        return stride * bits // GRANULE_BITS - 1

    inner, *outer = pattern.sizes
    wide = bits > GRANULE_BITS or pattern.strides[0] * bits < GRANULE_BITS
    sizes = [inner * bits // GRANULE_BITS, *outer[:2], max(outer[2] - 1, 0)]
    strides = [0 if wide else biased(pattern.strides[0])]
    for number, (size, stride) in enumerate(zip(outer, pattern.strides[1:], strict=True), 1):
        repeats = number == INNER and stride <= 0
        strides.append(biased(stride) if size > 1 and not repeats else 0)
    return sizes, strides


def pattern_fault(kind: TileKind, bits: int, pattern: Pattern, *, linear: bool) -> str:
    """What mlir-aie refuses of a pattern (verifyStridesWraps); empty if it is good.

    Args:
        kind: of the tile that has the BD.
        bits: of an element.
        pattern: in elements.
        linear: whether the BD has no dimensions.
    """
    return _unsteppable(bits, pattern) or _oversized(kind, *hardware(bits, pattern), linear=linear)


def _unsteppable(bits: int, pattern: Pattern) -> str:
    for number, (size, stride) in enumerate(zip(*pattern[:2], strict=True)):
        least = 0 if number == INNER else 1
        if size <= 0:
            return f"size {number} is {size}; it must be 1 or more"
        if size > 1 and stride < least:
            return f"stride {number} is {stride}; it must be {least} or more"
        if not (number == 0 and stride == 1) and stride * bits % GRANULE_BITS:
            return f"stride {number} is {stride} elements of {bits} bits, which are no whole 32-bit words"
    if pattern.sizes[0] * bits % GRANULE_BITS:
        return f"size 0 is {pattern.sizes[0]} elements of {bits} bits, which are no whole 32-bit words"
    return ""


def _oversized(kind: TileKind, sizes: Sequence[int], strides: Sequence[int], *, linear: bool) -> str:
    fields = kind.bd_fields
    wrap, runs = (1 << fields["D0_Wrap"].bits) - 1, 1 << fields["Iteration_Wrap"].bits
    step = 1 << fields["D0_Stepsize"].bits
    for number in () if linear else (0, 1):
        if sizes[number] > wrap:
            return f"size {number} is {sizes[number]} in the BD, which has 0..{wrap} there"
    if sizes[INNER] > runs - (strides[INNER] > 0):
        return f"size {INNER} is {sizes[INNER]} in the BD, which has 1..{runs} there"
    for number, stride in enumerate(strides):
        if stride > step and (number < INNER or sizes[INNER]):
            return f"stride {number} is {stride} words in the BD, which has 1..{step} there"
    return ""


def checked(
    form: OperationForm, kind: TileKind, bits: int, pattern: Pattern, *, linear: bool
) -> dict[str, int]:
    """The fields of a pattern that mlir-aie accepts.

    Args:
        form: of the operation that says it.
        kind: of the tile that has the BD.
        bits: of an element.
        pattern: in elements.
        linear: whether the BD has no dimensions; see ``is_linear``.

    Raises:
        InputFileError: sizes or strides that the BD does not have.
    """
    fault, fields = _lowered(kind.name, bits, pattern._replace(offset=0), linear)
    if fault:
        step = "Split the transfer, or choose sizes with smaller factors."
        raise form.error(fault, "what mlir-aie lowers", reason=_REASON, step=step)
    return {**fields}


@lru_cache(maxsize=_KEPT)
def _lowered(tile: TileName, bits: int, pattern: Pattern, linear: bool) -> tuple[str, Fields]:
    """What is refused of a pattern, and its fields if nothing is."""
    fault = pattern_fault(TILE_KINDS[tile], bits, pattern, linear=linear)
    if fault:
        return fault, {}
    sizes, strides = hardware(bits, pattern)
    fields = {} if linear else {"d0_size": sizes[0], "d0_stride": strides[0], "d1_size": sizes[1]}
    if not linear:
        fields |= {"d1_stride": strides[1], "d2_stride": strides[2]}
    if pattern.sizes[INNER] > 1 and pattern.strides[INNER] > 0:
        fields |= {"iteration_size": sizes[INNER], "iteration_stride": strides[INNER]}
    return "", fields


def header_fields(packet: tuple[int, int]) -> dict[str, int]:
    """The fields of a packet's header, type and id."""
    return {"enable_packet": 1, "packet_type": packet[0], "packet_id": packet[1]}


def old_fields(bits: int, pattern: Pattern) -> dict[str, int]:
    """The fields of a transfer of mlir-aie until July 2024: a stride of 0 leaves the size inside it out.

    Args:
        bits: of an element.
        pattern: in elements; the innermost stride is 1.
    """
    inner, outer = pattern.sizes[0] * bits // GRANULE_BITS, pattern.sizes[1]
    one, two, three = (stride * bits // GRANULE_BITS for stride in pattern.strides[1:])
    fields = {"d0_size": inner, "d1_stride": one - 1} if one else {}
    fields |= {"d1_size": outer, "d2_stride": two - 1} if two else {}
    return fields | ({"iteration_size": pattern.sizes[3] - 1, "iteration_stride": three - 1} if three else {})


def length_fields(form: OperationForm, kind: TileKind, count: int) -> dict[str, int]:
    """The fields of a BD that moves so many bytes.

    Raises:
        InputFileError: no whole words, none, or more than a BD holds.
    """
    most = kind.bd_fields["Buffer_Length"].maximum
    words, rest = divmod(count, WORD_BYTES)
    if rest or not 1 <= words <= most:
        says = f"it moves {count} bytes; a BD of a {kind.title} moves 1..{most} words of {WORD_BYTES} bytes"
        raise form.error(says, f"1..{most} words (Buffer_Length)", reason="mlir_words")
    return {"buffer_length": words, "valid_bd": 1}


def bd_words(form: OperationForm, kind: TileKind, given: Fields, cache: int) -> list[int]:
    """The words of a BD with fields as ``aiex.npu.writebd`` has them (mlir-aie, WriteBdToBlockWritePattern).

    Args:
        form: of the operation that writes it.
        kind: of the tile.
        given: fields by name; those that are not there are 0.
        cache: AxCache of interface tiles.

    Raises:
        InputFileError: fields that the verifier of ``aiex.npu.writebd`` refuses.
    """
    _verify(form, kind, given)
    return list(_packed(kind.name, tuple(given.items()), cache))


@lru_cache(maxsize=_KEPT)
def _packed(tile: TileName, fields: tuple[tuple[str, int], ...], cache: int) -> tuple[int, ...]:
    """The words of a BD with fields that fit."""
    kind, given = TILE_KINDS[tile], dict(fields)
    offset, words = given.get("buffer_offset", 0), [0] * kind.bd_words
    raw = {field: given.get(name, 0) for name, field in _FIELDS.items()}
    raw["Base_Address"] = offset if kind.role == "memory" else offset // WORD_BYTES
    if kind.role == "interface":
        codes = kind.bd_fields["Burst_Length"].codes
        raw |= {
            "AxCache": given.get("axcache", cache),
            "Burst_Length": codes.index(given.get("burst_length", 0) or max(codes)),
        }
    for name in raw.keys() & kind.bd_fields.keys():
        value = raw[name]
        for word, msb, lsb in kind.bd_fields[name].parts:
            bits = msb - lsb + 1
            words[word] |= (value & ((1 << bits) - 1)) << lsb
            value >>= bits
    return tuple(words)


def _verify(form: OperationForm, kind: TileKind, given: Fields) -> None:
    inner, outer, iterations = (given.get(name, 0) for name in ("d0_size", "d1_size", "iteration_size"))
    linear = inner >= 1 and outer == 1 and not iterations
    for name, most in _MOST.items():
        limit = _step_limit(kind) if name == "iteration_stride" else most
        if given.get(name, 0) > limit and not (name == "d0_size" and linear):
            says = f"its {name} is {given[name]}; it must be 0..{limit}"
            raise form.error(says, f"0..{limit}", reason=_REASON, given=str(given[name]))
    padded = [name for name in given if "_zero_" in name and given[name]]
    if kind.role == "interface" and (padded or given.get("d2_size", 0)):
        says = f"its {padded[0] if padded else 'd2_size'} is not 0; BDs of an {kind.title} have no such field"
        raise form.error(says, "0", reason=_REASON)
    burst = given.get("burst_length", 0)
    codes = kind.bd_fields["Burst_Length"].codes if kind.role == "interface" else ()
    if burst and burst not in codes:
        allowed = ", ".join(map(str, (0, *codes)))
        says = f"its burst_length is {burst}; a BD of the {kind.title} has {allowed}"
        raise form.error(says, allowed, reason=_REASON, given=str(burst))


def _step_limit(kind: TileKind) -> int:
    return (1 << kind.bd_fields["Iteration_Stepsize"].bits) - 1


_FIELDS: Mapping[str, str] = {
    "buffer_length": "Buffer_Length",
    "enable_packet": "Enable_Packet",
    "packet_type": "Packet_Type",
    "packet_id": "Packet_ID",
    "out_of_order_id": "Out_Of_Order_BD_ID",
    "d0_size": "D0_Wrap",
    "d1_size": "D1_Wrap",
    "d0_stride": "D0_Stepsize",
    "d1_stride": "D1_Stepsize",
    "d2_stride": "D2_Stepsize",
    "d0_zero_before": "D0_Zero_Before",
    "d1_zero_before": "D1_Zero_Before",
    "d2_zero_before": "D2_Zero_Before",
    "d0_zero_after": "D0_Zero_After",
    "d1_zero_after": "D1_Zero_After",
    "d2_zero_after": "D2_Zero_After",
    "iteration_current": "Iteration_Current",
    "iteration_size": "Iteration_Wrap",
    "iteration_stride": "Iteration_Stepsize",
    "next_bd": "Next_BD",
    "use_next_bd": "Use_Next_BD",
    "valid_bd": "Valid_BD",
    "lock_rel_val": "Lock_Rel_Value",
    "lock_rel_id": "Lock_Rel_ID",
    "lock_acq_enable": "Lock_Acq_Enable",
    "lock_acq_val": "Lock_Acq_Value",
    "lock_acq_id": "Lock_Acq_ID",
}
"""Fields of the registers; D2_Wrap is not among them: mlir-aie does not write it (``d2_size``)."""
_MOST: Fields = {
    name: (1 << INTERFACE.bd_fields[_FIELDS.get(name, "AxCache")].bits) - 1
    for name in (
        "packet_id",
        "packet_type",
        "axcache",
        "d0_size",
        "d0_stride",
        "d1_size",
        "d1_stride",
        "d2_stride",
        "iteration_size",
        "iteration_stride",
    )
}
"""What the verifier of ``aiex.npu.writebd`` allows: fields of interface tiles, whatever the tile."""
