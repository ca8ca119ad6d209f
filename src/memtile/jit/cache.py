"""Where compiled code is kept: one directory for each state of the sources that take part.

Numba does not notice a change in a function called from another module, so the directory is named by a hash
of them all; who has an entry compiled says which they are. Only the directories used last stay, so that the
cache does not grow with every change.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from memtile.errors import MemtileError, Problem

Sources = tuple[str, ...]
"""Files and directories of this package that compiled code is made of, relative to it; ``jit`` always is."""

_PACKAGE = Path(__file__).resolve().parents[1]
_OURS = Path(__file__).parent.name
_STAY = 4  # directories; other checkouts and running processes may share the place
_VARIABLE = "MEMTILE_CACHE"


def files_of(sources: Sources) -> Iterator[Path]:
    """All files that the compiled code depends on."""
    for name in (_OURS, *sources):
        path = _PACKAGE / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


@cache
def source_hash(sources: Sources) -> str:
    """Hash of all files in ``sources``; 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in files_of(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _roots() -> Iterator[Path]:
    """Places in order of preference; the last one can always be written."""
    checkout = _PACKAGE.parents[1]
    if (checkout / "pyproject.toml").exists():
        yield checkout / ".cache"
    yield Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "memtile"
    yield Path(tempfile.gettempdir()) / f"memtile-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"


def _writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


@cache
def cache_directory(sources: Sources) -> Path:
    """Directory for what is compiled from exactly these sources by this Numba; made if it is not there.

    ``MEMTILE_CACHE`` names the place; else it is ``.cache`` of a checkout or the user's cache directory.

    Raises:
        MemtileError: ``MEMTILE_CACHE`` names a place that cannot be written.
    """
    from numba import __version__ as version

    override = os.environ.get(_VARIABLE)
    for root in [Path(override)] if override else _roots():
        directory = root / "jit" / f"{source_hash(sources)}-{version}"
        if _writable(directory):
            return directory
    raise MemtileError(
        Problem(
            reason="cache",
            where="environment",
            field=_VARIABLE,
            given=str(override),
            allowed="a directory that can be written",
            source="the compiled engine is kept there",
        )
    )


def forget_old(mine: Path) -> None:
    """Remove all directories of compiled code beside ``mine`` but those used last."""
    others = [d for d in mine.parent.iterdir() if d.is_dir() and d != mine]
    for directory in sorted(others, key=lambda d: d.stat().st_mtime, reverse=True)[_STAY - 1 :]:
        shutil.rmtree(directory, ignore_errors=True)  # another process may be removing it too
