"""Does a check find locks with more room than buffers, and the one descriptor that does not wait?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memtile import MemoryTile
from memtile.check.check import check_design
from memtile.check.ring_locks import without_told
from memtile.explain.findings import Finding, Severity

WORDS = 8


def tile(*, room: int = 3, left_out: int = -1, back: bool = True) -> MemoryTile:
    """A ring of three buffers, each written and read once in a turn."""
    made = MemoryTile("npu1")
    slots = [made.buffer(f"slot{n}", WORDS, np.int32) for n in range(3)]
    free, full = made.lock(room, "free"), made.lock(0, "full")
    writes = [
        made.write(slot).guarded(None if n == left_out else free.acquire(1), full.release())
        for n, slot in enumerate(slots)
    ]
    given = free.release() if back else None
    made.s2mm[0].start(*writes, loop=True)
    made.mm2s[0].start(*(made.read(slot).guarded(full.acquire(1), given) for slot in slots), loop=True)
    made.s2mm[0].feed(np.arange(3 * WORDS, dtype=np.int32))
    made.mm2s[0].expect(np.arange(3 * WORDS, dtype=np.int32))
    return made


def found(code: str, **how: Any) -> list[Finding]:
    """The findings of a check with a code."""
    return [each for each in check_design(lambda: tile(**how)).findings if each.code == code]


def test_a_lock_that_starts_above_the_number_of_buffers_is_named() -> None:
    (finding,) = found("MT0204", room=4)
    assert finding.message.startswith(
        "lock 0 'free' starts at 4, and S2MM 0, which acquires it, writes 3 buffers"
    )
    assert (
        finding.fix == "Initialise lock 0 'free' to 3, the number of buffers: 4 is more room than there is."
    )


@pytest.mark.parametrize("how", [{"room": 3}, {"room": 2}, {"room": 9, "back": False}])
def test_a_lock_with_a_unit_for_each_buffer_or_for_each_transfer_is_fine(how: dict[str, int]) -> None:
    assert not found("MT0204", **how)


@pytest.mark.parametrize("left_out", [0, 2])
def test_the_one_descriptor_that_does_not_wait_is_named(left_out: int) -> None:
    (finding,) = found("MT0105", left_out=left_out)
    assert finding.message.startswith(f"S2MM 0 (BD {left_out}) acquires no lock, and BDs ")
    assert finding.fix == f"Let S2MM 0 (BD {left_out}) acquire lock 0 'free' too."


def test_a_chain_of_which_all_wait_is_fine() -> None:
    assert not found("MT0105")


def test_one_descriptor_may_take_the_units_of_two() -> None:
    """Its ring then acquires as much as it releases; with one more acquire it would stop."""

    def halves(taken: int) -> MemoryTile:
        made = MemoryTile("npu1")
        parts = [made.buffer(f"half{n}", WORDS, np.int32) for n in range(2)]
        free, full = made.lock(2, "free"), made.lock(0, "full")
        first = made.write(parts[0]).guarded(free.acquire(taken), full.release())
        made.s2mm[0].start(first, made.write(parts[1]).guarded(None, full.release()), loop=True)
        made.mm2s[0].start(
            *(made.read(each).guarded(full.acquire(), free.release()) for each in parts), loop=True
        )
        made.s2mm[0].feed(np.arange(4 * WORDS, dtype=np.int32))
        made.mm2s[0].expect(np.arange(4 * WORDS, dtype=np.int32))
        return made

    assert halves(2).run().good
    for taken, count in ((2, 0), (1, 1)):
        result = check_design(lambda taken=taken: halves(taken))
        assert [each.code for each in result.findings].count("MT0105") == count


def test_a_lock_that_another_rule_names_is_named_once() -> None:
    said = "lock 0 'free' of tile (0, 1)"
    own = Finding("MT0204", Severity.ERROR, f"{said} starts at 4, and S2MM 0 ...")
    other = Finding("MT0204", Severity.ERROR, "lock 0 'free' of tile (0, 2) starts at 4, and ...")
    told = Finding("MT0122", Severity.ERROR, f"{said}, line 13, starts at 4, 1 more than ...")
    assert without_told([own, told, other]) == [told, other]
    assert without_told([own, other]) == [own, other]
