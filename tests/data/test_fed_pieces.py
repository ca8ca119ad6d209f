"""Do words that are fed, and expected, in many short arrays come and count as if they were one?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from memtile.design.memory_tile import MemoryTile
from memtile.sim.ports.feed import BYTES, Feed, Gathered, Offer, equal, no_tlast

Words = npt.NDArray[np.uint32]
LONG = BYTES // 4


def put(feed: Feed, *words: Words, last: bool = False) -> None:
    for piece in words:
        flags = np.zeros(len(piece), np.uint8)
        flags[-1:] = last
        feed.put(piece, flags if last else no_tlast(len(piece)))


def counting(*counts: int) -> list[Words]:
    ends = np.cumsum(counts)
    return [np.arange(end - count, end, dtype=np.uint32) for end, count in zip(ends, counts, strict=True)]


def all_of(pieces: list[Offer]) -> tuple[list[int], list[int]]:
    words, flags = (np.concatenate([piece[n] for piece in pieces]) for n in (0, 1))
    return words.tolist(), flags.tolist()


@pytest.mark.parametrize("most", [1, 7, 1000, LONG])
def test_pieces_come_in_order_however_they_are_taken(most: int) -> None:
    counts = [5, 0, 3, 900, 900, LONG, 4, 2 * LONG, 1, 1, *[50_000] * 6, 3]
    feed = Feed()
    put(feed, *counting(*counts))
    found = []
    while len(feed):
        found.append(feed.take_piece(most))
    words, flags = all_of(found)
    assert words == list(range(sum(counts)))
    assert not any(flags)


def test_pieces_are_put_together_up_to_a_size() -> None:
    feed = Feed()
    put(feed, *counting(*[5000] * 100))
    taken = []
    while len(feed):
        taken.append(len(feed.take_piece(LONG)[0]))
    assert sum(taken) == 500_000
    assert max(taken) <= LONG
    assert len(taken) < 8


def test_tlast_stays_where_it_was() -> None:
    feed = Feed()
    for n, piece in enumerate(counting(4, 4, 4, 4, 4)):
        put(feed, piece, last=n in (1, 2))
    words, flags = all_of([feed.take_piece(3), feed.take_piece(100)])
    assert words == list(range(20))
    assert np.flatnonzero(flags).tolist() == [7, 11]


def test_what_was_taken_stays_while_more_is_put() -> None:
    feed = Feed()
    first, second, third = counting(4, 4, 4)
    put(feed, first, second)
    taken = feed.take(6)
    put(feed, third)
    assert taken.tolist() == list(range(6))
    assert feed.take(6).tolist() == list(range(6, 12))


def test_words_that_are_put_back_come_first() -> None:
    feed = Feed()
    first, second, third, fourth = counting(4, 4, 4, 4)
    put(feed, first, second)
    ((words, last),) = feed.take_offers(6)
    feed.put_back(words[2:], last[2:])
    put(feed, third, fourth)
    assert feed.take(14).tolist() == list(range(2, 16))


def test_an_array_that_is_fed_alone_is_not_copied() -> None:
    feed = Feed()
    (given,) = counting(100)
    put(feed, given)
    assert np.shares_memory(feed.take(50), given)


def test_one_word_for_all_stays_one_word() -> None:
    feed = Feed()
    put(feed, *counting(3), np.broadcast_to(np.uint32(7), (50,)), np.broadcast_to(np.uint32(7), (50,)))
    assert [words.strides for words, _ in feed.offers()] == [(4,), (0,), (0,)]


def test_gathered_arrays_are_the_same_in_order() -> None:
    gathered, found = Gathered(first=16), []
    given = [np.arange(n, dtype=np.int8).reshape(1, -1) for n in (3, 0, 100, 14, 2, 127)]
    for array in given:
        found[-1:] = gathered.add(array)
    assert len(found) > 1
    assert np.array_equal(np.concatenate(found), np.concatenate([array.ravel() for array in given]))


@pytest.mark.parametrize("count", [1, 3, 4, 1 << 17, (1 << 17) + 3])
def test_arrays_are_equal_if_all_bits_are(count: int) -> None:
    one = np.zeros(count, np.uint8)
    for place in {0, count // 2, count - 1}:
        other = one.copy()
        assert equal(one, other)
        other[place] = 1
        assert not equal(one, other)
    nan = np.full(4, np.nan, np.float32)
    assert equal(nan, nan.copy())


def expecting(*arrays: npt.NDArray[np.int16]) -> str:
    tile = MemoryTile()
    given = np.arange(3000, dtype=np.int16)
    tile.mm2s[0].start(tile.read(tile.buffer("b", 3000, np.int16, data=given)))
    for array in arrays:
        tile.mm2s[0].expect(array)
    (check,) = tile.run().checks
    return "exact" if check.exact else check.text


def test_a_wrong_element_of_many_arrays_is_named() -> None:
    parts = np.array_split(np.arange(3000, dtype=np.int16), 7)
    assert expecting(*parts) == "exact"
    wrong = [part.copy() for part in parts]
    wrong[5][3] = -1
    found = expecting(*wrong)
    assert found.startswith("MM2S 0: 1 wrong, the first is element 2147 at [5, 3] (2147 came")
    assert expecting(*parts[:-1]) != "exact"
    assert expecting(*parts, parts[0]) != "exact"


def test_a_piece_that_has_begun_is_handed_on_as_the_rest_of_it() -> None:
    feed = Feed()
    put(feed, *counting(6), last=True)
    assert feed.take(2).tolist() == [0, 1]
    words, flags = feed.take_piece(LONG)
    assert (words.tolist(), flags.tolist()) == ([2, 3, 4, 5], [0, 0, 0, 1])
    assert len(feed) == 0
    put(feed, *counting(3))
    assert len(feed) == 3
    assert feed.take_piece(LONG)[0].tolist() == [0, 1, 2]


def test_words_that_are_put_back_count_once() -> None:
    """Those of a piece that were taken in part before stay gone."""
    feed = Feed()
    put(feed, *counting(10, 4))
    taken = feed.take(3)
    feed.put_back(taken[1:], no_tlast(2))
    assert len(feed) == 13
    assert feed.take(13).tolist() == [*range(1, 14)]
    assert len(feed) == 0
