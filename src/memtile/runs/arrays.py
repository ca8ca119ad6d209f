"""Which array of the user is which buffer, tile memory or stream of a program; all that is wrong at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import EXTERNAL_PAGE, MM2S, S2MM, TILE_KINDS, WORD_BYTES
from memtile.errors import InputFileError, MemtileError, Problem, raise_if
from memtile.runs import array_regions as problem
from memtile.runs.array_names import Given, Name, Stream, TileMemory, Wanted, parse_name
from memtile.runs.array_regions import LARGEST, Asked, find_regions, fixed_by_address, nbytes, split_used
from memtile.runs.external_uses import ExternalRegion, ExternalUse, regions_of
from memtile.runs.machine import ArrayMachine, OwnDoor
from memtile.runs.operations import ArrayShape, address_of
from memtile.sim.ports.external_buffers import has_numbers

Words = npt.NDArray[np.uint32]
Swap = tuple[int, int]
"""Bytes within which parts are in the other order, and the bytes of each part."""


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
        notes: arrays that nothing uses, and arrays that were filled up with zeros, in words.
    """

    arguments: tuple[int, ...] = ()
    externals: list[ExternalArray] = field(default_factory=list)
    memories: list[tuple[TileMemory, Words]] = field(default_factory=list)
    feeds: list[tuple[Stream, Words]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def bind(
    uses: Sequence[ExternalUse],
    arguments: Sequence[int],
    given: Sequence[Given],
    wanted: Sequence[Wanted],
    shape: ArrayShape,
    *,
    pad: bool = False,
) -> BoundArrays:
    """Find what each name means in a program.

    Args:
        uses: of external memory by the program.
        arguments: kernel arguments that it knows.
        given: arrays for the program.
        wanted: arrays from the program.
        shape: of the array of tiles.
        pad: fill arrays up with zeros that are shorter than what the program touches.

    Raises:
        InputFileError: a name that means nothing, a missing array, a wrong size; all problems at once.
    """
    wrong: list[Problem] = []
    asked = [*_parsed(given, shape, wrong), *_parsed(wanted, shape, wrong)]
    wrong += [*_twice(given, "--in"), *_twice(wanted, "--out")]
    dtype = _common_type(given)
    regions = regions_of(uses, fixed_by_address(uses, asked, dtype, pad=pad), arguments)
    used, unused = split_used(regions, asked)
    meant, unclear = find_regions(regions, used)
    wrong += unclear

    result, buffers = BoundArrays(tuple(arguments)), dict[str, ExternalArray]()
    result.notes += unused
    for region in regions:
        arrays = [each.array for each in used if meant.get(each.name) is region]
        with _refusals_in(wrong):
            if array := _external(region, arrays, dtype, pad=pad):
                buffers[region.title] = array
                result.notes += _padded(array, arrays)
    result.externals += buffers.values()
    for each in used:
        with _refusals_in(wrong):
            if isinstance(each.array, Given):
                _put(result, each.name, each.array, shape)
            elif source := _source(each.name, meant, buffers):
                result.outputs.append(_output(each.array, source, given, dtype, shape))
    raise_if(wrong, InputFileError)
    return result


@contextmanager
def _refusals_in(wrong: list[Problem]) -> Iterator[None]:
    """A step that may be refused; why is put among what is ``wrong``, and the next step follows."""
    try:
        yield
    except MemtileError as error:
        wrong += error.problems


def _parsed(arrays: Iterable[Given | Wanted], shape: ArrayShape, wrong: list[Problem]) -> Iterator[Asked]:
    """What the names of arrays say, of those that say anything."""
    for array in arrays:
        with _refusals_in(wrong):
            yield Asked(parse_name(array.name, shape), array)


def _twice(arrays: Iterable[Given | Wanted], option: str) -> Iterator[Problem]:
    for name, times in Counter(array.name for array in arrays).items():
        if times > 1:
            yield problem.name_twice(name, times, option)


def _common_type(given: Sequence[Given]) -> np.dtype[Any]:
    """The type of all given arrays; words if they differ, or there are none."""
    kinds = {each.array.dtype for each in given}
    return kinds.pop() if len(kinds) == 1 else np.dtype(np.uint32)


def _external(
    region: ExternalRegion, arrays: Sequence[Given | Wanted], dtype: np.dtype[Any], *, pad: bool
) -> ExternalArray | None:
    """The buffer of a region, filled with what is given or with zeros; None if nobody needs it.

    Args:
        region: of external memory.
        arrays: of the user, that mean it.
        dtype: of wanted arrays that name no type.
        pad: fill an array up with zeros that is too short, or that nobody gave.

    Raises:
        InputFileError: nothing is given that the program only reads; a wrong size.
    """
    given = next((array for array in arrays if isinstance(array, Given)), None)
    want = next((array for array in arrays if isinstance(array, Wanted)), None)
    if given is not None:
        raise_if([*_size_problems(given, None if pad else region)], InputFileError)
        words = _words(given)
        lacking = max(-(-region.needed // WORD_BYTES) - len(words), 0) if pad else 0
        if lacking * WORD_BYTES > LARGEST:
            raise InputFileError(problem.not_to_be_made(given.name, region.needed, LARGEST))
        return ExternalArray(given.name, region, np.pad(words, (0, lacking)), given=True)
    if region.reads and not region.writes and not pad:
        raise InputFileError(problem.missing(region, want.name if want else "NAME"))
    name = want.name if want else region.title
    size = max(region.needed, nbytes(want, dtype) if want else 0)
    if 0 < size <= LARGEST:
        zeros = np.zeros(-(-size // WORD_BYTES), dtype=np.uint32)
        return ExternalArray(name, region, zeros, given=False)
    if want:
        raise InputFileError(problem.not_to_be_made(name, size, LARGEST))
    return None


def _padded(array: ExternalArray, asked: Sequence[Given | Wanted]) -> Iterator[str]:
    """What is said of an array that was filled up with zeros."""
    if array.region.reads and not (array.given or array.region.writes):
        yield f"{array.region.title}: no array was given; {array.words.nbytes} bytes of zeros"
    for each in asked:
        if isinstance(each, Given) and each.array.nbytes < array.words.nbytes:
            given, touched = each.array.nbytes, array.words.nbytes
            yield f"array {each.name}: {given} bytes given, {touched} touched; filled up with zeros"


def _size_problems(given: Given, region: ExternalRegion | None = None) -> Iterator[Problem]:
    size = given.array.nbytes
    if not has_numbers(given.array.dtype):
        yield problem.not_numbers(given.name, str(given.array.dtype))
    if size == 0 or size % WORD_BYTES:
        yield problem.not_words(given.name, size)
    elif region and size < region.needed:
        yield problem.too_small(given.name, size, region)


def _words(given: Given) -> Words:
    """A copy of a given array as words."""
    raw = np.ascontiguousarray(given.array).reshape(-1).view(np.uint8)
    return raw.view(np.uint32).copy()


def _put(result: BoundArrays, name: Name, given: Given, shape: ArrayShape) -> None:
    """Add what is given for a tile memory or a stream.

    Raises:
        InputFileError: a size or place that is not there, a stream that sends.
    """
    if isinstance(name, TileMemory):
        wrong = [*_place_problems(name, given.name, given.array.nbytes, shape), *_size_problems(given)]
        raise_if(wrong, InputFileError)
        result.memories.append((name, _words(given)))
    elif isinstance(name, Stream):
        sends = [] if name.direction == S2MM else [problem.not_a_receiver(given.name)]
        raise_if([*sends, *_size_problems(given)], InputFileError)
        result.feeds.append((name, _words(given)))


def _place_problems(place: TileMemory, name: str, size: int, shape: ArrayShape) -> Iterator[Problem]:
    kind = shape.tile(place.column, place.row)
    most = TILE_KINDS[kind].memory_bytes if kind else 0
    if place.offset % WORD_BYTES or place.offset + size > most:
        yield problem.outside_memory(name, place, size, most)


def _source(
    name: Name, meant: Mapping[Name, ExternalRegion], buffers: Mapping[str, ExternalArray]
) -> Source | None:
    """Where a wanted array comes from; None = nowhere, and it is said why."""
    if isinstance(name, TileMemory | Stream):
        return name
    return buffers.get(meant[name].title) if name in meant else None


def _output(
    want: Wanted, source: Source, given: Sequence[Given], dtype: np.dtype[Any], shape: ArrayShape
) -> Output:
    """How to take a wanted array from where it comes.

    Raises:
        InputFileError: a stream that receives; a shape that is missing or not there.
    """
    own = want.dtype or dtype
    if isinstance(source, Stream):
        raise_if([] if source.direction == MM2S else [problem.not_a_sender(want.name)], InputFileError)
        return Output(want.name, source, own, want.shape or ())
    if isinstance(source, ExternalArray):
        like = next((each.array for each in given if each.name == source.name), None)
        if like is not None and want.dtype is None and want.shape is None:
            want = replace(want, dtype=like.dtype, shape=like.shape)
            own = like.dtype
        return Output(want.name, source, own, _fitting(want, source, own))
    if want.shape is None:
        raise InputFileError(problem.no_shape(want.name))
    raise_if([*_place_problems(source, want.name, nbytes(want, dtype), shape)], InputFileError)
    return Output(want.name, source, own, want.shape)


def _fitting(want: Wanted, source: ExternalArray, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """The shape of an external output: the one that is wanted if it fits, flat if none is.

    Raises:
        InputFileError: it does not fit, or its type does not.
    """
    size = source.words.nbytes if source.given else source.region.needed
    if want.is_declared and want.shape and prod(want.shape) * dtype.itemsize < source.region.needed:
        want = replace(want, shape=None)
    if source.given and want.shape is not None and prod(want.shape) * dtype.itemsize <= size:
        return want.shape
    if want.shape is None:
        if size % dtype.itemsize:
            raise InputFileError(problem.not_elements(want.name, size, dtype))
        return (size // dtype.itemsize,)
    asked = prod(want.shape) * dtype.itemsize
    if asked < source.region.needed or (source.given and asked > size):
        raise InputFileError(problem.shape_does_not_fit(want.name, asked, size, source.region))
    return want.shape


_SWAPPED: ContextVar[Mapping[int, Swap]] = ContextVar("arguments whose bytes are swapped")


@contextmanager
def swapped_arguments(swaps: Mapping[int, Swap]) -> Iterator[None]:
    """Have programs inside read arguments with bytes in another order; the arrays stay as they are.

    Args:
        swaps: by number of the argument how many bytes, and how many of them stay together.
    """
    token = _SWAPPED.set(swaps)
    try:
        yield
    finally:
        _SWAPPED.reset(token)


def _as_read(each: ExternalArray) -> Words:
    """The words of an array, or others for a context in which its bytes are swapped."""
    swap = _SWAPPED.get({}).get(-1 if each.region.argument is None else each.region.argument)
    if swap is None or each.words.nbytes % swap[0]:
        return each.words
    parts = each.words.view(np.uint8).reshape(-1, swap[0] // swap[1], swap[1])
    return np.ascontiguousarray(parts[:, ::-1]).reshape(-1).view(np.uint32)


def place(bound: BoundArrays, array: ArrayMachine) -> dict[int, int]:
    """Bring the arrays into external memory, tile memories and streams.

    Returns:
        The byte address of each kernel argument; arguments without an array have one where nothing answers.

    Raises:
        DesignError: arrays that overlap in external memory, or an address that none can have.
    """
    external, addresses = array.engine.external, {}
    for each in sorted(bound.externals, key=lambda each: each.region.argument is not None):
        argument = each.region.argument  # these come last, behind everything that has an address
        if argument is not None:
            external.drop(each.name)  # of a run before this one
        added = external.add(each.name, _as_read(each), each.region.first if argument is None else None)
        if argument is not None:
            addresses[argument] = added.address
    for memory, words in bound.memories:
        OwnDoor(array).block_write32(address_of(*memory.place), words)
    for stream, words in bound.feeds:
        array.tile(stream.column, stream.row).s2mm[stream.number].feed(words)
    for output in bound.outputs:
        if isinstance(output.source, Stream):
            _sender(output.source, array).collect(output.dtype)
    last = max((buffer.end for buffer in external.buffers.values()), default=0)
    nowhere = (last // EXTERNAL_PAGE + 1) * EXTERNAL_PAGE
    return {argument: addresses.get(argument, nowhere) for argument in bound.arguments}


def taken(output: Output, array: ArrayMachine) -> npt.NDArray[Any]:
    """The array that is wanted, as it is now."""
    source = output.source
    if isinstance(source, Stream):
        output_words: npt.NDArray[Any] = _sender(source, array).output()
        return output_words
    if isinstance(source, ExternalArray):
        words = source.words
    else:
        words = OwnDoor(array).block_read32(address_of(*source.place), -(-output.nbytes // WORD_BYTES))
    return words.view(np.uint8)[: output.nbytes].view(output.dtype).reshape(output.shape)


def _sender(stream: Stream, array: ArrayMachine) -> Any:
    return array.tile(stream.column, stream.row).mm2s[stream.number]
