"""The reads and writes of one client of a server: they wait until a packet ends, then all are carried out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memtile.errors import RegisterError
from memtile.hosts.address_space import AddressSpace, Answer
from memtile.hosts.driver_protocol import NO_ANSWER, Request, reply
from memtile.hosts.notices import Notice, Notices
from memtile.hosts.refusals import Access


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

    def __init__(self, served: Served, notices: Notices, counts: Counts) -> None:
        self._served, self._space = served, served.space
        self._notices, self._counts = notices, counts
        self._waiting: list[Request] = []

    def add(self, request: Request) -> None:
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

    def _given(self, requests: list[Request], answers: list[Answer]) -> list[bytes]:
        """What goes to the client for these accesses; tell what was refused."""
        for request, answer in zip(requests, answers, strict=True):
            if isinstance(answer, RegisterError):
                self._refused(self._space.refused(Access(*request), answer))
        return [
            reply(NO_ANSWER if isinstance(answer, RegisterError) else answer)
            for request, answer in zip(requests, answers, strict=True)
            if request.value is None
        ]

    def _refused(self, notice: Notice) -> None:
        self._counts.refused += 1
        self._notices.tell(notice)
