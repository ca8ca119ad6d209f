"""Standard output and standard error of a command: texts are printable, and what cannot be written is said.

A name with an escape character in it is printed as such, whatever command prints it. Rich, which draws tables
and bars with escapes of its own, writes past that; its consoles make their texts printable (``sheet``).
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from memtile.errors import cannot_write
from memtile.plain_text import printable

_KEPT = "\n\t"
_IN_ASCII = {"\N{MICRO SIGN}": "u", "\N{HORIZONTAL ELLIPSIS}": "..."}
_NAMES = {1: "standard output", 2: "standard error"}


class PipeClosedError(BaseException):
    """The reader of what a command prints is gone; like ``SystemExit`` no error of anything inside."""


class _Guarded(io.TextIOBase):
    """A text stream whose first failure is an error, and which takes no more after it."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name, self._lost = stream, name, False

    def write(self, text: str) -> int:
        if text and not self._lost:  # Click asks with an empty one whether text is taken
            with self._said():
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        if not self._lost:
            with self._said():
                self._stream.flush()

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self._lost = True
            raise PipeClosedError from None
        except OSError as error:
            self._lost = True
            raise cannot_write(self._name, error) from None

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def close(self) -> None:
        """Leave the stream open, which is not ours."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Of the stream."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    @property
    def buffer(self) -> Any:
        """For bytes that are no text, such as those of a protocol."""
        return self._stream.buffer


class _Printable(_Guarded):
    """A text stream without characters that a terminal obeys or hides."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self.rich_proxied_file = _Guarded(stream, name)  # where Rich writes instead
        super().__init__(cast(TextIO, self.rich_proxied_file), name)

    def write(self, text: str) -> int:
        super().write(printable(text, _KEPT))
        return len(text)


@contextmanager
def printable_streams() -> Iterator[None]:
    """A context in which standard output and error are printable, and complete at its end.

    Raises:
        PipeClosedError: nobody reads one of them any more.
        InputFileError: one of them cannot be written.
    """
    before = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, _Printable(before[0], _NAMES[1]))
    sys.stderr = cast(TextIO, _Printable(before[1], _NAMES[2]))
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        finally:
            sys.stdout, sys.stderr = before


def open_streams() -> None:
    """Have all three standard streams, also where whoever called has closed some of them.

    What is printed to a closed standard output is not lost in silence: it cannot be written. A character that
    a stream's encoding does not have is an escape; a micro sign is u, an ellipsis three dots.
    """
    codecs.register_error("memtile", _in_ascii)
    modes = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for number, (name, mode) in enumerate(modes.items()):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="memtile")


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """What is written for characters that an encoding lacks, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    escapes = (_IN_ASCII.get(each, each.encode("ascii", "backslashreplace").decode()) for each in lost)
    return "".join(escapes), error.end


def leave_streams() -> None:
    """Drop what the streams still hold and cannot write, which Python would complain about at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(nowhere, number)
