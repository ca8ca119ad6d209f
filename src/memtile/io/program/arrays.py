"""Which array of the user is which buffer, tile memory or stream of a program; all that is wrong at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import MM2S, S2MM, TILE_KINDS, WORD_BYTES
from memtile.errors import InputFileError, MemtileError, Problem, raise_if
from memtile.io.program.array_names import (
    Address,
    Argument,
    Given,
    Name,
    Own,
    Stream,
    TileMemory,
    Wanted,
    parse_name,
)
from memtile.io.program.external_regions import ExternalRegion, regions_of
from memtile.io.program.external_uses import ExternalUse
from memtile.io.program.operations import ArrayShape

Words = npt.NDArray[np.uint32]
LARGEST = 1 << 28  # bytes of a buffer that the user does not bring
_SOURCE = "the program"


@dataclass(eq=False)
class ExternalArray:
    """A buffer in external memory.

    Attributes:
        name: the user's, or that of the region.
        region: what the program does with it.
        words: its contents; changed by runs.
        given: whether the user brought the contents.
    """

    name: str
    region: ExternalRegion
    words: Words
    given: bool


Source = ExternalArray | TileMemory | Stream


@dataclass(frozen=True, slots=True)
class Output:
    """An array to take after the run: where from, and as what; a stream's is flat and as long as it comes."""

    name: str
    source: Source
    dtype: np.dtype[Any]
    shape: tuple[int, ...] = ()

    @property
    def nbytes(self) -> int:
        """Its size."""
        return prod(self.shape) * self.dtype.itemsize


@dataclass
class BoundArrays:
    """Everything that goes into a run and comes out.

    Attributes:
        arguments: kernel arguments that the program knows.
        externals: buffers in external memory.
        memories: words to put into tile memories first.
        feeds: words to offer at streams.
        outputs: what to take.
    """

    arguments: tuple[int, ...] = ()
    externals: list[ExternalArray] = field(default_factory=list)
    memories: list[tuple[TileMemory, Words]] = field(default_factory=list)
    feeds: list[tuple[Stream, Words]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)


def bind(
    uses: Sequence[ExternalUse],
    arguments: Sequence[int],
    given: Sequence[Given],
    wanted: Sequence[Wanted],
    shape: ArrayShape,
) -> BoundArrays:
    """Find what each name means in a program.

    Args:
        uses: of external memory by the program.
        arguments: kernel arguments that it knows.
        given: arrays for the program.
        wanted: arrays from the program.
        shape: of the array of tiles.

    Raises:
        InputFileError: a name that means nothing, a missing array, a wrong size; all problems at once.
    """
    return _Binder(uses, arguments, given, wanted, shape).bound()


class _Binder:
    def __init__(
        self,
        uses: Sequence[ExternalUse],
        arguments: Sequence[int],
        given: Sequence[Given],
        wanted: Sequence[Wanted],
        shape: ArrayShape,
    ) -> None:
        self._uses, self._arguments, self._shape = uses, tuple(arguments), shape
        self._problems: list[Problem] = []
        self._given = [(name, each) for each in given if (name := self._parse(each.name))]
        self._wanted = [(name, each) for each in wanted if (name := self._parse(each.name))]
        self._twice([each.name for each in given], "--in")
        self._twice([each.name for each in wanted], "--out")
        kinds = {each.array.dtype for each in given}
        self._dtype = kinds.pop() if len(kinds) == 1 else np.dtype(np.uint32)
        self._regions = regions_of(uses, list(self._fixed()), arguments)
        self._of_name: dict[Name, ExternalRegion] = {}

    def bound(self) -> BoundArrays:
        result = BoundArrays(self._arguments)
        self._find_regions()
        arrays = {region.title: array for region in self._regions if (array := self._external(region))}
        result.externals += arrays.values()
        for name, each in self._given:
            if isinstance(name, TileMemory):
                self._in_memory(name, each.name, each.array.nbytes)
            if isinstance(name, TileMemory | Stream):
                self._put(result, name, each)
        for name, want in self._wanted:
            region = self._of_name.get(name)
            source = arrays.get(region.title) if region else name
            if isinstance(source, ExternalArray | TileMemory | Stream):
                result.outputs += self._output(want, source)
        raise_if(self._problems, InputFileError)
        return result

    def _parse(self, text: str) -> Name | None:
        try:
            return parse_name(text, self._shape)
        except MemtileError as error:
            self._problems += error.problems
            return None

    def _twice(self, names: list[str], option: str) -> None:
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            given, allowed = f"{names.count(name)} times", f"once with {option}"
            says = f"the array is given {given} with {option}; it must be given once"
            self._fault("array_twice", name, "name", given, allowed, says=says)

    def _fault(
        self, reason: str, name: str, what: str, given: str, allowed: str, step: str = "", says: str = ""
    ) -> None:
        self._problems.append(
            Problem(
                reason=reason,
                where=f"array {name}",
                field=what,
                given=given,
                allowed=allowed,
                source=_SOURCE,
                next_step=step,
                says=says,
            )
        )

    def _fixed(self) -> Iterator[tuple[int, int]]:
        """First byte and end of the buffers that are named by address."""
        sizes = {name.byte: each.array.nbytes for name, each in self._given if isinstance(name, Address)}
        for name, want in self._wanted:
            if isinstance(name, Address) and name.byte not in sizes:
                sizes[name.byte] = self._wanted_bytes(want) or 0
        known = [(byte, byte + size) for byte, size in sizes.items() if size]
        yield from known
        for byte in (byte for byte, size in sizes.items() if not size):
            ends = [r.end for r in regions_of(self._uses, known) if r.argument is None and byte in _span(r)]
            if ends:
                yield byte, ends[0]

    def _wanted_bytes(self, want: Wanted) -> int | None:
        return None if want.shape is None else prod(want.shape) * (want.dtype or self._dtype).itemsize

    def _find_regions(self) -> None:
        """Which region each name means; names of the user's own take what is left, in order."""
        names = [(n, e, False) for n, e in self._given] + [(n, e, True) for n, e in self._wanted]
        holders: dict[tuple[str, bool], str] = {}
        for own in (False, True):
            for name, each, writes in names:
                if isinstance(name, Own) is own and not isinstance(name, TileMemory | Stream):
                    region = self._of_name.get(name) or self._region(name, writes)
                    if region is None:
                        self._unknown(each.name, writes)
                        continue
                    self._of_name[name] = region
                    holder = holders.setdefault((region.title, writes), each.name)
                    if holder != each.name:
                        says = f"the buffer {region.title} is that of array {holder} already"
                        allowed = f"not that of {holder}"
                        self._fault("array_twice", each.name, "buffer", region.title, allowed, says=says)

    def _region(self, name: Name, writes: bool) -> ExternalRegion | None:
        if isinstance(name, Address):
            return next((r for r in self._regions if r.argument is None and r.first == name.byte), None)
        if isinstance(name, Argument):
            arguments = {r.argument: r for r in self._regions if r.argument is not None}
            return (arguments or dict[int | None, ExternalRegion](enumerate(self._regions))).get(name.number)
        taken = [id(region) for region in self._of_name.values()]
        open_ones = [r for r in self._regions if (r.writes if writes else r.reads) and id(r) not in taken]
        one_way = [r for r in open_ones if not (r.reads and r.writes)]
        return next(iter(one_way or open_ones), None)

    def _unknown(self, name: str, writes: bool) -> None:
        what, verb = ("output", "writes") if writes else ("input", "reads")
        there = [region.text for region in self._regions if (region.writes if writes else region.reads)]
        allowed = "; ".join(there) or f"none: the program {verb} no external memory"
        says = f"no {what} is called {name!r}; "
        says += f"the {what}s are {allowed}" if there else f"the program {verb} no external memory"
        self._fault("array_unknown", name, what, repr(name), allowed, says=says)

    def _external(self, region: ExternalRegion) -> ExternalArray | None:
        """The buffer of a region, filled with what is given or with zeros."""
        names = [name for name, meant in self._of_name.items() if meant is region]
        given = next((each for name, each in self._given if name in names), None)
        want = next((each for name, each in self._wanted if name in names), None)
        label = given.name if given else want.name if want else region.title
        if given is not None:
            words = self._words(given, region.needed, region.text)
            return None if words is None else ExternalArray(label, region, words, given=True)
        size = max(region.needed, (want and self._wanted_bytes(want)) or 0)
        if region.reads and not region.writes:
            self._problems.append(_missing(region, want.name if want else "NAME"))
        elif want and not 0 < size <= LARGEST:
            step = "" if size else f"Say how much: {label}:int32:16x8."
            self._fault("array_size", label, "size", f"{size} bytes", f"1..{LARGEST} bytes", step)
        elif 0 < size <= LARGEST:
            words = np.zeros(-(-size // WORD_BYTES), dtype=np.uint32)
            return ExternalArray(label, region, words, given=False)
        return None

    def _words(self, given: Given, needed: int, why: str) -> Words | None:
        """A copy of a given array as words; None when its size is wrong."""
        size = given.array.nbytes
        if size == 0 or size % WORD_BYTES:
            says = f"size is {size} bytes; it must be whole 32-bit words, at least one"
            self._fault("array_size", given.name, "size", f"{size} bytes", "whole 32-bit words", says=says)
        elif size < needed:
            says = f"size is {size} bytes; the buffer needs at least {needed}: {why}"
            allowed = f"{needed} bytes or more ({why})"
            self._fault("array_size", given.name, "size", f"{size} bytes", allowed, says=says)
        else:
            raw = np.ascontiguousarray(given.array).reshape(-1).view(np.uint8)
            return raw.view(np.uint32).copy()
        return None

    def _put(self, result: BoundArrays, name: TileMemory | Stream, given: Given) -> None:
        if isinstance(name, Stream) and name.direction != S2MM:
            says = "an MM2S stream leaves the tile; --in needs an S2MM stream"
            self._fault("array_direction", given.name, "stream", "MM2S", "S2MM with --in", says=says)
        words = self._words(given, 0, "")
        if words is None:
            return
        if isinstance(name, TileMemory):
            result.memories.append((name, words))
        else:
            result.feeds.append((name, words))

    def _in_memory(self, place: TileMemory, name: str, size: int) -> None:
        kind = self._shape.tile(place.column, place.row)
        most = TILE_KINDS[kind].memory_bytes if kind else 0
        if place.offset % WORD_BYTES or place.offset + size > most:
            given, allowed = f"{size} bytes from {place.offset:#x}", f"whole words within {most:#x} bytes"
            says = f"the array covers bytes {place.offset:#x}..{place.offset + max(size, 1) - 1:#x}; "
            says += (
                f"they must be whole words in 0x0..{most - 1:#x}" if most else "the tile has no data memory"
            )
            self._fault("array_place", name, "tile memory", given, allowed, says=says)

    def _output(self, want: Wanted, source: Source) -> Iterator[Output]:
        """How to take a wanted array from where it comes."""
        dtype, shape = want.dtype or self._dtype, want.shape
        if isinstance(source, Stream):
            if source.direction != MM2S:
                says = "an S2MM stream enters the tile; --out needs an MM2S stream"
                self._fault("array_direction", want.name, "stream", "S2MM", "MM2S with --out", says=says)
        elif isinstance(source, TileMemory):
            if shape is None:
                step = f"Say how much: {want.name}:int32:16x8."
                self._fault(
                    "array_shape", want.name, "shape", "none", "a shape", step, "the shape is missing"
                )
                return
            self._in_memory(source, want.name, self._wanted_bytes(want) or 0)
        else:
            like = next((e.array for name, e in self._given if e.name == source.name), None)
            if like is not None and want.dtype is None and shape is None:
                dtype, shape = like.dtype, like.shape
            shape = self._fitting(want, source, dtype, shape)
        yield Output(want.name, source, dtype, shape or ())

    def _fitting(
        self, want: Wanted, source: ExternalArray, dtype: np.dtype[Any], shape: tuple[int, ...] | None
    ) -> tuple[int, ...]:
        """The shape of an external output: the given one if it fits, else flat."""
        size = source.words.nbytes if source.given else source.region.needed
        if shape is None:
            if size % dtype.itemsize:
                allowed = f"a multiple of {dtype.itemsize} bytes, as {dtype} needs"
                self._fault("array_size", want.name, "size", f"{size} bytes", allowed, "Name another type.")
            return (size // dtype.itemsize,)
        asked = prod(shape) * dtype.itemsize
        if asked < source.region.needed or (source.given and asked > size):
            says = f"the shape takes {asked} bytes; the buffer has {size}: {source.region.text}"
            allowed = f"{size} bytes ({source.region.text})"
            self._fault("array_size", want.name, "shape", f"{asked} bytes", allowed, says=says)
        return shape


def _span(region: ExternalRegion) -> range:
    return range(region.first, region.end)


def _missing(region: ExternalRegion, name: str) -> Problem:
    return Problem(
        reason="array_missing",
        where="memtile run",
        field=f"buffer {region.title}",
        given="no array",
        allowed=region.text.removeprefix(f"{region.title}, "),
        source=_SOURCE,
        next_step=f"Give --in {name}=FILE.npy.",
        says=f"the program needs an array for buffer {region.text}",
    )
