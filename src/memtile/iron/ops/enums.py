"""Enumerations of mlir-aie's dialects: names and numbers as its Python has them, and the words of its texts.

Sources: AIEAttrs.td, AIETraceAttrs.td and AIEXAttrs.td of mlir-aie (2026-08-14); MLIR's arith dialect.
"""

from __future__ import annotations

from enum import IntEnum

from memtile.iron.ops.attributes import Attribute


class WordedEnum(IntEnum):
    """An enumeration whose members have a word in MLIR; their name, unless ``WORDS`` has another."""

    @property
    def word(self) -> str:
        """How MLIR writes it."""
        return _WORDS.get(type(self).__name__, {}).get(self.name, self.name)

    def __str__(self) -> str:
        return self.word


class WireBundle(WordedEnum):
    """A kind of port of a tile."""

    Core = 0
    DMA = 1
    FIFO = 2
    South = 3
    West = 4
    North = 5
    East = 6
    PLIO = 7
    NOC = 8
    Trace = 9
    TileControl = 10


class CascadeDir(WordedEnum):
    """A side of a tile's cascade."""

    South = 3
    West = 4
    North = 5
    East = 6


class LockAction(WordedEnum):
    """What is done to a lock."""

    Acquire = 0
    AcquireGreaterEqual = 2
    Release = 1


class LockBlocking(WordedEnum):
    """Whether a lock is waited for."""

    NonBlocking = 0
    Blocking = 1


class AIEArch(WordedEnum):
    """An architecture."""

    AIE1 = 1
    AIE2 = 2
    AIE2p = 3


class AIETileType(WordedEnum):
    """A kind of tile."""

    CoreTile = 0
    MemTile = 1
    ShimNOCTile = 2
    ShimPLTile = 3


class AIEDevice(WordedEnum):
    """A device."""

    xcvc1902 = 1
    xcve2302 = 2
    xcve2802 = 3
    npu1 = 4
    npu1_4col = 4  # its name until 2025
    npu1_1col = 5
    npu1_2col = 6
    npu1_3col = 7
    npu2 = 8
    npu2_1col = 9
    npu2_2col = 10
    npu2_3col = 11
    npu2_4col = 12
    npu2_5col = 13
    npu2_6col = 14
    npu2_7col = 15


class ObjectFifoPort(WordedEnum):
    """An end of an object FIFO."""

    Produce = 0
    Consume = 1


class DMAChannelDir(WordedEnum):
    """A direction of a DMA channel."""

    S2MM = 0
    MM2S = 1


class TraceMode(WordedEnum):
    """What a trace consists of."""

    EventTime = 0
    EventPC = 1
    Execution = 2


class TracePacketType(WordedEnum):
    """The module that a trace comes from."""

    Core = 0
    Mem = 1
    ShimTile = 2
    MemTile = 3


class ComboLogic(WordedEnum):
    """How two events make one."""

    AND = 0
    AND_NOT = 1
    OR = 2
    OR_NOT = 3


class EdgeTrigger(WordedEnum):
    """Which edge of an event counts."""

    RISING = 1
    FALLING = 2
    BOTH = 3


class TraceShimRouting(WordedEnum):
    """Where traces leave the array."""

    Single = 0


class StateTableFunc(WordedEnum):
    """What is done with a word of the scratchpad."""

    Mul = 0
    Incr = 1
    Decr = 2


class ScratchpadParameterKind(WordedEnum):
    """What a parameter of the scratchpad is for."""

    Core = 0
    Addr = 1


class ExpandMode(WordedEnum):
    """How a device is configured."""

    none = 0
    write32 = 1
    ctrlpkt = 2


class CmpIPredicate(WordedEnum):
    """A comparison of whole numbers."""

    eq = 0
    ne = 1
    slt = 2
    sle = 3
    sgt = 4
    sge = 5
    ult = 6
    ule = 7
    ugt = 8
    uge = 9


class CmpFPredicate(WordedEnum):
    """A comparison of floating-point numbers."""

    AlwaysFalse = 0
    OEQ = 1
    OGT = 2
    OGE = 3
    OLT = 4
    OLE = 5
    ONE = 6
    ORD = 7
    UEQ = 8
    UGT = 9
    UGE = 10
    ULT = 11
    ULE = 12
    UNE = 13
    UNO = 14
    AlwaysTrue = 15


_WORDS: dict[str, dict[str, str]] = {
    "TraceMode": {"EventTime": '"Event-Time"', "EventPC": '"Event-PC"', "Execution": "Execution"},
    "TracePacketType": {"Core": "core", "Mem": "mem", "ShimTile": "shimtile", "MemTile": "memtile"},
    "TraceShimRouting": {"Single": "single"},
    "StateTableFunc": {"Mul": "mul", "Incr": "incr", "Decr": "decr"},
    "ScratchpadParameterKind": {"Core": "core", "Addr": "addr"},
    "CmpFPredicate": {
        "AlwaysFalse": "false",
        "AlwaysTrue": "true",
        **{each.name: each.name.lower() for each in CmpFPredicate if each.name.isupper()},
    },
}

ENUMS: dict[str, type[WordedEnum]] = {
    "IntegerPredicate": CmpIPredicate,
    "FloatPredicate": CmpFPredicate,
    "ScratchpadKind": ScratchpadParameterKind,
    **{
        each.__name__: each
        for each in (
            WireBundle,
            CascadeDir,
            LockAction,
            LockBlocking,
            AIETileType,
            AIEDevice,
            ObjectFifoPort,
            DMAChannelDir,
            TraceMode,
            TracePacketType,
            ComboLogic,
            EdgeTrigger,
            TraceShimRouting,
            StateTableFunc,
            ExpandMode,
        )
    },
}
"""By the name that ``table`` uses."""


class EnumAttr(Attribute):
    """A member of an enumeration.

    Attributes:
        value: the member.
    """

    def __init__(self, value: WordedEnum) -> None:
        self.value = value

    def short(self) -> str:
        """Its word."""
        return self.value.word

    def __str__(self) -> str:
        return f"{int(self.value)} : i32"

    def __int__(self) -> int:
        return int(self.value)
