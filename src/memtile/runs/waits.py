"""Whether a program waits for what it starts: then it is over when its last wait is met."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtile.runs.operation_table import Code, table_of
from memtile.runs.operations import ArrayShape, MaskPoll, Operation, Other
from memtile.runs.token_waits import WAIT
from memtile.runs.word_marks import queues


def ends_waiting(operations: Sequence[Operation], shape: ArrayShape) -> bool:
    """Whether a wait for a token, or a poll, comes after the last task that the program starts.

    Such a program is finished when all its operations are done, whatever still waits in the array: nobody has
    asked for more. What is started after the last wait nobody waits for, so it has to end by itself.
    """
    table = table_of(operations)
    code, starts = table.columns.code, table.writing(shape, queues)
    for number in reversed(np.flatnonzero(starts | (code == Code.MASK_POLL) | (code == Code.OTHER)).tolist()):
        if starts[number]:
            return False
        operation = table[number]
        if isinstance(operation, MaskPoll) or (isinstance(operation, Other) and operation.name == WAIT):
            return True
    return False
