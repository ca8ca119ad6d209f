"""The address space of tiles as a memory-mapped master would read it, without what a read would change.

It also has an array as a coredump file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE
from memtile.arch.devices import Device
from memtile.arch.registers import Shows
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.errors import DesignError, Problem
from memtile.explain.dump.dump_formats import SYSTEMS, TILE_WORDS, About, Words, elf_parts, raw_parts
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import answering, index_map, registers_of
from memtile.model.state.causes import Phase
from memtile.model.state.tile_columns import OUTSIDE
from memtile.output_files import write_output
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.timing_only import look_for_words


def array_tiles(engine: Engine) -> Iterator[int]:
    """Model indices of the tiles of a partition, column by column and in a column from row 0 on."""
    tiles = plain(engine.spec.tiles)
    order = np.lexsort((tiles.row, tiles.column))
    return (int(tile) for tile in order if tiles.column[tile] != OUTSIDE)


def all_words(engine: Engine) -> Iterator[Words]:
    """The words of each of :func:`array_tiles`."""
    return (tile_words(engine, tile) for tile in array_tiles(engine))


def tile_words(engine: Engine, tile: int) -> Words:
    """All words of a tile's address space; uint32, 0 where nothing answers and in a tile without clock."""
    found = np.zeros(TILE_WORDS, np.uint32)
    if not engine.has_clock(tile):
        return found
    state, tiles = engine.state, plain(engine.spec.tiles)
    name = KIND_NAMES[int(tiles.kind[tile])]
    index = _index(name)
    here = (index >= 0) & answering(name, bool(tiles.has_dma[tile]))
    found[here] = _values(engine, tile, name)[index[here]]
    first, count = int(tiles.memory_base[tile]), int(tiles.memory_words[tile])
    found[:count] = state.memory[first : first + count]
    if TILE_KINDS[name].role == "compute":
        at, core = CORE.program_base // WORD_BYTES, int(tiles.core[tile])
        words = state.program[core * CORE.program_words : (core + 1) * CORE.program_words]
        found[at : at + CORE.program_words] = words
    return found


@cache
def _index(name: TileName) -> npt.NDArray[np.int16]:
    return index_map(name)


def _values(engine: Engine, tile: int, name: TileName) -> npt.NDArray[np.uint32]:
    """What each register of the tile reads as."""
    registers, tiles, door = registers_of(name), plain(engine.spec.tiles), engine.door(tile).at_once()
    first = int(tiles.register_base[tile])
    values = engine.state.registers[first : first + len(registers)] & _readable(name)
    has_dma = answering(name, bool(tiles.has_dma[tile]))
    for number, register in enumerate(registers):
        if Shows.READABLE in register.acts.shows and has_dma[register.offset // WORD_BYTES]:
            values[number] = door.read32(register.offset)
    return values.astype(np.uint32)


@cache
def _readable(name: TileName) -> npt.NDArray[np.int64]:
    return np.array([register.readable for register in registers_of(name)], np.int64)


ELF_SUFFIX = ".elf"
MAKER = "memtile"
_REQUESTED = "AIE-ML v2"  # the generation whose driver leaves the request in the file


def write_coredump(engine: Engine, device: Device, path: Path, *, elf: bool | None = None) -> None:
    """Write all tiles of an array to a file.

    Args:
        engine: the model of an array.
        device: that it is.
        path: of the file.
        elf: True = an ELF of type ET_CORE, False = raw, None = an ELF if the name ends in ``.elf``.

    Raises:
        DesignError: the engine has one tile alone; after a run without words.
        InputFileError: the file cannot be written.
    """
    if len(engine.spec.tiles.kind) == 1:
        raise DesignError(_alone(path))
    look_for_words(engine, f"coredump {path}", "a dump of memory")
    as_elf = path.suffix == ELF_SUFFIX if elf is None else elf
    tiles = all_words(engine)
    if as_elf:
        about = About(status=_status(engine), driver=MAKER, device=f"{MAKER} {device.name}")
        parts = elf_parts(tiles, len(list(array_tiles(engine))), SYSTEMS[device.generation], about)
    else:
        parts = raw_parts(tiles, request=device.generation == _REQUESTED)
    write_output(path, parts)


def _status(engine: Engine) -> str:
    """``timeout`` while a channel has a task, else ``idle``."""
    return "timeout" if (engine.channels.phase != Phase.IDLE).any() else "idle"


def _alone(path: Path) -> Problem:
    return Problem(
        "design",
        "a memory tile alone",
        "an array",
        "the design is a memory tile alone; a coredump is of an array",
        "Take memtile.Array and its memory_tile().",
        reason="coredump",
        where=f"coredump {path}",
        source="XRT dumps all tiles of the columns of a context",
    )
