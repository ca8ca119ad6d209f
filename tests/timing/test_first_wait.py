"""Is there no advice for a transfer that waits for external memory before its first word alone?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array, bottleneck, view
from memtile.explain.results import Result

_TENTH = 0.1


@pytest.fixture(autouse=True)
def _of_board(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMTILE_TIMING", raising=False)


def tasks(words: int, *, device: str, channels: int = 1, out: bool = False) -> Array:
    """A task for each of so many channels of one tile, between external memory and a memory tile."""
    array, part = Array(device, columns=1), words // channels
    door, tile = array.interface_tile(0), array.memory_tile(0)
    outside = array.external("outside", np.zeros(words, np.int32))
    for number in range(channels):
        there = view(words)[number * part : (number + 1) * part]
        block = tile.buffer(f"block {number}", min(part, 1024), data=np.zeros(min(part, 1024), np.int32))
        repeat = part // min(part, 1024)
        if out:
            array.connect(tile.mm2s[number], door.s2mm[number])
            tile.mm2s[number].start(tile.read(block), repeat=repeat)
            door.s2mm[number].start(door.write(outside, there))
        else:
            array.connect(door.mm2s[number], tile.s2mm[number])
            tile.s2mm[number].start(tile.write(block), repeat=repeat)
            door.mm2s[number].start(door.read(outside, there))
    return array


def advice(result: Result) -> list[str]:
    """What a run advises for waits for external memory."""
    return [finding.fix for finding in result.findings if finding.code == "MT0506"]


@pytest.mark.parametrize("device", ["npu1", "npu2"])
@pytest.mark.parametrize("out", [False, True])
@pytest.mark.parametrize("words", [64, 256])
@pytest.mark.parametrize("channels", [1, 2])
def test_a_wait_before_the_first_word_alone_has_no_advice(
    words: int, channels: int, device: str, *, out: bool
) -> None:
    result = bottleneck(lambda: tasks(words, device=device, channels=channels, out=out).run())
    assert advice(result) == []
    assert result.limit is not None
    assert "two channels for each stream" not in result.limit.text


@pytest.mark.parametrize("words", [1 << 10, 1 << 12, 1 << 14])
def test_two_channels_are_advised_by_what_they_save_and_not_again(words: int) -> None:
    one, two = (bottleneck(lambda n=n: tasks(words, device="npu2", channels=n).run()) for n in (1, 2))
    (fix,) = advice(one)
    assert fix.startswith("Move the words over two channels")
    cycles = int(fix.partition("not tried: ")[2].split()[0])
    assert abs(cycles - two.cycles) < _TENTH * (one.cycles - two.cycles)
    assert advice(two) == []
