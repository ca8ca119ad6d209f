"""Words that descriptors read and nothing ever writes, of memories that no core reaches.

A descriptor that reads them sends words that mean nothing: it reads too many, or who writes them too few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.access.distinct import without
from memtile.check.known_memories import KnownMemory, Use, channels_of
from memtile.explain.findings import Finding
from memtile.explain.partly_written import NamedBd, Part, ends_at, partly_written

UNWRITTEN = "MT0136"


def unwritten_findings(memories: Sequence[KnownMemory], others: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for each channel that waits for words of a buffer and reads others too.

    Args:
        memories: of a design.
        others: what is found already; where it is about one of the channels, it is why.
    """
    named = channels_of(others)
    for memory in memories:
        told = set[int]()
        for reader in memory.readers:
            lacking = memory.part(without(reader.bd.places, memory.written))
            writers = memory.writers_in(lacking) if lacking is not None else []
            writers = [each for each in writers if each.released == reader.acquired >= 0]
            if lacking is None or not writers or reader.bd.ch in told:
                continue  # a host may write them between two runs
            told.add(reader.bd.ch)
            found = _finding(memory, reader, lacking, writers)
            if named.isdisjoint(channels_of([found])):
                yield found


def _finding(memory: KnownMemory, reader: Use, lacking: Part, writers: Sequence[Use]) -> Finding:
    """The finding about a descriptor, and the one that writes the buffer up to there."""
    left = ends_at(lacking, [use.bd for use in writers])
    last = next(use for use in writers if use.bd is left)
    writer, other = (NamedBd(memory.who(use), use.bd) for use in (last, reader))
    return partly_written(UNWRITTEN, lacking, writer, other)
