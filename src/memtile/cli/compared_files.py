"""Anything that can be compared, from its file: designs are run, the others read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtile.cli.mlir_file import SUFFIX
from memtile.errors import InputFileError
from memtile.input_files import read_text
from memtile.io.formats.json_text import parse_json
from memtile.runs.options import RunOptions

if TYPE_CHECKING:
    from memtile.cli.runnable import Runnable
    from memtile.explain.compare.compare import Compared


def compared_file(
    name: str,
    *,
    device: str,
    settings: Sequence[str],
    given: Sequence[str],
    kernels: str | None,
    options: RunOptions,
) -> Compared:
    """One side of a comparison.

    Raises:
        MemtileError: as reading or running it raises.
    """
    path = Path(name)
    if path.suffix in (".py", SUFFIX):
        from memtile.cli.runnable import load_beside

        made = load_beside(name, device=device, settings=settings, kernels=kernels, given=given)
        return _design(name, made, options)
    if path.suffix == ".json" and (record := _record(path)) is not None:
        return _of_record(name, record)
    if path.is_file() and _is_dump(path):
        return _dump(name, device)
    return _program(name, device)


def _design(name: str, made: Runnable, options: RunOptions) -> Compared:
    from memtile.explain.compare.compare import DESIGN, Compared
    from memtile.explain.record import record
    from memtile.io.tile_words import tiles_of

    locks = made.engine.state.locks.value.copy()
    ran = made.run(options)
    set_up = tiles_of(made.engine, locks)
    return Compared(name, DESIGN, record(ran.result, made.engine), made.words(ran), set_up)


def _record(path: Path) -> dict[str, Any] | None:
    """The record of a file; None if it is other JSON."""
    from memtile.explain.record import FORMAT

    try:
        found = parse_json(read_text(path), str(path))
    except InputFileError:
        return None  # its reader says what is wrong with it
    return found if isinstance(found, dict) and found.get("format") == FORMAT else None


def _of_record(name: str, found: dict[str, Any]) -> Compared:
    from memtile.explain.compare.compare import Compared
    from memtile.explain.record import VERSION

    if found.get("version") != VERSION or not isinstance(found.get("result"), dict):
        raise InputFileError(
            f"{name}: the record has version {found.get('version')!r}; this memtile reads version {VERSION}."
        )
    return Compared(name, "record", found)


def _is_dump(path: Path) -> bool:
    from memtile.explain.dump.formats import looks_like_coredump

    return looks_like_coredump(path)


def _dump(name: str, device: str) -> Compared:
    from memtile.explain.compare.compare import Compared
    from memtile.explain.dump.formats import read_coredump
    from memtile.io.dumps import load_coredump
    from memtile.io.tile_words import placed_words

    loaded = load_coredump(read_coredump(Path(name)), name, device)
    return Compared(name, "dump", tiles=placed_words(loaded.array.engine, loaded.words), notes=loaded.notes)


def _program(name: str, device: str) -> Compared:
    from memtile.cli.program_files import read_alone
    from memtile.explain.compare.compare import Compared
    from memtile.io.tile_words import written_tiles

    operations, array, notes = read_alone(name, device)
    return Compared(name, "file of registers", tiles=written_tiles(operations, array), notes=notes)
