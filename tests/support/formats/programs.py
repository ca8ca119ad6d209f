"""Programs of register accesses for tests: circuits, descriptors, tasks, and what NPU programs add."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor
from memtile.runs.operations import BlockWrite, MaskPoll, MaskWrite, Operation, Other, Write
from support.formats.oracle_files import load

PORTS = load("ports")
KINDS = {"memory": (0xA0000, 0xA0604, 6, 0xA0660), "interface": (0x1D000, 0x1D204, 2, 0x1D220)}
TO_ARRAY = {0: ("SOUTH3", 10), 1: ("SOUTH7", 14)}  # MM2S channel: slave port, bits in the mux
FROM_ARRAY = {0: ("SOUTH2", 4), 1: ("SOUTH3", 6)}  # S2MM channel: master port, bits in the demux
DONE = 0x0078003C


def kind_of(row: int) -> str:
    return "interface" if row == 0 else "memory"


def cdo_of(operations: Iterable[Operation], base: int = 0) -> bytes:
    """A CDO file, version 2, of writes."""
    body: list[int] = []
    for operation in operations:
        match operation:
            case Write(address, value):
                body += [3 << 16 | 0x108, *divmod(base + address, 1 << 32), value]
            case MaskWrite(address, mask, value):
                body += [4 << 16 | 0x107, *divmod(base + address, 1 << 32), mask, value]
            case BlockWrite(address, words):
                body += [2 + len(words) << 16 | 0x105, *divmod(base + address, 1 << 32), *words]
            case _:
                raise AssertionError(operation)
    head = [4, 0x004F4443, 0x200, len(body)]
    return struct.pack(f"<{5 + len(body)}I", *head, ~sum(head) & 0xFFFF_FFFF, *body)


class Program:
    """Operations in the order in which they are asked for."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def add(self, operation: Operation) -> None:
        self.operations.append(operation)

    def circuit(self, column: int, row: int, slave: str, master: str) -> None:
        table = PORTS[kind_of(row)]
        number = table["slaves"].index(slave)
        base = column << 25 | row << 20
        place = base + table["master_config"] + 4 * table["masters"].index(master)
        self.add(Write(place, 1 << 31 | number))
        self.add(Write(base + table["slave_config"] + 4 * number, 1 << 31))

    def up(self, column: int, channel: int, wire: int) -> None:
        """From MM2S of the interface tile to the memory tile's port SOUTH ``wire``."""
        port, bit = TO_ARRAY[channel]
        self.add(MaskWrite(column << 25 | 0x1F000, 3 << bit, 1 << bit))
        self.circuit(column, 0, port, f"NORTH{wire}")

    def down(self, column: int, channel: int, wire: int) -> None:
        port, bit = FROM_ARRAY[channel]
        self.add(MaskWrite(column << 25 | 0x1F004, 3 << bit, 1 << bit))
        self.circuit(column, 0, f"NORTH{wire}", port)

    def bd(self, column: int, number: int, descriptor: Descriptor) -> None:
        base, row = KINDS[descriptor.tile][0], 0 if descriptor.tile == "interface" else 1
        place = column << 25 | row << 20 | base + number * 0x20
        self.add(BlockWrite(place, tuple(encode(descriptor, number))))

    def push(
        self,
        column: int,
        row: int,
        direction: int,
        channel: int,
        bd: int,
        runs: int = 1,
        *,
        token: bool = False,
    ) -> None:
        _, queue, channels, _ = KINDS[kind_of(row)]
        place = column << 25 | row << 20 | queue + 8 * (direction * channels + channel)
        self.add(Write(place, token << 31 | runs - 1 << 16 | bd))

    def wait_done(self, column: int, row: int, direction: int, channel: int) -> None:
        _, _, _, status = KINDS[kind_of(row)]
        step = 0x20 if row else 8
        self.add(MaskPoll(column << 25 | row << 20 | status + step * direction + 4 * channel, DONE, 0))

    def patch(self, column: int, bd: int, argument: int, offset: int = 0) -> None:
        """A pointer patch of mlir-aie, 12 words."""
        register = column << 25 | 0x1D000 + bd * 0x20 + 4
        payload = struct.pack("<12I", 0x81, 48, 0, 0, 0, 0, register, 0, argument, 0, offset, 0)
        details = (("action", 0), ("address", register), ("argument", argument), ("offset", offset))
        self.add(Other("DDR_PATCH", payload, details))

    def wait_token(
        self, column: int, row: int, direction: int, channel: int, columns: int = 1, rows: int = 1
    ) -> None:
        words = direction | row << 8 | column << 16, rows << 8 | columns << 16 | channel << 24
        names = ("direction", "row", "column", "rows", "columns", "channel")
        details = zip(names, (direction, row, column, rows, columns, channel), strict=True)
        self.add(Other("TOKEN_WAIT", struct.pack("<4I", 0x80, 16, *words), tuple(details)))

    def route_tokens(self, column: int) -> None:
        """Tokens of the interface tile, all ids, to its port SOUTH0 as packets."""
        table = PORTS["interface"]
        slave, master = table["slaves"].index("CTRL0"), table["masters"].index("SOUTH0")
        base = column << 25
        self.add(Write(base + table["slave_config"] + 4 * slave, 3 << 30))
        self.add(Write(base + table["slot_config"] + 16 * slave, 1 << 8))  # mask 0 takes every id
        self.add(Write(base + table["master_config"] + 4 * master, 3 << 30 | 1 << 3))
