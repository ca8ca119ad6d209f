"""Input files as bytes or text, read in pieces and up to a limit: an endless file is an error."""

from __future__ import annotations

import ast
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from memtile.errors import InputFileError
from memtile.limits import how_to_raise, limit

STDIN = "-"
_PARSER = Lock()  # of Python's parser, see syntax_tree
_PIECE = 1 << 20  # bytes read at once, so that Ctrl-C ends a read from a device


def name_of(file: Path | str) -> str:
    """Return how messages name a file; ``-`` is standard input."""
    return "standard input" if file == STDIN else str(file)


def read_bytes(file: Path | str, most: str = "file_bytes") -> bytes:
    """Return all bytes of a file; ``-`` is standard input.

    Args:
        file: its path.
        most: name of the limit of its size.

    Raises:
        InputFileError: it cannot be read, or is larger than the limit.
    """
    try:
        if file == STDIN:
            return _bounded(sys.stdin.buffer, file, most)
        with Path(file).open("rb") as stream:
            check_size(file, os.fstat(stream.fileno()), most)
            return _bounded(stream, file, most)
    except OSError as error:
        raise cannot_read(file, error) from None
    except ValueError:  # a NUL in the name
        raise InputFileError(f"{name_of(file)}: the file cannot be read: its name is no path.") from None


def read_text(file: Path | str) -> str:
    """Return the text of a UTF-8 file, without a byte order mark; ``-`` is standard input.

    Raises:
        InputFileError: it cannot be read, is larger than the limit ``text_bytes``, or is not UTF-8.
    """
    try:
        return read_bytes(file, "text_bytes").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputFileError(f"{name_of(file)}: byte {error.start} is not UTF-8 text.") from None


def read_beside(file: Path | str, pattern: str) -> list[str]:
    """Return the texts of files in the folder of a file, by name; those that cannot be read are left out."""
    found: list[str] = []
    for each in sorted(Path(file).parent.glob(pattern)) if str(file) != "-" else ():
        with suppress(InputFileError):
            found.append(read_text(each))
    return found


def check_size(file: Path | str, found: os.stat_result, most: str = "file_bytes") -> None:
    """Check that a regular file is within a limit, before it is read.

    Args:
        file: its path.
        found: what the system says of it.
        most: name of the limit of its size.

    Raises:
        InputFileError: it is larger.
    """
    if stat.S_ISREG(found.st_mode) and found.st_size > limit(most):
        raise _too_large(file, most)


def cannot_read(file: Path | str, error: OSError) -> InputFileError:
    """Return the error of a file that the system does not read."""
    return InputFileError(f"{name_of(file)}: the file cannot be read: {error.strerror or error}.")


def _bounded(stream: BinaryIO, file: Path | str, most: str) -> bytes:
    pieces, left = bytearray(), limit(most)
    while piece := stream.read(_PIECE):
        left -= len(piece)
        if left < 0:
            raise _too_large(file, most)
        pieces += piece
    return bytes(pieces)


def _too_large(file: Path | str, most: str) -> InputFileError:
    says = f"the file has more than {limit(most):,} bytes"
    return InputFileError(f"{name_of(file)}: {says}. {how_to_raise(most)}")


def syntax_tree(source: str | bytes, name: str = "<unknown>") -> ast.Module:
    """Return the syntax tree of Python source, also while other threads ask for one.

    ``ast.parse`` keeps its depth for all threads of Python 3.11: two of them at a time raise ``SystemError``.

    Args:
        source: text of a module.
        name: of its file, for errors.

    Raises:
        SyntaxError: the source is not Python.
        ValueError: it has a null byte.
    """
    with _PARSER:
        return ast.parse(source, name)
