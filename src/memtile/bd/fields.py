"""User terms <-> AM025 fields: the one place that says which attribute of a descriptor fills which field.

Values are logical ones (steps, wraps, bytes of a burst); how they become bits is the business of
``arch.bd_layout``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from memtile.arch.tiles import MAX_DIMENSIONS, TileKind
from memtile.bd.descriptor import (
    DEFAULT_AXI,
    Acquire,
    Axi,
    Descriptor,
    Dim,
    Iteration,
    Packet,
    Pad,
    Release,
)
from memtile.bd.windows import DmaAddress, DmaLock


@dataclass(frozen=True, slots=True)
class Term:
    """How users speak of a field.

    Attributes:
        name: the attribute of ``Descriptor``, e.g. ``"iteration.step"``.
        reason: reason code of its problems, e.g. ``"iteration_step"``.
        unit: unit of the value; empty for plain numbers and flags.
    """

    name: str
    reason: str
    unit: str = ""


_ALWAYS = {
    "Buffer_Length": Term("length", "length", "words"),
    "Base_Address": Term("address", "address", "words"),
    "Iteration_Stepsize": Term("iteration.step", "iteration_step", "words"),
    "Iteration_Wrap": Term("iteration.wrap", "iteration_wrap"),
    "Iteration_Current": Term("iteration.current", "iteration_current"),
    "Lock_Acq_ID": Term("acquire.id", "acquire_id"),
    "Lock_Acq_Value": Term("acquire.value", "acquire_value"),
    "Lock_Acq_Enable": Term("acquire.enable", "acquire_enable"),
    "Lock_Rel_ID": Term("release.id", "release_id"),
    "Lock_Rel_Value": Term("release.value", "release_value"),
    "Out_Of_Order_BD_ID": Term("ooo_id", "ooo_id"),
    "Enable_Compression": Term("compression", "compression"),
    "TLAST_Suppress": Term("tlast_suppress", "tlast_suppress"),
    "Valid_BD": Term("valid", "valid"),
    "Burst_Length": Term("axi.burst", "axi_burst", "bytes"),
    "AxQoS": Term("axi.qos", "axi_qos"),
    "AxCache": Term("axi.cache", "axi_cache"),
    "SMID": Term("axi.smid", "axi_smid"),
    "Secure_Access": Term("axi.secure", "axi_secure"),
}
_NEXT = {"Next_BD": Term("next", "next_bd")}
_PACKET = {"Packet_ID": Term("packet.id", "packet_id"), "Packet_Type": Term("packet.type", "packet_type")}
_PER_DIMENSION = {
    "Stepsize": ("dims[{}].step", "step_d{}", "words"),
    "Wrap": ("dims[{}].wrap", "wrap_d{}", ""),
    "Zero_Before": ("pad[{}].before", "pad_d{}", ""),
    "Zero_After": ("pad[{}].after", "pad_d{}", ""),
    "Stepsize_Zero": ("dims[{}].step", "step_d{}", "words"),
}

TERMS: Mapping[str, Term] = MappingProxyType(
    _ALWAYS
    | _NEXT
    | _PACKET
    | {
        f"D{n}_{suffix}": Term(name.format(n), reason.format(n), unit)
        for n in range(MAX_DIMENSIONS)
        for suffix, (name, reason, unit) in _PER_DIMENSION.items()
    }
)
"""AM025 field -> term, for all fields but the two enable bits that ``next`` and ``packet`` imply."""
_STILL = "D{}_Stepsize_Zero"  # AIE-ML v2: the last dimension repeats what is below it

_GETTERS = {name: attrgetter(term.name) for name, term in TERMS.items() if "[" not in term.name}


def fields_of(d: Descriptor) -> dict[str, Any]:
    """AM025 field name -> logical value for everything the descriptor says, unchecked.

    Names may go beyond the tile kind's fields, e.g. ``D3_Wrap``, up to ``MAX_DIMENSIONS``.
    """
    values: dict[str, Any] = {name: _GETTERS[name](d) for name in _ALWAYS}
    for n, dim in enumerate(d.dims[:MAX_DIMENSIONS]):
        still = dim.step == 0 and _STILL.format(n) in d.kind.bd_fields
        step = {_STILL.format(n): True} if still else {f"D{n}_Stepsize": dim.step}
        values |= {**step, f"D{n}_Wrap": dim.wrap}
    for n, pad in enumerate(d.pad[:MAX_DIMENSIONS]):
        values |= {f"D{n}_Zero_Before": pad.before, f"D{n}_Zero_After": pad.after}
    if d.next is not None:
        values |= {"Use_Next_BD": True, "Next_BD": d.next}
    if d.packet is not None:
        values |= {"Enable_Packet": True, "Packet_ID": d.packet.id, "Packet_Type": d.packet.type}
    return values


def descriptor_of(kind: TileKind, values: Mapping[str, int]) -> Descriptor:
    """The descriptor that field values describe; inverse of ``fields_of``.

    Args:
        kind: tile kind.
        values: field name -> logical value, for every field of the kind.
    """
    v = {"Enable_Compression": 0, **values}
    return Descriptor(
        tile=kind.name,
        length=v["Buffer_Length"],
        address=DmaAddress(v["Base_Address"]),
        dims=tuple(Dim(_step(v, n), v.get(f"D{n}_Wrap", 0)) for n in range(kind.dimensions)),
        pad=tuple(Pad(v[f"D{n}_Zero_Before"], v[f"D{n}_Zero_After"]) for n in range(padded_dimensions(kind))),
        iteration=Iteration(v["Iteration_Stepsize"], v["Iteration_Wrap"], v["Iteration_Current"]),
        next=v["Next_BD"] if v["Use_Next_BD"] else None,
        acquire=Acquire(DmaLock(v["Lock_Acq_ID"]), v["Lock_Acq_Value"], bool(v["Lock_Acq_Enable"])),
        release=Release(DmaLock(v["Lock_Rel_ID"]), v["Lock_Rel_Value"]),
        packet=Packet(v["Packet_ID"], v["Packet_Type"]) if v["Enable_Packet"] else None,
        ooo_id=v["Out_Of_Order_BD_ID"],
        compression=bool(v["Enable_Compression"]),
        tlast_suppress=bool(v["TLAST_Suppress"]),
        valid=bool(v["Valid_BD"]),
        axi=_axi(v) if has_axi(kind) else DEFAULT_AXI,
    )


def _step(v: Mapping[str, int], dimension: int) -> int:
    return 0 if v.get(_STILL.format(dimension)) else v[f"D{dimension}_Stepsize"]


def _axi(v: Mapping[str, int]) -> Axi:
    smid = v.get("SMID", DEFAULT_AXI.smid)
    return Axi(v["Burst_Length"], v["AxQoS"], v["AxCache"], smid, bool(v["Secure_Access"]))


def has_axi(kind: TileKind) -> bool:
    """Whether BDs of the kind carry AXI properties: the interface tile's do."""
    return "Burst_Length" in kind.bd_fields


def padded_dimensions(kind: TileKind) -> int:
    """How many dimensions of the kind can be padded with zeros, from dimension 0 on."""
    return sum(name.endswith("_Zero_Before") for name in kind.bd_fields)
