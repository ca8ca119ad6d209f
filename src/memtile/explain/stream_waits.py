"""Words that wait in streams when nothing moves any more: where they are, and who does not take them.

Trace packets, tokens and answers to control packets are sent whether or not somebody takes them, so what
waits where they may come along is nobody's unfinished work; nor is what waits for a tile-control port.

Packets that a switch does not pass on: their headers, and what the slots of their ports take instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from memtile.arch.ports import ARBITERS, SLOTS_PER_SLAVE
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.arch.tiles import S2MM, TILE_KINDS
from memtile.explain.names import called, port_name
from memtile.explain.switch_ways import configured_ways, masters_among, reached, wired
from memtile.jit.tables import plain
from memtile.model.dma.fifo import refuses
from memtile.model.state.streams import PAIR
from memtile.model.streams.beats import lower
from memtile.model.streams.packet_flow import STREAM_MASK
from memtile.model.streams.switch_config import OFF, PACKET
from memtile.sim.loop.engine import Engine

_BEAT = max(kind.stream_words for kind in TILE_KINDS.values())  # words


@dataclass(slots=True)
class WaitingWords:
    """Words that wait when nothing moves.

    Attributes:
        ingress: by S2MM channel, in its ingress buffer.
        before: by S2MM channel, in the switches before it.
        lost: by switch port that passes nothing on, there and in the switches before it.
    """

    ingress: dict[int, int] = field(default_factory=dict)
    before: dict[int, int] = field(default_factory=dict)
    lost: dict[int, int] = field(default_factory=dict)

    def text(self, engine: Engine, ch: int) -> str:
        """Where the words wait that an S2MM channel does not take; empty = there are none."""
        places = {
            "in its ingress buffer": self.ingress.get(ch, 0),
            "in the switches before it": self.before.get(ch, 0),
            "at its port": engine.pending(ch),
        }
        return ", ".join(f"{_words(count)} {where}" for where, count in places.items() if count)

    def count(self, engine: Engine, ch: int) -> int:
        """Words that an S2MM channel does not take."""
        return self.ingress.get(ch, 0) + self.before.get(ch, 0) + engine.pending(ch)

    def lost_texts(self, engine: Engine) -> list[str]:
        """One line for each switch port that passes nothing on."""
        wait = {True: "wait, and nothing takes them", False: "waits, and nothing takes it"}
        return [f"{port_name(engine, port)}: {_words(n)} {wait[n > 1]}" for port, n in self.lost.items()]


def stream_waits(engine: Engine) -> WaitingWords:
    """The words that wait, of a model in which nothing moves."""
    held = plain(engine.state.fifos).held
    full = np.flatnonzero((engine.channels.direction == S2MM) & (held > 0)).tolist()
    filled, found = _filled(engine), WaitingWords()
    if not full and not filled:
        return found
    foreign = reached(_own_senders(engine), lambda port: configured_ways(engine, port))
    exempt = {_receiver(engine, port) for port in foreign}
    for ch in full:
        if ch not in exempt:
            found.ingress[ch] = int(held[ch])
    for port in filled:
        if port not in foreign:
            _count(engine, port, found)
    return found


def _filled(engine: Engine) -> list[int]:
    """Switch ports with words; those of tiles that have a clock are in the list of ports at work."""
    state, held = engine.state, plain(engine.state.switch).held
    ports = state.active_ports[1 : 1 + state.active_ports[0]]
    if state.gated[0] > 0:
        ports = np.arange(len(held))
    return [port for port in ports.tolist() if held[port] > 0]


def blocked_text(engine: Engine, ch: int) -> str:
    """The receiver that does not take the words of an MM2S channel, in one line."""
    port = int(engine.channels.switch_port[ch])
    if engine.catches(ch):
        return ""
    if port < 0:
        return "nothing takes its words; collect or expect them"
    if plain(engine.state.switch).mode[port] == OFF:
        return "nothing takes its words; connect it, or collect or expect them"
    takers, dead, _ = _ends(engine, port)
    if takers:
        verb = "does" if len(takers) == 1 else "do"
        return f"{', '.join(called(engine, taker) for taker in takers)} {verb} not take it"
    return "; ".join(f"nothing takes it at {port_name(engine, end)}" for end in dead)


def _words(count: int) -> str:
    return f"{count} word" if count == 1 else f"{count} words"


def _count(engine: Engine, port: int, found: WaitingWords) -> None:
    """Count the words of a port for whoever does not take them."""
    switch = plain(engine.state.switch)
    slots = (switch.head[port] + np.arange(switch.held[port])) & switch.wrap[port]
    words = len(slots) + int(np.count_nonzero(switch.last[port, slots] & PAIR)) + engine.logic.pending(port)
    takers, dead, controls = _ends(engine, port)
    for taker in takers:
        found.before[taker] = found.before.get(taker, 0) + words
    for end in () if takers or controls else (dead or [port]):
        found.lost[end] = found.lost.get(end, 0) + words


def _ends(engine: Engine, port: int) -> tuple[list[int], list[int], bool]:
    """Full S2MM channels and dead ends that a port leads to, and whether to a tile-control port."""
    switch = plain(engine.state.switch)
    ways = reached([port], lambda at: _ahead(engine, at))
    channels = sorted({_receiver(engine, at) for at in ways})
    full = [ch for ch in channels if ch >= 0 and _takes_none(engine, ch)]
    dead = [at for at in ways if _is_dead(engine, at)]
    return full, dead, any(switch.control[at] >= 0 for at in ways)


def _takes_none(engine: Engine, ch: int) -> bool:
    """Whether an S2MM channel has no room for a beat, or takes none for want of a task."""
    fifos = plain(engine.state.fifos)
    return bool(fifos.depth[ch] - fifos.held[ch] < _BEAT or refuses(engine.state, ch))


def _receiver(engine: Engine, port: int) -> int:
    """The S2MM channel behind a master port; -1 = none."""
    switch = plain(engine.state.switch)
    return int(switch.channel[port]) if switch.is_master[port] else -1


def _is_dead(engine: Engine, port: int) -> bool:
    """Whether nothing leaves the port."""
    switch = plain(engine.state.switch)
    if not switch.held[port] or _ahead(engine, port):
        return False
    return bool(_receiver(engine, port) < 0 and switch.control[port] < 0 and not switch.hosted[port])


def _ahead(engine: Engine, port: int) -> list[int]:
    """Where the word that a port offers goes."""
    switch = plain(engine.state.switch)
    if switch.is_master[port] or switch.mode[port] != PACKET:
        return wired(engine, port)
    return [] if switch.unrouted[port] else masters_among(engine, port, int(switch.targets[port]))


def _own_senders(engine: Engine) -> list[int]:
    """Slave ports at which tiles send of their own accord: traces, tokens and answers."""
    ports = [*plain(engine.spec.event_units).trace_port, *plain(engine.state.controls).slave_port]
    return [int(port) for port in ports if port >= 0]


def traced_channels(engine: Engine) -> set[int]:
    """S2MM channels to which the words of trace units may come."""
    switch = plain(engine.state.switch)
    ports = [int(port) for port in plain(engine.spec.event_units).trace_port if port >= 0]
    ways = reached([port for port in ports if switch.mode[port] != OFF], partial(configured_ways, engine))
    return {int(switch.channel[at]) for at in ways if switch.is_master[at] and switch.channel[at] >= 0}


_ENABLE, _ID, _MASK, _MSEL, _ARBITER = (
    field_of(SLOT, name) for name in ("enable", "id", "mask", "msel", "arbit")
)


def stuck_text(engine: Engine, port: int) -> str:
    """One line about the packet that stops slave port ``port``: no slot matches it, or no master takes it."""
    switch = plain(engine.state.switch)
    header = lower(int(switch.words[port, switch.head[port]]))
    stream = header & STREAM_MASK
    text = f"{port_name(engine, port)}: a packet is stuck, header {header:#010x}, stream id {stream}: "
    slots = [slot for slot in _slots(engine, port) if _ENABLE.get(slot)]
    for slot in slots:
        if (stream ^ _ID.get(slot)) & _MASK.get(slot) == 0:
            arbiter, msel = _ARBITER.get(slot), _MSEL.get(slot)
            return f"{text}no master takes arbiter {arbiter}, msel {msel}{_takers(engine, port, arbiter)}"
    taken = ", ".join(f"id {_ID.get(slot)} mask {_MASK.get(slot):#04x}" for slot in slots)
    return f"{text}no slot matches it; enabled are {taken or 'none'}"


def _slots(engine: Engine, port: int) -> list[int]:
    """The slot registers of a slave port."""
    switch, tiles = plain(engine.state.switch), plain(engine.spec.tiles)
    tile = int(switch.tile[port])
    first = tiles.register_base[tile] + plain(engine.spec.kinds).slot_config[tiles.kind[tile]]
    first += switch.number[port] * SLOTS_PER_SLAVE
    found: list[int] = engine.state.registers[first : first + SLOTS_PER_SLAVE].tolist()
    return found


def _takers(engine: Engine, port: int, arbiter: int) -> str:
    """Which msels of the arbiter have masters."""
    tile = int(plain(engine.state.switch).tile[port])
    masters = engine.state.arbiters.masters[tile * ARBITERS + arbiter]
    used = [str(msel) for msel, bits in enumerate(masters.tolist()) if bits]
    return f"; its masters take msel {', '.join(used)}" if used else ""
