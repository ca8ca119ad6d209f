"""The stream port of a DMA channel: what a test bench offers there, and what it takes and compares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import DIRECTIONS, S2MM, WORD_BYTES
from memtile.design.values import dtype_of
from memtile.errors import DesignError, Problem
from memtile.explain.checks import Check, types_note
from memtile.explain.names import channel_name
from memtile.sim.gathered import Gathered, equal
from memtile.sim.wordless import look_for_words

if TYPE_CHECKING:
    from memtile.design.tile import Tile

Array = npt.NDArray[Any]

SIDES = "AM020: S2MM writes memory, MM2S reads it"


class StreamPort:
    """Where the words of a channel enter or leave the tile.

    Args:
        tile: the tile it belongs to.
        direction: ``arch.tiles.S2MM`` or ``MM2S``.
        number: of the channel.

    Attributes:
        index: model number of the channel.
        dtype: element type of what is collected.
        moves: the buffers that its transfers read or write, with the types of their elements.
        taken: whether it is collected.
        fed: whether it was offered words.
    """

    def __init__(self, tile: Tile, direction: int, number: int) -> None:
        self._tile, self._direction, self._number = tile, direction, number
        self._local = direction * tile.kind.channels + number
        self.index = int(tile.engine.spec.tiles.channel_base[tile.index]) + self._local
        self._expected: list[Array] = []  # flat; joined when somebody looks, not at each array
        self._gathered = Gathered()  # whose last array is the last one of these
        self._shapes: list[tuple[int, ...]] = []  # of the arrays that are expected, one after the other
        self.moves: Mapping[str, np.dtype[Any]] = {}
        self.dtype: np.dtype[Any] = np.dtype(np.uint32)
        self.taken = self.fed = False

    @property
    def tile(self) -> Tile:
        """The tile it belongs to."""
        return self._tile

    @property
    def port(self) -> str:
        """Direction and number: ``S2MM 0``."""
        return f"{DIRECTIONS[self._direction]} {self._number}"

    @property
    def expected(self) -> Array | None:
        """The elements that are expected, flat; None if nothing is."""
        if len(self._expected) > 1:
            self._expected, self._gathered = [np.concatenate(self._expected)], Gathered()
        return self._expected[0] if self._expected else None

    @cached_property
    def name(self) -> str:
        """The port, after the tile's place in an array: ``memory(0,1) MM2S 0``."""
        return channel_name(self._tile.engine, self.index)

    @property
    def label(self) -> str:
        """What the design calls the channel: a name of its own or of its object FIFO; empty = nothing."""
        return self._tile.engine.channel_names.get(self.index, "")

    def named(self, label: str) -> Self:
        """Give the channel a name, for results and messages; it stands beside ``memory(0,1) MM2S 0``."""
        self._tile.bench.post(lambda: self._tile.engine.channel_names.update({self.index: label}))
        return self

    @property
    def number(self) -> int:
        """Number within its direction."""
        return self._number

    @property
    def receives(self) -> bool:
        """True for S2MM."""
        return self._direction == S2MM

    def feed(self, data: Array, pattern: Iterable[int] | None = None) -> None:
        """Offer the bytes of ``data`` at the stream port, one word per cycle, or as ``pattern`` allows.

        Args:
            data: any array of whole 32-bit words, taken in C order; elements of up to 32 bits, or longer
                whole numbers that 32 bits hold exactly, such as those of ``np.arange(8)``. One element for
                all, as ``np.broadcast_to`` makes it, takes the memory of one word.
            pattern: repeating 0/1 readiness per cycle, not always 0.

        Raises:
            DesignError: an MM2S channel, no whole words, longer elements, a pattern that is none.
        """
        self._must_be(S2MM, "feed")
        given = self._elements(data, "feed")
        words, ready = _words(given, self.name), self._readiness(pattern)
        self._tile.engine.feed(self.index, words)
        self.fed = True
        self._pace(ready)

    def collect(self, dtype: npt.DTypeLike = np.uint32, pattern: Iterable[int] | None = None) -> None:
        """Take every word of the stream port; the result has them as a flat array of ``dtype``.

        Raises:
            DesignError: an S2MM channel, a pattern that is none, another type than what is expected has.
        """
        self._must_be(1 - S2MM, "collect")
        wanted, ready = dtype_of(dtype, self.name), self._readiness(pattern)
        if self._expected and wanted != self._expected[0].dtype:
            step = "Convert one of them with .astype or .view."
            allowed, source = f"{self._expected[0].dtype}, as expected before", "one array is compared"
            raise DesignError(self._problem("dtype", str(wanted), allowed, source, step))
        self.dtype, self.taken = wanted, True
        self._tile.engine.catch(self.index)
        self._pace(ready)

    def expect(self, data: Array, pattern: Iterable[int] | None = None) -> None:
        """Collect, and compare what comes with the elements of ``data`` in C order, after those before.

        Args:
            data: as for :meth:`feed`.
            pattern: as for :meth:`feed`.

        Raises:
            DesignError: an S2MM channel, elements that 32 bits do not hold, of another type than those
                before, a pattern that is none.
        """
        given = self._elements(data, "expect")
        self.collect(given.dtype, pattern)
        self._shapes.append(given.shape)
        self._expected[-1:] = self._gathered.add(given) or [given.ravel()]

    def output(self) -> Array:
        """What was collected so far; a tail shorter than one element is left out.

        Raises:
            DesignError: after a run without words.
        """
        look_for_words(self._tile.engine, self.name, "outputs")
        return self.output_so_far()()

    def output_so_far(self) -> Callable[[], Array]:
        """What makes :meth:`output` as it is now, when it is called."""
        taken, dtype = self._tile.engine.taken(self.index), self.dtype
        return lambda: _elements_of(taken.words(), dtype)

    def check(self) -> Check | None:
        """Comparison of the output with what is expected, if anything is; of lengths alone without words."""
        if not self._expected:
            return None
        engine, size, count = self._tile.engine, self.dtype.itemsize, sum(map(len, self._expected))
        if engine.wordless:
            missing = count - engine.words_caught(self.index) * WORD_BYTES // size
            return Check(self.name, count, max(missing, 0), max(-missing, 0), None)
        taken = engine.taken(self.index)
        got = _elements_of(taken.first(-(-(count + 1) * size // WORD_BYTES)), self.dtype)
        if self._is_expected(got):
            return Check(self.name, count, 0, 0, None)
        expected = np.concatenate(self._expected)
        note = types_note(expected.dtype, list(self.moves.values()))
        more = len(taken) * WORD_BYTES // size - len(got)
        return Check.compare(self.name, got, expected, self._shapes, note, more=more)

    def _is_expected(self, got: Array) -> bool:
        """Whether that is all that is expected, and nothing else."""
        at = 0
        for wanted in self._expected:
            if at + len(wanted) > len(got) or not equal(got[at : at + len(wanted)], wanted):
                return False
            at += len(wanted)
        return at == len(got)

    def _elements(self, data: npt.ArrayLike, verb: str) -> Array:
        """Data as an array whose elements are no longer than a stream word: none goes as two by accident.

        Raises:
            DesignError: longer elements that 32 bits do not hold, or of buffers with shorter ones; objects.
        """
        given = np.asarray(data)
        if not given.dtype.hasobject and given.itemsize <= WORD_BYTES:
            return given
        others = {dtype for dtype in self.moves.values() if dtype.itemsize != WORD_BYTES}
        fitting = None if others else _in_words(given)
        if fitting is not None:
            return fitting
        step = "Say dtype=np.int32, or send both halves on purpose with .view(np.uint32)."
        allowed = f"elements of {WORD_BYTES} bytes or less, or whole numbers that these hold exactly"
        says = (
            f"the data to {verb} has type {given.dtype}; its elements must have {WORD_BYTES} bytes or less, "
        )
        says += "or be whole numbers that these hold exactly"
        if others:
            other = min(map(str, others))
            allowed, step = f"{other}, as the buffer has", f"Convert it with .astype(np.{other})."
            says = f"the data to {verb} has type {given.dtype}, the buffer has {other}"
        source = "AM020: 32-bit streams"
        problem = self._problem("stream_dtype", f"{given.dtype}", allowed, source, step, says=says)
        raise DesignError(problem)

    def _readiness(self, pattern: Iterable[int] | None) -> list[int] | None:
        """The pattern once it is known to let a word through now and then."""
        if pattern is None:
            return None
        ready = list(pattern) if isinstance(pattern, Iterable) else []
        if 1 not in ready or any(value not in (0, 1) for value in ready):
            step = "Give one such as [1, 1, 0], which is ready in two of three cycles."
            allowed, source = "zeros and at least one 1", "readiness per cycle, repeating"
            raise DesignError(self._problem("pattern", repr(pattern), allowed, source, step))
        return ready

    def _pace(self, ready: list[int] | None) -> None:
        if ready is not None:
            self._tile.engine.pace(self.index, np.asarray(ready, dtype=np.int64))

    def _must_be(self, direction: int, verb: str) -> None:
        if self._direction != direction:
            allowed = f"{DIRECTIONS[direction]} channels"
            says = f"{verb} is for {allowed}"
            raise DesignError(self._problem(verb, self.port, allowed, SIDES, says=says))

    def _problem(
        self, name: str, given: str, allowed: str, source: str, step: str = "", *, says: str = ""
    ) -> Problem:
        return Problem(
            name,
            given,
            allowed,
            says,
            step,
            reason=name.replace(" ", "_"),
            where=f"{self._tile.title}, {self.port}",
            source=source,
        )


def _elements_of(words: npt.NDArray[np.uint32], dtype: np.dtype[Any]) -> Array:
    whole = words.nbytes // dtype.itemsize * dtype.itemsize
    return words.view(np.uint8)[:whole].view(dtype)


def _words(data: Array, name: str) -> npt.NDArray[np.uint32]:
    if data.nbytes % WORD_BYTES:
        raise DesignError.of(
            "data",
            f"{data.nbytes} bytes",
            f"a multiple of {WORD_BYTES}",
            f"the data has {data.nbytes} bytes; it must have a multiple of {WORD_BYTES}",
            "Pad the array.",
            reason="feed",
            where=name,
            source="AM020: 32-bit streams",
        )
    if _is_one(data) and WORD_BYTES % data.itemsize == 0:
        word = np.full(WORD_BYTES // data.itemsize, data.flat[0], data.dtype).view(np.uint32)
        return np.broadcast_to(word, (data.nbytes // WORD_BYTES,))
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8).view(np.uint32)


def _is_one(data: Array) -> bool:
    """Whether the array is one element, again and again."""
    return data.size > 1 and not any(data.strides)


def _in_words(given: Array) -> Array | None:
    """Whole numbers of more than 32 bits as such of 32 bits, if these hold all of them exactly."""
    if _is_one(given):
        one = _in_words(given.flat[:1])
        return None if one is None else np.broadcast_to(one[0], given.shape)
    narrow: Mapping[str, tuple[type[np.integer[Any]], ...]] = {"i": (np.int32, np.uint32), "u": (np.uint32,)}
    for dtype in narrow.get(given.dtype.kind, ()):
        fitting = given.astype(dtype)
        if np.array_equal(fitting, given):
            return fitting
    return None
