"""Lines of a program: which one builds an operation, and which one each line of a module's text is from."""

from __future__ import annotations

import re
import sys
import sysconfig
from itertools import accumulate
from pathlib import Path

_OURS = (str(Path(__file__).resolve().parents[2]), sysconfig.get_path("stdlib"), "<frozen")
"""Where code lies that is no program's: memtile, and what the standard library puts between."""
_MARK = re.compile("\x01([^\x02]*)\x02")


def program_line() -> str:
    """The place of the program that is at work, ``program.py:57``; empty if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_OURS) or "site-packages" in file:
            return f"{file}:{frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""


def marked(place: str) -> str:
    """What a writer puts in front of an operation for :func:`text_and_places`."""
    return f"\x01{place}\x02"


def text_and_places(text: str) -> tuple[str, tuple[str, ...]]:
    """A text without the marks of its operations, and the place in the program of each of its lines.

    Args:
        text: that a writer wrote with :func:`marked`. A line without a mark has the place of the one before.
    """
    found = [mark[1] if (mark := _MARK.search(line)) else "" for line in text.splitlines()]
    first = next((place for place in found if place), "")
    places = accumulate(found, lambda before, place: place or before, initial=first)
    return _MARK.sub("", text), tuple(places)[1:]
