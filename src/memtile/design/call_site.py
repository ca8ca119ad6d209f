"""The line of the user's program that asked for something, for findings that point there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])


def call_site() -> str:
    """``design.py:12``: the innermost call from outside the package; empty if there is none."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    name = frame.f_code.co_filename.removeprefix(f"{os.getcwd()}{os.sep}")
    return f"{name}:{frame.f_lineno}"
