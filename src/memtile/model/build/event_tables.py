"""The event units of a model as tables: what asserts each event, where the registers of each unit are.

It also has the switches that broadcast events between the event units of an array, and how they are linked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from memtile.arch.events import EVENT_MODULES, EVENT_UNITS, GROUPS, EventUnitFacts
from memtile.arch.ports import PORTS
from memtile.arch.register_map import TILE_MODULES, event_modules, register_map, tile_register
from memtile.arch.registers import ModuleName, Register
from memtile.arch.tiles import DIRECTIONS, TILE_KINDS, WORD_BYTES, TileName
from memtile.jit.tables import table
from memtile.model import register_tables
from memtile.model.register_tables import index_map
from memtile.model.state.columns import NONE, Ints
from memtile.model.state.event_columns import (
    ALL_CHANNELS,
    COUNTERS,
    EAST,
    NORTH,
    PER_KIND,
    SIDES,
    SOUTH,
    WEST,
    ChannelEvent,
    CoreEvent,
    EventGroups,
    EventModules,
    EventSource,
    EventUnits,
    LockEvent,
    Nodes,
    PortEvent,
    TileSignal,
)
from memtile.model.state.tile_columns import OUTSIDE, Placed, Tiles


def nodes(
    placed: Sequence[Placed], tiles: Tiles, units: EventUnits, blocks: Sequence[Sequence[Sequence[int]]]
) -> Nodes:
    """The broadcast switches, linked: within a tile from west to east, and to the tiles around.

    Vertically, like switches are linked. The row of interface tiles passes on like the others (DEV-OBS-7).
    """
    owner = [unit for unit, rows in enumerate(blocks) for _ in rows]
    of_tile: list[list[int]] = [[] for _ in placed]
    for node, unit in enumerate(owner):
        of_tile[int(units.tile[unit])].append(node)
    places = {(p.column, p.row): tile for tile, p in enumerate(placed) if p.column != OUTSIDE}
    links = np.full((len(owner), SIDES), NONE, dtype=np.int64)
    for tile, p in enumerate(placed):
        _link_tile(links, of_tile, places, tile, p)
    tile_of = [int(units.tile[unit]) for unit in owner]
    return table(
        Nodes,
        len(owner),
        unit=owner,
        tile=tile_of,
        isolation=[
            int(tiles.register_base[tile]) + _place(placed[tile].name, "Tile_Control") for tile in tile_of
        ],
        link=links,
        first_level=_controllers(placed, tiles, of_tile, _first_level),
        second_level=_controllers(placed, tiles, of_tile, _second_level),
        block=[row for rows in blocks for row in rows] or NONE,
    )


def _controllers(
    placed: Sequence[Placed],
    tiles: Tiles,
    of_tile: Sequence[list[int]],
    registers: Callable[[Placed], Sequence[int]],
) -> list[int]:
    """Mask register of an interrupt controller at each switch, -1 = none."""
    found = [NONE for nodes_ in of_tile for _ in nodes_]
    for tile, p in enumerate(placed):
        for node, register in zip(of_tile[tile], registers(p), strict=False):
            found[node] = NONE if register == NONE else int(tiles.register_base[tile]) + register
    return found


def _first_level(p: Placed) -> list[int]:
    """Of switches A and B: among the registers of an interface tile."""
    names = [f"Interrupt_controller_1st_level_mask_{switch}" for switch in "AB"]
    return [_place(p.name, name) for name in names] if _is_interface(p.name) else []


def _second_level(p: Placed) -> list[int]:
    """Of switches A and B: the controller listens at B, next to all that comes along the row (DEV-IRQ-2)."""
    has_one = _is_interface(p.name) and p.has_dma
    return [NONE, _place(p.name, "Interrupt_controller_2nd_level_mask")] if has_one else []


def _is_interface(name: TileName) -> bool:
    return TILE_KINDS[name].role == "interface"


@cache
def _place(name: TileName, register: str) -> int:
    """Index of a register among those of a tile."""
    return int(index_map(name)[tile_register(name, register).offset // WORD_BYTES])


def _link_tile(
    links: Ints, of_tile: Sequence[list[int]], places: dict[tuple[int, int], int], tile: int, p: Placed
) -> None:
    own = of_tile[tile]
    for west, east in pairwise(own):
        links[west, EAST], links[east, WEST] = east, west
    above = places.get((p.column, p.row + 1))
    if above is not None:
        for lower, upper in zip(own, of_tile[above], strict=False):
            links[lower, NORTH], links[upper, SOUTH] = upper, lower
    beside = None if p.column == OUTSIDE else places.get((p.column + 1, p.row))
    if beside is not None and own and of_tile[beside]:
        first = of_tile[beside][0]
        links[own[-1], EAST], links[first, WEST] = first, own[-1]


MODULES: tuple[ModuleName, ...] = tuple(EVENT_UNITS)
EVENTS = 1 + max(max(unit.events.values()) for unit in EVENT_UNITS.values())
_ABSENT = ""  # name of no register

_CHANNEL_EVENTS = {
    "START_TASK": ChannelEvent.START_TASK,
    "FINISHED_BD": ChannelEvent.FINISHED_BD,
    "FINISHED_TASK": ChannelEvent.FINISHED_TASK,
    "STALLED_LOCK": ChannelEvent.STALLED_LOCK,
    "STREAM_STARVATION": ChannelEvent.STREAM,
    "STREAM_BACKPRESSURE": ChannelEvent.STREAM,
    "MEMORY_BACKPRESSURE": ChannelEvent.MEMORY,
    "MEMORY_STARVATION": ChannelEvent.MEMORY,
}
_LOCK_EVENTS = {
    "ACQ_EQ": LockEvent.ACQUIRED_EQUAL,
    "ACQ_GE": LockEvent.ACQUIRED_GREATER,
    "REL": LockEvent.RELEASED,
    "EQUAL_TO_VALUE": LockEvent.EQUAL_TO_VALUE,
}
_SIGNALS = {
    "DM_ECC_ERROR_SCRUB_CORRECTED": TileSignal.SCRUB_CORRECTED,
    "DM_ECC_ERROR_SCRUB_2BIT": TileSignal.SCRUB_2BIT,
    "DM_ECC_ERROR_1BIT": TileSignal.ECC_1BIT,
    "DM_ECC_ERROR_2BIT": TileSignal.ECC_2BIT,
    "STREAM_SWITCH_PARITY_ERROR": TileSignal.STREAM_PARITY,
    "STREAM_SWITCH_PORT_PARITY_ERROR": TileSignal.STREAM_PARITY,
    "STREAM_PKT_ERROR": TileSignal.STREAM_PACKET,
    "STREAM_PKT_PARITY_ERROR": TileSignal.STREAM_PACKET,
    "CONTROL_PKT_ERROR": TileSignal.CONTROL_PACKET,
    "AXI_MM_SLAVE_ERROR": TileSignal.SLAVE_ERROR,
    "AXI_MM_DECODE_NSU_ERROR": TileSignal.DECODE_ERROR,
    "AXI_MM_SLAVE_NSU_ERROR": TileSignal.EXTERNAL_SLAVE_ERROR,
    "LOCK_ERROR": TileSignal.LOCK_ERROR,
    "DMA_TASK_TOKEN_STALL": TileSignal.TOKEN_STALL,
    **{f"WATCHPOINT_{n}": TileSignal(TileSignal.WATCHPOINT_0 + n) for n in range(4)},
    **{f"DM_PARITY_ERROR_BANK_{n}": TileSignal(TileSignal.PARITY_BANK_2 + n - 2) for n in range(2, 8)},
}
_CORE_EVENTS = {
    "MEMORY_STALL": CoreEvent.MEMORY_STALL,
    "LOCK_STALL": CoreEvent.LOCK_STALL,
    "CASCADE_STALL": CoreEvent.CASCADE_STALL,
    "STREAM_STALL": CoreEvent.STREAM_STALL,
    "DEBUG_HALTED": CoreEvent.DEBUG_HALTED,
    "ACTIVE": CoreEvent.ACTIVE,
    "DISABLED": CoreEvent.DISABLED,
    "INSTR_LOCK_ACQUIRE_REQ": CoreEvent.LOCK_ACQUIRE,
    "INSTR_LOCK_RELEASE_REQ": CoreEvent.LOCK_RELEASE,
    "INSTR_CASCADE_GET": CoreEvent.CASCADE_GET,
    "INSTR_CASCADE_PUT": CoreEvent.CASCADE_PUT,
    "INSTR_STREAM_GET": CoreEvent.STREAM_GET,
    "INSTR_STREAM_PUT": CoreEvent.STREAM_PUT,
}
_DMA = re.compile(r"DMA_(S2MM|MM2S)_(?:SEL)?(\d)_(.+)")
_DMA_ERROR = re.compile(r"DMA_(S2MM|MM2S)(?:_(\d))?_ERROR")
_LOCK = re.compile(r"LOCK_(?:SEL)?(\d)_(.+)")
_PORT = re.compile(r"PORT_(IDLE|RUNNING|STALLED|TLAST)_(\d)")
_CONFLICT = re.compile(r"CONFLICT_DM_BANK_(\d+)")


def _source(module: ModuleName, name: str) -> tuple[EventSource, int]:
    """What asserts the event ``name``: its source and the argument."""
    groups = [group.name for group in GROUPS[module]]
    if name == "TRUE":
        return EventSource.TRUE, 0
    if name in groups:
        return EventSource.GROUP, groups.index(name)
    if name in _SIGNALS:
        return EventSource.SIGNAL, int(_SIGNALS[name])
    if module == "core" and name in _CORE_EVENTS:
        return EventSource.CORE, int(_CORE_EVENTS[name])
    return _selected(name)


def _selected(name: str) -> tuple[EventSource, int]:
    """The events that come once for each selector, channel or bank."""
    if found := _DMA_ERROR.fullmatch(name):
        direction = DIRECTIONS.index(found[1])
        return EventSource.CHANNEL_ERROR, direction * PER_KIND + (int(found[2]) if found[2] else ALL_CHANNELS)
    if found := _DMA.fullmatch(name):
        selector = int(found[2]) + 2 * DIRECTIONS.index(found[1])
        return EventSource.CHANNEL, _CHANNEL_EVENTS[found[3]] * PER_KIND + selector
    if found := _LOCK.fullmatch(name):
        return EventSource.LOCK, _LOCK_EVENTS[found[2]] * PER_KIND + int(found[1])
    if found := _PORT.fullmatch(name):
        return EventSource.PORT, PortEvent[found[1]] * PER_KIND + int(found[2])
    if found := _CONFLICT.fullmatch(name):
        return EventSource.CONFLICT, int(found[1])
    return EventSource.RAISED, 0  # by its unit, or by Event_Generate alone (DEV-OBS-6)


@cache
def sources() -> Ints:
    """(module, event, [Source, argument]); int64."""
    found = np.zeros((len(MODULES), EVENTS, 2), dtype=np.int64)
    for row, module in enumerate(MODULES):
        for name, number in EVENT_UNITS[module].events.items():
            found[row, number] = _source(module, name)
    return found


@cache
def groups() -> EventGroups:
    """The groups of each module."""
    width = max(len(g) for g in GROUPS.values())
    found = table(EventGroups, len(MODULES), width)
    for row, module in enumerate(MODULES):
        for k, group in enumerate(GROUPS[module]):
            found.first[row, k], found.members[row, k] = group.first, len(group.members)
    return found


def _first(unit: EventUnitFacts, *names: str) -> int:
    return next(unit.events[name] for name in names if name in unit.events)


@cache
def modules() -> EventModules:
    """Numbers of the events that the units raise themselves."""
    units = [EVENT_UNITS[module] for module in MODULES]
    return table(
        EventModules,
        len(units),
        last=[max(u.events.values()) for u in units],
        timer_sync=[u.events["TIMER_SYNC"] for u in units],
        timer_reached=[u.events["TIMER_VALUE_REACHED"] for u in units],
        counter=[_first(u, "PERF_CNT0_EVENT", "PERF_CNT_0") for u in units],
        combo=[u.events["COMBO_EVENT_0"] for u in units],
        edge=[u.events["EDGE_DETECTION_EVENT_0"] for u in units],
        broadcast=[_first(u, "BROADCAST_0", "BROADCAST_A_0") for u in units],
    )


@cache
def named_registers(module: ModuleName) -> dict[str, Register]:
    """The registers of a module by name, without the suffix that interface tiles put behind some."""
    return {
        re.sub(r"(\d)_A$", r"\1", r.name).replace("_Ctrl", "_Control"): r
        for r in register_map(module).values()
    }


@cache
def _places(name: TileName, module: ModuleName) -> tuple[Mapping[str, int], Mapping[int, int]]:
    """Index of each register of a module among those of its tile, by name and by byte offset."""
    places = {r.offset: n for n, r in enumerate(register_tables.registers_of(name))}
    named = named_registers(module)
    if EVENT_MODULES[module] == "pl":  # DMA and locks of interface tiles
        named = named_registers(next(m for m in TILE_MODULES[name] if m.startswith("noc"))) | named
    return {register: places[r.offset] for register, r in named.items() if r.offset in places}, places


@cache
def _counter_fields(module: ModuleName) -> dict[str, tuple[str, int]]:
    """Register and lowest bit of each field that selects an event for a performance counter."""
    controls = [(n, r) for n, r in named_registers(module).items() if n.startswith("Performance_Control")]
    return {field.name: (name, field.lsb) for name, register in controls for field in register.fields}


class _RegisterFinder:
    """Indices in ``State.registers`` of the registers of one unit of one tile."""

    def __init__(self, name: TileName, module: ModuleName, base: int) -> None:
        self._named, self._places = _places(name, module)
        self._base = base

    def __call__(self, register: str) -> int:
        found = self._named.get(register)
        return NONE if found is None else self._base + found

    def group(self, offset: int) -> int:
        """The register at a byte offset."""
        return self._base + self._places[offset]


def _block_registers(find: _RegisterFinder) -> list[list[int]]:
    """Block_*_Value registers of each broadcast switch of a unit."""
    sides = ("South", "West", "North", "East")
    rows = [[find(f"Event_Broadcast{x}_Block_{side}_Value") for side in sides] for x in ("", "_A", "_B")]
    return [row for row in rows if row[0] >= 0]


def event_units(placed: Sequence[Placed], tiles: Tiles) -> tuple[EventUnits, list[list[list[int]]]]:
    """The event units of all tiles, and the blocking registers of each one's broadcast switches."""
    rows: list[dict[str, Any]] = []
    blocks: list[list[list[int]]] = []
    for tile, p in enumerate(placed):
        for n, (module, unit) in enumerate(event_modules(p.name)):
            find = _RegisterFinder(p.name, module, int(tiles.register_base[tile]))
            blocks.append(_block_registers(find))
            port = tiles.slave_base[tile] + PORTS[p.name].slave(f"TRACE{n}")
            row = list(EVENT_UNITS.values()).index(unit)
            rows.append({"tile": tile, "module": row, "trace_port": port, **_registers(find, unit, module)})
    counts = [len(block) for block in blocks]
    starts = [sum(counts[:n]) for n in range(len(counts))]
    columns = {key: [row[key] for row in rows] for key in rows[0]} if rows else {}
    return table(EventUnits, len(rows), first_node=starts, **columns), blocks


def _registers(find: _RegisterFinder, unit: EventUnitFacts, module: ModuleName) -> dict[str, Any]:
    """Where the registers of a unit are."""
    return {
        "words": unit.status_words,
        "group": find.group(unit.groups[0].register),
        "status": find("Event_Status0"),
        "broadcast": find("Event_Broadcast0"),
        "trace_control": find("Trace_Control0"),
        "trace_events": find("Trace_Event0"),
        "trigger": find("Timer_Trig_Event_Low_Value"),
        "timer_control": find("Timer_Control"),
        **_counters(find, unit, module),
        "combo": find("Combo_event_inputs"),
        "edge": find("Edge_Detection_event_control"),
        "scrubbing": find("ECC_SCRUBBING_EVENT"),
        "core": find("Core_Control"),
        "ports": find("Stream_Switch_Event_Port_Selection_0"),
        "channels": find("DMA_Event_Channel_Selection"),
        "locks": find("Locks_Event_Selection_0"),
    }


def _counters(find: _RegisterFinder, unit: EventUnitFacts, module: ModuleName) -> dict[str, Any]:
    """Where the performance counters are; those that AIE-ML v2 adds have no threshold."""
    selects = _counter_fields(module)
    starts = [selects.get(f"Cnt{n}_Start_Event", (_ABSENT, 0)) for n in range(COUNTERS)]
    resets = [selects.get(f"Cnt{n}_Reset_Event", (_ABSENT, 0)) for n in range(COUNTERS)]
    return {
        "counters": sum(name != _ABSENT for name, _ in starts),
        "count_control": [find(name) for name, _ in starts],
        "count_reset": [find(name) for name, _ in resets],
        "reset_lsb": [lsb for _, lsb in resets],
        "counter": find("Performance_Counter0"),
        "threshold": find("Performance_Counter0_Event_Value"),
        "thresholds": unit.counters,
    }


def event_facts(placed: Sequence[Placed], tiles: Tiles) -> dict[str, Any]:
    """Fields of ``Spec`` of the event units."""
    units, blocks = event_units(placed, tiles)
    switches = nodes(placed, tiles, units, blocks)
    return {
        "event_units": units,
        "event_modules": modules(),
        "event_groups": groups(),
        "event_sources": sources(),
        "nodes": switches,
    }
