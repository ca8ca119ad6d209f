"""Tokens that a host waits for in vain: tasks that ask for none, and ways that a token does not pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from memtile.arch.ports import PORTS
from memtile.arch.register_map import register_named
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.arch.tiles import TILE_KINDS
from memtile.explain.bd_findings import line_of
from memtile.explain.names import called, port_name
from memtile.explain.switch_ways import packet_ways, reached, slots
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.streams.packet_flow import STREAM_MASK
from memtile.model.streams.switch_config import PACKET
from memtile.sim.loop.engine import Engine

CONTROLLER = register_named("memory_tile", "DMA_S2MM_0_Ctrl").field("Controller_ID")
"""The id that the tokens of a channel carry, in its control register; the same bits in every kind of tile."""
_ID = field_of(SLOT, "id")
_FIRMWARE = "SOUTH0"  # port of an interface tile
_FEW = 3  # lines that a sentence names


def silent_tasks(places: Sequence[str]) -> tuple[str, str]:
    """What tasks do that ask for no token, by the places of their starts, and the repair."""
    lines = list(dict.fromkeys(line_of(place) for place in places if place))
    if not lines:
        return (
            f"{len(places)} of its tasks ask for none",
            "Let the task ask for a token (issue_token, token=True).",
        )
    fix = f"Let the task started in {lines[-1]} ask for a token (issue_token)."
    if len(places) == 1:
        return f"its task started in {lines[0]} asks for no token", fix
    return f"{len(places)} of its tasks ask for no token ({', '.join(lines[-_FEW:])})", fix


def unfed(engine: Engine, ch: int, says: str, hosts: Sequence[str]) -> tuple[str, str]:
    """What is wrong with a channel to which nothing sends, and the repair.

    A host that waits for its end may mean the channel with the same number in the other direction.

    Args:
        engine: the model.
        ch: model index of the channel.
        says: that it waits, as a sentence without its full stop.
        hosts: that wait for its end, as messages name them.
    """
    c = engine.channels
    here = (c.tile == c.tile[ch]) & (c.direction != c.direction[ch]) & (c.number == c.number[ch])
    same = np.flatnonzero(here).tolist()
    if not hosts or not any(c.tasks_done[each] for each in same):
        return says, "Connect it, or feed its words."
    name, other = called(engine, ch), called(engine, same[0])
    return (
        f"{hosts[0]} waits for {name}, to which nothing sends; {other} has had tasks",
        f"Let it wait for {other}, or connect {name}.",
    )


def token_is_stuck(engine: Engine, ch: int) -> bool:
    """Whether tokens wait in the tile of a channel."""
    tile, controls = int(engine.channels.tile[ch]), plain(engine.state.controls)
    port = int(controls.slave_port[tile])
    return bool(controls.held[tile] or (port >= 0 and plain(engine.state.switch).held[port]))


def gets_out(engine: Engine, ch: int) -> bool:
    """Whether the switches lead the tokens of a channel, with the id that its register has, to firmware."""
    port = int(plain(engine.state.controls).slave_port[int(engine.channels.tile[ch])])
    switch, tiles = plain(engine.state.switch), plain(engine.spec.tiles)
    controller = CONTROLLER.get(int(engine.channels.control[ch])) & STREAM_MASK
    for at in reached([port], partial(packet_ways, engine, controller)) if port >= 0 else ():
        kind = KIND_NAMES[int(tiles.kind[switch.tile[at]])]
        if not switch.is_master[at] or TILE_KINDS[kind].role != "interface":
            continue  # other tiles have a port of that name too, through which tokens pass
        if PORTS[kind].masters[int(switch.number[at])] == _FIRMWARE:
            return True
    return False


def stuck_token(engine: Engine, ch: int) -> tuple[str, str]:
    """Where a token of a channel is stuck, as the end of a sentence, and the repair."""
    port = int(plain(engine.state.controls).slave_port[int(engine.channels.tile[ch])])
    controller = CONTROLLER.get(int(engine.channels.control[ch])) & STREAM_MASK
    follow = partial(packet_ways, engine, controller)
    mode = plain(engine.state.switch).mode
    ends = (
        [at for at in reached([port], follow) if mode[at] == PACKET and not follow(at)] if port >= 0 else []
    )
    ids = [_ID.get(slot) for slot in slots(engine, ends[0])] if ends else []
    if not ids:
        fix = "Connect the tile-control port to SOUTH0 of the interface tile."
        return "is sent and does not leave its tile", fix
    taken, where = " and ".join(map(str, ids)), port_name(engine, ends[0])
    does = f"is stuck at {where}: its controller id is {controller}, and the port takes {taken}"
    return does, f"Give the tile the controller id {ids[0]}, or the packet flow id {controller}."
