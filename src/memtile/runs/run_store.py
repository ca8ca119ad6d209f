"""Files with the ends of runs, one for each start, in a folder of the user's cache.

A file is written whole or not at all, carries a checksum, and holds numbers and JSON, nothing that runs. One
that is torn, or of something else, is removed and counts as none. The files used last stay.
"""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from functools import cache
from hashlib import sha256
from math import prod
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.errors import InputFileError
from memtile.jit.cache import files_of, forget_old, last_use, numba_version, own_place, source_hash
from memtile.output_files import output_file
from memtile.sim.loop.run_end import RunEnd
from memtile.system import locked_file, system

SOURCES = "arch", "bd", "access", "corelib", "model", "sim", "runs", "design"
"""What decides about a run, from the transfers of a design to its cycles."""
MOST_FILES = 256
MOST_BYTES = 1 << 23  # of a file
_MARK, _SUFFIX, _FORMS = b"memtile run 1\n", ".run", "arrays"
_LENGTH = 8  # bytes that say how long the facts are
_SUM = sha256().digest_size


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of the last change of a file."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


_LOADED = {path: _stamp(path) for path in files_of(SOURCES)}


def sources_are_loaded() -> bool:
    """Whether sources are as they were when this process imported them: what runs is what their hash says."""
    try:
        return all(_stamp(path) == was for path, was in _LOADED.items())
    except OSError:
        return False


@cache
def build() -> str:
    """Name of what made the files: the sources, and the versions that they run with."""
    return f"{source_hash(SOURCES)}-{python_version()}-{np.__version__}-{numba_version()}"


class RunStore:
    """The files of one folder.

    Args:
        folder: that is there, and that no other user can write.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> RunEnd | None:
        """The end of the run with a start; None if it is not there, or its file is damaged."""
        path = self._folder / f"{key}{_SUFFIX}"
        try:
            with path.open("rb") as file:
                text = file.read(MOST_BYTES + 1)
        except OSError:
            return None
        found = _read(text, key)
        with suppress(OSError):  # another process has removed it, or it is another user's
            if found is None:
                system().unlink(path)
            else:
                system().mark_used(path)
        return found

    def write(self, key: str, end: RunEnd) -> None:
        """Keep the end of a run, unless it is long or the system refuses: then it is run again."""
        text = _written(key, end)
        if len(text) > MOST_BYTES:
            return
        with suppress(InputFileError, OSError):
            with output_file(self._folder / f"{key}{_SUFFIX}", durable=False) as file:
                file.write(text)
            self._forget_old()

    def _forget_old(self) -> None:
        """Remove the files that were used longest ago, if there are too many; one process at a time."""
        lock = locked_file(self._folder / ".lock")
        if lock is None:
            return
        with lock:
            for path in sorted(self._folder.glob(f"*{_SUFFIX}"), key=last_use, reverse=True)[MOST_FILES:]:
                with suppress(OSError):
                    system().unlink(path)


@cache
def usual_store() -> RunStore:
    """The store in the user's cache; those of other sources that were used longest ago are removed.

    Raises:
        MemtileError: ``MEMTILE_CACHE`` names a place that cannot be written, or that others can write.
    """
    folder = own_place("runs", build())
    system().mark_used(folder)
    forget_old(folder)
    return RunStore(folder)


def _written(key: str, end: RunEnd) -> bytes:
    forms = [[name, array.dtype.str, array.shape] for name, array in end.arrays.items()]
    head = json.dumps({**end.facts, "key": key, _FORMS: forms}).encode()
    arrays = (np.ascontiguousarray(array).tobytes() for array in end.arrays.values())
    content = zlib.compress(b"".join((len(head).to_bytes(_LENGTH), head, *arrays)), 1)
    return _MARK + sha256(content).digest() + content


def _read(text: bytes, key: str) -> RunEnd | None:
    """What a file has; None if it was not written here for this start."""
    begin = len(_MARK) + _SUM
    if text[: len(_MARK)] != _MARK or sha256(text[begin:]).digest() != text[len(_MARK) : begin]:
        return None
    content = zlib.decompress(text[begin:])  # with such a sum it is what was written
    at = _LENGTH + int.from_bytes(content[:_LENGTH])
    facts: dict[str, Any] = json.loads(content[_LENGTH:at])
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, dtype, shape in facts.pop(_FORMS):
        array = np.frombuffer(content, dtype, prod(shape), at).reshape(shape)
        arrays[name], at = array, at + array.nbytes
    return RunEnd(arrays, facts) if facts["key"] == key else None
