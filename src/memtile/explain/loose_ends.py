"""Channels with tasks and no stream, and streams to channels without tasks: both ends of one mistake.

A flow that begins or ends at the wrong channel, and a task on the wrong channel, look alike: one channel has
a task and no stream, and beside it in the tile one has a stream and no task. The design does not say which
of the two was meant, so one finding names both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.explain.names import called, port_name
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.streams.switch_config import OFF
from memtile.sim.loop.engine import Engine

_NOWHERE = "has a task, and its stream leads nowhere"
_UNFED = "has a task, and no stream leads to it"
LOOSE = (_NOWHERE, _UNFED)
"""What the first channel of a pair has and lacks."""


@dataclass(frozen=True, slots=True)
class LoosePair:
    """Two channels of which one lacks what the other has.

    Attributes:
        first: model index of the channel that has a task and no stream.
        second: that of the one beside it that has a stream and no task, or of the other end of the flow that
            is missing.
        partner: that of the channel at the other end of the second's stream, with a task; -1 = of none.
        does: of the first and of the second what they have and lack, as ends of sentences.
        text: what is wrong, as a sentence without its full stop.
        fix: how to repair it.
    """

    first: int
    second: int
    partner: int
    does: tuple[str, str]
    text: str
    fix: str


class LooseEnds:
    """The ends of streams of an array that do not fit the tasks of its channels.

    Args:
        engine: the model, configured.
        tasks: model indices of the channels that have tasks.
        may_start: whether a channel may still be given one.
        awaited: those for whose tasks a host waits: that they have none is a mistake by itself.
    """

    def __init__(
        self,
        engine: Engine,
        tasks: Collection[int] = (),
        may_start: Callable[[int], bool] = lambda _: False,
        awaited: Collection[int] = (),
    ) -> None:
        self._engine, self._tasks, self._may_start = engine, tasks, may_start
        self._awaited = awaited
        self._switch = plain(engine.state.switch)

    def pairs(self) -> Iterator[LoosePair]:
        """The mistakes that can be told by two channels."""
        loose = [ch for ch in sorted(self._tasks) if self.is_loose(ch)]
        left = list[int]()
        for ch in loose:
            found = self._beside(ch)
            if found is None:
                left.append(ch)
            else:
                yield found
        senders = [ch for ch in left if not self._receives(ch)]
        receivers = [ch for ch in left if self._receives(ch)]
        tile = self._engine.channels.tile
        if len(senders) == len(receivers) == 1 and tile[senders[0]] != tile[receivers[0]]:
            yield self._unconnected(senders[0], receivers[0])

    def doubled(self, ch: int) -> LoosePair | None:
        """The channel beside one with several tasks that has a stream and lacks a task itself.

        Args:
            ch: the one with several tasks.
        """
        c, receives = self._engine.channels, self._receives(ch)
        same = np.flatnonzero((c.tile == c.tile[ch]) & (c.direction == c.direction[ch])).tolist()
        idle = [each for each in same if each not in self._tasks and not self._may_start(each)]
        ends = self._sends_to if receives else self._fed_by
        there = [(each, other) for each in idle for other in ends(each)[:1]]
        if len(there) != 1:
            return None
        ((beside, other),) = there
        name, idle_name, other_name = (called(self._engine, each) for each in (ch, beside, other))
        verb = "sends to" if receives else "gets its words from"
        text = f"{name} has several tasks; {other_name} {verb} {idle_name}, which has none"
        does = ("has several tasks", "has a stream and no task")
        return LoosePair(ch, beside, other, does, text, f"Start one of the tasks on {idle_name}.")

    def _fed_by(self, ch: int) -> list[int]:
        """The channels with tasks that get words from an MM2S channel alone."""
        return [
            each for each, senders in self._senders.items() if each in self._tasks and set(senders) == {ch}
        ]

    def _receives(self, ch: int) -> bool:
        return bool(self._engine.channels.direction[ch] == S2MM)

    def is_loose(self, ch: int) -> bool:
        """Whether a channel has a port of the stream switch, and no stream.

        Args:
            ch: its model index.
        """
        if not self._receives(ch):
            port = int(self._engine.channels.switch_port[ch])
            return port >= 0 and (self._switch.mode[port] == OFF or self._cut(port) >= 0)
        return ch not in self._senders and (ch in self._masters or self._has_switch(ch))

    def _cut(self, port: int) -> int:
        """The port that a stream from another one comes to and that leads no further; -1 = it goes on."""
        ways = {at: configured_ways(self._engine, at) for at in self._reached(port)}
        ends = [at for at, following in ways.items() if not following]
        off = [at for at in ends if not self._switch.is_master[at] and self._switch.mode[at] == OFF]
        return off[0] if len(off) == len(ends) == 1 and off != [port] else -1

    def _reached(self, port: int) -> list[int]:
        return reached([port], partial(configured_ways, self._engine))

    def _unfed_master(self, ch: int) -> int:
        """The master port from which an S2MM channel is fed and to which nothing leads; -1 = none."""
        fed = {at for port in self._used_slaves for at in configured_ways(self._engine, port)}
        masters = (port for port in np.flatnonzero(self._switch.is_master).tolist() if port not in fed)
        ends = {port: self._reached(port) for port in masters}
        there = [
            port
            for port, way in ends.items()
            if len(way) > 1 and ch in self._switch.channel[[at for at in way if self._switch.is_master[at]]]
        ]
        return there[0] if len(there) == 1 else -1

    @cached_property
    def _used_slaves(self) -> list[int]:
        return np.flatnonzero((self._switch.is_master == 0) & (self._switch.mode != OFF)).tolist()

    def _has_switch(self, ch: int) -> bool:
        """Whether there are ports in use in the stream switch of the tile of a channel."""
        there = self._switch.tile == int(self._engine.channels.tile[ch])
        return bool((self._switch.mode[there] != OFF).any())

    @cached_property
    def _masters(self) -> set[int]:
        """The S2MM channels with a master port of their own; those of interface tiles share theirs."""
        ports = (self._switch.is_master == 1) & (self._switch.channel >= 0)
        return set(self._switch.channel[ports].tolist())

    @cached_property
    def _senders(self) -> dict[int, list[int]]:
        """By S2MM channel the MM2S channels from which a stream leads to it, -1 for what is no channel."""
        channels = {int(port): ch for ch, port in enumerate(self._engine.channels.switch_port) if port >= 0}
        inner, found = set(self._switch.link.tolist()), dict[int, list[int]]()
        for port in self._used_slaves:
            if port in inner:
                continue
            for at in reached([port], partial(configured_ways, self._engine)):
                if self._switch.is_master[at] and self._switch.channel[at] >= 0:
                    found.setdefault(int(self._switch.channel[at]), []).append(channels.get(port, -1))
        return found

    def _beside(self, ch: int) -> LoosePair | None:
        """The channel of the same tile and direction that has a stream and no task, if it is the only one."""
        c, receives = self._engine.channels, self._receives(ch)
        same = np.flatnonzero((c.tile == c.tile[ch]) & (c.direction == c.direction[ch])).tolist()
        rest = [each for each in same if each not in self._tasks and not self._may_start(each)]
        rest = [each for each in rest if each not in self._awaited]
        there = [each for each in rest if (self._sends_to(each) if receives else self._has_stream(each))]
        if len(there) != 1:
            return None
        (other,) = there
        name, beside = called(self._engine, ch), called(self._engine, other)
        fix = f"Let the flow {'end' if receives else 'begin'} at {name}, or start the task on {beside}."
        if not receives:
            text = f"{name} {_NOWHERE}; a stream begins at {beside}, which has no task"
            return LoosePair(ch, other, -1, (_NOWHERE, "has a stream and no task"), text, fix)
        sender = self._sends_to(other)[0]
        text = f"{name} {_UNFED}; {called(self._engine, sender)} sends to {beside}, which has no task"
        return LoosePair(ch, other, sender, (_UNFED, "has a stream and no task"), text, fix)

    def _has_stream(self, ch: int) -> bool:
        """Whether a stream begins at an MM2S channel."""
        port = int(self._engine.channels.switch_port[ch])
        return port >= 0 and self._switch.mode[port] != OFF

    def _sends_to(self, ch: int) -> list[int]:
        """The channels with tasks whose streams lead to a channel."""
        return [each for each in self._senders.get(ch, ()) if each in self._tasks]

    def _unconnected(self, sender: int, receiver: int) -> LoosePair:
        name, other = called(self._engine, sender), called(self._engine, receiver)
        end, fix = self._cut(int(self._engine.channels.switch_port[sender])), "Connect the two by a flow."
        where = f": it ends at {port_name(self._engine, end)}" if end >= 0 else ""
        begins = self._unfed_master(receiver) if end >= 0 else -1
        if begins >= 0:
            fix = f"Lead the stream to {port_name(self._engine, begins)}, from where {other} is fed."
        text = f"{name} {_NOWHERE}{where}; {other} {_UNFED}"
        return LoosePair(sender, receiver, -1, (_NOWHERE, _UNFED), text, fix)
