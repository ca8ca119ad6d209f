"""Read xclbins: sections, of which AIE_PARTITION has the PDIs and IP_LAYOUT the names of the kernels.

The layout is that of XRT's public header ``xclbin.h``. Offsets within AIE_PARTITION count bytes from its
start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from struct import Struct
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from memtile.errors import InputFileError
from memtile.io.binary_files import ByteReader
from memtile.io.program.containers.contents import ContainerProgram, Contents, chosen
from memtile.io.program.containers.pdi import pdi_contents

SOURCE = "XRT's xclbin.h"
MAGIC = b"xclbin2\0"
_LENGTH, _LENGTH_AT = Struct("<Q"), 0x130
_COUNT, _COUNT_AT, _SECTIONS_AT = Struct("<I"), 0x1C0, 0x1C8
_SECTION = Struct("<I16s4xQQ")  # kind, name, offset, size
_KINDS: Mapping[int, str] = MappingProxyType(
    {
        0: "BITSTREAM",
        2: "EMBEDDED_METADATA",
        6: "MEM_TOPOLOGY",
        7: "CONNECTIVITY",
        8: "IP_LAYOUT",
        18: "PDI",
        25: "AIE_METADATA",
        29: "AIE_RESOURCES",
        32: "AIE_PARTITION",
    }
)
_LAYOUT, _PARTITION = 8, 32
_PARTITION_BYTES, _WIDTH_AT, _PDIS_AT = 184, 0x20, 0x78
_WIDTH, _ARRAY = Struct("<H"), Struct("<II")  # count and offset
_PDI = Struct("<16s4I64x")  # UUID; image as size and offset, CDO groups
_GROUP = Struct("<IB3xQ4I64x")  # name, type, PDI id; kernel ids, groups before it
_ID = Struct("<Q")
_IP = Struct("<IHH8x64s")  # type, subtype, kernel id; name
_NAME_BYTES = 64  # of a name at most
_IPS_AT, _PS_KERNEL, _ID_MASK = 8, 7, 0xFFF


_MOST = {"PDIs": 1024, "CDO groups": 64, "kernel ids": 64, "kernels": 1024}  # no tool writes nearly as many


class _Image(NamedTuple):
    """A PDI of an xclbin: what it is called, and where it is in its section."""

    part: ContainerProgram
    at: int
    size: int


def read_xclbin(data: bytes, name: str, kernel: str | None = None, base: int = 0) -> Contents:
    """The program of one PDI of an xclbin.

    Args:
        data: all bytes of the file.
        name: of the file, for messages.
        kernel: which one, by the name of a kernel or CDO group, a kernel id, or the PDI's UUID; None where
            there is one only.
        base: address of the array in the PDI's address space.

    Raises:
        InputFileError: a file that is cut or damaged, without a PDI, or with several and none named; names
            the byte offset.
    """
    file = ByteReader(data, name, whole="xclbin")
    (length,) = file.unpack(_LENGTH, _LENGTH_AT, "header")
    if length > len(data):
        says = f"the header says a length of {length} bytes, the file has {len(data)}"
        given, allowed = f"{length} bytes", f"{len(data)}, the length of the file, or fewer"
        raise file.error("size", _LENGTH_AT, "length", given, allowed, SOURCE, says)
    sections = _sections(file)
    kernels = dict(_kernels(sections[_LAYOUT])) if _LAYOUT in sections else {}
    found = list(_images(sections[_PARTITION], kernels)) if _PARTITION in sections else []
    if not found:
        raise _without_pdi(file, list(sections))
    number = chosen([image.part for image in found], kernel, name, SOURCE)
    part, at, size = found[number]
    section = sections[_PARTITION]
    (columns,) = _WIDTH.unpack_from(section.data, _WIDTH_AT)
    of = f"PDI {number + 1} of {len(found)}, " if len(found) > 1 else ""
    title = f"xclbin, {of}kernel {part.text}, {columns} column{'' if columns == 1 else 's'} wide"
    operations, notes = pdi_contents(section.part(at, size, "PDI", SOURCE), base)
    return Contents(title, operations, notes=notes, kernels=part.all_names)


def _sections(file: ByteReader) -> dict[int, ByteReader]:
    """The bytes of the first section of each kind that has any."""
    (count,) = file.unpack(_COUNT, _COUNT_AT, "header")
    table = file.part(_SECTIONS_AT, count * _SECTION.size, "table of sections", SOURCE)
    found: dict[int, ByteReader] = {}
    for number in range(count):
        kind, _, offset, size = _SECTION.unpack_from(table.data, number * _SECTION.size)
        if not size:
            continue
        what = f"section {_KINDS.get(kind, f'of kind {kind}')}"
        if kind == _PARTITION and kind in found:
            at, allowed = _SECTIONS_AT + number * _SECTION.size, "one section of this kind"
            raise file.error("section", at, "section", f"a second {what}", allowed, SOURCE)
        file.check_part(offset, size, what, SOURCE)
        if kind not in found:
            wanted = kind in (_LAYOUT, _PARTITION)
            found[kind] = file.part(offset, size if wanted else 0, what, SOURCE)
    return found


def _kernels(section: ByteReader) -> Iterator[tuple[int, str]]:
    """Id and name, as ``kernel:instance``, of each kernel."""
    (count,) = section.unpack(_COUNT, 0, "section IP_LAYOUT")
    table = _table(section, _IPS_AT, count, _IP, "kernels")
    for number in range(count):
        ip_type, _, identity, text = _IP.unpack_from(table.data, number * _IP.size)
        if ip_type == _PS_KERNEL:
            yield identity & _ID_MASK, _text(text)


def _table(section: ByteReader, at: int, count: int, layout: Struct, what: str) -> ByteReader:
    """A table of a section, of no more rows than make sense."""
    if count > _MOST[what]:
        raise section.error("count", at, f"number of {what}", str(count), f"up to {_MOST[what]}", SOURCE)
    return section.part(at, count * layout.size, f"table of {what}", SOURCE)


def _images(section: ByteReader, kernels: Mapping[int, str]) -> Iterator[_Image]:
    """The PDIs of an AIE_PARTITION section."""
    section.need(0, _PARTITION_BYTES, "section AIE_PARTITION")
    count, at = _ARRAY.unpack_from(section.data, _PDIS_AT)
    table = _table(section, at, count, _PDI, "PDIs")
    for number in range(count):
        uuid, size, offset, groups, groups_at = _PDI.unpack_from(table.data, number * _PDI.size)
        names, numbers = _groups(section, groups, groups_at)
        called = [kernels[each] for each in numbers if each in kernels]
        plain = [each.partition(":")[0] for each in called]
        every = dict.fromkeys([*plain, *called, *names, str(UUID(bytes=uuid))])
        section.check_part(offset, size, "PDI", SOURCE)
        yield _Image(ContainerProgram(tuple(every), numbers), offset, size)


def _groups(section: ByteReader, count: int, at: int) -> tuple[list[str], tuple[int, ...]]:
    """The names of the CDO groups of a PDI, and the ids of the kernels that run with it."""
    table = _table(section, at, count, _GROUP, "CDO groups")
    names: list[str] = []
    numbers: list[int] = []
    for number in range(count):
        name_at, _, _, ids, ids_at, *_ = _GROUP.unpack_from(table.data, number * _GROUP.size)
        identities = _table(section, ids_at, ids, _ID, "kernel ids")
        numbers += (each for (each,) in _ID.iter_unpack(identities.data))
        section.check_part(name_at, 1, "name of a CDO group", SOURCE)
        names.append(_text(section.data[name_at : name_at + _NAME_BYTES]))
    return [name for name in names if name], tuple(dict.fromkeys(numbers))


def _text(data: bytes) -> str:
    """A text that ends with a zero."""
    return data.partition(b"\0")[0].decode("ascii", "backslashreplace")


def _without_pdi(file: ByteReader, kinds: list[int]) -> InputFileError:
    found = ", ".join(_KINDS.get(kind, f"kind {kind}") for kind in kinds) or "none"
    says = f"the xclbin has no PDI for an array; its sections are {found}"
    return file.error("pdi", _COUNT_AT, "sections", found, "one AIE_PARTITION with a PDI", SOURCE, says)
