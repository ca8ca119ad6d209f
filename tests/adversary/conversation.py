"""What a client sends to ``memtile serve``, given to a connection of the server without a socket."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from memtile import Array
from memtile.hosts import driver_socket
from memtile.hosts.address_space import AddressSpace
from memtile.hosts.server_requests import Ask

_PART = 200  # bytes that come at once


class Connection(asyncio.Transport):
    """The server's end of a connection; what it writes stays here.

    Attributes:
        written: all that the server has written.
    """

    def __init__(self) -> None:
        super().__init__({"socket": SimpleNamespace(setsockopt=lambda *_: None)})
        self.written, self._is_closing, self.is_paused = bytearray(), False, False

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        self.written += data

    def close(self) -> None:
        self._is_closing = True

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False


def answers(data: bytes, array: Array, ask: Ask | None = None) -> bytes:
    """Return what the server of an array answers to a client that sends this and leaves.

    Args:
        data: that the client sends.
        array: that is served.
        ask: answers questions; None = there are no answers.
    """
    return asyncio.run(_converse(data, array, ask))


async def _converse(data: bytes, array: Array, ask: Ask | None) -> bytes:
    served = driver_socket._Served(AddressSpace(array), _nothing, True, None, ask)
    client, connection = driver_socket._Client(served, 1, _nothing), Connection()
    client.connection_made(connection)
    for at in range(0, len(data), _PART):
        part = data[at : at + _PART]
        client.get_buffer(-1)[: len(part)] = part
        client.buffer_updated(len(part))
        while connection.is_paused and not connection.is_closing():
            await asyncio.sleep(0)  # what follows a question waits for a turn of the loop
    await asyncio.sleep(0)
    client.connection_lost(None)
    return bytes(connection.written)


def _nothing(_: object) -> None:
    """A log, and what is told that a client is gone."""
