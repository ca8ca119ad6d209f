"""``aie.utils.trace.events``: events that a tile can trace, by what raises them.

Numbers are those of ``memtile.arch.events``; names are mlir-aie's, which are the driver's.
"""

from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace
from typing import Any

from memtile.arch.events import PORT_SELECTORS, events_of
from memtile.arch.registers import ModuleName
from memtile.arch.trace_facts import PacketType as _Packet
from memtile.iron.ops.enums import DMAChannelDir, WireBundle


def _events(name: str, module: ModuleName) -> Any:
    return IntEnum(name, dict(events_of(module)), module=__name__)


CoreEventAIE2 = _events("CoreEventAIE2", "core")
MemEventAIE2 = _events("MemEventAIE2", "memory")
ShimTileEventAIE2 = _events("ShimTileEventAIE2", "pl")
MemTileEventAIE2 = _events("MemTileEventAIE2", "memory_tile")
CoreEventAIE2P = _events("CoreEventAIE2P", "core_2p")
MemEventAIE2P = _events("MemEventAIE2P", "memory_2p")
ShimTileEventAIE2P = _events("ShimTileEventAIE2P", "pl_2p")
MemTileEventAIE2P = _events("MemTileEventAIE2P", "memory_tile_2p")
CoreEvent, MemEvent, ShimTileEvent, MemTileEvent = (
    CoreEventAIE2,
    MemEventAIE2,
    ShimTileEventAIE2,
    MemTileEventAIE2,
)

_WORDS = {
    "CORE": _Packet.CORE,
    "MEM": _Packet.MEMORY,
    "SHIMTILE": _Packet.INTERFACE,
    "MEMTILE": _Packet.MEMORY_TILE,
}
PacketType = IntEnum("PacketType", {word: int(each) for word, each in _WORDS.items()}, module=__name__)  # type: ignore[misc]
"""The type of a packet says which part of a tile sent it."""
NUM_TRACE_TYPES = len(PacketType)


def get_events_for_device(device: str) -> SimpleNamespace:
    """``CoreEvent``, ``MemEvent``, ``ShimTileEvent`` and ``MemTileEvent`` of a device.

    As in mlir-aie a name with ``npu2p`` in it has those of AIE2P, any other those of AIE2.

    Raises:
        ValueError: it is of the first generation, whose events memtile does not know.
    """
    if "xcvc1902" in device:
        raise ValueError(f"{device} is of the first generation; memtile knows events of AIE-ML and later")
    suffix = "AIE2P" if "npu2p" in device else "AIE2"
    names = ("CoreEvent", "MemEvent", "ShimTileEvent", "MemTileEvent")
    return SimpleNamespace(**{name: globals()[f"{name}{suffix}"] for name in names})


def _port_events(events: Any) -> set[Any]:
    kinds = ("IDLE", "RUNNING", "STALLED", "TLAST")
    return {events[f"PORT_{kind}_{n}"] for n in range(PORT_SELECTORS) for kind in kinds}


PortEventCodes, MemTilePortEventCodes, ShimTilePortEventCodes = map(
    _port_events, (CoreEvent, MemTileEvent, ShimTileEvent)
)


class GenericEvent:
    """An event.

    Attributes:
        code: which one.
    """

    def __init__(self, code: Any) -> None:
        self.code = code

    def get_register_writes(self) -> dict[int, int]:
        """Registers that the event needs beside its number, by address; none."""
        return {}


class BasePortEvent(GenericEvent):
    """An event of a stream switch port.

    Args:
        code: the event; the number at its end is the selector that watches the port.
        port: the port's bundle.
        channel: its number there.
        master: it goes into the tile's DMA (S2MM), else out of it (MM2S).
        enum_class: the enumeration of the event.
        valid_codes: the events that are possible; None = not checked.

    Raises:
        ValueError: the event is none of a port.
    """

    def __init__(
        self,
        code: Any,
        port: WireBundle,
        channel: int,
        master: bool = True,
        enum_class: Any = None,
        valid_codes: set[Any] | None = None,
    ) -> None:
        if valid_codes is not None and code not in valid_codes:
            raise ValueError(
                f"{code!r} is no event of a port; those are PORT_IDLE_0 to PORT_TLAST_{PORT_SELECTORS - 1}"
            )
        super().__init__(code)
        self.slot = int(code.name.rpartition("_")[2])
        self.port, self.channel, self.master = port, channel, master

    @property
    def direction(self) -> Any:
        """Of the DMA channel behind the port."""
        return DMAChannelDir["S2MM" if self.master else "MM2S"]


class PortEvent(BasePortEvent):
    """An event of a port of a compute tile; arguments as those of :class:`BasePortEvent`."""

    def __init__(self, code: Any, port: WireBundle, channel: int, master: bool = True) -> None:
        super().__init__(code, port, channel, master, CoreEvent, PortEventCodes)


class MemTilePortEvent(BasePortEvent):
    """An event of a port of a memory tile; arguments as those of :class:`BasePortEvent`."""

    def __init__(self, code: Any, port: WireBundle, channel: int, master: bool = True) -> None:
        super().__init__(code, port, channel, master, MemTileEvent, MemTilePortEventCodes)


class ShimTilePortEvent(BasePortEvent):
    """An event of a port of an interface tile; arguments as those of :class:`BasePortEvent`."""

    def __init__(self, code: Any, port: WireBundle, channel: int, master: bool = True) -> None:
        super().__init__(code, port, channel, master, ShimTileEvent, ShimTilePortEventCodes)
