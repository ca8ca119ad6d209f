"""Small designs of channels and locks, drawn by seed, and every way in which each of them can end.

A channel runs blocks: it waits for a lock, moves a block of words, and releases a lock. The oracle goes
through all orders in which that can happen, one step of one channel after another; it shares nothing with the
model.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np

from memtile import MemoryTile

WORDS = 4  # of a block


class Block(NamedTuple):
    """What a channel does for a block.

    Attributes:
        takes: number of the lock that it waits for; -1 = none.
        units: that it takes.
        exact: it waits for exactly so many instead, and takes none.
        gives: number of the lock that it releases; -1 = none.
        added: units that it releases.
    """

    takes: int
    units: int
    exact: bool
    gives: int
    added: int


class Small(NamedTuple):
    """A design.

    Attributes:
        began: values of the locks.
        work: blocks of each channel, in order.
        fed: blocks that come to each channel; -1 = it sends and needs none.
    """

    began: tuple[int, ...]
    work: tuple[tuple[Block, ...], ...]
    fed: tuple[int, ...]


def drawn(seed: int) -> Small:
    """A design: often rings in which one channel takes from each lock, sometimes with another taker."""
    luck = random.Random(seed)
    parts, rounds = luck.randint(2, 4), luck.randint(1, 3)
    began = tuple(luck.choice((0, 0, 1, 1, 2)) for _ in range(parts))
    work = []
    for part in range(parts):
        blocks = []
        for _ in range(rounds + luck.choice((0, 0, 0, 1))):
            takes = part if luck.random() < 0.85 else luck.randrange(-1, parts)
            gives = (part + 1) % parts if luck.random() < 0.85 else luck.randrange(-1, parts)
            exact = luck.random() < 0.06
            units = luck.choice((1, 1, 1, 1, 2))
            blocks.append(Block(takes, units, exact, gives, luck.choice((1, 1, 1, 2))))
        work.append(tuple(blocks))
    fed = tuple(
        len(blocks) - (luck.random() < 0.1) if part % 2 == 0 else -1 for part, blocks in enumerate(work)
    )
    return Small(began, tuple(work), fed)


def drawn_batches(seed: int) -> Small:
    """A design in which a giver shares batches out to several takers; now and then something is amiss.

    Lock 0 has the batch, lock 1 what the takers give back.
    """
    luck = random.Random(seed)
    parts = [luck.choice((1, 1, 2)) for _ in range(luck.randint(2, 3))]
    batch, rounds, full = sum(parts), luck.randint(1, 3), luck.random() < 0.5
    amiss = luck.choice(("", "", "", "batch", "both", "short", "long", "back", "part", "early"))
    giver = [Block(1, batch, False, 0, batch + (amiss == "batch")) for _ in range(rounds - full)]
    if giver and amiss == "early":
        giver[0] = giver[0]._replace(takes=-1)
    work = [tuple(giver)] if giver else []
    for part in parts:
        odd = part is parts[-1] and luck.random() < 0.8
        own = max(rounds + {"short": -odd, "long": odd}.get(amiss, 0), 1)
        taken = part + (odd and amiss == "part")
        given = part - (odd and amiss == "back")
        work.append((Block(0, taken, False, 1 if given else -1, given),) * own)
    began = (batch, batch if amiss == "both" else 0) if full else (batch if amiss == "both" else 0, batch)
    fed = tuple(-1 if number % 2 else len(blocks) for number, blocks in enumerate(work))
    return Small(began, tuple(work), fed)


def drawn_exact(seed: int) -> Small:
    """A ring of locks that only grow: most channels wait for the exact value that comes next.

    Here and there a value is one off, a channel has a turn more or less, or fewer words come.
    """
    luck = random.Random(seed)
    parts, rounds = luck.randint(2, 3), luck.randint(1, 3)
    began, odd = [int(part == 0) for part in range(parts)], luck.choice((0.0, 0.0, 0.1, 0.25))
    counted = luck.random() < 0.5 and luck.randrange(parts)
    work = []
    for part in range(parts):
        blocks = []
        for turn in range(max(rounds + (luck.random() < odd) - (luck.random() < odd), 1)):
            units = began[part] + turn + (part > 0) + (luck.random() < odd) - (luck.random() < odd)
            exact = part != counted or luck.random() < odd
            takes = part if luck.random() >= odd / 2 else luck.randrange(-1, parts)
            gives = (part + 1) % parts if luck.random() >= odd / 2 else luck.randrange(-1, parts)
            added = 1 + (luck.random() < odd / 2)
            blocks.append(Block(takes, max(units, 0) if exact else 1, exact, gives, added))
        work.append(tuple(blocks))
    fed = tuple(
        len(blocks) - (luck.random() < 0.3) if part % 2 == 0 else -1 for part, blocks in enumerate(work)
    )
    return Small(tuple(began), tuple(work), fed)


def built(small: Small) -> MemoryTile:
    """The design on a memory tile: channels that are fed receive, the others send."""
    tile = MemoryTile()
    locks = [tile.lock(value, f"lock {number}") for number, value in enumerate(small.began)]
    receives = sends = 0
    for part, (blocks, fed) in enumerate(zip(small.work, small.fed, strict=True)):
        buffer = tile.buffer(f"block {part}", WORDS)
        tile.store(buffer, np.zeros(WORDS, np.uint32))
        channel = tile.s2mm[receives] if fed >= 0 else tile.mm2s[sends]
        receives, sends = receives + (fed >= 0), sends + (fed < 0)
        steps = []
        for block in blocks:
            lock = locks[block.takes] if block.takes >= 0 else None
            acquire = None
            if lock is not None:
                acquire = lock.acquire_equal(block.units) if block.exact else lock.acquire(block.units)
            release = locks[block.gives].release(block.added) if block.gives >= 0 else None
            moved = tile.write(buffer) if fed >= 0 else tile.read(buffer)
            steps.append(moved.guarded(acquire, release))
        channel.start(*steps)
        if fed > 0:
            channel.feed(np.arange(fed * WORDS))
        elif fed < 0:
            channel.collect()
    return tile


def ends(small: Small, in_turn: frozenset[int] = frozenset()) -> set[bool]:
    """Whether all channels have ended, for each way in which it can come to rest.

    A state is the place of each channel, two for each block, the values of the locks, and for each channel
    the block whose release is still to come: the next block may have its lock by then.

    Args:
        small: the design.
        in_turn: locks from which no channel takes once more than another one that still takes from it.
    """
    nothing = tuple(0 for _ in small.work)
    first = (nothing, small.began, nothing)
    seen, left, found = {first}, [first], set[bool]()
    while left:
        state = left.pop()
        places, _, _ = state
        steps = [
            each
            for part in range(len(places))
            for each in (
                _given(small, state, part),
                None if _is_early(small, places, part, in_turn) else _after(small, state, part),
            )
            if each is not None
        ]
        if not steps:
            found.add(all(place == 2 * len(own) for place, own in zip(places, small.work, strict=True)))
        for each in steps:
            if each not in seen:
                seen.add(each)
                left.append(each)
    return found


def _is_early(small: Small, places: tuple[int, ...], part: int, in_turn: frozenset[int]) -> bool:
    """Whether a channel would take from a lock once more than one that will take from it too."""
    number, moved = divmod(places[part], 2)
    if moved or number == len(small.work[part]) or small.work[part][number].takes not in in_turn:
        return False
    lock = small.work[part][number].takes

    def taken(other: int) -> int:
        done = (places[other] + 1) // 2
        return sum(block.takes == lock for block in small.work[other][:done])

    def takes_on(other: int) -> bool:
        done = (places[other] + 1) // 2
        return any(block.takes == lock for block in small.work[other][done:])

    return any(takes_on(other) and taken(other) < taken(part) for other in range(len(places)))


State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def _given(small: Small, state: State, part: int) -> State | None:
    """The state after the release of the last block of a channel; None = it is done."""
    places, locks, due = state
    if not due[part]:
        return None
    block, values = small.work[part][due[part] - 1], list(locks)
    if block.gives >= 0:
        values[block.gives] += block.added
    return places, tuple(values), (*due[:part], 0, *due[part + 1 :])


def _after(small: Small, state: State, part: int) -> State | None:
    """The state after a channel has its next lock, or has moved its block; None = it cannot go on."""
    places, locks, due = state
    number, moved = divmod(places[part], 2)
    if number == len(small.work[part]) or (moved and due[part]):
        return None
    block, values = small.work[part][number], list(locks)
    if moved:
        if 0 <= small.fed[part] <= number:
            return None
        due = (*due[:part], number + 1, *due[part + 1 :])
    elif block.takes >= 0:
        value = values[block.takes]
        if value != block.units if block.exact else value < block.units:
            return None
        values[block.takes] -= 0 if block.exact else block.units
    return (*places[:part], places[part] + 1, *places[part + 1 :]), tuple(values), due
