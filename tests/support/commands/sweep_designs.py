"""A design of a few words, for tests of sweeps: variants are good, refused, hang or come out wrong."""

from __future__ import annotations

import sys
from pathlib import Path

SMALL = """\
import os
from typing import Annotated, Literal

import numpy as np
from memtile import MemoryTile, Range

import beside


def design(words: Annotated[int, Range(8, 32, 8)] = 8, mode: Literal["ok", "hang", "wrong", "refused"] = "ok",
           gap: int = 0, log: str = ""):
    if log:
        with open(log, "a") as file:
            file.write(f"{words} {mode} {gap}\\\\n")
    beside.slowly(words)
    tile = MemoryTile()
    buffer = tile.buffer("a", words + gap, data=np.arange(words + gap, dtype=np.int32))
    read = tile.read(buffer)
    if mode == "hang":
        read = read.guarded(tile.lock(0, "never").acquire())
    if mode == "refused":
        tile.buffer("huge", 1 << 20)
    tile.mm2s[0].start(read)
    tile.mm2s[0].expect(np.arange(words + gap, dtype=np.int32) + (mode == "wrong"))
    return tile
""".replace("\\\\n", "\\n")


def small(folder: Path, seconds: float = 0.0) -> Path:
    """The design in a file, with a module beside it; making a variant takes so many seconds more."""
    folder.mkdir(exist_ok=True)
    (folder / "beside.py").write_text(f"import time\n\n\ndef slowly(words):\n    time.sleep({seconds})\n")
    (file := folder / "small.py").write_text(SMALL)
    sys.modules.pop("beside", None)
    return file
