"""The walk that a channel should have, by what it moved and what it should have moved: one change of it.

Of each execution the memory is known at which it reads or writes, and its words, as both should be. Changes
are an exchange of two dimensions or of one with the iteration, the sizes or strides of two exchanged, zeros
otherwise before and behind one, another stride, offset, or step or number of steps of the iteration, and rows
where a descriptor of a host has none. A change counts if with it every word of every execution fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.access.walk import PAD, Walk, addresses
from memtile.bd.descriptor import Descriptor, Dim, Pad
from memtile.bd.windows import DmaAddress
from memtile.explain.evidence import NO_EVIDENCE, AdvisedWalk, Evidence

Words = npt.NDArray[np.int64]
UNKNOWN = -1
"""Instead of a word."""
UNSEEN = -2
"""Instead of a word of which nobody knows what a core would make of it: any word may be meant."""
_FEW = 32  # places that are tried for one word
_SLIPS = (1, 2, 4, 8, 16)  # words by which an offset may be off


class Part(NamedTuple):
    """Words that one execution of a descriptor moves, and the memory at which it does.

    Attributes:
        number: of the BD.
        memory: its words.
        first: what addresses of the BD have more than places of ``memory``.
        words: in the order of the stream.
        execution: how often the BD ran before.
    """

    number: int
    memory: Words
    first: int
    words: Words
    execution: int


class Change(NamedTuple):
    """Another walk of a channel.

    Attributes:
        does: what the channel does, after its name.
        fix: what it should do.
        old: its descriptors.
        new: as they should be.
        evidence: the walk that it should have, or how much later it should begin.
    """

    does: str
    fix: str
    old: Sequence[Descriptor]
    new: Sequence[Descriptor]
    evidence: Evidence = NO_EVIDENCE


class _Candidate(NamedTuple):
    """A change that may fit."""

    does: str
    fix: str
    make: Callable[[Descriptor], Descriptor]
    evidence: Evidence = NO_EVIDENCE


def change_of(
    bds: Mapping[int, Descriptor], parts: Sequence[Part], *, writes: bool, in_a_row: bool = True
) -> Change | None:
    """The change with which all executions of a channel are right; None if they are, or none is known.

    Args:
        bds: its descriptors, by their numbers.
        parts: its executions.
        writes: whether it is an S2MM channel.
        in_a_row: dimensions in a tile may be changed so that they do nothing.
    """
    if not parts or fits(bds, parts, writes=writes):
        return None
    for each in _candidates(bds[parts[0].number], parts, writes=writes):
        new = {number: each.make(bd) for number, bd in bds.items()}
        if not in_a_row and _does_nothing(new[parts[0].number], writes=writes):
            continue
        if fits(new, parts, writes=writes):
            return Change(each.does, each.fix, list(bds.values()), list(new.values()), each.evidence)
    return _exchanged_iteration(bds, parts, writes=writes) if len(bds) == 1 else None


def _does_nothing(bd: Descriptor, *, writes: bool) -> bool:
    """Whether a descriptor of a tile has dimensions by which it moves words in a row: nobody writes them."""
    if not bd.dims or bd.kind.axi_masters:
        return False
    return bool((np.diff(walked(bd, 0, writes=writes)) == 1).all())


def _exchanged_iteration(
    bds: Mapping[int, Descriptor], parts: Sequence[Part], *, writes: bool
) -> Change | None:
    """An exchange of a dimension with the iteration, which makes other executions of the same words."""
    ((number, bd),) = bds.items()
    words = np.concatenate([part.words for part in parts])
    if any(bd.pad) or bd.iteration.wrap != len(parts) or len(parts) == 1:
        return None
    if any(not np.array_equal(part.memory, parts[0].memory) for part in parts):
        return None
    for d, size in enumerate(_sizes(bd)):
        dims = [Dim(dim.step, turns) for dim, turns in zip(bd.dims, _sizes(bd), strict=True)]
        iteration = bd.iteration._replace(step=dims[d].step, wrap=size, current=0)
        dims[d] = Dim(bd.iteration.step, bd.iteration.wrap)
        length = len(words) // max(size, 1)
        if size <= 1 or length * size != len(words):
            continue
        new = replace(bd, length=length, dims=tuple(dims), iteration=iteration)
        again = [
            Part(number, parts[0].memory, parts[0].first, words[length * n :][:length], n)
            for n in range(size)
        ]
        if fits({number: new}, again, writes=writes):
            does = f"{'writes' if writes else 'reads'} with {dims_text(bd)}"
            return Change(does, f"Exchange its dimensions: {dims_text(new)}.", [bd], [new], advised(new))
    return None


def walked(bd: Descriptor, execution: int, *, writes: bool) -> Words:
    """The addresses of an execution of a descriptor, from its first iteration on."""
    begun = replace(bd, iteration=bd.iteration._replace(current=0))
    walk = Walk.of(begun, execution)
    return addresses(walk.unpadded() if writes else walk)


def words_at(memory: Words, places: Words) -> Words:
    """Words of a memory; zeros where nothing is read, and unknown ones beyond it."""
    inside = (places >= 0) & (places < len(memory))
    found = memory[np.where(inside, places, 0)]
    return np.where(inside, found, np.where(places == PAD, 0, UNKNOWN))


def fits(bds: Mapping[int, Descriptor], parts: Sequence[Part], *, writes: bool) -> bool:
    """Whether descriptors move the words of all parts, as far as these are known."""
    for part in parts:
        at = walked(bds[part.number], part.execution, writes=writes)
        known = part.words != UNKNOWN
        if len(at) != len(known) or not known.any():
            return False
        found = words_at(part.memory, np.where(at == PAD, PAD, at - part.first))
        data = at[at != PAD] - part.first
        is_inside = bool(len(data)) and data.min() >= 0 and data.max() < len(part.memory)
        seen = known & (found != UNSEEN)
        if not is_inside or 2 * np.count_nonzero(seen) < np.count_nonzero(known):
            return False
        if (found[seen] != part.words[seen]).any():
            return False
    return True


def _candidates(bd: Descriptor, parts: Sequence[Part], *, writes: bool) -> Iterator[_Candidate]:
    """Changes of the first descriptor of a channel, likeliest first; they hold for its others too."""
    verb, at = "writes" if writes else "reads", walked(bd, parts[0].execution, writes=writes)
    yield from _exchanges(bd, verb)
    yield from _paddings(bd, verb)
    yield from _rows(bd, verb, at, parts[0])
    yield from _strides(bd, verb, at, parts[0])
    yield from _iterations(bd, verb, at, parts)
    yield from _wraps(bd, verb, parts)
    data = np.flatnonzero((at != PAD) & (parts[0].words != UNKNOWN))
    for place in places_of(parts[0].memory, parts[0].words[data[0]]) if len(data) else ():
        by = int(place + parts[0].first - at[data[0]])
        if by:
            does = f"{verb} {_count(abs(by))} {'too far on' if by < 0 else 'too early'}"
            begins = int(bd.address) - parts[0].first + by
            where = f"it should begin at word {begins}" if bd.kind.axi_masters else "in its buffer"
            fix = f"Give it an offset {_count(abs(by))} {'smaller' if by < 0 else 'larger'}: {where}."
            fix, evidence = fix.replace(": in its", " in its"), Evidence(further=by)
            yield _Candidate(does, fix, partial(_moved, by), evidence)


def likely_walks(bd: Descriptor, size: int, first: int, *, writes: bool) -> Iterator[_Candidate]:
    """Walks that may be meant instead of one where nobody knows which words it should move.

    Args:
        bd: a descriptor.
        size: words of the memory at which it is.
        first: what its addresses have more than places of that memory.
        writes: whether it is one of an S2MM channel.
    """
    verb = "writes" if writes else "reads"
    yield from _exchanges(bd, verb)
    yield from _paddings(bd, verb)
    for d, dim in enumerate(bd.dims[1:], 1):
        inside = bd.dims[d - 1].step * _sizes(bd)[d - 1]
        if dim.step != inside:
            does = f"{verb} with a stride of {_count(dim.step)}, where what is inside takes {inside}"
            dims = (*bd.dims[:d], dim._replace(step=inside), *bd.dims[d + 1 :])
            fix = f"Give it the stride {inside} instead of {dim.step} (words)."
            yield _Candidate(does, fix, partial(_with_dims, dims))
    begin = bd.address - first
    whole = range(0, size, max(bd.length, 1)) if size <= _FEW * bd.length else ()
    slips = [begin + sign * by for by in _SLIPS for sign in (1, -1)]
    for place in dict.fromkeys((*whole, *slips)):
        by = place - begin
        if by and 0 <= place < size:
            does = f"{verb} {_count(abs(by))} {'too far on' if by < 0 else 'too early'}"
            yield _Candidate(does, f"Let it begin at word {place}.", partial(_moved, by))


def _exchanges(bd: Descriptor, verb: str) -> Iterator[_Candidate]:
    whole = _with_outer(bd)
    for one in range(len(whole.dims)):
        for other in range(one):
            make = partial(_reshaped, _exchanged, one, other)
            if (made := make(bd)) != whole:
                does, fix = f"{verb} with {dims_text(whole)}", f"Exchange its dimensions: {dims_text(made)}."
                yield _Candidate(does, fix, make, advised(made))
    yield from _other_shapes(bd, verb)


def _other_shapes(bd: Descriptor, verb: str) -> Iterator[_Candidate]:
    """The sizes of two dimensions in each other's place, with the steps that follow from them or without."""
    bd = _with_outer(bd)
    for one in range(len(bd.dims)):
        for other in range(one):
            for reshape in (_sizes_exchanged, _steps_exchanged):
                made = reshape(one, other, bd)
                if made != bd:
                    make = partial(_reshaped, reshape, one, other)
                    does, fix = f"{verb} with {dims_text(bd)}", f"Give it {dims_text(made)}."
                    yield _Candidate(does, fix, make, advised(made))


def _paddings(bd: Descriptor, verb: str) -> Iterator[_Candidate]:
    """As many zeros of a dimension, otherwise before and behind it: at the other sides first."""
    for d, pad in enumerate(bd.pad):
        for before in dict.fromkeys((pad.after, *range(min(sum(pad), _FEW) + 1))):
            new = Pad(before, sum(pad) - before)
            if new != pad:
                does = f"{verb} with {pad.before} zeros before and {pad.after} behind its dimension {d}"
                how = "Exchange" if new.before == pad.after else "Change"
                fix = f"{how} the padding: {new.before} before and {new.after} behind."
                yield _Candidate(does, fix, partial(_padded, d, new))


def _rows(bd: Descriptor, verb: str, at: Words, part: Part) -> Iterator[_Candidate]:
    """Rows with gaps, where a host has none: the second begins at a word that is wrong, or by luck right."""
    if bd.dims or bd.pad or not bd.kind.axi_masters:
        return
    differs = np.flatnonzero(words_at(part.memory, at - part.first) != part.words)
    last = int(differs[0]) if len(differs) else 0
    sizes = [size for size in range(last, last // 2, -1) if len(at) % size == 0]
    for size, place in [(each, at) for each in sizes for at in places_of(part.memory, part.words[each])]:
        step = int(place + part.first - at[0])
        if step > size:
            does = (
                f"{verb} {len(at)} words without gaps where rows of {_count(size)} are needed, {step} apart"
            )
            fix = f"Give it rows of {_count(size)} with a stride of {step}."
            yield _Candidate(does, fix, partial(_with_dims, (Dim(1, size), Dim(step))))


def _strides(bd: Descriptor, verb: str, at: Words, part: Part) -> Iterator[_Candidate]:
    """Strides with which the second turn of a dimension begins at the word that is wanted there."""
    every = _with_outer(bd).dims if bd.dims else ()
    for d, dim in enumerate(every):
        inner = int(np.prod([each.wrap or 1 for each in every[:d]], dtype=np.int64))
        if inner >= len(part.words) or any(bd.pad):
            return
        for place in places_of(part.memory, part.words[inner]):
            step = int(place + part.first - at[0])
            if step > 0 and step != dim.step:
                does = f"{verb} with a stride of {_count(dim.step)} where it needs {step}"
                fix = f"Give it the stride {step} instead of {dim.step} (words)."
                dims = (*every[:d], dim._replace(step=step), *every[d + 1 :])
                yield _Candidate(does, fix, partial(_with_dims, dims))


def _iterations(bd: Descriptor, verb: str, at: Words, parts: Sequence[Part]) -> Iterator[_Candidate]:
    if bd.iteration.wrap < len(parts[:2]) or len(parts) == 1:
        return
    for place in places_of(parts[1].memory, parts[1].words[0]):
        step, old = int(place + parts[1].first - at[0]), bd.iteration.step
        does = f"{verb} {_count(old)} further in each iteration where it needs {step}"
        fix = f"Give its iteration the step {step} instead of {old} (words)."
        yield _Candidate(does, fix, partial(_iterated, step))


def _wraps(bd: Descriptor, verb: str, parts: Sequence[Part]) -> Iterator[_Candidate]:
    """As many steps of an iteration as there are executions before the first words come again."""
    again = (n for n in range(1, len(parts)) if np.array_equal(parts[n].words, parts[0].words))
    steps, old = next(again, 0), bd.iteration.wrap
    if 0 < steps < old:
        does = f"{verb} {old} blocks by its iteration before it begins again, where it needs {steps}"
        make = partial(_wrapped, steps)
        yield _Candidate(does, f"Give its iteration {steps} steps instead of {old}.", make)


def _wrapped(steps: int, bd: Descriptor) -> Descriptor:
    return replace(bd, iteration=bd.iteration._replace(wrap=steps))


def _moved(by: int, bd: Descriptor) -> Descriptor:
    return replace(bd, address=DmaAddress(bd.address + by))


def _iterated(step: int, bd: Descriptor) -> Descriptor:
    return replace(bd, iteration=bd.iteration._replace(step=step))


def _with_dims(dims: Sequence[Dim], bd: Descriptor) -> Descriptor:
    return replace(bd, dims=tuple(dims))


def _padded(d: int, pad: Pad, bd: Descriptor) -> Descriptor:
    """A descriptor with other zeros at a dimension; as it is where it has none there."""
    if d >= len(bd.pad):
        return bd
    dims = bd.dims or (Dim(1, bd.length - sum(bd.pad[0])),)
    return replace(bd, pad=(*bd.pad[:d], pad, *bd.pad[d + 1 :]), dims=dims)


def _exchanged(one: int, other: int, bd: Descriptor) -> Descriptor:
    """A descriptor with two dimensions in the other order; as it is where it has not both, or zeros."""
    if max(one, other) >= len(bd.dims) or any(bd.pad):
        return bd
    dims = [Dim(dim.step, size) for dim, size in zip(bd.dims, _sizes(bd), strict=True)]
    dims[one], dims[other] = dims[other], dims[one]
    return replace(bd, dims=tuple(dims))


def _reshaped(
    reshape: Callable[[int, int, Descriptor], Descriptor], one: int, other: int, bd: Descriptor
) -> Descriptor:
    """A descriptor of the same channel; one that has not these dimensions stays."""
    whole = _with_outer(bd)
    return reshape(one, other, whole) if max(one, other) < len(whole.dims) else bd


def _with_outer(bd: Descriptor) -> Descriptor:
    """A descriptor with its outermost dimension, which registers leave out where its step is a word."""
    inner = int(np.prod([dim.wrap for dim in bd.dims], dtype=np.int64))
    if not inner or inner >= bd.length or len(bd.dims) >= bd.kind.dimensions or any(bd.pad):
        return bd
    return replace(bd, dims=(*bd.dims, Dim(1, bd.length // inner)))


def _sizes_exchanged(one: int, other: int, bd: Descriptor) -> Descriptor:
    """A descriptor with the sizes of two dimensions in each other's place; as it is where zeros are sent."""
    sizes = _sizes(bd)
    if any(bd.pad) or sizes[one] == sizes[other]:
        return bd
    sizes[one], sizes[other] = sizes[other], sizes[one]
    return replace(bd, dims=tuple(dim._replace(wrap=size) for dim, size in zip(bd.dims, sizes, strict=True)))


def _steps_exchanged(one: int, other: int, bd: Descriptor) -> Descriptor:
    """A descriptor with the steps of two dimensions in each other's place."""
    return _exchanged(one, other, _sizes_exchanged(one, other, bd)) if not any(bd.pad) else bd


def _sizes(bd: Descriptor) -> list[int]:
    """Turns of each dimension, of which the last one has what is left."""
    sizes = [dim.wrap for dim in bd.dims]
    inner = int(np.prod([size or 1 for size in sizes[:-1]], dtype=np.int64))
    if sizes and not sizes[-1]:
        sizes[-1] = max(bd.length // max(inner, 1), 1)
    return sizes


def places_of(memory: Words, word: np.int64) -> list[int]:
    """Where a word is in a memory, the first places of many."""
    return [] if word == UNKNOWN else np.flatnonzero(memory == word)[:_FEW].tolist()


def dims_text(bd: Descriptor) -> str:
    """``sizes 8, 16 and strides 16, 1``, the outermost first."""
    return "sizes {} and strides {}".format(*(", ".join(map(str, each)) for each in _walk(bd)))


def advised(bd: Descriptor) -> Evidence:
    """The walk of a descriptor as what a channel should have."""
    return Evidence(walks=(_walk(bd),))


def _walk(bd: Descriptor) -> AdvisedWalk:
    """The sizes and strides of a descriptor with those of its iteration."""
    sizes, steps = _sizes(bd), [dim.step for dim in bd.dims]
    if bd.iteration.wrap > 1:
        sizes, steps = [*sizes, bd.iteration.wrap], [*steps, bd.iteration.step]
    return AdvisedWalk(tuple(reversed(sizes)), tuple(reversed(steps)))


def _count(words: int) -> str:
    return f"{words} word{'s' * (words != 1)}"
