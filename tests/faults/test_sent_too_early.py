"""Words that a channel sends before anything wrote them: is the lock named that let it go, and come first?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memtile import Array
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.oddities import Oddities
from memtile.kernels import Action, Core

WORDS = 16


def found(begin: int) -> list[Finding]:
    """The findings of a core that sends a buffer to a result, with a lock of its data that begins so."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    array.connect(tile.mm2s[0], door.s2mm[0])
    words, full, free = tile.buffer("words", WORDS), tile.lock(begin, "full"), tile.lock(0, "free")

    def kernel(core: Core) -> Iterator[Action]:
        yield core.release(full)  # without a word

    tile.run_kernel(kernel)
    tile.mm2s[0].start(tile.read(words).guarded(full.acquire(), free.release()))
    door.s2mm[0].start(door.write(array.external("back", np.zeros(WORDS, np.int32))))
    return list(array.run(check=True).findings)


def test_a_lock_that_starts_full_is_named_where_nothing_was_written() -> None:
    first = found(1)[0]
    assert first.message.startswith("lock 0 'full' of tile (0, 2) starts at 1: compute(0,2) MM2S 0")
    assert found(0)[0].message.startswith("compute(0,2) MM2S 0")


HALF = WORDS // 2


def rounds(
    begin: int,
    *,
    filled: int = 0,
    written: int = WORDS,
    senders: int = 1,
    takes: bool = False,
    runs: int = 0,
) -> list[Finding]:
    """The findings of a core that fills the second of two buffers, which a channel sends, or two of them do.

    Args:
        begin: what the lock of their data begins with.
        filled: which of the buffers has data at the start.
        written: words that the core writes.
        senders: channels; of two, each has one of the buffers.
        takes: the core takes from the lock before it writes.
        runs: of the second buffer, in a task of its own; 0 = both are in a ring.
    """
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    data = np.arange(WORDS, dtype=np.int32)
    buffers = [
        tile.buffer(name, WORDS, data=data if number == filled else None)
        for number, name in enumerate(("one", "two"))
    ]
    full, free = tile.lock(begin, "full"), tile.lock(0, "free")

    def kernel(core: Core) -> Iterator[Action]:
        if takes:
            yield core.acquire(full)
        core.write(core.buffer(buffers[1].offset, written, np.int32), np.zeros(written, np.int32))
        yield core.release(full)

    tile.run_kernel(kernel)
    parts = [tile.read(each).guarded(full.acquire(), free.release()) for each in buffers]
    for number in range(senders):
        array.connect(tile.mm2s[number], door.s2mm[number])
        if runs:
            tile.mm2s[number].start(parts[0])
            tile.mm2s[number].start(parts[1], repeat=runs)
        else:
            tile.mm2s[number].start(*(parts if senders == 1 else parts[number : number + 1]), loop=True)
        words = 2 * WORDS // senders
        door.s2mm[number].start(door.write(array.external(f"back{number}", np.zeros(words, np.int32))))
    return [each for each in array.run(check=True).findings if each.code == "MT0203"]


def test_a_lock_that_counts_a_buffer_with_data_is_not_why_another_one_is_sent_too_early() -> None:
    """The second buffer is sent by what the core has released, who left half of it out."""
    (one,) = rounds(1, written=HALF)
    assert one.message.startswith("compute(0,2) MM2S 0")
    assert one.fix.startswith("Let core (0, 2)")
    assert one.fix.endswith(
        "write them before it releases lock 0 'full' of tile (0, 2), or give the buffer data."
    )


def test_a_lock_that_counts_a_buffer_that_is_sent_later_is_named() -> None:
    (one,) = rounds(1, filled=1)
    assert one.message.startswith("lock 0 'full' of tile (0, 2) starts at 1: compute(0,2) MM2S 0")
    assert one.fix.startswith("Fill the buffer, send one first that has data, or initialise the lock")


def test_of_a_core_and_a_channel_nothing_says_which_one_a_lock_lets_go() -> None:
    (one,) = rounds(1, filled=1, takes=True)
    assert one.message.startswith("compute(0,2) MM2S 0")


@pytest.mark.parametrize("runs", [1, 2])
def test_what_a_task_before_has_taken_is_not_what_lets_the_next_one_go(runs: int) -> None:
    """The second run of the second buffer waits for ever."""
    (one,) = rounds(1, written=HALF, runs=runs)
    assert one.message.startswith("compute(0,2) MM2S 0")


def test_of_two_channels_nothing_says_which_one_a_lock_lets_go() -> None:
    assert [each.message[:19] for each in rounds(1, written=HALF, senders=2)] == ["compute(0,2) MM2S 1"]


def test_a_lock_by_which_a_core_reads_too_early_is_not_named() -> None:
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    words, full = tile.buffer("words", WORDS), tile.lock(1, "full")

    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(full)
        core.read(words)

    tile.run_kernel(kernel)
    (one,) = array.run(check=True).findings
    assert (one.code, one.message.startswith("core (0, 2)")) == ("MT0203", True)


@pytest.mark.parametrize("sender", ["compute(0,2) MM2S 0", "compute(0,3) MM2S 0"])
def test_words_left_over_follow_from_a_sender_that_was_too_early(sender: str) -> None:
    """Of another sender they are a mistake of their own."""
    sides = (Side("interface(0,0) S2MM 0", "takes 8 words"), Side("compute(0,2) MM2S 0", "sends to it"))
    left = Finding("MT0323", Severity.WARNING, "more are sent", sides)
    early = Finding("MT0203", Severity.WARNING, "unwritten", (Side(sender, "reads"),))
    wrong = Finding("MT0405", Severity.ERROR, "other words", ())
    order = [each.code for each in Oddities().causes_first((left, early, wrong))]
    assert order == (
        ["MT0203", "MT0405", "MT0323"] if sender == sides[1].who else ["MT0323", "MT0203", "MT0405"]
    )
