"""Transfers that the host of a graph asks for: GMIO and external buffers, by DMA channels of interface tiles.

A transfer of a GMIO is linear (UG1603, input_gmio); one of an external buffer moves what the tilings of its
port say. Each call starts a task as soon as the queue of its channel and the descriptors of its tile have
room.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.access.lowering.lower import Access
from memtile.adf.description import Gmio
from memtile.adf.host_waits import HostWaitError
from memtile.adf.plan import End
from memtile.adf.port_transfers import turn_transfers
from memtile.bd.descriptor import Axi
from memtile.design.array import Array
from memtile.design.buffers import Buffer
from memtile.design.channels import Channel
from memtile.design.transfers import Transfer
from memtile.errors import DesignError

Bytes = npt.NDArray[np.uint8]
Advance = Callable[[Callable[[], bool]], bool]
_SOURCE = "UG1603: GMIO and external buffers"
_NO_ROOM = ("bd_count", "task_queue")


@dataclass(slots=True)
class HostChannel:
    """A channel of an interface tile that the host gives tasks.

    Attributes:
        name: of the GMIO or of the port of the external buffer.
        channel: that moves the data.
        end: of the plan; of an external buffer with its tilings.
        gmio: None = an external buffer.
        started: tasks so far.
        pieces: arrays of the host so far.
        bds: of tasks that may not have ended, each after so many tasks.
    """

    name: str
    channel: Channel
    end: End
    gmio: Gmio | None = None
    started: int = 0
    pieces: int = 0
    bds: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        """Whether all its tasks have ended."""
        return self.channel.tasks_done >= self.started


@dataclass(frozen=True, slots=True)
class Received:
    """Memory that an output GMIO fills; complete after a wait."""

    _words: npt.NDArray[np.uint32]
    _nbytes: int

    def data(self) -> bytes:
        """The bytes as they are now."""
        return self._words.tobytes()[: self._nbytes]


class HostTransfers:
    """What the host has moved.

    Args:
        array: the array.
        channels: by id of the GMIO, or of the port of an external buffer.
        advance: lets the array run until a condition is met; False = nothing moves any more.

    Attributes:
        sent: bytes by the id of each input GMIO.
        unread: bytes by the id of each output GMIO that the host has asked for and not waited for.
        asked: bytes by the id of each output GMIO that the host has asked for.
    """

    def __init__(self, array: Array, channels: dict[int, HostChannel], advance: Advance) -> None:
        self._array, self._channels, self._advance = array, channels, advance
        self._external: dict[int, Buffer] = {}
        self._made = 0
        self.sent: dict[int, int] = {}
        self.unread: dict[int, int] = {}
        self.asked: dict[int, int] = {}

    def send(self, gmio: int, data: bytes | Bytes) -> None:
        """``gm2aie_nb``: let an input GMIO read memory; returns when the transfer is queued.

        Raises:
            DesignError: an output, no whole words, or no room ever.
        """
        one = self._one(gmio, receives=False)
        words = np.frombuffer(_whole(one, bytes(data)), np.uint32).copy()
        self._start(one, [self._linear(one, words)])
        self.sent[gmio] = self.sent.get(gmio, 0) + words.nbytes

    def receive(self, gmio: int, nbytes: int) -> Received:
        """``aie2gm_nb``: let an output GMIO write memory; returns when the transfer is queued.

        Raises:
            DesignError: an input, no whole words, or no room ever.
        """
        one = self._one(gmio, receives=True)
        words = np.zeros(len(_whole(one, bytes(nbytes))) // 4, np.uint32)
        self._start(one, [self._linear(one, words)])
        self.unread[gmio] = self.unread.get(gmio, 0) + nbytes
        self.asked[gmio] = self.asked.get(gmio, 0) + nbytes
        return Received(words, nbytes)

    def place(self, memory: int, name: str, data: npt.NDArray[Any]) -> None:
        """``setAddress``: give an external buffer its memory, which transfers read and write in place.

        Args:
            memory: id of the external buffer.
            name: of it.
            data: in the shape and with the elements of the buffer.
        """
        self._made += 1
        self._external[memory] = self._array.external(f"{name} {self._made}", data)

    def start(self, port: int, memory: int) -> None:
        """``gm2aie_nb(port)``, ``aie2gm_nb(port)``: one turn of a port of an external buffer.

        Raises:
            DesignError: before ``setAddress``, or no room ever.
            TransferError: a tiling that no descriptors can express.
        """
        one = self._channels[port]
        if memory not in self._external:
            raise _wrong(one, "without memory", "set_address before it")
        access: Access = "write" if one.channel.receives else "read"
        tile, buffer = one.channel.tile, self._external[memory]
        self._start(one, turn_transfers(tile, buffer, one.end.tilings, access))

    def wait(self, number: int) -> None:
        """Let the array run until all transfers of a GMIO, or of a port, have ended.

        Raises:
            HostWaitError: they never do.
        """
        one = self._channels[number]
        self.unread.pop(number, None)
        if not self._advance(lambda: one.is_done):
            open_tasks = one.started - one.channel.tasks_done
            raise HostWaitError.of(
                "transfer",
                f"waiting for ever for {open_tasks} of {one.started} transfers",
                "data, or room for it, in the array",
                reason="adf_transfer",
                where=one.name,
                source=_SOURCE,
            )

    def _linear(self, one: HostChannel, words: npt.NDArray[np.uint32]) -> Transfer:
        one.pieces += 1
        buffer = self._array.external(f"{one.name} {one.pieces}", words)
        tile = one.channel.tile
        made = tile.write(buffer) if one.channel.receives else tile.read(buffer)
        burst = one.gmio.burst_bytes if one.gmio is not None else 0
        return made.mapped(lambda d: d.but(axi=Axi(burst=burst))) if burst else made

    def _start(self, one: HostChannel, work: Sequence[Transfer]) -> None:
        """Push a task when there is room; descriptors of tasks that have ended are free again."""

        def has_room() -> bool:
            for each in self._channels.values():
                each.bds = _given_back(each)
            return self._pushed(one, work)

        if not self._advance(has_room):
            raise _wrong(one, "without room for another transfer", "fewer transfers at a time")

    def _pushed(self, one: HostChannel, work: Sequence[Transfer]) -> bool:
        """Whether the task could be pushed."""
        try:
            bds = one.channel.start(*work)
        except DesignError as error:
            if all(problem.reason in _NO_ROOM for problem in error.problems) and self._may_end():
                return False
            raise
        one.started = one.channel.tasks_done + one.channel.tasks_open
        one.bds.append((one.started, bds))
        return True

    def _may_end(self) -> bool:
        return any(each.bds for each in self._channels.values())

    def _one(self, number: int, *, receives: bool) -> HostChannel:
        one = self._channels[number]
        if one.channel.receives != receives:
            raise _wrong(one, "gm2aie" if not receives else "aie2gm", "the other direction")
        return one


def _given_back(one: HostChannel) -> list[tuple[int, tuple[int, ...]]]:
    """Give back the descriptors of tasks that have ended; the others."""
    done = one.channel.tasks_done
    for after, bds in one.bds:
        if after <= done:
            one.channel.give_back(bds)
    return [(after, bds) for after, bds in one.bds if after > done]


def _whole(one: HostChannel, data: bytes) -> bytes:
    if len(data) % 4 or not data:
        raise _wrong(one, f"{len(data)} bytes", "whole 32-bit words")
    return data


def _wrong(one: HostChannel, given: str, allowed: str) -> DesignError:
    return DesignError.of("transfer", given, allowed, reason="adf_transfer", where=one.name, source=_SOURCE)
