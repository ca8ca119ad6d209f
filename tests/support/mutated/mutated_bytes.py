"""Files of register writes with small mistakes in them, the same ones for the same number.

Half of them get right lengths and checksums again, so that mistakes behind these are reached too.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.importers.bodies.container import container
from memtile.programs import (
    ArrayShape,
    BlockWrite,
    Header,
    Operation,
    Transaction,
    Write,
    dump_json,
    dump_text,
    read_program,
    transaction_bytes,
)
from memtile.report.disassembly import disassembly_json, disassembly_lines, summary_json, summary_lines
from support.formats.container_files import Code, Image, full_elf_of, grouped_pdi_of, pdi_of, xclbin_of
from support.formats.programs import Program, cdo_of

Mutation = Callable[[random.Random, bytes], bytes]
MAX_CYCLES = 5_000
SHAPE = ArrayShape(rows=6, columns=4, memory_tile_rows=1)
_MASK = 0xFFFF_FFFF
NUMBERS = (0, 1, 3, 0x7F, 0xFF, 0xFFFF, 1 << 20, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF)
"""Sizes, offsets, counts and codes that a file may claim."""
_SUMMED = ((16, 32), (144, 16), (208, 32))  # bytes of PDI headers, and words with their checksum


def files() -> dict[str, bytes]:
    """One file of each format, by its name."""
    made = Program()
    made.route_tokens(0)
    made.up(0, 0, 0)
    made.down(0, 0, 0)
    made.bd(0, 0, Descriptor("memory", 16, OWN.address(0)))
    made.push(0, 1, 0, 0, 0, token=True)
    writes = made.operations
    host = [*writes]
    made.patch(0, 1, 0)
    made.wait_token(0, 1, 0, 0)
    mlir, driver = (Header((major, 1 - major), 3, 6, 4, 1) for major in (0, 1))
    host_file = transaction_bytes(Transaction(mlir, tuple(made.operations)))
    words = struct.unpack(f"<{len(host_file) // 4}I", host_file)
    return {
        "insts.bin": host_file,
        "driver.bin": transaction_bytes(Transaction(driver, tuple(_plain(host)))),
        "insts.txt": "".join(f"{word:08x}\n" for word in words).encode(),
        "aie_cdo_init.bin": cdo_of(host),
        "aie.pdi": pdi_of(host),
        "grouped.pdi": grouped_pdi_of(host),
        "final.xclbin": xclbin_of([Image(grouped_pdi_of(host))]),
        "full.elf": full_elf_of({1: pdi_of(host)}, [Code("K", "one", host_file)]),
        "full64.elf": full_elf_of({1: pdi_of(host)}, [Code("K", "one", host_file)], bits=64),
        "dump.txt": dump_text(_plain(host)).encode(),
        "dump.json": dump_json(_plain(host)).encode(),
    }


def _plain(operations: Sequence[Operation]) -> list[Operation]:
    """Writes and blocks alone."""
    return [each for each in operations if isinstance(each, (Write, BlockWrite))]


def mutated(data: bytes, number: int) -> bytes:
    """A file with one to four mistakes; which ones is said by the number alone."""
    rng = random.Random(number)
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice(MUTATIONS)(rng, data)
    return repaired(data) if number % 2 else data


def repaired(data: bytes) -> bytes:
    """The file with the lengths and checksums that its format wants, where it is long enough."""
    if data[:2] in (b"\0\1", b"\1\0") and len(data) >= 16:
        return data[:12] + struct.pack("<I", len(data) & _MASK) + data[16:]
    if data[4:8] == b"CDO\0" and len(data) >= 20:
        head = [*struct.unpack_from("<3I", data), (len(data) - 20) // 4]
        return struct.pack("<5I", *head, ~sum(head) & _MASK) + data[20:]
    if data[:4] == b"\xdd\0\0\0" and len(data) >= 0x150:
        for at, words in _SUMMED:
            summed = struct.unpack_from(f"<{words - 1}I", data, at)
            end = at + 4 * (words - 1)
            data = data[:end] + struct.pack("<I", ~sum(summed) & _MASK) + data[end + 4 :]
    return data


def _part(rng: random.Random, data: bytes) -> tuple[int, int]:
    """Where a part begins and ends, most often at whole words."""
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((1, 4, 8, 16, 64, 256)))
    return (at & ~3, end & ~3) if rng.random() < 0.7 else (at, end)


def _flip(rng: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _number(rng: random.Random, data: bytes) -> bytes:
    """A wild number of 32 or 64 bits in the place of what was there."""
    at = rng.randrange(len(data) + 1) & ~3
    number = rng.choice((*NUMBERS, len(data), max(len(data) - 4, 0)))
    new = struct.pack("<I", number) if rng.random() < 0.7 else struct.pack("<Q", number | number << 32)
    return data[:at] + new + data[at + len(new) :]


def _near(rng: random.Random, data: bytes) -> bytes:
    """A word that is one or four more or less."""
    if len(data) < 4:
        return data
    at = rng.randrange(len(data) - 3) & ~3
    (word,) = struct.unpack_from("<I", data, at)
    return data[:at] + struct.pack("<I", word + rng.choice((-4, -1, 1, 4)) & _MASK) + data[at + 4 :]


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _without(rng: random.Random, data: bytes) -> bytes:
    at, end = _part(rng, data)
    return data[:at] + data[max(at, end) :]


def _double(rng: random.Random, data: bytes) -> bytes:
    at, end = _part(rng, data)
    return data[:end] + data[at:end] + data[end:]


def _move(rng: random.Random, data: bytes) -> bytes:
    at, end = _part(rng, data)
    part, rest = data[at:end], data[:at] + data[max(at, end) :]
    to = rng.randrange(len(rest) + 1) & ~3
    return rest[:to] + part + rest[to:]


def _noise(rng: random.Random, data: bytes) -> bytes:
    at, end = _part(rng, data)
    return data[:at] + rng.randbytes(max(end - at, 0)) + data[max(at, end) :]


def _longer(rng: random.Random, data: bytes) -> bytes:
    return data + rng.choice((bytes(1), bytes(4), bytes(64), b"\xff" * 16, data[:64]))


MUTATIONS: Sequence[Mutation] = (
    _flip,
    _flip,
    _number,
    _number,
    _near,
    _cut,
    _without,
    _double,
    _move,
    _noise,
    _longer,
)
"""What may go wrong in a file; wild numbers are what hides deepest."""


def look(name: str, data: bytes) -> str:
    """Read a file and say all that ``memtile disasm`` says of it.

    Raises:
        InputFileError: it is refused.
    """
    program = read_program(data, name)
    shape = program.shape or SHAPE
    for lines in (disassembly_lines, summary_lines):
        "\n".join(lines(program, shape))
    json.dumps([disassembly_json(program, shape), summary_json(program, shape)])
    return program.format


def run(name: str, data: bytes) -> str:
    """Read a file and run it as ``memtile run`` does; how the run ended.

    Raises:
        MemtileError: it is refused.
    """
    found = container([read_program(data, name)], [])
    done = found.run([], [], max_cycles=MAX_CYCLES, pad_arguments=True)
    str(done.result)
    return str(done.result.status)


def binary_files(folders: Sequence[str]) -> Mapping[str, bytes]:
    """Every file of register writes below some folders, by path."""
    endings = {".bin", ".txt", ".xclbin", ".pdi", ".elf"}
    paths = (path for folder in folders for path in sorted(Path(folder).rglob("*")))
    return {str(path): path.read_bytes() for path in paths if path.suffix in endings}
