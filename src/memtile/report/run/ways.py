"""Where the words of each sending channel may go: switch ports on their way, and channels at its ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memtile.arch.ports import PORTS
from memtile.arch.tiles import S2MM
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.columns import NONE
from memtile.sim.engine import Engine


@dataclass(frozen=True, slots=True)
class Way:
    """A stream from its source on.

    Attributes:
        source: model index of the MM2S channel, -1 = a core.
        core: model index of the core, -1 = a channel.
        ends: model indices of the S2MM channels that it may reach.
        cores: model indices of the cores that it may reach.
        ports: model indices of the switch ports on the way.
        steps: pairs of tiles, by model index, between which it goes.
    """

    source: int
    core: int
    ends: tuple[int, ...]
    cores: tuple[int, ...]
    ports: tuple[int, ...]
    steps: tuple[tuple[int, int], ...]


def ways(engine: Engine) -> Iterator[Way]:
    """The streams of all channels in use, and of all cores whose stream port goes somewhere."""
    for ch in engine.channels_in_use():
        port = int(engine.channels.switch_port[ch])
        if engine.channels.direction[ch] != S2MM and port >= 0:
            yield _way(engine, port, ch, NONE)
    switch, tiles = plain(engine.state.switch), plain(engine.spec.tiles)
    for core, tile in enumerate(plain(engine.state.cores).tile.tolist()):
        slaves = PORTS[KIND_NAMES[tiles.kind[tile]]].slaves
        port = int(tiles.slave_base[tile]) + slaves.index("CORE0")
        if core in engine.cores.running and (switch.mode[port] or switch.held[port]):
            way = _way(engine, port, NONE, core)
            if way.ends or way.cores:
                yield way


def _way(engine: Engine, port: int, ch: int, core: int) -> Way:
    switch = plain(engine.state.switch)
    ports = reached([port], lambda at: configured_ways(engine, at))
    ends = sorted({int(switch.channel[at]) for at in ports if switch.is_master[at]} - {NONE})
    steps = [
        (int(switch.tile[at]), int(switch.tile[link]))
        for at in ports
        if switch.is_master[at] and (link := int(switch.link[at])) >= 0 and link in ports
    ]
    cores = [found for at in ports if (found := _core_behind(engine, at)) >= 0]
    return Way(ch, core, tuple(ends), tuple(cores), tuple(ports), tuple(dict.fromkeys(steps)))


def _core_behind(engine: Engine, port: int) -> int:
    """The core that takes the words of a master port; -1 = none."""
    switch, tiles = plain(engine.state.switch), plain(engine.spec.tiles)
    tile = int(switch.tile[port])
    masters = PORTS[KIND_NAMES[tiles.kind[tile]]].masters
    if not switch.is_master[port] or masters[switch.number[port]] != "CORE0":
        return NONE
    return int(tiles.core[tile])
