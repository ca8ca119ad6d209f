"""Whether anything is compiled, and Numba's settings while it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ENABLED = os.environ.get("MEMTILE_JIT", "1") != "0"
BOUNDS = os.environ.get("MEMTILE_BOUNDS", "0") != "0"
"""Whether compiled code checks every index, see ``bounds``; slower, and compiled and cached apart."""
_OPT_LEVEL = 3  # of LLVM: the clock loop is a tenth faster than with level 1, and takes as long to compile


@contextmanager
def settings(directory: Path) -> Iterator[None]:
    """Numba's process-wide settings, ours while decorating and compiling, then put back."""
    import numba

    config: Any = numba.config  # a module whose names are made at run time
    before = config.CACHE_DIR, config.OPT
    level = type(config.OPT)  # Numba's own level class, which also knows "max"
    config.CACHE_DIR, config.OPT = str(directory), level(_OPT_LEVEL)
    try:
        yield
    finally:
        config.CACHE_DIR, config.OPT = before
