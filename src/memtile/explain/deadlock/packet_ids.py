"""Packets that a switch does not pass on: which descriptor sends them, and which id was meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from memtile.arch.packets import is_stream_header
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords
from memtile.explain.names import port_name
from memtile.explain.switch_ways import packet_ways, reached, slots
from memtile.jit.tables import plain

_ID, _MASK = field_of(SLOT, "id"), field_of(SLOT, "mask")


@dataclass(frozen=True, slots=True)
class LostPacket:
    """A packet that comes to a slave port which has no slot for it.

    Attributes:
        bd: that sends it.
        text: what is wrong, as the end of a sentence about its channel.
        fix: what would repair it.
    """

    bd: PlannedBd
    text: str
    fix: str


class PacketIds:
    """The packet ids that descriptors send, and those that slots take.

    Args:
        planned: the descriptors of a design.
    """

    def __init__(self, planned: PlannedWords) -> None:
        self._planned, self._engine = planned, planned.engine

    def lost(self, port: int, packet: int) -> LostPacket | None:
        """What is known of packets of an id that end at a slave port; None if no descriptor sends them."""
        sender = next((bd for bd, sent in self._coming(port) if sent == packet), None)
        if sender is None:
            return None
        where = port_name(self._engine, port)
        text = f"sends packets of id {packet} with BD {sender.number}, and no slot of {where} takes them"
        unused = self._unused(port)
        if not unused:
            return LostPacket(sender, text, "Give the slave port a slot for the id, or the BD another id.")
        ids = " and ".join(f"id {_ID.get(slot)}" for slot in unused)
        says = f"{text}; it takes {ids}, which no descriptor sends to it"
        if len(unused) > 1:
            return LostPacket(sender, says, f"Give BD {sender.number} one of these ids.")
        fix = f"Give BD {sender.number} packet id {_ID.get(unused[0])}, or the packet flow id {packet}."
        return LostPacket(sender, says, fix)

    def without_header(self, port: int, sender: int) -> LostPacket | None:
        """What is known of words that a slave port reads as a packet.

        None if a BD adds headers, or if the first word may be one: data may bring their own headers.

        Args:
            port: the slave port.
            sender: channel whose words they are.
        """
        bds, switch = self._planned.bds.get(sender, []), plain(self._engine.state.switch)
        if is_stream_header(int(switch.words[port, switch.head[port]])):
            return None
        if not bds or any(bd.descriptor.packet is not None for bd in bds):
            return None
        where, number = port_name(self._engine, port), bds[0].number
        text = f"adds no packet header with BD {number}: {where} reads the first word of its data as one"
        ids = " or ".join(f"{_ID.get(slot)}" for slot in self._unused(port))
        fix = f"Give BD {number} packet id {ids}." if ids else f"Give BD {number} a packet id."
        return LostPacket(bds[0], text, fix)

    def _coming(self, port: int) -> Iterator[tuple[PlannedBd, int]]:
        """The descriptors whose packets come to a port, and their ids."""
        for bds in self._planned.bds.values():
            for bd in bds:
                start, packet = int(self._engine.channels.switch_port[bd.ch]), bd.descriptor.packet
                if packet is None or start < 0 or self._planned.receives(bd.ch):
                    continue
                if port in reached([start], partial(packet_ways, self._engine, packet.id)):
                    yield bd, packet.id

    def _unused(self, port: int) -> list[int]:
        """The slots of a port that take no packet that comes to it."""
        ids = {packet for _, packet in self._coming(port)}
        return [
            slot
            for slot in slots(self._engine, port)
            if all((packet ^ _ID.get(slot)) & _MASK.get(slot) for packet in ids)
        ]
