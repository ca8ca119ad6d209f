"""From a descriptor back to what somebody meant: an einops pattern of the words, with crop and zeros.

The loops in order of their steps are the factors of a memory shape, and in order of the stream the result. A
walk whose steps do not nest (overlapping windows) has no such pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap

from memtile.access.walk import Loop, Walk, loops, turn_words
from memtile.bd.descriptor import Descriptor

_NAMES = ("", "n", "hw", "chw", "nchw")  # one per memory dimension
_FACTORS = ("", "p", "q", "r")  # what a tile adds to the name of its dimension


@dataclass(frozen=True, slots=True)
class Rearrangement:
    """One execution as NumPy and einops would write it, ``x`` being the words from the first address on.

    ``np.pad(rearrange(x.reshape(shape)[crop], pattern, **sizes), pads)``, flattened, is the stream. ``x`` may
    have to be longer than the words touched to fill ``shape``.

    Attributes:
        pattern: memory dimensions ``->`` stream dimensions, slowest first.
        sizes: lengths of the named factors that the shape does not tell.
        shape: memory shape in words.
        crop: how much of each memory dimension is touched.
        pads: zeros before and after each stream dimension.
    """

    pattern: str
    sizes: dict[str, int]
    shape: tuple[int, ...]
    crop: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        shape = " x ".join(map(str, self.shape))
        cropped = [":" if n == size else f":{n}" for n, size in zip(self.crop, self.shape, strict=True)]
        part = f"[{', '.join(cropped)}]" if self.crop != self.shape else ""
        given = "".join(f", {name}={size}" for name, size in self.sizes.items())
        pads = f", then zeros {list(self.pads)}" if any(map(any, self.pads)) else ""
        return f'"{self.pattern}"{given} of {shape} words{part}{pads}'


@dataclass(slots=True)
class _Factor:
    """A loop and its places: ``stream`` counts from the slowest, ``group`` is a memory dimension."""

    loop: Loop
    stream: int
    name: str = ""


def describe(descriptor: Descriptor) -> Rearrangement | None:
    """The order of one execution; None when the steps do not nest or the length ends inside a loop."""
    nest = _whole_loops(Walk.of(descriptor))
    if nest is None:
        return None
    stream = [_Factor(loop, place) for place, loop in enumerate(reversed(nest))]
    memory = sorted(stream, key=lambda factor: -factor.loop.step)
    pitches = [factor.loop.step for factor in memory]
    if pitches[-1] < 1 or not all(starmap(_nests, pairwise(memory))):
        return None
    groups = _groups(memory)
    _name(groups)
    shape, crop = _shape(groups)
    left = [_term([factor.name for factor in group]) for group in groups]
    if pitches[-1] > 1:
        left, shape, crop = [*left, "1"], (*shape, pitches[-1]), (*crop, 1)
    return Rearrangement(
        pattern=f"{' '.join(left)} -> {' '.join(factor.name for factor in stream)}",
        sizes={factor.name: factor.loop.wrap for group in groups for factor in group[1:]},
        shape=shape,
        crop=crop,
        pads=tuple((factor.loop.before, factor.loop.after) for factor in stream),
    )


def _whole_loops(walk: Walk) -> list[Loop] | None:
    """The loops, innermost first, the last one ended by the length; None when that cuts a turn."""
    *inner, outer = loops(walk)
    units, rest = divmod(walk.length, turn_words(inner))
    turns = min(outer.wrap, units - outer.before)
    after = units - outer.before - turns
    if rest or turns < 1 or after > outer.after:
        return None
    return [*inner, outer._replace(wrap=turns, after=after)]


def _nests(outer: _Factor, inner: _Factor) -> bool:
    covered = inner.loop.step * inner.loop.wrap
    return outer.loop.step >= covered and outer.loop.step % inner.loop.step == 0


def _groups(memory: Sequence[_Factor]) -> list[list[_Factor]]:
    """Memory dimensions: factors without gap that keep their order in the stream, but apart, are one."""
    groups = [[memory[0]]]
    for outer, inner in pairwise(memory):
        dense = outer.loop.step == inner.loop.step * inner.loop.wrap
        if dense and outer.stream + 1 < inner.stream:
            groups[-1].append(inner)
        else:
            groups.append([inner])
    return groups


def _name(groups: Sequence[Sequence[_Factor]]) -> None:
    for letter, group in zip(_NAMES[len(groups)], groups, strict=True):
        for factor, suffix in zip(group, _FACTORS, strict=False):
            factor.name = letter + suffix


def _shape(groups: Sequence[Sequence[_Factor]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes of the memory dimensions, and how much of each is touched."""
    touched = [group[0].loop.step * group[0].loop.wrap // group[-1].loop.step for group in groups]
    sizes = [outer[-1].loop.step // inner[-1].loop.step for outer, inner in pairwise(groups)]
    return (touched[0], *sizes), tuple(touched)


def _term(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({' '.join(names)})"
