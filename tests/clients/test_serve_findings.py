"""Does a live server say what is wrong, and give the record and the report of what its clients did?"""

from __future__ import annotations

import json
import signal
import socketserver
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from support.designs.severe import severe
from support.driver.simulator_client import Client, Server, serving

MEMORY = 1 << 20  # column 0, row 1
BD, QUEUE_S2MM_0, QUEUE_MM2S_0, STATUS_S2MM_0 = 0xA0000, 0xA0604, 0xA0634, 0xA0660
LOCK_0 = 0xC0000
SLAVE_DMA_0, MASTER_DMA_0 = 0xB0100, 0xB0000
DONE = 0x0078003C
OWN = 0x20000
ACQUIRE_LOCK_0 = 1 << 15 | (-1 & 0x7F) << 8 | 64  # the own tile's locks are 64 to 127

DESIGN = """
from memtile import Array

def design():
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    source, target = tile.buffer("source", 64, at=0), tile.buffer("target", 64, at=0x1000)
    tile.lock(0, "empty", id=0)
    return array
"""


def descriptor(client: Client, bd: int, words: int, byte: int, locks: int = 0) -> None:
    for n, word in enumerate([words, OWN + byte // 4, 0, 0, 0, 0, 0, 1 << 31 | locks]):
        client.write32(MEMORY + BD + bd * 0x20 + 4 * n, word)


def loop(client: Client, source: int = 0, target: int = 0x1000, locks: int = 0) -> None:
    """64 words from one place of a memory tile to another one, through its switch."""
    descriptor(client, 0, 64, source)
    descriptor(client, 1, 64, target, locks)
    client.write32(MEMORY + SLAVE_DMA_0, 1 << 31)
    client.write32(MEMORY + MASTER_DMA_0, 1 << 31)
    client.write32(MEMORY + QUEUE_S2MM_0, 1)
    client.write32(MEMORY + QUEUE_MM2S_0, 0)


def explain(server: Server, *options: object, code: int = 0) -> Any:
    where = f"localhost:{server.port_file.read_text()}"
    done = CliRunner().invoke(app, ["explain", "--server", where, *map(str, options)])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "design.py"
    path.write_text(DESIGN)
    return path


@pytest.fixture
def server(tmp_path: Path, design: Path) -> Iterator[Server]:
    files = ["--report", "run.html", "--perfetto", "run.json", "--record", "record.json"]
    with serving(tmp_path, "--device", "npu1", "--check", "--design", str(design), *files) as running:
        yield running


def test_a_host_that_does_not_wait_is_told_when_it_leaves_and_when_somebody_asks(server: Server) -> None:
    client = server.client()
    for n in range(64):
        client.write32(MEMORY + 4 * n, n)
    loop(client)
    client.write32(MEMORY + 0x1000, 5)  # into what the channel writes, and nobody waited for it
    client.close()
    end = time.monotonic() + 20
    while "MT0202" not in server.log and time.monotonic() < end:
        time.sleep(0.02)  # the server sees a while later that it has left
    done = explain(server, code=1)
    assert "finding: MT0202 error: " in done.output
    assert "buffer 'target'" in done.output
    assert "MT0202" in server.log
    assert server.log.count("MT0202") == 1


def test_a_host_that_waits_has_no_finding(server: Server) -> None:
    client = server.client()
    for n in range(64):
        client.write32(MEMORY + 4 * n, n)
    loop(client)
    assert client.mask_poll(MEMORY + STATUS_S2MM_0, DONE, 0, 5001)
    assert client.read32(MEMORY + 0x1000 + 4 * 63) == 63
    client.close()
    done = explain(server)
    assert "the server says after" in done.output
    assert "all that was started has ended" in done.output
    assert "no finding" in done.output
    assert server.stop(signal.SIGINT) == 0
    assert "finding:" not in server.log


def test_a_stuck_server_says_why_with_the_names_of_the_design_and_writes_its_files(
    server: Server, tmp_path: Path
) -> None:
    client = server.client()
    client.write32(MEMORY + LOCK_0, 0)
    for n in range(64):
        client.write32(MEMORY + 4 * n, n)
    loop(client, locks=ACQUIRE_LOCK_0)
    assert client.read32(MEMORY + STATUS_S2MM_0) & DONE
    client.close()
    asked = tmp_path / "asked.html"
    found = json.loads(explain(server, "--json", "--report", asked, code=1).output)
    (finding,) = severe(found["server"]["findings"])
    assert finding["code"] == "MT0302"
    assert "lock 0 'empty' of tile (0, 1)" in finding["message"]
    assert found["server"]["status"] == "stuck"
    assert "MT0302" in asked.read_text()
    assert server.stop(signal.SIGINT) == 0
    assert "finding: MT0302 error: " in server.log
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["verdict"] == "fail"
    assert list(record["provenance"]["inputs"]) == [str(tmp_path / "design.py")]
    assert "memory(0,1) S2MM 0" in (tmp_path / "run.html").read_text()
    assert json.loads((tmp_path / "run.json").read_text())


def test_a_report_needs_a_history(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        done = explain(server, "--report", tmp_path / "out.html", code=2)
        assert "Start the server with --history" in done.output
        done = explain(server, "--record", tmp_path / "record.json")
        assert json.loads((tmp_path / "record.json").read_text())["verdict"] == "unknown"
        assert "races are looked for with memtile serve --check" in done.output


class Registers(socketserver.StreamRequestHandler):
    """A server of registers alone: whatever is no read is not answered."""

    def handle(self) -> None:
        for line in self.rfile:
            if line.startswith(b"R "):
                self.wfile.write(b"0x00000000\n")


def test_a_server_that_takes_no_questions_is_explained_by_its_registers(tmp_path: Path) -> None:
    with socketserver.ThreadingTCPServer(("localhost", 0), Registers) as other:
        Thread(target=other.serve_forever, daemon=True).start()
        where = f"localhost:{other.server_address[1]}"
        done = CliRunner().invoke(app, ["explain", "--server", where, "--device", "npu1", "--json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.output)["server"] is None
        report = CliRunner().invoke(app, ["explain", "--server", where, "--record", str(tmp_path / "r.json")])
        other.shutdown()
    assert report.exit_code == 2
    assert "it takes no questions" in report.output
