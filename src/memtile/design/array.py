"""The array as a design sees it: tiles by column and row, one address space, one run.

It also has arrays of the user as buffers in external memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from memtile.arch.devices import INTERFACE_ROWS, Device
from memtile.arch.devices import device as find_device
from memtile.arch.memory_tile_registers import ISOLATION
from memtile.arch.register_map import tile_register
from memtile.arch.tiles import TILE_KINDS
from memtile.arch.timing import Timing
from memtile.design.arguments import (
    as_row,
    as_whole,
    instance,
    refuse,
    shown,
    text,
    whole,
)
from memtile.design.arguments import path as is_path
from memtile.design.array_picture import array_svg
from memtile.design.bench import Bench
from memtile.design.buffers import Buffer, dtype_of
from memtile.design.circuits import Circuits, End
from memtile.design.memory_tile import MemoryTile
from memtile.design.merge_order import Order
from memtile.design.object_fifo import Depth, ObjectFifo, Places, check_closed, wrong_of_fifo
from memtile.design.other_tiles import ComputeTile, InterfaceTile
from memtile.design.packet_bus import PacketBus, as_checked
from memtile.design.router import RouteDemand, Tree
from memtile.design.saving import load, save
from memtile.design.tile import Tile, TileSite
from memtile.design.undo import undoable
from memtile.errors import DesignError, Problem, raise_if
from memtile.explain.results import Result
from memtile.explain.state_diff import StateDiff, state_diff
from memtile.model.state.columns import NONE
from memtile.model.state.tile_columns import OUTSIDE, Placed
from memtile.runs.options import MAX_CYCLES, RunKeywords, RunOptions
from memtile.sheet import Sheet, SheetColumn
from memtile.sim.doors.array_door import ArrayDoor
from memtile.sim.doors.polling import run_to_next_poll
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.ports.external_buffers import ExternalMemory


def external_buffer(
    bench: Bench, memory: ExternalMemory, name: str, array: npt.NDArray[Any], address: int | None
) -> Buffer:
    """The buffer of a design that an array in external memory is; see ``Array.external``.

    Raises:
        DesignError: as ``Array.external``.
    """
    where = f"external buffer {name}"
    refuse(where, text("name", name), whole("address", address, optional=True))
    if not isinstance(array, np.ndarray):
        problem = Problem(
            "array",
            repr(array),
            "a NumPy array",
            next_step="Give one such as np.zeros(64, np.int32).",
            reason="external",
            where=where,
            source="NumPy",
        )
        raise DesignError(problem)
    shared = [other.name for other in memory.buffers.values() if np.may_share_memory(other.array, array)]
    raise_if([_twice(name, other) for other in shared], DesignError)
    added = memory.add(name, array, as_whole(address))
    kind = bench.device.kind("interface")
    return Buffer(name, kind, added.address, array.shape, array.dtype, design=bench)


def _twice(name: str, other: str) -> Problem:
    return Problem(
        "array",
        f"memory of {other}",
        "memory of its own",
        f"the array shares its memory with the external buffer {other}",
        f"Use the buffer {other}.",
        reason="external_twice",
        where=f"external buffer {name}",
        source="NumPy",
    )


_TIMING = "Give one such as Timing(external_latency=100), or leave it out."
Kind = TypeVar("Kind", bound=Tile)


class Array(Bench):
    """The tiles of a device, or of its first columns, wired as on the die; isolation opened inside.

    Args:
        device: device name, see ``memtile info``.
        columns: number of columns that the design uses, from column 0 on; all if omitted.
        timing: timing constants; if omitted, the constants measured on the device's board (``arch.timing``).

    Attributes:
        columns: columns of the design.
        rows: rows, the interface row 0 included.
        door: the whole address space, ``column << 25 | row << 20 | offset``, as a host uses it.

    Raises:
        DesignError: no such device, or it has fewer columns.
    """

    fifo_names: frozenset[str] = undoable()

    def __init__(
        self, device: str = "npu1", columns: int | None = None, timing: Timing | None = None
    ) -> None:
        wanted = instance("timing", timing, (Timing, NoneType), "timing constants or None", _TIMING)
        refuse("array", text("device", device), whole("columns", columns, optional=True), wanted)
        found = find_device(device)
        self.columns, self.rows = found.columns if columns is None else columns, found.rows
        if not 1 <= self.columns <= found.columns:
            raise DesignError.of(
                "columns",
                str(columns),
                f"1..{found.columns}",
                reason="columns",
                where=f"array {found.name}",
                source=found.source.text,
            )
        placed = _placed(found, self.columns)
        self._numbers = {(tile.column, tile.row): number for number, tile in enumerate(placed)}
        super().__init__(Engine(placed, timing, switched=True, board=found.board), found)
        size, known = (self.columns, self.rows), self.engine.known_doors
        self.door = ArrayDoor(
            lambda column, row: self.engine.door(self._number(column, row), timed=True), *size, known
        )
        self._buses: list[PacketBus] = []
        self._configured = 0  # buses whose registers are written
        self._fifos: list[ObjectFifo] = []
        self.fifo_names = frozenset()
        self._tiles: dict[tuple[int, int], Tile] = {}
        self.circuits = Circuits(found, self.columns, self)
        self._open_inner_edges()

    def _repr_html_(self) -> str:
        return array_svg(self) + _sheet(self).html()

    def __repr__(self) -> str:
        size = f"{self.columns} x {self.rows} tiles, {len(self._tiles)} in use"
        return f"Array({self.device.name}: {size}, {self.engine.now} cycles run)"

    @property
    def buses(self) -> tuple[PacketBus, ...]:
        """The packet buses of the design."""
        return tuple(self._buses)

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles that the design has requested."""
        return tuple(self._tiles.values())

    def tile(self, column: int, row: int) -> Tile:
        """Return the tile at ``(column, row)``, the same object on every call.

        Raises:
            DesignError: the array has no such tile.
        """
        place = self._place(column, row)
        if place not in self._tiles:
            site = TileSite(self, self._numbers[place], place)
            makers = {"memory": MemoryTile, "compute": ComputeTile, "interface": InterfaceTile}
            self._tiles[place] = makers[TILE_KINDS[self.device.tile(*place)].role](site=site)
        return self._tiles[place]

    def memory_tile(
        self, column: int, row: int = INTERFACE_ROWS, *, interleaved: bool | None = None
    ) -> MemoryTile:
        """The memory tile at ``(column, row)``.

        Args:
            column: of the tile.
            row: of the tile.
            interleaved: bank mapping, see ``MemoryTile.interleave``; None = unchanged; interleaved by
                default.

        Raises:
            DesignError: the place has no memory tile.
        """
        tile = self._as(MemoryTile, column, row, self.device.memory_rows)
        if interleaved is not None:
            tile.interleave(interleaved)
        return tile

    def compute_tile(self, column: int, row: int) -> ComputeTile:
        """The compute tile at ``(column, row)``.

        Raises:
            DesignError: the place has no compute tile.
        """
        return self._as(ComputeTile, column, row, self.device.compute_rows)

    def interface_tile(self, column: int) -> InterfaceTile:
        """The interface tile of ``column``.

        Raises:
            DesignError: the array has no such column, or its interface tile is not modelled.
        """
        return self._as(InterfaceTile, column, 0, range(INTERFACE_ROWS))

    def external(self, name: str, array: npt.NDArray[Any], address: int | None = None) -> Buffer:
        """Make an array in external memory accessible to all interface tiles; runs change it in place.

        Args:
            name: of the buffer, once per design.
            array: a multiple of 4 bytes, C-contiguous; a read-only array is read-only memory.
            address: byte address; the next free page if omitted.

        Raises:
            DesignError: not an array, or one of objects, texts or times; a name used twice, a size that is
                not a multiple of 4 bytes, an unusable address, or memory that another external buffer
                occupies.
        """
        return external_buffer(self, self.engine.external, name, array, address)

    def connect(self, source: End, *targets: End) -> RouteDemand:
        """Request a circuit from an MM2S channel to one or more S2MM channels; :meth:`route` routes it.

        Raises:
            DesignError: a channel has the wrong direction or already has another circuit; the error names
                both.
        """
        return self.circuits.connect(source, targets)

    def circuit(self, column: int, row: int, slave: str, *masters: str) -> None:
        """Join ports of one stream switch by hand.

        Args:
            column: of the tile.
            row: of the tile.
            slave: port that supplies the words, such as ``"DMA0"`` or ``"SOUTH2"``.
            masters: ports that all receive them.

        Raises:
            DesignError: the switch cannot join them, or a master already has another slave; the error names
                both.
        """
        ports = [text("masters", each) for each in masters]
        refuse(f"array {self.device.name}, circuit", text("slave", slave), *ports)
        self.circuits.by_hand(*self._place(column, row), slave, masters)

    def object_fifo(
        self,
        name: str,
        producer: Tile,
        consumers: Tile | Sequence[Tile],
        *,
        depth: Depth = 2,
        shape: int | Sequence[int],
        dtype: npt.DTypeLike = np.int32,
        repeat: int = 1,
        bank: Mapping[Tile, int] | None = None,
        at: Mapping[Tile, Sequence[int]] | None = None,
    ) -> ObjectFifo:
        """Return a FIFO from one tile to others, ``depth`` buffers at each end; see :class:`ObjectFifo`.

        Args:
            name: for messages, buffers and locks; unique in the array.
            producer: the tile that fills objects.
            consumers: the tiles that read them; each sees every object.
            depth: buffers at every end, 1 or more; or a number for each end, the producer's first.
            shape: of an object, in elements.
            dtype: of its elements.
            repeat: number of times each object is sent before its buffer is free again.
            bank: for each tile, the first bank to try for its buffers.
            at: for each tile, the first byte of each of its buffers.

        Raises:
            DesignError: no room for its buffers, locks or descriptors, no free channel, a depth or a repeat
                below 1, a name that another FIFO has, or an end that is not a tile of this array.
        """
        depth, shape = as_row(depth), as_row(shape)
        wrong = whole("depth", depth) if depth is None else None
        refuse(f"object FIFO {shown(name)}", wrong, *wrong_of_fifo(name, depth, repeat, bank, at))
        targets = list(consumers) if isinstance(consumers, Iterable) else [consumers]
        size = shape if isinstance(shape, tuple) else (shape,)
        found, places = dtype_of(dtype, f"object FIFO {name}"), Places(bank or {}, at or {})
        with self.all_or_nothing():
            fifo = ObjectFifo(self, name, (producer, targets), depth, size, found, repeat, places)
        self._fifos.append(fifo)
        return fifo

    def packet_bus(
        self,
        name: str,
        *routes: tuple[End, Sequence[End]],
        keep_headers: bool | Sequence[End] = False,
        ids: Sequence[int] | None = None,
        order: Order = (),
    ) -> PacketBus:
        """Return a bus of packet streams on shared links, one to many; :meth:`route` routes it.

        Args:
            name: for messages.
            routes: for each stream, the MM2S channel or another port, and the S2MM channels.
            keep_headers: leave the header in the stream for the receivers, or for these ends alone.
            ids: for each stream, the id in its headers; if omitted, the number of the stream.
            order: one round of a merge in a fixed order: ids, and the packets of each in a row; empty =
                streams that meet take turns as their packets come.

        Raises:
            DesignError: more streams than ids, conflicting ids, or an end that another flow uses.
        """
        ways, kept, ids, order = as_checked(name, routes, keep_headers, ids, order)
        with self.all_or_nothing():
            bus = PacketBus(name, self.circuits, ways, keep_headers=kept, ids=ids, order=order)
        self._buses.append(bus)
        return bus

    def route(self) -> Mapping[RouteDemand, Tree]:
        """Route the flows without a circuit and write the registers; return all circuits so far.

        Raises:
            DesignError: full links, with their users; an object FIFO with an open end; channels of a packet
                bus with packets of other streams; circuits at a port that the test bench feeds or collects
                from.
        """
        check_closed(self._fifos)
        channels = (channel for tile in self.tiles for channel in (*tile.s2mm, *tile.mm2s))
        raise_if(list(self.circuits.two_parties(channels)), DesignError)
        raise_if([problem for bus in self._buses for problem in bus.conflicts()], DesignError)
        self.circuits.apply()
        for bus in self._buses[self._configured :]:
            bus.configure(self.circuits)
            self._configured += 1
        return MappingProxyType(self.circuits.trees)

    def run(self, options: RunOptions | int | None = None, **more: Unpack[RunKeywords]) -> Result:
        """Route what is not routed, then run until nothing moves any more; see :meth:`Bench.run`.

        Args:
            options: of the run, or its limit in further cycles.
            more: fields of :class:`RunOptions`.

        Raises:
            DesignError: a stream that cannot be routed, or an object FIFO with an open end; see also ``run``.
        """
        self.route()
        return super().run(options, **more)

    def poll(self, address: int, mask: int, value: int, max_cycles: int = MAX_CYCLES) -> bool:
        """Run the array until the word at an absolute address equals ``value`` under ``mask``.

        The word is read every ``sim.doors.polling.POLL_CYCLES`` cycles, with the side effects of the read.
        Return False if the word still differs after ``max_cycles``, or if nothing can move any more and no
        timer is set.

        Args:
            address: absolute byte address, ``column << 25 | row << 20 | offset``.
            mask: bits to compare.
            value: their expected values.
            max_cycles: limit in cycles of the array clock.

        Raises:
            RegisterError: the address is not mapped.
        """
        numbers = {"address": address, "mask": mask, "value": value, "max_cycles": max_cycles}
        refuse(f"array {self.device.name}, poll", *(whole(field, given) for field, given in numbers.items()))
        end, quiet = self.engine.now + index(max_cycles), False

        def advance() -> bool:
            nonlocal quiet
            if quiet or self.engine.now >= end:
                return False
            quiet = run_to_next_poll(self.engine, end) is Stop.QUIET
            return True

        return self.door.poll(address, mask, value, advance)

    def save(self, path: Path | str) -> None:
        """Write the array to a file; :meth:`load` restores it, in this process or another one.

        A run that continues from the file equals one that was never interrupted, bit by bit.

        Args:
            path: of the file, used as given; an existing file remains until the new one is complete.

        Raises:
            DesignError: a kernel or a host sequence has not finished (a Python generator cannot be saved), or
                a flow has no circuit yet; the error names all of them.
            InputFileError: the file cannot be written.
        """
        refuse(f"array {self.device.name}, save", is_path("path", path))
        save(self, path)

    @classmethod
    def load(cls, path: Path | str) -> Array:
        """Return the array that :meth:`save` wrote to a file.

        Its parts are those of :attr:`tiles`, :attr:`fifos` and :attr:`buses`, by their names; external
        buffers are new arrays, see ``engine.external.buffers``.

        Raises:
            InputFileError: the file is damaged or of another version, holds more bytes of arrays than the
                limit ``saved_bytes``, or has a value that no run can produce; the error names the member.
        """
        refuse("array, load", is_path("path", path))
        return load(cls, path)

    def diff(self, other: Array) -> StateDiff:
        """Return the differences between the states of this array and of another one of the same device.

        Raises:
            DesignError: the other array is of another device, or has more or fewer columns.
        """
        wrong = instance("other", other, Array, "another array", "Make a saved one with Array.load.")
        refuse(f"array {self.device.name}, diff", wrong)
        mine, theirs = ((a.device.name, a.columns, a.engine.timing) for a in (self, other))
        if mine != theirs:
            raise DesignError.of(
                "diff",
                f"{other!r}",
                f"{self.device.name} with {self.columns} columns and the same timing",
                f"the other array is {other!r}; it must be {self.device.name} with {self.columns} "
                "columns and the same timing",
                reason="diff",
                where=f"array {self.device.name}",
                source="columns of one model are compared",
            )
        return state_diff(self.engine, other.engine)

    @property
    def fifos(self) -> tuple[ObjectFifo, ...]:
        """The object FIFOs that ``object_fifo`` made; their ``split`` and ``gather`` return the others."""
        return tuple(self._fifos)

    def _saved_runs(self) -> dict[str, Any]:
        """What runs of the array so far leave beside the engine, as plain data; see ``design.saving``."""
        return {
            "fifo_names": sorted(self.fifo_names),
            "configured": self._configured,
            "run_until": self.run_until,
            "listening": sorted(self.listening),
            "expected": [[tile.place, buffer.name] for tile, buffer, _ in self.expected],
            "compared": [
                [name, next(n for n, b in self.engine.external.buffers.items() if b.array is array)]
                for name, array, _ in self.compared
            ],
        }

    def _restore_runs(
        self,
        saved: Mapping[str, Any],
        arrays: Mapping[str, npt.NDArray[Any]],
        buses: Sequence[PacketBus],
        fifos: Sequence[ObjectFifo],
    ) -> None:
        """Have what ``_saved_runs`` found in another array; see ``design.saving``.

        Args:
            saved: what it found.
            arrays: the expected data by key, of any shape and type.
            buses: the packet buses of the other array, remade here.
            fifos: its object FIFOs.
        """
        self._buses, self._fifos = list(buses), list(fifos)
        self.fifo_names, self._configured = frozenset(saved["fifo_names"]), saved["configured"]
        self.run_until, self.listening = saved["run_until"], set(saved["listening"])
        for n, (place, name) in enumerate(saved["expected"]):
            tile = self.tile(*place)
            buffer = {each.name: each for each in tile.buffers}[name]
            self.expected.append((tile, buffer, arrays[f"buffer/{n}"]))
        for n, (name, external) in enumerate(saved["compared"]):
            array = self.engine.external.buffers[external].array
            self.compared.append((name, array, arrays[f"compared/{n}"]))

    def _read(self, address: int) -> int:
        return self.door.at_once().read32(address)

    def _as(self, kind: type[Kind], column: int, row: int, rows: range) -> Kind:
        tile = self.tile(column, row)
        if not isinstance(tile, kind):
            raise DesignError.of(
                "row",
                f"row {row}, which has a {tile.kind.title},",
                f"rows {rows.start}..{rows.stop - 1}",
                f"row {row} has a {tile.kind.title}, allowed are rows {rows.start}..{rows.stop - 1}",
                reason="kind",
                where=f"array {self.device.name}, {kind.__name__}",
                source=self.device.source.text,
            )
        return tile

    def _number(self, column: int, row: int) -> int:
        return self._numbers[column, row]

    def _place(self, column: int, row: int) -> tuple[int, int]:
        """The place of a tile, once it is known that there is one."""
        where = f"array {self.device.name}"
        refuse(where, whole("column", column), whole("row", row))
        for name, given, count in (("column", column, self.columns), ("row", row, self.rows)):
            if not 0 <= given < count:
                raise DesignError.of(
                    name,
                    str(given),
                    f"0..{count - 1}",
                    reason=name,
                    where=where,
                    source=self.device.source.text,
                )
        return index(column), index(row)

    def _open_inner_edges(self) -> None:
        """Isolate only the outer columns, towards the outside, as AMD's driver does for a partition."""
        _, west, _, east = ISOLATION
        for column in range(self.columns):
            sides = {west: int(column == 0), east: int(column == self.columns - 1)}
            for row in range(self.rows):
                kind = self.device.tile(column, row)
                register = tile_register(kind, "Tile_Control")
                self.engine.door(self._numbers[column, row]).write32(register.offset, register.pack(**sides))


def _placed(device: Device, columns: int) -> list[Placed]:
    """All tiles, column by column; memory tiles know their neighbours in the row.

    Behind them the memory tiles west of the partition, where the die has some (DEV-NBR-1).
    """
    places = [(c, r) for c in range(columns) for r in range(device.rows)]
    beyond = [(OUTSIDE, r) for r in device.memory_rows if device.has_west_neighbour(0)]
    numbers = {place: number for number, place in enumerate([*places, *beyond])}

    def beside(column: int, row: int) -> int:
        return numbers.get((column, row), NONE) if row in device.memory_rows else NONE

    def placed(column: int, row: int) -> Placed:
        sides = beside(column - 1, row), beside(column + 1, row)
        return Placed(device.tile(column, row), *sides, column, row, device.has_interface_dma(column))

    lent = [Placed(device.kind("memory").name, NONE, numbers[0, row], OUTSIDE, row) for _, row in beyond]
    return [placed(*place) for place in places] + lent


_SHOWN_TILES = 6  # rows of a table in a notebook
_TILES = (
    *map(SheetColumn, ("tile", "kind", "buffers")),
    SheetColumn("bytes", right=True),
    SheetColumn("locks", right=True),
    SheetColumn("channels"),
)


def _sheet(array: Array) -> Sheet:
    """The tiles of an array that the design uses; of many those that have the same together."""
    used = [_row(tile) for tile in array.tiles]
    if len(used) <= _SHOWN_TILES:
        return Sheet(_TILES, tuple((str(place), *rest) for place, rest in used), title=repr(array))
    groups: dict[tuple[str, ...], int] = {}
    for _, (kind, buffers, nbytes, _locks, ports) in used:
        many = str(len(buffers.split(", ")) if buffers else 0)
        groups[kind, many, nbytes, ports] = groups.get((kind, many, nbytes, ports), 0) + 1
    rows = [
        (f"{count} x", kind, f"{many} in each", nbytes, "", ports)
        for (kind, many, nbytes, ports), count in groups.items()
    ]
    more = (f"and {len(rows) - _SHOWN_TILES} more kinds of use",) if len(rows) > _SHOWN_TILES else ()
    return Sheet(_TILES, tuple(rows[:_SHOWN_TILES]), title=repr(array), below=more)


def _row(tile: Tile) -> tuple[tuple[int, int] | None, tuple[str, ...]]:
    """Kind, buffers, bytes, locks and ports in use of a tile."""
    return tile.place, (
        tile.kind.title,
        ", ".join(buffer.name for buffer in tile.buffers),
        f"{sum(buffer.nbytes for buffer in tile.buffers):,}",
        ", ".join(lock.name for lock in tile.locks),
        ", ".join(channel.port for channel in (*tile.s2mm, *tile.mm2s) if channel.started),
    )
