"""What a kernel gets from its core's cascade and stream, and puts into them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE
from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import DesignError
from memtile.model.state.causes import CorePhase
from memtile.model.state.columns import CORE_STEPS
from memtile.model.state.state import State
from memtile.model.streams.switch_ports import has_room, offers
from memtile.sim.kernels.actions import CascadeGet, CascadePut, Ints, LinkAction, Made, StreamGet, StreamPut
from memtile.sim.kernels.core_place import CorePlace

Array = npt.NDArray[Any]

CASCADE_BYTES = CORE.cascade_words * WORD_BYTES
_PHASES: dict[type[LinkAction], CorePhase] = {
    CascadeGet: CorePhase.GET_CASCADE,
    CascadePut: CorePhase.PUT_CASCADE,
    StreamGet: CorePhase.GET_STREAM,
    StreamPut: CorePhase.PUT_STREAM,
}
_CASCADE = "AM020 chapter 4: cascade stream interface, 512 bits"
_STREAM = "AM020 chapter 4: one 32-bit stream in and one out"


class Links(CorePlace):
    """The actions of a core on its cascade and its stream; part of ``sim.kernels.kernel_core.Core``.

    Attributes:
        made: the actions that it made.
        last: whether the last word that it got from its stream had TLAST.
    """

    made: Made
    last: bool = False
    _error: Callable[..., DesignError]

    def put_cascade(self, values: npt.ArrayLike) -> CascadePut:
        """Put a value of 512 bits on the cascade; waits while the core's cascade output is full.

        It goes to the neighbour that ``Accumulator_Control`` names, in the south or in the east.

        Args:
            values: an array of 64 bytes of any type, such as 16 of int32; a list of 16 whole numbers are
                int32 or, if one is larger, uint32.

        Raises:
            DesignError: another number of bytes.
        """
        words = _words(values)
        if words is None or len(words) != CORE.cascade_words:
            given = f"{np.asarray(values).dtype} of shape {np.asarray(values).shape}"
            allowed = f"{CASCADE_BYTES} bytes, such as {CORE.cascade_words} of int32"
            says = f"the value for the cascade is {given}; it must have {allowed}"
            raise self._error("kernel_cascade", "cascade", given, allowed, _CASCADE, says=says)
        return self.made.add(CascadePut(words), "core.put_cascade(...)")

    def get_cascade(self, dtype: npt.DTypeLike = np.int32) -> CascadeGet:
        """Get a value of 512 bits from the cascade: ``values = yield core.get_cascade()``.

        It comes from the neighbour that ``Accumulator_Control`` names, in the north or in the west; the core
        waits while there is none. What it gets is an array of 64 bytes.

        Args:
            dtype: its element type.

        Raises:
            DesignError: a type that 64 bytes do not hold whole elements of.
        """
        return self.made.add(CascadeGet(self._type(dtype, CASCADE_BYTES)), "core.get_cascade()")

    def put_stream(self, values: npt.ArrayLike, *, last: bool = False) -> StreamPut:
        """Put words into the core's stream port, one a cycle; waits while it has no room.

        Args:
            values: one or more whole words: an array of any type, or whole numbers as in ``put_cascade``.
            last: send TLAST with the last one.

        Raises:
            DesignError: nothing, or no whole words.
        """
        words = _words(values)
        if words is None or not len(words):
            given = f"{np.asarray(values).dtype} of shape {np.asarray(values).shape}"
            allowed = "one or more whole 32-bit words"
            says = f"the values for the stream are {given}; they must be {allowed}"
            raise self._error("kernel_stream", "stream", given, allowed, _STREAM, says=says)
        return self.made.add(StreamPut(words, bool(last)), "core.put_stream(...)")

    def get_stream(self, count: int = 1, dtype: npt.DTypeLike = np.int32) -> StreamGet:
        """Get words from the core's stream port, one a cycle: ``words = yield core.get_stream(4)``.

        The core waits while there is none. ``core.last`` then says whether the last one had TLAST.

        Args:
            count: 32-bit words.
            dtype: element type of what it gets.

        Raises:
            DesignError: a count below 1, or a type that so many words do not hold whole elements of.
        """
        if count < 1:
            raise self._error("kernel_stream", "words", str(count), "1 or more", _STREAM)
        found = self._type(dtype, int(count) * WORD_BYTES)
        return self.made.add(StreamGet(int(count), found), f"core.get_stream({count})")

    def has_word(self) -> bool:
        """Whether a word waits at the core's stream port: ``core.get_stream()`` gets it in this cycle."""
        return offers(self._state_now, int(self._state.cores.stream_in[self._number]))

    def has_room(self) -> bool:
        """Whether the core's stream port has room: ``core.put_stream(word)`` puts a word in this cycle."""
        port = int(self._state.cores.stream_out[self._number])
        return has_room(self._state_now, port)

    @property
    def _number(self) -> int:
        return int(self._state.spec.tiles.core[self.tile])

    def _type(self, dtype: npt.DTypeLike, nbytes: int) -> np.dtype[Any]:
        found = np.dtype(dtype)
        if found.hasobject or found.itemsize == 0 or nbytes % found.itemsize:
            given, allowed = f"type {found}", f"a type of numbers of which {nbytes} bytes hold whole elements"
            raise self._error("kernel_type", "dtype", given, allowed, "NumPy")
        return found


def _words(values: npt.ArrayLike) -> Ints | None:
    """The 32-bit words of an array, little endian, or of whole numbers; None if they are none."""
    given = np.asarray(values)
    if not isinstance(values, np.ndarray | np.generic):
        if given.dtype.kind not in "iu" or not given.size:
            return None
        if int(given.min()) < -(1 << WORD_BITS - 1) or int(given.max()) >> WORD_BITS:
            return None
        return given.astype(np.int64).reshape(-1) & ((1 << WORD_BITS) - 1)
    if given.dtype.hasobject or prod(given.shape) * given.dtype.itemsize % WORD_BYTES:
        return None
    data = np.ascontiguousarray(given.astype(given.dtype.newbyteorder("<"))).reshape(-1)
    return data.view(np.uint32).astype(np.int64)


@dataclass(slots=True)
class Exchange:
    """An action on the cascade or the stream, as a core carries it out: up to 1024 words at a time.

    Attributes:
        action: the action.
        words: to put, or room for those to get.
        given: words that the core was given to put, or asked to get, so far.
        part: of these, those that it is at.
        last: whether the last word that came had TLAST.
    """

    action: LinkAction
    words: Ints
    given: int = 0
    part: int = 0
    last: bool = False

    @classmethod
    def of(cls, action: LinkAction) -> Exchange:
        """The beginning of an action."""
        if isinstance(action, CascadePut | StreamPut):
            return cls(action, action.words)
        count = CORE.cascade_words if isinstance(action, CascadeGet) else action.count
        return cls(action, np.zeros(count, dtype=np.int64))

    def begin(self, state: State, core: int) -> bool:
        """Give the core its next part; False if there is none."""
        if self.given == len(self.words):
            return False
        part = self.words[self.given : self.given + CORE_STEPS]
        cores, place = state.cores, state.accesses[core]
        place[: len(part), 0, 0], place[: len(part), 0, 1] = part, 0
        self.given, self.part = self.given + len(part), len(part)
        ends = isinstance(self.action, StreamPut) and self.action.last and self.given == len(self.words)
        place[len(part) - 1, 0, 1] = int(ends)
        cores.phase[core], cores.step[core], cores.steps[core] = self.phase, 0, len(part)
        return True

    def end(self, state: State, core: int) -> None:
        """Take what the core has got."""
        if isinstance(self.action, CascadeGet | StreamGet):
            place = state.accesses[core, : self.part, 0]
            self.words[self.given - self.part : self.given] = place[:, 0]
            self.last = bool(place[-1, 1])

    @property
    def phase(self) -> CorePhase:
        """What the core is doing then."""
        return _PHASES[type(self.action)]

    @property
    def answer(self) -> Array | None:
        """What the action gives the kernel."""
        if not isinstance(self.action, CascadeGet | StreamGet):
            return None
        return self.words.astype("<u4").view(self.action.dtype.newbyteorder("<"))
