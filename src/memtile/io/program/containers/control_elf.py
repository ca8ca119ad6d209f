"""Read the ELF files of control code that aiebu writes: instructions alone, or with the PDIs they load.

Sections ``.ctrltext*`` are transactions, ``.ctrldata*`` control packets for them, ``.pdi.N`` PDIs. A group is
an instance of a kernel; its names are in the table of symbols (XRT's ``xrt_elf.cpp``, aiebu's ``elfwriter``).
Relocations of descriptors say the same as the pointer patches of the transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from struct import Struct

from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError
from memtile.io.binary_files import ByteReader
from memtile.io.program.containers.contents import ContainerBuffer, ContainerProgram, Contents, chosen
from memtile.io.program.containers.elf import (
    FUNCTION,
    GROUP,
    OBJECT,
    ElfFile,
    Ident,
    Section,
    ident_of,
)
from memtile.io.program.containers.pdi import PdiContents, pdi_contents
from memtile.io.program.transaction import transaction_of
from memtile.io.program.transaction_format import HEADER, Header
from memtile.runs.firmware import LOAD, Pointer, loaded, pointer_of
from memtile.runs.operations import Operation, Other

SOURCE = "aiebu's ELF files"
SYSTEM = 0x45  # of control code for AIE2 and AIE2P
_OTHER_SYSTEMS = {0x40: "AIE2PS", 0x46: "AIE2PS", 0x4B: "AIE4", 0x56: "AIE4", 0x69: "AIE4"}
_CORE_DUMP, _CORE = 4, 264  # type and machine
_GROUPED = 0x10  # ABI version from which on groups have the sections
_TEXT, _DATA, _PDI, _SAVED = (
    ".ctrltext",
    ".ctrldata",
    ".pdi",
    (".preempt_save", ".preempt_restore", ".ctrlpkt"),
)
_POINTER, _PDI_ADDRESS = 5, 8  # kinds of relocations
_ADDRESS_IN_LOAD = 8  # byte of the operation
_PACKETS = "control-packet"
_MANGLED = re.compile(r"_Z([0-9]+)(.*)")
_WORD = Struct("<I")
_MOST = 1 << 22  # operations of all loads together
_DIGITS = 9  # of the length of a name


@dataclass(frozen=True)
class _Instance:
    """Control code: what it is called, and its sections."""

    part: ContainerProgram
    text: Section
    members: tuple[Section, ...]


def is_control_code(data: bytes) -> bool:
    """Whether an ELF file has control code, for any array."""
    system = ident_of(ByteReader(data, "")).system if len(data) >= HEADER.size + WORD_BYTES else 0
    return system == SYSTEM or system in _OTHER_SYSTEMS


def is_core_program(data: bytes) -> bool:
    """Whether an ELF file is the program of a core."""
    return len(data) >= HEADER.size + WORD_BYTES and ident_of(ByteReader(data, "")).machine == _CORE


def read_control_elf(data: bytes, name: str, kernel: str | None = None, base: int = 0) -> Contents:
    """The program of one instance in an ELF file of control code.

    Args:
        data: all bytes of the file.
        name: of the file, for messages.
        kernel: ``kernel:instance``, or one of the two; None where there is one only.
        base: address of the array in the address space of its PDIs.

    Raises:
        InputFileError: a file that is cut or damaged, for another array, or with several instances and none
            named; names the byte offset.
    """
    file = ByteReader(data, name)
    _check_platform(file, ident_of(file))
    elf = ElfFile(file)
    instances = list(_instances(elf))
    if not instances:
        listed = ", ".join(section.name for section in elf.sections if section.name) or "none"
        says = f"the ELF file has no control code; its sections are {listed}"
        raise file.error("control_code", 0, "sections", listed, f"one {_TEXT}", SOURCE, says)
    instance = instances[chosen([each.part for each in instances], kernel, name, SOURCE)]
    return _Reading(elf, instance, base).contents(len(instances))


class _Reading:
    """Reads one instance of an ELF file."""

    def __init__(self, elf: ElfFile, instance: _Instance, base: int) -> None:
        self._elf, self._instance, self._base = elf, instance, base
        self._notes: list[str] = []
        self._pdis: dict[int, PdiContents] = {}
        self._loaded = 0
        self._sections: dict[str, list[Section]] = {}
        for section in elf.sections:
            if section.name.startswith(_PDI) and section.body.data:
                self._sections.setdefault(_pdi_name(section.name), []).append(section)
        own = (r for r in elf.relocations() if r.symbol.section == instance.text.index)
        self._relocations = sorted(own, key=lambda relocation: relocation.at)
        self._places = {each.at: each.symbol.name for each in self._relocations if each.kind == _PDI_ADDRESS}
        self._members = {section.index for section in instance.members}

    def contents(self, instances: int) -> Contents:
        """The program of the instance."""
        text = self._instance.text
        transaction = transaction_of(text.body)
        self._check_pointers(transaction.operations)
        operations = tuple(self._with_pdis(transaction.operations))
        of = f"1 of {instances}, " if instances > 1 else ""
        named = (
            f"kernel {self._instance.part.text}" if self._instance.part.names[0] != text.name else text.name
        )
        title = f"ELF of control code, {of}{named}, {_title(transaction.header)}"
        buffers = tuple(self._packets(transaction.operations))
        self._note_saved()
        kernels = self._instance.part.all_names if named != text.name else ()
        return Contents(title, operations, transaction.header, tuple(self._notes), buffers, kernels)

    def _check_pointers(self, operations: Sequence[Operation]) -> None:
        """Each relocation of a descriptor must have its patch, which is what is done."""
        relocations = [each for each in self._relocations if each.kind == _POINTER]
        patches = _patches(operations)
        if len(relocations) > len(patches):
            text = self._instance.text.body
            says = (
                f"{len(relocations)} relocations put addresses into descriptors, and the instructions have "
                f"{len(patches)} pointer patches"
            )
            given = str(len(relocations))
            raise text.error(
                "relocations",
                relocations[len(patches)].at,
                "relocations",
                given,
                f"{len(patches)} or fewer",
                SOURCE,
                says,
            )

    def _with_pdis(self, operations: Sequence[Operation]) -> Iterator[Operation]:
        """The operations, those of a PDI after the one that loads it."""
        last: int | None = None
        at = HEADER.size
        for operation in operations:
            if not isinstance(operation, Other) or operation.name != LOAD:
                yield operation
                continue
            at = int(operation.place.rpartition(" ")[2], 16) - self._instance.text.body.origin
            section = self._pdi(operation, at)
            if section is None:
                yield operation
                continue
            if section.index == last:
                yield loaded(operation, 0)
                self._notes.append(f"{operation.place}: {section.name} is loaded already; firmware skips it")
                continue
            last = section.index
            if section.index not in self._pdis:
                self._pdis[section.index] = pdi_contents(section.body, self._base)
                self._notes += self._pdis[section.index].notes
            found = self._pdis[section.index].operations
            self._count(len(found), operation)
            yield loaded(operation, len(found))
            yield from found

    def _count(self, operations: int, load: Other) -> None:
        """Refuse a file whose loads unfold to more operations than any program has."""
        self._loaded += operations
        if self._loaded > _MOST:
            raise InputFileError.of(
                LOAD,
                f"{self._loaded} operations of PDIs",
                f"up to {_MOST}",
                reason="loads",
                where=load.place,
                source="limit of this reader",
            )

    def _pdi(self, operation: Other, at: int) -> Section | None:
        """The section with the PDI that an operation at byte ``at`` loads."""
        number = f"{_PDI}.{dict(operation.details)['id']}"
        found = self._sections.get(_pdi_name(self._places.get(at + _ADDRESS_IN_LOAD, number)), [])
        own = [section for section in found if section.index in self._members]
        before = [section for section in found if section.index < self._instance.text.index]
        return next(iter(own or before[::-1] or found), None)

    def _packets(self, operations: Sequence[Operation]) -> Iterator[ContainerBuffer]:
        """Control packets that the instructions read from an argument."""
        found = [each for each in self._instance.members if each.name.startswith(_DATA)]
        pointers = [each for each in self._relocations if each.kind == _POINTER]
        numbers = [
            patch.argument
            for relocation, patch in zip(pointers, _patches(operations), strict=False)
            if relocation.symbol.name == _PACKETS
        ]
        for section in found:
            if numbers:
                data = section.body.data
                whole = data + bytes(-len(data) % WORD_BYTES)
                yield ContainerBuffer(numbers[0], whole, f"control packets of section {section.name}")

    def _note_saved(self) -> None:
        left = [s.name for s in self._instance.members if s.name.startswith(_SAVED) and s.body.data]
        if left:
            self._notes.append(f"{self._elf_name}: left out, for preemption: {', '.join(left)}")

    @property
    def _elf_name(self) -> str:
        return self._instance.text.body.name


def _patches(operations: Sequence[Operation]) -> list[Pointer]:
    return [pointer for operation in operations if (pointer := pointer_of(operation))]


def _pdi_name(name: str) -> str:
    """``.pdi.N`` of a section or symbol; a group may have put its number behind it."""
    return ".".join(name.split(".")[:3])


def _instances(elf: ElfFile) -> Iterator[_Instance]:
    """The control code of a file: one for each group, or of old files without groups all that there is."""
    groups = [section for section in elf.sections if section.kind == GROUP]
    if elf.ident.version < _GROUPED or not groups:
        texts = [section for section in elf.sections if section.name.startswith(_TEXT) and section.body.data]
        for text in texts:
            yield _Instance(ContainerProgram((text.name,)), text, elf.sections)
        return
    for group in groups:
        words = [word for (word,) in _WORD.iter_unpack(group.body.data[: len(group.body.data) & -WORD_BYTES])]
        members = tuple(elf.section(index, group) for index in words[1:])
        texts = [section for section in members if section.name.startswith(_TEXT)]
        if len(texts) != 1:
            given = f"{len(texts)} sections {_TEXT}"
            says = f"{group.name} has {given}; an instance of a kernel has one"
            raise group.body.error("control_code", 0, "sections", given, "one", SOURCE, says)
        yield _Instance(_part(elf, group), texts[0], members)


def _part(elf: ElfFile, group: Section) -> ContainerProgram:
    """What the instance of a group is called: ``kernel:instance``."""
    table = elf.section(group.link, group)
    instance = elf.symbol(table, group.info)
    kernel = elf.symbol(table, instance.section)
    if instance.kind != OBJECT or kernel.kind != FUNCTION:
        given = f"symbols of types {instance.kind} and {kernel.kind}"
        says = f"{group.name} names {given}; an instance has type {OBJECT} and its kernel {FUNCTION}"
        raise group.body.error(
            "elf_symbol", 0, "symbol", given, f"types {OBJECT} and {FUNCTION}", SOURCE, says
        )
    name = kernel.name
    if match := _MANGLED.fullmatch(name):
        name = match[2][: int(match[1][:_DIGITS])]
    return ContainerProgram((f"{name}:{instance.name}", name, instance.name))


def _check_platform(file: ByteReader, ident: Ident) -> None:
    """Refuse ELF files that are something else."""
    if ident.system == SYSTEM and ident.kind != _CORE_DUMP:
        return
    what, step = "an ELF file", ""
    if ident.kind == _CORE_DUMP:
        what = "a core dump of an array"
    elif ident.machine == _CORE:
        what = "the program of a core"
        step = (
            "Write a kernel for that core (--kernels FILE.py), and give the files that configure the array."
        )
    elif ident.system in _OTHER_SYSTEMS:
        what = f"control code for {_OTHER_SYSTEMS[ident.system]}, whose instructions are no transactions"
    raise InputFileError.of(
        "format",
        what,
        "control code for AIE2 or AIE2P",
        f"the file is {what}; of ELF files, only control code for AIE2 and AIE2P is a program",
        step,
        reason="format",
        where=file.name,
        source=SOURCE,
    )


def _title(header: Header) -> str:
    major, minor = header.version
    size = f"{header.columns} columns, {header.rows} rows"
    return f"transaction {major}.{minor}, generation {header.generation}, {size}"
