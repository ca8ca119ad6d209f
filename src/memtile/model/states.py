"""Names of what a channel does in a cycle, and of the phases of its task (DESIGN decision 5).

In every cycle every channel is in exactly one ``Cause``; they add up to the elapsed cycles.
"""

from __future__ import annotations

from enum import IntEnum


class Phase(IntEnum):
    """Where a channel stands in its task."""

    IDLE = 0  # no task
    STARTING = 1  # task popped, first BD being loaded
    ACQUIRE = 2  # BD loaded, asking for its lock
    RUN = 3  # moving the words of the BD
    HALTED = 4  # an error that only a channel reset ends (AM020: out-of-range requests)


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
    Cause.NEIGHBOUR_BUSY: "interface to the neighbour",
}
