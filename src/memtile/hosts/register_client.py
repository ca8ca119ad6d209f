"""A client of a server's socket that reads registers: those of ``memtile serve``, or of AMD's simulator."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence

from memtile.arch.address_map import ARRAY_BASE
from memtile.errors import InputFileError, Problem
from memtile.io.program.operations import Write

_SECONDS = 30.0
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
    host, _, port = where.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise InputFileError(_problem(where, repr(where), "HOST:PORT"))
    try:
        with socket.create_connection((host, int(port)), _SECONDS) as connection:
            yield from _read(connection, addresses, where)
    except OSError as error:
        raise InputFileError(_problem(where, f"{error}", "a server that answers")) from None


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
