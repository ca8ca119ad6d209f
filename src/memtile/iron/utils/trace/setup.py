"""``aie.utils.trace.setup``: operations that set a trace up.

Names, defaults and what is built are mlir-aie's (2026-08-14).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memtile.arch.trace_facts import SLOTS
from memtile.iron.dialects import _traces
from memtile.iron.dialects.aie import packetflow
from memtile.iron.ops.enums import AIETileType, TraceMode, TracePacketType, WireBundle
from memtile.iron.ops.target_model import tile_type_of
from memtile.iron.utils.trace.events import (
    BasePortEvent,
    CoreEvent,
    GenericEvent,
    MemEvent,
    MemTileEvent,
    MemTilePortEvent,
    PortEvent,
    ShimTileEvent,
)


@dataclass(frozen=True)
class _Traced:
    """How a part of a tile is traced.

    Attributes:
        word: in the name of its trace.
        packet: type of its packets.
        events: that its unit can record.
        defaults: recorded unless a program says others.
    """

    word: str
    packet: Any
    events: Any
    defaults: list[Any] = field(default_factory=list)


def _ports(kind: Any, events: Any, ports: Sequence[tuple[int, bool]]) -> list[Any]:
    return [
        kind(events[f"PORT_RUNNING_{slot}"], WireBundle["DMA"], channel, into)
        for slot, (channel, into) in enumerate(ports)
    ]


def _named(events: Any, names: str) -> list[Any]:
    return [events[name] for name in names.split()]


_CORE = _Traced(
    "core",
    TracePacketType["Core"],
    CoreEvent,
    _named(CoreEvent, "INSTR_EVENT_0 INSTR_EVENT_1 INSTR_VECTOR MEMORY_STALL STREAM_STALL LOCK_STALL")
    + _ports(PortEvent, CoreEvent, ((0, True), (0, False))),
)
_MEMORY = _Traced(
    "mem",
    TracePacketType["Mem"],
    MemEvent,
    _named(
        MemEvent,
        "DMA_S2MM_0_START_TASK DMA_MM2S_0_START_TASK CONFLICT_DM_BANK_0 CONFLICT_DM_BANK_1 "
        "CONFLICT_DM_BANK_2 CONFLICT_DM_BANK_3 EDGE_DETECTION_EVENT_0 EDGE_DETECTION_EVENT_1",
    ),
)
_MEMORY_TILE = _Traced(
    "memtile",
    TracePacketType["MemTile"],
    MemTileEvent,
    _ports(MemTilePortEvent, MemTileEvent, [(n, into) for into in (True, False) for n in range(SLOTS // 2)]),
)
_INTERFACE = _Traced(
    "shim",
    TracePacketType["ShimTile"],
    ShimTileEvent,
    _named(
        ShimTileEvent,
        "DMA_S2MM_0_START_TASK DMA_S2MM_1_START_TASK DMA_MM2S_0_START_TASK DMA_S2MM_0_FINISHED_TASK "
        "DMA_S2MM_1_FINISHED_TASK DMA_MM2S_0_FINISHED_TASK DMA_S2MM_0_STREAM_STARVATION "
        "DMA_S2MM_1_STREAM_STARVATION",
    ),
)

_configured: list[str] = []
"""Names of the traces that the last :func:`configure_trace` built; :func:`start_trace` starts them."""


def configure_trace(
    tiles_to_trace: Sequence[Any],
    start_broadcast: int = 15,
    stop_broadcast: int = 14,
    coretile_events: Sequence[Any] | None = None,
    coremem_events: Sequence[Any] | None = None,
    memtile_events: Sequence[Any] | None = None,
    shimtile_events: Sequence[Any] | None = None,
    core_trace_mode: Any = TraceMode["EventTime"],
) -> None:
    """``aie.trace`` for each of some tiles.

    Args:
        tiles_to_trace: tiles, or logical ones. A compute tile that is there twice has its memory traced too.
        start_broadcast: broadcast channel that starts the traces.
        stop_broadcast: the one that stops them.
        coretile_events: at most 8 events of cores; None = mlir-aie's choice. So for the following.
        coremem_events: of compute tiles' memories, which are traced then.
        memtile_events: of memory tiles.
        shimtile_events: of interface tiles.
        core_trace_mode: what is recorded of cores.

    Raises:
        ValueError: there are too many events, or two that watch different ports by one selector; a tile is
            not on the device.
    """
    _configured.clear()
    wanted = {
        "core": coretile_events,
        "mem": coremem_events,
        "memtile": memtile_events,
        "shim": shimtile_events,
    }
    for number, (tile, traced) in enumerate(_units(tiles_to_trace, coremem_events is not None), 1):
        name = f"trace_{traced.word}_{number}"
        given = wanted[traced.word]
        events = _eight(traced.defaults if given is None else given, traced, name)
        ports = _selected(events, name)
        mode = core_trace_mode if traced is _CORE else None
        _build(tile, name, traced, events, ports, mode, (start_broadcast, stop_broadcast))
        _configured.append(name)


def _units(tiles: Sequence[Any], with_memories: bool) -> list[tuple[Any, _Traced]]:
    """Tiles and what of them is traced: memories of compute tiles at the second mention, or behind all."""
    units: list[tuple[Any, _Traced]] = []
    for tile in tiles:
        kind = tile_type_of(tile)
        if kind is None:
            raise ValueError(f"{tile} cannot be traced: it is not on the device")
        if kind is AIETileType["CoreTile"]:
            units.append((tile, _MEMORY if (tile, _CORE) in units else _CORE))
        else:
            units.append((tile, _MEMORY_TILE if kind is AIETileType["MemTile"] else _INTERFACE))
    if with_memories:
        cores = [tile for tile, traced in units if traced is _CORE]
        units += [(tile, _MEMORY) for tile in cores if (tile, _MEMORY) not in units]
    return units


def _eight(given: Sequence[Any], traced: _Traced, name: str) -> list[GenericEvent]:
    """As many events as a unit has slots; NONE where none is given."""
    if len(given) > SLOTS:
        raise ValueError(f"{name}: a tile traces at most {SLOTS} events at once, not {len(given)}")
    events = [*given, *[traced.events["NONE"]] * (SLOTS - len(given))]
    return [each if isinstance(each, GenericEvent) else GenericEvent(each) for each in events]


def _selected(events: Sequence[GenericEvent], name: str) -> dict[int, tuple[Any, int, Any]]:
    """Port, channel and direction that each selector watches."""
    found: dict[int, tuple[Any, int, Any]] = {}
    for event in events:
        if isinstance(event, BasePortEvent):
            watched = (event.port, event.channel, event.direction)
            if found.setdefault(event.slot, watched) != watched:
                first, second = (" ".join(map(str, each)) for each in (found[event.slot], watched))
                raise ValueError(
                    f"{name}: selector {event.slot} watches one port, and {event.code.name} wants {second} "
                    f"where {first} is watched already: take an event with another number"
                )
    return found


def _build(
    tile: Any,
    name: str,
    traced: _Traced,
    events: Sequence[GenericEvent],
    ports: dict[int, tuple[Any, int, Any]],
    mode: Any,
    broadcasts: tuple[int, int],
) -> None:
    """``aie.trace`` of a tile; what routes it gives the packets their ids."""

    @_traces.trace(tile, name)  # type: ignore[untyped-decorator]
    def _body() -> None:
        if mode is not None:
            _traces.trace_mode(mode)
        _traces.trace_packet(type=traced.packet)
        for event in events:
            _traces.trace_event(event)
        for slot, (port, channel, direction) in ports.items():
            _traces.trace_port(slot, port, channel, direction)
        _traces.trace_start(broadcast=broadcasts[0])
        _traces.trace_stop(broadcast=broadcasts[1])


def start_trace(
    trace_size: int = 8192,
    reuse_output_buffer: bool = False,
    routing: str = "single",
    egress_shim_col: int = 0,
) -> None:
    """Start the traces in a runtime sequence, and say where the host gets them.

    Args:
        trace_size: in bytes.
        reuse_output_buffer: they go behind the last output, else into a buffer of their own.
        routing: ``single``: all to one interface tile.
        egress_shim_col: its column.
    """
    _traces.trace_host_config(
        buffer_size=trace_size,
        reuse_output_buffer=reuse_output_buffer,
        routing=routing,
        egress_shim_col=egress_shim_col,
    )
    for name in _configured:
        _traces.trace_start_config(name)


def configure_packet_ctrl_flow(
    tiles_to_trace: Sequence[Any], shim: Any, tile2shim_pkt_id: int = 28, shim2tile_pkt_id: int = 29
) -> None:
    """Packet flows of control packets between an interface tile's DMA and tiles.

    Args:
        tiles_to_trace: the tiles; one that is there twice counts once.
        shim: the interface tile.
        tile2shim_pkt_id: id of the answers.
        shim2tile_pkt_id: id of the packets.
    """
    done: list[Any] = []
    control, dma = WireBundle["TileControl"], WireBundle["DMA"]
    for tile in tiles_to_trace:
        if any(tile is each for each in done):
            continue
        done.append(tile)
        back = {"dest": shim, "port": dma, "channel": 0}
        packetflow(tile2shim_pkt_id, tile, control, 0, dests=back, keep_pkt_header=True)
        packetflow(shim2tile_pkt_id, shim, dma, 0, dests={"dest": tile, "port": control, "channel": 0})
