"""Is the one descriptor named whose length alone sets all others right?"""

from __future__ import annotations

import numpy as np

from memtile import Array, check_design, view
from memtile.check.checked_program import of_design
from memtile.check.streams import balance_of

BLOCK, PART = 48, 16


def relay(*, stores: int = BLOCK, sends: int = BLOCK) -> Array:
    """A block comes to the memory tile, is sent in one, and taken in three parts."""
    array = Array("npu1", columns=1)
    door, shared, worker = array.interface_tile(0), array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(door.mm2s[0], shared.s2mm[0])
    array.connect(shared.mm2s[0], worker.s2mm[0])
    array.connect(worker.mm2s[0], door.s2mm[0])
    block, free, full = shared.buffer("block", BLOCK), shared.lock(1, "free"), shared.lock(0, "full")
    write, read = shared.write(block, view(BLOCK)[:stores]), shared.read(block, view(BLOCK)[:sends])
    shared.s2mm[0].start(write.guarded(free.acquire(), full.release()), loop=True)
    shared.mm2s[0].start(read.guarded(full.acquire(), free.release()), loop=True)
    part, room, here = worker.buffer("part", PART), worker.lock(1, "room"), worker.lock(0, "here")
    comes = worker.write(part, view(PART))
    worker.s2mm[0].start(comes.guarded(room.acquire(), here.release()), loop=True)
    worker.mm2s[0].start(worker.read(part).guarded(here.acquire(), room.release()), loop=True)
    numbers = np.arange(2 * BLOCK, dtype=np.int32)
    door.mm2s[0].start(door.read(array.external("there", numbers)))
    door.s2mm[0].start(door.write(array.external("back", np.zeros(2 * BLOCK, np.int32))))
    return array


def test_the_length_that_sets_all_right_is_named_alone() -> None:
    (found,) = balance_of(of_design(relay(sends=40), "d")).off
    assert (found.bd.number, found.bd.length, found.length) == (1, 40, 48)


def test_the_writer_of_a_block_is_not_too_long_where_its_reader_is_too_short() -> None:
    findings = check_design(lambda: relay(sends=40)).findings
    (found,) = [each for each in findings if each.code == "MT0323"]
    assert found.message.startswith("memory(0,1) MM2S 0 sends 40 of 48 words with BD 1")


def test_lengths_that_fit_have_no_finding() -> None:
    assert not check_design(relay).findings
