"""What is known while the notes of a run are gone through: clocks, locks, and who used each word last.

Every agent that has done anything has a slot, a clock of its own, and for every other agent the time up to
which all that one did is known to be over (a vector clock; Lamport, Mattern). An MM2S channel's clock counts
its accesses, those of others what they acquire and release. An epoch is an agent at a time of its clock:
``slot << 48 | site << 32 | time``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.jit.structs import Struct
from memtile.model.state.columns import Bytes, Ints

VERSIONS = 8  # clocks of an MM2S channel that are kept for its words under way
CREDITS = 64  # releases of a lock that nobody has taken
READERS = 3  # of a word, none of which comes before another one
SITES = 64  # of an agent, for what is counted by site
FINDINGS = 4096  # places for findings: a power of two
SLOT_LSB, SITE_LSB = 48, 32
TIME = (1 << SITE_LSB) - 1
SITE = (1 << (SLOT_LSB - SITE_LSB)) - 1
INITIAL = 1 << SITE_LSB  # epoch of what was there before: of slot 0 at time 0
NOBODY = -1


class RaceKind(IntEnum):
    """What was found."""

    WRITE_READ = 1  # a word was written, then read
    READ_WRITE = 2  # a word was read, then written
    WRITE_WRITE = 3
    NEVER_WRITTEN = 4
    OVERWRITTEN = 5  # as WRITE_READ, of a word whose last contents nobody had read
    STALE = 6  # a word was read again after a lock was taken that its writer had released since


class RaceField(IntEnum):
    """Columns of ``RaceLog.found``; what is earlier, and what came then."""

    KIND = 0
    EARLIER = 1  # slot and site of the epoch
    LATER = 2
    COUNT = 3  # words, as often as they were met
    FIRST = 4  # word
    LAST = 5
    EARLIER_CYCLE = 6  # of the first case; -1 = not known
    CYCLE = 7
    LAST_CYCLE = 8


class BookTables(NamedTuple):
    """Fields of ``RaceLog``; S slots, L locks, P rows of kept clocks, W words."""

    slots: Ints  # by agent: its slot, NOBODY = it has none
    clocks: Ints  # (S, S) row: what the agent knows of each
    streams: Ints  # (S) 1 = its own time counts its accesses
    acquired: Ints  # (S) its own time when it took a lock last
    giver: Ints  # (S) slot of whoever gave that lock, NOBODY = it had its value from the start
    versions: Ints  # (S) how many so far
    version_start: Ints  # (S, VERSIONS) own time from which on
    version_clock: Ints  # (S, VERSIONS, S)
    locks: Ints  # by lock of the model: its row, NOBODY = it has none
    total: Ints  # (L, S) of all that used the lock
    credit_row: Ints  # (L, CREDITS) row of kept, NOBODY = nobody gave it
    credit_units: Ints  # (L, CREDITS)
    credit_giver: Ints  # (L, CREDITS) slot
    credit_first: Ints  # (L)
    credits: Ints  # (L)
    kept: Ints  # (P, S) clocks of releases
    free: Ints  # [0] how many; then the free rows of kept
    regions: Ints  # (buffer, [first word, words, place]) external memory, as places behind data memory
    written: Ints  # (W) epoch, 0 = nobody has written it
    written_at: Ints  # (W) cycle
    readers: Ints  # (W, READERS) epochs since then
    unread: Bytes  # (W) 1 = what was there before was never read
    found: Ints  # (FINDINGS, Field)
    used: Ints  # (S, SITES) own time of the last access of a site, of a channel: of a BD
    over: Ints  # (S, SITES) words of a writer's site that were written over
    lost: Ints  # (S, SITES) those of them that nobody had read
    counts: Ints  # [findings, findings that had no place, words that nobody wrote if no one is known to have]


class RaceLog(BookTables, Struct):
    """All of it."""


def empty_book(agents: int, locks: int, words: int) -> RaceLog:
    """A book about a run that has not begun.

    Args:
        agents: of the model.
        locks: of the model.
        words: of data memory, all tiles.
    """
    sizes: Mapping[str, Any] = {
        "written": words,
        "written_at": words,
        "readers": (words, READERS),
        "found": (FINDINGS, len(RaceField)),
        "counts": 3,
        "regions": (0, 3),
    }
    made = {name: np.zeros(shape, np.int64) for name, shape in sizes.items()}
    made["slots"] = np.full(agents, NOBODY, np.int64)
    made["locks"] = np.full(locks, NOBODY, np.int64)
    return RaceLog(**made, unread=np.zeros(words, np.uint8), **_sized(0, 0, 0))


def _sized(slots: int, locks: int, rows: int) -> dict[str, Any]:
    """The arrays that grow."""
    shapes: Mapping[str, Any] = {
        "clocks": (slots, slots),
        "streams": slots,
        "acquired": slots,
        "giver": slots,
        "versions": slots,
        "version_start": (slots, VERSIONS),
        "version_clock": (slots, VERSIONS, slots),
        "total": (locks, slots),
        "credit_row": (locks, CREDITS),
        "credit_units": (locks, CREDITS),
        "credit_giver": (locks, CREDITS),
        "credit_first": locks,
        "credits": locks,
        "kept": (rows, slots),
        "free": rows + 1,
        "used": (slots, SITES),
        "over": (slots, SITES),
        "lost": (slots, SITES),
    }
    return {name: np.zeros(shape, np.int64) for name, shape in shapes.items()}


def grown(book: RaceLog, slots: int, locks: int, rows: int) -> RaceLog:
    """The book with room for so many slots, locks and stored clocks."""
    before = len(book.kept)
    made = _sized(slots, locks, rows)
    for name, array in made.items():
        old = getattr(book, name)
        array[tuple(slice(size) for size in old.shape)] = old
    added = np.arange(before, rows)
    made["free"][1 + int(book.free[0]) if before else 1 :][: len(added)] = added
    made["free"][0] = (int(book.free[0]) if before else 0) + len(added)
    return book._replace(**made)


def room(book: RaceLog) -> tuple[int, int, int]:
    """Slots, locks and free rows that there are."""
    return len(book.clocks), len(book.total), int(book.free[0])


def with_words(book: RaceLog, words: int, regions: npt.NDArray[np.int64]) -> RaceLog:
    """The book with places for more words, those of external memory."""
    made: dict[str, Any] = {"regions": regions}
    for name in ("written", "written_at", "readers", "unread"):
        old = getattr(book, name)
        new = np.zeros((words, *old.shape[1:]), old.dtype)
        touched = np.flatnonzero(book.written)
        new[touched] = old[touched]
        if name == "readers":
            read = np.flatnonzero(old[:, 0])
            new[read] = old[read]
        made[name] = new
    return book._replace(**made)
