"""Trace packets in a stream of words: found by their headers, sorted by the unit that sent them.

Packets of several units are interleaved as the stream switches merged them. A header is a word of odd parity
whose unused bits are 0; zeros in the place of a header are memory that was never written. Anything else there
is skipped up to the next word that a packet can begin with, and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.registers import WORD_BITS, field_of
from memtile.arch.trace_facts import PACKET_WORDS
from memtile.errors import Problem

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
