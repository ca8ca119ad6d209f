"""Do the clocks of the race check know the first epoch of a host, and the oldest words of a core?"""

from __future__ import annotations

import numpy as np

from memtile.model.checking.notes import LABEL_LSB, SENDER_LSB
from memtile.sim.races.race_book import VERSIONS, RaceField, RaceKind, RaceLog, empty_book, grown, room
from memtile.sim.races.vector_clocks import join_core, join_label, send
from memtile.sim.races.word_accesses import write_words

HOST, WRITER, READER = range(3)


def log() -> RaceLog:
    """A log of three agents, each at its first time."""
    made = grown(empty_book(3, 0, 8), 3, 0, 0)
    for slot in range(3):
        made.clocks[slot, slot] = 1
    return made


def test_a_write_over_what_a_host_wrote_first_is_a_race() -> None:
    """Its epoch is the number 1: slot 0, site 0, time 1."""
    book = log()
    write_words(book, HOST, 0, 3, 1, 5)
    assert book.written[3] == 1
    write_words(book, WRITER, 0, 3, 1, 9)
    assert book.counts[0] == 1
    assert book.found[:, RaceField.KIND].max() == RaceKind.WRITE_WRITE


def test_a_word_older_than_all_that_are_kept_brings_what_the_oldest_knows() -> None:
    book = log()
    book.clocks[WRITER, HOST] = 7
    for number in (5, 6):
        send(book, WRITER, number << LABEL_LSB)
        book.clocks[WRITER, HOST] += 1
    assert VERSIONS > 2
    join_core(book, READER, WRITER, 3)
    assert book.clocks[READER, HOST] == 7
    join_core(book, READER, WRITER, 6)
    assert book.clocks[READER, HOST] == 8


def test_a_word_of_a_channel_brings_what_the_newest_before_it_knows_and_else_the_oldest() -> None:
    book = log()
    book.streams[WRITER] = 1
    book.slots[WRITER] = WRITER
    book.clocks[WRITER, HOST] = 7
    for number in (5, 6):
        send(book, WRITER, number << LABEL_LSB)
        book.clocks[WRITER, HOST] += 1
    for number, known in ((4, 7), (6, 7), (7, 8)):
        join_label(book, READER, WRITER << SENDER_LSB | number << LABEL_LSB)
        assert book.clocks[READER, HOST] == known, number
    assert book.clocks[READER, WRITER] == 7


def test_more_room_keeps_what_is_known_and_what_is_free() -> None:
    """Rows that are in use stay so, each other one is free once, and what rows hold stays in its place."""
    book = grown(empty_book(3, 0, 8), 3, 2, 5)
    assert room(book) == (3, 2, 5)
    book.free[0] = 2  # the other three are in use
    kept = set(book.free[1:3].tolist())
    used = {*range(5)} - kept
    book.kept[:] = np.arange(15).reshape(5, 3)
    book.clocks[:] = 7
    wider = grown(book, 4, 3, 9)
    assert room(wider) == (4, 3, 6)
    free = wider.free[1:7].tolist()
    assert sorted(free) == sorted({*range(9)} - used)
    assert np.array_equal(wider.kept[:5, :3], book.kept)
    assert not wider.kept[5:].any()
    assert (wider.clocks[:3, :3] == 7).all()
    assert not wider.clocks[3].any()
