"""State of the interface tile channels that others lack, and what external memory looks like to them."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import GRANULE_WORDS

EXTERNAL_SLOTS = 256  # reads under way of a channel: at least the words that Timing allows

Ints = npt.NDArray[np.int64]
Beats = Annotated[Ints, (EXTERNAL_SLOTS,)]
BeatWords = Annotated[Ints, (EXTERNAL_SLOTS, GRANULE_WORDS)]


class Region(IntEnum):
    """Columns of State.regions."""

    FIRST = 0  # word address
    WORDS = 1
    BASE = 2  # index in State.external
    WRITABLE = 3


class Externals(NamedTuple):
    """Traffic of the interface tile channels with external memory, one row a channel."""

    region: Ints  # row of State.regions that the last access was in
    following: Ints  # word address that would continue the running burst
    response_at: Ints  # S2MM: cycle in which the last write is answered
    head: Ints  # MM2S: oldest read in the ring
    held: Ints  # reads in the ring: asked for, and not yet in the egress buffer
    arrived: Ints  # those of them whose words are there
    buffered: Ints  # words of all of them
    ready: Beats  # cycle in which the words come
    target: Beats  # first word in State.external
    length: Beats  # words
    last: Beats  # 1 = ends its BD
    words: BeatWords
