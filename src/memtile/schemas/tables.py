"""Tables of the hardware and of designs: what ``memtile info``, ``warmup``, ``serve`` and errors write."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from memtile.arch.grades import Grade
from memtile.arch.registers import Access
from memtile.arch.tiles import Generation, Role
from memtile.documents import Amount, Count, Positive, Scalar
from memtile.schemas.common import Error

_Some = Meta(min_length=1)

DeviceData = TypedDict(
    "DeviceData",
    {
        "family": str,
        "generation": str,
        "columns": int,
        "rows": int,
        "memory tile rows": str,
        "compute tile rows": str,
        "interface DMA columns": str | None,
        "physical columns": int,
        "source": str,
    },
)
TileKindData = TypedDict(
    "TileKindData",
    {
        "data memory, bytes": Count | None,
        "banks x bytes": str | None,
        "DMA address space, bytes": Count,
        "DMA channels, each direction": Count,
        "channels that reach neighbours": str | None,
        "descriptors (BDs)": Count,
        "BDs by channel parity": str,
        "task queue": Count,
        "repeat count": str,
        "dimensions, beside iteration": Count,
        "length, words": str,
        "step, words": str,
        "wrap (0 = never)": str,
        "iteration step, words": str,
        "iteration wrap": str,
        "zeros around D0, words": str | None,
        "zeros around D1, rows": str | None,
        "zeros around D2, planes": str | None,
        "value of padding": str | None,
        "burst lengths, bytes": str | None,
        "compression": str | None,
        "locks": Count,
        "lock ids seen by the DMA": str,
    },
)


class InfoOutput(TypedDict):
    """Devices and tile kinds by name; null where a tile kind has no such thing. Ranges are texts: 0..3, 7."""

    devices: Annotated[dict[str, DeviceData], _Some]
    tile_kinds: Annotated[dict[str, TileKindData], _Some]


class ParameterData(TypedDict):
    """A parameter of a design.

    Attributes:
        type: As Python writes it.
        allowed: What it takes; a text for people.
        required: Whether it has no default.
        default: Null also where there is none.
    """

    name: str
    type: str
    allowed: str
    required: bool
    default: Scalar | list[Any]


class DesignOutput(TypedDict):
    """What --set can set of a design.

    Attributes:
        design: The file.
    """

    design: str
    parameters: list[ParameterData]


class CoverageData(TypedDict):
    """How many registers of a set act, store or are refused.

    Attributes:
        names: Those that are refused, as module.NAME.
    """

    registers: Positive
    act: Count
    store: Count
    refused: Count
    percent: Annotated[float, Meta(ge=0, le=100)]
    names: list[str]


class ModuleCoverage(CoverageData):
    """How many registers of a module of a tile kind the twin has.

    Attributes:
        names: Those that are refused, as module.NAME.
    """

    tile: str


class RegistersOutput(TypedDict):
    """Registers that AM025 or the driver's header have, counted by what an access to them does."""

    generation: str
    devices: list[str]
    source: str
    modules: Annotated[dict[str, ModuleCoverage], _Some]
    all: CoverageData
    used_by_driver: CoverageData


class FieldData(TypedDict):
    """A field of a register.

    Attributes:
        access: Code of AM025; rwsc: cleared by the hardware; rora: a read has an effect.
        reset: Its raw value after reset.
    """

    name: str
    msb: Count
    lsb: Count
    access: Access
    reset: Count


class RegisterData(TypedDict):
    """A register of a tile kind.

    Attributes:
        driver_name: Its spelling in the driver's header; null where that does not have it.
        offset: First byte in the tile's address space.
        address: Absolute byte address; null unless one was asked for, as are column and row.
        bits: Of one access.
        bytes: Of address space that it answers to.
        acts: False = stored only, nothing in the model reads it.
        does: What an access does in the model; a text for people.
    """

    name: str
    driver_name: str | None
    generation: Generation
    tile: Role
    module: str
    offset: Count
    address: Count | None
    column: Count | None
    row: Count | None
    bits: Positive
    bytes: Positive
    reset: Count
    access: Access
    grade: Grade
    source: str
    acts: bool
    does: str
    fields: list[FieldData]


class NumberData(TypedDict):
    """An event or a stream port.

    Attributes:
        what: Event of a module, master port or slave port; a text for people.
    """

    name: str
    number: Count
    what: str
    tile: Role
    generation: Generation


class LookupOutput(TypedDict):
    """Registers, events and stream ports that have a name, a number or an address.

    Attributes:
        exact: False = only a part of a name was given: these are what it may mean, the nearest first.
    """

    query: str
    device: str
    exact: bool
    registers: list[RegisterData]
    numbers: list[NumberData]


class TimingConstant(TypedDict):
    """A timing constant.

    Attributes:
        likely: Expected range of an unmeasured one; --sensitivity runs both ends.
    """

    name: str
    default: int
    lowest: int
    highest: int
    likely: tuple[int, int] | None
    unit: str
    grade: Grade
    source: str


class TimingOutput(TypedDict):
    """The timing constants of the model, which --timing NAME=VALUE changes.

    Attributes:
        boards: What --timing NAME of a board chooses: constants as they were measured there.
    """

    timing: list[TimingConstant]
    boards: dict[str, dict[str, int]]


class WarmupOutput(TypedDict):
    """Whether the engine is compiled, how long it took in this process, and where it is kept.

    Attributes:
        compiles: False with MEMTILE_JIT=0.
        seconds: To compile or load the engine.
        directory: Where it is kept; null = nothing is compiled.
        carried: The package has brought it, and none is kept.
    """

    compiles: bool
    seconds: Amount
    directory: str | None
    carried: bool


class Listening(TypedDict):
    """Where a server listens.

    Attributes:
        token_file: File with the token that clients must send first; absent where they need none.
    """

    host: str
    port: Annotated[int, Meta(ge=1, le=65535)]
    port_file: str
    token_file: NotRequired[str]


class ServeOutput(TypedDict):
    """Where the server listens, in one line, once clients can come."""

    listening: Listening


class ErrorOutput(TypedDict):
    """What is on standard output when a command refuses its command line or an input file, exit code 2, or is
    interrupted before there is a result, exit code 130.
    """

    error: Error
