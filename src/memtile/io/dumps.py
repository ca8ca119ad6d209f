"""Dumps of machines, found out about and put into arrays: coredumps, register dumps, what a server reads.

It also has the address spaces of an array's tiles: as a model has them, and as register writes leave them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memtile.arch.devices import DEVICES, PARTITIONS, Device
from memtile.arch.devices import device as find_device
from memtile.arch.registers import Acts, Shows
from memtile.arch.tiles import WORD_BYTES, TileName
from memtile.design.array import Array
from memtile.errors import InputFileError, Problem
from memtile.explain.compare.register_changes import Place, Tiles
from memtile.explain.dump.capture import MAKER, array_tiles, tile_words
from memtile.explain.dump.dump_formats import SYSTEMS, Coredump, Words
from memtile.explain.dump.load import put_clocks, put_streams, put_tile
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import registers_of
from memtile.model.state.columns import Ints
from memtile.runs.firmware import pointer_of, pointer_words
from memtile.runs.operations import WORD_MAX, Operation, locate, words_written
from memtile.sim.loop.engine import Engine

DRIVERS: Mapping[str, str] = {
    "RyzenAI-npu1": "npu1",
    "RyzenAI-npu4": "npu2",
    "RyzenAI-npu5": "npu2",
    "RyzenAI-npu6": "npu2",
    "NPU Phoenix": "npu1",
    "NPU Strix": "npu2",
    "NPU Strix Halo": "npu2",
    "NPU Krackan": "npu2",
}
"""Devices by what the driver calls them (xdna-driver, ``default_vbnv``)."""
DUMPED = ("npu1", "npu2", "xc2ve3858")
"""Devices of which XRT makes dumps (xdna-driver)."""
_VERSAL = "xc2ve3858"  # its driver leaves the request behind the tiles
_OWN = re.compile(rf"{MAKER} (\S+)")
_SOURCE = "xdna-driver: rows times columns of the context"


@dataclass(frozen=True, slots=True)
class LoadedDump:
    """A dump in an array that has not run.

    Attributes:
        array: that holds it.
        words: of its tiles, column by column.
        source: what it is, a line each.
        notes: what is to be said about it.
        known: of each tile the words that the dump has; None = all of them.
    """

    array: Array
    words: Sequence[Words]
    source: Sequence[str]
    notes: Sequence[str] = ()
    known: Sequence[npt.NDArray[np.bool_]] | None = None


def load_coredump(dump: Coredump, name: str, device: str = "", beside: Array | None = None) -> LoadedDump:
    """A coredump in an array.

    Args:
        dump: as it was read.
        name: of its file.
        device: that it is of; empty = find out.
        beside: the array of the design beside it; None = there is none.

    Raises:
        DesignError: no such device.
        InputFileError: a device of other rows or columns, or nobody can say which one it is.
    """
    found = _device(dump, name, device, beside)
    columns, rest = divmod(len(dump.tiles), found.rows)
    if rest or columns > found.columns:
        allowed = f"{found.rows} tiles a column, up to {found.columns} columns, for {found.name}"
        raise InputFileError(_problem(name, f"{len(dump.tiles)} tiles", allowed))
    used = _columns_used(dump.tiles, found.rows, columns)
    wanted = beside.columns if beside is not None else used
    notes = []
    if used < columns:
        those = f"column {used} is" if used == columns - 1 else f"columns {used}..{columns - 1} are"
        notes.append(f"{those} all zeros: no part of the context")
    if used > wanted or wanted > columns:
        allowed = f"those of the design beside it, {wanted}"
        raise InputFileError(_problem(name, f"{used} columns", allowed))
    words = [dump.tiles[number] for number in range(wanted * found.rows)]
    return LoadedDump(_array(found.name, wanted, words), words, tuple(_said(dump, name, found)), tuple(notes))


def load_registers(
    operations: Iterable[Operation], name: str, device: str = "npu1", beside: Array | None = None
) -> LoadedDump:
    """A register dump in an array; what it lacks is as after reset.

    Raises:
        DesignError: no such device.
        InputFileError: it has no register of the device.
    """
    found, columns = (beside.device.name, beside.columns) if beside else (device, None)
    blank = Array(found, columns)
    tiles = {place: n for n, place in enumerate(_places(blank))}
    words = [tile_words(blank.engine, tile) for tile in array_tiles(blank.engine)]
    known = [np.zeros(len(each), np.bool_) for each in words]
    for operation in operations:
        for word in words_written(operation):
            column, row, offset = locate(word.address)
            if (column, row) in tiles:
                at = tiles[column, row], offset // WORD_BYTES
                words[at[0]][at[1]], known[at[0]][at[1]] = word.value, True
    count = sum(int(each.sum()) for each in known)
    if not count:
        raise InputFileError(_problem(name, "no register of the device", f"registers of {blank.device.name}"))
    source = (f"{name}: register dump of {blank.device.name}, {count} words; others are as after reset",)
    return LoadedDump(_array(found, blank.columns, words), words, source, (), known)


def addresses_asked(array: Array) -> list[int]:
    """Addresses of the registers that say why an array does not go on; what a client has to read."""
    found = list[int]()
    for place, tile in zip(_places(array), array_tiles(array.engine), strict=True):
        kind = KIND_NAMES[int(plain(array.engine.spec.tiles).kind[tile])]
        for register in registers_of(kind):
            if Shows.STALLS in register.acts.shows or register.name.startswith(
                ("DMA_BD", "Stream_Switch_Slave")
            ):
                found.append(array.door.address(*place, register.offset))
    return found


def _array(device: str, columns: int, words: Sequence[Words]) -> Array:
    array = Array(device, columns)
    engine = array.engine
    for tile, its in zip(array_tiles(engine), words, strict=True):
        if its.any():
            put_tile(engine, tile, its)
    put_streams(engine)
    for tile, its in zip(array_tiles(engine), words, strict=True):
        if its.any():
            put_clocks(engine, tile, its)
    return array


def _places(array: Array) -> list[tuple[int, int]]:
    return [(column, row) for column in range(array.columns) for row in range(array.rows)]


def _columns_used(tiles: Words, rows: int, columns: int) -> int:
    """Columns up to the last one in which anything stands."""
    used = columns
    while used > 1 and not np.any(tiles[(used - 1) * rows : used * rows]):
        used -= 1
    return used


def _device(dump: Coredump, name: str, device: str, beside: Array | None) -> Device:
    if device:
        return find_device(device)
    if beside is not None:
        return find_device(beside.device.name)
    if dump.about is not None and (told := _told(dump.about.device)):
        return find_device(told)
    fit = [each for each in map(find_device, DUMPED) if _fits(dump, each)]
    if len(fit) == 1:
        return fit[0]
    names = ", ".join(each.name for each in fit) or "no device of which XRT makes dumps"
    says = (
        f"{len(dump.tiles)} tiles may be of {names}; the file does not say of which device"
        if fit
        else f"{len(dump.tiles)} tiles fit {names}"
    )
    raise InputFileError(
        _problem(
            name, f"{len(dump.tiles)} tiles", "a device", says, "Give --device, or the design beside it."
        )
    )


def _told(text: str) -> str:
    own = _OWN.fullmatch(text)
    if own:
        return own[1] if own[1] in {**DEVICES, **PARTITIONS} else ""
    return DRIVERS.get(text, "")


def _fits(dump: Coredump, device: Device) -> bool:
    columns, rest = divmod(len(dump.tiles), device.rows)
    asked = dump.request is not None
    if dump.system and dump.system != SYSTEMS[device.generation]:
        return False
    return (
        not rest and columns <= device.columns and (dump.format == "elf" or asked == (device.name == _VERSAL))
    )


def _said(dump: Coredump, name: str, device: Device) -> list[str]:
    form = "ELF of type ET_CORE" if dump.format == "elf" else "raw"
    lines = [f"{name}: coredump, {form}, {len(dump.tiles)} tiles, {device.name}"]
    if dump.request is not None:
        lines.append(f"asked for by process {dump.request[0]}, context {dump.request[1]}")
    if dump.about is not None:
        about = dump.about
        known = {"context": about.status, "driver": about.driver, "firmware": about.firmware}
        known |= {"device": about.device, "uuid": about.uuid}
        lines.append(", ".join(f"{key} {value}" for key, value in known.items() if value))
    return lines


def _problem(name: str, given: str, allowed: str, says: str = "", next_step: str = "") -> Problem:
    return Problem(
        "tiles",
        given,
        allowed,
        says or f"the dump has {given}, allowed are {allowed}",
        next_step,
        reason="coredump",
        where=name,
        source=_SOURCE,
    )


def placed_words(engine: Engine, words: Sequence[Words]) -> Tiles:
    """Words of tiles, column by column, by the places that the model of an array has for them."""
    tiles = plain(engine.spec.tiles)
    return {
        (int(tiles.column[tile]), int(tiles.row[tile])): (KIND_NAMES[int(tiles.kind[tile])], its)
        for tile, its in zip(array_tiles(engine), words, strict=True)
    }


def tiles_of(engine: Engine, locks: Ints | None = None) -> Tiles:
    """The tiles of a model as they are; without data memory, which a run has changed.

    Args:
        engine: the model.
        locks: values that the locks shall have, by their index among all locks; None = as they are.
    """
    found: dict[Place, tuple[TileName, Words]] = {}
    tiles = plain(engine.spec.tiles)
    for tile in array_tiles(engine):
        words, count = tile_words(engine, tile), int(tiles.memory_words[tile])
        words[:count] = 0
        name, base = KIND_NAMES[int(tiles.kind[tile])], int(tiles.lock_base[tile])
        for register in registers_of(name) if locks is not None else ():
            if register.acts is Acts.LOCK_VALUE:
                assert locks is not None
                words[register.offset // WORD_BYTES] = locks[base + register.argument]
        found[int(tiles.column[tile]), int(tiles.row[tile])] = name, words
    return found


def written_tiles(operations: Iterable[Operation], array: Array) -> Tiles:
    """Tiles as register writes leave those of a new array; polls and waits are taken to be met."""
    blank = placed_words(array.engine, [tile_words(array.engine, t) for t in array_tiles(array.engine)])
    for operation in operations:
        pointer = pointer_of(operation)
        words = pointer_words(pointer.register, pointer.offset) if pointer else words_written(operation)
        for word in words:
            column, row, offset = locate(word.address)
            if (column, row) in blank:
                _, its = blank[column, row]
                at = offset // WORD_BYTES
                its[at] = np.uint32(int(its[at]) & ~word.mask & WORD_MAX | word.value & word.mask)
    return blank
