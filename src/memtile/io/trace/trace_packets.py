"""Trace packets in files: the words of a file (text, binary, NumPy), and the packets in them, by unit.

Packets of several units are interleaved as the stream switches merged them. A header is a word of odd parity
whose unused bits are 0; zeros in the place of a header are memory that was never written. Anything else there
is skipped up to the next word that a packet can begin with, and reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.registers import WORD_BITS, field_of
from memtile.arch.tiles import WORD_BYTES
from memtile.arch.trace_facts import PACKET_WORDS
from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.npy import array_of

_COLUMN, _ROW = field_of(STREAM_HEADER, "Column"), field_of(STREAM_HEADER, "Row")
_TYPE, _ID = field_of(STREAM_HEADER, "Packet_Type"), field_of(STREAM_HEADER, "Stream_ID")
_PARITY = field_of(STREAM_HEADER, "Parity")
_USED = _PARITY.mask | _COLUMN.mask | _ROW.mask | _TYPE.mask | _ID.mask
_UNUSED = ((1 << WORD_BITS) - 1) & ~_USED
_AM020 = "AM020, stream packet header"
_FOLLOWERS = 2  # headers that must follow one which is found by searching


class Sender(NamedTuple):
    """The trace unit that a packet header names: array coordinates, packet type and stream id."""

    column: int
    row: int
    packet_type: int
    stream_id: int


@dataclass(frozen=True, slots=True)
class TracePacket:
    """One packet.

    Attributes:
        at: word of the stream where its header is.
        sender: from its header.
        payload: the words after the header; fewer than seven only if the stream ends.
    """

    at: int
    sender: Sender
    payload: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Words of the stream that belong to no packet: what was there is lost, whoever sent it."""

    at: int
    words: int


def sender_of(word: int) -> Sender | None:
    """The sender of the packet that begins with ``word``; None if no trace packet can begin with it."""
    if word & _UNUSED or not word.bit_count() % 2:
        return None
    return Sender(_COLUMN.get(word), _ROW.get(word), _TYPE.get(word), _ID.get(word))


def packets(words: Sequence[int], name: str, problems: list[Problem]) -> Iterator[TracePacket | Gap]:
    """The packets of a stream in order, and the places of everything else.

    Args:
        words: the stream; trailing zeros are memory that was never written.
        name: of the stream, for messages.
        problems: what is wrong is appended here, with its word.
    """
    end = _written(words)
    at = 0
    while at < end:
        if words[at] == 0:
            at += 1
            continue
        sender = sender_of(words[at])
        if sender is None:
            after = _next_header(words, at + 1, end)
            problems.append(_no_header(name, at, words[at], after - at))
            yield Gap(at, after - at)
            at = after
            continue
        payload = tuple(words[at + 1 : min(at + PACKET_WORDS, end)])
        if len(payload) < PACKET_WORDS - 1:
            problems.append(_cut(name, at, 1 + len(payload)))
        yield TracePacket(at, sender, payload)
        at += PACKET_WORDS


def _written(words: Sequence[int]) -> int:
    end = len(words)
    while end and words[end - 1] == 0:
        end -= 1
    return end


def _next_header(words: Sequence[int], first: int, end: int) -> int:
    """Where the next packet can begin: a header, and after it two more, zeros, or the end, a packet apart."""
    for at in range(first, end):
        after = range(at + PACKET_WORDS, end, PACKET_WORDS)[:_FOLLOWERS]
        if sender_of(words[at]) and all(words[n] == 0 or sender_of(words[n]) for n in after):
            return at
    return end


def _no_header(name: str, at: int, word: int, skipped: int) -> Problem:
    return Problem(
        "packet header",
        f"{word:#010x}",
        "odd parity, and 0 in the bits without a field",
        f"the word {word:#010x} is not a packet header, "
        "which has odd parity and 0 in the bits without a field",
        f"{skipped} word{'s' * (skipped != 1)} skipped; times after that are lower bounds.",
        reason="trace_header",
        where=f"{name}, word {at}",
        source=_AM020,
    )


def _cut(name: str, at: int, words: int) -> Problem:
    return Problem(
        "packet",
        f"{words} words",
        f"{PACKET_WORDS} words",
        f"the stream ends within a packet: {words} of its {PACKET_WORDS} words are there",
        "A larger trace buffer keeps the rest.",
        reason="trace_packet_cut",
        where=f"{name}, word {at}",
        source=_AM020,
    )


def senders(found: Iterable[TracePacket | Gap]) -> dict[Sender, list[TracePacket | Gap]]:
    """The packets of each sender in order of first appearance, with every gap that its packets may miss."""
    sorted_: dict[Sender, list[TracePacket | Gap]] = {}
    gaps: list[Gap] = []
    for item in found:
        if isinstance(item, Gap):
            gaps.append(item)
            for items in sorted_.values():
                items.append(item)
        else:
            sorted_.setdefault(item.sender, list(gaps)).append(item)
    return sorted_


TraceFormat = Literal["hex", "bin", "npy"]
Words = npt.NDArray[np.uint32]

_SOURCE = "trace file conventions of mlir-aie"
_HEX = re.compile(r"(?:0[xX])?[0-9a-fA-F]{1,8}")
_NUMPY = b"\x93NUMPY"
_TEXT = frozenset(b"\t\n\r") | frozenset(range(ord(" "), ord("~") + 1))


def read_words(data: bytes, name: str, format: TraceFormat | None = None) -> Words:
    """The words of a trace file, uint32.

    Args:
        data: all bytes of the file.
        name: of the file, for messages.
        format: of the file; None = find out: a NumPy array begins with its magic, all else that is plain
            ASCII is hexadecimal text.

    Raises:
        InputFileError: it is not a file of that format; all wrong lines at once.
    """
    return _READERS[format or _format_of(data)](data, name)


def _format_of(data: bytes) -> TraceFormat:
    if data.startswith(_NUMPY):
        return "npy"
    return "hex" if _TEXT.issuperset(data) else "bin"


def _read_hex(data: bytes, name: str) -> Words:
    lines = enumerate(data.decode("ascii", "replace").splitlines(), 1)
    items = [(number, item) for number, line in lines for item in line.split()]
    wrong = [
        Problem(
            "word",
            repr(item),
            "one to eight hexadecimal digits",
            reason="trace_word",
            where=f"{name}, line {n}",
            source=_SOURCE,
        )
        for n, item in items
        if not _HEX.fullmatch(item)
    ]
    raise_if(wrong, InputFileError)
    return np.array([int(item, 16) for _, item in items], dtype=np.uint32)


def _read_bin(data: bytes, name: str) -> Words:
    if len(data) % WORD_BYTES:
        raise InputFileError.of(
            "length",
            f"{len(data)} bytes",
            f"whole words of {WORD_BYTES} bytes",
            f"the file has {len(data)} bytes; it must have whole words of {WORD_BYTES} bytes",
            reason="trace_bytes",
            where=name,
            source=_SOURCE,
        )
    return np.frombuffer(data, dtype="<u4").astype(np.uint32)


def _read_npy(data: bytes, name: str) -> Words:
    array = array_of(data, name)
    if array.dtype.kind not in "iu" or array.dtype.itemsize != WORD_BYTES:
        raise InputFileError.of(
            "array",
            f"dtype {array.dtype}",
            "uint32 or int32",
            f"the array is of {array.dtype}; it must be of uint32 or int32",
            reason="trace_dtype",
            where=name,
            source=_SOURCE,
        )
    return array.reshape(-1).astype(np.uint32)


_READERS: Mapping[TraceFormat, Callable[[bytes, str], Words]] = MappingProxyType(
    {"hex": _read_hex, "bin": _read_bin, "npy": _read_npy}
)
