"""Names of what channels and cores do in a cycle, and of the phases of their work (DESIGN decision 5).

In every cycle every channel is in exactly one ``Cause`` and every core in one ``CoreCause``; those of each
add up to the elapsed cycles. A member is declared with all that tables, pictures, dumps and the search for
deadlocks know of it; no other module lists members.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from enum import IntEnum
from typing import NamedTuple

from memtile.arch.members import Declared, Members


class Phase(IntEnum):
    """How far a channel is in its task."""

    IDLE = 0  # no task
    STARTING = 1  # a task is in the queue and about to start
    ACQUIRE = 2  # BD loaded, asking for its lock
    RUN = 3  # moving the words of the BD
    HALTED = 4  # an error that only a channel reset ends (AM020: out-of-range requests)
    HEADER = 5  # out-of-order S2MM: waiting for the header that chooses the BD
    TAKEN = 6  # has been granted the lock it waited for, but not gone on yet (DEV-LOCK-6)
    LOADING = 7  # its task has started and its first BD is being loaded (DEV-TASK-1)


class Colours(NamedTuple):
    """Colours of a value on light and on dark pages; those of causes differ for colour-blind readers too."""

    light: str
    dark: str


@dataclass(eq=False)
class ValueFacts(Declared):
    """Declares a value of a track.

    Attributes:
        number: of the member.
        text: in tables and messages: the name of the member in words, which JSON has too.
        colours: of bars and tracks (causes: those of Okabe and Ito).
        is_idle: whether there is nothing to do then.
    """

    number: int
    text: str
    colours: Colours
    _: KW_ONLY
    is_idle: bool = False


@dataclass(eq=False)
class CauseFacts(ValueFacts):
    """Declares a cause of a channel.

    Attributes:
        letter: in timelines, as docs/timing.md has it.
        is_work: whether the channel makes progress, or waits for time alone, not for another party.
        has_bd: whether the channel is at a BD.
        status: fields of AM025's channel status that are set then, of S2MM and of MM2S.
    """

    letter: str
    _: KW_ONLY
    is_work: bool
    has_bd: bool = True
    status: tuple[str, ...] = ()


class Cause(Members):
    """What a channel did in one cycle: moved a word, or the one reason why not; see ``CauseFacts``."""

    text: str
    letter: str
    colours: Colours
    is_idle: bool
    is_work: bool
    has_bd: bool
    status: tuple[str, ...]

    MOVING = CauseFacts(0, "moving", Colours("#0072B2", "#3B96D9"), "#", is_work=True)
    IDLE = CauseFacts(
        1, "idle", Colours("#E5E5E5", "#2A3038"), ".", is_work=False, is_idle=True, has_bd=False
    )
    TASK_START = CauseFacts(2, "task start", Colours("#999999", "#8D949E"), "t", is_work=True, has_bd=False)
    # the dead cycle between BDs, and filling an empty pipeline after it
    BD_SWITCH = CauseFacts(3, "BD switch", Colours("#F0E442", "#D9CC3A"), "-", is_work=True)
    LOCK_ACQUIRE = CauseFacts(
        4,
        "lock acquire",
        Colours("#E69F00", "#E69F00"),
        "L",
        is_work=False,
        status=("Stalled_Lock_Acq",),
    )
    BANK_CONFLICT = CauseFacts(5, "bank conflict", Colours("#D55E00", "#D55E00"), "B", is_work=True)
    # zeroisation owns the banks
    MEMORY_BUSY = CauseFacts(6, "memory busy", Colours("#000000", "#F5F5F5"), "Z", is_work=True)
    # S2MM: no word offered
    STREAM_STARVED = CauseFacts(
        7,
        "stream starved",
        Colours("#56B4E9", "#56B4E9"),
        "s",
        is_work=False,
        status=("Stalled_Stream_Starvation",),
    )
    # MM2S: the receiver does not take the word
    STREAM_BLOCKED = CauseFacts(
        8,
        "stream blocked",
        Colours("#CC79A7", "#CC79A7"),
        "b",
        is_work=False,
        status=("Stalled_Stream_Backpressure",),
    )
    HALTED = CauseFacts(9, "halted", Colours("#8B0000", "#E5484D"), "x", is_work=False)
    # the interface to a neighbour serves another channel, or the access is on its way
    NEIGHBOUR_BUSY = CauseFacts(10, "neighbour busy", Colours("#B3DE69", "#B3DE69"), "n", is_work=True)
    # a token or a count waits to be taken before the BD can end
    TOKEN_BLOCKED = CauseFacts(
        11,
        "token blocked",
        Colours("#7B3F99", "#A76BC4"),
        "T",
        is_work=False,
        status=("Stalled_TCT_or_Count_FIFO_Full", "Stalled_TCT"),
    )
    # interface tile: external memory has not brought or taken the words yet
    EXTERNAL = CauseFacts(12, "external memory", Colours("#009E73", "#009E73"), "E", is_work=True)
    # the column's clock is off, or its reset holds the tile
    CLOCK_OFF = CauseFacts(13, "clock off", Colours("#4D4D4D", "#5E6672"), "o", is_work=False, has_bd=False)


@dataclass(eq=False)
class CoreCauseFacts(ValueFacts):
    """Declares a cause of a core.

    Attributes:
        letter: in timelines of tests.
    """

    letter: str


class CoreCause(Members):
    """What a core did in one cycle; see ``CoreCauseFacts``."""

    text: str
    letter: str
    colours: Colours
    is_idle: bool

    RUNNING = CoreCauseFacts(0, "running", Cause.MOVING.colours, "#")
    IDLE = CoreCauseFacts(1, "idle", Cause.IDLE.colours, ".", is_idle=True)
    # a lock operation in arbitration, or its lock not there
    LOCK_STALL = CoreCauseFacts(2, "lock stall", Cause.LOCK_ACQUIRE.colours, "L")
    BANK_CONFLICT = CoreCauseFacts(3, "bank conflict", Cause.BANK_CONFLICT.colours, "B")
    MEMORY_BUSY = CoreCauseFacts(4, "memory busy", Cause.MEMORY_BUSY.colours, "Z")
    DONE = CoreCauseFacts(5, "done", Colours("#C9CED6", "#424A55"), "d")
    CLOCK_OFF = CoreCauseFacts(6, "clock off", Cause.CLOCK_OFF.colours, "o")
    # by the debug unit, or by an error that software has chosen for it
    HALTED = CoreCauseFacts(7, "halted", Cause.HALTED.colours, "H")
    # its cascade input is empty, or its output full
    CASCADE_STALL = CoreCauseFacts(8, "cascade stall", Cause.EXTERNAL.colours, "C")
    # its stream port has no word for it, or no room
    STREAM_STALL = CoreCauseFacts(9, "stream stall", Cause.STREAM_STARVED.colours, "S")


class CoreLink(NamedTuple):
    """What a core waits for at its cascade or its stream.

    Attributes:
        text: as messages say it.
        stall: its cause meanwhile.
        status: the field of Core_Status (AM025) that is set meanwhile.
        gets: whether it takes a value; else it gives one.
    """

    text: str
    stall: CoreCause
    status: str
    gets: bool


@dataclass(eq=False)
class PhaseFacts(Declared):
    """Declares a phase of a core.

    Attributes:
        number: of the member.
        has_kernel: whether the core has a kernel that has not ended.
        is_work: whether the core does something, be it to ask for a link.
        link: at which it may wait.
    """

    number: int
    _: KW_ONLY
    is_work: bool
    has_kernel: bool = True
    link: CoreLink | None = None


class CorePhase(Members):
    """What a core is doing for its kernel; see ``PhaseFacts``."""

    is_work: bool
    has_kernel: bool
    link: CoreLink | None

    IDLE = PhaseFacts(0, is_work=False, has_kernel=False)  # no kernel
    NEXT = PhaseFacts(1, is_work=True)  # the kernel is to say what comes next
    WAIT = PhaseFacts(2, is_work=True)  # computing for a number of cycles
    ACCESS = PhaseFacts(3, is_work=True)  # making the accesses of a pattern, step by step
    ACQUIRE = PhaseFacts(4, is_work=False)
    RELEASE = PhaseFacts(5, is_work=True)
    DONE = PhaseFacts(6, is_work=False, has_kernel=False)  # the kernel has ended
    GET_CASCADE = PhaseFacts(
        7,
        is_work=True,
        link=CoreLink("waits for a value on its cascade", CoreCause.CASCADE_STALL, "Cascade_Stall_SCD", True),
    )
    PUT_CASCADE = PhaseFacts(
        8,
        is_work=True,
        link=CoreLink("waits for room on its cascade", CoreCause.CASCADE_STALL, "Cascade_Stall_MCD", False),
    )
    # words from its stream port, one after the other
    GET_STREAM = PhaseFacts(
        9,
        is_work=True,
        link=CoreLink("waits for a word of its stream", CoreCause.STREAM_STALL, "Stream_Stall_SS0", True),
    )
    PUT_STREAM = PhaseFacts(
        10,
        is_work=True,
        link=CoreLink("waits for room in its stream", CoreCause.STREAM_STALL, "Stream_Stall_MS0", False),
    )
    # has been granted the lock it waited for, but not gone on yet (DEV-LOCK-6)
    TAKEN = PhaseFacts(11, is_work=True)


LINKS = {phase: phase.link for phase in CorePhase if phase.link is not None}
"""Phases in which a core is at its cascade or its stream, and what it waits for there."""
