"""Another walk of a channel as a whole, where no change of one number of it makes the words right.

Tried are the walks of other channels, as what is cut by one is put together by another one, and the walk that
the words themselves need, if each of them is in one place of the memory alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memtile.access.walk import PAD
from memtile.bd.descriptor import Descriptor, Dim
from memtile.bd.windows import DmaAddress
from memtile.explain.evidence import NO_EVIDENCE
from memtile.explain.walk_changes import (
    UNKNOWN,
    Change,
    Part,
    Words,
    advised,
    dims_text,
    fits,
    places_of,
    walked,
)

Dims = tuple[Dim, ...]


def whole_walk(
    bds: Mapping[int, Descriptor], parts: Sequence[Part], others: Sequence[Dims], *, writes: bool
) -> Change | None:
    """The walk with which all executions of a channel are right; None if none is known.

    Args:
        bds: its descriptors, by their numbers.
        parts: its executions.
        others: walks of other channels.
        writes: whether it is an S2MM channel.
    """
    if not parts or any(any(bd.pad) for bd in bds.values()) or fits(bds, parts, writes=writes):
        return None
    bds, parts = _joined(bds, parts)
    bd, part = bds[parts[0].number], parts[0]
    for dims, by in _candidates(bd, part, others, writes=writes):
        new = {
            number: replace(each, dims=dims, address=DmaAddress(each.address + by))
            for number, each in bds.items()
        }
        if fits(new, parts, writes=writes):
            made, verb = new[part.number], "writes" if writes else "reads"
            does = f"{verb} {_text(bd)} where it needs {_text(made)}"
            moved = f", {abs(by)} words {'later' if by > 0 else 'earlier'}" if by else ""
            fix, evidence = f"Give it {_text(made)}{moved}.", advised(made) if made.dims else NO_EVIDENCE
            return Change(does, fix, list(bds.values()), list(new.values()), evidence)
    return None


def _joined(bds: Mapping[int, Descriptor], parts: Sequence[Part]) -> tuple[dict[int, Descriptor], list[Part]]:
    """Descriptors and their executions, as one where they move the words of one object in a row."""
    found, same = dict[int, Descriptor](), dict[int, int]()
    for number, bd in bds.items():
        last = next(reversed(found), -1)
        before = found.get(last)
        goes_on = before is not None and before.address + before.length == bd.address
        plain = before is not None and not (before.dims or bd.dims or bd.acquire.enable)
        if before is not None and goes_on and plain:
            found[last], same[number] = replace(before, length=before.length + bd.length), last
        else:
            found[number] = bd
    joined = list[Part]()
    for part in parts:
        first = same.get(part.number)
        if (
            first is not None
            and joined
            and (joined[-1].number, joined[-1].execution) == (first, part.execution)
        ):
            joined[-1] = joined[-1]._replace(words=np.concatenate((joined[-1].words, part.words)))
        else:
            joined.append(part)
    return found, joined


def _candidates(
    bd: Descriptor, part: Part, others: Sequence[Dims], *, writes: bool
) -> Iterator[tuple[Dims, int]]:
    """Walks, and how much later each begins."""
    at = walked(bd, part.execution, writes=writes)
    if not len(at) or (at == PAD).any() or part.words[0] == UNKNOWN:
        return
    for dims in dict.fromkeys((*others, *(put_back(each, bd) for each in others))):
        if dims and dims != bd.dims and len(dims) <= bd.kind.dimensions:
            for place in places_of(part.memory, part.words[0]):
                yield dims, int(place + part.first - at[0])
    needed = _places(part)
    dims = () if needed is None else _dims(needed)
    if needed is not None and 0 < len(dims) < bd.kind.dimensions:
        yield dims, int(needed[0] + part.first - at[0])


def put_back(dims: Dims, bd: Descriptor) -> Dims:
    """The walk that puts back what another one has put into another order; empty if it is none."""
    at = walked(replace(bd, dims=dims), 0, writes=True)
    order = np.argsort(at, kind="stable")
    return _dims(order) if (np.diff(at[order]) == 1).all() else ()


def _places(part: Part) -> Words | None:
    """Where each word of a part is in the memory; None where one is nowhere, or in two places."""
    order = np.argsort(part.memory, kind="stable")
    kept = part.memory[order]
    first, behind = (np.searchsorted(kept, part.words, side) for side in ("left", "right"))
    return order[first] if bool((behind - first == 1).all()) else None


def _dims(places: Words) -> Dims:
    """The dimensions of a walk over places; empty if it is none."""
    found = list[Dim]()
    while len(places) > 1:
        step = int(places[1] - places[0])
        turns = int(np.argmax(np.append(np.diff(places) != step, True))) + 1
        rows = places.reshape(-1, turns) if len(places) % turns == 0 else places[:0].reshape(0, 1)
        if step <= 0 or not len(rows) or (rows - rows[:, :1] != step * np.arange(turns)).any():
            return ()
        found.append(Dim(step, turns))
        places = rows[:, 0]
    return tuple(found)


def _text(bd: Descriptor) -> str:
    return dims_text(bd) if bd.dims else f"{bd.length} words in a row"
