"""Going through notes, in the order in which they were made: the part that is compiled."""

from __future__ import annotations

from typing import NamedTuple

from memtile.jit.decorators import ENABLED, entry, jit
from memtile.jit.structs import Struct, dereference, place_of
from memtile.model.checking.notes import AGENT_LSB, SITE_LSB, NoteKind
from memtile.model.state.columns import Ints
from memtile.sim.loop.compiled_sources import RACES
from memtile.sim.races import vector_clocks, word_accesses
from memtile.sim.races.race_book import SITES, RaceLog

COMPILED = RACES
"""What the code of :func:`read_through` is made of."""
_SITE = (1 << (AGENT_LSB - SITE_LSB)) - 1
_WHAT = (1 << SITE_LSB) - 1
_WORD_SITE = 0xFFFF


class _Notes(NamedTuple):
    rows: Ints


class Notes(_Notes, Struct):
    """Notes, a row each."""


_book_in, _notes_in = dereference(RaceLog), dereference(Notes)


@jit
def access(book: RaceLog, what: int, slot: int, site: int, subject: int, count: int, cycle: int) -> None:
    """A note about words."""
    first = word_accesses.place_of(book, subject)
    if what == NoteKind.READ:
        book.clocks[slot, slot] += book.streams[slot]
        if first >= 0:
            word_accesses.read_words(book, slot, site & _WORD_SITE, first, count, cycle)
    elif first >= 0 and what == NoteKind.WRITE:
        word_accesses.write_words(book, slot, site & _WORD_SITE, first, count, cycle)
    elif first >= 0:
        word_accesses.fill_words(book, first, count)
    book.used[slot, site & (SITES - 1)] = book.clocks[slot, slot]


@jit
def lock_note(book: RaceLog, what: int, slot: int, lock: int, extra: int) -> None:
    """A note about a lock."""
    if what == NoteKind.ACQUIRE:
        vector_clocks.acquire(book, slot, lock, extra)
    elif what == NoteKind.RELEASE:
        vector_clocks.release(book, slot, lock, extra)
    elif what == NoteKind.SET:
        vector_clocks.set_lock(book, slot, lock, extra)
    else:
        vector_clocks.ask_lock(book, lock, slot)


@jit
def order_note(book: RaceLog, what: int, slot: int, subject: int, slots: int) -> None:
    """A note about what comes before what without a lock."""
    if what == NoteKind.JOIN:
        vector_clocks.join_label(book, slot, subject)
    elif what == NoteKind.SEND:
        vector_clocks.send(book, slot, subject)
    elif what == NoteKind.LOOK:
        if book.slots[subject] >= 0:
            vector_clocks.learn(book, slot, book.slots[subject])
            vector_clocks.tick(book, book.slots[subject])
    elif what == NoteKind.START:
        vector_clocks.learn(book, book.slots[subject], slot)
        vector_clocks.tick(book, slot)
    elif what == NoteKind.BARRIER:
        vector_clocks.synchronise(book, slots)


@jit
def go_through(book: RaceLog, notes: Ints, count: int, slots: int) -> None:
    """All notes; whoever they are about has a slot, and every lock a row."""
    for n in range(count):
        head = notes[n, 0]
        what, slot = head & _WHAT, book.slots[head >> AGENT_LSB]
        if what == NoteKind.READ or what == NoteKind.WRITE or what == NoteKind.FILL:
            access(book, what, slot, head >> SITE_LSB & _SITE, notes[n, 1], notes[n, 2], notes[n, 3])
        elif (
            what == NoteKind.ACQUIRE
            or what == NoteKind.RELEASE
            or what == NoteKind.SET
            or what == NoteKind.LOOK_AT_LOCK
        ):
            lock_note(book, what, slot, book.locks[notes[n, 1]], notes[n, 2])
        else:
            order_note(book, what, slot, notes[n, 1], slots)


@entry(COMPILED, RaceLog, Notes)
def read_through(book: int, notes: int, count: int, slots: int) -> int:
    """Go through the notes at an address with the book at an address."""
    go_through(_book_in(book), _notes_in(notes).rows, count, slots)
    return 0


def read_notes(book: RaceLog, notes: Ints, count: int, slots: int) -> None:
    """Go through notes, compiled or not."""
    if ENABLED:
        given = Notes(notes)
        read_through(book, place_of(given).address, count, slots)
    else:
        go_through(book, notes, count, slots)
