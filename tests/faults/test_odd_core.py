"""Of cores that feed one stream and have ended, is the one named that made fewer rounds than the others?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.explain.findings import Finding
from support.designs.severe import severe

WORDS = 8


def merged(rounds: Sequence[int], wanted: int, *, words: Sequence[int] = (WORDS,) * 4) -> Array:
    """Cores that send packets to one channel.

    Args:
        rounds: of each core.
        wanted: words that the channel receives.
        words: of the packets of each core.
    """
    array = Array("npu2", columns=1)
    target = array.memory_tile(0)
    tiles = [array.compute_tile(0, 2 + n) for n in range(len(rounds))]
    bus = array.packet_bus("sums", *((tile.mm2s[0], [target.s2mm[0]]) for tile in tiles))
    target.s2mm[0].start(target.write(target.buffer("all", wanted)))
    for n, tile in enumerate(tiles):
        own, made, room = tile.buffer("own", words[n]), tile.lock(0, "made"), tile.lock(1, "room")
        move = tile.read(own).guarded(made.acquire(), room.release())
        tile.mm2s[0].start(bus.streams[n].packets(move), loop=True)

        def kernel(
            core: Any, n: int = n, own: Any = own, made: Any = made, room: Any = room
        ) -> Iterator[Any]:
            for turn in range(rounds[n]):
                yield core.acquire(room)
                core.write(own, np.full(words[n], 10 * n + turn))
                yield core.release(made)

        tile.run_kernel(kernel)
    return array


def found(*args: Any, **more: Any) -> list[Finding]:
    return list(severe(merged(*args, **more).run(check=True).findings))


@pytest.mark.parametrize(("rounds", "row"), [((1, 3, 3), 2), ((2, 2, 1), 4), ((3, 3, 1, 3), 4)])
def test_the_core_that_made_fewer_rounds_is_named(rounds: Sequence[int], row: int) -> None:
    (finding,) = found(rounds, WORDS * len(rounds) * max(rounds))
    assert finding.code == "MT0128"
    assert finding.sides[0].who.startswith(f"core (0, {row})")
    assert finding.fix.endswith(f"make {max(rounds)} rounds, as the others do.")


def test_cores_with_other_shares_are_not_judged_by_each_other() -> None:
    for lacking in (WORDS // 2, 3 * WORDS):
        codes = {each.code for each in found((1, 2, 2), 5 * WORDS + lacking)}
        assert codes
        assert "MT0128" not in codes


@pytest.mark.parametrize("rounds", [(1, 2), (1, 2, 3), (1, 1, 2)], ids=["two", "all differ", "more"])
def test_without_a_rule_of_the_others_none_is_named(rounds: Sequence[int]) -> None:
    codes = {each.code for each in found(rounds, WORDS * len(rounds) * max(rounds))}
    assert codes
    assert "MT0128" not in codes


def test_packets_of_other_lengths_are_other_work() -> None:
    codes = {each.code for each in found((1, 2, 2), 6 * WORDS, words=(WORDS, WORDS // 2, WORDS))}
    assert "MT0128" not in codes


def test_shares_that_the_receiver_takes_are_fine() -> None:
    assert found((1, 2, 2), 5 * WORDS) == []
