"""What the host does in a measurement: register accesses by AM025 names, in the order of the calls."""

from __future__ import annotations

from typing import NamedTuple

from memtile.arch.devices import Device
from memtile.arch.events import EVENT_MODULES, EVENTS
from memtile.arch.ports import PORTS
from memtile.arch.register_map import TILE_MODULES, register_named
from memtile.arch.registers import ModuleName, packed
from memtile.arch.tiles import DIRECTIONS, MM2S, TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.arch.trace_facts import EVENT_REGISTERS, MODULES
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN, DmaAddress
from memtile.runs.firmware import PATCH
from memtile.runs.operations import BlockWrite, Operation, Other, Write, address_of
from memtile.runs.waits import WAIT

Place = tuple[int, int]
"""Column and row."""
TRACE_BD = 15  # of the interface tile in column 0, for what the trace units send
TRACE_WORDS = 4096
LAST_BD = 14
LAST_CHANNELS = 1, 5  # MM2S of the interface tile, S2MM of the memory tile
START, STOP = "USER_EVENT_0", "USER_EVENT_1"  # of the interface tile; they are broadcast
START_CHANNEL, STOP_CHANNEL = 15, 14
TOKEN_ID = 15
_LAST_MEMORY_BD = 40
_LAST_WORDS = 16
_TOKEN = register_named("noc", "DMA_MM2S_0_Task_Queue").field("Enable_Token_Issue").mask
_SCRATCH_BYTES = 0x100  # at the end of the memory tile, where nothing else is
_INTERFACE, _MEMORY = (0, 0), (0, 1)
_PACKET_TYPES = {module: kind for kind, module in MODULES.items()}
_SLOTS = 4  # of an event register
_PORTS = 4  # of a register that selects ports


class RunningPort(NamedTuple):
    """A port of a stream switch whose PORT_RUNNING is wanted; ``master`` = where words leave the switch."""

    name: str
    master: bool = False


class Traced(NamedTuple):
    """A trace unit: where it is, and the events of its slots."""

    place: Place
    module: ModuleName
    events: tuple[str, ...]


class ScriptFlow(NamedTuple):
    """A stream that the design asks for: bundle and number of a port at both ends; a packet id, or None."""

    source: Place
    source_port: tuple[str, int]
    target: Place
    target_port: tuple[str, int]
    packet: int | None = None


class Script:
    """The accesses of one measurement.

    Args:
        device: that it is for.

    Attributes:
        operations: in order.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.operations: list[Operation] = []

    def kind(self, place: Place) -> TileKind:
        """What the tile at a place is."""
        return TILE_KINDS[self.device.tile(*place)]

    def write(self, place: Place, offset: int, value: int) -> None:
        """Write a word of a tile."""
        self.operations.append(Write(address_of(*place, offset), value, firmware=True))

    def words(self, place: Place, offset: int, values: tuple[int, ...]) -> None:
        """Write consecutive words of a tile at once."""
        self.operations.append(BlockWrite(address_of(*place, offset), values, firmware=True))

    def register(self, place: Place, module: ModuleName, name: str, **fields: int) -> None:
        """Write a register: fields that are not given are 0."""
        found = register_named(self._module(place, module), name)
        self.write(place, found.offset, packed(found.fields, **fields))

    def event(self, place: Place, module: ModuleName, name: str) -> None:
        """Generate an event of a module."""
        self.register(place, module, "Event_Generate", Event=EVENTS[module][name])

    def lock(self, place: Place, number: int, value: int) -> None:
        """Give a lock a value."""
        kind = self.kind(place)
        self.write(place, kind.lock_value_base + number * kind.lock_value_stride, value)

    def bd(self, place: Place, number: int, descriptor: Descriptor) -> None:
        """Write a descriptor."""
        kind = self.kind(place)
        self.words(place, kind.bd_base + number * kind.bd_stride, tuple(encode(descriptor, number)))

    def patch(self, number: int, argument: int) -> None:
        """Have a descriptor of the interface tile begin where an argument of the host does."""
        kind = self.kind(_INTERFACE)
        at = address_of(*_INTERFACE, kind.bd_base + number * kind.bd_stride + WORD_BYTES)
        details = (("action", 0), ("address", at), ("argument", argument), ("offset", 0))
        self.operations.append(Other(PATCH, b"", details, firmware=True))

    def push(self, place: Place, direction: str, channel: int, bd: int, *, token: bool = False) -> None:
        """Queue a task of one run, with a token at its end or without."""
        kind = self.kind(place)
        ch = DIRECTIONS.index(direction) * kind.channels + channel
        self.write(place, kind.queue_base + ch * kind.channel_stride, bd | token * _TOKEN)

    def select_channels(self, place: Place) -> None:
        """Events SEL0 of a memory tile are about channels 0, SEL1 about channels 1."""
        fields = {"S2MM_Sel1_Channel": 1, "MM2S_Sel1_Channel": 1}
        self.register(place, "memory_tile", "DMA_Event_Channel_Selection", **fields)

    def select_ports(self, place: Place, module: ModuleName, ports: tuple[RunningPort, ...]) -> None:
        """The ports that the events PORT_RUNNING_0 and following are about."""
        table = PORTS[self.device.tile(*place)]
        for first in range(0, len(ports), _PORTS):
            fields = {}
            for n, port in enumerate(ports[first : first + _PORTS], first):
                fields[f"Port_{n}_ID"] = (table.master if port.master else table.slave)(port.name)
                fields[f"Port_{n}_Master_Slave"] = int(port.master)
            self.register(place, module, f"Stream_Switch_Event_Port_Selection_{first // _PORTS}", **fields)

    def let_pass(self, accesses: int) -> None:
        """Let the time of so many accesses pass."""
        for _ in range(accesses):
            self.write(_MEMORY, self._scratch, 0)

    def block(self, words: int) -> None:
        """Write a block of so many words where they do nothing."""
        self.words(_MEMORY, self._scratch, (0,) * words)

    def trace(self, units: tuple[Traced, ...], buffer: Descriptor) -> None:
        """Set trace units up, have their packets written to argument 0, and start them."""
        for number, unit in enumerate(units):
            self._unit(number, unit)
        self.bd(_INTERFACE, TRACE_BD, buffer)
        self.patch(TRACE_BD, 0)
        self.push(_INTERFACE, "S2MM", 1, TRACE_BD)
        for channel, name in ((START_CHANNEL, START), (STOP_CHANNEL, STOP)):
            self.register(_INTERFACE, "pl", f"Event_Broadcast{channel}_A", Event=EVENTS["pl"][name])
        self.event(_INTERFACE, "pl", START)

    def stop(self) -> None:
        """Stop the trace units, let their last packets leave, and wait for a last task, as runtimes want."""
        self.event(_INTERFACE, "pl", STOP)
        self.let_pass(20)
        interface = self.device.tile(*_INTERFACE)
        self.bd(_INTERFACE, LAST_BD, Descriptor(interface, _LAST_WORDS, DmaAddress(0)))
        self.patch(LAST_BD, 0)
        memory, at = self.device.tile(*_MEMORY), OWN.address(self._scratch // WORD_BYTES)
        self.bd(_MEMORY, _LAST_MEMORY_BD, Descriptor(memory, _LAST_WORDS, at))
        self.push(_MEMORY, "S2MM", LAST_CHANNELS[1], _LAST_MEMORY_BD)
        self.register(_INTERFACE, "noc", "DMA_MM2S_1_Ctrl", Controller_ID=TOKEN_ID)
        self.push(_INTERFACE, "MM2S", LAST_CHANNELS[0], LAST_BD, token=True)
        said = {"column": 0, "row": 0, "direction": MM2S, "channel": LAST_CHANNELS[0]}
        details = (*said.items(), ("columns", 1), ("rows", 1))
        self.operations.append(Other(WAIT, b"", details, firmware=True))

    @property
    def _scratch(self) -> int:
        return self.kind(_MEMORY).memory_bytes - _SCRATCH_BYTES

    def _unit(self, number: int, unit: Traced) -> None:
        events = EVENTS[unit.module]
        place, module = unit.place, unit.module
        for n, name in enumerate(EVENT_REGISTERS):
            traced = unit.events[n * _SLOTS : (n + 1) * _SLOTS]
            fields = {f"Trace_Event{n * _SLOTS + at}": events[event] for at, event in enumerate(traced)}
            self.register(place, module, name, **fields)
        self.register(place, module, "Trace_Control1", Packet_Type=int(_PACKET_TYPES[module]), ID=number + 1)
        limits = START, STOP
        if module != "pl":
            limits = f"BROADCAST_{START_CHANNEL}", f"BROADCAST_{STOP_CHANNEL}"
        starts, stops = (events[name] for name in limits)
        self.register(place, module, "Trace_Control0", Trace_Start_Event=starts, Trace_Stop_Event=stops)

    def _module(self, place: Place, module: ModuleName) -> ModuleName:
        """The module of the device's generation that stands for one of AIE-ML."""
        tile: TileName = self.device.tile(*place)
        return next(m for m in TILE_MODULES[tile] if EVENT_MODULES.get(m, m) == module)
