"""Stream switch ports of the three tile kinds and what may be connected to what.

Source: the open driver's stream switch tables, port order checked against the AM025 register names; AM020
chapter 5 for "same id only" through the memory tile. Positions are port indices, as in the configuration
registers. Only circuit connections are limited; packet routing may use any pair (driver).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

from memtile.arch.tiles import TILE_KINDS, Role, TileName
from memtile.errors import DesignError

SLOTS_PER_SLAVE = 4
ARBITERS, MSELS = 8, 4  # of the packet switch of a tile (AM025 slot registers)
FIFO_WORDS = 16  # depth of the stream FIFO of compute and interface switches (AM020 chapter 2)
MERGE_ARBITERS, MERGE_POSITIONS = 2, 4  # deterministic merge: arbiters that can do it, slaves of each


@dataclass(frozen=True, slots=True)
class PortLayout:
    """The ports of one switch.

    Attributes:
        base: byte offset of the switch registers in the tile.
        masters: names of the outgoing ports, by index; S2MM channels are ``DMAn`` masters.
        slaves: names of the incoming ports, by index; MM2S channels are ``DMAn`` slaves.
        circuit: slave kind -> masters that it may reach in circuit mode, space separated: ``DMA`` any DMA
            port, ``DMA=`` the one with the slave's number, ``DMA5`` that one.
        fifos: stream FIFOs of the switch.
    """

    base: int
    masters: tuple[str, ...]
    slaves: tuple[str, ...]
    circuit: Mapping[str, str]
    fifos: int

    def master(self, name: str) -> int:
        """Index of master port ``name``; raises :class:`DesignError` when there is none."""
        return _index("master", self.masters, name)

    def slave(self, name: str) -> int:
        """Index of slave port ``name``; raises :class:`DesignError` when there is none."""
        return _index("slave", self.slaves, name)


def _index(side: str, names: tuple[str, ...], name: str) -> int:
    if name in names:
        return names.index(name)
    near = get_close_matches(name.upper(), names, 1)
    raise DesignError.of(
        f"{side} port",
        repr(name),
        f"one of {', '.join(names)}",
        next_step=f"Did you mean {near[0]}?" if near else "",
        reason="port",
        where="stream switch",
        source="AM025 stream switch registers",
    )


def _ports(**counts: int) -> tuple[str, ...]:
    return tuple(f"{kind}{n}" for kind, count in counts.items() for n in range(count))


_MEMORY = PortLayout(
    base=0xB0000,
    masters=_ports(DMA=6, CTRL=1, SOUTH=4, NORTH=6),
    slaves=_ports(DMA=6, CTRL=1, SOUTH=6, NORTH=4, TRACE=1),
    circuit=MappingProxyType(
        {
            "DMA": "DMA= CTRL SOUTH NORTH",
            "CTRL": "DMA5 SOUTH NORTH",
            "SOUTH": "DMA CTRL SOUTH= NORTH=",
            "NORTH": "DMA CTRL SOUTH= NORTH=",
            "TRACE": "DMA5 SOUTH",
        }
    ),
    fifos=0,
)

_COMPUTE = PortLayout(
    base=0x3F000,
    masters=_ports(CORE=1, DMA=2, CTRL=1, FIFO=1, SOUTH=4, WEST=4, NORTH=6, EAST=4),
    slaves=_ports(CORE=1, DMA=2, CTRL=1, FIFO=1, SOUTH=6, WEST=4, NORTH=4, EAST=4, TRACE=2),
    circuit=MappingProxyType(
        {
            "CORE": "DMA CTRL FIFO SOUTH WEST NORTH EAST",
            "DMA": "CORE DMA= CTRL FIFO SOUTH WEST NORTH EAST",
            "CTRL": "CORE FIFO SOUTH WEST NORTH EAST",
            "FIFO": "CORE DMA CTRL FIFO SOUTH WEST NORTH EAST",
            "SOUTH": "CORE DMA CTRL FIFO SOUTH= WEST NORTH EAST",
            "WEST": "CORE DMA CTRL FIFO SOUTH WEST= NORTH EAST",
            "NORTH": "CORE DMA CTRL FIFO SOUTH WEST NORTH= EAST",
            "EAST": "CORE DMA CTRL FIFO SOUTH WEST NORTH EAST=",
            "TRACE": "DMA0 FIFO SOUTH",
        }
    ),
    fifos=1,
)

_INTERFACE = PortLayout(
    base=0x3F000,
    masters=_ports(CTRL=1, FIFO=1, SOUTH=6, WEST=4, NORTH=6, EAST=4),
    slaves=_ports(CTRL=1, FIFO=1, SOUTH=8, WEST=4, NORTH=4, EAST=4, TRACE=1),
    circuit=MappingProxyType(
        {
            "CTRL": "FIFO SOUTH WEST NORTH EAST",
            "FIFO": "CTRL FIFO SOUTH WEST NORTH EAST",
            "SOUTH": "CTRL FIFO SOUTH WEST NORTH EAST",
            "WEST": "CTRL FIFO SOUTH WEST= NORTH EAST",
            "NORTH": "CTRL FIFO SOUTH WEST NORTH= EAST",
            "EAST": "CTRL FIFO SOUTH WEST NORTH EAST=",
            "TRACE": "FIFO SOUTH",
        }
    ),
    fifos=1,
)

_PORTS: Mapping[Role, PortLayout] = {"memory": _MEMORY, "compute": _COMPUTE, "interface": _INTERFACE}
PORTS: Mapping[TileName, PortLayout] = MappingProxyType(
    {name: _PORTS[kind.role] for name, kind in TILE_KINDS.items()}  # the same ports in AIE-ML v2 (DEV-V2-2)
)

# Interface tile: what the DMA channels are wired to (AM020 chapter 6; driver). Mux_Config chooses the source
# of a South slave, Demux_Config the destination of a South master, by the values below.
DMA_SLAVES = ("SOUTH3", "SOUTH7")  # MM2S 0 and 1 enter the switch here
DMA_MASTERS = ("SOUTH2", "SOUTH3")  # S2MM 0 and 1 leave the switch here
SOUTH_ATTACHMENT: Mapping[str, int] = MappingProxyType({"PL": 0, "DMA": 1, "NoC": 2})
MUX_BITS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"SOUTH2": (9, 8), "SOUTH3": (11, 10), "SOUTH6": (13, 12), "SOUTH7": (15, 14)}
)
DEMUX_BITS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"SOUTH2": (5, 4), "SOUTH3": (7, 6), "SOUTH4": (9, 8), "SOUTH5": (11, 10)}
)

# A master in one direction is wired to the slave of the opposite name, same number, in the tile that many
# columns and rows away (AM020 chapter 2).
WIRES: Mapping[str, tuple[str, int, int]] = MappingProxyType(
    {"NORTH": ("SOUTH", 0, 1), "SOUTH": ("NORTH", 0, -1), "EAST": ("WEST", 1, 0), "WEST": ("EAST", -1, 0)}
)


def port_kind(name: str) -> str:
    """The kind of a port: its name without the number."""
    return name.rstrip("0123456789")


def circuit_allowed(tile: TileName, slave: str, master: str) -> bool:
    """Whether the switch of a ``tile`` can connect ``slave`` to ``master`` in circuit mode.

    Raises:
        DesignError: the switch has no such port.
    """
    ports = PORTS[tile]
    ports.slave(slave)
    ports.master(master)
    return (slave, master) in _circuits(tile)


@cache
def _circuits(tile: TileName) -> frozenset[tuple[str, str]]:
    return frozenset((slave, master) for slave in PORTS[tile].slaves for master in _reach(PORTS[tile], slave))


def _reach(ports: PortLayout, slave: str) -> Iterator[str]:
    kind = port_kind(slave)
    rules = [rule.replace("=", slave.removeprefix(kind)) for rule in ports.circuit[kind].split()]
    return (master for master in ports.masters if master in rules or port_kind(master) in rules)
