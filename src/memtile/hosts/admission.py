"""Clients that a server admits: those whose first line is a request, with the token where it has one.

A web page can make a browser send to any port, but not begin with a line of this protocol: what HTTP, TLS
and WebSocket send first is none. So a first line that is no request ends its client, and nothing after it is
read. The sentences that end a client hold nothing that it sent, since a browser may take them for a page.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from memtile.errors import InputFileError, Problem

TOKEN_FILE = "memtile_token"
"""Name of the file with the token, beside the port file."""

MOST_CLIENTS = 1000
"""Clients at once; the next one takes the place of one that has sent nothing, or is sent away."""

TOKEN_SECONDS = 30.0
"""Time for the first line where it has to be the token."""

LONGEST = 160
"""Bytes of a line that are kept; a request or a token is shorter."""

TOKEN_ACCEPTED = b"T 0\n"
_SHORTEST_TOKEN, _LONGEST_TOKEN = 16, 128
_TOKEN = re.compile(rb"[!-~]{%d,%d}" % (_SHORTEST_TOKEN, _LONGEST_TOKEN))
_LINE = re.compile(rb"T (%s)\n" % _TOKEN.pattern)
_BEGINNINGS = (b"W", b"R", b"Q", b"T")  # of requests, and of the line with the token
_SPARE_FILES = 160  # the server's own, and clients that are about to be sent away

_ENDS = "memtile serve: the connection ends, since"
NO_REQUEST = f"{_ENDS} its first line is no request of the simulator protocol."
NO_LINE = f"{_ENDS} a line began neither a write, a read nor a question."
NO_TOKEN = f"{_ENDS} its first line is not 'T TOKEN', with the token in {TOKEN_FILE} beside the port file."
FULL = f"{_ENDS} as many clients are connected as the server takes. Close one of them."
MADE_ROOM = f"{_ENDS} it sent nothing and its place was needed."
TOO_LATE = f"{_ENDS} no token came within {TOKEN_SECONDS:.0f} seconds."


@dataclass(frozen=True, slots=True)
class Admission:
    """The rule for first lines.

    Attributes:
        token: that clients must begin with; None = they need none.
    """

    token: str | None = None

    def refusal(self, line: bytes, is_request: bool) -> str | None:
        """Return why a client with this complete first line is ended; None if it may go on.

        Args:
            line: with its line feed.
            is_request: whether it is a request or a question.
        """
        given = _LINE.fullmatch(line)
        if self.token is None:
            return None if is_request or given else NO_REQUEST
        is_known = secrets.compare_digest(given[1] if given else b"", self.token.encode("ascii"))
        return None if is_known else NO_TOKEN


def is_token(line: bytes) -> bool:
    """Whether a line gives a token, which a server without one accepts too."""
    return _LINE.fullmatch(line) is not None


def begins_request(line: bytes) -> bool:
    """Whether what has come of a line may be the beginning of a request."""
    return not line or (line.startswith(_BEGINNINGS) and len(line) < LONGEST)


def token_line(token: str) -> bytes:
    """The line with which a client begins."""
    return f"T {token}\n".encode("ascii")


def new_token() -> str:
    """A token that nobody guesses: 128 random bits."""
    return secrets.token_hex(16)


def check_token(token: str) -> str:
    """Return the token if it can be one.

    Raises:
        InputFileError: it is too short, too long, or not made of printable ASCII characters without spaces.
    """
    allowed = f"{_SHORTEST_TOKEN} to {_LONGEST_TOKEN} printable ASCII characters without spaces"
    if _TOKEN.fullmatch(token.encode("utf-8", "replace")):
        return token
    raise InputFileError(
        Problem(
            reason="token",
            where="memtile serve",
            field="token",
            given=f"{len(token)} characters",
            allowed=allowed,
            source="a token is a secret and part of a line",
            says=f"the token, {len(token)} characters, must be {allowed}",
            next_step="""Make one with: python -c "import secrets; print(secrets.token_hex(16))".""",
        )
    )


def is_loopback(sockets: Sequence[socket.socket]) -> bool:
    """Whether only this machine reaches the addresses that sockets listen on."""
    return all(ipaddress.ip_address(each.getsockname()[0].partition("%")[0]).is_loopback for each in sockets)


def most_clients() -> int:
    """Return how many clients can be connected; raises the process's limit of open files if it may."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CLIENTS + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MOST_CLIENTS
    return min(MOST_CLIENTS, max(soft // 4, soft - _SPARE_FILES))


def watch_for_loss(connection: socket.socket) -> None:
    """Let the system notice that the machine of a client is gone, which sends nothing any more."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
