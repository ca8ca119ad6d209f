"""How many words the tasks of a host sequence move through each channel, by its steps alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memtile.arch.tiles import TileKind
from memtile.bd.codec import decode
from memtile.errors import DescriptorError
from memtile.model.dma.channel_registers import QUEUE_REPEAT_LSB, QUEUE_REPEAT_MASK, QUEUE_START_BD_MASK
from memtile.runs.operations import BlockWrite, MaskWrite, Operation, Write, locate
from memtile.runs.waits import pushed_channel
from memtile.sim.loop.engine import Engine

_Place = tuple[int, int]
_Bds = dict[tuple[_Place, int], tuple[int, ...] | None]  # words by tile and number; None = not known


def sent_words(
    engine: Engine, kinds: Mapping[_Place | None, TileKind], steps: Iterable[Operation]
) -> dict[int, int | None]:
    """Return the stream words of all tasks by model index of a channel; None where they are not known.

    Args:
        engine: the model.
        kinds: of tiles, by their places.
        steps: of the sequence, in order.
    """
    bds: _Bds = {}
    found: dict[int, int | None] = {}
    for step in steps:
        if not isinstance(step, Write | BlockWrite | MaskWrite):
            continue
        at = locate(step.address)
        place = at.column, at.row
        kind = kinds.get(place)
        if kind is None:
            continue
        number, odd = divmod(at.offset - kind.bd_base, kind.bd_stride)
        if 0 <= number < kind.bds:
            whole = isinstance(step, BlockWrite) and not odd and len(step.words) == kind.bd_words
            bds[place, number] = step.words if whole and isinstance(step, BlockWrite) else None
            continue
        for ch in pushed_channel(engine, step.address):
            before, more = (
                found.get(ch, 0),
                _task(kind, bds, place, step) if isinstance(step, Write) else None,
            )
            found[ch] = None if before is None or more is None else before + more
    return found


def _task(kind: TileKind, bds: _Bds, place: _Place, push: Write) -> int | None:
    """Words of all runs of a task; None if its chain has no end or a descriptor that is not known."""
    runs = (push.value >> QUEUE_REPEAT_LSB & QUEUE_REPEAT_MASK) + 1
    total, bd, seen = 0, push.value & QUEUE_START_BD_MASK, set[int]()
    while bd not in seen:
        seen.add(bd)
        words = bds.get((place, bd))
        if words is None:
            return None
        try:
            descriptor = decode(kind.name, words, bd)
        except DescriptorError:
            return None
        total += descriptor.length
        if descriptor.next is None:
            return runs * total
        bd = descriptor.next
    return None
