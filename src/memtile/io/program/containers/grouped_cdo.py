"""Read the form of a CDO that loads faster, of AMD's released xclbins: commands in groups, then data.

Commands of one kind that follow each other are a group: number, count, then their words. A DMA write has the
place of its words in the data behind all groups. XRT's ``aie-pdi-transform`` makes this form and marks it in
the partition header; up to 2025 it cut as many bytes off the end as the header of a CDO has, so that the last
write of nearly all released files lacks its last words.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError, raise_if
from memtile.io.binary_files import ByteReader
from memtile.io.program.cdo import HEADER, header_of, operation_of
from memtile.runs.operations import Operation

SOURCE = "XRT's transformed PDIs"
_MARK_AT = 0x70  # in the partition header
_MARK = Struct("<III")  # form, bytes of groups, check word
_GROUPED = 1
_CHECK = int.from_bytes(b"\x66\x88", "little")
_HALF, _HALF_MASK, _BYTE_MASK = 16, 0xFFFF, 0xFF
_GROUP = Struct("<II")  # number of the command, how many
_PLAIN = {number: Struct(f"<{words}I") for number, words in ((2, 3), (3, 2), (7, 4), (8, 3))}
_DMA, _DMA_WRITE = 5, Struct("<4I")  # high and low address; byte of the data, words
_API = 0x100  # what the commands of a CDO file have beside their number


def zone_bytes(header: ByteReader) -> int | None:
    """How many bytes of groups a partition has; None if its CDO is not in this form.

    Args:
        header: the partition header, with all of its bytes.
    """
    form, size, check = _MARK.unpack_from(header.data, _MARK_AT)
    swapped = (form & _BYTE_MASK) << 8 | form >> 8 | (size & _HALF_MASK) << _HALF | size >> _HALF
    return size if form == _GROUPED and check == _CHECK | swapped else None


def grouped_operations(file: ByteReader, zone: int, base: int = 0) -> tuple[list[Operation], list[str]]:
    """The operations of a CDO in this form, and a note on what the file lacks of them.

    Args:
        file: from the header of the CDO to the end of the PDI.
        zone: bytes of groups.
        base: address of the array in the address space of the CDO.

    Raises:
        InputFileError: a wrong header, an unknown command, or groups and data that are not all there.
    """
    raise_if(header_of(file)[1], InputFileError)  # its length is that of the CDO as it was
    groups = file.part(HEADER.size, zone, "commands", SOURCE)
    data = file.part(HEADER.size + zone, len(file.data) - HEADER.size - zone, "data", SOURCE)
    notes: list[str] = []
    return list(_operations(groups, data, base, notes)), notes


def _operations(groups: ByteReader, data: ByteReader, base: int, notes: list[str]) -> Iterator[Operation]:
    at, room = 0, len(data.data) + HEADER.size
    while at < len(groups.data):
        number, count = groups.unpack(_GROUP, at, "group")
        layout = _DMA_WRITE if number == _DMA else _PLAIN.get(number)
        if layout is None:
            known = f"one of {', '.join(map(str, sorted([*_PLAIN, _DMA])))}"
            raise groups.error("command", at, "command", str(number), known, SOURCE)
        at += _GROUP.size
        groups.need(at, count * layout.size, "group")
        for _ in range(count):
            words = layout.unpack_from(groups.data, at)
            if number == _DMA:
                asked = words[3] & _HALF_MASK
                words = (*words[:2], *_data(data, words[2], asked))
                room -= asked * WORD_BYTES
                if room < 0:
                    says = "the DMA writes up to this one have more words than there are data"
                    raise groups.error("data", at, "words", str(asked), "words of its own", SOURCE, says)
                if len(words) - 2 < asked:
                    notes.append(_cut(groups.place(at), len(words) - 2, asked))
            yield operation_of(groups, at, _API | number, words, base)
            at += layout.size


def _data(data: ByteReader, at: int, words: int) -> tuple[int, ...]:
    """The words of a DMA write; of one that is cut at the end of the file those that are there."""
    left = len(data.data) - at
    missing = words * WORD_BYTES - left
    if 0 < missing <= HEADER.size and left >= WORD_BYTES:
        words = left // WORD_BYTES
    found = data.part(at, words * WORD_BYTES, "data of a DMA write", SOURCE)
    return Struct(f"<{words}I").unpack(found.data)


def _cut(place: str, there: int, words: int) -> str:
    return (
        f"{place}: {words - there} of {words} words of this DMA write are not in the file and are left out; "
        f"XRT's tool cut {HEADER.size} bytes off ({SOURCE})"
    )
