"""A second reader of transactions, from the format alone; shares nothing with ``memtile.io``."""

from __future__ import annotations

import struct
from typing import NamedTuple


class Step(NamedTuple):
    """One operation: ``write``, ``block``, ``mask`` or ``poll``, or the number of a custom one."""

    kind: str
    address: int
    values: tuple[int, ...]
    mask: int | None = None


def header(data: bytes) -> dict[str, int]:
    """The header by name."""
    names = ("major", "minor", "generation", "rows", "columns", "memory_rows")
    count, size = struct.unpack_from("<II", data, 8)
    return dict(zip(names, data[:6], strict=True)) | {"count": count, "size": size}


def steps(data: bytes) -> list[Step]:
    """All operations; fails loudly on anything it does not know."""
    found, at = [], 16
    while at < len(data):
        step, size = (_step_0_1 if data[0] == 0 else _step_1_0)(data, at)
        found.append(step)
        at += size
    assert at == len(data)
    return found


def _u32(data: bytes, at: int, count: int = 1) -> tuple[int, ...]:
    return struct.unpack_from(f"<{count}I", data, at)


def _step_0_1(data: bytes, at: int) -> tuple[Step, int]:
    opcode = data[at]
    if opcode == 0:
        assert _u32(data, at + 20) == (24,)
        return Step("write", struct.unpack_from("<Q", data, at + 8)[0], _u32(data, at + 16)), 24
    if opcode == 1:
        address, size = _u32(data, at + 8, 2)
        return Step("block", address, _u32(data, at + 16, (size - 16) // 4)), size
    if opcode in (3, 4, 7):
        value, mask, size = _u32(data, at + 16, 3)
        address = struct.unpack_from("<Q", data, at + 8)[0]
        return Step("mask" if opcode == 3 else "poll", address, (value,), mask), size
    return _custom(data, at)


def _step_1_0(data: bytes, at: int) -> tuple[Step, int]:
    opcode = data[at]
    if opcode == 0:
        return Step("write", _u32(data, at + 4)[0], _u32(data, at + 8)), 12
    if opcode == 1:
        address, size = _u32(data, at + 4, 2)
        return Step("block", address, _u32(data, at + 12, (size - 12) // 4)), size
    if opcode in (3, 4, 7):
        address, value, mask = _u32(data, at + 4, 3)
        return Step("mask" if opcode == 3 else "poll", address, (value,), mask), 16
    return _custom(data, at)


def _custom(data: bytes, at: int) -> tuple[Step, int]:
    assert data[at] >= 128
    (size,) = _u32(data, at + 4)
    return Step(str(data[at]), 0, tuple(data[at + 8 : at + size])), size
