"""Is external memory of a served array what --memory says, seen by every client, and kept when asked?"""

from __future__ import annotations

import mmap
import signal
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from support.driver.simulator_client import Server, serving

LOW, HIGH = 0x1_0000_0000, 0x8000_0000_0000


def listed(server: Server) -> list[tuple[int, ...]]:
    """Address, bytes and place in the contents of each memory."""
    text = (server.port_file.parent / "external_memory.txt").read_text(encoding="ascii")
    return [tuple(int(number, 16) for number in line.split()) for line in text.splitlines()]


def mapped(server: Server) -> np.ndarray:
    with (server.port_file.parent / "external_memory.bin").open("r+b") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint8)


def test_memories_are_read_and_written_over_the_socket_too(tmp_path: Path) -> None:
    with serving(tmp_path, "--memory", "4294967296:64K", "--memory", f"{HIGH:#x}:1m") as running:
        client = running.client(0)
        for at in (LOW, LOW + 0xFFFC, HIGH, HIGH + 0xFFFFC):
            client.write32(at, at >> 12 & 0xFFFFFFFF)
        client.send(b"W 0X%016X 0X%08X\nW 0X%016X 0X%08X\n" % (LOW + 4, 1, LOW + 4, 2))
        for at in (LOW, LOW + 0xFFFC, HIGH, HIGH + 0xFFFFC):
            assert client.read32(at) == at >> 12 & 0xFFFFFFFF
        assert client.read32(LOW + 4) == 2
        for beyond in (LOW - 4, LOW + 0x10000, HIGH + 0x100000, LOW + 2):
            client.write32(beyond, 1)
            assert client.read32(beyond) == 0xFFFFFFFF
        assert listed(running) == [(LOW, 0x10000, 0), (HIGH, 0x100000, 0x10000)]
        seen = mapped(running).view(np.uint32)
        assert seen[1] == 2
        assert seen[(0x10000 + 0xFFFFC) // 4] == (HIGH + 0xFFFFC) >> 12 & 0xFFFFFFFF
        client.close()


def test_a_large_memory_takes_room_only_where_it_is_used(tmp_path: Path) -> None:
    with serving(tmp_path, "--memory", f"{LOW:#x}:4G") as running:
        client = running.client(0)
        client.write32(LOW + (4 << 30) - 4, 7)
        assert client.read32(LOW + (4 << 30) - 4) == 7
        assert (running.port_file.parent / "external_memory.bin").stat().st_blocks * 512 < 1 << 20
        client.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_file_is_loaded_and_kept_when_asked(tmp_path: Path, how: int) -> None:
    """Its shape and type stay, and what is behind its bytes is not kept."""
    path = tmp_path / "weights.npy"
    first = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    np.save(path, first)
    with serving(tmp_path, "--memory", f"{LOW:#x}:4K={path}", "--save-memory") as running:
        client = running.client(0)
        assert client.read32(LOW + 4) == 0x00030002
        assert client.read32(LOW + 0x40) == 0
        client.write32(LOW, 0x7FFF8000)
        client.write32(LOW + 0x40, 5)
        assert client.read32(LOW) == 0x7FFF8000
        client.send(b"W 0X0000000100")  # unfinished when it ends
        assert running.stop(how) == 0
        client.close()
        assert f"memory 0x100000000: 2x3x4 of int16 from {path}" in running.log
        assert f"memory 0x100000000: written to {path}" in running.log
    first[0, 0, :2] = -0x8000, 0x7FFF
    kept = np.load(path)
    assert kept.dtype == np.int16
    assert np.array_equal(kept, first)


def test_a_file_is_left_alone_unless_asked(tmp_path: Path) -> None:
    path = tmp_path / "weights.npy"
    np.save(path, np.arange(8, dtype=np.uint32))
    before = path.read_bytes()
    with serving(tmp_path, "--memory", f"{LOW:#x}:4K={path}") as running:
        client = running.client(0)
        client.write32(LOW, 99)
        assert client.read32(LOW) == 99
        client.close()
        assert running.stop() == 0
    assert path.read_bytes() == before
    assert not (running.port_file.parent / "external_memory.bin").exists()


def test_a_file_that_is_to_be_written_need_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "new" / "result.npy"
    with serving(tmp_path, "--memory", f"{LOW:#x}:32={path}", "--save-memory") as running:
        client = running.client(0)
        client.write32(LOW + 28, 1)
        assert client.read32(LOW + 28) == 1
        client.close()
        assert running.stop() == 0
        assert f"memory 0x100000000: zeros, {path} does not exist yet" in running.log
    assert np.load(path).tolist() == [0] * 7 + [1]
    assert np.load(path).dtype == np.uint32


def refused(tmp_path: Path, *memories: str) -> str:
    """What the command says about options that cannot be; it does not begin to serve."""
    options = [word for memory in memories for word in ("--memory", memory)]
    done = CliRunner().invoke(app, ["serve", "--port-file", str(tmp_path / "run" / "port"), *options])
    assert done.exit_code == 2
    assert not (tmp_path / "run" / "port").exists()
    assert not list(tmp_path.glob("run/external_memory*"))
    return done.stderr


@pytest.mark.parametrize(
    ("memory", "says"),
    [
        ("0x1000", "'0x1000' is no memory; it must be ADDRESS:SIZE or ADDRESS:SIZE=FILE.npy, such as "),
        ("0x1000:", "'0x1000:' is no memory"),
        ("x:4K", "'x:4K' is no memory"),
        ("0x1000:4T", "'0x1000:4T' is no memory"),
        ("0x1000:4K=", "'0x1000:4K=' is no memory"),
        ("0x1000:0", "the size is 0 bytes; it must be whole 32-bit words, at least one"),
        ("0x1000:6", "the size is 6 bytes; it must be whole 32-bit words, at least one"),
        ("0x1002:4K", "address is 0x1002; it must be a multiple of 0x4 in 0x0..0xfffffffff000"),
        ("-4096:4K", "address is -0x1000; it must be a multiple of 0x4"),
        ("0xffffffffffff0:4K", "address is 0xffffffffffff0; it must be "),
        ("0x20000000000:4K", "it would lie over the array, 0x20000000000..0x200ffffffff"),
        ("0xf7000000:16M", "it would lie over the NPI registers, 0xf70a0000..0xf70affff"),
        ("0x1000:4K=weights.bin", "weights.bin has no name that ends in .npy"),
        ("0x1000:4K=none.npy", "none.npy: the file cannot be read: No such file or directory"),
    ],
)
def test_a_memory_that_cannot_be(tmp_path: Path, memory: str, says: str) -> None:
    assert says in refused(tmp_path, memory)


def test_memories_must_not_overlap_and_all_problems_come_at_once(tmp_path: Path) -> None:
    told = refused(tmp_path, "0x2000:8K", "0x1000:0x1004", "0x9000:3")
    assert "it would lie over the memory 0x1000..0x2003" in told
    assert "the size is 3 bytes" in told


def test_a_file_larger_than_its_memory(tmp_path: Path) -> None:
    path = tmp_path / "big.npy"
    np.save(path, np.zeros(1025, np.uint32))
    told = refused(tmp_path, f"0x1000:4K={path}")
    assert "big.npy holds 4100 bytes, allowed are 0..4096 bytes" in told
    assert "Give the memory a larger SIZE." in told


def test_a_file_that_is_no_array_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "text.npy"
    path.write_text("no array")
    options = ["serve", "--port-file", str(tmp_path / "port"), "--save-memory", "--memory", f"0:4K={path}"]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 2
    assert "text.npy: the file is not a NumPy file of numbers: " in done.stderr
    assert path.read_text() == "no array"
