"""``packet_port_id`` of a tiling on its way: what a channel sends for it, and where a merge stores it.

UG1603: the transfer of such a tiling happens only for blocks whose id is that port of the packet split or
merge. A split sends each of them with the header of the port's stream. A merge stores a packet where its
header says (AM020: out-of-order S2MM): each stream names the BDs of the tilings of its own port, no other
(DEV-TIL-3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtile.access.tiling import NO_PORT
from memtile.design.transfers import Transfer
from memtile.errors import DesignError, Problem, raise_if

if TYPE_CHECKING:
    from memtile.design.channels import Channel
    from memtile.design.packet_bus import Stream

SOURCE = "UG1603, tiling parameters: packet_port_id"


def sent(channel: Channel, transfers: Sequence[Transfer]) -> list[Transfer]:
    """What a channel does for ``transfers``: those of a port with the headers of its stream.

    Raises:
        DesignError: a port that the channel's packet bus does not have, a channel without a packet bus, or
            one that receives, of which a merge alone knows the packets.
    """
    problems: list[Problem] = []
    out = [_sent(channel, transfer, problems) for transfer in transfers]
    raise_if(problems, DesignError)
    return out


def _sent(channel: Channel, transfer: Transfer, problems: list[Problem]) -> Transfer:
    if transfer.port == NO_PORT:
        return transfer
    buses = [
        bus for bus in channel.tile.bench.buses if any(stream.source is channel for stream in bus.streams)
    ]
    if channel.receives:
        says = "a channel that receives knows packets by the descriptors that they name"
        problems.append(_problem(channel, transfer, says, "packets stored by bus.merge", _MERGE))
    elif not buses:
        says = "the channel is on no packet bus, so nobody gets packets of that port"
        problems.append(_problem(channel, transfer, says, "-1 without a packet bus", _BUS))
    else:
        streams = buses[0].streams
        mine = [n for n, stream in enumerate(streams) if stream.source is channel]
        if transfer.port in mine:
            return streams[transfer.port].packets(transfer)
        allowed = ", ".join(map(str, mine))
        says = f"the streams of {buses[0].name} that it sends are {allowed}"
        problems.append(_problem(channel, transfer, says, allowed, ""))
    return transfer


_MERGE = "Start it with bus.merge(buffer, tilings)."
_BUS = "Join the channel to a packet bus, or leave out packet_port_id."


def _problem(channel: Channel, transfer: Transfer, says: str, allowed: str, step: str) -> Problem:
    given = f"packet_port_id {transfer.port}"
    return Problem(
        reason="packet_port",
        where=channel.name,
        field="packet_port_id",
        given=given,
        allowed=allowed,
        source=SOURCE,
        next_step=step,
        says=f"the tiling has {given}, but {says}",
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
        raise DesignError(
            Problem(
                reason="packet_words" if one else "packets",
                where=f"{self.stream.flow}, BD {self.bd}",
                field="transfer",
                given=given,
                allowed=allowed,
                source=SOURCE,
                says=f"the transfer has {given}; the packet that is stored here must have {allowed}",
            )
        )
