"""Going through notes, in the order in which they were made: the part that is compiled."""

from __future__ import annotations

from typing import NamedTuple

from memtile.jit.decorators import ENABLED, entry, jit
from memtile.jit.structs import Struct, dereference, place_of
from memtile.model.checking.notes import AGENT_LSB, SITE_LSB, Note
from memtile.model.state.columns import Ints
from memtile.sim.races import order, words
from memtile.sim.races.book import Book
from memtile.sim.sources import RACES

COMPILED = RACES
"""What the code of :func:`read_through` is made of."""
_SITE = (1 << (AGENT_LSB - SITE_LSB)) - 1
_WHAT = (1 << SITE_LSB) - 1
_WORD_SITE = 0xFFFF


class _Notes(NamedTuple):
    rows: Ints


class Notes(_Notes, Struct):
    """Notes, a row each."""


_book_in, _notes_in = dereference(Book), dereference(Notes)


@jit
def access(book: Book, what: int, slot: int, site: int, subject: int, count: int, cycle: int) -> None:
    """A note about words."""
    first = words.place_of(book, subject)
    if what == Note.READ:
        book.clocks[slot, slot] += book.streams[slot]
        if first >= 0:
            words.read_words(book, slot, site & _WORD_SITE, first, count, cycle)
    elif first >= 0 and what == Note.WRITE:
        words.write_words(book, slot, site & _WORD_SITE, first, count, cycle)
    elif first >= 0:
        words.fill_words(book, first, count)


@jit
def lock_note(book: Book, what: int, slot: int, lock: int, extra: int) -> None:
    """A note about a lock."""
    if what == Note.ACQUIRE:
        order.acquire(book, slot, lock, extra)
    elif what == Note.RELEASE:
        order.release(book, slot, lock, extra)
    elif what == Note.SET:
        order.set_lock(book, slot, lock, extra)
    else:
        order.ask_lock(book, lock, slot)


@jit
def order_note(book: Book, what: int, slot: int, subject: int, slots: int) -> None:
    """A note about what comes before what without a lock."""
    if what == Note.JOIN:
        order.join_label(book, slot, subject)
    elif what == Note.SEND:
        order.send(book, slot, subject)
    elif what == Note.LOOK:
        if book.slots[subject] >= 0:
            order.learn(book, slot, book.slots[subject])
    elif what == Note.START:
        order.learn(book, book.slots[subject], slot)
        order.tick(book, slot)
    elif what == Note.BARRIER:
        order.synchronise(book, slots)


@jit
def go_through(book: Book, notes: Ints, count: int, slots: int) -> None:
    """All notes; whoever they are about has a slot, and every lock a row."""
    for n in range(count):
        head = notes[n, 0]
        what, slot = head & _WHAT, book.slots[head >> AGENT_LSB]
        if what == Note.READ or what == Note.WRITE or what == Note.FILL:
            access(book, what, slot, head >> SITE_LSB & _SITE, notes[n, 1], notes[n, 2], notes[n, 3])
        elif what == Note.ACQUIRE or what == Note.RELEASE or what == Note.SET or what == Note.LOOK_AT_LOCK:
            lock_note(book, what, slot, book.locks[notes[n, 1]], notes[n, 2])
        else:
            order_note(book, what, slot, notes[n, 1], slots)


@entry(COMPILED, Book, Notes)
def read_through(book: int, notes: int, count: int, slots: int) -> int:
    """Go through the notes at an address with the book at an address."""
    go_through(_book_in(book), _notes_in(notes).rows, count, slots)
    return 0


def read_notes(book: Book, notes: Ints, count: int, slots: int) -> None:
    """Go through notes, compiled or not."""
    if ENABLED:
        given = Notes(notes)
        read_through(book, place_of(given).address, count, slots)
    else:
        go_through(book, notes, count, slots)
