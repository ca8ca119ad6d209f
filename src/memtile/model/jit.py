"""How the hardware blocks are compiled: one decorator, one cache, one switch.

``MEMTILE_JIT=0`` leaves the very same functions to the interpreter. The cache is keyed by a hash of every source
that takes part, because Numba does not notice a change in a function called from another module.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

ENABLED = os.environ.get("MEMTILE_JIT", "1") != "0"
_PACKAGE = Path(__file__).resolve().parents[1]
_ROOMS = ("arch", "bd", "model", "sim")
_OPT_LEVEL = 1  # LLVM level 1 runs the clock loop faster than level 3 and compiles in less time


def _source_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(p for room in _ROOMS for p in (_PACKAGE / room).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    checkout = _PACKAGE.parents[1]
    if override := os.environ.get("MEMTILE_CACHE"):
        return Path(override)
    if (checkout / "pyproject.toml").exists():
        return checkout / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "memtile"


def cache_directory() -> Path:
    """Directory of the compiled engine for exactly these sources."""
    return _cache_root() / "jit" / _source_hash()


@contextmanager
def _settings() -> Iterator[None]:
    """Numba's process-wide settings, ours while decorating and compiling, then put back."""
    import numba

    kept = numba.config.CACHE_DIR, numba.config.OPT
    level = type(numba.config.OPT)  # Numba's own level class, which also knows "max"
    numba.config.CACHE_DIR, numba.config.OPT = str(cache_directory()), level(_OPT_LEVEL)
    try:
        yield
    finally:
        numba.config.CACHE_DIR, numba.config.OPT = kept


def jit(function: F) -> F:
    """Compile ``function`` with Numba, cached on disk; the function itself when the JIT is off."""
    if not ENABLED:
        return function
    import numba

    with _settings():
        compiled: F = numba.njit(cache=True, error_model="numpy")(function)
    return compiled


def compiling() -> Any:
    """Context in which a first call may compile, with this package's settings."""
    return _settings()
