"""What comes before what: the vector clocks of agents, of locks, and of words on their way.

A lock hands over what its releases came after, each release to whoever takes it: the units of a lock are
taken in the order in which they were given, and those that it began with come from nobody. So a writer that
gets a unit which no reader gave back is not taken for one that waited for the reader. With one releaser that
is exact. With several of them it may take an order for granted that only this run had, never the other way
round; and an acquire of an exact value waits for those who took the lock, too, so it knows of all of them.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.checking.notes import LABEL_LSB, SENDER_LSB
from memtile.sim.races.race_book import CREDITS, NOBODY, VERSIONS, RaceLog

_READS = (1 << (SENDER_LSB - LABEL_LSB)) - 1


@inlined
def tick(book: RaceLog, slot: int) -> None:
    """What the agent does from now on is later; an MM2S channel's time goes on by its accesses."""
    if book.streams[slot] == 0:
        book.clocks[slot, slot] += 1


@jit
def begin_version(book: RaceLog, slot: int) -> None:
    """Keep what an MM2S channel knows from now on, for the words that it sends."""
    if book.streams[slot] == 0:
        return
    at = book.versions[slot] % VERSIONS
    book.versions[slot] += 1
    book.version_start[slot, at] = book.clocks[slot, slot]
    for other in range(book.clocks.shape[1]):
        book.version_clock[slot, at, other] = book.clocks[slot, other]


@jit
def learn(book: RaceLog, slot: int, of: int) -> None:
    """An agent knows all that another one does now."""
    for other in range(book.clocks.shape[1]):
        book.clocks[slot, other] = max(book.clocks[slot, other], book.clocks[of, other])
    begin_version(book, slot)


@jit
def synchronise(book: RaceLog, slots: int) -> None:
    """All that was done comes before all that will be."""
    for other in range(slots):
        for slot in range(slots):
            book.clocks[slot, other] = max(book.clocks[slot, other], book.clocks[other, other])
    for slot in range(slots):
        begin_version(book, slot)
        tick(book, slot)


@jit
def send(book: RaceLog, slot: int, label: int) -> None:
    """A core sends a word: keep what it knows, under the number of the word."""
    at = book.versions[slot] % VERSIONS
    book.versions[slot] += 1
    book.version_start[slot, at] = (label >> LABEL_LSB) & _READS
    for other in range(book.clocks.shape[1]):
        book.version_clock[slot, at, other] = book.clocks[slot, other]
    tick(book, slot)


@jit
def join_core(book: RaceLog, slot: int, sender: int, number: int) -> None:
    """A word of a core has come; of words too long ago, the oldest one that is kept is taken for it."""
    kept = min(book.versions[sender], VERSIONS)
    for back in range(1, kept + 1):
        at = (book.versions[sender] - back) % VERSIONS
        if book.version_start[sender, at] <= number or back == kept:
            for other in range(book.clocks.shape[1]):
                known = book.version_clock[sender, at, other]
                book.clocks[slot, other] = max(book.clocks[slot, other], known)
            return


@jit
def join_label(book: RaceLog, slot: int, label: int) -> None:
    """A word has come that an MM2S channel sent: what came before it there comes before what follows."""
    sender = book.slots[label >> SENDER_LSB]
    reads = (label >> LABEL_LSB) & _READS
    if sender >= 0 and book.streams[sender] == 0:
        join_core(book, slot, sender, reads)
        return
    if sender < 0 or book.clocks[slot, sender] >= reads:
        return
    newest = book.versions[sender]
    for back in range(1, min(newest, VERSIONS) + 1):
        at = (newest - back) % VERSIONS
        if book.version_start[sender, at] < reads or back == min(newest, VERSIONS):
            if book.clocks[slot, sender] <= book.version_start[sender, at]:
                for other in range(book.clocks.shape[1]):
                    known = book.version_clock[sender, at, other]
                    book.clocks[slot, other] = max(book.clocks[slot, other], known)
            break
    book.clocks[slot, sender] = max(book.clocks[slot, sender], reads)


@jit
def put_credit(book: RaceLog, lock: int, slot: int, units: int) -> None:
    """Units of a lock that an agent gives; NOBODY = that it has from the start."""
    if units <= 0:
        return
    if book.credits[lock] == CREDITS or (slot >= 0 and book.free[0] == 0):
        merge_credit(book, lock, slot, units)
        return
    at = (book.credit_first[lock] + book.credits[lock]) % CREDITS
    book.credits[lock] += 1
    book.credit_units[lock, at] = units
    book.credit_giver[lock, at] = slot
    book.credit_row[lock, at] = NOBODY
    if slot >= 0:
        row = book.free[book.free[0]]
        book.free[0] -= 1
        book.credit_row[lock, at] = row
        for other in range(book.clocks.shape[1]):
            book.kept[row, other] = book.clocks[slot, other]


@jit
def merge_credit(book: RaceLog, lock: int, slot: int, units: int) -> None:
    """Add units of a lock where no place is free: the newest units come after both givers."""
    if book.credits[lock] == 0:
        return
    at = (book.credit_first[lock] + book.credits[lock] - 1) % CREDITS
    book.credit_units[lock, at] += units
    row = book.credit_row[lock, at]
    if row >= 0 and slot >= 0:
        for other in range(book.clocks.shape[1]):
            book.kept[row, other] = max(book.kept[row, other], book.clocks[slot, other])


@jit
def drop_oldest(book: RaceLog, lock: int) -> None:
    """The oldest units of a lock are taken."""
    at = book.credit_first[lock]
    if book.credit_row[lock, at] >= 0:
        book.free[0] += 1
        book.free[book.free[0]] = book.credit_row[lock, at]
    book.credit_first[lock] = (at + 1) % CREDITS
    book.credits[lock] -= 1


@jit
def take_credits(book: RaceLog, lock: int, slot: int, units: int) -> None:
    """An agent takes units of a lock, and what came before they were given is over; NOBODY = they vanish."""
    left = units
    while left > 0 and book.credits[lock] > 0:
        at = book.credit_first[lock]
        row, taken = book.credit_row[lock, at], min(left, book.credit_units[lock, at])
        if slot >= 0:
            book.giver[slot] = book.credit_giver[lock, at]
            if row >= 0:
                for other in range(book.clocks.shape[1]):
                    book.clocks[slot, other] = max(book.clocks[slot, other], book.kept[row, other])
        book.credit_units[lock, at] -= taken
        left -= taken
        if book.credit_units[lock, at] == 0:
            drop_oldest(book, lock)


@jit
def tell_lock(book: RaceLog, lock: int, slot: int) -> None:
    """An agent has used a lock."""
    for other in range(book.clocks.shape[1]):
        book.total[lock, other] = max(book.total[lock, other], book.clocks[slot, other])


@jit
def ask_lock(book: RaceLog, lock: int, slot: int) -> None:
    """An agent knows of all that used a lock."""
    for other in range(book.clocks.shape[1]):
        book.clocks[slot, other] = max(book.clocks[slot, other], book.total[lock, other])


@jit
def acquire(book: RaceLog, slot: int, lock: int, operand: int) -> None:
    """An acquire was granted."""
    if operand < 0:
        take_credits(book, lock, slot, -operand)
    else:
        ask_lock(book, lock, slot)
    tell_lock(book, lock, slot)
    tick(book, slot)
    book.acquired[slot] = book.clocks[slot, slot]
    begin_version(book, slot)
    if book.streams[slot] == 0:
        book.acquired[slot] -= 1


@jit
def release(book: RaceLog, slot: int, lock: int, change: int) -> None:
    """A release was made."""
    if change > 0:
        put_credit(book, lock, slot, change)
    else:
        take_credits(book, lock, NOBODY, -change)
    tell_lock(book, lock, slot)
    tick(book, slot)


@jit
def set_lock(book: RaceLog, slot: int, lock: int, value: int) -> None:
    """A lock gets a value from an agent."""
    while book.credits[lock] > 0:
        drop_oldest(book, lock)
    put_credit(book, lock, slot, value)
    tell_lock(book, lock, slot)
    tick(book, slot)
