"""An array as a coredump file."""

from __future__ import annotations

from pathlib import Path

from memtile.arch.devices import Device
from memtile.errors import DesignError, Problem
from memtile.explain.dump.capture import all_words, array_tiles
from memtile.explain.dump.formats import SYSTEMS, About, elf_parts, raw_parts
from memtile.model.state.causes import Phase
from memtile.output_files import write_output
from memtile.sim.engine import Engine
from memtile.sim.wordless import look_for_words

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
