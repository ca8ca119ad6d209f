"""Can a driver initialise the array over the socket and move data of external memory through it and back?"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from support.driver.driver_client import MM2S, S2MM, Driver
from support.driver.simulator_client import Server, serving
from support.formats.oracle_files import load

IN, OUT, WORDS = 0x1_0000_0000, 0x1_0000_1000, 1024
SOUTH_3_TO_NORTH_0, SOUTH_0_TO_DMA_0 = (0x3F030, 0x3F114, 5), (0xB0000, 0xB011C, 7)
DMA_0_TO_SOUTH_0, NORTH_0_TO_SOUTH_2 = (0xB001C, 0xB0100, 0), (0x3F010, 0x3F138, 14)
MULTIPLEXER, DEMULTIPLEXER = 0x1F000, 0x1F004
OWN_LOCK_0, OWN_LOCK_1 = 64, 65


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, "--memory", f"{IN:#x}:64K") as running:
        yield running


def mapped(server: Server) -> npt.NDArray[np.uint32]:
    """External memory, as a client in the same machine has it."""
    with (server.port_file.parent / "external_memory.bin").open("r+b") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint32)


def configure(driver: Driver) -> None:
    """Circuits and descriptors: in to the memory tile, and out again."""
    driver.mask_write32(driver.tile(0, 0, MULTIPLEXER), 3 << 10, 1 << 10)  # South 3 from the DMA
    driver.mask_write32(driver.tile(0, 0, DEMULTIPLEXER), 3 << 4, 1 << 4)  # South 2 to the DMA
    for row, circuit in enumerate((SOUTH_3_TO_NORTH_0, SOUTH_0_TO_DMA_0)):
        driver.connect(0, row, *circuit)
    for row, circuit in ((1, DMA_0_TO_SOUTH_0), (0, NORTH_0_TO_SOUTH_2)):
        driver.connect(0, row, *circuit)
    for bd, (take, want, give, add) in enumerate(
        ((OWN_LOCK_0, 0, OWN_LOCK_1, 1), (OWN_LOCK_1, -1, OWN_LOCK_0, 0))
    ):
        locks = 1 << 31 | (add & 0x7F) << 24 | give << 16 | 1 << 15 | (want & 0x7F) << 8 | take
        driver.write_bd(0, 1, bd, [WORDS, 0x20000, 0, 0, 0, 0, 0, locks])
    for bd, address in enumerate((IN, OUT)):
        driver.write_bd(0, 0, bd, [WORDS, address & 0xFFFFFFFF, address >> 32, 0, 0, 0, 0, 1 << 25])


def move(driver: Driver) -> bool:
    """Start all four channels; whether the last one comes to rest."""
    driver.push(0, 1, S2MM, 0, 0)
    driver.push(0, 1, MM2S, 0, 1)
    driver.push(0, 0, S2MM, 0, 1)
    driver.push(0, 0, MM2S, 0, 0)
    return driver.wait_for_done(0, 0, S2MM, 0)


def test_a_driver_takes_a_partition_and_moves_data_through_it(server: Server) -> None:
    """Every access is one that the driver itself sent for the same calls."""
    data = np.random.default_rng(1).integers(0, 1 << 32, WORDS, dtype=np.uint32)
    memory, driver = mapped(server), Driver(server.port_file, columns=4)
    driver.partition_initialize()
    memory[:WORDS] = data
    configure(driver)
    assert move(driver)
    assert np.array_equal(memory[WORDS : 2 * WORDS], data)
    driver.partition_teardown()
    assert driver.sent == load("driver_session")["accesses"]
    driver.close()
    assert server.stop() == 0
    assert ", 0 malformed, 0 refused; " in server.log
    assert "halted" not in server.log
    assert [path.name for path in server.port_file.parent.iterdir()] == []


def test_a_second_driver_finds_the_memory_as_the_first_left_it(server: Server) -> None:
    memory = mapped(server)
    memory[:WORDS] = np.arange(WORDS)
    for times in (1, 2):
        driver = Driver(server.port_file, columns=4)
        driver.partition_initialize()
        configure(driver)
        assert move(driver)
        driver.close()
        assert np.array_equal(memory[WORDS : 2 * WORDS], np.arange(WORDS) * times)
        memory[:WORDS] = np.arange(WORDS) * 2
