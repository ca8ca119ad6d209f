"""PDIs, xclbins and ELF files of control code, written from published layouts and not from the readers.

Sources: bootgen's ``imageheadertable-versal.h`` and ``partitionheadertable-versal.h``, XRT's ``xclbin.h`` and
``aie-pdi-transform``, the ELF specification, and what aiebu 1.0 writes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memtile.programs import BlockWrite, MaskWrite, Operation, Write
from support.formats.programs import cdo_of

MASK = 0xFFFF_FFFF


def summed(words: Sequence[int]) -> bytes:
    """31 words and their checksum."""
    assert len(words) == 31
    return struct.pack("<32I", *words, ~sum(words) & MASK)


def placed(numbers: dict[int, int]) -> list[int]:
    """31 words, 0 but for those at the byte offsets given."""
    words = [0] * 31
    for at, number in numbers.items():
        words[at // 4] = number
    return words


def pdi_around(body: bytes, *, plain: int | None = None, kind: int = 2, form: tuple[int, ...] = ()) -> bytes:
    """A PDI with one partition: 0x150 bytes of headers, then ``body``."""
    sync = bytes.fromhex("dd000000 44332211 88776655 ccbbaa99")
    table = summed(
        placed(
            {0: 0x40000, 4: 1, 8: 0x24, 12: 1, 16: 0x34, 24: 0x14CA8093, 0x28: 0x50504449, 0x2C: 0x00201020}
        )
    )
    image = struct.pack("<4I16s7I", 0x34, 1, 0, 0, b"aie_image", 0x1C000000, *[0] * 6)
    image += struct.pack("<I", ~sum(struct.unpack("<15I", image)) & MASK)
    length = (len(body) if plain is None else plain) // 4
    partition = placed({0: length, 4: length, 8: length, 0x20: 0x54, 0x24: kind << 24 | 6, 0x28: 1})
    for index, number in enumerate(form):
        partition[0x70 // 4 + index] = number
    made = sync + table + image + summed(partition) + body
    assert made.find(body) == 0x150
    return made


def pdi_of(operations: Sequence[Operation]) -> bytes:
    """A PDI with the CDO of ``operations``."""
    return pdi_around(cdo_of(operations))


def grouped_pdi_of(operations: Sequence[Operation], cut: int = 0) -> bytes:
    """The same as XRT's tool transforms it: groups of commands, then data; ``cut`` bytes off its end."""
    groups: list[tuple[int, list[list[int]]]] = []
    data = b""
    for operation in operations:
        match operation:
            case Write(address, value):
                number, words = 8, [*divmod(address, 1 << 32), value]
            case MaskWrite(address, mask, value):
                number, words = 7, [*divmod(address, 1 << 32), mask, value]
            case BlockWrite(address, block):
                number, words = 5, [*divmod(address, 1 << 32), len(data), len(block)]
                data += struct.pack(f"<{len(block)}I", *block)
            case _:
                raise AssertionError(operation)
        if not groups or groups[-1][0] != number:
            groups.append((number, []))
        groups[-1][1].append(words)
    zone = b"".join(
        struct.pack("<2I", number, len(group)) + b"".join(struct.pack(f"<{len(w)}I", *w) for w in group)
        for number, group in groups
    )
    check = 0x8866 | 0x100 | (len(zone) & 0xFFFF) << 16 | len(zone) >> 16
    body = cdo_of(operations)[:20] + zone + data
    return pdi_around(body[: len(body) - cut], form=(1, len(zone), check))


@dataclass
class Image:
    """A PDI for an xclbin, the kernels that run with it by id, and the name of its CDO group."""

    pdi: bytes
    kernels: dict[int, str] = field(default_factory=lambda: {0x901: "MLIR_AIE:MLIRAIE"})
    group: str = "DPU"
    uuid: UUID = field(default_factory=lambda: UUID(int=1))


def partition_of(images: Sequence[Image], columns: int = 1) -> bytes:
    """An AIE_PARTITION section."""
    tables = 184 + 96 * len(images)
    made, rest = b"", b""

    def put(data: bytes) -> int:
        nonlocal rest
        at = tables + len(rest)
        rest += data + bytes(-len(data) % 8)
        return at

    start = put(struct.pack("<H", 0))
    for image in images:
        name = put(image.group.encode() + b"\0")
        ids = put(struct.pack(f"<{len(image.kernels)}Q", *image.kernels))
        group = put(struct.pack("<IB3xQ4I64x", name, 1, 1, len(image.kernels), ids, 0, 0))
        made += struct.pack("<16s4I64x", image.uuid.bytes, len(image.pdi), put(image.pdi), 1, group)
    info = struct.pack("<H6x2I72x", columns, 1, start)
    head = struct.pack("<B3xII4xQQ", 0, 0, 2048, 0, 0) + info + struct.pack("<2I", len(images), 184)
    return head + bytes(184 - len(head)) + made + rest


def xclbin_of(images: Sequence[Image], columns: int = 1) -> bytes:
    """An xclbin with MEM_TOPOLOGY, AIE_PARTITION and IP_LAYOUT."""
    kernels = [pair for image in images for pair in image.kernels.items()]
    layout = struct.pack("<I4x", len(kernels)) + b"".join(
        struct.pack("<IHHQ64s", 7, 1, number, (1 << 64) - 1, name.encode()) for number, name in kernels
    )
    sections = [(6, bytes(88)), (32, partition_of(images, columns)), (8, layout)]
    at = 0x1C8 + 40 * len(sections)
    table, bodies = b"", b""
    for kind, body in sections:
        table += struct.pack("<I16s4xQQ", kind, b"", at + len(bodies), len(body))
        bodies += body + bytes(-len(body) % 8)
    head = b"xclbin2\0" + struct.pack("<i", -1) + b"\xff" * 28 + bytes(256) + struct.pack("<Q", 0)
    length = at + len(bodies)
    head += struct.pack(
        "<QQQHBBHH16s64s16s16sI4x", length, 0, 0, 0, 2, 0, 0, 0, b"", b"", b"", b"", len(sections)
    )
    assert len(head) == 0x1C8
    return head + table + bodies


@dataclass
class Part:
    """A section of an ELF file."""

    name: str
    kind: int
    body: bytes
    link: int = 0
    info: int = 0


@dataclass
class Code:
    """An instance of a kernel in an ELF file of control code."""

    kernel: str
    instance: str
    text: bytes
    packets: bytes = b""


class Elf:
    """Collects sections and writes them as an ELF file of 32 or 64 bits."""

    def __init__(self, bits: int = 32, system: int = 0x45, version: int = 0x10, machine: int = 1) -> None:
        self.bits, self.ident, self.machine = bits, (system, version), machine
        self.parts = [Part("", 0, b""), Part(".shstrtab", 3, b"")]

    def add(self, part: Part) -> int:
        """Put a section at the end; its number."""
        self.parts.append(part)
        return len(self.parts) - 1

    def symbols(self, name: str, kind: int, rows: Sequence[tuple[str, int, int, int]]) -> int:
        """A table of symbols (name, size, type, section) and its texts; the number of the table."""
        texts, made = b"\0", bytes(16 if self.bits == 32 else 24)
        for text, size, sort, section in rows:
            at = len(texts)
            texts += text.encode() + b"\0"
            if self.bits == 32:
                made += struct.pack("<IIIBBH", at, 0, size, 0x20 | sort, 0, section)
            else:
                made += struct.pack("<IBBHQQ", at, 0x20 | sort, 0, section, 0, size)
        link = self.add(Part(f"{name}str", 3, texts))
        return self.add(Part(name, kind, made, link))

    def relocations(self, link: int, rows: Sequence[tuple[int, int, int, int]]) -> int:
        """Relocations (place, symbol, type, addend)."""
        form, shift = ("<IIi", 8) if self.bits == 32 else ("<QQq", 32)
        body = b"".join(struct.pack(form, at, symbol << shift | sort, add) for at, symbol, sort, add in rows)
        return self.add(Part(".rela.dyn", 4, body, link))

    def bytes(self) -> bytes:
        """The file."""
        texts = b""
        starts = []
        for part in self.parts:
            starts.append(len(texts))
            texts += part.name.encode() + b"\0"
        self.parts[1].body = texts
        head = 52 if self.bits == 32 else 64
        size = 40 if self.bits == 32 else 64
        bodies, table = b"", b""
        for part, name in zip(self.parts, starts, strict=True):
            at = head + len(bodies)
            form = "<10I" if self.bits == 32 else "<IIQQQQIIQQ"
            table += struct.pack(form, name, part.kind, 0, 0, at, len(part.body), part.link, part.info, 16, 0)
            bodies += part.body + bytes(-len(part.body) % 16)
        ident = b"\x7fELF" + struct.pack("<BBBBB7x", 1 if self.bits == 32 else 2, 1, 1, *self.ident)
        form = "<HHIIIIIHHHHHH" if self.bits == 32 else "<HHIQQQIHHHHHH"
        rest = (2, self.machine, 1, 0, 0, head + len(bodies), 0, head, 0, 0, size, len(self.parts), 1)
        return ident + struct.pack(form, *rest) + bodies + table


def full_elf_of(
    pdis: dict[int, bytes], codes: Sequence[Code], loads: Sequence[tuple[int, int, int]] = (), bits: int = 32
) -> bytes:
    """An ELF file as ``aiecc --get-full-elf`` leaves it: for each instance the PDIs, its text and a group.

    Args:
        pdis: by their numbers.
        codes: the instances.
        loads: (instance, byte of the LOADPDI in its text, number of the PDI), each a relocation.
        bits: 32 or 64.
    """
    elf = Elf(bits)
    rows = []
    for number, code in enumerate(codes):
        rows.append((f"_Z{len(code.kernel)}{code.kernel}Pc", 0, 2, 0))
        rows.append((code.instance, 0, 1, 2 * number + 1))
    table = elf.symbols(".symtab", 2, rows)
    members: list[list[int]] = []
    for number, code in enumerate(codes):
        for name, pdi in pdis.items():
            elf.add(Part(f".pdi.{name}", 1, pdi))
        own = [elf.add(Part(f".ctrltext.{number}", 1, code.text))]
        if code.packets:
            own.append(elf.add(Part(f".ctrldata.{number}", 1, code.packets)))
        members.append(own)
    dynamic = elf.symbols(".dynsym", 11, [(f".pdi.{pdi}", 0, 1, members[code][0]) for code, _, pdi in loads])
    elf.relocations(dynamic, [(at + 8, index + 1, 8, 0) for index, (_, at, _) in enumerate(loads)])
    for number, own in enumerate(members):
        body = struct.pack(f"<{1 + len(own)}I", 1, *own)
        elf.add(Part(f".group.{number}", 17, body, table, 2 * number + 2))
    return elf.bytes()
