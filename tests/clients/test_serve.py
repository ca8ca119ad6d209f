"""Can AMD's driver program the array over its simulator socket? The client is written from its page alone."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile.arch.register_map import tile_register
from memtile.cli.main import app
from support.driver.driver_replay import RegisterFile, replay, written
from support.driver.simulator_client import NPI, Client, Server, serving
from support.formats.oracle_files import load

MEMORY = 1 << 25 | 1 << 20  # column 1, row 1
BD, QUEUE_MM2S_0, QUEUE_S2MM_0, STATUS_S2MM_0 = 0xA0000, 0xA0634, 0xA0604, 0xA0660
SLAVE_DMA_0, MASTER_DMA_0 = 0xB0100, 0xB0000
DONE = 0x0078003C  # the driver's wait-for-done: queue size, running, four stall bits


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serve")) as running:
        yield running


def test_the_port_file_is_a_number_and_nothing_else(server: Server) -> None:
    assert server.port_file.read_bytes().isdigit()
    client = server.client()
    assert client.read32(MEMORY) == 0
    client.close()
    assert f"listening on 127.0.0.1:{server.port_file.read_text()}, as " in server.log


@pytest.mark.feature("F21")
def test_a_loop_back_transfer(server: Server) -> None:
    client = server.client()
    for n in range(64):
        client.write32(MEMORY + 4 * n, 0xA0000000 + n)
    for bd, address in ((0, 0x20000), (1, 0x20000 + 0x1000)):
        words = [64, address, 0, 0, 0, 0, 0, 1 << 31]
        for n, word in enumerate(words):
            client.write32(MEMORY + BD + bd * 0x20 + 4 * n, word)
    client.write32(MEMORY + SLAVE_DMA_0, 1 << 31)
    client.write32(MEMORY + MASTER_DMA_0, 1 << 31)
    client.write32(MEMORY + QUEUE_S2MM_0, 1)
    client.write32(MEMORY + QUEUE_MM2S_0, 0)
    assert client.mask_poll(MEMORY + STATUS_S2MM_0, DONE, 0, 5001)
    assert [client.read32(MEMORY + 0x4000 + 4 * n) for n in range(64)] == [0xA0000000 + n for n in range(64)]
    client.close()


def test_clients_one_after_another_meet_the_same_array(server: Server) -> None:
    for n in range(20):
        client = server.client()
        if n:
            assert client.read32(MEMORY + 0x100) == n - 1
        client.write32(MEMORY + 0x100, n)
        client.socket.shutdown(socket.SHUT_WR)
        assert client.receive() == ""
        client.close()


def test_two_clients_at_once_do_not_wait_for_each_other(server: Server) -> None:
    idle, busy = server.client(), server.client()
    busy.write32(MEMORY + 0x200, 5)
    assert busy.read32(MEMORY + 0x200) == 5
    assert idle.read32(MEMORY + 0x200) == 5
    idle.close()
    busy.close()


@pytest.mark.slow
def test_a_client_that_gathers_small_writes_does_not_wait_for_acknowledgements(server: Server) -> None:
    """The driver leaves Nagle's algorithm on: a second write before a read would wait some 40 ms."""
    client = server.client()
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
    start = time.monotonic()
    for n in range(100):
        client.write32(MEMORY + 0x500, n)
        client.write32(MEMORY + 0x504, n)
        assert client.read32(MEMORY + 0x500) == n
    assert time.monotonic() - start < 2
    client.close()


def test_npi_registers_keep_what_is_written(server: Server) -> None:
    """DEV-NPI-1."""
    client = server.client(NPI)
    assert client.read32(0xC) == 0
    client.write32(0xC, 0xF9E8D7C6)
    assert client.read32(0xC) == 0xF9E8D7C6
    client.close()


@pytest.mark.slow
def test_a_poll_that_never_comes_true_ends_with_the_tries(server: Server) -> None:
    client = server.client()
    assert not client.mask_poll(MEMORY + 0x300, 1, 1, 5001)
    client.close()


def test_lock_requests_are_attempts(server: Server) -> None:
    client = server.client()
    acquire = MEMORY + 0xD0000 + 9 * 0x400 + 0x200 + (-1 & 0x7F) * 4
    release = MEMORY + 0xD0000 + 9 * 0x400 + 4
    answers = [client.read32(at) for at in (acquire, release, acquire, acquire)]
    assert answers == [0, 1, 1, 0]
    client.close()


def zeroisation(client: Client, writes: int) -> list[int]:
    """What twelve reads see of a zeroisation of 2048 cycles, after so many writes to another tile."""
    control = (2 << 25 | 1 << 20) + tile_register("memory", "Memory_Control").offset
    client.write32(control, 0b11)
    for _ in range(writes):
        client.write32(MEMORY + BD, 0)
    return [client.read32(control) & 1 for _ in range(12)]


def test_time_passes_with_reads_and_with_writes(server: Server) -> None:
    """200 cycles before a read, of 2048; 20 from a write to the next one."""
    client = server.client()
    assert zeroisation(client, 0) == [1] * 10 + [0] * 2
    assert zeroisation(client, 50) == [1] * 5 + [0] * 7
    client.close()


@pytest.mark.parametrize(("option", "seen"), [("--cycles-per-access=0", 10), ("--cycles-per-access=35", 1)])
def test_the_time_of_an_access_is_an_option(tmp_path: Path, option: str, seen: int) -> None:
    with serving(tmp_path, option) as running:
        client = running.client()
        assert zeroisation(client, 50) == [1] * seen + [0] * (12 - seen)
        client.close()


TIMER, GENERATE, BROADCAST = 0x94000, 0x94008, 0x94010


def test_a_driver_that_triggers_and_tears_down_is_heard(tmp_path: Path) -> None:
    """Timers in step, as the driver brings them: broadcast set up, triggered and cleared without a read.

    The memory tile of column 1 triggers; it and its neighbour reset their timers by the channel, 4,000 cycles
    after they began.
    """
    with serving(tmp_path) as running:
        client = running.client()
        tiles = [column << 25 | 1 << 20 for column in (1, 2)]
        for tile in tiles:
            client.write32(tile + TIMER, 148 << 8)  # BROADCAST_6 resets the timer
        for _ in range(20):
            client.read32(MEMORY)
        client.write32(tiles[0] + BROADCAST + 4 * 6, 0x9F)  # USER_EVENT_0
        client.write32(tiles[0] + GENERATE, 0x9F)
        client.write32(tiles[0] + BROADCAST + 4 * 6, 0)
        for tile in tiles:
            client.write32(tile + TIMER, 0)
        low = [client.read32(tile + 0x940F8) for tile in tiles]
        assert [cycles // 200 for cycles in low] == [1, 2]
        client.close()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(tmp_path: Path, how: int) -> None:
    with serving(tmp_path, "--device", "xcve2302", "--cycles-per-read", "7") as running:
        client = running.client()
        client.write32(0x40, 0)  # an interface tile has no data memory
        assert client.read32(16 << 25 | 1 << 20 | 0xC0010) == 0
        client.send(b"W 0X00000200")  # unfinished when it ends
        assert running.stop(how) == 0
        assert client.receive() == ""
        client.close()
    assert not running.port_file.exists()
    lines = running.log.splitlines()
    assert lines[-1].startswith("memtile serve: ended after 1 clients: 1 writes, 1 reads, ")
    assert "Traceback" not in running.log


@pytest.mark.slow
def test_every_call_of_the_driver_over_the_socket(tmp_path: Path) -> None:
    """One array for all; masked writes as the back end makes them; no time passes, as in the cases."""
    with serving(tmp_path, "--cycles-per-read", "0", "--cycles-per-access", "0") as running:
        client = running.client()
        file = RegisterFile()
        for case in load("driver_cases")["cases"]:
            for address in touched(case):
                begin(client, file, address)
            for address, read, expected in replay(case, client, file):
                assert file.live(address) or read == expected, (case["name"], hex(address))
            for address in written(case):
                if not file.live(address):
                    assert client.read32(address) == file.read(address), (case["name"], hex(address))
        counts = running.log
        client.close()
        assert running.stop() == 0
        assert " 0 malformed, 0 refused" in running.log.removeprefix(counts)


def touched(case: dict[str, Any]) -> list[int]:
    return list(dict.fromkeys(address for _, address, *_ in case["writes"]))


def begin(client: Client, file: RegisterFile, address: int) -> None:
    """Tile_Control begins as firmware leaves it."""
    register = file.register(address)
    if register is not None and register.name == "Tile_Control" and address not in file.values:
        file.values[address] = client.read32(address)


def test_a_port_in_use_is_an_error_of_one_line(server: Server, tmp_path: Path) -> None:
    port = server.port_file.read_text()
    done = CliRunner().invoke(app, ["serve", "--port", port, "--port-file", str(tmp_path / "port")])
    assert done.exit_code == 2
    assert done.stderr == (
        f"error: memtile serve: 127.0.0.1:{port} cannot be used: Address already in use. It must be a "
        "free port of this machine; 0 takes any (simulator protocol of the open driver).\n"
    )


def test_a_host_that_is_none(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["serve", "--host", "999.1.1.1", "--port-file", str(tmp_path / "port")])
    assert done.exit_code == 2
    assert done.stderr.startswith("error: memtile serve: host 999.1.1.1 cannot be used: ")
    assert "Unknown error" not in done.stderr
    assert not (tmp_path / "port").exists()


def test_a_port_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    done = CliRunner().invoke(app, ["serve", "--port-file", str(path)])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {path}: the file cannot be written: Is a directory")
