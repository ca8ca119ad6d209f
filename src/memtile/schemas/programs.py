"""Register writes: what ``memtile disasm`` writes, and a register dump as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

from memtile.documents import Count, Hex, Positive, Word, limited, one_of
from memtile.io.program.program_formats import Format
from memtile.schemas.common import Descriptor, Line, Problem, Tile, Words

_DIGITS = "^(0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32})$"
_Digits = Annotated[str, Meta(pattern=_DIGITS)]
_Place = Annotated[
    Annotated[int, Meta(ge=0, extra_json_schema={"maximum": (1 << 64) - 1})] | _Digits,
    Meta(description="Absolute byte address, column << 25 | row << 20 | offset."),
]
_Value = Annotated[int, Meta(ge=0, le=(1 << 32) - 1)] | _Digits
_Address = Annotated[str, Meta(pattern="^0x[0-9A-F]{8,}$")]
_Offset = Annotated[str, Meta(pattern="^0x[0-9A-F]{5,}$", description="Byte offset in the tile.")]


@limited(additionalProperties=True)
class DumpedWrite(TypedDict):
    """A register and its value."""

    address: _Place
    value: _Value


RegisterDump = Annotated[Any, one_of(list[DumpedWrite], dict[_Digits, _Value])]


class DumpedArray(TypedDict):
    """The array that a file is for."""

    columns: Count
    rows: Count
    memory_tile_rows: Count


class MemoryRange(TypedDict):
    """Consecutive words of data or program memory."""

    name: str
    offset: _Offset
    words: Annotated[int, Meta(ge=2)]


class RegisterValue(TypedDict):
    """A register with its fields."""

    name: str
    offset: _Offset
    value: Word
    mask: Word
    fields: dict[str, int]


class NoDescriptor(TypedDict):
    """Words of a BD that are not a descriptor."""

    bd: Count
    words: Words
    error: str


class WrittenDescriptor(TypedDict):
    """A BD that is complete after an operation."""

    bd: Count
    words: Words
    descriptor: Descriptor
    lines: list[Line]
    problems: list[Problem]


class Meaning(TypedDict):
    """What an operation means."""

    place: Annotated[str, Meta(description="Byte or line of the file.")]
    registers: list[Annotated[Any, one_of(MemoryRange, RegisterValue)]]
    remarks: Annotated[list[str], Meta(description="Started tasks, lock values and so on; texts for people.")]
    descriptors: Annotated[
        list[Annotated[Any, one_of(NoDescriptor, WrittenDescriptor)]],
        Meta(description="BDs that are complete after this operation."),
    ]


class Located(Meaning):
    """An operation on an address, and where it is; null outside of all tiles."""

    address: _Address
    tile: Tile | None
    column: Count
    row: Count
    offset: _Offset


class WriteOperation(Located):
    """A register gets a value."""

    operation: Literal["write"]
    value: Word


class BlockOperation(Located):
    """Consecutive registers get values."""

    operation: Literal["block write"]
    words: Words


class MaskedOperation(Located):
    """Some bits of a register get values, or are waited for."""

    operation: Literal["mask write", "mask poll"]
    mask: Word
    value: Word


class OtherOperation(Meaning):
    """An operation of the firmware."""

    operation: Literal["other"]
    name: str
    bytes: Count
    details: dict[str, int]


Operation = Annotated[Any, one_of(WriteOperation, BlockOperation, MaskedOperation, OtherOperation)]


class Disassembled(TypedDict):
    """A file of register writes, each with what it means."""

    file: str
    format: Format
    title: str
    array: DumpedArray
    operations: list[Operation]


DisasmOutput = Annotated[Any, one_of(Disassembled, list[Disassembled])]


class Route(TypedDict):
    """A way of words through the stream switches.

    Attributes:
        packet_id: Id of the packets that go this way; null = a circuit.
        packet_mask: The bits of the id that count.
    """

    source: str
    target: str
    packet_id: Count | None
    packet_mask: Count | None


class StartedTask(TypedDict):
    """A task that the file starts.

    Attributes:
        chain: BD numbers, as linked when the task is started.
        ring: Whether the chain loops back.
    """

    channel: str
    chain: list[Count]
    words: list[Count]
    ring: bool
    runs: Positive
    token: bool


class LockValue(TypedDict):
    """A lock that the file sets."""

    column: Count
    row: Count
    lock: Count
    value: Count


class EnabledCore(TypedDict):
    """A core that is enabled."""

    column: Count
    row: Count


class LoadedMemory(TypedDict):
    """A tile whose memories the file fills."""

    column: Count
    row: Count
    data_words: Count
    program_words: Count


class Argument(TypedDict):
    """An argument of the host that a register gets the address of."""

    argument: Count
    register: Hex
    offset: Count


class Waits(TypedDict):
    """What the file waits for."""

    tokens: Count
    polls: Count


class Summary(TypedDict):
    """What a file of register writes sets up.

    Attributes:
        others: Operations that the model does not do, with how often they occur.
    """

    file: str
    format: Format
    title: str
    operations: Count
    routes: list[Route]
    tasks: list[StartedTask]
    locks: list[LockValue]
    cores: list[EnabledCore]
    memories: list[LoadedMemory]
    arguments: list[Argument]
    waits: Waits
    others: dict[str, Positive]


SummaryOutput = Annotated[Any, one_of(Summary, list[Summary])]
