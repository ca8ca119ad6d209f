"""``aie.dialects._aie_enum_gen``: enumerations of mlir-aie."""

from memtile.iron.ops.enums import (
    AIEArch,
    AIEDevice,
    AIETileType,
    CascadeDir,
    ComboLogic,
    DMAChannelDir,
    EdgeTrigger,
    LockAction,
    LockBlocking,
    ObjectFifoPort,
    TraceMode,
    TracePacketType,
    TraceShimRouting,
    WireBundle,
)

__all__ = [
    "AIEArch",
    "AIEDevice",
    "AIETileType",
    "CascadeDir",
    "ComboLogic",
    "DMAChannelDir",
    "EdgeTrigger",
    "LockAction",
    "LockBlocking",
    "ObjectFifoPort",
    "TraceMode",
    "TracePacketType",
    "TraceShimRouting",
    "WireBundle",
]
