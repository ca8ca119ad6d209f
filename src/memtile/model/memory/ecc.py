"""Protection of data memory: what an access makes of flipped cells, and scrubbing (AM020; DEV-ECC-2).

``State.memory`` holds the data bits as the cells have them, ``State.flips`` which cells of a word differ from
what was written: data bits, then check bits. So the syndrome of a word follows from its flips alone, and a
tile in which nothing is inspected costs an access one test. Reads deliver corrected data and leave the cells
as they are; a write of a word makes it clean.

The scrubber reads memory granule by granule and writes back what it could correct. Each occurrence of the
event that ECC_Scrubbing_Event selects starts a step of ``scrub_granules`` granules, unless one is under way;
the walk goes through all words with ECC and begins anew (DEV-ECC-5). An access bids for its bank like those
of the channels; a granule with something to correct takes a second one (DEV-ECC-6).
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from memtile.arch.protection import (
    CELLS,
    COLUMNS,
    CORRECTED,
    EVENT_TRUE,
    FAILED,
    SCRUB_CORRECTED,
    SCRUB_FAILED,
)
from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import jit
from memtile.model.events.reports import raise_event
from memtile.model.memory import banks
from memtile.model.memory.banks import bank_of, scrubber_of
from memtile.model.roster import wake_guard
from memtile.model.state.state import Spec, State
from memtile.model.streams.packet_flow import odd

_DATA = (1 << WORD_BITS) - 1
_FIRST_CHECK_BIT = 1 << WORD_BITS
_WORD_BITS, _NOWHERE = WORD_BITS, -1


class EccResult(IntEnum):
    """What a code makes of a word."""

    UNSEEN = 0  # it looks clean
    CORRECTABLE = 1
    BEYOND = 2  # wrong, and nobody knows where


class Fate(IntFlag):
    """What has become of the flips of a word, for whoever made them; nothing of the model looks at it."""

    CORRECTED = 1  # read, right data delivered
    DETECTED = 2  # read, reported as beyond correction
    SILENT = 4  # read, wrong data delivered as if it were right
    OVERWRITTEN = 8
    SCRUBBED = 16  # made clean by the scrubber


@jit
def flip(st: State, tile: int, word: int, cells: int) -> None:
    """Flip cells of a word of ``State.memory``, which is in ``tile``."""
    before = st.flips[word]
    after = before ^ cells
    st.flips[word] = after
    st.memory[word] ^= cells & _DATA
    st.guards.inspected[tile] += (1 if after else 0) - (1 if before else 0)


@jit
def syndrome(flips: int) -> int:
    """Check bits as stored, against those that the data bits as stored would have."""
    total = 0
    for cell in range(CELLS):
        if (flips >> cell) & 1:
            total ^= COLUMNS[cell]
    return total


@jit
def blamed(found: int) -> int:
    """The cell, as a bit, whose flip alone has this syndrome; 0 = none."""
    for cell in range(CELLS):
        if COLUMNS[cell] == found:
            return 1 << cell
    return 0


@jit
def has_ecc(spec: Spec, tile: int, word: int) -> bool:
    """Whether a word of ``State.memory``, which is in ``tile``, has ECC; else it has parity."""
    return bool(word - spec.tiles.memory_base[tile] < spec.protections.ecc_words[spec.tiles.kind[tile]])


@jit
def judge(st: State, tile: int, word: int) -> tuple[int, int]:
    """What the code makes of a word, and the cell that it takes for flipped."""
    flips = st.flips[word]
    if st.guards.enabled[tile] == 0:
        return EccResult.UNSEEN, 0
    if not has_ecc(st.spec, tile, word):
        return (EccResult.BEYOND if odd(flips ^ (flips >> _WORD_BITS)) else EccResult.UNSEEN), 0
    found = syndrome(flips)
    if found == 0:
        return EccResult.UNSEEN, 0
    cell = blamed(found)
    return (EccResult.CORRECTABLE if cell else EccResult.BEYOND), cell


@jit
def record_address(st: State, tile: int, register: int, valid: int, word: int) -> None:
    """Keep the byte address of an error, if none is kept (DEV-ECC-3)."""
    if register == _NOWHERE:
        return
    at = st.spec.tiles.register_base[tile] + register
    if st.registers[at] & valid == 0:
        st.registers[at] = valid | ((word - st.spec.tiles.memory_base[tile]) * WORD_BYTES & (valid - 1))


@jit
def report(st: State, tile: int, word: int, verdict: int, scrubbing: bool) -> int:
    """Raise the event of an error and keep its address; the number of the event."""
    kind, facts = st.spec.tiles.kind[tile], st.spec.protections
    if has_ecc(st.spec, tile, word):
        failed = SCRUB_FAILED if scrubbing else FAILED
        corrected = SCRUB_CORRECTED if scrubbing else CORRECTED
        event = facts.ecc_event[kind] + (failed if verdict == EccResult.BEYOND else corrected)
        record_address(st, tile, facts.ecc_failing[kind], facts.ecc_valid[kind], word)
    else:
        local = word - st.spec.tiles.memory_base[tile]
        bank = bank_of(st, tile, local) - bank_of(st, tile, facts.ecc_words[kind])
        event = facts.parity_event[kind] + bank
        record_address(st, tile, facts.parity_failing[kind], facts.parity_valid[kind], word)
    raise_event(st, tile, event)
    return int(event)


@jit
def fate_of_read(flips: int, verdict: int, cell: int) -> int:
    """What a read makes of a word's flips."""
    if verdict == EccResult.BEYOND:
        return Fate.DETECTED.value
    if (flips ^ cell) & _DATA:
        return Fate.SILENT.value
    if verdict == EccResult.CORRECTABLE:
        return Fate.CORRECTED.value
    return 0


@jit
def delivered(st: State, tile: int, word: int, twice: bool) -> int:
    """What a read of a word of an inspected memory delivers; errors are reported, maybe ``twice``."""
    flips, value = st.flips[word], int(st.memory[word])
    if flips == 0:
        return value
    verdict, cell = judge(st, tile, word)
    st.fates[word] |= fate_of_read(flips, verdict, cell)
    if verdict != EccResult.UNSEEN:
        event = report(st, tile, word, verdict, False)
        if twice:
            st.guards.again[tile] |= 1 << (event - st.spec.protections.ecc_event[st.spec.tiles.kind[tile]])
            st.guards.again_at[tile] = st.clock.now[0] + 1
            wake_guard(st, tile)
    return value ^ (cell & _DATA)


@jit
def clean(st: State, tile: int, word: int, fate: int) -> None:
    """The cells of a word were written; ``fate`` is what that means for its flips, if it had any."""
    if st.flips[word] != 0:
        st.flips[word] = 0
        st.fates[word] |= fate
        st.guards.inspected[tile] -= 1


@jit
def overwritten(st: State, tile: int, first: int, words: int) -> None:
    """Whole words of an inspected memory were written."""
    granule = st.spec.kinds.granule_words[st.spec.tiles.kind[tile]]
    for word in range(first, first + words):
        clean(st, tile, word, Fate.OVERWRITTEN.value)
        if (st.guards.lanes[tile] >> (word % granule)) & 1:
            flip(st, tile, word, _FIRST_CHECK_BIT)


@jit
def generate_errors(st: State, tile: int, lanes: int) -> None:
    """Act on a write to Checkbit_Error_Generation (DEV-ECC-9)."""
    if st.guards.enabled[tile] == 1:
        st.guards.inspected[tile] += (1 if lanes else 0) - (1 if st.guards.lanes[tile] else 0)
        st.guards.lanes[tile] = lanes


@jit
def load_and_store(st: State, tile: int, word: int) -> None:
    """Read a word and write back what the read delivers: how a part of a word is written (DEV-ECC-4)."""
    value = delivered(st, tile, word, False)
    st.memory[word] = value
    overwritten(st, tile, word, 1)


@jit
def scrub(st: State, tile: int, word: int, repairs: bool) -> bool:
    """Read a word for the scrubber, or write it back; whether it needs to be written back."""
    if st.flips[word] == 0:
        return False
    verdict, cell = judge(st, tile, word)
    if verdict != EccResult.CORRECTABLE:
        if verdict == EccResult.BEYOND and not repairs:
            report(st, tile, word, verdict, True)
            st.fates[word] |= Fate.DETECTED.value
        return False
    if repairs:
        wrong = (st.flips[word] ^ cell) & _DATA
        st.memory[word] ^= cell & _DATA
        clean(st, tile, word, Fate.SILENT.value if wrong else Fate.SCRUBBED.value)
    else:
        report(st, tile, word, verdict, True)
    return True


_NO_BANK = -1
_TRUE = EVENT_TRUE


@jit
def select(st: State, tile: int, event: int) -> None:
    """Act on a write to ECC_Scrubbing_Event."""
    st.guards.always[tile] = 1 if event == _TRUE else 0
    if event == _TRUE:
        wake_guard(st, tile)


@jit
def trigger(st: State, tile: int) -> None:
    """The selected event has occurred: a step begins with the next cycle."""
    if st.guards.left[tile] == 0 and st.spec.protections.ecc_words[st.spec.tiles.kind[tile]] > 0:
        st.guards.left[tile] = st.spec.timing.scrub_granules[0]
        st.guards.steps[tile] += 1
        wake_guard(st, tile)


@jit
def report_again(st: State, tile: int) -> None:
    """Raise what the last memory-mapped access has raised once more (DEV-ECC-7)."""
    if st.clock.now[0] < st.guards.again_at[tile]:
        return
    events, number = st.guards.again[tile], st.spec.protections.ecc_event[st.spec.tiles.kind[tile]]
    st.guards.again[tile] = 0
    while events:
        if events & 1:
            raise_event(st, tile, number)
        events >>= 1
        number += 1


@jit
def ask(st: State) -> None:
    """Phase 2a: enter the accesses of the scrubbers into their banks' arbitration."""
    guards = st.guards
    for slot in range(1, st.guarding[0] + 1):
        tile = st.guarding[slot]
        report_again(st, tile)
        guards.bank[tile] = _NO_BANK
        if guards.left[tile] == 0 and guards.always[tile] == 0:
            continue
        bank = banks.bank_of(st, tile, guards.at[tile])
        if not banks.busy(st, bank):
            guards.bank[tile] = bank
            banks.bid(st, bank, scrubber_of(st, tile))


@jit
def access(st: State, tile: int) -> None:
    """Make one access: read a granule, or write it back; the next one is due when nothing was wrong."""
    guards, kind = st.guards, st.spec.tiles.kind[tile]
    granule, wrong = st.spec.kinds.granule_words[kind], False
    if guards.inspected[tile] > 0:
        first = st.spec.tiles.memory_base[tile] + guards.at[tile]
        for word in range(first, first + granule):
            if scrub(st, tile, word, guards.repairs[tile] == 1):
                wrong = True
    if wrong and guards.repairs[tile] == 0:
        guards.repairs[tile] = 1
        return
    guards.repairs[tile] = 0
    guards.at[tile] = (guards.at[tile] + granule) % st.spec.protections.ecc_words[kind]
    if guards.left[tile] > 0:
        guards.left[tile] -= 1


@jit
def receive(st: State) -> None:
    """Phase 2b: make the accesses that were granted; drop the tiles whose step is over."""
    guards, roster = st.guards, st.guarding
    kept = 0
    for slot in range(1, roster[0] + 1):
        tile = roster[slot]
        bank = guards.bank[tile]
        if bank != _NO_BANK and banks.served(st, bank, scrubber_of(st, tile)):
            access(st, tile)
        busy = guards.left[tile] > 0 or guards.again[tile] != 0
        if busy:
            st.clock.activity[0] += 1
        if busy or guards.always[tile] == 1:
            kept += 1
            roster[kept] = tile
        else:
            guards.active[tile] = 0
    roster[0] = kept


@jit
def skip(st: State, until: int) -> None:
    """Let the scrubbers work up to cycle ``until``, while no other requester asks for a bank."""
    now = st.clock.now[0]
    for cycle in range(now, until):
        st.clock.now[0] = cycle
        ask(st)
        receive(st)
    st.clock.now[0] = now
