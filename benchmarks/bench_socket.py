"""How many accesses a second does ``memtile serve`` take from a client, and does it bear a million lines?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.driver.simulator_client import BASE, REPLY, Server, serving
from support.driver.simulator_fuzz import FIRST, fuzz

WRITES, READS, LINES = 100_000, 20_000, 1_000_000
WANTED = {"writes": 200_000, "reads": 5_000, "pipelined reads": 100_000}  # a second, from one client
PACKET = 500  # reads that are sent at once
BD = 1 << 25 | 1 << 20 | 0xA0000
GROWTH_KB = 8192


@pytest.fixture(scope="module", params=["npu1", "xcve2802"])
def server(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serve"), "--device", request.param) as running:
        yield running


def writes_per_second(server: Server) -> float:
    """Single writes, as the driver sends them, until a read shows that all are done."""
    client = server.client()
    lines = [b"W 0X%016X 0X%08X\n" % (BASE + BD + n % 32 * 4, n) for n in range(WRITES)]
    start = time.perf_counter()
    for line in lines:
        client.send(line)
    client.read32(FIRST)
    seconds = time.perf_counter() - start
    client.close()
    return WRITES / seconds


def reads_per_second(server: Server) -> float:
    client = server.client()
    start = time.perf_counter()
    for n in range(READS):
        client.read32(BD + n % 32 * 4)
    seconds = time.perf_counter() - start
    client.close()
    return READS / seconds


def pipelined_reads_per_second(server: Server) -> float:
    """Reads that do not wait for the answers to those before."""
    client = server.client()
    lines = b"".join(b"R 0X%016X\n" % (BASE + BD + n % 32 * 4) for n in range(PACKET))
    start = time.perf_counter()
    for _ in range(READS // PACKET):
        client.send(lines)
        left = PACKET * REPLY
        while left:
            left -= len(client.socket.recv(left))
    seconds = time.perf_counter() - start
    client.close()
    return READS / seconds


RATES = {
    "writes": writes_per_second,
    "reads": reads_per_second,
    "pipelined reads": pipelined_reads_per_second,
}


@pytest.mark.parametrize(("what", "rate"), RATES.items())
def test_accesses_per_second(benchmark, server: Server, what: str, rate) -> None:
    reached = max(benchmark.pedantic(rate, (server,), rounds=1), *(rate(server) for _ in range(2)))
    benchmark.extra_info |= {f"{what} a second": round(reached), "wanted": WANTED[what]}


@pytest.mark.parametrize("server", ["npu1"], indirect=True)  # whose places the lines name
def test_a_million_random_lines(benchmark, server: Server) -> None:
    client = server.client()
    fuzz(client, LINES // 100, seed=1)
    before = server.memory_kb()
    checked = benchmark.pedantic(fuzz, (client, LINES, 2), rounds=1)
    grown = server.memory_kb() - before
    benchmark.extra_info |= {"replies checked": checked, "KB grown": grown}
    client.close()
    assert checked > LINES // 6
    assert grown < GROWTH_KB
    assert server.process.poll() is None
    assert "Traceback" not in Path(server.log_file).read_text()
