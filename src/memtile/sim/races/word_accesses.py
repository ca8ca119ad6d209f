"""Every word of memory: who wrote it last, who has read it since, and what comes without an order."""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.checking.notes import EXTERNAL
from memtile.sim.races.race_book import (
    FINDINGS,
    INITIAL,
    READERS,
    SITE_LSB,
    SITES,
    SLOT_LSB,
    TIME,
    RaceField,
    RaceKind,
    RaceLog,
)

_MOST = FINDINGS * 3 // 4
_PRIME = 2654435761  # near 2**32 / golden ratio: spreads keys (Knuth)


@jit
def place_of(book: RaceLog, word: int) -> int:
    """Place of a word that a note names; -1 = in external memory that is not known."""
    if word < EXTERNAL:
        return word
    address = word - EXTERNAL
    for region in range(book.regions.shape[0]):
        inside = address - book.regions[region, 0]
        if 0 <= inside < book.regions[region, 1]:
            return int(book.regions[region, 2] + inside)
    return -1


@jit
def record(book: RaceLog, kind: int, earlier: int, later: int, word: int, since: int, cycle: int) -> None:
    """One more word of a finding: the same sites of the same agents have one."""
    here, there = earlier >> SITE_LSB, later >> SITE_LSB
    at = (((here * 31 + there) * 31 + kind) * _PRIME >> 7) & (FINDINGS - 1)
    found = book.found
    while found[at, RaceField.KIND] != 0:
        same = found[at, RaceField.KIND] == kind and found[at, RaceField.EARLIER] == here
        if same and found[at, RaceField.LATER] == there:
            found[at, RaceField.COUNT] += 1
            found[at, RaceField.FIRST] = min(found[at, RaceField.FIRST], word)
            found[at, RaceField.LAST] = max(found[at, RaceField.LAST], word)
            found[at, RaceField.LAST_CYCLE] = cycle
            return
        at = (at + 1) & (FINDINGS - 1)
    if book.counts[0] == _MOST:
        book.counts[1] += 1
        return
    book.counts[0] += 1
    found[at, RaceField.KIND], found[at, RaceField.EARLIER], found[at, RaceField.LATER] = kind, here, there
    found[at, RaceField.COUNT], found[at, RaceField.FIRST], found[at, RaceField.LAST] = 1, word, word
    found[at, RaceField.EARLIER_CYCLE] = since
    found[at, RaceField.CYCLE], found[at, RaceField.LAST_CYCLE] = cycle, cycle


@inlined
def over_for(book: RaceLog, slot: int, epoch: int) -> bool:
    """Whether what happened in an epoch is known to be over for an agent."""
    return bool(book.clocks[slot, epoch >> SLOT_LSB] >= epoch & TIME)


@inlined
def epoch_of(book: RaceLog, slot: int, site: int) -> int:
    """The present epoch of an agent at a site."""
    return int(slot << SLOT_LSB | site << SITE_LSB | book.clocks[slot, slot])


@inlined
def note_reader(book: RaceLog, slot: int, word: int, epoch: int) -> int:
    """Remember a read; the epoch in which the agent read the word before, 0 = it did not."""
    readers = book.readers
    for n in range(READERS):
        known = readers[word, n]
        if known == 0 or known >> SLOT_LSB == slot or over_for(book, slot, known):
            readers[word, n] = epoch
            return int(known) if known != 0 and known >> SLOT_LSB == slot else 0
    readers[word, READERS - 1] = epoch
    return 0


@jit
def look_back(book: RaceLog, slot: int, word: int, before: int, epoch: int, cycle: int) -> None:
    """A word is read once more: the agent was given a lock since, and not for this word."""
    written = book.written[word]
    writer = written >> SLOT_LSB
    if before & TIME <= book.acquired[slot] and written != INITIAL and book.giver[slot] == writer:
        record(book, RaceKind.STALE, written, epoch, word, book.written_at[word], cycle)


@jit
def read_words(book: RaceLog, slot: int, site: int, first: int, words: int, cycle: int) -> None:
    """An agent reads words."""
    epoch = epoch_of(book, slot, site)
    for word in range(first, first + words):
        written = book.written[word]
        if written == 0 and word < book.counts[2] and slot > 0:  # a host may read what it writes in part
            record(book, RaceKind.NEVER_WRITTEN, 0, epoch, word, -1, cycle)
        elif not over_for(book, slot, written):
            kind = RaceKind.OVERWRITTEN if book.unread[word] else RaceKind.WRITE_READ
            record(book, kind, written, epoch, word, book.written_at[word], cycle)
        before = note_reader(book, slot, word, epoch)
        if before != 0 and written != 0:
            look_back(book, slot, word, before, epoch, cycle)


@jit
def write_over(book: RaceLog, slot: int, word: int, epoch: int, cycle: int) -> None:
    """A word that was written before is written: was that over, and had anybody read it?"""
    written, known = book.written[word], False
    if written != 0 and not over_for(book, slot, written):
        record(book, RaceKind.WRITE_WRITE, written, epoch, word, book.written_at[word], cycle)
    for n in range(READERS):
        reader = book.readers[word, n]
        if reader == 0:
            break
        known = True
        if not over_for(book, slot, reader):
            record(book, RaceKind.READ_WRITE, reader, epoch, word, -1, cycle)
        book.readers[word, n] = 0
    book.unread[word] = 0
    if written != 0 and written & TIME != 0:
        writer, site = written >> SLOT_LSB, written >> SITE_LSB & (SITES - 1)
        book.over[writer, site] += 1
        if not known:
            book.lost[writer, site] += 1
            book.unread[word] = 1


@jit
def write_words(book: RaceLog, slot: int, site: int, first: int, words: int, cycle: int) -> None:
    """An agent writes words."""
    epoch = epoch_of(book, slot, site)
    for word in range(first, first + words):
        if book.written[word] != 0 or book.readers[word, 0] != 0:
            write_over(book, slot, word, epoch, cycle)
        book.written[word] = epoch
        book.written_at[word] = cycle


@jit
def fill_words(book: RaceLog, first: int, words: int) -> None:
    """Words have contents from before."""
    for word in range(first, first + words):
        book.written[word] = INITIAL
        book.unread[word] = 0
        for n in range(READERS):
            book.readers[word, n] = 0
