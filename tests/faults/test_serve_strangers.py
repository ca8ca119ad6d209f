"""Does anything but a client of the protocol get a word through to what ``memtile serve`` serves?"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from memtile.hosts import admission
from support.driver.simulator_client import BASE, Client, Server, serving
from support.pages.browser import opened

PLACE = BASE + (1 << 25 | 1 << 20)  # data memory of the memory tile in column 1
WRITE = b"W 0X%016X 0X%08X\n" % (PLACE, 0xBADC0DE)
READ = b"R 0X%016X\n" % PLACE
ENDS = b"memtile serve: the connection ends, since its first line is no request of the simulator protocol."
TOKEN = b"T 0123456789abcdef0123456789abcdef\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serve")) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """One of the protocol, to see what the others did."""
    client = server.client(0)
    client.write32(PLACE, 0xAA)
    assert client.read32(PLACE) == 0xAA
    yield client
    client.close()


def raw(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(server.port_file.read_text())), timeout=60)


def said_to(server: Server, *pieces: bytes) -> bytes:
    """All that the server says to somebody who sends pieces and listens until the end."""
    with raw(server) as stranger:
        with suppress(ConnectionError):
            for piece in pieces:
                stranger.sendall(piece)
                time.sleep(0.02)
        got = b""
        with suppress(ConnectionError):
            while more := stranger.recv(1 << 16):
                got += more
        return got


def hello_of_tls() -> bytes:
    """What a client of TLS sends first."""
    to, of = ssl.MemoryBIO(), ssl.MemoryBIO()
    speaker = ssl.create_default_context().wrap_bio(to, of, server_hostname="localhost")
    with suppress(ssl.SSLWantReadError):
        speaker.do_handshake()
    return of.read()


FIRST = [
    b"\n",
    b"\r\n",
    b" \n",
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 40\r\n\r\n",
    b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
    b"OPTIONS / HTTP/1.1\r\nOrigin: null\r\n\r\n",
    b"TRACE / HTTP/1.1\r\n\r\n",
    b"QUERY / HTTP/1.1\r\n\r\n",
    b"W / HTTP/1.1\r\n",
    b"R / HTTP/1.1\r\n",
    b"Q / HTTP/1.1\r\n",
    b"T / HTTP/1.1\r\n",
    b"T /0123456789abcdef0123456789abcdef HTTP/1.1\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"SSH-2.0-OpenSSH_9.2\r\n",
    b"\x00" * 64,
    b"\x00\x01\x00\x08\x21\x12\xa4\x42",
    b"\xff\xfe\n",
    b"W" * (1 << 20),
    b"W 0X0000020002100000 0X0000000\n",
    b"w 0X0000020002100000 0X00000001\n",
    b"T short\n",
    b"R\n",
    b"Q\n",
]


@pytest.mark.parametrize(
    "first",
    [*FIRST, hello_of_tls()],
    ids=[*(repr(first[:20]) for first in FIRST), "hello of TLS, which is random"],
)
def test_a_client_that_begins_with_no_request_is_ended_and_none_of_its_lines_is_obeyed(
    server: Server, client: Client, first: bytes
) -> None:
    assert said_to(server, first + b"\n" + WRITE + READ, WRITE).endswith(b"E %d\n" % len(ENDS) + ENDS)
    assert client.read32(PLACE) == 0xAA


def test_a_first_line_may_come_byte_by_byte(server: Server, client: Client) -> None:
    """What cannot become a request is ended without waiting for its end."""
    with raw(server) as slow:
        for byte in WRITE + READ:
            slow.sendall(bytes([byte]))
        assert slow.recv(11) == b"0x0badc0de\n"
    assert said_to(server, b"G").endswith(ENDS)
    assert said_to(server, b"W", b" 0X" + b"0" * 200).endswith(ENDS)
    assert client.read32(PLACE) == 0xBADC0DE


@pytest.mark.parametrize("first", [WRITE, READ, b"Q result\n", b"Q nope\n", TOKEN])
def test_any_request_may_be_the_first_one(server: Server, client: Client, first: bytes) -> None:
    """A token that nobody asked for is accepted too: the same client meets both kinds of servers."""
    with raw(server) as other:
        other.sendall(first + b"W 0X%016X 0X%08X\n" % (PLACE, 5))
        other.shutdown(socket.SHUT_WR)
        while other.recv(1 << 16):
            pass
    assert client.read32(PLACE) == 5


def test_the_log_shows_what_came_escaped(server: Server) -> None:
    said_to(server, b"\x1b]0;title\x07 GET\n")
    assert "malformed line b'\\x1b]0;title\\x07 GET\\n'; lines are W 0X" in server.log
    assert "\x1b" not in server.log


PAGE = """<!doctype html><title>a page</title><img src="http://127.0.0.1:PORT/image.png">
<iframe name="inner"></iframe>
<form id="form" action="http://127.0.0.1:PORT/" method="POST" enctype="text/plain" target="inner">
<textarea name="LINES"></textarea></form>
<script>
const body = LINES, at = "127.0.0.1:PORT";
const tried = [];
const attempt = async (name, send) => {
  try { await Promise.race([send(), new Promise(done => setTimeout(done, 3000))]); tried.push(name); }
  catch (error) { tried.push(name + ": " + error); }
};
const socket = () => new Promise(done => {
  const made = new WebSocket(`ws://${at}/`);
  made.onopen = () => made.send(body);
  made.onclose = made.onerror = done;
});
document.querySelector("textarea").name = body;
document.getElementById("form").submit();
(async () => {
  for (const mode of ["no-cors", "cors"])
    for (const method of ["GET", "POST", "PUT", "W", "R", "Q", "T"])
      await attempt(`${mode} ${method}`, () => fetch(`http://${at}/`,
        {method, mode, body: method === "GET" ? undefined : body}));
  await attempt("https", () => fetch(`https://${at}/`, {method: "POST", mode: "no-cors", body}));
  await attempt("beacon", async () => navigator.sendBeacon(`http://${at}/`, body));
  await attempt("websocket", socket);
  await attempt("xhr", () => new Promise(done => {
    const request = new XMLHttpRequest();
    request.open("POST", `http://${at}/`);
    request.onloadend = done;
    request.send(body);
  }));
  await attempt("events", () => new Promise(done => { new EventSource(`http://${at}/`).onerror = done; }));
  for (const kind of ["script", "link", "iframe", "video", "object"]) {
    const made = document.createElement(kind);
    made.rel = "stylesheet";
    made.src = made.href = made.data = `http://${at}/?` + encodeURIComponent(body);
    document.body.append(made);
  }
  await new Promise(done => setTimeout(done, 500));
  document.body.dataset.ready = "yes";
})();
</script>"""


@pytest.mark.slow
def test_a_page_in_a_browser_writes_nothing(server: Server, client: Client, tmp_path: Path) -> None:
    """All that a page can make a browser send, to a server on the same machine."""
    port = server.port_file.read_text()
    lines = "\n" + WRITE.decode() * 3 + "\n"
    page = PAGE.replace("PORT", port).replace("const body = LINES", f"const body = {lines!r}").encode()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            pass

    before = server.log.count("is no request of the simulator protocol")
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        try:
            with opened(f"http://localhost:{site.server_port}/", tmp_path / "profile") as browser:
                tried = browser.evaluate("tried")
        finally:
            site.shutdown()
    assert len(tried) == 19
    assert server.log.count("is no request of the simulator protocol") - before >= 8, server.log[-3000:]
    assert client.read32(PLACE) == 0xAA


def test_silent_clients_give_way_and_no_place_is_lost(tmp_path: Path) -> None:
    """A thousand that say nothing, and then some that do."""
    with serving(tmp_path) as running:
        held = [raw(running) for _ in range(admission.MOST_CLIENTS + 50)]
        client = running.client(0)
        client.write32(PLACE, 7)
        assert client.read32(PLACE) == 7
        assert held[0].recv(200).endswith(admission.MADE_ROOM.encode())
        for each in held[-20:]:
            each.sendall(READ)
            assert each.recv(11) == b"0x00000007\n"
        for each in held:
            each.close()
        client.close()
        assert running.stop() == 0
        assert "Traceback" not in running.log


@pytest.mark.slow
def test_a_client_too_many_is_sent_away_with_a_sentence(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        held = []
        for _ in range(admission.MOST_CLIENTS):
            held.append(raw(running))
            held[-1].sendall(READ)
        for each in held:
            assert each.recv(11) == b"0x00000000\n"
        assert said_to(running).endswith(admission.FULL.encode())
        held.pop().close()
        time.sleep(0.2)
        client = running.client(0)
        assert client.read32(PLACE) == 0
        client.close()
        for each in held:
            each.close()
        assert running.stop() == 0
        assert "Traceback" not in running.log


def test_many_questions_at_once_are_answered_one_by_one(server: Server, client: Client) -> None:
    """Nobody else waits for all of them, and their answers are not held at once."""
    with raw(server) as asker:
        asker.sendall(b"Q result\n" * 500)
        time.sleep(0.1)
        begun = time.monotonic()
        assert client.read32(PLACE) == 0xAA
        waited = time.monotonic() - begun
        begun = time.monotonic()
        asker.shutdown(socket.SHUT_WR)
        got = b""
        while more := asker.recv(1 << 20):
            got += more
        assert waited < max(1.0, (time.monotonic() - begun) / 2)
    assert got.count(b'"findings"') == 500
