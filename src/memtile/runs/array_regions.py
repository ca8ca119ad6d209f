"""Which buffer in external memory the name of an array means, and what can be wrong with arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from memtile.errors import Problem
from memtile.runs.array_names import Address, Argument, Given, Name, Own, Stream, TileMemory, Wanted
from memtile.runs.external_uses import ExternalRegion, ExternalUse, regions_of

LARGEST = 1 << 28  # bytes of a buffer that the user does not bring
_SOURCE = "the program"
_NO_MEMORY = "the tile has no data memory"


def _problem(
    reason: str, name: str, field: str, given: str, allowed: str, next_step: str = "", says: str = ""
) -> Problem:
    return Problem(
        field, given, allowed, says, next_step, reason=reason, where=f"array {name}", source=_SOURCE
    )


def name_twice(name: str, times: int, option: str) -> Problem:
    """One name, several arrays with the same ``option``."""
    says = f"the array is given {times} times with {option}; it must be given once"
    return _problem("array_twice", name, "name", f"{times} times", f"once with {option}", says=says)


def buffer_twice(name: str, region: ExternalRegion, holder: str) -> Problem:
    """A buffer that another name, ``holder``, means too."""
    says = f"the buffer {region.title} is that of array {holder} already"
    return _problem("array_twice", name, "buffer", region.title, f"not that of {holder}", says=says)


def unknown(name: str, regions: Sequence[ExternalRegion], *, wanted: bool) -> Problem:
    """A name that means none of the ``regions`` that the program writes (``wanted``) or reads."""
    what, verb = ("output", "writes") if wanted else ("input", "reads")
    there = [region.text for region in regions if (region.writes if wanted else region.reads)]
    allowed = "; ".join(there) or f"none: the program {verb} no external memory"
    says = f"no {what} is called {name!r}; "
    says += f"the {what}s are {allowed}" if there else f"the program {verb} no external memory"
    return _problem("array_unknown", name, what, repr(name), allowed, says=says)


def missing(region: ExternalRegion, name: str) -> Problem:
    """A buffer that the program only reads, without contents."""
    if name == "NAME" and region.argument is not None:
        name = str(region.argument)
    return Problem(
        f"buffer {region.title}",
        "no array",
        region.text.removeprefix(f"{region.title}, "),
        f"the program needs an array for buffer {region.text}",
        f"Give --in {name}=FILE.npy, or --pad-arguments for zeros.",
        reason="array_missing",
        where="memtile run",
        source=_SOURCE,
    )


def not_to_be_made(name: str, size: int, largest: int) -> Problem:
    """A wanted buffer of ``size`` bytes, none or too many."""
    step = "" if size else f"Say how much: {name}:int32:16x8."
    return _problem("array_size", name, "size", f"{size} bytes", f"1..{largest} bytes", step)


def not_words(name: str, size: int) -> Problem:
    """An array of ``size`` bytes that are no words."""
    says = f"size is {size} bytes; it must be whole 32-bit words, at least one"
    return _problem("array_size", name, "size", f"{size} bytes", "whole 32-bit words", says=says)


def not_numbers(name: str, kind: str) -> Problem:
    """An array of objects, texts or times."""
    says = f"the elements are {kind}; they must be numbers, or records of numbers"
    return _problem("array_dtype", name, "array", kind, "numbers, or records of numbers", says=says)


def too_small(name: str, size: int, region: ExternalRegion) -> Problem:
    """An array that the program reaches beyond."""
    says = f"size is {size} bytes; the buffer needs at least {region.needed}: {region.text}"
    allowed = f"{region.needed} bytes or more ({region.text})"
    step = "Give --pad-arguments (run_program(pad_arguments=True)) to fill it up with zeros."
    return _problem("array_size", name, "size", f"{size} bytes", allowed, step, says)


def not_a_receiver(name: str) -> Problem:
    """An array for a stream that only sends."""
    says = "an MM2S stream leaves the tile; --in needs an S2MM stream"
    return _problem("array_direction", name, "stream", "MM2S", "S2MM with --in", says=says)


def not_a_sender(name: str) -> Problem:
    """An array from a stream that only receives."""
    says = "an S2MM stream enters the tile; --out needs an MM2S stream"
    return _problem("array_direction", name, "stream", "S2MM", "MM2S with --out", says=says)


def outside_memory(name: str, place: TileMemory, size: int, memory_bytes: int) -> Problem:
    """Bytes that a tile's memory does not have, or that are no words."""
    given, allowed = f"{size} bytes from {place.offset:#x}", f"whole words within {memory_bytes:#x} bytes"
    says = f"the array covers bytes {place.offset:#x}..{place.offset + max(size, 1) - 1:#x}; "
    says += f"they must be whole words in 0x0..{memory_bytes - 1:#x}" if memory_bytes else _NO_MEMORY
    return _problem("array_place", name, "tile memory", given, allowed, says=says)


def no_shape(name: str) -> Problem:
    """Tile memory is wanted, and nobody says how much."""
    step = f"Say how much: {name}:int32:16x8."
    return _problem("array_shape", name, "shape", "none", "a shape", step, "the shape is missing")


def not_elements(name: str, size: int, dtype: np.dtype[Any]) -> Problem:
    """A buffer of ``size`` bytes that are no elements of the type."""
    allowed = f"a multiple of {dtype.itemsize} bytes, as {dtype} needs"
    return _problem("array_size", name, "size", f"{size} bytes", allowed, "Name another type.")


def shape_does_not_fit(name: str, asked: int, size: int, region: ExternalRegion) -> Problem:
    """A shape of ``asked`` bytes for a buffer of ``size``."""
    says = f"the shape takes {asked} bytes; the buffer has {size}: {region.text}"
    allowed = f"{size} bytes ({region.text})"
    return _problem("array_size", name, "shape", f"{asked} bytes", allowed, says=says)


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
