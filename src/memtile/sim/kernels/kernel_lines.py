"""Where a kernel is in what its user wrote: Python, or the text that its Python was made of.

It also says how long kernels take of the cycles that they state: all of them, or for a question, none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType, GeneratorType, MappingProxyType
from typing import Any

SAID = "__said__"
"""Name of a :class:`Said` among the globals of generated code, and of an attribute of its kernel."""
POLLS = "__polls__"
"""Attribute of a kernel of a text: its loops that wait for memory to change, each with the place of its first
line and what it reads, by the places of its operations."""
CALLED_FROM = "called_from"
"""Local variable of a generator that waits for other code than Python: a function that gives its place."""
_OURS = ("memtile.", "numpy.")


@dataclass(frozen=True, slots=True)
class Said:
    """What generated Python was made of.

    Attributes:
        file: the text, as the user named it.
        line_of: line of the text by line of the Python.
    """

    file: str
    line_of: Callable[[int], int]


def is_said(function: object) -> bool:
    """Whether a kernel was made of a text."""
    return isinstance(getattr(function, SAID, None), Said)


def line_at_work(frame: FrameType | None, *, said: bool) -> int:
    """Line of the kernel that is at work; 0 = there is none to tell.

    Args:
        frame: the innermost one.
        said: the kernel was made of a text; its line is that of the text, whatever functions it calls.
    """
    while frame is not None and frame.f_back is not None:
        text = frame.f_globals.get(SAID) if said else None
        if isinstance(text, Said):
            return text.line_of(frame.f_lineno)
        if not said and not frame.f_globals.get("__name__", "").startswith(_OURS):
            made = frame.f_code.co_filename.startswith("<")  # typed in: nobody finds its lines
            return 0 if made else frame.f_lineno
        frame = frame.f_back
    return 0


def place_said(function: object, line: int) -> str:
    """A line of a kernel as findings have it: ``design.mlir:25``, of Python ``line 25``; empty if unknown."""
    if not line:
        return ""
    text = getattr(function, SAID, None)
    return f"{text.file}:{line}" if isinstance(text, Said) else f"line {line}"


def place_waiting(function: object, actions: object) -> str:
    """Where a kernel waits, as :func:`place_said` has it; empty if unknown.

    Args:
        function: of the kernel.
        actions: what it has returned.
    """
    if inside := place_inside(actions):
        return inside
    said, line, generator = is_said(function), 0, actions
    while isinstance(generator, GeneratorType):
        frame: Any = generator.gi_frame
        line = _line(frame, said=said) or line
        generator = generator.gi_yieldfrom
    return place_said(function, line)


def file_waiting(actions: object) -> str:
    """The file of the Python in which a kernel waits, the innermost of its user's; empty if unknown.

    Args:
        actions: what the kernel has returned.
    """
    file, generator = "", actions
    while isinstance(generator, GeneratorType):
        frame: Any = generator.gi_frame
        file = frame.f_code.co_filename if _line(frame, said=False) else file
        generator = generator.gi_yieldfrom
    return file


def place_inside(actions: object) -> str:
    """Where other code than Python waits that a kernel has called: ``kernel.cc:12``; empty if there is none.

    Args:
        actions: what the kernel has returned.
    """
    place, generator = "", actions
    while isinstance(generator, GeneratorType):
        frame: Any = generator.gi_frame
        called = frame.f_locals.get(CALLED_FROM) if frame is not None else None
        place = called() if callable(called) else place
        generator = generator.gi_yieldfrom
    return place


def _line(frame: FrameType | None, *, said: bool) -> int:
    if frame is None:
        return 0
    text = frame.f_globals.get(SAID)
    if isinstance(text, Said):
        return text.line_of(frame.f_lineno)
    ours = frame.f_globals.get("__name__", "").startswith(_OURS)
    return 0 if said or ours or frame.f_code.co_filename.startswith("<") else frame.f_lineno


_ALL = 100
_EACH, _NONE = -1, MappingProxyType[int, int]({})
_PERCENT: ContextVar[Mapping[int, int]] = ContextVar("per cent of the cycles that kernels state")


@contextmanager
def kernel_time(percent: Mapping[int, int]) -> Iterator[None]:
    """Have waits of kernels inside take so many per cent of their cycles, at least one cycle.

    Args:
        percent: of the cycles that the kernel of a core states, by its model index; at -1 that of all others.
    """
    token = _PERCENT.set(percent)
    try:
        yield
    finally:
        _PERCENT.reset(token)


def taken(cycles: int, core: int) -> int:
    """What a wait of the kernel of a core takes, in cycles."""
    given = _PERCENT.get(_NONE)
    percent = given.get(core, given.get(_EACH, _ALL))
    return cycles if percent == _ALL else max(cycles * percent // _ALL, 1)
