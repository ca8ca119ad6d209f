"""A client of a server's socket that reads registers: those of ``memtile serve``, or of AMD's simulator."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence

from memtile.arch.address_map import ARRAY_BASE
from memtile.errors import InputFileError, Problem
from memtile.hosts.questions import asked, read_answer
from memtile.io.program.operations import Write

_SECONDS = 30.0
_ANSWER_SECONDS = 600.0  # a report of a long run takes its time
_SOURCE = "socket back end of AMD's open driver"


def read_registers(where: str, addresses: Sequence[int]) -> Iterator[Write]:
    """The registers at addresses of the array, as writes of what they are.

    Reads let time pass in a model that is served, as every access does.

    Args:
        where: ``HOST:PORT``.
        addresses: byte addresses within the array.

    Raises:
        InputFileError: no such form, nobody answers there, or the answer is none of the protocol.
    """
    try:
        with socket.create_connection(_address(where), _SECONDS) as connection:
            yield from _read(connection, addresses, where)
    except OSError as error:
        raise InputFileError(_problem(where, f"{error}", "a server that answers")) from None


def ask(where: str, what: str) -> tuple[bool, bytes] | None:
    """Put a question to a server: whether it is answered, and the answer or why there is none.

    A read of a register is sent after it: a server that takes no questions answers that alone.

    Args:
        where: ``HOST:PORT``.
        what: one of ``questions.QUESTIONS``.

    Returns:
        None of a server that takes no questions.

    Raises:
        InputFileError: no such form, nobody answers there, or the answer is not whole.
    """
    try:
        with socket.create_connection(_address(where), _SECONDS) as connection:
            connection.sendall(asked(what) + f"R 0X{ARRAY_BASE:016X}\n".encode("ascii"))
            connection.settimeout(_ANSWER_SECONDS)
            with connection.makefile("rb") as answers:
                return read_answer(answers.readline(), answers)
    except (OSError, EOFError) as error:
        raise InputFileError(_problem(where, f"{error}", "a server that answers")) from None


def _address(where: str) -> tuple[str, int]:
    host, _, port = where.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise InputFileError(_problem(where, repr(where), "HOST:PORT"))
    return host, int(port)


def _read(connection: socket.socket, addresses: Sequence[int], where: str) -> Iterator[Write]:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection.makefile("rb") as answers:
        for address in addresses:
            connection.sendall(f"R 0X{ARRAY_BASE + address:016X}\n".encode("ascii"))
            line = answers.readline()
            try:
                value = int(line, 16)
            except ValueError:
                raise InputFileError(_problem(where, repr(line), "a hexadecimal word a line")) from None
            yield Write(address, value, place=f"address {address:#x}")


def _problem(where: str, given: str, allowed: str) -> Problem:
    return Problem(
        reason="server",
        where=f"server {where}",
        field="answer",
        given=given,
        allowed=allowed,
        source=_SOURCE,
        next_step="Start memtile serve, and give the port that it says.",
    )
