"""Places in the user's files, as findings say them: ``design.mlir:12:3``, ``design.py, line 5``."""

from __future__ import annotations

import re
from typing import NamedTuple

_COLONS = re.compile(r"^(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?(?:[:,].*)?$")
_WORDS = re.compile(r"^(?P<file>.+?),? line (?P<line>\d+)(?:, column (?P<column>\d+))?(?:[:,].*)?$")


class FilePlace(NamedTuple):
    """A place in a file; line and column count from 1, None = nobody knows."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in self if part is not None)


def file_place(text: str, default: str) -> FilePlace:
    """Where a text points to.

    Args:
        text: of a finding's side or of a problem.
        default: file to be named where the text names none.
    """
    for form in (_WORDS, _COLONS):
        if found := form.match(text):
            column = found["column"]
            return FilePlace(found["file"], int(found["line"]), int(column) if column else None)
    return FilePlace(default)
