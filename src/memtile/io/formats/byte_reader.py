"""Little-endian binary files, read with errors that name the byte offset."""

from __future__ import annotations

from struct import Struct

from memtile.errors import InputFileError, Problem

_FORMAT = "the file's format"


class ByteReader:
    """The bytes of a file and its name for messages."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name

    def unpack(self, layout: Struct, at: int, what: str) -> tuple[int, ...]:
        """The numbers of ``layout`` at byte ``at``; :class:`InputFileError` where the file ends before."""
        self.need(at, layout.size, what)
        return layout.unpack_from(self.data, at)

    def need(self, at: int, size: int, what: str) -> None:
        """Raise :class:`InputFileError` unless ``size`` bytes follow at byte ``at``."""
        left = len(self.data) - at
        if size > left:
            says = f"the file ends within the {what}, of which {left} of {size} bytes are there"
            raise self.error("truncated", at, what, f"{left} bytes left", f"{size} bytes", says=says)

    def place(self, at: int) -> str:
        """A byte of the file for messages."""
        return f"{self.name}, byte {at:#06x}"

    def error(
        self, reason: str, at: int, what: str, given: str, allowed: str, source: str = _FORMAT, says: str = ""
    ) -> InputFileError:
        """The error of what is at byte ``at``."""
        return InputFileError(self.problem(reason, at, what, given, allowed, source, says))

    def problem(
        self, reason: str, at: int, what: str, given: str, allowed: str, source: str = _FORMAT, says: str = ""
    ) -> Problem:
        """The problem of what is at byte ``at``."""
        return Problem(
            reason=reason,
            where=self.place(at),
            field=what,
            given=given,
            allowed=allowed,
            source=source,
            says=says,
        )
