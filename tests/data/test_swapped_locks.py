"""Is a release to the lock of another ring called that, whether the run hangs or only races?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array, Host, MemoryTile
from memtile.explain.bd_chains import BdChains
from memtile.explain.lock_waits import swaps
from support.designs.severe import severe


def rings(rounds: int, *, back: int) -> MemoryTile:
    """Two blocks through a tile; the reader of the second one gives room to the writer of block ``back``."""
    tile = MemoryTile()
    blocks = [tile.buffer(name, 16) for name in ("left", "right")]
    free = [tile.lock(1, "left_free"), tile.lock(1, "right_free")]
    full = [tile.lock(0, "left_full"), tile.lock(0, "right_full")]
    for number, block in enumerate(blocks):
        many = 8 if number == 0 else rounds
        room = free[back if number else 0]
        tile.s2mm[number].start(
            tile.write(block).guarded(free[number].acquire(), full[number].release()), repeat=many
        )
        tile.mm2s[number].start(tile.read(block).guarded(full[number].acquire(), room.release()), repeat=many)
        tile.s2mm[number].feed(np.arange(16 * many))
        tile.mm2s[number].collect()
    return tile


@pytest.mark.parametrize(("rounds", "stuck"), [(1, False), (4, True)])
def test_the_wrong_lock_is_named_whether_it_hangs_or_races(rounds: int, stuck: bool) -> None:
    result = rings(rounds, back=0).run(check=True)
    assert (result.status == "stuck") is stuck
    assert {finding.code for finding in severe(result.findings)} == {"MT0305"}
    (finding,) = result.findings
    assert "lock 1 'right_free'" in finding.fix


def test_each_ring_with_its_own_lock_is_fine() -> None:
    tile = rings(4, back=1)
    assert severe(tile.run(check=True).findings) == ()
    assert list(swaps(tile.engine, BdChains(tile.engine))) == []


def test_two_readers_of_one_ring_give_to_its_writer() -> None:
    tile = MemoryTile()
    block, free, full = tile.buffer("block", 16), tile.lock(2, "free"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(block).guarded(free.acquire(2), full.release(2)), repeat=3)
    tile.s2mm[0].feed(np.arange(48))
    for channel in tile.mm2s[:2]:
        channel.start(tile.read(block).guarded(full.acquire(), free.release()), repeat=3)
        channel.collect()
    assert tile.run().status == "finished"
    assert list(swaps(tile.engine, BdChains(tile.engine))) == []


def written(*, waits: bool) -> Array:
    """Words that a memory tile sends to external memory, started by a host."""
    array = Array("npu1", 1)
    interface, tile = array.interface_tile(0), array.memory_tile(0)
    target = array.external("target", np.zeros(64, np.int32))
    array.connect(tile.mm2s[0], interface.s2mm[0])

    def sequence(host: Host):  # type: ignore[no-untyped-def]
        yield host.start(interface.s2mm[0], interface.write(target))
        yield host.start(tile.mm2s[0], tile.read(tile.buffer("block", 64, data=np.arange(64))))
        if waits:
            yield host.wait()

    array.host(sequence)
    return array


@pytest.mark.parametrize("waits", [True, False])
def test_a_host_that_ends_before_its_transfer_is_told(waits: bool) -> None:
    result = written(waits=waits).run()
    assert result.status == "finished"
    assert [finding.code for finding in severe(result.findings)] == ([] if waits else ["MT0318"])
    if not waits:
        (finding,) = result.findings
        assert finding.cycles is not None
        assert finding.cycles[0] < finding.cycles[1] == result.cycles
        assert "interface(0,0) S2MM 0" in finding.message


def test_a_writer_that_was_started_before_is_not_the_hosts() -> None:
    """A design may start what it writes at once, and have a host for what it reads alone."""
    array = Array("npu1", 1)
    interface, tile = array.interface_tile(0), array.memory_tile(0)
    target = array.external("target", np.zeros(64, np.int32))
    array.connect(tile.mm2s[0], interface.s2mm[0])
    interface.s2mm[0].start(interface.write(target))

    def sequence(host: Host):  # type: ignore[no-untyped-def]
        yield host.start(tile.mm2s[0], tile.read(tile.buffer("block", 64, data=np.arange(64))))

    array.host(sequence)
    result = array.run()
    assert (result.status, severe(result.findings)) == ("finished", ())
