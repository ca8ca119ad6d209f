"""Are programs in containers what the CDO files and transactions in them are, and broken ones told?"""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtile.errors import InputFileError
from memtile.io.program.cdo import read_cdo
from memtile.io.program.containers import control_elf
from memtile.io.program.program_formats import read_program
from memtile.programs import BlockWrite, MaskWrite, Operation, Transaction, Write, transaction_bytes
from memtile.runs.operations import Other
from support.designs.core_program import CONTROL, HEADER, instructions, setup
from support.formats.container_files import (
    Code,
    Elf,
    Image,
    Part,
    full_elf_of,
    grouped_pdi_of,
    pdi_around,
    pdi_of,
    xclbin_of,
)
from support.formats.programs import cdo_of

INIT = [*setup()[0], MaskWrite(CONTROL, 1, 1)]
READ = read_cdo(cdo_of(INIT))
TEXT = transaction_bytes(Transaction(HEADER, tuple(instructions())))


def load(number: int) -> Operation:
    return Other("LOADPDI", struct.pack("<BxHIQ", 8, number, 0, 0))


def text_with(*loads: int) -> bytes:
    return transaction_bytes(Transaction(HEADER, (*map(load, loads), *instructions())))


def kernels(*names: str) -> list[Image]:
    """One image for each name, with a write of its own."""
    return [
        Image(pdi_of([Write(0x021C0000, number)]), {0x100 + number: f"{name}:i"}, f"G{number}")
        for number, name in enumerate(names)
    ]


def refused(data: bytes, name: str = "f", kernel: str | None = None) -> str:
    with pytest.raises(InputFileError) as caught:
        read_program(data, name, kernel=kernel)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (pdi_of(INIT), "pdi"),
        (grouped_pdi_of(INIT), "pdi"),
        (xclbin_of([Image(pdi_of(INIT))]), "xclbin"),
        (xclbin_of([Image(grouped_pdi_of(INIT))]), "xclbin"),
    ],
    ids=["pdi", "grouped pdi", "xclbin", "grouped xclbin"],
)
def test_a_container_has_the_operations_of_its_cdo(data: bytes, format: str) -> None:
    program = read_program(data, "f")
    assert program.format == format
    assert program.operations == READ
    assert program.notes == ()


def test_places_are_bytes_of_the_file() -> None:
    pdi = pdi_of(INIT)
    data = xclbin_of([Image(pdi)])
    at = data.index(pdi) + 0x150 + 20
    assert read_program(pdi, "x.pdi").operations[0].place == "x.pdi, byte 0x0164"
    assert read_program(data, "x.xclbin").operations[0].place == f"x.xclbin, byte {at:#06x}"


def test_the_title_of_an_xclbin_has_kernel_and_columns() -> None:
    program = read_program(xclbin_of([Image(pdi_of(INIT))], columns=4), "f")
    assert program.title == "xclbin, kernel MLIR_AIE (id 0x901), 4 columns wide"
    assert program.shape is None


@pytest.mark.parametrize(
    "kernel", ["two", "two:i", "G1", "0x101", "257", "00000000-0000-0000-0000-000000000001"]
)
def test_one_of_several_is_named(kernel: str) -> None:
    images = kernels("one", "two")
    images[0].uuid = images[0].uuid.__class__(int=7)
    program = read_program(xclbin_of(images), "f", kernel=kernel)
    assert program.operations == (Write(0x021C0000, 1),)
    assert program.title.startswith("xclbin, PDI 2 of 2, kernel two (id 0x101), ")


def test_several_without_a_name_are_a_question() -> None:
    assert refused(xclbin_of(kernels("one", "two"))) == (
        "f: it has 2 programs: one (id 0x100), two (id 0x101) (XRT's xclbin.h). "
        "Name the one to take, such as --kernel one."
    )
    assert "no program of it is called 'three'; it has one (id 0x100)" in refused(
        xclbin_of(kernels("one", "two")), kernel="three"
    )
    assert "2 programs of it are called 'one': one (id 0x100), one (id 0x101)" in refused(
        xclbin_of(kernels("one", "one")), kernel="one"
    )


def test_of_many_only_some_are_listed() -> None:
    assert "k7 (id 0x107) and 3 more (" in refused(xclbin_of(kernels(*(f"k{n}" for n in range(11)))))


@pytest.mark.parametrize("bits", [32, 64])
def test_a_full_elf_loads_its_pdis_where_the_instructions_say_so(bits: int) -> None:
    one, two = [Write(0x021C0000, 1)], [Write(0x021C0000, 2), Write(0x021C0010, 3)]
    text = text_with(2, 1)
    codes = [Code("main", "sequence", text)]
    program = read_program(full_elf_of({1: pdi_of(one), 2: pdi_of(two)}, codes, [(0, 16, 2)], bits), "f")
    first, *rest = program.operations
    assert isinstance(first, Other)
    assert dict(first.details)["operations"] == 2
    assert rest[:2] == two
    second = rest[2]
    assert isinstance(second, Other)
    assert dict(second.details)["operations"] == 1
    assert rest[3:4] == one
    assert rest[4:] == instructions()
    assert program.title.startswith("ELF of control code, kernel main:sequence, transaction 1.0")
    assert program.generation == HEADER.generation


def test_a_relocation_decides_which_pdi_and_not_the_number() -> None:
    pdis = {1: pdi_of([Write(0x021C0000, 1)]), 2: pdi_of([Write(0x021C0000, 2)])}
    program = read_program(full_elf_of(pdis, [Code("m", "s", text_with(1))], [(0, 16, 2)]), "f")
    assert program.operations[1] == Write(0x021C0000, 2)


def test_the_same_pdi_twice_is_loaded_once() -> None:
    pdis = {1: pdi_of([Write(0x021C0000, 1)])}
    program = read_program(full_elf_of(pdis, [Code("m", "s", text_with(1, 1))]), "f")
    assert [type(operation) for operation in program.operations[:3]] == [Other, Write, Other]
    skipped = program.operations[2]
    assert isinstance(skipped, Other)
    assert not skipped.acts
    assert program.notes[0].endswith(".pdi.1 is loaded already; firmware skips it")


@pytest.mark.parametrize("kernel", ["b:s", "b"])
def test_an_instance_is_named_by_kernel_and_instance(kernel: str) -> None:
    data = full_elf_of({}, [Code("a", "s", TEXT), Code("b", "s", text_with())])
    assert read_program(data, "f", kernel=kernel).kernels == ("b:s", "b", "s")
    assert "2 programs of it are called 's': a:s, b:s (aiebu's ELF files)" in refused(data, kernel="s")


def old_elf(*parts: Part, version: int = 2) -> Elf:
    elf = Elf(version=version)
    for part in parts:
        elf.add(part)
    return elf


def test_an_elf_of_instructions_alone_is_their_transaction() -> None:
    saved = Part(".preempt_save", 1, b"1234")
    program = read_program(old_elf(Part(".ctrltext", 1, TEXT), saved).bytes(), "f")
    assert program.operations == tuple(instructions())
    assert program.notes == ("f: left out, for preemption: .preempt_save",)
    assert program.kernels == ()


def test_control_packets_are_the_argument_that_reads_them() -> None:
    elf = old_elf(Part(".ctrltext", 1, TEXT), Part(".ctrldata", 1, b"packets"))
    rows = [("3", 0, 1, 2), ("control-packet", 0, 1, 2)]
    elf.relocations(elf.symbols(".dynsym", 11, rows), [(0x20, 1, 5, 0), (0x60, 2, 5, 0)])
    (buffer,) = read_program(elf.bytes(), "f").buffers
    assert (buffer.argument, buffer.data) == (2, b"packets\0")


def test_addresses_without_a_patch_are_refused() -> None:
    elf = old_elf(Part(".ctrltext", 1, TEXT))
    rows = [(at, 1, 5, 0) for at in (0x20, 0x60, 0xA0)]
    elf.relocations(elf.symbols(".dynsym", 11, [("3", 0, 1, 2)]), rows)
    assert "3 relocations put addresses into descriptors, and the instructions have 2" in refused(elf.bytes())


@pytest.mark.parametrize(
    ("elf", "what"),
    [
        (Elf(system=0, version=0, machine=264), "the program of a core; of ELF files, only control code"),
        (Elf(system=0x40), "control code for AIE2PS, whose instructions are no transactions"),
        (Elf(system=0x4B), "control code for AIE4"),
        (Elf(system=0), "an ELF file; of ELF files"),
    ],
    ids=["core", "aie2ps", "aie4", "other"],
)
def test_other_elf_files_are_named(elf: Elf, what: str) -> None:
    assert refused(elf.bytes()).startswith(f"f: the file is {what}")


BLOCK = [Write(0x021C0000, 1), BlockWrite(0x021A0000, (1, 2, 3, 4, 5, 6))]


def test_a_grouped_pdi_without_its_last_words_says_so() -> None:
    program = read_program(grouped_pdi_of(BLOCK, cut=20), "f")
    assert program.operations == (BLOCK[0], BlockWrite(0x021A0000, (1,)))
    (note,) = program.notes
    assert note.startswith(
        "f, byte 0x0180: 5 of 6 words of this DMA write are not in the file and are left out"
    )


def test_a_grouped_pdi_that_lacks_more_is_cut() -> None:
    assert "the data of a DMA write is said to have 24 bytes" in refused(grouped_pdi_of(BLOCK, cut=24))


PDI = pdi_of(INIT)
XCLBIN = xclbin_of([Image(PDI)])
FULL = full_elf_of({1: PDI}, [Code("main", "sequence", text_with(1))], [(0, 16, 1)])
GROUPED = grouped_pdi_of(INIT)


def patched(data: bytes, at: int, form: str, *numbers: int) -> bytes:
    change = struct.pack(form, *numbers)
    return data[:at] + change + data[at + len(change) :]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (PDI[:0x20], "f, byte 0x0010: the image header table is said to have 128 bytes"),
        (patched(PDI, 0x38, "<I", 0), "has b'\\x00\\x00\\x00\\x00' where b'IDPP' must be"),
        (patched(PDI, 0x14, "<I", 9), "f, byte 0x008c: checksum of the image header table is"),
        (patched(PDI, 0xD4, "<I", 9), "f, byte 0x014c: checksum of the partition header is"),
        (PDI[:-4], "f, byte 0x0150: the partition is said to have"),
        (patched(PDI, 0x154, "<I", 0), "f, byte 0x0154: identification is 0x0; it must be 0x4f4443"),
        (pdi_around(cdo_of(INIT), kind=1), "f, byte 0x00f4: the partition is an ELF file (type 1)"),
        (XCLBIN[:0x200], "f, byte 0x0130: the header says a length of"),
        (patched(XCLBIN, 0x1C0, "<I", 1 << 31), "f, byte 0x01c8: the table of sections is said to have"),
        (
            patched(XCLBIN, 0x1F0, "<I", 33),
            "the xclbin has no PDI for an array; its sections are MEM_TOPOLOGY, ",
        ),
        (patched(XCLBIN, 0x208, "<Q", 1 << 40), "the section AIE_PARTITION is said to have"),
        (patched(GROUPED, 0x164, "<I", 99), "f, byte 0x0164: command is 99; it must be one of 2, 3, 5, 7, 8"),
        (patched(GROUPED, 0x168, "<I", 1 << 30), "the commands ends within the group"),
        (FULL[:0x30], "f, byte 0x002e: the file ends within the ELF header"),
        (patched(FULL, 4, "<B", 3), "f, byte 0x0004: class is 3; it must be 1 (32 bits) or 2 (64)"),
        (patched(FULL, 5, "<B", 2), "f, byte 0x0005: byte order is 2; it must be 1 (little-endian)"),
        (patched(FULL, 0x20, "<I", 1 << 31), "the table of sections is said to have"),
        (patched(FULL, 0x2E, "<H", 41), "size of a section header is 41 bytes; it must be 40 bytes"),
    ],
)
def test_what_is_wrong_is_told_with_its_byte(data: bytes, text: str) -> None:
    assert text in refused(data)


def test_an_encrypted_partition_is_refused() -> None:
    data = patched(PDI, 0xD0 + 0x44, "<I", 5)
    words = struct.unpack_from("<31I", data, 0xD0)
    data = patched(data, 0xD0 + 0x7C, "<I", ~sum(words) & 0xFFFF_FFFF)
    assert "f, byte 0x0114: the partition is encrypted" in refused(data)


def test_a_chain_of_partitions_that_comes_back_ends() -> None:
    words = list(struct.unpack_from("<31I", PDI, 0x10))
    words[3] = 3
    partition = list(struct.unpack_from("<31I", PDI, 0xD0))
    partition[3] = 0x34
    data = PDI
    for at, header in ((0x10, words), (0xD0, partition)):
        data = patched(data, at, "<32I", *header, ~sum(header) & 0xFFFF_FFFF)
    assert "partition 1 of 3 has the header of one before it, at byte 0xd0" in refused(data)


CONTAINERS = (PDI, GROUPED, XCLBIN, FULL, full_elf_of({1: PDI}, [Code("m", "s", TEXT)], bits=64))


@pytest.mark.parametrize("data", CONTAINERS, ids=["pdi", "grouped", "xclbin", "elf32", "elf64"])
def test_no_cut_ends_in_a_traceback(data: bytes) -> None:
    for end in {*range(0, len(data), max(1, len(data) // 400)), *range(max(0, len(data) - 40), len(data))}:
        _tried(data[:end])


@settings(max_examples=300)
@given(
    st.sampled_from(CONTAINERS),
    st.lists(st.tuples(st.integers(0, 1 << 14), st.integers(0, 255)), min_size=1, max_size=6),
)
@example(PDI, [(0x1C, 255)])
def test_changed_bytes_never_end_in_a_traceback(data: bytes, changes: list[tuple[int, int]]) -> None:
    made = bytearray(data)
    for at, value in changes:
        made[at % len(made)] = value
    _tried(bytes(made))


def _tried(data: bytes) -> None:
    """Read; the only thing that may come of it but a program is a clear error."""
    try:
        read_program(data, "f")
    except InputFileError as error:
        messages = error.messages
    else:
        messages = ["f is a program"]
    assert messages
    assert all(message.startswith("f") for message in messages)


def changed_numbers(data: bytes) -> list[Callable[[int], bytes]]:
    """For each word of the first 1,024 bytes, what puts a number there."""
    places = range(0, min(len(data), 1024) - 4, 4)
    return [lambda number, at=at: patched(data, at, "<I", number) for at in places]  # type: ignore[misc]


@pytest.mark.parametrize("data", CONTAINERS, ids=["pdi", "grouped", "xclbin", "elf32", "elf64"])
@pytest.mark.parametrize("number", [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF])
def test_every_word_of_the_headers_may_be_hostile(data: bytes, number: int) -> None:
    for change in changed_numbers(data):
        _tried(change(number))


def test_loads_that_unfold_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_elf, "_MOST", 5 * len(INIT))
    pdis = {1: PDI, 2: PDI}
    assert len(read_program(full_elf_of(pdis, [Code("m", "s", text_with(1, 2))]), "f").operations) > len(INIT)
    text = refused(full_elf_of(pdis, [Code("m", "s", text_with(*[1, 2] * 4))]))
    assert f"LOADPDI is {6 * len(INIT)} operations of PDIs; it must be up to {5 * len(INIT)}" in text


def test_data_that_is_used_twice_is_refused() -> None:
    block = [BlockWrite(0x021A0000, tuple(range(6))), BlockWrite(0x021A0020, tuple(range(6)))]
    data = grouped_pdi_of(block)
    at = data.index(struct.pack("<2I", 24, 6))
    longer = patched(data, at, "<2I", 0, 12)
    assert "have more words than there are data" in refused(patched(longer, at - 16, "<2I", 0, 12))


def test_sections_that_overlap_are_refused() -> None:
    elf = Elf()
    elf.add(Part(".ctrltext", 1, TEXT))
    data = elf.bytes()
    (table,) = struct.unpack_from("<I", data, 0x20)
    assert "the sections are said to have" in refused(patched(data, table + 40 + 20, "<I", len(data)))
