"""How far a compiler is, as a line on a terminal: functions translated, then machine code made of them.

The second stage is a few calls into LLVM; how long it will take follows from the first. Where bitcode is
there already it is the only one, and what it took on one machine is all that is known.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from memtile.plain_text import printable

_FIRST = 0.87  # share of the time in which functions are translated
_EVERY_SECONDS = 0.5
_ALONE_SECONDS = 3.0  # of a second stage without a first one, with two cores of 2024
_BAR = 24  # characters
_REST = "\x1b[K"  # what else is in the line goes


class Progress:
    """What the compiler has done so far.

    Attributes:
        parts: functions that there are.
        translated: how many of them are.
        linking: when the first stage was over, by ``time.monotonic``; None = it is not.
    """

    def __init__(self) -> None:
        self.parts = self.translated = 0
        self.linking: float | None = None
        self._begun, self._alone = time.monotonic(), False

    def begin(self, *, translated: bool = False) -> None:
        """The compiler starts now, with functions to translate or with all of them translated."""
        self.translated, self._begun, self._alone = 0, time.monotonic(), translated
        self.linking = self._begun if translated else None

    def fraction(self, now: float) -> float:
        """How much is done at ``now``, 0 to 1; below 1 until it is over."""
        if self.linking is None:
            return _FIRST * min(self.translated / max(self.parts, 1), 1.0)
        if self._alone:
            return min((now - self.linking) / _ALONE_SECONDS, 0.99)
        first = max(self.linking - self._begun, _EVERY_SECONDS)
        expected = first * (1 - _FIRST) / _FIRST
        return min(_FIRST + (1 - _FIRST) * (now - self.linking) / expected, 0.99)

    def line(self, now: float) -> str:
        """The bar, the percentage and the seconds that are left, once they can be told."""
        done, spent = self.fraction(now), now - self._begun
        left = f", about {spent * (1 - done) / done:.0f} s left" if done > 0.1 else ""
        bar = "#" * round(_BAR * done)
        stage = "translating functions" if self.linking is None else "making machine code"
        return f"  [{bar:.<{_BAR}}] {done:4.0%} {stage}{left}"


PROGRESS = Progress()


@contextmanager
def shown(line: Callable[[float], str] = PROGRESS.line, file: TextIO | None = None) -> Iterator[None]:
    """Context in which a terminal shows how far something is in one line, that is gone at its end.

    Args:
        line: the text at a time of ``time.monotonic``; empty = nothing is shown yet.
        file: the terminal; None = standard error.
    """
    stream = file or sys.stderr
    if not stream.isatty():
        yield
        return
    out: TextIO = getattr(stream, "rich_proxied_file", stream)  # a command's own makes escapes of commands
    over = threading.Event()

    def show() -> None:
        while not over.wait(_EVERY_SECONDS):
            if text := line(time.monotonic()):
                out.write(f"\r{printable(text)}{_REST}")
                out.flush()

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        out.write(f"\r{_REST}")
        out.flush()
