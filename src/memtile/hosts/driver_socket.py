"""A TCP server that speaks the simulator protocol of AMD's open driver, for as many clients as come.

Clients share one array, whose state outlives them. A malformed line or a refused access is told to the log
and, when its sender waits for a reply, answered; a client that does not speak the protocol is ended, see
``admission``. Nothing a client sends ends the server. After each access the log is told what went wrong
inside of the array, see ``witness``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memtile.errors import InputFileError, MemtileError
from memtile.explain.findings import Finding
from memtile.hosts import admission
from memtile.hosts.address_space import AddressSpace
from memtile.hosts.admission import Admission
from memtile.hosts.client_accesses import FORMS, NO_ANSWER, AccessCounts, ClientAccesses, parse, reply
from memtile.hosts.notices import Log, Notices, ServerNotice
from memtile.hosts.own_files import claimed, placed, write_private
from memtile.hosts.server_requests import NO_QUESTION, Ask, answered, question, refused
from memtile.hosts.witness import Witness, why_nothing_changes
from memtile.runs.live_run import LiveRun

PORT_FILE = Path("mesim_output/mesimulator_aximm_port")
"""Where the driver looks for the port number, from its working directory."""

LOOPBACK = "127.0.0.1"
_CHUNK = 1 << 14  # bytes taken at once; bounds what one client keeps the others waiting for
_SHOWN = 60  # bytes of a malformed line in the log
_AT_ONCE: int | None = getattr(socket, "TCP_QUICKACK", None)
_SOURCE = "simulator protocol of the open driver"


class _Client(asyncio.BufferedProtocol):
    """One connection; writes wait until something depends on them.

    A buffered protocol, since streams would take as long for each read of a client as the model does.

    Args:
        served: what the client accesses, and who is told what.
        number: of the client.
        gone: called when the connection is.
    """

    def __init__(self, served: _Served, number: int, gone: Callable[[_Client], None]) -> None:
        self._gone, self._ask, self._told = gone, served.ask, served.races
        self._log: Log = lambda text: served.log(f"client {number}: {text}")
        self._notices, self.counts = Notices(self._log, served.every), AccessCounts()
        self._admission, self._buffer = served.admission, served.buffer
        self._accesses = ClientAccesses(served, self._notices, self.counts)
        self._rest = b""
        self._later: list[bytes] = []  # lines that wait until a long answer was taken
        self._is_full = False
        self._deadline: asyncio.TimerHandle | None = None  # for the token
        self._is_foreign = False  # it has sent a line of another protocol
        self.is_admitted = False
        self.is_too_many = False  # there is no place for it
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._socket = transport.get_extra_info("socket")
        admission.watch_for_loss(self._socket)
        self._log("connected")
        if self.is_too_many:
            self.end(admission.FULL)
        if self._admission.token is not None:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(admission.TOKEN_SECONDS, self.end, admission.TOO_LATE)

    def end(self, reason: str) -> None:
        """End the connection with a sentence."""
        if self.transport is not None and not self.transport.is_closing():
            self._log(reason)
            self._rest, self._later = b"", []
            self.transport.write(refused(reason))
            self.transport.close()

    def _stop_waiting(self) -> None:
        """No longer wait for the token."""
        if self._deadline is not None:
            self._deadline.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._rest:
            self._answer(self._rest)  # an unfinished line
            self._accesses.carry_out()
        self._told()
        self._notices.sum_up()
        self._log(f"{f'lost ({exc})' if exc else 'gone'}: {self.counts}")
        self._gone(self)

    def pause_writing(self) -> None:
        """A client that does not take its answers is not listened to."""
        assert self.transport is not None
        self._is_full = True
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_full = False
        self._go_on()

    def get_buffer(self, _sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take as many lines as have come."""
        self._acknowledge()
        *lines, rest = (self._rest + self._buffer[:nbytes]).split(b"\n")
        self._rest = rest[: admission.LONGEST]  # of a line that is too long to be a request, its beginning
        if self.is_admitted or self._admit(lines):
            self._obey(lines)

    def _admit(self, lines: list[bytes]) -> bool:
        """Whether a client may go on that has not ended a line before; a token is taken from its lines."""
        assert self.transport is not None
        first = lines[0] if lines else self._rest
        if not lines and admission.begins_request(first):
            return False  # until it is complete
        line = first + b"\n"
        is_request = parse(line) is not None or question(line) is not None
        reason = self._admission.refusal(line, is_request)
        if reason is not None:
            if self._admission.token is None:
                self._malformed(line)  # with a token the line may be the token with a slip
            if line.startswith(b"R"):
                self.transport.write(reply(NO_ANSWER))
            self.end(reason)
            return False
        self.is_admitted = True
        self._stop_waiting()
        if admission.is_token(line):
            del lines[0]
            self.transport.write(admission.TOKEN_ACCEPTED)
        return True

    def _obey(self, lines: list[bytes]) -> None:
        """Do what lines say, and answer; what follows a question waits until the answer was taken."""
        assert self.transport is not None
        answers: list[bytes] = []
        for n, line in enumerate(lines, 1):
            answers.append(self._answer(line + b"\n"))
            if self._is_foreign:
                break
            if line.startswith(b"Q"):
                self._later = lines[n:]
                break
        answers.append(self._accesses.carry_out())
        if given := b"".join(answers):
            self.transport.write(given)
        if self._is_foreign:
            self.end(admission.NO_LINE)
        elif self._later:
            self.transport.pause_reading()
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        """Do what waited for room for answers, then listen again."""
        assert self.transport is not None
        if not self._is_full and not self.transport.is_closing():
            lines, self._later = self._later, []
            self._obey(lines)
            if not self._later and not self._is_full:
                self.transport.resume_reading()

    def _acknowledge(self) -> None:
        """Acknowledge what has come at once: the driver lets its next write wait for that (Nagle)."""
        if _AT_ONCE is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, _AT_ONCE, 1)  # Linux takes it back after a while

    def _answer(self, line: bytes) -> bytes:
        """The answer to a line and to what waited before it, empty while accesses wait."""
        request = parse(line)
        if request is not None:
            self._accesses.add(request)
            return b""
        given = self._accesses.carry_out()
        if (what := question(line)) is not None:
            return given + answered(what, self._ask)
        self._malformed(line)
        match line[:1]:  # no client waits for ever
            case b"R":
                return given + reply(NO_ANSWER)
            case b"Q":
                return given + refused(NO_QUESTION)
        self._is_foreign = not line.startswith(b"W")
        return given

    def _malformed(self, line: bytes) -> None:
        self.counts.malformed += 1
        text = f"malformed line {line[:_SHOWN]!r}; lines are {FORMS}"
        self._notices.tell(ServerNotice("malformed lines", text, text))


class _Served:
    """What all clients share.

    Args:
        space: what they access.
        log: gets the lines.
        every: tell every notice, however often it comes.
        run: what is known of the run; None = nobody asks.
        ask: answers questions; None = there are no answers.
    """

    def __init__(
        self, space: AddressSpace, log: Log, every: bool, run: LiveRun | None, ask: Ask | None
    ) -> None:
        self.space, self.log, self.every, self.run, self.ask = space, log, every, run, ask
        self.admission = Admission()
        self.buffer = bytearray(_CHUNK)  # filled and read within one call
        self.notices = Notices(log, every)
        self._witness = Witness(space.array.engine, space.memories, space.cores)
        self._findings: set[tuple[str, str]] = set()  # told already: code and message

    def polled(self, address: int) -> None:
        """Tell why nothing changes any more where a client reads again and again."""
        for notice in why_nothing_changes(self.space.array.engine, address):
            self.notices.tell(notice)
        self.races()

    def races(self) -> None:
        """Tell what nothing orders, what was told before left out."""
        for finding in self.run.races() if self.run is not None else ():
            self._tell(finding)

    def findings(self) -> None:
        """Tell all that is wrong at the end."""
        if self.run is None:
            return
        try:
            found = self.run.result().findings
        except MemtileError as error:
            self.log(f"no findings: {error}")
            return
        for finding in found:
            self._tell(finding)

    def _tell(self, finding: Finding) -> None:
        if (finding.code, finding.message) not in self._findings:
            self._findings.add((finding.code, finding.message))
            self.log(f"finding: {finding}")

    def look(self) -> None:
        """Tell what has gone wrong inside of the array."""
        for notice in self._witness.look():
            self.notices.tell(notice)


@dataclass
class DriverServer:
    """Serves an address space until it is told to stop.

    Attributes:
        space: what the clients access.
        log: gets a line of text about everything that a person may want to know.
        every: tell every problem, however often it comes; else the first ones of a kind, and counts.
        token: that clients must begin with; None = one is made if other machines reach the server, else none.
        listening: called with host, port, port file and the file of the token (None = there is none) once
            clients can come.
        watched: what is known of the run, told when a client leaves and at the end; None = nothing.
        ask: answers the questions of clients about the run; None = there are no answers.
        clients: connections so far.
        counts: what was done for all of them.
    """

    space: AddressSpace
    log: Log
    every: bool = False
    token: str | None = None
    listening: Callable[[str, int, Path, Path | None], None] | None = None
    watched: LiveRun | None = None
    ask: Ask | None = None
    clients: int = 0
    counts: AccessCounts = field(default_factory=AccessCounts)
    _present: list[_Client] = field(default_factory=list)
    _most: int = 1
    _served: _Served = field(init=False)

    def __post_init__(self) -> None:
        self._served = _Served(self.space, self.log, self.every, self.watched, self.ask)

    async def run(self, host: str, port: int, port_file: Path) -> None:
        """Listen on ``host``:``port`` (0: any free one) until SIGINT or SIGTERM; write the port to a file.

        The file holds the number alone, without a line feed, as the driver wants it; it is gone at the end.

        Raises:
            InputFileError: the host is none, the port is taken, or the file cannot be written or is in use by
                another server.
        """
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        self._most = admission.most_clients()
        with claimed(port_file):
            server = await self._listen(host, port)
            try:
                with self._published(server, host, port_file):
                    await stop.wait()
            finally:
                server.close()
                for client in self._present:
                    if client.transport is not None:
                        client.transport.abort()
                await asyncio.sleep(0)  # lets them say that they are gone
                self._served.notices.sum_up()
        self._served.findings()
        self.log(f"ended after {self.clients} clients: {self.counts}; {self.space.now:,} cycles")

    async def _listen(self, host: str, port: int) -> asyncio.Server:
        """A server that accepts clients, and knows which ones."""
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(self._connected, host, port, start_serving=False)
            if self.token is None and not admission.is_loopback(server.sockets):
                self.token = admission.new_token()
            self._served.admission = Admission(self.token)
            await server.start_serving()
        except (OSError, UnicodeError) as error:
            raise _unusable(host, port, error) from None
        return server

    @contextmanager
    def _published(self, server: asyncio.Server, host: str, port_file: Path) -> Iterator[None]:
        """A context with the files of the port and, where there is one, of the token; logs where they are."""
        bound: int = server.sockets[0].getsockname()[1]
        token, token_file = self.token, port_file.with_name(admission.TOKEN_FILE)
        with ExitStack() as files:
            if token is not None:
                files.enter_context(placed(token_file, lambda path: write_private(path, token)))
            files.enter_context(placed(port_file, lambda path: write_private(path, str(bound))))
            self.log(f"listening on {host}:{bound}, as {port_file} says; Ctrl-C ends")
            if not admission.is_loopback(server.sockets):
                self.log(
                    f"warning: other machines can reach {host}:{bound}, without encryption; "
                    f"clients need the token in {token_file}"
                )
            elif token is not None:
                self.log(f"clients need the token in {token_file}")
            if self.listening is not None:
                self.listening(host, bound, port_file, token_file if token is not None else None)
            yield

    def _connected(self) -> _Client:
        self.clients += 1
        client = _Client(self._served, self.clients, self._parted)
        self._present.append(client)
        if len(self._present) > self._most:
            self._make_room(client)
        return client

    def _make_room(self, newest: _Client) -> None:
        """End the client that has sent nothing for the longest time, or the newest one if all have."""
        for client in self._present[:-1]:
            if not client.is_admitted and client.transport is not None and not client.transport.is_closing():
                client.end(admission.MADE_ROOM)
                return
        newest.is_too_many = True

    def _parted(self, client: _Client) -> None:
        self._present.remove(client)
        self.counts.add(client.counts)


def _unusable(host: str, port: int, error: OSError | UnicodeError) -> MemtileError:
    what, given, allowed = "port", f"{host}:{port}", "a free port of this machine; 0 takes any"
    if isinstance(error, socket.gaierror | UnicodeError):
        what, given, allowed = "host", f"host {host}", "an address of this machine"
        reason = error.strerror if isinstance(error, OSError) else "it is no name of a host"
    else:
        reason = os.strerror(error.errno) if error.errno else str(error)
    return InputFileError.of(
        what,
        given,
        allowed,
        f"{given} cannot be used: {reason}. It must be {allowed}",
        reason="serve",
        where="memtile serve",
        source=_SOURCE,
    )
