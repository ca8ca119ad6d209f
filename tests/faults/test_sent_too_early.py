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
