"""Is each task queue, status, control register and lock of an array found by its address?"""

from __future__ import annotations

import pytest

from memtile.arch.register_map import register_named
from memtile.arch.registers import ModuleName
from memtile.design.array import Array
from memtile.runs.channel_addresses import channel_addresses
from memtile.runs.operations import address_of
from memtile.runs.waits import channel_at

TILES: tuple[tuple[tuple[int, int], ModuleName, str, int], ...] = (
    ((0, 1), "memory_tile", "DMA_{}_{}_Start_Queue", 6),
    ((0, 3), "memory", "DMA_{}_{}_Start_Queue", 2),
    ((0, 0), "noc", "DMA_{}_{}_Task_Queue", 2),
)


@pytest.mark.parametrize(("place", "module", "queue", "channels"), TILES)
def test_every_channel_is_found_by_its_registers(
    place: tuple[int, int], module: ModuleName, queue: str, channels: int
) -> None:
    engine = Array("npu1", columns=1).engine
    found = channel_addresses(engine)
    for direction, name in enumerate(("S2MM", "MM2S")):
        for number in range(channels):
            channel = channel_at(engine, *place, direction, number)
            assert (engine.channels.direction[channel], engine.channels.number[channel]) == (
                direction,
                number,
            )
            registers = (
                queue.format(name, number),
                f"DMA_{name}_Status_{number}",
                f"DMA_{name}_{number}_Ctrl",
            )
            queues, status, control = (
                address_of(*place, register_named(module, each).offset) for each in registers
            )
            assert (found.queues[queues], found.statuses[status]) == (channel, channel)
            assert found.controls[control][0] == channel


def test_a_tile_without_channels_and_one_that_is_not_there_have_none() -> None:
    engine = Array("xcve2802", columns=1).engine
    none = [place for place, (first, _) in channel_addresses(engine).tiles.items() if first < 0]
    assert [channel_at(engine, *place, 1, 0) for place in (*none, (7, 1))] == [-1] * (len(none) + 1)
    assert channel_addresses(engine) is channel_addresses(engine)


def test_a_lock_is_found_by_its_value() -> None:
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    lock = address_of(0, 1, register_named("memory_tile", "Lock5_value").offset)
    found = channel_addresses(array.engine).locks[lock]
    assert found == array.engine.tiles.lock_base[tile.index] + 5
