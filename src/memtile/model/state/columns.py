"""Shapes of the columns of the state tables that hold more than one number a row, and their sizes."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE, VECTOR_BANKS
from memtile.arch.ports import MERGE_ARBITERS
from memtile.arch.tiles import COMPRESSED_GROUP_WORDS, MEMORY, TILE_KINDS

Ints = npt.NDArray[np.int64]

_GRANULE_WORDS = max(kind.granule_words for kind in TILE_KINDS.values())

FIFO_SLOTS = 64  # ring slots: a power of two above every buffer depth that Timing allows
CORE_STEPS = 1024  # steps of an access pattern that a core is given at a time
CORE_REQUESTS = CORE.ports * VECTOR_BANKS  # banks that a core may ask in a cycle


def ring_wrap(depth: int) -> int:
    """Mask of the positions of a ring: few slots stay in the processor's nearest cache."""
    return (1 << max(depth - 1, 0).bit_length()) - 1


Pair = Annotated[Ints, (2,)]
Three = Annotated[Ints, (3,)]
Four = Annotated[Ints, (4,)]
Granule = Annotated[Ints, (_GRANULE_WORDS,)]
Group = Annotated[Ints, (COMPRESSED_GROUP_WORDS + _GRANULE_WORDS,)]  # and what an access brings beyond one
Coded = Annotated[Ints, (COMPRESSED_GROUP_WORDS + 1,)]
Merges = Annotated[Ints, (MERGE_ARBITERS,)]
Requests = Annotated[Ints, (CORE_REQUESTS,)]
Queue = Annotated[Ints, (MEMORY.queue_depth + 1,)]  # and the task that is about to start
Ring = Annotated[Ints, (FIFO_SLOTS,)]
