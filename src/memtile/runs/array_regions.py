"""Which buffer in external memory the user means by the name of an array."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.errors import Problem
from memtile.runs.array_names import Address, Argument, Given, Name, Own, Stream, TileMemory, Wanted
from memtile.runs.array_problems import buffer_twice, unknown
from memtile.runs.external_uses import ExternalRegion, ExternalUse, regions_of

LARGEST = 1 << 28  # bytes of a buffer that the user does not bring


@dataclass(frozen=True, slots=True)
class Asked:
    """An array that the user brings or wants, and what its name says."""

    name: Name
    array: Given | Wanted

    @property
    def wanted(self) -> bool:
        """Whether the program is to write it."""
        return isinstance(self.array, Wanted)


def nbytes(want: Wanted, dtype: np.dtype[Any]) -> int:
    """Size of what is wanted, in elements of ``dtype`` if it names no type; 0 = it has no shape."""
    return 0 if want.shape is None else prod(want.shape) * (want.dtype or dtype).itemsize


def fixed_by_address(
    uses: Sequence[ExternalUse], asked: Sequence[Asked], dtype: np.dtype[Any], *, pad: bool = False
) -> Iterator[tuple[int, int]]:
    """First byte and end of the buffers that are named by address; arrays to ``pad`` do not say where it is.

    One whose size nobody says ends where the uses that it would be joined with end.
    """
    sizes: dict[int, int] = {}
    for each in asked:
        if isinstance(each.name, Address):
            array = each.array
            size = nbytes(array, dtype) if isinstance(array, Wanted) else array.array.nbytes * (not pad)
            sizes.setdefault(each.name.byte, size)
    known = [(byte, byte + size) for byte, size in sizes.items() if size]
    yield from known
    for byte in (byte for byte, size in sizes.items() if not size):
        joined = [r for r in regions_of(uses, known) if r.argument is None and r.first <= byte < r.end]
        if joined:
            yield byte, joined[0].end


def split_used(regions: Sequence[ExternalRegion], asked: Sequence[Asked]) -> tuple[list[Asked], list[str]]:
    """Arrays for what the program uses, and a line about each kernel argument that it does not.

    A host passes as many arguments as the kernel has, whether the program uses them or not; which ones it
    uses is known where pointer patches name them.
    """
    arguments = {region.argument for region in regions if region.argument is not None}
    used, unused = [], []
    for each in asked:
        name = each.name
        if isinstance(name, Argument) and arguments and name.number not in arguments and not each.wanted:
            unused.append(f"argument {name.number}: the program does not use it")
        else:
            used.append(each)
    return used, unused


def find_regions(
    regions: Sequence[ExternalRegion], asked: Sequence[Asked]
) -> tuple[dict[Name, ExternalRegion], list[Problem]]:
    """Which region each name means; names of the user's own take what is left, in order.

    Returns:
        The region of each name that means one, and what is wrong with the others.
    """
    meant: dict[Name, ExternalRegion] = {}
    holders: dict[tuple[str, bool], str] = {}
    problems = []
    external = [each for each in asked if not isinstance(each.name, TileMemory | Stream)]
    for each in sorted(external, key=lambda each: isinstance(each.name, Own)):
        text = each.array.name
        region = meant.get(each.name) or _region(each, regions, meant.values())
        if region is None:
            problems.append(unknown(text, regions, wanted=each.wanted))
            continue
        meant[each.name] = region
        holder = holders.setdefault((region.title, each.wanted), text)
        if holder != text:
            problems.append(buffer_twice(text, region, holder))
    return meant, problems


def zeros_for(uses: Sequence[ExternalUse], named: Collection[str]) -> list[Given]:
    """Zeros for the buffers that a program only reads, by number; those in ``named`` have arrays already."""
    numbered = _numbered(regions_of(uses)).items()
    missing = {str(n): r for n, r in numbered if r.reads and not r.writes and r.needed <= LARGEST}
    words = {name: -(-region.needed // WORD_BYTES) for name, region in missing.items() if name not in named}
    return [Given(name, np.zeros(size, np.uint32)) for name, size in words.items()]


def _numbered(regions: Sequence[ExternalRegion]) -> dict[int, ExternalRegion]:
    """Buffers by number: kernel arguments where the program knows them, else counted by address."""
    arguments = {r.argument: r for r in regions if r.argument is not None}
    return arguments or dict(enumerate(regions))


def _region(
    asked: Asked, regions: Sequence[ExternalRegion], taken: Collection[ExternalRegion]
) -> ExternalRegion | None:
    if isinstance(asked.name, Address):
        first = asked.name.byte
        return next((r for r in regions if r.argument is None and r.first == first), None)
    if isinstance(asked.name, Argument):
        return _numbered(regions).get(asked.name.number)
    used = [r for r in regions if (r.writes if asked.wanted else r.reads)]
    free = [r for r in used if not any(r is other for other in taken)]
    one_way = [r for r in free if not (r.reads and r.writes)]
    return next(iter(one_way or free), None)
