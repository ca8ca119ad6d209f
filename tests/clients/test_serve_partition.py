"""Does XAie_PartitionInitialize of AMD's driver leave a clean partition, and how long does it take?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from memtile.arch.devices import DEVICES
from support.driver.driver_errors import ErrorHandling, Found
from support.driver.driver_partition import Partition
from support.driver.simulator_client import NPI, Client, serving

LOCK_3, BROADCAST_2, L1_ENABLE, L2_ENABLE, MUX = 0x14030, 0x34018, 0x35004, 0x15004, 0x1F000
S2MM_0_QUEUE, S2MM_0_STATUS, BD_0 = 0x1D204, 0x1D220, 0x1D000


@contextmanager
def partition(folder: Path, device: str) -> Iterator[tuple[Client, Partition]]:
    known = DEVICES[device]
    folder.mkdir(exist_ok=True)
    with serving(folder, "--device", device) as server:
        with closing(server.client()) as array, closing(server.client(NPI)) as npi:
            yield (
                array,
                Partition(array, npi, known.columns, known.rows, known.memory_rows, known.noc_columns),
            )
        assert server.stop() == 0
        assert "malformed line" not in server.log
        assert "answer" not in server.log


def test_interface_tiles_are_as_new_after_the_shim_reset(tmp_path: Path) -> None:
    """DEV-NPI-1: locks, broadcast, interrupts, multiplexers, a DMA that a decode error has halted."""
    with partition(tmp_path, "npu1") as (client, driver):
        written = {LOCK_3: 5, BROADCAST_2: 126, L1_ENABLE: 0x10001, L2_ENABLE: 0x3F, MUX: 1 << 10}
        for column in (0, 2):
            for register, value in written.items():
                client.write32(driver.at(column, 0, register), value)
        two = driver.at(2, 0, 0)
        for n, word in enumerate([4, 0x1000, 0, 0, 0, 0, 0, 1 << 25]):
            client.write32(two + BD_0 + 4 * n, word)
        client.write32(two + 0x1D214, 0)  # MM2S 0 reads where no memory is
        assert client.mask_poll(two + 0x1D228, 1 << 16, 1 << 16, 10)
        assert driver.initialise()
        shown = {LOCK_3: 0, BROADCAST_2: 0, L1_ENABLE - 4: 0, L2_ENABLE - 4: 0, MUX: 0, 0x1D228: 0, BD_0: 0}
        for column in (0, 2):
            assert {at: client.read32(driver.at(column, 0, at)) for at in shown} == shown
        assert [client.read32(driver.at(2, row, 0)) for row in range(1, 6)] == [0] * 5  # all have their clock


def test_only_the_columns_of_the_partition_are_reset(tmp_path: Path) -> None:
    with partition(tmp_path, "npu1") as (client, driver):
        npi = driver._npi
        for column in range(4):
            client.write32(driver.at(column, 0, LOCK_3), 5)
        npi.write32(0x0, 1 << 27)
        for protected, expected in (
            (0, [5, 5, 5, 5]),  # nobody may
            (1 | 1 << 1 | 2 << 8, [5, 0, 0, 5]),
        ):
            npi.write32(0x200, protected)
            npi.write32(0x4, 1 << 27)
            npi.write32(0x4, 0)
            assert [client.read32(driver.at(column, 0, LOCK_3)) for column in range(4)] == expected
        npi.write32(0x0, 0)
        npi.write32(0x200, 1 | 3 << 8)
        npi.write32(0x4, 1 << 27)  # masked
        assert npi.read32(0x4) == 0
        assert client.read32(driver.at(0, 0, LOCK_3)) == 5


def test_the_drivers_error_handling_finds_tile_and_event(tmp_path: Path) -> None:
    """XAie_ErrorHandlingInit, a descriptor of the other half, the interrupt line, the backtracking."""
    with partition(tmp_path, "npu1") as (client, driver):
        npi, known = driver._npi, DEVICES["npu1"]
        assert driver.initialise()
        errors = ErrorHandling(client, known.rows, known.memory_rows, known.noc_columns, [0, 2, 0, 0])
        errors.initialise()
        assert npi.read32(0x30) == 0
        client.write32(driver.at(2, 1, 0xA060C), 24)
        assert npi.read32(0x30) == 1 << 1
        assert errors.handle() == ({2: 1 << 0}, [Found(2, 1, "memory_tile", 133)])
        assert npi.read32(0x30) == 0
        assert errors.handle() == ({}, [])


@pytest.mark.slow
def test_a_column_of_the_largest_device_costs_what_one_of_npu1_does(tmp_path: Path) -> None:
    """L-8: 38 columns of 11 rows took a minute and a half. A column costs the same in every device."""
    took: dict[str, float] = {}
    for device in ("npu1", "xcve2802"):
        with partition(tmp_path / device, device) as (client, driver):
            client.write32(driver.at(1, 1, 0x40), 7)
            driver.reset_columns()  # what the first call of anything costs
            began = time.perf_counter()
            driver.reset_columns()
            took[device] = (time.perf_counter() - began) / DEVICES[device].columns
            began = time.perf_counter()
            assert driver.initialise(zeroise=True)
            whole = time.perf_counter() - began
            assert client.read32(driver.at(1, 1, 0x40)) == 0
    print(f"{whole:.2f} s for all of it, a column {took}")
    rows = {device: DEVICES[device].rows - 1 for device in took}
    assert took["xcve2802"] / rows["xcve2802"] < 3 * took["npu1"] / rows["npu1"]
