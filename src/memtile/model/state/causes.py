"""Names of what channels and cores do in a cycle, and of the phases of their work (DESIGN decision 5).

In every cycle every channel is in exactly one ``Cause`` and every core in one ``CoreCause``; those of each
add up to the elapsed cycles.
"""

from __future__ import annotations

from enum import IntEnum


class Phase(IntEnum):
    """How far a channel is in its task."""

    IDLE = 0  # no task
    STARTING = 1  # task popped, first BD being loaded
    ACQUIRE = 2  # BD loaded, asking for its lock
    RUN = 3  # moving the words of the BD
    HALTED = 4  # an error that only a channel reset ends (AM020: out-of-range requests)
    HEADER = 5  # out-of-order S2MM: waiting for the header that chooses the BD


class Cause(IntEnum):
    """What a channel did in one cycle: moved a word, or the one reason why not."""

    MOVING = 0
    IDLE = 1
    TASK_START = 2
    BD_SWITCH = 3  # the dead cycle between BDs, and filling an empty pipeline after it
    LOCK_ACQUIRE = 4
    BANK_CONFLICT = 5
    MEMORY_BUSY = 6  # zeroisation owns the banks
    STREAM_STARVED = 7  # S2MM: no word offered
    STREAM_BLOCKED = 8  # MM2S: nobody takes the word
    HALTED = 9
    NEIGHBOUR_BUSY = 10  # the interface to a neighbour serves another channel, or the access is on its way
    TOKEN_BLOCKED = 11  # a token or a count waits to be taken before the BD can end
    EXTERNAL = 12  # interface tile: external memory has not brought or taken the words yet
    CLOCK_OFF = 13  # the column's clock is off, or its reset holds the tile


class CorePhase(IntEnum):
    """What a core is doing for its kernel."""

    IDLE = 0  # no kernel
    NEXT = 1  # the kernel is to say what comes next
    WAIT = 2  # computing for a number of cycles
    ACCESS = 3  # making the accesses of a pattern, step by step
    ACQUIRE = 4
    RELEASE = 5
    DONE = 6  # the kernel has ended
    GET_CASCADE = 7
    PUT_CASCADE = 8
    GET_STREAM = 9  # words from its stream port, one after the other
    PUT_STREAM = 10


class CoreCause(IntEnum):
    """What a core did in one cycle."""

    RUNNING = 0
    IDLE = 1
    LOCK_STALL = 2  # a lock operation in arbitration, or its lock not there
    BANK_CONFLICT = 3
    MEMORY_BUSY = 4  # zeroisation owns the banks
    DONE = 5
    CLOCK_OFF = 6
    HALTED = 7  # by the debug unit, or by an error that software has chosen for it
    CASCADE_STALL = 8  # its cascade input is empty, or its output full
    STREAM_STALL = 9  # its stream port has no word for it, or no room


CORE_CAUSE_TEXT = {
    CoreCause.RUNNING: "running",
    CoreCause.IDLE: "no kernel",
    CoreCause.LOCK_STALL: "lock stall",
    CoreCause.BANK_CONFLICT: "bank conflict",
    CoreCause.MEMORY_BUSY: "memory being zeroised",
    CoreCause.DONE: "kernel done",
    CoreCause.CLOCK_OFF: "clock off",
    CoreCause.HALTED: "halted by its debug unit",
    CoreCause.CASCADE_STALL: "cascade stall",
    CoreCause.STREAM_STALL: "stream stall",
}


CAUSE_TEXT = {
    Cause.MOVING: "moving a word",
    Cause.IDLE: "no task",
    Cause.TASK_START: "starting a task",
    Cause.BD_SWITCH: "switching BD",
    Cause.LOCK_ACQUIRE: "waiting for a lock",
    Cause.BANK_CONFLICT: "bank conflict",
    Cause.MEMORY_BUSY: "memory being zeroised",
    Cause.STREAM_STARVED: "no input word",
    Cause.STREAM_BLOCKED: "output not taken",
    Cause.HALTED: "halted by an error",
    Cause.TOKEN_BLOCKED: "token or count not taken",
    Cause.NEIGHBOUR_BUSY: "interface to the neighbour",
    Cause.EXTERNAL: "external memory",
    Cause.CLOCK_OFF: "clock off",
}
