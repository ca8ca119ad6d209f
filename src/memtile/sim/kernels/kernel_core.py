"""Kernels: Python generators that say what the core of a compute tile does.

A kernel acquires and releases locks, reads and writes the memory that its core sees, and states its cycles or
its accesses; buffers and locks that it names again and again are looked up once. What it reads and writes
happens between two of its actions, takes no time and no bank; time and banks are those of the actions
(docs/timing.md, DEV-CORE-3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Generic, NamedTuple, Protocol, TypeVar
from weakref import ref

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE, CORES, SIDES, WINDOW_WORDS
from memtile.arch.tiles import COMPUTE, MEMORY, TILE_KINDS, WORD_BYTES
from memtile.corelib.rounding import Modes, Rounding, Saturation
from memtile.errors import DesignError
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.state import Spec, State
from memtile.sim.doors import host_memory
from memtile.sim.doors.processor_bus import ProcessorBus
from memtile.sim.kernels.actions import (
    Accesses,
    Action,
    EventInstruction,
    LockOperation,
    Made,
    Pattern,
    Wait,
    merge,
)
from memtile.sim.kernels.core_links import Links
from memtile.sim.kernels.core_place import OutsidePlaces
from memtile.sim.kernels.isolation import REACHES, keeps_apart, known_to_reach
from memtile.sim.races.kernel_notes import CoreNotes, watched

Array = npt.NDArray[Any]
T = TypeVar("T")

_MOST = 256  # things of which a core keeps what it found


class KernelBuffer(Protocol):
    """A named array in the data memory of a compute tile, like ``design.buffers.Buffer``."""

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def offset(self) -> int:
        """First byte in the tile's own memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """NumPy shape, last dimension contiguous."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""

    @property
    def place(self) -> tuple[int, int] | None:
        """Column and row of its tile; None = the core's own."""


@dataclass(frozen=True, slots=True)
class MemoryPiece:
    """Elements of a tile's data memory by their address; ``place`` None = the core's own tile."""

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    place: tuple[int, int] | None = None


class Semaphore(Protocol):
    """A lock of a compute tile, like ``design.locks.Lock``."""

    @property
    def id(self) -> int:
        """Number within the tile."""

    @property
    def place(self) -> tuple[int, int] | None:
        """Column and row of its tile; None = the core's own."""


class Resolved(NamedTuple):
    """Where a buffer is.

    Attributes:
        place: model index of its tile, its first byte there, and how many it has.
        elements: they, in its shape.
    """

    place: tuple[int, int, int]
    elements: Array


class PlaceCache(Generic[T]):
    """What was found of things that cannot change: frozen dataclasses, by their identity."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[object, T]] = {}  # by id(); each keeps the thing, and so its id()

    def of(self, thing: object) -> T | None:
        """What was kept of it, None if nothing was."""
        found = self._found.get(id(thing))
        return found[1] if found is not None and found[0] is thing else None

    def keep(self, thing: object, found: T) -> T:
        """Keep what was found of a thing, as long as there are not many; gives it back."""
        if getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False):
            if len(self._found) >= _MOST:  # they are made anew each time
                self._found.clear()
            self._found[id(thing)] = thing, found
        return found


Where = int | tuple[int, int] | None

INSTRUCTION_EVENTS = (0, 1)
_OWN_LOCKS, _OWN_WINDOW = range(COMPUTE.locks), CORE.lock_windows[SIDES[-1]]
_OPERANDS = range(-MEMORY.lock_value_max - 1, MEMORY.lock_value_max + 1)
_REACH = "AM020 chapter 4: a core reaches its own, north, south and west data memory"


class Core(Links):
    """What a kernel sees of its core.

    Buffers and locks of a design know their tile. Of others ``tile`` is the column and row, or the model
    index, and None the core's own tile. Every method raises :class:`DesignError` for a tile, lock or byte
    that the core cannot reach.

    Args:
        state: its state.
        tile: model index of the core's tile.
        kernel: name of the kernel, for messages.

    Attributes:
        made: the actions that it made.
        bus: its accesses to the registers of its tile.
        keeps_to: model indices of the tiles that its kernel says to reach; None = it does not say.
        last: whether the last word that it got from its stream had TLAST.
        modes: how it rounds and saturates; functions of the library get them by ``core=core``.
        outside: lines of other files than the kernel's that access memory for it.
    """

    def __init__(self, state: State, tile: int, kernel: str) -> None:
        self._spec, self._state, self.tile = state.spec, state, tile
        self._tiles = plain(state.spec.tiles)
        self._reach: list[int] = self._tiles.core_reach[tile].tolist()
        self._found: dict[tuple[int, int], int] = {}  # tiles by place, as they were asked for
        self._locks, self._pieces = PlaceCache[int](), PlaceCache[Resolved]()
        self._inspected = plain(state.guards).inspected
        self._views: list[tuple[ref[Array], int, int, int]] = []  # and tile, first word, words
        self.notes: CoreNotes | None = None  # where the run is checked for races
        self.keeps_to: frozenset[int] | None = None
        self.made, self.modes = Made(), Modes()
        self.outside = OutsidePlaces()
        self.name = f"core {place(state.spec, tile)}, kernel {kernel!r}"
        self.bus = ProcessorBus(state, tile, self.name)
        self._kind = CORES[TILE_KINDS[KIND_NAMES[state.spec.tiles.kind[tile]]].generation]

    # modes -----------------------------------------------------------------------------------------------

    def set_rounding(self, mode: Rounding) -> None:
        """Set how functions of the library round from here on, as ``aie::set_rounding``: ``floor`` at first.

        Raises:
            DesignError: the AIE API has no such mode.
        """
        self.modes.set(rounding=mode)

    def set_saturation(self, mode: Saturation) -> None:
        """Set what functions of the library do with integers that do not fit, as ``aie::set_saturation``.

        Raises:
            DesignError: the AIE API has no such mode.
        """
        self.modes.set(saturation=mode)

    # time ------------------------------------------------------------------------------------------------

    def cycles(self, count: int) -> Wait:
        """Compute for ``count`` cycles, 1 or more.

        Raises:
            DesignError: a count below 1 or no whole number.
        """
        if count < 1:
            raise self._error("kernel_cycles", "cycles", str(count), "1 or more", "a core takes time")
        return self.made.add(Wait(int(count)), "core.cycles({})", count)

    def event(self, number: int = 0) -> EventInstruction:
        """Mark a moment: INSTR_EVENT_0 or 1 for one cycle, which counters and traces of the core see.

        Raises:
            DesignError: another number than 0 and 1.
        """
        if number not in INSTRUCTION_EVENTS:
            raise self._error("kernel_event", "event", str(number), "0 or 1", "AM020: core events")
        return self.made.add(EventInstruction(number), "core.event({})", number)

    def acquire(self, lock: int | Semaphore, value: int = -1, *, tile: Where = None) -> LockOperation:
        """Acquire ``lock``: below 0 wait for at least ``-value``, else for exactly ``value``.

        Args:
            lock: the lock as the design has it, or its number in the tile that has it.
            value: below 0 at least its opposite, which is then taken; else exactly the value.
            tile: column and row of the tile that has it, or its model index; None = as the design has it, or
                the core's own.

        Raises:
            DesignError: no lock, one that the core does not reach, or a value that its operand does not hold.
        """
        action = LockOperation(self._lock(lock, value, tile), int(value), True)
        return self.made.add(action, "core.acquire({}, {})", lock, value)

    def release(self, lock: int | Semaphore, value: int = 1, *, tile: Where = None) -> LockOperation:
        """Add ``value``, 1 or more, to ``lock``.

        Args:
            lock: the lock as the design has it, or its number in the tile that has it.
            value: what is added.
            tile: column and row of the tile that has it, or its model index; None = as the design has it, or
                the core's own.

        Raises:
            DesignError: no lock, one that the core does not reach, or a value below 1 or too large.
        """
        if value < 1:
            allowed = f"1..{MEMORY.lock_value_max}"
            raise self._error("kernel_lock", "release", str(value), allowed, "AM020: six-bit lock state")
        action = LockOperation(self._lock(lock, value, tile), int(value), False)
        return self.made.add(action, "core.release({}, {})", lock, value)

    def access(self, *loads: Pattern, store: Pattern | None = None) -> Accesses:
        """Let the address generators make accesses step by step, the last step of the longest one ends it.

        Args:
            loads: patterns of the load units, up to two.
            store: pattern of the store unit.

        Raises:
            DesignError: more loads than the core has, a width that it has not, an address that is not aligned
                to it, or one outside the memories that the core reaches.
        """
        for pattern in (*loads, *([store] if store else [])):
            self._check_addresses(pattern)
        return self.made.add(merge(self.name, self._kind, loads, store), "core.access(...)")

    def walk(self, piece: KernelBuffer, bits: int | None = None, *, tile: Where = None) -> Pattern:
        """Accesses of ``bits``, or of a vector, one after another through all of a buffer.

        Args:
            piece: a buffer, or a part of one.
            bits: width of each access; None = a vector.
            tile: column and row of the tile that has it, or its model index; None = where the design has it.

        Raises:
            DesignError: a buffer that the core does not reach, or that is not in its memory as a whole.
        """
        bits, tile = self._kind.vector_bits if bits is None else bits, self._tile_of(piece, tile)
        first = (
            self._first_byte(piece, tile) + CORE.memory_windows[self._side(tile, f"buffer {piece.name!r}")]
        )
        nbytes = prod(piece.shape) * piece.dtype.itemsize
        return Pattern(np.arange(first, first + nbytes, max(bits // 8, 1), dtype=np.int64), bits)

    # data ------------------------------------------------------------------------------------------------

    def buffer(
        self,
        address: int,
        shape: int | Sequence[int],
        dtype: npt.DTypeLike = np.int32,
        *,
        tile: tuple[int, int] | None = None,
    ) -> MemoryPiece:
        """Elements of data memory by address, where no design has a name for them: of a program from files.

        Args:
            address: first byte in the tile's own memory, as compilers print it.
            shape: NumPy shape, last dimension contiguous.
            dtype: element type.
            tile: column and row of the tile; None = the core's own.

        Raises:
            DesignError: a shape or type that is none.
        """
        size = tuple(shape) if isinstance(shape, Iterable) else (shape,)
        try:
            return MemoryPiece(f"{address:#x}", int(address), tuple(map(int, size)), np.dtype(dtype), tile)
        except (TypeError, ValueError) as error:
            given = f"address {address!r}, shape {shape!r}, type {dtype!r}"
            allowed = "whole numbers and a NumPy type such as np.int32"
            raise self._error("kernel_buffer", "buffer", given, allowed, "NumPy") from error

    def view(self, piece: KernelBuffer, *, tile: Where = None) -> Array:
        """The buffer itself, little endian; what is written into it is in memory at once.

        Words with flipped cells are read and written back, now and before each action that follows, for as
        long as the view is used: nobody sees what the kernel does with it (DEV-ECC-8).

        Raises:
            DesignError: a buffer that the core does not reach, or that is not in its memory as a whole.
        """
        owner, first, nbytes = self._place(piece, tile)
        array = self._array(piece, owner, first)
        low = first // WORD_BYTES
        self._views.append((ref(array), owner, low, -(-(first + nbytes) // WORD_BYTES) - low))
        self.renew_views()
        seen = array if self.notes is None else watched(array, self.notes)
        return seen.reshape(piece.shape)

    def renew_views(self) -> None:
        """Read and write back the words with flipped cells under the views that are in use."""
        if not self._views:
            return
        self._views = [view for view in self._views if view[0]() is not None]
        for _, owner, low, words in self._views:
            if self._inspected[owner]:
                host_memory.load_and_store(self._state, owner, low, words)

    def read(self, piece: KernelBuffer, *, tile: Where = None) -> Array:
        """A copy of the buffer as it is now.

        Raises:
            DesignError: a buffer that the core does not reach, or that is not in its memory as a whole.
        """
        owner, first, nbytes = self._place(piece, tile)
        if self.notes is not None:
            self.notes.part(self._array(piece, owner, first), False)
        if not self._inspected[owner]:
            return self._elements(piece, owner, first).copy()
        low, high = first // WORD_BYTES, -(-(first + nbytes) // WORD_BYTES)
        words = host_memory.load(self._state, owner, low, high - low)
        data = words.view(np.uint8)[first % WORD_BYTES :][:nbytes]
        return data.view(piece.dtype.newbyteorder("<")).reshape(piece.shape)

    def write(self, piece: KernelBuffer, values: npt.ArrayLike, *, tile: Where = None) -> None:
        """Fill the buffer; ``values`` must have its shape and convert to its type without loss of kind.

        Integers that the type does not hold are refused, floating-point numbers are rounded.

        Args:
            piece: a buffer, or a part of one.
            values: array of the buffer's shape.
            tile: column and row of the tile that has it, or its model index; None = where the design has it.

        Raises:
            DesignError: another shape, values that the type does not hold, or a buffer that the core does not
                reach.
        """
        owner, first, nbytes = self._place(piece, tile)
        given = np.asarray(values)
        same = given.dtype == piece.dtype
        if given.shape != piece.shape or not (same or np.can_cast(given.dtype, piece.dtype, "same_kind")):
            text, allowed = f"{given.dtype} {given.shape}", f"{piece.dtype} {tuple(piece.shape)}"
            field = f"buffer {piece.name!r}"
            says = f"the values for {field} are {text}; the buffer is {allowed}"
            raise self._error("kernel_values", field, text, allowed, "NumPy, same kind", says=says)
        wrong = None if same else _not_held(given, piece.dtype)
        if wrong is not None:
            allowed = f"{np.iinfo(piece.dtype).min}..{np.iinfo(piece.dtype).max}"
            field, source = f"buffer {piece.name!r}", f"values of {piece.dtype}"
            step = f"Wrap them on purpose with .astype(np.{piece.dtype})."
            says = f"a value for {field} is {wrong}, allowed are {allowed}"
            raise self._error("kernel_values", field, str(wrong), allowed, source, step, says)
        if self._inspected[owner]:
            host_memory.before_store(self._state, owner, first, nbytes)
        if self.notes is not None:
            self.notes.part(self._array(piece, owner, first), True)
        self._elements(piece, owner, first)[...] = given

    def _place(self, piece: KernelBuffer, tile: Where) -> tuple[int, int, int]:
        """Model index of the buffer's tile, its first byte there, and how many it has."""
        known = self._pieces.of(piece) if tile is None else None
        if known is not None:
            return known.place
        at = self._tile_of(piece, tile)
        self._side(at, f"buffer {piece.name!r}")
        owner, first = self.tile if at is None else at, self._first_byte(piece, at)
        found = owner, first, prod(piece.shape) * piece.dtype.itemsize
        if tile is None:
            self._pieces.keep(piece, Resolved(found, self._array(piece, owner, first).reshape(piece.shape)))
        return found

    def _elements(self, piece: KernelBuffer, owner: int, first: int) -> Array:
        """The buffer's elements, for a moment."""
        known = self._pieces.of(piece)
        if known is not None and known.place[:2] == (owner, first):
            return known.elements
        return self._array(piece, owner, first).reshape(piece.shape)

    def _array(self, piece: KernelBuffer, owner: int, first: int) -> Array:
        """The buffer's elements, flat; arrays made from this one keep it alive."""
        base = int(self._tiles.memory_base[owner])
        memory = memoryview(self._state.memory[base : base + WINDOW_WORDS])  # type: ignore[arg-type]
        return np.frombuffer(memory, piece.dtype.newbyteorder("<"), prod(piece.shape), first)

    # reach -----------------------------------------------------------------------------------------------

    def _tile_of(self, thing: KernelBuffer | Semaphore, tile: Where) -> int | None:
        """Model index of the tile that has a buffer or lock; None = the core's own."""
        return self._tile_at(thing.place if tile is None else tile)

    def _tile_at(self, at: int | tuple[int, int] | None) -> int | None:
        """Model index of the tile at a place, or with that index; None = the core's own."""
        if at is None or not isinstance(at, tuple):
            return at
        found = self._found.get(at)
        if found is None:
            column, row = at
            there = np.flatnonzero((self._tiles.column == column) & (self._tiles.row == row)).tolist()
            if not there:
                says = f"there is no tile at column {column}, row {row}"
                raise self._error(
                    "kernel_tile", "tile", str(at), "column and row of a tile", _REACH, says=says
                )
            self._found[at] = found = there[0]
        return None if found == self.tile else int(found)

    def _side(self, tile: int | None, what: str) -> str:
        """On which side of the core ``tile`` is."""
        if tile is None:
            return SIDES[-1]
        seen = self._reach
        if tile in seen and tile >= 0:
            if self.keeps_to is not None and tile not in self.keeps_to:
                raise self._apart(what, tile)
            return SIDES[seen.index(tile)]
        given = (
            f"in tile {place(self._spec, tile)}" if 0 <= tile < len(self._spec.tiles.kind) else f"tile {tile}"
        )
        there = [f"{side} {place(self._spec, t)}" for side, t in zip(SIDES, seen, strict=True) if t >= 0]
        says = f"the core does not reach {what} {given}; it reaches {', '.join(there)}"
        raise self._error("kernel_reach", what, given, ", ".join(there), _REACH, says=says)

    def _first_byte(self, piece: KernelBuffer, tile: int | None) -> int:
        """First byte of the buffer in its tile, if all of it is in memory."""
        last = piece.offset + prod(piece.shape) * piece.dtype.itemsize
        if piece.offset < 0 or last > COMPUTE.memory_bytes:
            where = place(self._spec, self.tile if tile is None else tile)
            given = f"bytes {piece.offset:#x}..{last - 1:#x} of tile {where}"
            field, allowed = f"buffer {piece.name!r}", f"0x0..{COMPUTE.memory_bytes - 1:#x}"
            says = f"{field} takes {given}, allowed are {allowed}"
            raise self._error("kernel_bytes", field, given, allowed, _REACH, says=says)
        return piece.offset

    def _lock(self, semaphore: int | Semaphore, value: int, tile: Where) -> int:
        """Id of the tile's lock as the core sees it."""
        if type(semaphore) is int and tile is None and semaphore in _OWN_LOCKS and value in _OPERANDS:
            return _OWN_WINDOW + semaphore
        known = self._locks.of(semaphore) if tile is None else None
        if known is not None and value in _OPERANDS:
            return known
        if isinstance(semaphore, int | np.integer):
            lock, at = int(semaphore), self._tile_at(tile)
        elif not hasattr(semaphore, "id") or not hasattr(semaphore, "place"):
            given, step = repr(semaphore), "Give the lock itself: core.acquire(lock, -1)."
            raise self._error("kernel_lock", "lock", given, "a lock or its number", "AM020: locks", step)
        else:
            lock, at = semaphore.id, self._tile_of(semaphore, tile)
        side = self._side(at, f"lock {lock}")
        if not 0 <= lock < COMPUTE.locks:
            allowed = f"0..{COMPUTE.locks - 1}"
            raise self._error("kernel_lock", "lock", str(lock), allowed, "AM020: locks of a compute tile")
        if not -MEMORY.lock_value_max - 1 <= value <= MEMORY.lock_value_max:
            allowed = f"{-MEMORY.lock_value_max - 1}..{MEMORY.lock_value_max}"
            field = f"value for lock {lock}"
            says = f"the {field} is {value}, allowed are {allowed}"
            raise self._error("kernel_lock", field, str(value), allowed, "AM020: lock operand", says=says)
        found = CORE.lock_windows[side] + int(lock)
        return self._locks.keep(semaphore, found) if tile is None else found

    def _check_addresses(self, pattern: Pattern) -> None:
        """Refuse addresses outside the windows of tiles that are there."""
        used = pattern.at[pattern.at >= 0]
        side = used // (WINDOW_WORDS * WORD_BYTES) - CORE.memory_windows[SIDES[0]] // (
            WINDOW_WORDS * WORD_BYTES
        )
        seen = np.asarray(self._spec.tiles.core_reach[self.tile])
        inside = (side >= 0) & (side < len(SIDES))
        wrong = used[~inside | (seen[np.clip(side, 0, len(SIDES) - 1)] < 0)]
        if len(wrong):
            there = [f"{s} {CORE.memory_windows[s]:#x}" for s, t in zip(SIDES, seen, strict=True) if t >= 0]
            given = f"{wrong[0]:#x}"
            says = f"the core does not reach address {given}; its windows begin at {', '.join(there)}"
            raise self._error("kernel_reach", "address", given, ", ".join(there), _REACH, says=says)
        for owner in seen[np.unique(side)].tolist() if self.keeps_to is not None else ():
            if owner not in self.keeps_to:  # type: ignore[operator]
                at = int(used[seen[side] == owner][0])
                raise self._apart(f"address {at:#x}", owner)

    def _apart(self, what: str, tile: int) -> DesignError:
        """A kernel that keeps to itself comes to a tile that it did not name."""
        there, kept = place(self._spec, tile), sorted(self.keeps_to or ())
        allowed = f"tiles {', '.join(place(self._spec, each) for each in kept)}"
        says = f"the kernel keeps apart and comes to {what} of tile {there}; it said to reach {allowed}"
        step = f"Name that tile, or what is in it: @apart({there})."
        return self._error("kernel_apart", what, f"tile {there}", allowed, "kernels.apart", step, says)

    def _error(
        self,
        reason: str,
        field: str,
        given: str,
        allowed: str,
        source: str,
        step: str = "",
        says: str = "",
    ) -> DesignError:
        return DesignError.of(
            field, given, allowed, says, step, reason=reason, where=self.name, source=source
        )


def _not_held(values: Array, dtype: np.dtype[Any]) -> int | None:
    """The first integer that the integer type does not hold; other values NumPy rounds."""
    if not (dtype.kind in "iu" and values.dtype.kind in "iu") or np.can_cast(values.dtype, dtype):
        return None
    wrong = values[(values < np.iinfo(dtype).min) | (values > np.iinfo(dtype).max)]
    return int(wrong[0]) if len(wrong) else None


Kernel = Callable[[Core], Iterator[Action]]
"""What a core runs: a function that is given the core and yields one action after another.

What it gets from the cascade or the stream is what its ``yield`` gives.
"""
RELEASES = "__releases__"
"""Attribute of a kernel whose text is known: the locks that it may release, by index among all of the model;
None = nobody knows."""
BY_TEXT = "__acts_by_text__"
"""Attribute of a kernel whose text is known: whether it does the same to locks whatever words it reads."""


def place(spec: Spec, tile: int) -> str:
    """Column and row of a tile, as people write them."""
    return f"({spec.tiles.column[tile]}, {spec.tiles.row[tile]})"


def calls(
    function: Callable[[Core], None],
    *,
    acquire: Sequence[tuple[int, int]] = (),
    release: Sequence[tuple[int, int]] = (),
    cycles: int,
    times: int | None = None,
) -> Kernel:
    """A kernel that calls a function again and again.

    Args:
        function: reads and writes memory; called at the end of its cycles. If it keeps to itself, see
            :func:`apart`, so does the kernel.
        acquire: locks of the own tile and operands, in order, before each call.
        release: locks of the own tile and changes, in order, after each call.
        cycles: what a call takes between the last acquire and the first release.
        times: how often; None = without end.
    """

    def call(core: Core) -> Iterator[Action]:
        yield from [core.acquire(lock, value) for lock, value in acquire]
        yield core.cycles(cycles)
        function(core)
        yield from [core.release(lock, value) for lock, value in release]

    def kernel(core: Core) -> Iterator[Action]:
        if times is None:
            while True:
                yield from call(core)
        for _ in range(times):
            yield from call(core)

    kernel.__name__ = getattr(function, "__name__", "kernel")
    if keeps_apart(function):
        known_to_reach(kernel, getattr(function, REACHES))
    return kernel
