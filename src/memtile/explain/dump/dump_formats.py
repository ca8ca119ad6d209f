"""AIE coredumps as files: raw, as XRT writes them, and in an ELF of type ET_CORE.

Raw: all of each tile's address space, column by column and in a column from row 0 on; of Versal devices the
16 bytes of the request follow, process and context (xdna-driver, ``amdxdna_drm_aie_coredump``; DEV-DUMP-1).
ELF: 32 bits, a PT_NOTE segment and a PT_LOAD segment that is the raw dump (aiebu, ``coredump_elf_writer``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import TILE_BYTES, WORD_BYTES, Generation
from memtile.errors import InputFileError

TILE_WORDS = TILE_BYTES // WORD_BYTES
SYSTEMS: dict[Generation, int] = {"AIE-ML": 0x45, "AIE2P": 0x45, "AIE-ML v2": 0x40}
"""EI_OSABI by generation (aiebu, ``aie_elf_constants.h``); AIE2 and AIE2P share one (DEV-DUMP-3)."""
STATUSES = ("idle", "ready", "running", "timeout", "error")
"""What a context was doing, by its number (aiebu, ``aie_context_status``)."""

REQUEST = Struct("<QII")  # process, context, zero
_HEADER = Struct("<4sBBBBB7xHHIIIIIHHHHHH")
_SEGMENT = Struct("<IIIIIIII")
_NOTE = Struct("<III")
_PROCESS = Struct("<BcBBIHHiiii16s80s")  # prpsinfo of 32-bit Linux
_ABI_VERSION, _CORE, _MACHINE = 0x21, 4, 269
_LOAD, _NOTES, _READABLE, _PAGE = 1, 4, 4, 1 << 12
_PRPSINFO, _DUMP_HEADER = 3, 1 << 12
_LINUX, _AIE = b"CORE\0", b"AMDAIE_CORE\0"
_SOURCE = "xdna-driver and aiebu, coredump"

Words = npt.NDArray[np.uint32]


class About(NamedTuple):
    """What an ELF says beside the tiles.

    Attributes:
        time_ns: since 1970.
        status: of the context, one of ``STATUSES``.
        driver: version.
        firmware: version.
        device: as the driver calls it, ``RyzenAI-npu4``.
        uuid: of the control code.
    """

    time_ns: int = 0
    status: str = "idle"
    driver: str = ""
    firmware: str = ""
    device: str = ""
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class Coredump:
    """A file as it is, before anybody knows of which device.

    Attributes:
        tiles: uint32[tiles, words of a tile], in the order of the file; from the file as they are needed.
        format: ``raw`` or ``elf``.
        system: EI_OSABI; 0 in a raw file.
        about: what an ELF says of itself; None = nothing.
        request: process and context that asked for a raw dump; None = the file does not have them.
    """

    tiles: Words
    format: str
    system: int = 0
    about: About | None = None
    request: tuple[int, int] | None = None


def read_coredump(path: Path) -> Coredump:
    """A coredump from a file.

    Raises:
        InputFileError: no such file, no coredump, or one that was cut off.
    """
    try:
        data: npt.NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        raise InputFileError(f"{path}: the file cannot be read: {error}.") from None
    if bytes(data[:4]) == b"\x7fELF":
        return _elf(data, str(path))
    count, rest = divmod(len(data), TILE_BYTES)
    if not count or rest not in (0, REQUEST.size):
        raise _error(
            str(path), f"{len(data)} bytes", f"tiles of {TILE_BYTES} bytes, and 16 bytes behind them"
        )
    request = REQUEST.unpack(bytes(data[-REQUEST.size :]))[:2] if rest else None
    return Coredump(_tiles(data[: count * TILE_BYTES]), "raw", request=request)


def looks_like_coredump(path: Path) -> bool:
    """Whether a file is an ELF of type ET_CORE, or as long as raw coredumps are."""
    with path.open("rb") as file:
        head = file.read(_HEADER.size)
        size = file.seek(0, 2)
    if head[:4] == b"\x7fELF":
        return head[4:6] == b"\1\1" and len(head) == _HEADER.size and _HEADER.unpack(head)[6] == _CORE
    return size >= TILE_BYTES and size % TILE_BYTES in (0, REQUEST.size)


def raw_parts(tiles: Iterator[Words], *, request: bool) -> Iterator[bytes]:
    """A raw file, piece by piece; ``request``: with the 16 bytes that Versal devices have, all 0 here."""
    yield from (tile.astype("<u4").tobytes() for tile in tiles)
    if request:
        yield REQUEST.pack(0, 0, 0)


def elf_parts(tiles: Iterator[Words], count: int, system: int, about: About) -> Iterator[bytes]:
    """An ELF file around ``count`` tiles, piece by piece."""
    process = _PROCESS.pack(0, b"R", 0, 0, 0, 0, 0, 1, 0, 0, 0, b"aie_coredump", b"aie_coredump")
    notes = _note(_PRPSINFO, _LINUX, process) + _note(_DUMP_HEADER, _AIE, _described(about))
    first = _HEADER.size + 2 * _SEGMENT.size
    load, size = -(-(first + len(notes)) // _PAGE) * _PAGE, count * TILE_BYTES
    ident = (b"\x7fELF", 1, 1, 1, system, _ABI_VERSION)
    yield _HEADER.pack(
        *ident, _CORE, _MACHINE, 1, 0, _HEADER.size, 0, 0, _HEADER.size, _SEGMENT.size, 2, 0, 0, 0
    )
    yield _SEGMENT.pack(_NOTES, first, 0, 0, len(notes), 0, _READABLE, WORD_BYTES)
    yield _SEGMENT.pack(_LOAD, load, 0, 0, size, size, _READABLE, _PAGE)
    yield notes + bytes(load - first - len(notes))
    yield from (tile.astype("<u4").tobytes() for tile in tiles)


def _note(kind: int, name: bytes, text: bytes) -> bytes:
    return _NOTE.pack(len(name), len(text), kind) + _padded(name) + _padded(text)


def _padded(text: bytes) -> bytes:
    return text + bytes(-len(text) % WORD_BYTES)


def _described(about: About) -> bytes:
    texts = (text.encode() for text in (about.driver, about.firmware, about.device, about.uuid))
    head = about.time_ns.to_bytes(8, "little") + STATUSES.index(about.status).to_bytes(4, "little")
    return head + b"".join(len(text).to_bytes(4, "little") + text for text in texts)


def _segment_headers(data: npt.NDArray[np.uint8], name: str) -> tuple[int, bytes]:
    """The system that wrote an ELF, and its segment headers."""
    if len(data) < _HEADER.size or bytes(data[4:6]) != b"\1\1":
        raise _error(name, "another ELF", "an ELF of 32 bits, little-endian, of type ET_CORE")
    header = _HEADER.unpack(bytes(data[: _HEADER.size]))
    system, kind, at, each, count = header[4], header[6], header[10], header[14], header[15]
    if kind != _CORE or each != _SEGMENT.size:
        raise _error(name, f"an ELF of type {kind}", f"ET_CORE ({_CORE})")
    if at + count * each > len(data):
        raise _error(name, f"{len(data)} bytes", "its segment headers")
    return system, bytes(data[at : at + count * each])


def _elf(data: npt.NDArray[np.uint8], name: str) -> Coredump:
    system, headers = _segment_headers(data, name)
    about, tiles = None, None
    for segment in _SEGMENT.iter_unpack(headers):
        what, first, size = segment[0], segment[1], segment[4]
        if first + size > len(data):
            given = f"{len(data)} bytes, and a segment that ends at {first + size}"
            raise _error(name, given, "segments inside the file; it was cut off")
        if what == _NOTES:
            about = _about(bytes(data[first : first + size]), name)
        if what == _LOAD:
            tiles = data[first : first + size]
    if tiles is None or not len(tiles) or len(tiles) % TILE_BYTES:
        given = "no PT_LOAD segment" if tiles is None else f"a PT_LOAD segment of {len(tiles)} bytes"
        raise _error(name, given, f"one of tiles of {TILE_BYTES} bytes")
    return Coredump(_tiles(tiles), "elf", system, about)


def _about(notes: bytes, name: str) -> About | None:
    at = 0
    while at + _NOTE.size <= len(notes):
        names, size, kind = _NOTE.unpack_from(notes, at)
        start = at + _NOTE.size + names + -names % WORD_BYTES
        whose = notes[at + _NOTE.size : at + _NOTE.size + names]
        if (whose, kind) == (_AIE, _DUMP_HEADER):
            return _read_about(notes[start : start + size], name)
        at = start + size + -size % WORD_BYTES
    return None


def _read_about(text: bytes, name: str) -> About:
    parts, at = list[str](), 12
    for _ in range(4):
        size = int.from_bytes(text[at : at + 4], "little")
        if at + 4 + size > len(text):
            raise _error(name, "a note that was cut off", "time, status and four texts")
        parts.append(text[at + 4 : at + 4 + size].decode("utf-8", "replace"))
        at += 4 + size
    status = int.from_bytes(text[8:12], "little")
    known = STATUSES[status] if status < len(STATUSES) else str(status)
    return About(int.from_bytes(text[:8], "little"), known, *parts)


def _tiles(data: npt.NDArray[np.uint8]) -> Words:
    return data.view("<u4").reshape(-1, TILE_WORDS)


def _error(name: str, given: str, allowed: str) -> InputFileError:
    return InputFileError.of(
        "coredump",
        given,
        allowed,
        f"the file is no coredump: it has {given}, where a coredump has {allowed}",
        reason="coredump",
        where=name,
        source=_SOURCE,
    )
