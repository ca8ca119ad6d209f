"""Types of the register tables: a field, a register, and short forms to write many of them.

Field lists are written as AM025 prints them, ``"Packet_Type 14:12, ID 4:0"``; an access code may follow the
bits: ``"Reset 31 wo"``. Bits that no field names are reserved: writes to them are ignored and they read 0
(AM025, driver).

It also says what registers do beyond holding their value: what rows of the register tables name.

A row says ``acts=Acts.X`` and, where there is more than one of what it is about, which one as ``argument``.
What happens then is the matter of ``model/axi.py``, which has a branch for each behaviour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Flag, IntEnum, StrEnum, auto
from typing import Literal

from memtile.arch.grades import Grade
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import Problem, RegisterError, raise_if


class DebugControl(IntEnum):
    """Which register controls the halts of a core."""

    HALT_BIT = 0  # and single steps
    STALLS = 1
    ERROR = 2
    CORE = 3  # Core_Control: its reset


class Shows(Flag):
    """What software learns from a register with a behaviour."""

    NOTHING = 0  # but what was written to it
    HAPPENED = auto()  # what happened, not what was set up
    READABLE = auto()  # a value of the moment, by a read that changes nothing (DEV-DUMP-2)
    STALLS = auto()  # why an array makes no progress
    PROGRESS = auto()  # how far an array has come: equal in two runs that stopped at the same place
    ROUTES = auto()  # a way of words: the model looks at all of the tile's ways when one is written


class Acts(IntEnum):
    """Behaviour of a register, for writes, reads or both; behind each one what ``argument`` stands for.

    Attributes:
        shows: what software learns from the register.
        does: what an access does, as a sentence says it; with ``{channel}``, ``{debug}`` and ``{argument}``.
    """

    _value_: int
    shows: Shows
    does: str

    def __new__(cls, shows: Shows, does: str = "") -> Acts:
        """Return the next behaviour.

        Raises:
            TypeError: it does not say what the register shows, or what an access does.
        """
        if not (isinstance(shows, Shows) and does):
            raise TypeError(f"declare a behaviour with what its register shows and does, not as {shows}")
        acts = int.__new__(cls, len(cls.__members__))
        acts._value_, acts.shows, acts.does = len(cls.__members__), shows, does
        return acts

    # what software writes or a hardware block puts there, which looks at it when it needs it
    HOLDS = Shows.NOTHING, "the hardware block reads it, or shows its state there"
    KEEPS = (
        Shows.NOTHING,
        "stored only: it reads back what was written, and nothing in the model reads it",
    )

    # DMA and locks (AM025 DMA_*, Lock*)
    START_QUEUE = (
        Shows.NOTHING,
        "a write adds a task to the queue of DMA {channel}",
    )  # channel of the tile, those of S2MM first
    CHANNEL_CONTROL = Shows.NOTHING, "controls DMA {channel}"  # channel
    CHANNEL_STATUS = (
        Shows.HAPPENED | Shows.READABLE | Shows.STALLS | Shows.PROGRESS,
        "shows the state of DMA {channel}, its errors and stalls",
    )  # channel
    WRITE_COUNT = (
        Shows.HAPPENED | Shows.READABLE | Shows.STALLS | Shows.PROGRESS,
        "counts the words that DMA {channel} has written in its current task",
    )  # S2MM channel
    COUNT_POP = (
        Shows.NOTHING,
        "a read removes an entry of the finish-on-TLAST count FIFO of DMA {channel}",
    )  # S2MM channel
    LOCK_VALUE = (
        Shows.READABLE | Shows.STALLS | Shows.PROGRESS,
        "the value of lock {argument}; a write sets it",
    )  # lock
    LOCK_REQUEST = (
        Shows.NOTHING,
        "a read tries to acquire or release the lock that the address names",
    )  # -: the address of a read says which lock
    LOCK_OVERFLOW = (
        Shows.READABLE | Shows.STALLS,
        "a bit is set when a release would exceed the largest value of its lock",
    )  # lock of bit 0
    LOCK_UNDERFLOW = (
        Shows.READABLE | Shows.STALLS,
        "a bit is set when an acquire would go below the least value of its lock",
    )  # lock of bit 0

    # Memories (AM025 Memory_Control, WatchPoint*; the others DEV-REG-5 and DEV-REG-9)
    MEMORY_CONTROL = Shows.NOTHING, "chooses how addresses map to banks; fills the memory with zeros"
    CHECK_BITS = Shows.NOTHING, "puts wrong check bits into the next write, to test error correction"
    SCRUBBING = Shows.NOTHING, "chooses the event that starts a step of the memory scrubber"
    WATCHPOINT = Shows.NOTHING, "asserts a watchpoint event when an access matches"
    PROGRAM_CONTROL = Shows.NOTHING, "controls the check bits of program memory"

    # The core, its debug unit and its cascade (AM025 Core_Status, Debug_*, Error_Halt_Control,
    # Accumulator_Control; DEV-DEBUG-1, DEV-CASC-2)
    CORE_STATUS = (
        Shows.HAPPENED | Shows.READABLE | Shows.STALLS | Shows.PROGRESS,
        "shows whether the core runs and what it waits for",
    )
    DEBUG_CONTROL = Shows.NOTHING, "controls the core: {debug}"  # DebugControl
    DEBUG_STATUS = Shows.HAPPENED | Shows.READABLE, "shows why the core is halted"
    CASCADE = Shows.STALLS | Shows.ROUTES, "chooses the directions of the cascade stream"

    # Stream switch and the interface tile's multiplexers (AM025 Stream_Switch_*, Mux_Config, Demux_Config)
    SWITCH_PORT = Shows.STALLS | Shows.PROGRESS | Shows.ROUTES, "routes words through the stream switch"
    MERGE = Shows.NOTHING, "sets up the deterministic merge of arbiter {argument}"  # arbiter
    PARITY_INJECTION = Shows.NOTHING, "injects a parity error into a stream"
    MULTIPLEXER = (
        Shows.STALLS | Shows.ROUTES,
        "connects streams of the interface tile to its DMA, programmable logic or the NoC",
    )

    # The tile and its column (AM025 Tile_Control, Column_Clock_Control, AIE_Tile_Column_Reset)
    TILE_CONTROL = Shows.STALLS | Shows.ROUTES, "isolates the tile from its neighbours"
    COLUMN_CLOCK = Shows.STALLS, "starts and stops the clock of the column"

    # Another register of the tile (DEV-REG-10)
    SETS = (
        Shows.NOTHING,
        "a written 1 sets the bit in the register at 0x{argument:X}",
    )  # byte offset of that register
    CLEARS = (
        Shows.NOTHING,
        "a written 1 clears the bit in the register at 0x{argument:X}",
    )  # byte offset of that register

    # Event unit of the module (AM025 Event_*, Combo_event_*, Performance_*, Timer_*, Trace_*)
    EVENT_SETUP = (
        Shows.NOTHING,
        "sets up the event unit: counters, trace, broadcast or combined events",
    )  # what the unit does each cycle depends on it
    # what some events are about: a channel, lock or port, or the members of a group
    EVENT_SELECTION = (
        Shows.NOTHING,
        "chooses what events are about: channels, locks, ports or members of a group",
    )
    EVENT_STATUS = (
        Shows.HAPPENED | Shows.READABLE,
        "a bit is set when its event occurs; a written 1 clears it",
    )
    EVENT_GENERATE = Shows.HAPPENED, "a write asserts the event of that number"
    TIMER_CONTROL = Shows.NOTHING, "resets the timer, or chooses the event that does"
    TIMER = Shows.HAPPENED | Shows.READABLE, "a half of the timer's value"  # half of the value: 0 low, 1 high
    TRACE_STATUS = Shows.HAPPENED | Shows.READABLE, "shows whether the trace unit runs"


ModuleName = Literal[
    "memory_tile",
    "memory",
    "core",
    "noc",
    "pl",
    "memory_tile_2p",
    "memory_2p",
    "core_2p",
    "pl_2p",
    "memory_tile_v2",
    "memory_v2",
    "noc_v2",
]
WORD_BITS = 8 * WORD_BYTES


class Access(StrEnum):
    """What software may do with a field."""

    RW = "rw"
    RO = "ro"
    WO = "wo"
    WTC = "wtc"  # write 1 to clear
    SELF_CLEARING = "rwsc"  # rw; the hardware clears it when the action is done
    READ_ACTS = "rora"  # ro; reading has a side effect
    MIXED = "mixed"  # of a register only: its fields differ

    @property
    def manual(self) -> str:
        """The code that AM025 prints: rw, ro, wo, wtc or mixed (DEV-REG-6)."""
        return {Access.SELF_CLEARING: "rw", Access.READ_ACTS: "ro"}.get(self, self.value)


@dataclass(frozen=True, slots=True)
class Field:
    """Bits ``msb`` to ``lsb`` of a register."""

    name: str
    msb: int
    lsb: int
    access: Access = Access.RW

    @property
    def maximum(self) -> int:
        """Largest raw value."""
        return (1 << (self.msb - self.lsb + 1)) - 1

    @property
    def mask(self) -> int:
        """The field's bits in place."""
        return self.maximum << self.lsb

    def word(self, number: int) -> Field:
        """The part of the field that lies in 32-bit word ``number``, as a field of that word."""
        first = number * WORD_BITS
        return replace(self, msb=min(self.msb - first, WORD_BITS - 1), lsb=max(self.lsb - first, 0))

    @property
    def reserved(self) -> bool:
        """Whether AM025 names these bits Reserved (DEV-REG-3)."""
        return self.name == "Reserved"

    def get(self, word: int) -> int:
        """Raw value of the field in the register value ``word``."""
        return (word & self.mask) >> self.lsb


@dataclass(frozen=True, slots=True)
class Register:
    """One register, or a window of addresses that answers as one.

    Attributes:
        name: AM025 spelling.
        offset: first byte inside the tile's address space.
        fields: most significant first.
        reset: value after reset.
        width: bits of one access.
        span: bytes of address space that it answers to; ``width / 8`` unless it is a window.
        grade: manual; driver when only the driver's register header has it (DEV-REG-5).
        acts: what it does beyond holding its value.
        argument: which channel, lock or other thing it is about; :class:`Acts` says what it stands for.
    """

    name: str
    offset: int
    fields: tuple[Field, ...]
    reset: int = 0
    width: int = WORD_BITS
    span: int = WORD_BYTES
    grade: Grade = Grade.MANUAL
    acts: Acts = Acts.HOLDS
    argument: int = 0

    def words(self) -> Iterator[Register]:
        """The 32-bit words of a register that is wider, in address order; a register of 32 bits alone."""
        if self.width == WORD_BITS:
            yield self
            return
        for n in range(self.width // WORD_BITS):
            inside = [f for f in self.fields if f.lsb < (n + 1) * WORD_BITS and f.msb >= n * WORD_BITS]
            yield replace(
                self,
                name=f"{self.name}[{n}]",
                offset=self.offset + n * WORD_BYTES,
                fields=tuple(field.word(n) for field in inside),
                reset=(self.reset >> n * WORD_BITS) & ((1 << WORD_BITS) - 1),
                width=WORD_BITS,
                span=WORD_BYTES,
            )

    @property
    def is_memory(self) -> bool:
        """Whether it stands for a memory: accesses wider than a word, to more than one of that width."""
        return self.width > WORD_BITS and self.span * 8 > self.width

    @property
    def access(self) -> Access:
        """The access that AM025 prints for the register; MIXED when its fields differ."""
        codes = {field.access.manual for field in self.fields}
        return Access(codes.pop()) if len(codes) == 1 else Access.MIXED

    def mask_of(self, *kinds: Access) -> int:
        """The bits whose access is one of ``kinds``, without those named Reserved."""
        return sum(f.mask for f in self.fields if f.access in kinds and not f.reserved)

    @property
    def writable(self) -> int:
        """The bits that keep what software writes."""
        return self.mask_of(Access.RW, Access.SELF_CLEARING)

    @property
    def clearable(self) -> int:
        """The bits that a written 1 clears."""
        return self.mask_of(Access.WTC)

    @property
    def readable(self) -> int:
        """The bits that a read shows, those named Reserved as they are after reset; all others read 0."""
        kept = self.reset & sum(field.mask for field in self.fields if field.reserved)
        return self.mask_of(*(kind for kind in Access if kind is not Access.WO)) | kept

    def field(self, name: str) -> Field:
        """The field called ``name``; raises :class:`RegisterError` when there is none."""
        try:
            return field_of(self.fields, name)
        except KeyError:
            raise RegisterError(self._unknown(name)) from None

    def pack(self, **values: int) -> int:
        """The register value with these raw field values and 0 elsewhere.

        Raises:
            RegisterError: with every unknown field and every value that does not fit its field.
        """
        named = {f.name: f for f in self.fields if not f.reserved}
        problems = [p for name, value in values.items() for p in self._misfits(named, name, value)]
        raise_if(problems, RegisterError)
        return sum(value << named[name].lsb for name, value in values.items())

    def unpack(self, word: int) -> dict[str, int]:
        """Raw value of each field of the register value ``word``, most significant field first."""
        return {f.name: f.get(word) for f in self.fields if not f.reserved}

    def _misfits(self, named: Mapping[str, Field], name: str, value: int) -> Iterator[Problem]:
        if name not in named:
            yield self._unknown(name)
        elif not 0 <= value <= named[name].maximum:
            field = named[name]
            yield Problem(
                name,
                str(value),
                f"0..{field.maximum}",
                reason="register_value",
                where=self.name,
                source=f"bits {field.msb}:{field.lsb} of {self.name}, AM025",
            )

    def _unknown(self, name: str) -> Problem:
        return Problem(
            "field",
            repr(name),
            names := ", ".join(f.name for f in self.fields if not f.reserved),
            f"the register has no field {name!r}; its fields are {names}",
            reason="register_field",
            where=self.name,
            source="AM025",
        )


Table = tuple[Register, ...]


def fields(spec: str, access: Access = Access.RW) -> tuple[Field, ...]:
    """The fields of ``spec``, most significant first; ``access`` holds where the spec names none."""
    return _descending(_field(part.split(), access) for part in spec.split(","))


def field_of(layout: tuple[Field, ...], name: str) -> Field:
    """The field of a word called ``name``; raises :class:`KeyError` when there is none."""
    for field in layout:
        if field.name == name:
            return field
    raise KeyError(name)


def packed(layout: tuple[Field, ...], **values: int) -> int:
    """A word with these raw values, which fit their fields, and 0 elsewhere."""
    return sum(value << field_of(layout, name).lsb for name, value in values.items())


def flags(names: Sequence[str], access: Access = Access.RW, first: int = 0) -> tuple[Field, ...]:
    """One-bit fields called ``names`` from bit ``first`` upwards, most significant first."""
    return _descending(Field(name, bit, bit, access) for bit, name in enumerate(names, first))


def reserved(first: int, offset: int, count: int, stride: int = WORD_BYTES) -> Iterator[Register]:
    """Places that the driver's header calls reserved, from ``RESERVEDfirst`` on: they answer, and read 0."""
    for n in range(count):
        name = f"RESERVED{first + n}"
        place = offset + n * stride
        yield Register(name, place, (), span=stride, grade=Grade.DRIVER, acts=Acts.KEEPS)


def _field(words: Sequence[str], access: Access) -> Field:
    name, bits, *code = words
    msb, _, lsb = bits.partition(":")
    return Field(name, int(msb), int(lsb or msb), Access(code[0]) if code else access)


def _descending(unsorted: Iterable[Field]) -> tuple[Field, ...]:
    return tuple(sorted(unsorted, key=lambda field: -field.lsb))


def _numbered(field: Field, n: int) -> Field:
    return replace(field, name=field.name.format(n))


def array(first: Register, count: int, stride: int = WORD_BYTES) -> Iterator[Register]:
    """``count`` registers like ``first``, ``stride`` bytes apart.

    ``{}`` in a name stands for the index, and the argument of what they do counts with it.
    """
    same = not any("{" in field.name for field in first.fields)  # most have the very same fields
    for n in range(count):
        yield replace(
            first,
            name=first.name.format(n),
            offset=first.offset + n * stride,
            fields=first.fields if same else tuple(_numbered(field, n) for field in first.fields),
            argument=first.argument + n,
        )
