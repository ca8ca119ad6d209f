"""The reads and writes of one client of a server: they wait until a packet ends, then all are carried out.

Lines of the driver's simulator protocol: ``W 0X<16 hex> 0X<8 hex>``, ``R 0X<16 hex>``; ``0x<8 hex>``.

Source: the socket back end of AMD's open driver. It sends upper-case digits; both cases are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memtile.errors import RegisterError
from memtile.hosts.address_space import AddressSpace, Answer
from memtile.hosts.notices import Notices, ServerNotice
from memtile.hosts.unanswered import HostAccess

NO_ANSWER = 0xFFFF_FFFF
"""Reply to a read that cannot be answered; the protocol has no error, and a 0 would look like success."""

_REQUEST = re.compile(rb"(?:W 0[xX]([0-9a-fA-F]{16}) 0[xX]([0-9a-fA-F]{8})|R 0[xX]([0-9a-fA-F]{16}))\n")
FORMS = "W 0X<16 hex digits> 0X<8 hex digits> and R 0X<16 hex digits>, each with a line feed"
"""What lines are, for messages."""


class DriverRequest(NamedTuple):
    """A well-formed line; ``value`` is None for a read."""

    address: int
    value: int | None


def parse(line: bytes) -> DriverRequest | None:
    """The request of a line, its line feed included; None when it is malformed."""
    found = _REQUEST.fullmatch(line)
    if found is None:
        return None
    address, value, read_address = found.groups()
    if read_address is not None:
        return DriverRequest(int(read_address, 16), None)
    return DriverRequest(int(address, 16), int(value, 16))


def reply(value: int) -> bytes:
    """The answer to a read; 11 bytes."""
    return f"0x{value:08x}\n".encode("ascii")


@dataclass
class AccessCounts:
    """What was done for one client, or for all."""

    writes: int = 0
    reads: int = 0
    malformed: int = 0
    refused: int = 0

    def add(self, other: AccessCounts) -> None:
        """Add the counts of a client."""
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {name}" for name, count in vars(self).items())


class Served(Protocol):
    """What the clients of a server share."""

    space: AddressSpace

    def polled(self, address: int) -> None:
        """A client has read the same at an address again and again."""

    def look(self) -> None:
        """Tell what has gone wrong inside of the array."""


class ClientAccesses:
    """Accesses in the order in which they came.

    Args:
        served: what is accessed, and who is told what happens there.
        notices: of the client: what is refused.
        counts: of the client.
    """

    def __init__(self, served: Served, notices: Notices, counts: AccessCounts) -> None:
        self._served, self._space = served, served.space
        self._notices, self._counts = notices, counts
        self._waiting: list[DriverRequest] = []

    def add(self, request: DriverRequest) -> None:
        """Let a request wait."""
        self._waiting.append(request)

    def carry_out(self) -> bytes:
        """Carry out all that waits; the answers to the reads among it."""
        requests, self._waiting = self._waiting, []
        if not requests:
            return b""
        given: list[bytes] = []
        made = 0
        polled = self._space.polled
        for answers in self._space.carry_out(requests):
            given += self._given(requests[made : made + len(answers)], answers)
            made += len(answers)
            if polled != self._space.polled:
                polled = self._space.polled
                self._served.polled(requests[made - 1].address)
            self._served.look()
        self._counts.reads += len(given)
        self._counts.writes += len(requests) - len(given)
        return b"".join(given)

    def _given(self, requests: list[DriverRequest], answers: list[Answer]) -> list[bytes]:
        """What goes to the client for these accesses; tell what was refused."""
        for request, answer in zip(requests, answers, strict=True):
            if isinstance(answer, RegisterError):
                self._refused(self._space.refused(HostAccess(*request), answer))
        return [
            reply(NO_ANSWER if isinstance(answer, RegisterError) else answer)
            for request, answer in zip(requests, answers, strict=True)
            if request.value is None
        ]

    def _refused(self, notice: ServerNotice) -> None:
        self._counts.refused += 1
        self._notices.tell(notice)
