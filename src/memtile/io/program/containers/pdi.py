"""Read PDIs (programmable device images): a table, image headers, partition headers, and CDOs in partitions.

The layout is that of bootgen's Versal images without boot header (``imageheadertable-versal.h``,
``partitionheadertable-versal.h``). Offsets in it count words from the start of the PDI.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError, Problem
from memtile.io.binary_files import ByteReader
from memtile.io.program.cdo import cdo_operations
from memtile.io.program.containers.grouped_cdo import grouped_operations, zone_bytes
from memtile.runs.operation_table import joined
from memtile.runs.operations import WORD_MAX, Operation

SOURCE = "bootgen's Versal image headers"
MAGIC = bytes.fromhex("dd00000044332211 88776655ccbbaa99")
_TABLE_AT = len(MAGIC)
_HEADER_BYTES = 128  # of the table and of each partition header; the last word is its checksum
_TABLE = Struct("<5I")  # version, images, first image header, partitions, first partition header
_MARK, _MARK_AT = b"IDPP", 0x28
_PARTITION = Struct("<4I16xII28xI")  # encrypted, plain and total length, next; data, attributes; encryption
_DATA_AT, _TYPE_AT, _KEY_AT, _CHECKSUM_AT = 0x20, 0x24, 0x44, 0x7C
_TYPE_SHIFT, _TYPE_BITS, _CDO = 24, 7, 2
_TYPES = {1: "an ELF file", 3: "configuration frames", 4: "raw data"}
_MOST = 32  # partitions that a PDI can have
_WORDS = Struct(f"<{_HEADER_BYTES // WORD_BYTES}I")


class PdiContents(NamedTuple):
    """What a PDI has in it: operations in order, and notes on what the file lacks of them."""

    operations: Sequence[Operation]
    notes: tuple[str, ...]


def pdi_contents(file: ByteReader, base: int = 0) -> PdiContents:
    """The operations of all CDOs of a PDI, in the order of its partitions.

    Args:
        file: the PDI, whole.
        base: address of the array in the PDI's address space.

    Raises:
        InputFileError: it is no such PDI, it is cut or damaged, or a partition is encrypted or no CDO; names
            the byte offset.
    """
    table = file.part(_TABLE_AT, _HEADER_BYTES, "image header table", SOURCE)
    _, _, _, partitions, first = table.unpack(_TABLE, 0, "image header table")
    mark = table.data[_MARK_AT : _MARK_AT + len(_MARK)]
    if mark != _MARK:
        raise InputFileError(_no_table(file, mark))
    _check_sum(table)
    if partitions > _MOST:
        raise table.error("partitions", 0x0C, "partitions", str(partitions), f"up to {_MOST}", SOURCE)
    operations: list[Sequence[Operation]] = []
    notes: list[str] = []
    at, seen = first * WORD_BYTES, set[int]()
    for number in range(partitions):
        if at in seen:
            says = f"partition {number} of {partitions} has the header of one before it, at byte {at:#x}"
            raise file.error("partition", at, "partition header", hex(at), "a place of its own", SOURCE, says)
        seen.add(at)
        found, said, at = _partition(file, at, base)
        operations.append(found)
        notes += said
    return PdiContents(joined(operations), tuple(notes))


def _partition(file: ByteReader, at: int, base: int) -> tuple[Sequence[Operation], Sequence[str], int]:
    """Operations and notes of the partition whose header is at byte ``at``, and where the next header is."""
    header = file.part(at, _HEADER_BYTES, "partition header", SOURCE)
    _, plain, _, following, data_at, attributes, key = header.unpack(_PARTITION, 0, "partition header")
    zone = zone_bytes(header)
    if zone is None:
        _check_sum(header)
    if key:
        says = "the partition is encrypted"
        raise header.error("encrypted", _KEY_AT, "key", hex(key), "0, not encrypted", SOURCE, says)
    kind = attributes >> _TYPE_SHIFT & _TYPE_BITS
    if kind != _CDO:
        given = _TYPES.get(kind, "of a kind that is not known")
        says = f"the partition is {given} (type {kind}); a program is a CDO (type {_CDO})"
        raise header.error("partition_type", _TYPE_AT, "type", str(kind), str(_CDO), SOURCE, says)
    start = data_at * WORD_BYTES
    if zone is not None:
        body = file.part(start, len(file.data) - start, "partition", SOURCE)
        return *grouped_operations(body, zone, base), following * WORD_BYTES
    cdo = file.part(start, plain * WORD_BYTES, "partition", SOURCE)
    return cdo_operations(cdo, base), (), following * WORD_BYTES


def _check_sum(header: ByteReader) -> None:
    """Check that the last word of a header is the complement of the sum of the others."""
    *words, given = _WORDS.unpack(header.data)
    expected = ~sum(words) & WORD_MAX
    if given != expected:
        what = f"checksum of the {header.whole}"
        raise header.error("checksum", _CHECKSUM_AT, what, f"{given:#x}", f"{expected:#x}", SOURCE)


def _no_table(file: ByteReader, mark: bytes) -> Problem:
    """The PDI begins otherwise: a boot image of a whole device, or damaged."""
    boot = file.data[_TABLE_AT + WORD_BYTES :][:WORD_BYTES] == b"XNLX"
    is_it = "is the boot image of a whole device" if boot else f"has {mark!r} where {_MARK!r} must be"
    return Problem(
        "identification",
        repr(mark),
        repr(_MARK),
        f"the PDI {is_it}",
        "Give the PDI of one design, as aiecc writes it." if boot else "",
        reason="identification",
        where=file.place(_TABLE_AT + _MARK_AT),
        source=SOURCE,
    )
