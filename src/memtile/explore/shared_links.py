"""Links that packets of several channels share, and the words that they may carry."""

from __future__ import annotations

import numpy as np

from memtile.arch.tiles import MM2S
from memtile.explain.names import channel_name, port_name
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.state.causes import Cause
from memtile.model.streams.switch_config import PACKET
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine


def busiest_link(engine: Engine) -> str:
    """The port that packets of several channels share and that carries most words; empty if there is none.

    Words are those of all channels whose packets may take it.
    """
    words, senders = _carried(engine)
    shared = {port: count for port, count in words.items() if len(senders[port]) > 1}
    if not shared:
        return ""
    switch = plain(engine.state.switch)
    port = max(shared, key=lambda port: (shared[port], switch.link[port] >= 0, -port))
    names = ", ".join(channel_name(engine, ch) for ch in sorted(senders[port]))
    return f"{_link_name(engine, port)}: up to {shared[port]} words of {names}"


def _link_name(engine: Engine, port: int) -> str:
    """The wire behind a master port, by the tiles at its ends; else the port."""
    switch = plain(engine.state.switch)
    if switch.link[port] < 0:
        return port_name(engine, port)
    ends = (int(switch.tile[each]) for each in (port, int(switch.link[port])))
    return "link from tile {} to tile {}".format(*(place(engine.spec, tile) for tile in ends))


def _carried(engine: Engine) -> tuple[dict[int, int], dict[int, set[int]]]:
    """Words by master port that packets may take, and the channels that send them."""
    switch, channels = plain(engine.state.switch), engine.channels
    moved = np.asarray(engine.state.spent)[:, Cause.MOVING].tolist()
    words: dict[int, int] = {}
    senders: dict[int, set[int]] = {}
    for ch in np.flatnonzero((channels.direction == MM2S) & (channels.switch_port >= 0)).tolist():
        first = int(channels.switch_port[ch])
        if not moved[ch] or switch.mode[first] != PACKET:
            continue
        for port in reached([first], lambda port: configured_ways(engine, port)):
            if switch.is_master[port]:
                words[port] = words.get(port, 0) + moved[ch]
                senders.setdefault(port, set()).add(ch)
    return words, senders
