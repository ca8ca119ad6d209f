"""Streams that lead nowhere, circuits that a switch does not have, ends of a stream that differ in length.

The lengths of descriptors do not decide streams of cores, and of headers among the data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial

import numpy as np

from memtile.arch.tiles import S2MM, TILE_KINDS
from memtile.check.checked_program import Subject
from memtile.check.ended_rings import ended_ring
from memtile.check.task_list import GivenTask, StaticBd, each_bd
from memtile.explain.coded_ends import CodedPart, coded_findings
from memtile.explain.deadlock.balance_findings import sure_lengths
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.deadlock.packet_ids import PacketIds
from memtile.explain.deadlock.planned_words import PlannedWords
from memtile.explain.deadlock.switch_waits import Streams
from memtile.explain.deadlock.word_balance import WordBalance
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.loose_ends import LooseEnds, LoosePair
from memtile.explain.names import called, is_logic, port_name
from memtile.explain.race_findings import NamedArea
from memtile.explain.switch_ways import barred_text, configured_ways, packet_ways, reached
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import COMPRESSION_LSB, FOT_MASK, OUT_OF_ORDER_MASK
from memtile.model.streams.switch_config import OFF, PACKET
from memtile.sim.loop.engine import Engine

_WORDS_OF_WRITE = 2  # of a control packet that writes one lock: its header, and the value
_MANY = 1 << 20
_CONNECT = "Connect it, or do not start the task."


def stream_findings(subject: Subject) -> Iterator[Finding]:
    """All findings about streams; a tile alone has none, its test bench feeds and takes what it likes."""
    if not subject.array:
        return
    yield from _barred(subject)
    channels = sorted({task.ch for task in subject.log.tasks})
    ends = {ch: _ends(subject, ch) for ch in channels if not _receives(subject, ch)}
    pairs = list(_pairs(subject, channels))
    yield from (_of_pair(subject, each) for each in pairs)
    paired = {ch for each in pairs for ch in (each.first, each.second)}
    yield from _loose(subject, [ch for ch in channels if ch not in paired])
    yield from coded_findings(subject.engine, _parts(subject))
    off = sure_lengths(balance_of(subject))
    named = {each.sides[0].who for each in off}
    yield from (each for each in _lengths(subject, ends) if named.isdisjoint(side.who for side in each.sides))
    yield from _idle_ends(subject, ends, paired)
    yield from _packets(subject)
    yield from off


def _parts(subject: Subject) -> Iterator[CodedPart]:
    """What descriptors move of memory, and whether it goes through the coder."""
    for task, bd in each_bd(subject.log.tasks):
        yield CodedPart(task.ch, bd.descriptor.length, bd.descriptor.compression, _said(subject, task, bd))


def balance_of(subject: Subject) -> WordBalance:
    """The lengths of all descriptors of a design, held against each other."""
    return WordBalance(planned_of(subject), areas_of(subject))


def areas_of(subject: Subject) -> list[NamedArea]:
    """The buffers of a design."""
    return [
        NamedArea(buffer.name, tile.index, buffer.offset, buffer.nbytes)
        for tile in subject.tiles
        for buffer in tile.buffers
    ]


def planned_of(subject: Subject) -> PlannedWords:
    """The descriptors of all tasks of a design."""
    tasks = subject.log.tasks
    present = ((task.ch, bd.number, bd.descriptor, _said(subject, task, bd)) for task, bd in each_bd(tasks))
    return PlannedWords(subject.engine, present)


def _said(subject: Subject, task: GivenTask, bd: StaticBd) -> str:
    """Where the design says a BD."""
    tile = int(subject.engine.channels.tile[task.ch])
    return subject.engine.bd_places.get((tile, bd.number)) or task.place


def _barred(subject: Subject) -> Iterator[Finding]:
    for port in np.flatnonzero(plain(subject.engine.state.switch).barred).tolist():
        text = barred_text(subject.engine, port)
        yield Finding("MT0102", Severity.ERROR, f"{text}.", (Side(text, "gets no words"),))


def _receives(subject: Subject, ch: int) -> bool:
    return int(subject.engine.channels.direction[ch]) == S2MM


def _pairs(subject: Subject, channels: Sequence[int]) -> Iterator[LoosePair]:
    """Channels that lack a stream beside such that lack a task, of a design whose tasks are all known."""
    if not subject.hosted or subject.open_host:
        return
    awaited = {wait.ch for wait in subject.log.waits}
    ends = LooseEnds(subject.engine, set(channels), awaited=awaited)
    doubled = (ends.doubled(ch) for ch in channels if _is_started_twice(subject, ch))
    for pair in (*ends.pairs(), *(each for each in doubled if each is not None)):
        if subject.fed.isdisjoint((pair.first, pair.second)):
            yield pair


def _is_started_twice(subject: Subject, ch: int) -> bool:
    """Whether a channel of a tile with memory of its own begins with several tasks; hosts give many."""
    tile = int(subject.engine.channels.tile[ch])
    kind = TILE_KINDS[KIND_NAMES[subject.engine.tiles.kind[tile]]]
    return kind.role != "interface" and sum(not task.epoch for task in subject.log.of(ch)) > 1


def _of_pair(subject: Subject, pair: LoosePair) -> Finding:
    """The finding about both channels."""
    parties = [*zip((pair.first, pair.second), pair.does, strict=True)]
    parties += [(pair.partner, "is at the other end")] if pair.partner >= 0 else []
    sides = [
        Side(called(subject.engine, ch), does, place)
        for ch, does in parties
        for place in [task.place for task in subject.log.of(ch)][:2] or [""]
    ]
    return Finding("MT0109", Severity.ERROR, f"{pair.text}.", sides, fix=pair.fix)


def _loose(subject: Subject, channels: Sequence[int]) -> Iterator[Finding]:
    """Channels with tasks whose stream port is not connected."""
    engine, switch = subject.engine, plain(subject.engine.state.switch)
    for ch in channels:
        port = _port(subject, ch)
        if port < 0 or ch in subject.fed:
            continue
        if switch.mode[port] != OFF:
            yield from _unfed(subject, ch, port)
            continue
        if not subject.hosted and not _has_streams(subject, ch):
            continue  # who configures the streams is not part of what is checked
        task = subject.log.of(ch)[0]
        does = (
            "has a task, and no stream leads to it"
            if _receives(subject, ch)
            else ("has a task, and its stream leads nowhere")
        )
        who = called(engine, ch)
        severity = Severity.WARNING if task.endless or not subject.hosted else Severity.ERROR
        yield Finding("MT0109", severity, f"{who} {does}.", (Side(who, does, task.place),), fix=_CONNECT)


def _unfed(subject: Subject, ch: int, port: int) -> Iterator[Finding]:
    """A receiving channel whose stream begins at a port to which nothing sends."""
    if not _receives(subject, ch) or not subject.hosted:
        return
    ends = [need.of for need in Streams(subject.engine).brought_by(port)]
    if not ends or any(
        end.kind is not PartyKind.PORT or is_logic(subject.engine, end.number) for end in ends
    ):
        return
    task, who = subject.log.of(ch)[0], called(subject.engine, ch)
    does = f"has a task, and its stream comes from {port_name(subject.engine, ends[0].number)}"
    says = f"{does}, to which nothing sends"
    severity = Severity.WARNING if task.endless else Severity.ERROR
    fix = "Connect a sender to that port, or do not start the task."
    yield Finding("MT0109", severity, f"{who} {says}.", (Side(who, says, task.place),), fix=fix)


def _has_streams(subject: Subject, ch: int) -> bool:
    """Whether any port is in use in the stream switch of a channel's tile."""
    switch, tile = plain(subject.engine.state.switch), int(subject.engine.channels.tile[ch])
    return bool((switch.mode[switch.tile == tile] != OFF).any())


def _port(subject: Subject, ch: int) -> int:
    """The switch port of a channel: the slave that it feeds, or the master that feeds it; -1 = none."""
    if not _receives(subject, ch):
        return int(subject.engine.channels.switch_port[ch])
    ports = np.flatnonzero(plain(subject.engine.state.switch).channel == ch)
    return int(ports[0]) if len(ports) else -1


def _ends(subject: Subject, ch: int) -> list[int] | None:
    """Channels that get the words of a circuit; None where others take part: packets, cores, the edge."""
    engine = subject.engine
    switch = plain(engine.state.switch)
    port = int(engine.channels.switch_port[ch])
    if port < 0 or ch in subject.fed or switch.mode[port] == OFF:
        return None
    ways = reached([port], lambda at: configured_ways(engine, at))
    found = []
    for at in ways:
        if switch.mode[at] == PACKET:
            return None
        if switch.is_master[at] and not configured_ways(engine, at):
            receiver = int(switch.channel[at])
            if receiver < 0:
                return None
            found.append(receiver)
    return found


def _lengths(subject: Subject, ends: dict[int, list[int] | None]) -> Iterator[Finding]:
    """Both ends of a circuit have tasks that end, and they do not move equally many words."""

    def beyond(ch: int) -> set[int | None]:
        others = [each for each, receivers in ends.items() if ch in (receivers or ())]
        return {words_of(subject, each) for each in (*(ends.get(ch) or ()), *others)}

    for sender, receivers in ends.items():
        sent = words_of(subject, sender)
        for receiver in receivers or ():
            taken = words_of(subject, receiver)
            by_hand = sender in subject.fed or receiver in subject.fed
            if by_hand or sent is None or taken is None or sent == taken or not taken:
                continue
            yield (
                ended_ring(subject, receiver, sent, sender, beyond)
                or ended_ring(subject, sender, taken, receiver, beyond)
                or _differ(subject, sender, receiver, sent, taken)
            )


def words_of(subject: Subject, ch: int) -> int | None:
    """Stream words of all tasks of a channel; None if nobody can say how many."""
    tasks = subject.log.of(ch)
    if any(_open(task) for task in tasks) or ch in subject.log.reset:
        return None
    return sum(task.words or 0 for task in tasks)


def _idle_ends(
    subject: Subject, ends: dict[int, list[int] | None], paired: Collection[int]
) -> Iterator[Finding]:
    """A circuit whose sender has work that is to end, and a receiver that has none at all."""
    for sender, receivers in ends.items():
        task = subject.log.of(sender)[0]
        for receiver in receivers or ():
            if task.endless or subject.log.of(receiver) or receiver in subject.fed or receiver in paired:
                continue
            yield _idle_receiver(subject, task, receiver)


def _idle_receiver(subject: Subject, task: GivenTask, receiver: int) -> Finding:
    first, second = called(subject.engine, task.ch), called(subject.engine, receiver)
    sides = (Side(second, "has no task"), Side(first, "sends to it", task.place))
    message = f"{first} sends to {second}, which has no task."
    severity = Severity.ERROR if subject.hosted else Severity.WARNING
    return Finding("MT0110", severity, message, sides, fix="Start a task there, or send elsewhere.")


def idle_receivers(subject: Subject) -> Iterator[Finding]:
    """Channels without a task to which senders send, of which some never end, and packets."""
    if not subject.hosted or subject.open_host:
        return
    told: set[int] = set()
    senders = dict[tuple[int, int], GivenTask]()  # by channel and packet id the first task
    for task, bd in each_bd(subject.log.tasks):
        packet = bd.descriptor.packet
        senders.setdefault((task.ch, -1 if packet is None else packet.id), task)
    for (ch, packet_id), task in senders.items():
        port = int(subject.engine.channels.switch_port[ch])
        if _receives(subject, ch) or port < 0 or ch in subject.fed:
            continue
        way = (
            partial(configured_ways, subject.engine)
            if packet_id < 0
            else partial(packet_ways, subject.engine, packet_id)
        )
        switch = plain(subject.engine.state.switch)
        for at in reached([port], way):
            receiver = int(switch.channel[at]) if switch.is_master[at] else -1
            if receiver >= 0 and receiver not in told and not subject.log.of(receiver):
                told.add(receiver)
                if receiver not in subject.fed:
                    yield _idle_receiver(subject, task, receiver)


def _packets(subject: Subject) -> Iterator[Finding]:
    """Packets whose id no slot takes on their way."""
    told: set[tuple[int, int]] = set()
    planned = planned_of(subject)
    for task, bd in each_bd(subject.log.tasks):
        packet, port = bd.descriptor.packet, int(subject.engine.channels.switch_port[task.ch])
        if packet is None or port < 0 or _receives(subject, task.ch) or (task.ch, packet.id) in told:
            continue
        told.add((task.ch, packet.id))
        for stop in reached([port], partial(packet_ways, subject.engine, packet.id)):
            lost = PacketIds(planned).lost(stop, packet.id) if _stops(subject, stop, packet.id) else None
            if lost is not None:
                who = called(subject.engine, lost.bd.ch)
                side = Side(who, lost.text, task.place)
                severity = Severity.ERROR if subject.hosted else Severity.WARNING
                yield Finding("MT0111", severity, f"{who} {lost.text}.", (side,), fix=lost.fix)


def _stops(subject: Subject, port: int, packet: int) -> bool:
    """Whether packets of an id end at a slave port in packet mode."""
    switch = plain(subject.engine.state.switch)
    if switch.is_master[port] or switch.mode[port] != PACKET:
        return False
    return not packet_ways(subject.engine, packet, port)


def _open(task: GivenTask) -> bool:
    return task.endless or any(
        bd.descriptor.compression or bd.descriptor.packet is not None or not bd.descriptor.valid
        for bd in task.bds
    )


def _differ(subject: Subject, sender: int, receiver: int, sent: int, taken: int) -> Finding:
    first, second = called(subject.engine, sender), called(subject.engine, receiver)
    late = f"{second} waits for {taken - sent} words that never come"
    if sent > taken:
        late = f"nothing takes the last {sent - taken} words of {first}"
    places = [
        _said(subject, task, task.bds[0]) for task in (subject.log.of(ch)[0] for ch in (sender, receiver))
    ]
    sides = (Side(first, f"sends {sent} words", places[0]), Side(second, f"takes {taken} words", places[1]))
    message = f"{first} sends {sent} words to {second}, which takes {taken}: {late}."
    fix = "Make both ends as long as each other."
    return Finding("MT0108", Severity.WARNING, message, sides, fix=fix)


class OpenStreams:
    """What is not known of the streams between the channels of a design.

    Args:
        subject: the design.

    Attributes:
        reason: why nothing is known of all that happens; empty = it is not so.
        packets: by tile how many locks control packets may write at most; they may also start channels that
            have no task here.
        fed: S2MM channels that others send to than channels: cores, trace units; or nobody knows how much.
        senders: by S2MM channel the MM2S channels whose words may come to it.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject, self._engine = subject, subject.engine
        self.reason = ""
        self.packets = Counter[int]()
        self._controlled: dict[tuple[int, int], list[int]] = {}  # tiles, by channel and packet id
        self._tasks = {task.ch for task in subject.log.tasks}
        self.fed: set[int] = set()
        self.senders: dict[int, set[int]] = {}
        self._known: dict[tuple[int, int], frozenset[int]] = {}
        self._switch = plain(subject.engine.state.switch)
        self._odd = {ch for ch in range(len(subject.engine.channels.phase)) if not _counts(self._engine, ch)}
        self._look_at_ports()
        for task, bd in each_bd(subject.log.tasks):
            if not self._receives(task.ch):
                self._look_at_sender(task, bd)
        if self.packets:
            self.fed |= {ch for ch, senders in self.senders.items() if not senders <= self._tasks}

    def is_unknown(self, ch: int, bd: StaticBd) -> bool:
        """Whether a BD may move its words although nothing in the array gives them, or takes them."""
        if ch in self._odd:
            return True
        if self._receives(ch):
            return ch in self.fed
        elsewhere = self._subject.array and int(self._engine.channels.switch_port[ch]) >= 0
        receivers = self.receivers(ch, bd)
        if not receivers:
            return elsewhere or ch in self._subject.fed
        if self.packets and not receivers <= self._tasks:
            return True
        return not self._odd.isdisjoint(receivers)

    def is_shared(self, ch: int, bd: StaticBd) -> bool:
        """Whether others send to a receiver of a BD too: who comes first hangs on time."""
        return any(len(self.senders.get(receiver, ())) > 1 for receiver in self.receivers(ch, bd))

    def let_flow(self, ch: int) -> None:
        """Nobody knows from now on how much an MM2S channel sends."""
        self.fed |= {receiver for receiver, senders in self.senders.items() if ch in senders}

    def receivers(self, ch: int, bd: StaticBd) -> frozenset[int]:
        """Channels that get the words of a BD of an MM2S channel; none where somebody else takes them."""
        packet = -1 if bd.descriptor.packet is None else bd.descriptor.packet.id
        if (ch, packet) not in self._known:
            self._known[ch, packet] = self._receivers(ch, packet)
        return self._known[ch, packet]

    def _receives(self, ch: int) -> bool:
        return bool(self._engine.channels.direction[ch] == S2MM)

    def _look_at_ports(self) -> None:
        """Who may send to each channel: those behind slave ports that no other switch feeds."""
        channels = {int(port): ch for ch, port in enumerate(self._engine.channels.switch_port) if port >= 0}
        inner = set(self._switch.link.tolist())
        for port in np.flatnonzero((self._switch.is_master == 0) & (self._switch.mode != OFF)).tolist():
            if port in inner and port not in channels:
                continue
            for receiver in self._ends(self._all_ways(port)):
                if port in channels:
                    self.senders.setdefault(receiver, set()).add(channels[port])
                else:
                    self.fed.add(receiver)

    def _look_at_sender(self, task: GivenTask, bd: StaticBd) -> None:
        receivers = self.receivers(task.ch, bd)
        if task.ch in self._odd:
            self.fed |= receivers
        packet = -1 if bd.descriptor.packet is None else bd.descriptor.packet.id
        for tile in self._controlled.get((task.ch, packet), ()):
            runs = _MANY if task.endless else task.runs
            self.packets[tile] += runs * (bd.descriptor.length // _WORDS_OF_WRITE)

    def _receivers(self, ch: int, packet: int) -> frozenset[int]:
        port = int(self._engine.channels.switch_port[ch])
        if ch in self._subject.fed or port < 0 or not self._subject.array:
            return frozenset()
        ways = self._all_ways(port)
        if packet >= 0:
            ways = reached([port], partial(packet_ways, self._engine, packet))
        elif any(self._switch.mode[at] == PACKET for at in ways):
            self.reason = "headers of packets are among the data"
        self._controlled[ch, packet] = [
            int(self._switch.tile[at]) for at in ways if self._switch.control[at] >= 0
        ]
        found = frozenset(self._ends(ways))
        if not self._ends_elsewhere(ways, packet):
            return found
        self.fed |= found
        return frozenset()

    def _all_ways(self, port: int) -> list[int]:
        return reached([port], lambda at: configured_ways(self._engine, at))

    def _ends(self, ways: list[int]) -> Iterator[int]:
        """S2MM channels at the ends of ways."""
        for at in ways:
            if self._switch.is_master[at] and self._switch.channel[at] >= 0:
                yield int(self._switch.channel[at])

    def _ends_elsewhere(self, ways: list[int], packet: int) -> bool:
        """Whether words also come to an end that is no DMA channel: a core, the edge, a missing slot."""
        for at in ways:
            after = configured_ways(self._engine, at) if packet < 0 else packet_ways(self._engine, packet, at)
            if not after and not (self._switch.is_master[at] and self._switch.channel[at] >= 0):
                return True
        return False


def _counts(engine: Engine, ch: int) -> bool:
    """Whether a channel moves as many stream words as its BDs say, in their order."""
    control = int(engine.channels.control[ch])
    odd = OUT_OF_ORDER_MASK | FOT_MASK if engine.channels.direction[ch] == S2MM else 0
    return not control & (odd | 1 << COMPRESSION_LSB)
