"""What a reader should know of a run's cycles before all else, since silicon was seen to differ there.

Each is a sentence that a result has among its first lines: what is uncertain, by how much, why, and which
measurement would say more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from memtile.arch.boards import SHARED_BYTES, SHARED_CHANNELS
from memtile.arch.tiles import WORD_BYTES
from memtile.model.state.causes import Cause

_COMPUTE, _INTERFACE = "compute", "interface"
_MANY = 100  # a channel with conflicts in one cycle of so many, or more, is worth a sentence


class Use(Protocol):
    """What one channel did, as ``results.ChannelUse``."""

    @property
    def name(self) -> str:
        """Of tile and channel."""

    @property
    def words(self) -> int:
        """Stream words moved."""

    @property
    def spent(self) -> Mapping[Cause, int]:
        """Cycles by cause."""


def cautions(channels: Iterable[Use], cycles: int, board: str) -> Iterator[str]:
    """The sentences for a run, most often none."""
    found = list(channels)
    yield from _shared(found, cycles, board)
    yield from _conflicts(found, cycles)


def _shared(channels: Iterable[Use], cycles: int, board: str) -> Iterator[str]:
    """So many channels together move more than a board was seen to move to and from external memory."""
    if board not in SHARED_BYTES or not cycles:
        return
    words = [use.words for use in channels if use.name.startswith(_INTERFACE) and use.words]
    moved = round(WORD_BYTES * sum(words) / cycles, 1)  # compared as it is told
    low, high = SHARED_BYTES[board]
    few = len(words) <= SHARED_CHANNELS[board]
    if moved > (high if few else low):
        many = f"{SHARED_CHANNELS[board]} channels or fewer" if few else "more channels"
        yield (
            f"external memory moves {moved} bytes a cycle for {len(words)} channels of all columns; boards "
            f"reached {low} to {high}, and {high if few else low} with {many}. The model lets columns share "
            "external memory without waiting (DEV-EXT-1): measure a copy by all columns of your board."
        )


def _conflicts(channels: Iterable[Use], cycles: int) -> Iterator[str]:
    """Accesses of cores and DMAs meet in banks, where counts of silicon are far from the model's."""
    met = max((use.spent.get(Cause.BANK_CONFLICT, 0) for use in channels if _is_compute(use)), default=0)
    if met * _MANY > cycles:
        yield (
            f"a DMA of a compute tile waited {met:,} cycles for banks. Silicon counted up to 11 times as "
            "many beside a core, but its transfers took as long as here (DEV-SILICON-3)."
        )


def _is_compute(use: Use) -> bool:
    return use.name.startswith(_COMPUTE)
