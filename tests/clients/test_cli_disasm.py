"""Does ``memtile disasm`` show people and programs what a file of register writes does?"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile.cli import main

FOLDER = Path(__file__).parents[1] / "oracle" / "txn"
FILES = sorted(FOLDER.glob("*.bin"))
BD = ["0x80", "0x20000", "0x10000F", "0x200000", "0", "0", "0", "0x80000000"]
DUMP = "".join(f"{0x021A0040 + 4 * n:#x} {word}\n" for n, word in enumerate(BD))


def run(*args: object, stdin: str | bytes = "") -> Any:
    return CliRunner().invoke(main.app, ["disasm", *map(str, args)], input=stdin)


def lines(*args: object, stdin: str | bytes = "") -> list[str]:
    done = run(*args, stdin=stdin)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout.splitlines()


def data(*args: object, stdin: str | bytes = "") -> Any:
    done = run("--json", *args, stdin=stdin)
    assert (done.exit_code, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_of_the_driver_is_understood_to_the_last_field(path: Path) -> None:
    program = data(path)
    assert (program["format"], program["file"]) == ("txn", str(path))
    assert program["array"] == {"columns": 4, "rows": 6, "memory_tile_rows": 1}
    for operation in program["operations"]:
        names = [register["name"] for register in operation["registers"]]
        assert len(names) == len(operation.get("words", [0]))
        assert all(register["fields"] for register in operation["registers"]), operation["place"]
        assert "unknown" not in names
    assert len(lines(path)) > len(program["operations"])


def test_a_descriptor_is_explained_once_it_is_complete() -> None:
    text = lines(FOLDER / "scn_transpose_8x16.bin")
    assert text[0].endswith(
        ": transaction 0.1, generation 2 (AIE-ML), 4 columns, 6 rows, 1 of them memory tiles: 33 operations"
    )
    at = text.index("byte 0x0140  block write  memory tile (2, 1) 0xA0040, 8 words")
    indent = " " * 13
    assert text[at + 1 : at + 16] == [
        indent + line
        for line in (
            "DMA_BD2_0: Buffer_Length 128",
            "DMA_BD2_1: Base_Address 131072",
            "DMA_BD2_2: D0_Wrap 8, D0_Stepsize 15",
            "DMA_BD2_3: D1_Wrap 16",
            "DMA_BD2_4: all fields 0",
            "DMA_BD2_5: all fields 0",
            "DMA_BD2_6: all fields 0",
            "DMA_BD2_7: Valid_BD 1",
            "-> BD 2 is complete",
            "   acquire   starts without waiting for a lock",
            "   transfer  moves 128 words (512 bytes) per execution, from word 131072 (own word 0) on, "
            "byte 0x80000",
            "   order D0  8 words 16 words apart",
            "   order D1  16 rows 1 word apart",
            "   release   at the end releases no lock",
            "   chain     then the task ends",
        )
    ]
    assert [line.strip() for line in text if "starts BD" in line] == [
        "-> S2MM 0 starts BD 1, once",
        "-> S2MM 0 starts BD 0, once",
        "-> MM2S 0 starts BD 0, once",
        "-> MM2S 0 starts BD 2, once",
    ]
    poll = text.index("byte 0x0338  mask poll    memory tile (2, 1) 0xA0660 = 0x00000000 in bits 0x0078003C")
    assert text[poll + 1].startswith(f"{indent}DMA_S2MM_Status_0: Task_Queue_Size 0, Channel_Running 0")


def test_a_task_out_of_order_counts_packets() -> None:
    """Repeat_Count is packets then, and Start_BD_ID means nothing (DEV-OOO-1)."""
    on, start, off = "0x021A0610 0x00000008", "0x021A0614 0x80010000", "0x021A0610 0x00000000"
    one = "0x021A0614 0x00000000"
    text = "\n".join([start, on, start, one, "0x021A0604 0x00010003", off, start]) + "\n"
    assert [line.strip() for line in lines("-", stdin=text) if "->" in line] == [
        "-> S2MM 2 starts BD 0, 2 times, with a task-complete token",
        "-> S2MM 2 takes 2 packets out of order, each into the BD that its header names, with a "
        "task-complete token",
        "-> S2MM 2 takes 1 packet out of order, each into the BD that its header names",
        "-> S2MM 0 starts BD 3, 2 times",
        "-> S2MM 2 starts BD 0, 2 times, with a task-complete token",
    ]


def test_locks_and_repeated_tasks_are_told() -> None:
    text = "0x021C0010 3\n0x021A0604 0x80050002\n"
    assert [line.strip() for line in lines("-", stdin=text)] == [
        "standard input: register dump, text: 2 operations",
        "line 1  write        memory tile (1, 1) 0xC0010 = 0x00000003",
        "Lock1_value: Lock_value 3",
        "-> lock 1 becomes 3",
        "line 2  write        memory tile (1, 1) 0xA0604 = 0x80050002",
        "DMA_S2MM_0_Start_Queue: Enable_Token_Issue 1, Repeat_Count 5, Start_BD_ID 2",
        "-> S2MM 0 starts BD 2, 6 times, with a task-complete token",
    ]


@pytest.mark.parametrize("order", [range(8), range(7, -1, -1)])
def test_single_writes_in_any_order_make_a_descriptor(order: range) -> None:
    words = DUMP.splitlines()
    operations = data("-", stdin="\n".join(words[n] for n in order))["operations"]
    assert [len(operation["descriptors"]) for operation in operations] == [0] * 7 + [1]
    (descriptor,) = operations[-1]["descriptors"]
    assert descriptor["bd"] == 2
    assert [int(word, 16) for word in descriptor["words"]] == [int(word, 0) for word in BD]
    assert descriptor["descriptor"]["dims"] == [[16, 8], [1, 16]]
    assert descriptor["problems"] == []


def test_a_descriptor_changed_in_part_is_told_again_when_it_starts() -> None:
    text = DUMP + "0x021A0044 0x20010\n0x021A0604 2\n0x021A0604 2\n0x021A0604 3\n"
    told = [operation["descriptors"] for operation in data("-", stdin=text)["operations"]]
    assert [len(descriptors) for descriptors in told] == [0] * 7 + [1, 0, 1, 0, 0]
    assert [told[n][0]["descriptor"]["address"] for n in (7, 9)] == [131072, 131088]


def test_a_masked_part_of_a_known_word_changes_only_those_bits() -> None:
    words = [0x021A0040 + 4 * n for n in range(8)]
    body = b"".join(struct.pack("<3I", 0, at, int(word, 0)) for at, word in zip(words, BD, strict=True))
    body += struct.pack("<4I", 3, words[0], 0x40, 0x1FFFF) + struct.pack("<3I", 0, 0x021A0604, 2)
    file = struct.pack("<4I", 0x06030001, 0x104, 10, 16 + len(body)) + body
    told = [operation["descriptors"] for operation in data("-", stdin=file)["operations"]]
    assert [len(descriptors) for descriptors in told] == [0] * 7 + [1, 0, 1]
    assert [told[n][0]["descriptor"]["length"] for n in (7, 9)] == [128, 64]
    assert "DMA_BD2_0: Buffer_Length 64" in [line.strip() for line in lines("-", stdin=file)]


def test_data_memory_and_unknown_addresses_are_one_line_each() -> None:
    text = "0x02100000 1 2 3\n0x0217FFFC 1 2 3\n0x1E000000 1\n0x02190000 5\n"
    assert [line.strip() for line in lines("-", stdin=text)][1:] == [
        "line 1  block write  memory tile (1, 1) 0x00000, 3 words",
        "data memory, 3 words",
        "line 2  block write  memory tile (1, 1) 0x7FFFC, 3 words",
        "data memory",
        "unknown, 2 words",
        "line 3  write        no tile (15, 0) 0x00000 = 0x00000001",
        "line 4  write        memory tile (1, 1) 0x90000 = 0x00000005",
        "unknown",
    ]


def test_words_that_are_no_descriptor_say_why() -> None:
    text = "0x02040000 0\n" + "".join(f"{0x0221D000 + 4 * n:#x} {1 << 31}\n" for n in range(6))
    (descriptor,) = data("-", stdin=text)["operations"][-1]["descriptors"]
    assert "word 0 sets the reserved bits 0x80000000" in descriptor["error"]
    assert any("not a descriptor: compute tile, BD 0: word 0" in line for line in lines("-", stdin=text))


def test_the_device_says_which_tiles_there_are() -> None:
    text = "0x02204500 0\n0x08000000 1\n"
    assert [o["tile"] for o in data("-", stdin=text)["operations"]] == ["compute", None]
    told = data("--device", "xcve2802", "-", stdin=text)
    assert [o["tile"] for o in told["operations"]] == ["memory", "interface"]
    assert told["array"] == {"columns": 38, "rows": 11, "memory_tile_rows": 2}
    assert data("--device", "xcve2302", FILES[0])["array"]["columns"] == 17


def test_a_cdo_file_with_the_address_of_the_array() -> None:
    body = [4 << 16 | 0x105, 0x200, 0x021C0000, 1, 0, 0x111]
    head = [4, 0x004F4443, 0x200, len(body)]
    file = struct.pack("<11I", *head, ~sum(head) & 0xFFFF_FFFF, *body)
    assert [line.strip() for line in lines("--base", "0x20000000000", "-", stdin=file)] == [
        "standard input: CDO version 2: 2 operations",
        "byte 0x0014  block write  memory tile (1, 1) 0xC0000, 2 words",
        "Lock0_value: Lock_value 1",
        "unknown",
        "-> lock 0 becomes 1",
        "byte 0x0028  other        NOP, 0 bytes",
    ]


def test_several_files_give_a_list() -> None:
    assert [program["file"] for program in data(*FILES[:2])] == [str(path) for path in FILES[:2]]
    heads = [line for line in lines(*FILES[:3]) if line.startswith(str(FOLDER))]
    assert len(heads) == 3


def test_errors_are_messages_with_exit_code_2(tmp_path: Path) -> None:
    cut = tmp_path / "cut.bin"
    cut.write_bytes(FILES[0].read_bytes()[:-1])
    done = run(FILES[0], cut)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {cut}, byte 0x000c: the header says a total size of 56 bytes, the file has 55 (aie-rt "
        "and mlir-aie transaction format).\n"
    )
    missing = run(tmp_path / "none.bin")
    assert (missing.exit_code, missing.stderr) == (
        2,
        f"error: {tmp_path / 'none.bin'}: the file cannot be read: No such file or directory.\n",
    )
    forced = run("--format", "cdo", FILES[0])
    assert forced.exit_code == 2
    assert "identification is 0x" in forced.stderr
    for args in (["--base", "x", FILES[0]], ["--format", "elf", FILES[0]], []):
        assert run(*args).exit_code == 2
    assert "error: device table: device is 'npu9'" in run("--device", "npu9", FILES[0]).stderr


def test_help_has_examples() -> None:
    done = run("--help")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Examples:\n    memtile disasm " in done.stdout
