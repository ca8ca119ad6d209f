"""How the hardware blocks are compiled: one decorator, one cache, one switch.

``MEMTILE_JIT=0`` leaves the very same functions to the interpreter. The cache is keyed by a hash of every
source that takes part, because Numba does not notice a change in a function called from another module.
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
_OPT_LEVEL = 1  # LLVM level 1 runs the clock loop as fast as level 3 and compiles in less time


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

    config: Any = numba.config  # a module whose names are made at run time
    kept = config.CACHE_DIR, config.OPT
    level = type(config.OPT)  # Numba's own level class, which also knows "max"
    config.CACHE_DIR, config.OPT = str(cache_directory()), level(_OPT_LEVEL)
    try:
        yield
    finally:
        config.CACHE_DIR, config.OPT = kept


def _compile(function: F, **options: bool) -> F:
    if not ENABLED:
        return function
    import numba

    njit: Any = numba.njit  # its stubs do not know the switch for reference counting
    with _settings():
        # The engine allocates nothing, so reference counting of its arguments would only cost time.
        compiled: F = njit(cache=True, error_model="numpy", _nrt=False, **options)(function)
    return compiled


def jit(function: F) -> F:
    """Compile ``function`` with Numba, cached on disk; the function itself when the JIT is off."""
    return _compile(function)


def inlined(function: F) -> F:
    """Like :func:`jit`, for what runs in every cycle: a call costs more than these functions do."""
    return _compile(function, forceinline=True)


def compiling() -> Any:
    """Context in which a first call may compile, with this package's settings."""
    return _settings()
