"""Packets that a switch does not pass on: their headers, and what the slots of their ports take instead."""

from __future__ import annotations

from memtile.arch.ports import ARBITERS, SLOTS_PER_SLAVE
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.explain.names import port_name
from memtile.jit.tables import plain
from memtile.model.streams.packets import STREAM_MASK
from memtile.sim.engine import Engine

_ENABLE, _ID, _MASK, _MSEL, _ARBITER = (
    field_of(SLOT, name) for name in ("enable", "id", "mask", "msel", "arbit")
)


def stuck_text(engine: Engine, port: int) -> str:
    """One line about the packet that stops slave port ``port``: no slot matches it, or no master takes it."""
    switch = plain(engine.state.switch)
    header = int(switch.words[port, switch.head[port]])
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
