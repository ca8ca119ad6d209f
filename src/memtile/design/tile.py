"""A tile as a design sees it, whatever its kind: buffers, locks, channels, descriptors, its door."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import index
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.access.lowering.lower import Access
from memtile.arch.register_map import tile_register
from memtile.arch.tiles import DIRECTIONS, MM2S, S2MM, WORD_BYTES, TileKind
from memtile.bd.descriptor import Descriptor
from memtile.design.arguments import Wrong, as_whole, instance, refuse, shown, text, truth, whole
from memtile.design.bd_pool import BdPool
from memtile.design.bench import Bench
from memtile.design.buffers import Buffer, MemoryMap, Owner, exactly
from memtile.design.chains import chain_words
from memtile.design.channels import Channel, ChannelList
from memtile.design.events import TileEvents
from memtile.design.locks import Lock, LockTable, owner_text, same_kind
from memtile.design.transfers import Pattern, Transfer, transfer
from memtile.errors import DesignError
from memtile.jit.tables import plain
from memtile.model.state.tile_columns import OUTSIDE
from memtile.runs.machine import OwnDoor
from memtile.sheet import Sheet, SheetColumn
from memtile.sim.loop.timing_only import look_for_words
from memtile.sim.loop.upsets import Upset

Array = npt.NDArray[Any]
Words = npt.NDArray[np.uint32]
_A_BUFFER, _A_LOCK = "Make one with tile.buffer(name, shape).", "Make one with tile.lock()."
_COLUMNS_AWAY = {"west": -1, "own": 0, "east": 1}


class TileSite(NamedTuple):
    """Where a tile is: at which bench, under which model number, and in an array at which place."""

    bench: Bench
    number: int
    place: tuple[int, int] | None = None


class Tile:
    """One tile of a design.

    Args:
        kind: the tile kind.
        site: where it is.

    Attributes:
        s2mm: the stream-to-memory channels.
        mm2s: the memory-to-stream channels.
        door: the memory-mapped AXI4 port, as a host uses it: its accesses are ``access_cycles`` apart.
        own_door: the same port as the design uses it, at once; everything below ends in writes to it.
        first_channel: model number of its first channel; ``first_lock`` of its first lock.
    """

    def __init__(self, kind: TileKind, site: TileSite) -> None:
        self.kind, self.bench, self.index, self.place = kind, *site
        self.engine, self.device = site.bench.engine, site.bench.device
        self.door = self.engine.door(site.number, timed=True)
        self.own_door = OwnDoor(self)
        where = "" if self.place is None else "({},{})".format(*self.place)
        self.label = f"{kind.name}{where} " if where else ""
        self.title = f"{kind.title} {where}".strip()
        tiles = plain(self.engine.spec.tiles)
        self.first_channel = int(tiles.channel_base[self.index])
        self.first_lock = int(tiles.lock_base[self.index])
        self.bd_pool = BdPool(kind, self.title, self.bench.journal)
        owner = Owner(kind, self.title, self.place, self.bench)
        self._memory, self._locks = MemoryMap(owner), LockTable(owner)
        self.s2mm = ChannelList(self.title, S2MM, (Channel(self, S2MM, n) for n in range(kind.channels)))
        self.mm2s = ChannelList(self.title, MM2S, (Channel(self, MM2S, n) for n in range(kind.channels)))
        site.bench.add(self)

    @cached_property
    def events(self) -> TileEvents:
        """The events of the tile, for counters and traces."""
        return TileEvents(self)

    def _repr_html_(self) -> str:
        return _sheet(self).html()

    def __repr__(self) -> str:
        buffers, used = self._memory.buffers, sum(b.nbytes for b in self._memory.buffers)
        where = "" if self.place is None else " ({},{})".format(*self.place)
        return (
            f"{type(self).__name__}({self.device.name}{where}: {len(buffers)} buffers, {used} of "
            f"{self.kind.memory_bytes} bytes, {len(self._locks.locks)} locks, {self.engine.now} cycles run)"
        )

    def buffer(
        self,
        name: str,
        shape: int | Sequence[int],
        dtype: npt.DTypeLike = np.int32,
        *,
        at: int | None = None,
        bank: int | None = None,
        data: npt.ArrayLike | None = None,
    ) -> Buffer:
        """A buffer in data memory, at byte ``at``, or at the first free place (from ``bank`` on).

        Args:
            name: for messages and tables.
            shape: NumPy shape, last dimension contiguous.
            dtype: element type.
            at: first byte.
            bank: first bank to look in, each ``kind.bank_bytes`` long when banks are not interleaved.
            data: initial contents.

        Raises:
            DesignError: it does not fit, overlaps, or is not whole 32-bit words; a name that another buffer
                of the tile has, an invalid shape or type, or both ``at`` and ``bank``.
        """
        refuse(f"{self.title}, buffer {shown(name)}", text("name", name))
        with self.bench.all_or_nothing():
            placed = self._memory.place(name, shape, dtype, at=at, bank=bank)
            if data is not None:
                self.store(placed, data)
        return placed

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers of this tile in the order of their places."""
        return self._memory.buffers

    def upset(self, buffer: Buffer, cycle: int, *bits: int, word: int = 0) -> None:
        """Flip cells of a word of a buffer when the run reaches ``cycle``, as radiation does.

        Args:
            buffer: of this tile.
            cycle: of the array clock; the cells flip before anything else happens in it.
            bits: cells: 0 to 31 data, from 32 on check bits, 7 with ECC and 1 with parity.
            word: of the buffer.

        Raises:
            DesignError: a word or a cell that does not exist, or a cycle in the past.
        """
        numbers = [whole("cycle", cycle), *(whole("bits", bit) for bit in bits), whole("word", word)]
        refuse(f"{self.title}, upset", *numbers)
        self._must_own(buffer, "upset")
        if not 0 <= word < buffer.words:
            raise DesignError.of(
                "word",
                str(word),
                f"0..{buffer.words - 1}",
                reason="upset_word",
                where=f"{self.title}, buffer {buffer.name}",
                source="words of the buffer",
            )
        place = buffer.offset // WORD_BYTES + index(word)
        self.engine.upsets.add([Upset(index(cycle), self.index, place, tuple(map(index, bits)))])

    def store(self, buffer: Buffer, data: npt.ArrayLike) -> None:
        """Write an array into a buffer through the memory-mapped port.

        Raises:
            DesignError: another shape, or values that the buffer's type cannot hold exactly.
        """
        self._must_own(buffer, "store")
        array = exactly(data, buffer.dtype, f"{self.title}, buffer {buffer.name}", buffer.shape)
        words = np.zeros(buffer.words, np.uint32)
        words.view(np.uint8)[: buffer.nbytes] = array.reshape(-1).view(np.uint8)
        self.post_block(buffer.offset, words)

    def load(self, buffer: Buffer) -> Array:
        """Read a buffer through the memory-mapped port; array of its shape and dtype.

        Raises:
            DesignError: a buffer that is not in this tile; after a run without words.
        """
        self._must_own(buffer, "load")
        look_for_words(self.engine, f"{self.title}, buffer {buffer.name}", "what is in buffers")
        words = self.own_door.block_read32(buffer.offset, buffer.words)
        return words.view(np.uint8)[: buffer.nbytes].view(buffer.dtype).reshape(buffer.shape)

    def expect(self, buffer: Buffer, data: npt.ArrayLike) -> None:
        """Compare the buffer with ``data`` after a run, element by element in C order.

        Raises:
            DesignError: another shape, or values that the buffer's type cannot hold exactly.
        """
        self._must_own(buffer, "expect")
        array = exactly(data, buffer.dtype, f"{self.title}, buffer {buffer.name}", buffer.shape)
        self.bench.expected.append((self, buffer, array.ravel()))

    def lock(self, initial: int = 0, name: str | None = None, *, id: int | None = None) -> Lock:
        """A lock with an initial value of 0..63, with number ``id`` or the lowest that is free.

        Args:
            initial: value at the start, 0..63.
            name: for messages; unique in the tile.
            id: number of the lock; None = the lowest that is free.

        Raises:
            DesignError: a value out of range, no such lock or none free, or a name that another lock of the
                tile has.
        """
        wrong = text("name", name, optional=True), whole("id", id, optional=True)
        refuse(f"{self.title}, lock", *wrong)
        if as_whole(initial) is None:
            raise DesignError.of(
                "initial",
                repr(initial),
                "a whole number",
                next_step=f"Say name={initial!r}." if isinstance(initial, str) else "",
                reason="lock_value",
                where=f"{self.title}, lock",
                source="AM020",
            )
        if not 0 <= initial <= self.kind.lock_value_max:
            raise DesignError.of(
                "initial",
                str(initial),
                f"0..{self.kind.lock_value_max}",
                reason="lock_value",
                where=f"{self.title}, lock {name or id or ''}".strip(),
                source="AM020: six-bit lock state",
            )
        lock = self._locks.take(name, as_whole(id))
        self.post_word(self.kind.lock_value_base + lock.id * self.kind.lock_value_stride, index(initial))
        if name is not None:
            number = self.first_lock + lock.id
            self.bench.post(lambda: self.engine.lock_names.update({number: name}))
        return lock

    def lock_value(self, lock: Lock) -> int:
        """The present value of a lock of this tile.

        Raises:
            DesignError: another tile's lock.
        """
        self._must_own(lock, "lock_value")
        return self.own_door.read32(self.kind.lock_value_base + lock.id * self.kind.lock_value_stride)

    def read(
        self, buffer: Buffer, tiling: Pattern | None = None, *, iteration: bool | None = None
    ) -> Transfer:
        """Return a transfer for an MM2S channel that reads the entire buffer in order, or a tiling of it.

        Args:
            buffer: of this tile; on a memory tile also of its western or eastern neighbour, which channels
                0 to 3 reach.
            tiling: UG1603 tiling parameters in elements, or a view of the buffer (``memtile.view``).
            iteration: None = the fewest descriptors: several runs, and several tasks, wherever they save
                some; but one run of one chain where a ring, a guard or a longer chain needs that. True = the
                same, and never otherwise. False = always one run of one chain.

        Raises:
            DesignError: not a buffer, or one out of reach.
            TransferError: every reason why the tile cannot do the transfer.
        """
        return self._transfer(buffer, tiling, "read", iteration)

    def write(
        self, buffer: Buffer, tiling: Pattern | None = None, *, iteration: bool | None = None
    ) -> Transfer:
        """What an S2MM channel writes: the whole buffer in order, or a tiling of it; see :meth:`read`.

        Args:
            buffer: as for :meth:`read`.
            tiling: UG1603 tiling parameters in elements, or a view of the buffer (``memtile.view``).
            iteration: as for :meth:`read`.

        Raises:
            DesignError: not a buffer, or one out of reach.
            TransferError: every reason why the tile cannot do the transfer.
        """
        return self._transfer(buffer, tiling, "write", iteration)

    def seen(self, lock: Lock) -> Lock:
        """Return a neighbour's lock as this tile's channels 0 to 3 see it; an own lock unchanged.

        Raises:
            DesignError: the lock belongs to a tile that this one does not reach.
        """
        refuse(f"{self.title}, seen", instance("lock", lock, Lock, "a lock", _A_LOCK))
        window = self._window(lock, f"lock {lock.name}", "locks")
        return lock if window == lock.window else replace(lock, window=window)

    def free_channel(self, *, receives: bool, suits: Callable[[Channel], bool] | None = None) -> Channel:
        """Claim and return the lowest channel without work that is not yet claimed.

        Args:
            receives: S2MM or MM2S.
            suits: a further condition on the channel; the lowest free one if none meets it.

        Raises:
            DesignError: there is none.
        """
        wrong = (
            None if suits is None or callable(suits) else Wrong("suits", shown(suits), "a function or None")
        )
        refuse(f"{self.title}, free_channel", truth("receives", receives), wrong)
        free = [channel for channel in (self.s2mm if receives else self.mm2s) if not channel.claimed]
        for channel in [*filter(suits, free), *free]:
            channel.claimed = True
            return channel
        name = DIRECTIONS[S2MM if receives else MM2S]
        raise DesignError.of(
            f"{name} channels",
            "one more",
            f"{self.kind.channels}, all in use",
            f"all {self.kind.channels} {name} channels are in use",
            reason="channels",
            where=self.title,
            source="AM020",
        )

    def write_bd(self, number: int, descriptor: Descriptor) -> None:
        """Write a descriptor's register words.

        Raises:
            DescriptorError: the tile cannot hold it, or its walk leaves the DMA address space.
        """
        step = "Make one with memtile.Descriptor."
        wrong = instance("descriptor", descriptor, Descriptor, "a descriptor", step)
        refuse(f"{self.title}, write_bd", _bd_number(number), wrong)
        bd = index(number)
        (words,) = chain_words(self, [bd], [descriptor])
        self.own_door.block_write32(self.kind.bd_base + bd * self.kind.bd_stride, words)

    def _saved(self) -> dict[str, Any]:
        """What the design declared of the tile, as plain data."""
        return {
            "memory": self._memory.saved(),
            "locks": self._locks.saved(),
            "bds": self.bd_pool.saved(),
            "channels": [channel._saved() for channel in (*self.s2mm, *self.mm2s)],
        }

    def _restore(self, saved: Mapping[str, Any], expected: Mapping[int, Array]) -> None:
        """Have what ``_saved`` found in another tile; ``expected`` outputs by number of the channel."""
        self._memory.restore(saved["memory"])
        self._locks.restore(saved["locks"])
        self.bd_pool.restore(saved["bds"])
        for n, channel in enumerate((*self.s2mm, *self.mm2s)):
            channel._restore(saved["channels"][n], expected.get(n))

    @property
    def locks(self) -> tuple[Lock, ...]:
        """The locks of this tile that the design took."""
        return tuple(self._locks.locks.values())

    def post_block(self, offset: int, words: Words | Sequence[int]) -> None:
        """Write words from a byte offset on, at the end of the step of the design; see ``Bench.post``."""
        self.bench.post(lambda: self.own_door.block_write32(offset, words))

    def post_word(self, offset: int, word: int) -> None:
        """Write one word, at the end of the step of the design; see ``Bench.post``."""
        self.bench.post(lambda: self.own_door.write32(offset, word))

    def post_mask(self, offset: int, mask: int, value: int) -> None:
        """Replace bits of one word, at the end of the step of the design; see ``Bench.post``.

        Args:
            offset: byte offset of the register in the tile.
            mask: bits that are written.
            value: their new values.
        """
        wrong = whole("offset", offset), whole("mask", mask), whole("value", value)
        refuse(f"{self.title}, post_mask", *wrong)
        offset, mask, value = index(offset), index(mask), index(value)
        self.bench.post(lambda: self.own_door.mask_write32(offset, mask, value))

    def register(self, name: str) -> dict[str, int]:
        """Fields of a register of the tile, by their AM025 names, read through the memory-mapped port.

        Args:
            name: AM025 name, such as ``"Memory_Control"`` or ``"DMA_S2MM_Status_0"``; where both modules
                of a tile have one of that name, with the module before it: ``"core.Timer_Low"``.

        Raises:
            RegisterError: no such register, or one in each module.
        """
        refuse(f"{self.title}, register", text("name", name))
        register = tile_register(self.kind.name, name)
        return register.unpack(self.own_door.read32(register.offset))

    def owns(self, thing: Buffer | Lock) -> bool:
        """Whether a buffer or lock is this tile's own."""
        return isinstance(thing, Buffer | Lock) and self._is_like(thing) and thing.place == self.place

    def behind(self, window: str) -> str | None:
        """The tile behind a window of this tile's DMA; None where there is none that is the design's."""
        if window == "own":
            return self.title
        tiles, side = self.engine.spec.tiles, list(_COLUMNS_AWAY).index(window)
        beside = -1 if self.place is None else int(tiles.neighbour[self.index, side])
        if beside < 0 or tiles.column[beside] == OUTSIDE:
            return None
        return f"{self.kind.title} ({tiles.column[beside]},{tiles.row[beside]})"

    def _transfer(
        self, buffer: Buffer, tiling: Pattern | None, verb: Access, iteration: bool | None
    ) -> Transfer:
        address = self._address(buffer, verb)
        return transfer(buffer, tiling, verb, address=address, iteration=iteration).of(self.place, self.bench)

    def _address(self, buffer: Buffer, verb: str) -> int:
        """First word of a buffer as this tile's DMA sees it."""
        if not isinstance(buffer, Buffer):
            raise DesignError.of(
                verb,
                repr(buffer),
                "a buffer",
                f"the argument of {verb} is {buffer!r}; it must be a buffer",
                "Make one with tile.buffer(name, shape).",
                reason="buffer",
                where=self.title,
                source="a DMA moves words of memory",
            )
        window = self._window(buffer, f"buffer {buffer.name}", verb)
        return (self.kind.memory_windows[window] + buffer.offset) // WORD_BYTES

    def _window(self, thing: Buffer | Lock, given: str, verb: str) -> str:
        """The window of this tile's DMA in which a buffer or lock lies."""
        for window in self.kind.memory_windows if self._is_like(thing) else ():
            if self._is_behind(window, thing.place):
                return window
        sides = " or ".join(self.kind.memory_windows)
        raise DesignError.of(
            verb,
            given,
            f"what is in a window: {sides}",
            f"{given} belongs to {owner_text(thing, self.bench)}, "
            f"which this tile does not see; its windows are {', '.join(self.kind.memory_windows)}",
            reason="owner",
            where=self.title,
            source="AM020 chapter 5: DMA windows",
        )

    def _is_behind(self, window: str, place: tuple[int, int] | None) -> bool:
        """Whether the tile at ``place`` is the one behind a window; a tile alone has only itself."""
        away = _COLUMNS_AWAY[window]
        if self.place is None or place is None:
            return place == self.place and away == 0
        return place == (self.place[0] + away, self.place[1])

    def _is_like(self, thing: Buffer | Lock) -> bool:
        """Whether it belongs to a tile of this kind and of the same design."""
        return same_kind(thing.kind, self.kind) and thing.design in (None, self.bench)

    def _must_own(self, thing: Buffer | Lock, verb: str) -> None:
        kind, step = (Lock, _A_LOCK) if verb == "lock_value" else (Buffer, _A_BUFFER)
        name = kind.__name__.lower()
        refuse(f"{self.title}, {verb}", instance(name, thing, kind, f"a {name}", step))
        if not self.owns(thing):
            what = type(thing).__name__.lower()
            raise DesignError.of(
                verb,
                f"{what} {thing.name}",
                f"a {what} of the same tile",
                f"{what} {thing.name} belongs to {owner_text(thing, self.bench)}; "
                f"{verb} needs a {what} of the same tile",
                reason="owner",
                where=self.title,
                source="AM020: DMA windows",
            )


_BUFFERS = (
    *map(SheetColumn, ("buffer", "shape", "type")),
    SheetColumn("first byte", right=True),
    SheetColumn("bytes", right=True),
    SheetColumn("banks, if linear"),
)


def _sheet(tile: Tile) -> Sheet:
    """The buffers of a tile; its locks and the channels with work below."""
    rows = [
        (
            buffer.name,
            _size(buffer.shape),
            str(buffer.dtype),
            f"{buffer.offset:#x}",
            str(buffer.nbytes),
            _span(buffer.banks),
        )
        for buffer in tile.buffers[:_SHOWN]
    ]
    values = tile.engine.state.locks.value[tile.first_lock :]  # no access, which takes time
    locks = _few(f"{lock.id} {lock.name!r} = {values[lock.id]}" for lock in tile.locks)
    used = [
        channel for channel in (*tile.s2mm, *tile.mm2s) if channel.started or channel.fed or channel.taken
    ]
    channels = _few(f"{channel.port} {channel.label}".strip() for channel in used)
    buffers = f"{len(tile.buffers) - _SHOWN} more" if len(tile.buffers) > _SHOWN else ""
    said = (("buffers", buffers), ("locks", locks), ("channels", channels))
    below = [f"{name}: {found}" for name, found in said if found]
    return Sheet(_BUFFERS, tuple(rows), title=repr(tile), below=tuple(below))


_SHOWN = 10  # buffers, locks and channels in a notebook


def _few(texts: Iterable[str]) -> str:
    """The first of some texts, and how many more there are."""
    each = list(texts)
    return ", ".join([*each[:_SHOWN], *([f"{len(each) - _SHOWN} more"] if len(each) > _SHOWN else [])])


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _span(numbers: range) -> str:
    return str(numbers.start) if len(numbers) == 1 else f"{numbers.start}..{numbers.stop - 1}"


def _bd_number(number: object) -> Wrong | None:
    """Check the number of a descriptor, which no truth value is."""
    wrong = Wrong("number", shown(number), "a whole number")
    return wrong if isinstance(number, bool) else whole("number", number)
