"""All that a report of a run shows, as plain data: ``schemas.page.Report`` says what is where.

Long lists of numbers are their bytes by place, deflated, as text (about one byte a number).
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.ports import PORTS
from memtile.arch.tiles import DIRECTIONS, S2MM, TILE_KINDS
from memtile.explain.bd_chains import BdChains
from memtile.explain.record import record
from memtile.explain.results import Result
from memtile.explain.switch_ways import configured_ways, reached
from memtile.explain.timeline import Timeline, Track
from memtile.jit.tables import plain
from memtile.model.checking.history_log import (
    AGENT_LSB,
    LEVEL_BIAS,
    LEVEL_LSB,
    LEVEL_MASK,
    PortDoes,
    Thing,
)
from memtile.model.checking.notes import FIRST_CHANNEL
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.columns import NONE, Ints
from memtile.report.run.descriptor_panel import UsedDescriptor, used_descriptors
from memtile.sim.loop.engine import Engine


def causes() -> dict[str, list[dict[str, str]]]:
    """By kind of track what each value means: name, text, and its colour in both schemes."""
    return {
        "channel": list(_meanings(Cause)),
        "core": list(_meanings(CoreCause)),
        "port": list(_meanings(PortDoes)),
    }


def _meanings(values: Iterable[Cause | CoreCause | PortDoes]) -> Iterator[dict[str, str]]:
    for value in values:
        yield {
            "name": value.name.lower(),
            "text": value.text,
            "light": value.colours.light.lower(),
            "dark": value.colours.dark.lower(),
        }


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


MOST = 0xFFFF_FFFF  # that a number can be
_PLACES = 4  # bytes of a number


_AT_A_TIME = 1 << 20  # numbers that are deflated together


def packed(lists: Iterable[Ints]) -> str:
    """All lists one after the other, as base64 of deflated bytes: first all lowest bytes, then the next ones.

    Args:
        lists: int64, each number from 0 to ``MOST``.

    Raises:
        ValueError: a number that does not fit.
    """
    whole = bytearray()
    for numbers in lists:
        whole += _narrow(numbers)
    places, deflater = np.frombuffer(whole, np.uint8).reshape(-1, _PLACES), zlib.compressobj(9)
    pieces = [
        deflater.compress(places[first : first + _AT_A_TIME, place].tobytes())
        for place in range(_PLACES)
        for first in range(0, len(places), _AT_A_TIME)
    ]
    return base64.b64encode(b"".join((*pieces, deflater.flush()))).decode("ascii")


def _narrow(numbers: Ints) -> bytes:
    if len(numbers) and (numbers.min() < 0 or numbers.max() > MOST):
        raise ValueError(f"a number of {numbers.min()}..{numbers.max()} does not fit into 32 bits")
    return numbers.astype("<u4").tobytes()


def unpacked(text: str) -> Ints:
    """The numbers again, all in one list."""
    places = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).reshape(_PLACES, -1)
    numbers: npt.NDArray[np.uint32] = np.ascontiguousarray(places.T).view("<u4")[:, 0]
    return numbers.astype(np.int64)


def steps(rising: Ints) -> Ints:
    """The first number and the differences from each to the next; of numbers that never fall."""
    return np.diff(rising, prepend=0)


FORMAT, VERSION = "memtile-report", 1
_LEVEL_LSB, _LEVEL_BIAS, _AGENT_LSB = 2, 64, 10  # of the value of a lock in a page


@dataclass(frozen=True, slots=True)
class Report:
    """A run and what is known of it.

    Attributes:
        engine: that it ran on, as it is at the end.
        result: of the run.
        timeline: its history.
        title: of the design: the name of its file.
        inputs: SHA-256 of the files that went in, by name.
        ignored: operations that were read and change nothing, a line each.
        command: that made it; empty if none did.
        ahead: what its front end says of the run, such as the ports of a graph; a line each.
    """

    engine: Engine
    result: Result
    timeline: Timeline
    title: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    ignored: Sequence[str] = ()
    command: str = ""
    ahead: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The run for people: what its front end says, then the result."""
        return "\n".join([*self.ahead, str(self.result)])


def report_data(report: Report) -> dict[str, Any]:
    """The report as plain data; the long lists are in ``packed``, see ``docs/report.md``."""
    timeline, history = report.timeline, report.timeline.history
    tracks, descriptors = timeline.tracks, list(used_descriptors(report.engine, timeline))
    used = sorted(set(np.flatnonzero(history.heat.sum(axis=(1, 2))).tolist()))
    bins = -(-max(history.ended - history.began, 1) // history.stretch)
    lists = chain(
        (steps(track.rows[:, 0] - history.began) for track in tracks),
        (_values(track) for track in tracks),
        (history.heat[bank, kind, :bins] for bank in used for kind in (0, 1)),
        (descriptor.order + 1 for descriptor in descriptors),
    )
    known = record(report.result, report.engine, inputs=report.inputs, ignored=report.ignored)
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": report.title,
        "command": report.command,
        "text": report.text,
        "ahead": list(report.ahead),
        "record": known,
        "began": history.began,
        "ended": history.ended,
        "causes": causes(),
        "tiles": list(_tiles(report.engine, timeline)),
        "tracks": [_track(track, report) for track in tracks],
        "agents": _agents(report, tracks),
        "locks": _locks(report, tracks),
        "ways": _ways(report, tracks),
        "banks": {
            "stretch": history.stretch,
            "bins": bins,
            "list": [_bank(report.engine, bank) for bank in used],
        },
        "descriptors": [_descriptor(each, tracks) for each in descriptors],
        "packed": packed(lists),
    }


def _tiles(engine: Engine, timeline: Timeline) -> Iterator[dict[str, Any]]:
    tiles = plain(engine.spec.tiles)
    for tile, kind in enumerate(tiles.kind.tolist()):
        yield {
            "name": timeline.tile_name(tile),
            "role": TILE_KINDS[KIND_NAMES[kind]].role,
            "column": int(tiles.column[tile]),
            "row": int(tiles.row[tile]),
        }


def _track(track: Track, report: Report) -> dict[str, Any]:
    channels = report.engine.channels
    receives = track.kind is Thing.CHANNEL and DIRECTIONS[channels.direction[track.index]] == "S2MM"
    return {
        "kind": track.kind.name.lower(),
        "name": track.name,
        "label": track.label,
        "tile": track.tile,
        "receives": receives,
        "changes": track.changes.count,
    }


def _values(track: Track) -> Ints:
    """The values of a track; of a lock in fewer bits: what was done, its value, who did it."""
    values = track.rows[:, 1]
    if track.kind is not Thing.LOCK:
        return values
    acts, levels = values & ((1 << _LEVEL_LSB) - 1), (values >> LEVEL_LSB & LEVEL_MASK) - LEVEL_BIAS
    return acts | (levels + _LEVEL_BIAS) << _LEVEL_LSB | (values >> AGENT_LSB) << _AGENT_LSB


def _agents(report: Report, tracks: Sequence[Track]) -> dict[str, dict[str, Any]]:
    """The agents that changed a lock: name, and number of the track or -1."""
    found: set[int] = set()
    for track in tracks:
        if track.kind is Thing.LOCK:
            found |= set(np.unique(track.values >> AGENT_LSB).tolist())
    at = {(track.kind, track.index): n for n, track in enumerate(tracks)}
    channels = len(report.engine.channels.tile)

    def track_of(agent: int) -> int:
        if agent < FIRST_CHANNEL + channels:
            return at.get((Thing.CHANNEL, agent - FIRST_CHANNEL), -1)
        return at.get((Thing.CORE, agent - FIRST_CHANNEL - channels), -1)

    return {str(a): {"name": report.timeline.agent_name(a), "track": track_of(a)} for a in sorted(found)}


def _givers(report: Report, chains: BdChains, lock: int) -> list[str]:
    """The parties that can release a lock, as the wait graph names them."""
    known = [f"channel {ch}" for ch in chains.ever_released.get(lock, ())]
    return known + [edge.gives for edge in report.result.waits.edges if edge.waits == f"lock {lock}"]


def _locks(report: Report, tracks: Sequence[Track]) -> dict[str, dict[str, Any]]:
    """Locks by their index in the model: name, number of the track, and the tracks of who can release it."""
    at = {(track.kind, track.index): n for n, track in enumerate(tracks)}
    names, chains = report.engine.lock_names, BdChains(report.engine)
    by_id = {f"{track.kind.name.lower()} {track.index}": n for n, track in enumerate(tracks)}
    found = {}
    for lock in sorted(track.index for track in tracks if track.kind is Thing.LOCK):
        givers = dict.fromkeys(by_id[each] for each in _givers(report, chains, lock) if each in by_id)
        found[str(lock)] = {
            "name": report.timeline.lock_name(lock),
            "label": names.get(lock, ""),
            "track": at[Thing.LOCK, lock],
            "givers": list(givers),
        }
    return found


def _ways(report: Report, tracks: Sequence[Track]) -> list[dict[str, Any]]:
    """Streams by numbers of tracks, and the tiles that they go through."""
    at = {(track.kind, track.index): n for n, track in enumerate(tracks)}
    found = []
    for way in ways(report.engine):
        source = (Thing.CHANNEL, way.source) if way.core < 0 else (Thing.CORE, way.core)
        ends = [(Thing.CHANNEL, ch) for ch in way.ends] + [(Thing.CORE, core) for core in way.cores]
        ports, to = (
            [at[thing] for thing in things if thing in at]
            for things in ([(Thing.PORT, port) for port in way.ports], ends)
        )
        if source in at:
            steps = [list(step) for step in way.steps]
            found.append({"from": at[source], "to": to, "ports": ports, "steps": steps})
    return found


def _bank(engine: Engine, bank: int) -> dict[str, Any]:
    tile = int(plain(engine.state.banks).tile[bank])
    tiles = plain(engine.spec.tiles)
    local, kind = bank - int(tiles.bank_base[tile]), TILE_KINDS[KIND_NAMES[tiles.kind[tile]]]
    return {
        "tile": tile,
        "name": f"bank {local}" if local < kind.banks else f"AXI master {local - kind.banks}",
    }


def _descriptor(used: UsedDescriptor, tracks: Sequence[Track]) -> dict[str, Any]:
    at = {id(track): n for n, track in enumerate(tracks)}
    return {
        "tile": used.tile,
        "bd": used.bd,
        "users": [at[id(track)] for track in used.users],
        "place": used.place,
        "lines": [list(line) for line in used.lines],
        "length": used.length,
        "pitch": used.pitch,
        "drawn": len(used.order),
    }
