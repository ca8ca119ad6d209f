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


WireBundle = WordedEnum(
    "WireBundle", "Core DMA FIFO South West North East PLIO NOC Trace TileControl", start=0, module=__name__
)
CascadeDir = WordedEnum("CascadeDir", {"South": 3, "West": 4, "North": 5, "East": 6}, module=__name__)
LockAction = WordedEnum("LockAction", {"Acquire": 0, "AcquireGreaterEqual": 2, "Release": 1}, module=__name__)
LockBlocking = WordedEnum("LockBlocking", "NonBlocking Blocking", start=0, module=__name__)
AIEArch = WordedEnum("AIEArch", "AIE1 AIE2 AIE2p", module=__name__)
AIETileType = WordedEnum("AIETileType", "CoreTile MemTile ShimNOCTile ShimPLTile", start=0, module=__name__)
AIEDevice = WordedEnum(
    "AIEDevice",
    "xcvc1902 xcve2302 xcve2802 npu1 npu1_1col npu1_2col npu1_3col npu2 npu2_1col npu2_2col npu2_3col npu2_4col "
    "npu2_5col npu2_6col npu2_7col",
    module=__name__,
)
ObjectFifoPort = WordedEnum("ObjectFifoPort", "Produce Consume", start=0, module=__name__)
DMAChannelDir = WordedEnum("DMAChannelDir", "S2MM MM2S", start=0, module=__name__)
TraceMode = WordedEnum("TraceMode", "EventTime EventPC Execution", start=0, module=__name__)
TracePacketType = WordedEnum("TracePacketType", "Core Mem ShimTile MemTile", start=0, module=__name__)
ComboLogic = WordedEnum("ComboLogic", "AND AND_NOT OR OR_NOT", start=0, module=__name__)
EdgeTrigger = WordedEnum("EdgeTrigger", "RISING FALLING BOTH", module=__name__)
TraceShimRouting = WordedEnum("TraceShimRouting", "Single", start=0, module=__name__)
StateTableFunc = WordedEnum("StateTableFunc", "Mul Incr Decr", start=0, module=__name__)
ScratchpadParameterKind = WordedEnum("ScratchpadParameterKind", "Core Addr", start=0, module=__name__)
ExpandMode = WordedEnum("ExpandMode", {"none": 0, "write32": 1, "ctrlpkt": 2}, module=__name__)
CmpIPredicate = WordedEnum("CmpIPredicate", "eq ne slt sle sgt sge ult ule ugt uge", start=0, module=__name__)
CmpFPredicate = WordedEnum(
    "CmpFPredicate",
    {
        name: number
        for number, name in enumerate(
            ("AlwaysFalse OEQ OGT OGE OLT OLE ONE ORD UEQ UGT UGE ULT ULE UNE UNO AlwaysTrue").split()
        )
    },
    module=__name__,
)

_WORDS: dict[str, dict[str, str]] = {
    "TraceMode": {"EventTime": '"Event-Time"', "EventPC": '"Event-PC"', "Execution": "Execution"},
    "TracePacketType": {"Core": "core", "Mem": "mem", "ShimTile": "shimtile", "MemTile": "memtile"},
    "TraceShimRouting": {"Single": "single"},
    "StateTableFunc": {"Mul": "mul", "Incr": "incr", "Decr": "decr"},
    "ScratchpadParameterKind": {"Core": "core", "Addr": "addr"},
    "CmpFPredicate": {
        "AlwaysFalse": "false",
        "AlwaysTrue": "true",
        **{name: name.lower() for name in "OEQ OGT OGE OLT OLE ONE ORD UEQ UGT UGE ULT ULE UNE UNO".split()},
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
