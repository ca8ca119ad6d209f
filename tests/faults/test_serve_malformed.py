"""Does anything a client sends end the server, make it answer wrongly, or hold it up?"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

import pytest

from support.driver.simulator_client import BASE, NPI, Client, Server, serving
from support.driver.simulator_fuzz import fuzz

LINES = int(os.environ.get("MEMTILE_FUZZ_LINES", "20000"))  # a million takes half a minute
MEMORY = 1 << 25 | 1 << 20
NO_ANSWER = 0xFFFF_FFFF


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serve"), cold=True) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    client = server.client()
    yield client
    client.close()


READS = [
    b"R\n",
    b"R \n",
    b"R 0X\n",
    b"R 0X123\n",
    b"R 00000020000000000\n",
    b"R 0X000002000210000G\n",
    b"R 0X0000020002100000 \n",
    b"R 0X0000020002100000\r\n",
    b"R 0X00000200021000000\n",
    b"R  0X0000020002100000\n",
    b"R 0X0000020002100000 0X00000000\n",
    b"RW\n",
    b"R\x00 0X0000020002100000\n",
]
WRITES = [
    b"W\n",
    b"W 0X0000020002100000\n",
    b"W 0X0000020002100000 0X\n",
    b"W 0X0000020002100000 0X000000011\n",
    b"W 0X0000020002100000  0X00000001\n",
    b"W 0X0000020002100000 0X00000001 \n",
    b"W 0X0000020002100000 0X00000001\r\n",
    b"W 0X0000020002100000 0X-0000001\n",
]
QUESTIONS = [
    b"Q\n",
    b"Q \n",
    b"Q nope\n",
    b"Q result \n",
    b"Q RESULT\n",
    b"Q ../etc\n",
    b"Q result\r\n",
    b"Qresult\n",
]
STRANGE = [
    b"\n",
    b"\r\n",
    b"w 0X0000020002100000 0X00000001\n",
    b"r 0X0000020002100000\n",
    b" W 0X0000020002100000 0X00000001\n",
    b"X 0X0000020002100000 0X00000001\n",
    b"\xff\xfe\x00\n",
    b"GET / HTTP/1.1\r\n",
    b"T 0123456789abcdef0123456789abcdef\n",
]
"""Lines that begin no request."""


@pytest.mark.parametrize("line", READS)
def test_a_malformed_read_is_answered_with_all_ones(client: Client, line: bytes) -> None:
    client.write32(MEMORY, 0xAA)
    client.send(line)
    assert client.receive() == "0xffffffff\n"
    assert client.read32(MEMORY) == 0xAA


@pytest.mark.parametrize("line", WRITES)
def test_a_malformed_write_does_nothing(client: Client, line: bytes) -> None:
    client.write32(MEMORY, 0xAA)
    client.send(line)
    assert client.read32(MEMORY) == 0xAA


@pytest.mark.parametrize("line", QUESTIONS)
def test_a_malformed_or_unknown_question_is_answered_with_the_reason(client: Client, line: bytes) -> None:
    client.write32(MEMORY, 0xAA)
    client.send(line)
    with client.socket.makefile("rb") as answers:
        kind, size = answers.readline().split()
        reason = answers.read(int(size)).decode()
        client.send(b"R 0X%016X\n" % (BASE + MEMORY))
        assert answers.readline() == b"0x000000aa\n"
    assert kind == b"E"
    assert "result" in reason
    assert "report.html" in reason


@pytest.mark.parametrize("line", STRANGE)
def test_a_line_that_begins_no_request_ends_its_client(server: Server, client: Client, line: bytes) -> None:
    """After what came before it, and before what comes behind it."""
    client.send(
        b"W 0X%016X 0X%08X\n" % (BASE + MEMORY, 0xAB) + line + b"W 0X%016X 0X%08X\n" % (BASE + MEMORY, 9)
    )
    with client.socket.makefile("rb") as answers:
        kind, _size = answers.readline().split()
        said = answers.read()
    assert kind == b"E"
    assert (
        said
        == b"memtile serve: the connection ends, since a line began neither a write, a read nor a question."
    )
    other = server.client()
    assert other.read32(MEMORY) == 0xAB
    other.close()


@pytest.mark.parametrize("behind", [b"", b"W" * (1 << 20)], ids=["nothing behind", "much behind"])
@pytest.mark.parametrize("many", [1, 100, 20_000])
def test_reads_before_a_line_that_begins_no_request_are_answered(
    server: Server, client: Client, many: int, behind: bytes
) -> None:
    """Whatever the chunks are in which they come, and also behind a question."""
    client.write32(MEMORY, 0xAC)
    read = b"R 0X%016X\n" % (BASE + MEMORY)
    asker = server.client()
    lines = read * many + b"Q nope\n" + read + b"HELLO\n" + read + behind
    sender = Thread(target=_sent, args=(asker.socket, lines))
    sender.start()
    got = b""
    with suppress(ConnectionResetError):
        while more := asker.socket.recv(1 << 16):
            got += more
    sender.join()
    asker.close()
    answer = b"0x000000ac\n"
    assert got.startswith(answer * many + b"E ")
    assert got.count(answer) == many + 1
    assert got.rpartition(answer)[2].startswith(b"E ")


def _sent(to: socket.socket, lines: bytes) -> None:
    with suppress(ConnectionError):
        to.sendall(lines)


REFUSED = [
    0,  # below the array
    BASE - 4,
    BASE + MEMORY + 2,  # no word
    BASE + MEMORY + 0x80000,  # answered by nothing
    BASE + (4 << 25),  # no such column
    BASE + (1 << 25 | 6 << 20),  # no such row
    (1 << 64) - 4,
    NPI + 1,
    NPI + 0x10000,
]


@pytest.mark.parametrize("address", REFUSED)
def test_an_address_that_nothing_answers(server: Server, client: Client, address: int) -> None:
    absolute = server.client(0)
    absolute.write32(address, 1)
    assert absolute.read32(address) == NO_ANSWER
    absolute.close()
    assert client.read32(MEMORY + 0x94210) & ~(1 << 10 | 1) == 0  # but for the slave error and its group


def test_what_was_wrong_is_in_the_log(server: Server) -> None:
    client = server.client()
    client.write32(MEMORY, 0)
    client.send(b"W hello\n" * 30)
    assert client.read32(MEMORY + 0x80000) == NO_ANSWER
    client.close()
    again = server.client()
    assert again.read32(MEMORY + 0x80000) == NO_ANSWER
    again.close()
    assert (
        "malformed line b'W hello\\n'; lines are W 0X<16 hex digits> 0X<8 hex digits> and R 0X" in server.log
    )
    assert "30 times: malformed line b'W hello\\n'" in server.log
    told = r"client (\d+): read of memory\(1,1\) 0x80000 at 0x20002180000 refused: neither data memory nor "
    assert len(set(re.findall(told, server.log))) >= 2


@pytest.mark.parametrize("size", [1 << 14, (1 << 14) + 1, 1 << 16, 1 << 20])
def test_an_overlong_line_is_one_malformed_line(client: Client, size: int) -> None:
    client.write32(MEMORY + 4, 1)
    write = b"W 0X%016X 0X%08X\n" % (BASE + MEMORY + 4, 2)
    client.send(b"W" * size + write)
    assert client.read32(MEMORY + 4) == 1
    client.send(b"R" * size + b"\n")
    assert client.receive() == "0xffffffff\n"


def test_requests_may_come_in_pieces_or_many_at_once(client: Client) -> None:
    for byte in b"W 0X%016X 0X%08X\nR 0X%016X\n" % (BASE + MEMORY + 8, 77, BASE + MEMORY + 8):
        client.send(bytes([byte]))
    assert client.receive() == "0x0000004d\n"
    client.send(b"R 0X%016X\n" % (BASE + MEMORY + 8) * 3)
    assert [client.receive() for _ in range(3)] == ["0x0000004d\n"] * 3


def test_an_unfinished_line_is_no_request(server: Server, client: Client) -> None:
    other = server.client()
    other.write32(MEMORY + 12, 5)
    other.send(b"W 0X%016X 0X%08X" % (BASE + MEMORY + 12, 6))
    other.socket.shutdown(socket.SHUT_WR)
    assert other.receive() == ""
    other.close()
    assert client.read32(MEMORY + 12) == 5


def test_a_client_that_vanishes_or_never_listens_holds_nobody_up(server: Server, client: Client) -> None:
    deaf = server.client()
    deaf.socket.setblocking(False)
    request = b"R 0X%016X\n" % (BASE + MEMORY) * 1000
    with suppress(BlockingIOError):
        while deaf.socket.send(request):
            pass
    client.write32(MEMORY + 16, 9)
    assert client.read32(MEMORY + 16) == 9
    deaf.close()
    assert client.read32(MEMORY + 16) == 9


@pytest.mark.chance
def test_random_lines_do_what_they_say_and_no_more(server: Server, client: Client) -> None:
    fuzz(client, 5000, seed=1)
    before = server.memory_kb()
    assert fuzz(client, LINES, seed=2) > LINES // 6
    assert server.memory_kb() - before < 4096
    assert server.process.poll() is None
    assert "Traceback" not in server.log
