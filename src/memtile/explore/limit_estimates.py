"""What a channel that limits a run would save in another design, where no run of this one shows it."""

from __future__ import annotations

import numpy as np

from memtile.access.walk import PAD, Walk, addresses
from memtile.arch.tiles import MM2S
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.planned_words import descriptor_of
from memtile.explain.limit import Limit, Resource
from memtile.explain.names import channel_name
from memtile.explain.results import ChannelUse, Result
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.state.causes import Cause
from memtile.model.streams.switch_config import PACKET
from memtile.sim.loop.engine import Engine

_TWO = 2  # channels
_PADDED = 0.25  # of the words of a channel


def one_for_all(result: Result, engine: Engine, limited: Limit) -> Limit:
    """A channel that sends packets to several others, by an estimate with a channel for each of them.

    Then the longest of its streams stays, and no other one stands before it.
    """
    sender = next((use for use in result.channels if called(use) == limited.name), None)
    ends = [] if sender is None else _packet_ends(engine, sender.name)
    words = [use.words for use in result.channels if use.name in ends]
    if sender is None or len(words) < _TWO:
        return limited
    cycles = result.cycles - sender.spent.get(Cause.MOVING, 0) + max(words)
    if limited.cycles is not None and cycles >= limited.cycles:
        return limited
    says = f"{limited.name} sends to {len(words)} others"
    return Limit(Resource.CHANNELS, says, "a channel for each of them", result.cycles, cycles, estimated=True)


def without_zeros(result: Result, engine: Engine, limited: Limit) -> Limit:
    """A channel that pads what it sends, by an estimate without the zeros."""
    use = next((use for use in result.channels if called(use) == limited.name), None)
    if use is None:
        return limited
    chains = BdChains(engine)
    walks = [
        Walk.of(descriptor_of(engine, ch, bd))
        for ch, bd in chains.present()
        if channel_name(engine, ch) == use.name
    ]
    words = sum(walk.length for walk in walks)
    zeros = sum(int((addresses(walk) == PAD).sum()) for walk in walks if walk.padded)
    if not words or zeros < _PADDED * words:
        return limited
    cycles = result.cycles - use.spent.get(Cause.MOVING, 0) * zeros // words
    if limited.cycles is not None and cycles >= limited.cycles:
        return limited
    says = f"{zeros} of {words} words of {limited.name} are zeros of its padding"
    return Limit(Resource.CHANNELS, says, "no padding", result.cycles, cycles, estimated=True)


def _packet_ends(engine: Engine, name: str) -> list[str]:
    """Names of the channels to which one sends its packets; empty without packets."""
    switch, channels = plain(engine.state.switch), engine.channels
    for ch in np.flatnonzero((channels.direction == MM2S) & (channels.switch_port >= 0)).tolist():
        first = int(channels.switch_port[ch])
        if channel_name(engine, ch) == name and switch.mode[first] == PACKET:
            ports = reached([first], lambda port: configured_ways(engine, port))
            ends = [int(switch.channel[port]) for port in ports if switch.is_master[port]]
            return [channel_name(engine, end) for end in ends if end >= 0]
    return []


def called(use: ChannelUse) -> str:
    """A channel and what it moves, for messages."""
    return f"{use.name} {use.label!r}" if use.label else use.name
