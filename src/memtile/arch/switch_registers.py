"""Stream switch registers, in the shape that the three tile kinds share (AM025, Stream_Switch_*).

Ports and bases come from :mod:`memtile.arch.ports`; offsets below are bytes above the switch's base.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memtile.arch.events import PORT_SELECTORS
from memtile.arch.ports import MERGE_ARBITERS, MERGE_POSITIONS, PORTS, SLOTS_PER_SLAVE, port_kind
from memtile.arch.registers import Access, Acts, Field, Register, fields, flags
from memtile.arch.tiles import WORD_BYTES, TileName

MASTER_CONFIG = fields("Master_Enable 31, Packet_Enable 30, Drop_Header 7, Configuration 6:0")
CIRCUIT_CONFIGURATION = fields("Slave 4:0")  # what Configuration holds in circuit mode
PACKET_CONFIGURATION = fields("Msel_Enable 6:3, Arbiter 2:0")  # and in packet mode
SLAVE_CONFIG = fields("Slave_Enable 31, Packet_Enable 30")
SLOT = fields("id 28:24, mask 20:16, enable 8, msel 5:4, arbit 2:0")
SLAVE_CONFIG_OFFSET, SLOT_OFFSET, MERGE_OFFSET = 0x100, 0x200, 0x800  # above the switch's base
MERGE_STRIDE = 0x10


@dataclass(frozen=True, slots=True)
class _Names:
    """AM025 names that differ between the tile kinds; lists of bits start at bit 0."""

    traces: tuple[str, ...]
    parity: str
    injected: str
    handler: str


_NAMES: dict[TileName, _Names] = {
    "memory": _Names(
        traces=("Trace",),
        parity="DMA_0 DMA_1 DMA_2 DMA_3 DMA_4 DMA_5 Tile_Control",
        injected="DMA_0 DMA_1 DMA_2 DMA_3 DMA_4 DMA_5 Tile_Control Mem_trace",
        handler="Tile_Control_Packet_Handler_Status",
    ),
    "compute": _Names(
        traces=("AIE_Trace", "Mem_Trace"),
        parity="Core DMA_0 DMA_1 Tile_Control",
        injected="Core DMA_0 DMA_1 Tile_Control AIE_Trace Mem_trace",
        handler="Tile_Control_Packet_Handler_Status",
    ),
    "interface": _Names(
        traces=("Trace",),
        parity="South_0 South_1 South_2 South_3 South_4 South_5 Tile_Control",
        injected="South_0 South_1 South_2 South_3 South_4 South_5 South_6 South_7 Tile_Control Shim_trace",
        handler="Control_Packet_Handler_Status",
    ),
}
_TITLES = {"CORE": "AIE_Core", "CTRL": "Tile_Ctrl", "DMA": "DMA", "FIFO": "FIFO"}


def switch_registers(tile: TileName) -> Iterator[Register]:
    """All stream switch registers of a ``tile``, in address order."""
    base, names = PORTS[tile].base, _NAMES[tile]
    yield from _port_registers(tile)
    for arbiter in range(MERGE_ARBITERS):
        yield from _merge_registers(arbiter, base + MERGE_OFFSET + arbiter * MERGE_STRIDE)
    yield from _event_ports(base + 0xF00)
    yield Register("Stream_Switch_Parity_Status", base + 0xF10, flags(names.parity.split(), Access.WTC))
    injected = flags(names.injected.split())
    yield Register("Stream_Switch_Parity_Injection", base + 0xF20, injected, acts=Acts.PARITY_INJECTION)
    errors = ["First_Header_Parity_Error", "Second_Header_Parity_Error", "SLVERR_On_Access", "Tlast_Error"]
    yield Register(names.handler, base + 0xF30, flags(errors, Access.WTC))
    gate = "Stream_Switch_Adaptive_Clock_Gate"
    keeps = Acts.KEEPS  # no switch is ever gated
    yield Register(f"{gate}_Status", base + 0xF34, fields("Active 0", Access.RO), acts=keeps)
    yield Register(f"{gate}_Abort_Period", base + 0xF38, fields("Abort_Period 3:0"), reset=7, acts=keeps)


def _port_registers(tile: TileName) -> Iterator[Register]:
    ports, traces = PORTS[tile], _NAMES[tile].traces
    base = ports.base
    masters = [_title(name, "", traces) for name in ports.masters]
    slaves = [_title(name, "_", traces) for name in ports.slaves]
    port = Register("Stream_Switch_Master_Config_{}", base, MASTER_CONFIG, acts=Acts.SWITCH_PORT)
    yield from _row(port, masters)
    port = Register(
        "Stream_Switch_Slave_Config_{}", base + SLAVE_CONFIG_OFFSET, SLAVE_CONFIG, acts=Acts.SWITCH_PORT
    )
    yield from _row(port, slaves)
    slots = [f"{slave}_Slot{n}" for slave in slaves for n in range(SLOTS_PER_SLAVE)]
    yield from _row(Register("Stream_Switch_Slave_{}", base + SLOT_OFFSET, SLOT), slots)


def _row(first: Register, names: Sequence[str]) -> Iterator[Register]:
    for n, name in enumerate(names):
        yield replace(first, name=first.name.format(name), offset=first.offset + n * WORD_BYTES)


def _title(port: str, separator: str, traces: Sequence[str]) -> str:
    kind = port_kind(port)
    number = port.removeprefix(kind)
    if kind == "TRACE":
        return traces[int(number)]
    if kind == "CTRL":
        return _TITLES[kind]
    return _TITLES.get(kind, kind.capitalize()) + ("" if kind == "CORE" else separator) + number


def _merge_registers(arbiter: int, base: int) -> Iterator[Register]:
    name = f"Stream_Switch_Deterministic_Merge_arb{arbiter}"
    for n, low in enumerate(range(0, MERGE_POSITIONS, 2)):
        high = low + 1
        layout = fields(
            f"Packet_Count_{high} 29:24, Slave_ID_{high} 20:16, Packet_Count_{low} 13:8, Slave_ID_{low} 4:0"
        )
        slaves = f"{name}_slave{low}_{high}"
        yield Register(slaves, base + n * WORD_BYTES, layout, acts=Acts.MERGE, argument=arbiter)
    yield Register(f"{name}_ctrl", base + 0x08, fields("Enable 0"), acts=Acts.MERGE, argument=arbiter)


def _event_ports(base: int) -> Iterator[Register]:
    for n, first in enumerate(range(0, PORT_SELECTORS, WORD_BYTES)):  # one selector per byte
        layout = [
            field
            for byte in reversed(range(WORD_BYTES))
            for field in (
                Field(f"Port_{first + byte}_Master_Slave", 8 * byte + 5, 8 * byte + 5),
                Field(f"Port_{first + byte}_ID", 8 * byte + 4, 8 * byte),
            )
        ]
        name = f"Stream_Switch_Event_Port_Selection_{n}"
        yield Register(name, base + n * WORD_BYTES, tuple(layout), acts=Acts.EVENT_SELECTION)


_PARITY_PORTS = {"Tile_Control": "CTRL0", "Core": "CORE0", "AIE_Trace": "TRACE0", "Shim_trace": "TRACE0"}


def parity_port(tile: TileName, field: str) -> str:
    """The port that a field of Stream_Switch_Parity_Status or Parity_Injection is about.

    In AIE-ML v2 a port has two fields for injection, for the lower and the upper word.
    """
    name = field.removesuffix("_lower").removesuffix("_upper")
    if name == "Mem_trace":  # the second one of a compute tile, after its core's
        return PORTS[tile].slaves[-1]
    return _PARITY_PORTS.get(name, name.replace("_", "").upper())
