"""Updates of register pairs from the scratchpad: firmware adds a number of the host to an address.

Made for the addresses of descriptors, so they change 48 bits and leave no byte address within a word
(mlir-aie, ``npu.update_from_scratchpad``). Words of the scratchpad count as unsigned numbers (DEV-SCRATCH-1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from memtile.arch.tiles import WORD_BYTES
from memtile.errors import Problem
from memtile.runs.operations import WORD_MAX, ArrayShape, BlockWrite, Other
from memtile.runs.register_writes import check

CREATE = "CREATE_SCRATCHPAD"
UPDATE = "UPDATE_REG"
FUNCTIONS = ("mul", "incr", "decr")
"""What becomes of a word and the argument, by the number of the function."""
WORD = "word"
"""A detail of an update: the word of the scratchpad, where somebody knows it."""
_WORD_BITS = 8 * WORD_BYTES
_LOW = WORD_MAX & -WORD_BYTES  # no byte within a word
_HIGH = (1 << 16) - 1  # of the 48 bits those in the second word
_SOURCE = "mlir-aie's npu.update_from_scratchpad"


class ReadsAndWrites(Protocol):
    """The door of an array."""

    def read32(self, offset: int) -> int:
        """Read one word."""

    def write32(self, offset: int, value: int) -> None:
        """Write one word."""


def update(door: ReadsAndWrites, operation: Other) -> None:
    """Add what an update says to the pair of words at its address.

    Args:
        door: of the array.
        operation: with the function, its argument, the address and the word of the scratchpad.
    """
    said = dict(operation.details)
    at, word, argument = said["address"], said[WORD], said["argument"]
    change = (word * argument, word + argument, word - argument)[said["function"]]
    low, high = door.read32(at), door.read32(at + WORD_BYTES)
    total = ((high & _HIGH) << _WORD_BITS | low & _LOW) + change
    door.write32(at, total & _LOW)
    door.write32(at + WORD_BYTES, high & ~_HIGH & WORD_MAX | total >> _WORD_BITS & _HIGH)


def update_problems(operation: Other, shape: ArrayShape) -> Iterator[Problem]:
    """What keeps an update from being done: nobody gave the scratchpad, or nothing answers there."""
    said, where = dict(operation.details), operation.place or "program"
    if WORD not in said:
        yield Problem(
            reason="scratchpad",
            where=where,
            field=UPDATE,
            given=f"word {said.get('index', 0)} of the scratchpad, which nobody gave",
            allowed="a word that the host has written",
            source=_SOURCE,
            next_step="Run the design from its MLIR text, with the parameters of its scratchpad.",
            says=f"the program adds word {said.get('index', 0)} of the scratchpad, which nobody gave",
        )
    elif said["function"] not in range(len(FUNCTIONS)):
        yield Problem(
            reason="scratchpad",
            where=where,
            field="function",
            given=str(said["function"]),
            allowed=", ".join(f"{n} = {name}" for n, name in enumerate(FUNCTIONS)),
            source=_SOURCE,
        )
    else:
        yield from check([BlockWrite(said["address"], (0, 0), place=where)], shape)
