"""``packet_port_id`` of a tiling on its way: what a channel sends for it, and where a merge stores it.

UG1603: the transfer of such a tiling happens only for blocks whose id is that port of the packet split or
merge. A split sends each of them with the header of the port's stream. A merge stores a packet where its
header says (AM020: out-of-order S2MM): each stream names the BDs of the tilings of its own port, no other
(DEV-TIL-3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memtile.access.tiling import NO_PORT
from memtile.design.transfers import Transfer
from memtile.errors import DesignError, Problem, raise_if

SOURCE = "UG1603, tiling parameters: packet_port_id"


class Sender(Protocol):
    """A channel whose transfers may be packets."""

    @property
    def name(self) -> str:
        """Its name, for messages."""

    @property
    def receives(self) -> bool:
        """Whether it is S2MM."""


class Stream(Protocol):
    """A stream of packets that has its own id."""

    @property
    def id(self) -> int:
        """The stream id in its headers."""

    @property
    def source(self) -> object:
        """Who sends it."""

    @property
    def flow(self) -> object:
        """From where to where it goes, for messages."""

    def packets(self, transfer: Transfer, kind: int = 0, *, bd: int = 0) -> Transfer:
        """The transfer with headers of the stream."""


class Bus(Protocol):
    """Links that streams of packets share."""

    @property
    def name(self) -> str:
        """Its name, for messages."""

    @property
    def streams(self) -> Sequence[Stream]:
        """The streams, in the order of the ports."""


def sent(channel: Sender, transfers: Sequence[Transfer], buses: Sequence[Bus]) -> list[Transfer]:
    """What a channel does for ``transfers``: those of a port with the headers of its stream.

    Args:
        channel: who sends them, or would.
        transfers: as they were asked for.
        buses: the packet buses of the design.

    Raises:
        DesignError: a port that the channel's packet bus does not have, a channel without a packet bus, or
            one that receives, of which a merge alone knows the packets.
    """
    problems: list[Problem] = []
    out = [_sent(channel, transfer, buses, problems) for transfer in transfers]
    raise_if(problems, DesignError)
    return out


def _sent(channel: Sender, transfer: Transfer, buses: Sequence[Bus], problems: list[Problem]) -> Transfer:
    if transfer.port == NO_PORT:
        return transfer
    joined = [bus for bus in buses if any(stream.source is channel for stream in bus.streams)]
    if channel.receives:
        says = "a channel that receives knows packets by the descriptors that they name"
        problems.append(_problem(channel, transfer, says, "packets stored by bus.merge", _MERGE))
    elif not joined:
        says = "the channel is on no packet bus, so nothing receives packets of that port"
        problems.append(_problem(channel, transfer, says, "-1 without a packet bus", _BUS))
    else:
        streams = joined[0].streams
        mine = [n for n, stream in enumerate(streams) if stream.source is channel]
        if transfer.port in mine:
            return streams[transfer.port].packets(transfer)
        allowed = ", ".join(map(str, mine))
        says = f"the streams of {joined[0].name} that it sends are {allowed}"
        problems.append(_problem(channel, transfer, says, allowed, ""))
    return transfer


_MERGE = "Start it with bus.merge(buffer, tilings)."
_BUS = "Join the channel to a packet bus, or leave out packet_port_id."


def _problem(channel: Sender, transfer: Transfer, says: str, allowed: str, step: str) -> Problem:
    given = f"packet_port_id {transfer.port}"
    return Problem(
        "packet_port_id",
        given,
        allowed,
        f"the tiling has {given}, but {says}",
        step,
        reason="packet_port",
        where=channel.name,
        source=SOURCE,
    )


@dataclass(frozen=True, slots=True)
class MergePlace:
    """Where a merge stores the packet of one tiling; made by ``PacketBus.merge``.

    Attributes:
        stream: whose packet it is.
        bd: the BD that stores it, which the header names.
        words: stream words of the packet, without its header.
    """

    stream: Stream
    bd: int
    words: int

    def packets(self, transfer: Transfer, kind: int = 0) -> Transfer:
        """``transfer`` as the packet that is stored here.

        Args:
            transfer: what the stream's source reads.
            kind: the packet type.

        Raises:
            DesignError: another number of words, or a transfer that is several packets.
        """
        whole = transfer.in_one_run()
        one = len(whole.descriptors) == 1 and whole.is_one_run
        if one and whole.words == self.words:
            return self.stream.packets(whole, kind, bd=self.bd)
        given = f"{whole.words} words" if one else f"{len(whole.descriptors)} BDs"
        allowed = f"{self.words} words" if one else "one BD in one run, which is one packet"
        raise DesignError.of(
            "transfer",
            given,
            allowed,
            f"the transfer has {given}; the packet that is stored here must have {allowed}",
            reason="packet_words" if one else "packets",
            where=f"{self.stream.flow}, BD {self.bd}",
            source=SOURCE,
        )
