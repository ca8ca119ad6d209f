"""How a program reaches the firmware beside an array, and when the driver gives it up.

A launch of an ELF has its pushes in one piece, and none of them waits; a launch of an xclbin comes with the
host's back-pressure (mlir-air PR 1604). Which pushes of tasks find a full queue depends on it (DEV-QUEUE-2).
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from memtile.arch.grades import Grade, Source


class Dispatch(StrEnum):
    """What is launched."""

    XCLBIN = "xclbin"
    ELF = "elf"


class Launch(NamedTuple):
    """How a program is launched, and who says so.

    Attributes:
        dispatch: what is launched.
        why: in words, as the rest of a sentence.
    """

    dispatch: Dispatch
    why: str


DEADLINE_MS = 6_100
"""After so many milliseconds the driver ends a launch that has not come to its end."""
DEADLINE_STATE = "ERT_CMD_STATE_TIMEOUT"
"""The state that XRT gives for it (mlir-air PR 1604, mlir-aie PR 3734)."""
DEADLINE_SOURCE = Source("mlir-air PR 1826: 6,092 ms for a design that hangs, on Strix", Grade.SILICON)
