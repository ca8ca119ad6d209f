"""Does a host that uses memory between two runs take part in races where something goes on, only there?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import MemoryTile
from memtile.design.buffers import Buffer
from memtile.explain.findings import Finding

_WORDS = np.arange(64, dtype=np.int32)


def _tile() -> tuple[MemoryTile, Buffer, Buffer]:
    """A tile whose channel writes 64 words into a buffer, and another buffer."""
    tile = MemoryTile()
    block, other = tile.buffer("block", 64, np.int32), tile.buffer("other", 4, np.int32)
    tile.s2mm[0].start(tile.write(block))
    tile.s2mm[0].feed(_WORDS)
    return tile, block, other


def _errors(tile: MemoryTile) -> list[Finding]:
    return [each for each in tile.run(check=True).findings if each.code.startswith("MT02")]


def test_a_host_that_reads_what_goes_on_is_a_race_with_its_line() -> None:
    tile, block, _ = _tile()
    assert not tile.run(30, check=True).findings
    tile.load(block)
    (found,) = _errors(tile)
    line = test_a_host_that_reads_what_goes_on_is_a_race_with_its_line.__code__.co_firstlineno + 3
    assert found.code == "MT0201"
    assert f"test_host_between_runs.py:{line} reads words 0 to 63 of buffer 'block'" in found.message
    assert found.fix == "Have the host wait for S2MM 0, BD 0 before it reads."
    assert {each.place.rpartition(":")[2] for each in found.sides} >= {str(line)}


def test_a_host_that_writes_what_goes_on_is_a_race() -> None:
    tile, block, _ = _tile()
    tile.run(30, check=True)
    tile.store(block, _WORDS)
    assert {each.code for each in _errors(tile)} == {"MT0202"}


@pytest.mark.parametrize("limit", [30, None])
def test_a_host_that_uses_other_words_or_waits_is_none(limit: int | None) -> None:
    tile, block, other = _tile()
    tile.run(limit or 10_000, check=True)
    tile.load(other if limit else block)
    tile.store(other, _WORDS[:4])
    if not limit:
        tile.s2mm[0].start(tile.write(block))
        tile.s2mm[0].feed(_WORDS)
    assert _errors(tile) == []


def test_a_run_that_is_not_checked_ends_the_watch() -> None:
    tile, block, _ = _tile()
    tile.run(30, check=True)
    tile.load(block)
    tile.run(10)
    assert tile.engine.checks.watch is None
    assert _errors(tile) == []


def test_a_tool_that_looks_at_a_result_is_no_host() -> None:
    tile, block, _ = _tile()
    tile.expect(block, _WORDS)
    assert not tile.run(30, check=True).exact
    assert _errors(tile) == []
