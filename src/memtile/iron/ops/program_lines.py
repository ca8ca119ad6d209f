"""Lines of a program: which one builds an operation, and which one each line of a module's text is from."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from pathlib import Path

_MEMTILE = str(Path(__file__).resolve().parents[2])
_LIBRARY = sysconfig.get_path("stdlib")
_recorded: ContextVar[str] = ContextVar("place of recorded work", default="")
_MARK = re.compile("\x01([^\x02]*)\x02")


def program_line() -> str:
    """The place of the program that is at work, ``program.py:57``; empty if there is none.

    Within :func:`as_recorded` it is the place at which the work was asked for.
    """
    if recorded := _recorded.get():
        return recorded
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if is_of_a_program(file):
            return f"{file}:{frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""


@contextmanager
def as_recorded(place: str) -> Iterator[None]:
    """Work that a program asked for earlier, at a place; empty = where it is done.

    Args:
        place: that :func:`program_line` said then.
    """
    token = _recorded.set(place)
    try:
        yield
    finally:
        _recorded.reset(token)


def is_of_a_program(file: str, *, memtile: str = _MEMTILE, library: str = _LIBRARY) -> bool:
    """Whether a file is a program's: neither memtile's nor of Python's library, which may hold both of them.

    Args:
        file: where the code of a frame is.
        memtile: the folder of the package; installed, it lies in ``site-packages``.
        library: the folder of Python's library; what is in its ``site-packages`` is not of it.
    """
    if file.startswith((f"{memtile}/", "<frozen")):
        return False
    return not file.startswith(f"{library}/") or file.startswith(f"{library}/site-packages/")


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
