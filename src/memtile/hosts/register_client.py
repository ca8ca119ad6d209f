"""A client of a server's socket that reads registers: those of ``memtile serve``, or of AMD's simulator."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from memtile.arch.devices import ARRAY_BASE
from memtile.errors import InputFileError, Problem
from memtile.hosts.admission import token_line
from memtile.hosts.server_requests import asked, read_answer
from memtile.runs.operations import Write

_SECONDS = 30.0
_ANSWER_SECONDS = 600.0  # a report of a long run takes its time
_SOURCE = "socket back end of AMD's open driver"


def read_registers(where: str, addresses: Sequence[int], token: str = "") -> Iterator[Write]:
    """The registers at addresses of the array, as writes of what they are.

    Reads let time pass in a model that is served, as every access does.

    Args:
        where: ``HOST:PORT``.
        addresses: byte addresses within the array.
        token: of the server; empty = it has none.

    Raises:
        InputFileError: no such form, nobody answers there, the answer is none of the protocol, or the server
            refuses the client.
    """
    try:
        with _connected(where, token) as (connection, answers):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield from _read(connection, answers, addresses, where)
    except (OSError, EOFError) as error:
        raise InputFileError(_problem(where, f"{error}", "a server that answers")) from None


def ask(where: str, what: str, token: str = "") -> tuple[bool, bytes] | None:
    """Put a question to a server: whether it is answered, and the answer or why there is none.

    A read of a register is sent after it: a server that takes no questions answers that alone.

    Args:
        where: ``HOST:PORT``.
        what: one of ``server_requests.QUESTIONS``.
        token: of the server; empty = it has none.

    Returns:
        None of a server that takes no questions.

    Raises:
        InputFileError: no such form, nobody answers there, the answer is not whole, or the server refuses the
            token.
    """
    try:
        with _connected(where, token) as (connection, answers):
            connection.sendall(asked(what) + f"R 0X{ARRAY_BASE:016X}\n".encode("ascii"))
            connection.settimeout(_ANSWER_SECONDS)
            return read_answer(answers.readline(), answers)
    except (OSError, EOFError) as error:
        raise InputFileError(_problem(where, f"{error}", "a server that answers")) from None


@contextmanager
def _connected(where: str, token: str) -> Iterator[tuple[socket.socket, BinaryIO]]:
    """A connection to a server that has accepted the token, and what it answers."""
    connection = socket.create_connection(_address(where), _SECONDS)
    with connection, connection.makefile("rb") as answers:
        if token:
            connection.sendall(token_line(token))
            _accepted(answers.readline(), answers, where)
        yield connection, answers


def _accepted(line: bytes, answers: BinaryIO, where: str) -> bool:
    """Whether a line begins an answer in words, such as to a token.

    Raises:
        InputFileError: it says that the server refuses the client.
    """
    answer = read_answer(line, answers)
    if answer is not None and not answer[0]:
        raise InputFileError(f"server {where}: {answer[1].decode(errors='replace')}")
    return answer is not None


def _address(where: str) -> tuple[str, int]:
    host, _, port = where.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise InputFileError(_problem(where, repr(where), "HOST:PORT"))
    return host, int(port)


def _read(
    connection: socket.socket, answers: BinaryIO, addresses: Sequence[int], where: str
) -> Iterator[Write]:
    for address in addresses:
        connection.sendall(f"R 0X{ARRAY_BASE + address:016X}\n".encode("ascii"))
        line = answers.readline()
        try:
            value = int(line, 16)
        except ValueError:
            _accepted(line, answers, where)
            raise InputFileError(_problem(where, repr(line), "a hexadecimal word a line")) from None
        yield Write(address, value, place=f"address {address:#x}")


def _problem(where: str, given: str, allowed: str) -> Problem:
    return Problem(
        "answer",
        given,
        allowed,
        next_step="Start memtile serve, and give the port that it says.",
        reason="server",
        where=f"server {where}",
        source=_SOURCE,
    )
