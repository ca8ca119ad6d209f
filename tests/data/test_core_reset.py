"""Does Core_Control.Reset begin a kernel anew, through whatever door it is written (DEV-CORE-6)?"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memtile import Array
from memtile.arch.packets import PacketOperation, control_header
from memtile.bd.descriptor import Descriptor, Packet
from memtile.bd.windows import DmaAddress
from memtile.hosts.address_space import AddressSpace
from memtile.hosts.driver_socket import DriverServer
from memtile.kernels import Action, Core, Kernel
from memtile.programs import (
    Header,
    MaskWrite,
    Transaction,
    address_of,
    read_program,
    run_program,
    transaction_bytes,
)
from memtile.testing.stream_bench import Bench
from support.driver.simulator_client import Client
from support.formats.programs import cdo_of

CONTROL = 0x32000
ENABLE, RESET = 1, 2
PLACE = address_of(0, 2, CONTROL)
PULSE = [MaskWrite(PLACE, RESET, RESET), MaskWrite(PLACE, RESET, 0)]


class Counting:
    """A kernel that counts how often it began, and how often it went on."""

    def __init__(self) -> None:
        self.begun = self.turns = 0

    def __call__(self, core: Core) -> Iterator[Action]:
        self.begun += 1
        while True:
            yield core.cycles(5)
            self.turns += 1


def made(*, enabled: bool = True) -> tuple[Array, Counting]:
    """An array with a kernel at work, 20 cycles old."""
    array, kernel = Array("npu1", columns=1), Counting()
    if enabled:
        array.door.write32(PLACE, ENABLE)
    array.compute_tile(0, 2).run_kernel(kernel, endless=True)
    array.engine.wait(20)
    assert kernel.begun == 1
    return array, kernel


def test_a_write_begins_it_anew() -> None:
    array, kernel = made()
    array.door.mask_write32(PLACE, RESET, RESET)
    array.engine.wait(20)
    turns = kernel.turns
    array.engine.wait(20)
    assert (kernel.begun, kernel.turns) == (1, turns)  # it stands still
    array.door.mask_write32(PLACE, ENABLE, 0)
    array.door.mask_write32(PLACE, RESET, 0)
    array.engine.wait(20)
    assert kernel.begun == 1  # it is not enabled
    array.door.mask_write32(PLACE, ENABLE, ENABLE)
    array.engine.wait(20)
    assert kernel.begun == 2
    assert kernel.turns > turns


def test_a_pulse_between_two_cycles_is_seen() -> None:
    array, kernel = made()
    tile = array.compute_tile(0, 2).index
    for value in (ENABLE | RESET, ENABLE):
        array.engine.door(tile).write32(CONTROL, value)  # without time
    array.engine.wait(1)
    assert kernel.begun == 2


def test_a_kernel_of_python_needs_no_enabling() -> None:
    """The register has Reset from the start, and the kernel runs all the same: off and on is a reset."""
    array, kernel = made(enabled=False)
    array.door.write32(PLACE, RESET)
    array.engine.wait(20)
    assert kernel.begun == 1
    for value in (0, RESET, 0):
        array.door.write32(PLACE, value)
    array.engine.wait(20)
    assert kernel.begun == 2


def test_a_kernel_that_has_ended_begins_anew_too() -> None:
    begun = []

    def once(core: Core) -> Iterator[Action]:
        begun.append(1)
        yield core.cycles(3)

    array = Array("npu1", columns=1)
    array.door.write32(PLACE, ENABLE)
    array.compute_tile(0, 2).run_kernel(once)
    array.run()
    for value in (ENABLE | RESET, ENABLE):
        array.door.write32(PLACE, value)
    array.run()
    assert len(begun) == 2


@pytest.mark.parametrize("form", ["txn", "cdo", "dump"])
def test_a_program_from_a_file_begins_it_anew(form: str) -> None:
    data = {
        "txn": transaction_bytes(Transaction(Header((1, 0), 3, 6, 1, 1), tuple(PULSE))),
        "cdo": cdo_of(PULSE),
        "dump": f"0x{PLACE:08X} 3\n0x{PLACE:08X} 1\n".encode(),
    }[form]
    array, kernel = made()
    run_program(read_program(data, "x", form).operations, array, max_cycles=5000)  # type: ignore[arg-type]
    assert kernel.begun == 2


def test_a_control_packet_begins_it_anew() -> None:
    """The tile's own DMA sends it, no host does anything."""
    bench, kernel = Bench("compute"), Counting()
    bench.packets("DMA0", (3, 31, 0, 0))
    bench.collects("CTRL0", 0, 0, drop=False)
    bench.door().write32(CONTROL, ENABLE)
    bench.engine.cores.attach(0, kernel, endless=True)
    words = [control_header(PacketOperation.WRITE, CONTROL, 1), ENABLE | RESET]
    for value, begun in ((ENABLE | RESET, 1), (ENABLE, 2)):
        bench.fill(0x100, [words[0], value])
        bd = Descriptor("compute", 2, DmaAddress(0x100), packet=Packet(3))
        bench.write_bd(0, bd)
        bench.issue(bench.mm2s(), 0)
        bench.engine.wait(100)
        turns = kernel.turns
        bench.engine.wait(20)
        assert kernel.begun == begun
        assert (kernel.turns > turns) is (begun == 2)


def test_the_drivers_socket_begins_it_anew(tmp_path: Path) -> None:
    array, kernel = made()
    server = DriverServer(AddressSpace(array), lambda _: None)

    def drive(port_file: Path) -> None:
        client = Client(port_file)
        for value in (ENABLE | RESET, ENABLE):
            client.write32(PLACE, value)
            assert client.read32(PLACE) == value
        client.read32(PLACE)
        client.close()

    async def both() -> None:
        port_file = tmp_path / "port"
        serving = asyncio.create_task(server.run("127.0.0.1", 0, port_file))
        while not port_file.exists():
            await asyncio.sleep(0.01)
        await asyncio.to_thread(drive, port_file)
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving

    asyncio.run(both())
    assert kernel.begun == 2


def test_an_event_resets_a_core() -> None:
    """Reset_Event sets the bit; who takes it back begins the kernel anew."""
    array, kernel = made()
    array.door.write32(address_of(0, 2, 0x3200C), 124)  # Reset_Event: USER_EVENT_0
    array.door.write32(address_of(0, 2, 0x34008), 124)  # Event_Generate
    array.engine.wait(20)
    turns = kernel.turns
    array.engine.wait(20)
    assert (kernel.begun, kernel.turns) == (1, turns)
    array.door.write32(PLACE, ENABLE)
    array.engine.wait(20)
    assert kernel.begun == 2


def test_two_cores_are_reset_each_on_its_own() -> None:
    array, kernel = made()
    other: Kernel = Counting()
    array.compute_tile(0, 3).run_kernel(other, endless=True)
    for value in (ENABLE | RESET, ENABLE):
        array.door.write32(PLACE, value)
    array.engine.wait(20)
    assert (kernel.begun, other.begun) == (2, 1)  # type: ignore[attr-defined]


def test_what_memory_holds_stays() -> None:
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    seen: list[int] = []
    buffer = tile.buffer("count", 1, np.int32)

    def count(core: Core) -> Iterator[Action]:
        seen.append(int(core.read(buffer)[0]))
        core.write(buffer, core.read(buffer) + 1)
        yield core.cycles(1)

    array.door.write32(PLACE, ENABLE)
    tile.run_kernel(count)
    array.run()
    for value in (ENABLE | RESET, ENABLE):
        array.door.write32(PLACE, value)
    array.run()
    assert seen == [0, 1]
