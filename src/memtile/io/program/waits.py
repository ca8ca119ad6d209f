"""Whether a program waits for what it starts: then it is over when its last wait is met."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from memtile.arch.register_map import register_at
from memtile.arch.tiles import TileName
from memtile.io.program.operations import ArrayShape, MaskPoll, Operation, Other, locate, words_written
from memtile.io.program.token_waits import WAIT


def ends_waiting(operations: Sequence[Operation], shape: ArrayShape) -> bool:
    """Whether a wait for a token, or a poll, comes after the last task that the program starts.

    Such a program is finished when all its operations are done, whatever still waits in the array: nobody has
    asked for more. What is started after the last wait nobody waits for, so it has to end by itself.
    """
    for operation in reversed(operations):
        if isinstance(operation, MaskPoll) or (isinstance(operation, Other) and operation.name == WAIT):
            return True
        if any(_starts(word.address, shape) for word in words_written(operation)):
            return False
    return False


def _starts(address: int, shape: ArrayShape) -> bool:
    column, row, offset = locate(address)
    kind = shape.tile(column, row)
    return kind is not None and _is_queue(kind, offset)


@cache
def _is_queue(kind: TileName, offset: int) -> bool:
    register = register_at(kind, offset)
    return register is not None and any(field.name == "Start_BD_ID" for field in register.fields)
