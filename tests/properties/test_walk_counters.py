"""Do the vectorised walk, its boxes and data movement agree with plain counters, whatever the fields?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.access.boxes import boxes, last_address
from memtile.access.move import gather, scatter
from memtile.access.walk import PAD, Walk, addresses, chunks, loops, turn_words

SMALL = settings(max_examples=300, deadline=None)


def counters(walk: Walk) -> Iterator[int]:
    """AM020 ch. 5 word by word: one position counter per dimension over before + wrap + after."""
    dims = range(len(walk.wraps) + 1)
    fields = [
        [*walk.steps, *[1] * len(dims)][: len(dims)],
        [*walk.wraps, 0],
        [*walk.before, *[0] * len(dims)][: len(dims)],
        [*walk.after, *[0] * len(dims)][: len(dims)],
    ]
    steps, wraps, before, after = fields
    position = [0 for _ in dims]
    for _ in range(walk.length):
        inside = [position[d] - before[d] for d in dims]
        in_data = all(inside[d] >= 0 and (wraps[d] == 0 or inside[d] < wraps[d]) for d in dims)
        yield walk.base + sum(inside[d] * steps[d] for d in dims) if in_data else PAD
        for d in dims:
            position[d] += 1
            if wraps[d] == 0 or position[d] < before[d] + wraps[d] + after[d]:
                break
            position[d] = 0


def fields(most: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.integers(0, most), max_size=3).map(tuple)


walks = st.builds(
    Walk,
    base=st.integers(0, 50),
    length=st.integers(0, 400),
    steps=st.lists(st.integers(1, 40), max_size=4).map(tuple),
    wraps=fields(7),
    before=st.one_of(st.just(()), fields(3)),
    after=st.one_of(st.just(()), fields(3)),
)


@given(walks)
@SMALL
def test_addresses_equal_counters(walk: Walk) -> None:
    assert addresses(walk).tolist() == list(counters(walk))


@pytest.mark.slow
@given(
    st.builds(
        Walk,
        base=st.just(3),
        length=st.integers(60_000, 140_000),
        steps=st.just((3, 1, 7, 11)),
        wraps=fields(300),
        before=fields(3),
        after=fields(3),
    )
)
@settings(max_examples=8, deadline=None)
def test_long_walks_equal_counters(walk: Walk) -> None:
    assert np.array_equal(addresses(walk), np.fromiter(counters(walk), np.int64))


@pytest.mark.slow
@given(walks, st.integers(1, 97))
@SMALL
def test_chunks_joined_are_the_walk(walk: Walk, words: int) -> None:
    pieces = [np.empty(0, np.int64), *chunks(walk, words)]
    assert np.array_equal(np.concatenate(pieces), addresses(walk))


@pytest.mark.slow
@given(walks)
@SMALL
def test_boxes_hold_exactly_the_data_words(walk: Walk) -> None:
    seen = np.full(walk.length, PAD)
    for box in boxes(walk):
        index = np.indices(box.counts)
        slots = box.position + np.tensordot(box.pitches, index, 1)
        assert (seen[slots] == PAD).all()
        seen[slots] = box.address + np.tensordot(box.steps, index, 1)
    assert np.array_equal(seen, addresses(walk))
    assert last_address(walk) == max((a for a in counters(walk) if a != PAD), default=None)


@given(walks)
@SMALL
def test_loops_outlast_the_length(walk: Walk) -> None:
    assert turn_words(loops(walk)) >= walk.length


@pytest.mark.slow
@given(walks)
@SMALL
def test_data_moves_as_word_by_word(walk: Walk) -> None:
    words = list(counters(walk))
    origin = 2
    moved = walk.moved(origin)
    memory = np.arange(1, 50_000, dtype=np.uint32)
    stream = gather(memory, moved, origin)
    assert stream.tolist() == [0 if a == PAD else int(memory[a]) for a in words]
    data = np.arange(walk.length, dtype=np.uint32) + 5000
    expected = memory.copy()
    for address, word in zip(words, data, strict=True):
        if address != PAD:
            expected[address] = word
    scatter(memory, moved, data, origin)
    assert np.array_equal(memory, expected)
