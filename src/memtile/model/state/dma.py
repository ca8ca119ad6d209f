"""State tables of the DMA beside its channels: coders of compressed streams, interfaces to the neighbours."""

from __future__ import annotations

from typing import NamedTuple

from memtile.model.state.columns import Coded, Group, Ints


class Codecs(NamedTuple):
    """What each channel has between its accesses and a compressed stream, see ``compression``."""

    words: Group  # memory words: MM2S gathered, S2MM expanded
    held: Ints
    coded: Coded  # stream words of a group, the mask first
    coded_held: Ints  # MM2S: still to be sent; S2MM: come so far
    at: Ints  # next one of ``coded`` (MM2S) or of ``words`` (S2MM)


class Interfaces(NamedTuple):
    """Interfaces of the tiles to their neighbours' memories and their arbiters, see ``neighbours``."""

    turn: Ints  # channel served first next time
    best: Ints
    winner: Ints
    stamp: Ints
    served: Ints  # accesses so far
