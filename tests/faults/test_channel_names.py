"""Do channels carry the names that the design gave: in the table, as data, in pictures and in stuck lines?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile import Array, DesignError, MemoryTile, save_cycles


def fifos(*, stuck: bool = False) -> Array:
    """A FIFO from the outside through a memory tile to two cores, split into ``a[0]`` and ``a[1]``."""
    array = Array("npu1", 1)
    data = array.external("x", np.arange(64, dtype=np.int32))
    source, tile = array.interface_tile(0), array.memory_tile(0)
    fifo = array.object_fifo("whole", source, tile, shape=32)
    parts = fifo.split("a", [array.compute_tile(0, 2), array.compute_tile(0, 3)])
    source.mm2s[0].start(source.read(data))

    if not stuck:
        for part in parts:
            end = part.consumers[0]

            def take(core, end=end):  # type: ignore[no-untyped-def]
                for _ in range(2):
                    yield core.acquire(end.full)
                    yield core.release(end.free)

            end.tile.run_kernel(take)
    return array


def test_channels_of_object_fifos_have_their_names(tmp_path: Path) -> None:
    result = fifos().run()
    labels = {use.name: use.label for use in result.channels}
    assert labels == {
        "interface(0,0) MM2S 0": "whole",
        "memory(0,1) S2MM 0": "whole",
        "memory(0,1) MM2S 0": "a[0]",
        "memory(0,1) MM2S 1": "a[1]",
        "compute(0,2) S2MM 0": "a[0]",
        "compute(0,3) S2MM 0": "a[1]",
    }
    assert {each["channel"]: each["label"] for each in result.as_json()["channels"]} == labels
    rows = {row[0]: row[1] for row in result.sheet().rows}
    assert rows == labels
    save_cycles(result, tmp_path / "cycles.svg")
    assert "a[1]  memory(0,1) MM2S 1" in (tmp_path / "cycles.svg").read_text()


def test_channels_that_nobody_named_have_their_buffers_names() -> None:
    tile = MemoryTile()
    a, b, c = (tile.buffer(name, 8) for name in "abc")
    tile.mm2s[0].start(tile.read(a), tile.read(b), tile.read(a))
    tile.mm2s[1].start(tile.read(a), tile.read(b), tile.read(c))
    tile.mm2s[2].named("mine").start(tile.read(c))
    for channel in tile.mm2s[:3]:
        channel.collect()
    assert [use.label for use in tile.run().channels] == ["a, b", "a, b, ...", "mine"]


def test_stuck_lines_have_the_names() -> None:
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    lock, buffer = tile.lock(0, "full"), tile.buffer("b", 64)
    tile.mm2s[0].named("weights").start(tile.read(buffer).guarded(lock.acquire(), None))
    tile.s2mm[0].named("load").start(tile.write(buffer).guarded(None, lock.release()))
    tile.mm2s[0].collect()
    waiting = array.run().waiting
    assert any(line.startswith("memory(0,1) MM2S 0 'weights', BD 0, word 0 of 64: waits") for line in waiting)
    assert any("released by memory(0,1) S2MM 0 'load' (BD 1)" in line for line in waiting)
    stuck = fifos(stuck=True)
    stuck.interface_tile(0).mm2s[0].start(
        stuck.interface_tile(0).read(stuck.external("y", np.zeros(256, np.int32)))
    )
    waiting = stuck.run().waiting
    assert any("'whole'" in line for line in waiting)
    assert any(line.startswith("compute(0,3) S2MM 0 'a[1]', BD") for line in waiting)


def test_a_refused_step_leaves_no_name() -> None:
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    with pytest.raises(DesignError, match="big"):
        array.object_fifo("big", array.compute_tile(0, 2), tile, shape=1 << 20)
    assert array.compute_tile(0, 2).mm2s[0].label == ""


def test_names_stay_with_a_saved_array(tmp_path: Path) -> None:
    array = fifos()
    array.run()
    array.save(tmp_path / "state.npz")
    again = Array.load(tmp_path / "state.npz")
    assert again.memory_tile(0).mm2s[1].label == "a[1]"
    assert [use.label for use in again.run().channels] == [use.label for use in array.run().channels]
