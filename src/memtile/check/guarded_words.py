"""Descriptors that wait for one buffer and move another one, of memories that no core reaches.

A lock that one descriptor releases and another one acquires hands over what the first has written. Where the
second reads none of that, and nothing else reads all of it, it reads the wrong buffer. So does a descriptor
write the wrong one where those that wait for it read words instead that nothing writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.access.distinct import without
from memtile.check.known_memories import KnownMemory, Use, channels_of, words_of
from memtile.explain.findings import CODES, Finding, Severity, Side
from memtile.explain.lock_waits import lock_text
from memtile.explain.partly_written import Part
from memtile.sim.loop.engine import Engine

GUARDED, _WITHOUT_ORDER = "MT0137", "MT0105"


def with_guarded(engine: Engine, memories: Sequence[KnownMemory], others: Sequence[Finding]) -> list[Finding]:
    """Findings with those about descriptors at another buffer than their locks hand over, one a channel.

    They take the place of those about memory that such a descriptor shares with others without an order.

    Args:
        engine: the model.
        memories: of a design.
        others: what is found already; where it is about the same channel otherwise, it is why.
    """
    shared = [each for each in others if each.code == _WITHOUT_ORDER]
    told = channels_of(each for each in others if each not in shared)
    found = list[Finding]()
    for memory in memories:
        for use in (*memory.readers, *memory.writers):
            who = memory.who(use)
            meant = _meant(memory, use) if who not in told else None
            if meant is not None:
                told.add(who)
                of_it = [each for each in shared if who in channels_of([each])]
                severity = Severity.ERROR if of_it else CODES[GUARDED].severity
                found.append(_finding(engine, memory, use, *meant, severity))
                shared = [each for each in shared if each not in of_it]
    is_clean = all(each.severity is not Severity.ERROR for each in [*others, *found])
    for memory in memories if is_clean else ():
        found += _unreleased(engine, memory)
    return [*found, *(each for each in others if each.code != _WITHOUT_ORDER or each in shared)]


def _unreleased(engine: Engine, memory: KnownMemory) -> Iterator[Finding]:
    """Of several writers of what a descriptor waits for in one step, one that releases no lock.

    Another one of them releases the lock as often as the reader acquires it, so that the reader waits for
    that one alone.
    """
    for reader in memory.readers:
        wanted = -reader.bd.descriptor.acquire.value if reader.acquired >= 0 else 0
        read = words_of(use for use in memory.readers if use.bd.ch == reader.bd.ch)
        givers = [use for use in memory.writers if use.released == reader.acquired and use.meets(read)]
        releasing = {use.bd.ch for use in memory.writers if use.released >= 0}
        silent = [
            use
            for use in memory.writers
            if use.bd.ch not in releasing and use.acquired >= 0 and use.meets(read)
        ]
        if len(givers) != 1 or not silent or wanted != 1 + len({use.bd.ch for use in silent}):
            continue
        giver, other = givers[0], silent[0]
        if giver.bd.descriptor.release.value != wanted or other.acquired != giver.acquired:
            continue
        lock = lock_text(engine, reader.acquired)
        whos = [memory.who(use) for use in (other, giver, reader)]
        message = (
            f"{whos[0]}, {other.text}, writes words that {whos[2]}, {reader.text}, reads, and releases no "
            f"lock; {whos[1]}, {giver.text}, releases {lock} by {wanted}, and the reader waits for no more."
        )
        fix = f"Let each of the writers release {lock} by 1."
        sides = (
            Side(whos[0], "releases no lock", other.bd.said),
            Side(whos[1], f"releases {lock} by {wanted}", giver.bd.said),
        )
        yield Finding(_WITHOUT_ORDER, CODES[_WITHOUT_ORDER].severity, message, sides, fix=fix)


def _meant(memory: KnownMemory, use: Use) -> tuple[Part, Use] | None:
    """What a descriptor was to move and nothing else does, and the one across that moves it too."""
    reads = use in memory.readers
    own, others = (memory.readers, memory.writers) if reads else (memory.writers, memory.readers)
    lock = use.acquired if reads else use.released
    across = [each for each in others if lock == (each.released if reads else each.acquired)]
    alike = [each for each in own if lock == (each.acquired if reads else each.released)]
    strange = [each for each in alike if not any(other.meets(each.bd.places) for other in across)]
    left = without(words_of(across), memory.read if reads else memory.written)
    meant = memory.part(left)
    if lock < 0 or meant is None or len(left) != len(use.bd.places) or strange != [use]:
        return None
    rest = words_of(each for each in own if each is not use)
    if reads and len(without(use.bd.places, rest)):
        return None  # another lock may be meant
    return meant, next(each for each in across if each.meets(meant.words))


def _finding(
    engine: Engine, memory: KnownMemory, use: Use, meant: Part, across: Use, severity: Severity
) -> Finding:
    reads = use in memory.readers
    who, verb, other = memory.who(use), *(("reads", "writes") if reads else ("writes", "reads"))
    own = memory.part(use.bd.places)
    same = own is not None and own.buffer == meant.buffer
    does = f"{verb} {(own.text if same else own.buffer) if own is not None else 'other words'}"
    lock = lock_text(engine, use.acquired if reads else use.released)
    by = f"waits by {lock} for" if reads else f"hands its words by {lock} to"
    sides = (
        Side(who, does, use.bd.said),
        Side(memory.who(across), f"{other} {meant.text if same else meant.buffer}", across.bd.said),
    )
    message = (
        f"{who}, {use.text}, {does}, but {by} {sides[1].who}, {across.text}, which {sides[1].does}, "
        f"and nothing {verb} {'them' if same else meant.text}."
    )
    first = int(meant.words[0]) - meant.first
    begins = f"begin at word {first} of {meant.buffer}" if same else f"use {meant.buffer}"
    fix = f"Let BD {use.bd.number} of {who} {begins}, or use another lock."
    return Finding(GUARDED, severity, message, sides, fix=fix)
