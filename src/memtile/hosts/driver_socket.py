"""A TCP server that speaks the simulator protocol of AMD's open driver, for as many clients as come.

Clients share one array, whose state outlives them. A malformed line or a refused access is told to the log
and, when its sender waits for a reply, answered with all ones; nothing a client sends ends the server. After
each access the log is told what went wrong inside of the array, see ``witness``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memtile.errors import InputFileError, MemtileError, Problem, RegisterError, SimulationError
from memtile.explain.findings import Finding
from memtile.hosts.address_space import AddressSpace
from memtile.hosts.driver_protocol import FORMS, NO_ANSWER, expects_reply, parse, reply
from memtile.hosts.notices import Log, Notice, Notices
from memtile.hosts.questions import Ask, answered, question
from memtile.hosts.refusals import Access
from memtile.hosts.served_run import ServedRun
from memtile.hosts.standstill import Standstill
from memtile.hosts.witness import Witness
from memtile.output_files import make_folder, write_output

PORT_FILE = Path("mesim_output/mesimulator_aximm_port")
"""Where the driver looks for the port number, from its working directory."""

LOOPBACK = "127.0.0.1"
_CHUNK = 1 << 14  # bytes taken at once; bounds what one client keeps the others waiting for
_LONGEST = 64  # bytes of a line that are looked at; a request is shorter
_SHOWN = 60  # bytes of a malformed line in the log
_AT_ONCE: int | None = getattr(socket, "TCP_QUICKACK", None)
_SOURCE = "simulator protocol of the open driver"


@dataclass
class Counts:
    """What was done for one client, or for all."""

    writes: int = 0
    reads: int = 0
    malformed: int = 0
    refused: int = 0

    def add(self, other: Counts) -> None:
        """Add the counts of a client."""
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {name}" for name, count in vars(self).items())


class _Client(asyncio.BufferedProtocol):
    """One connection; writes wait until something depends on them.

    A buffered protocol, since streams would take as long for each read of a client as the model does.

    Args:
        served: what the client accesses, and who is told what.
        number: of the client.
        gone: called when the connection is.
    """

    def __init__(self, served: _Served, number: int, gone: Callable[[_Client], None]) -> None:
        self._space, self._witnessed, self._gone = served.space, served.look, gone
        self._polled, self._ask, self._told = served.polled, served.ask, served.races
        self._log: Log = lambda text: served.log(f"client {number}: {text}")
        self._notices = Notices(self._log, served.every)
        self._buffer = bytearray(_CHUNK)
        self._rest = b""
        self._addresses: list[int] = []
        self._values: list[int] = []
        self.transport: asyncio.Transport | None = None
        self.counts = Counts()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._socket = transport.get_extra_info("socket")
        self._log("connected")

    def connection_lost(self, exc: Exception | None) -> None:
        if self._rest:
            self._answer(self._rest)  # an unfinished line
        self._told()
        self._notices.sum_up()
        self._log(f"{f'lost ({exc})' if exc else 'gone'}: {self.counts}")
        self._gone(self)

    def pause_writing(self) -> None:
        """A client that does not take its answers is not listened to."""
        assert self.transport is not None
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        assert self.transport is not None
        self.transport.resume_reading()

    def get_buffer(self, _sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take as many lines as have come."""
        assert self.transport is not None
        self._acknowledge()
        *lines, rest = (self._rest + self._buffer[:nbytes]).split(b"\n")
        self._rest = rest[:_LONGEST]  # of a line that is too long to be a request, its beginning will do
        answers = [answer for line in lines if (answer := self._answer(line + b"\n")) is not None]
        self._write()
        if answers:
            self.transport.write(b"".join(answers))

    def _acknowledge(self) -> None:
        """Acknowledge what has come at once: the driver lets its next write wait for that (Nagle)."""
        if _AT_ONCE is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, _AT_ONCE, 1)  # Linux takes it back after a while

    def _answer(self, line: bytes) -> bytes | None:
        request = parse(line)
        if request is None and self._ask is not None and (what := question(line)) is not None:
            self._write()
            return answered(what, self._ask)
        if request is None:
            self.counts.malformed += 1
            text = f"malformed line {line[:_SHOWN]!r}; lines are {FORMS}"
            self._notices.tell(Notice("malformed lines", text, text))
            return reply(NO_ANSWER) if expects_reply(line) else None
        if request.value is None:
            return reply(self._read(request.address))
        self._addresses.append(request.address)
        self._values.append(request.value)
        return None

    def _read(self, address: int) -> int:
        self._write()
        self.counts.reads += 1
        try:
            value = self._space.read32(address)
            self._polled(address, value)
            return value
        except RegisterError as error:
            self._refused(self._space.refused(Access(address, None), error))
            return NO_ANSWER
        except SimulationError as error:  # such as a format that is not public
            self._refused(Notice("what has no model", str(error), str(error)))
            return NO_ANSWER
        finally:
            self._witnessed()

    def _write(self) -> None:
        if self._values:
            for notice in self._space.write_many(self._addresses, self._values):
                self._refused(notice)
            self.counts.writes += len(self._values)
            self._addresses, self._values = [], []
            self._witnessed()

    def _refused(self, notice: Notice) -> None:
        self.counts.refused += 1
        self._notices.tell(notice)


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
        self, space: AddressSpace, log: Log, every: bool, run: ServedRun | None, ask: Ask | None
    ) -> None:
        self.space, self.log, self.every, self.run, self.ask = space, log, every, run, ask
        self.notices = Notices(log, every)
        self._witness = Witness(space.array.engine, space.memories)
        self._standstill = Standstill(space.array.engine)
        self._findings: set[tuple[str, str]] = set()  # told already: code and message

    def polled(self, address: int, value: int) -> None:
        """Tell why nothing changes any more where a client reads again and again."""
        for notice in self._standstill.read(address, value):
            self.notices.tell(notice)
        if self._standstill.stands:
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
        listening: called with host, port and port file once clients can come.
        watched: what is known of the run, told when a client leaves and at the end; None = nothing.
        ask: answers the questions of clients about the run; None = there are no answers.
        clients: connections so far.
        counts: what was done for all of them.
    """

    space: AddressSpace
    log: Log
    every: bool = False
    listening: Callable[[str, int, Path], None] | None = None
    watched: ServedRun | None = None
    ask: Ask | None = None
    clients: int = 0
    counts: Counts = field(default_factory=Counts)
    _present: list[_Client] = field(default_factory=list)
    _served: _Served = field(init=False)

    def __post_init__(self) -> None:
        self._served = _Served(self.space, self.log, self.every, self.watched, self.ask)

    async def run(self, host: str, port: int, port_file: Path) -> None:
        """Listen on ``host``:``port`` (0: any free one) until SIGINT or SIGTERM; write the port to a file.

        The file holds the number alone, without a line feed, as the driver wants it; it is gone at the end.

        Raises:
            InputFileError: the host is none, the port is taken or the file cannot be written.
        """
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        server = await _listen(self._connected, host, port)
        bound = server.sockets[0].getsockname()[1]
        try:
            with _published(port_file, bound):
                self.log(f"listening on {host}:{bound}, as {port_file} says; Ctrl-C ends")
                if self.listening is not None:
                    self.listening(host, bound, port_file)
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

    def _connected(self) -> _Client:
        self.clients += 1
        client = _Client(self._served, self.clients, self._parted)
        self._present.append(client)
        return client

    def _parted(self, client: _Client) -> None:
        self._present.remove(client)
        self.counts.add(client.counts)


async def _listen(connected: Callable[[], _Client], host: str, port: int) -> asyncio.Server:
    try:
        return await asyncio.get_running_loop().create_server(connected, host, port)
    except (socket.gaierror, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no name of a host"
        says = f"host {host} cannot be used: {why}. It must be an address of this machine"
        raise _unusable("host", host, "an address of this machine", says) from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        says = f"{host}:{port} cannot be used: {reason}. It must be a free port of this machine; 0 takes any"
        raise _unusable("port", f"{host}:{port}", "a free port of this machine; 0 takes any", says) from None


@contextmanager
def _published(path: Path, port: int) -> Iterator[None]:
    """A context with the port file, which appears at once so that nobody reads half of it."""
    make_folder(path.parent)
    write_output(path, str(port), durable=False)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _unusable(what: str, given: str, allowed: str, says: str) -> MemtileError:
    return InputFileError(
        Problem(
            reason="serve",
            where="memtile serve",
            field=what,
            given=given,
            allowed=allowed,
            source=_SOURCE,
            says=says,
        )
    )
