"""Little-endian binary files, read with errors that name the byte offset."""

from __future__ import annotations

from struct import Struct

from memtile.errors import InputFileError, Problem

_FORMAT = "the file's format"


class ByteReader:
    """The bytes of a file, or of a part of one, and its name for messages.

    Args:
        data: the bytes.
        name: of the file.
        origin: byte of the file at which ``data`` begins.
        whole: what ``data`` is, such as ``file`` or ``PDI``.
    """

    def __init__(self, data: bytes, name: str, origin: int = 0, whole: str = "file") -> None:
        self.data, self.name, self.origin, self.whole = data, name, origin, whole

    def part(self, at: int, size: int, what: str, source: str = _FORMAT) -> ByteReader:
        """The ``size`` bytes at byte ``at``; :class:`InputFileError` unless all of them are there."""
        self.check_part(at, size, what, source)
        return ByteReader(self.data[at : at + size], self.name, self.origin + at, what)

    def check_part(self, at: int, size: int, what: str, source: str = _FORMAT) -> None:
        """Raise :class:`InputFileError` unless the ``size`` bytes at byte ``at`` are all there."""
        if not (at >= 0 and size >= 0 and at + size <= len(self.data)):
            says = (
                f"the {what} is said to have {size} bytes at byte {at:#x} of the {self.whole}, "
                f"which has {len(self.data)}"
            )
            given = f"{size} bytes at {at:#x}"
            raise self.error("part", at, what, given, f"bytes of the {self.whole}", source, says)

    def unpack(self, layout: Struct, at: int, what: str) -> tuple[int, ...]:
        """The numbers of ``layout`` at byte ``at``; :class:`InputFileError` where the file ends before."""
        self.need(at, layout.size, what)
        return layout.unpack_from(self.data, at)

    def need(self, at: int, size: int, what: str) -> None:
        """Raise :class:`InputFileError` unless ``size`` bytes follow at byte ``at``."""
        left = len(self.data) - at
        if size > left:
            says = f"the {self.whole} ends within the {what}, of which {left} of {size} bytes are there"
            raise self.error("truncated", at, what, f"{left} bytes left", f"{size} bytes", says=says)

    def place(self, at: int) -> str:
        """A byte of the file for messages."""
        return f"{self.name}, byte {self.origin + at:#06x}"

    def error(
        self, reason: str, at: int, what: str, given: str, allowed: str, source: str = _FORMAT, says: str = ""
    ) -> InputFileError:
        """The error of what is at byte ``at``."""
        return InputFileError(self.problem(reason, at, what, given, allowed, source, says))

    def problem(
        self, reason: str, at: int, what: str, given: str, allowed: str, source: str = _FORMAT, says: str = ""
    ) -> Problem:
        """The problem of what is at byte ``at``."""
        return Problem(what, given, allowed, says, reason=reason, where=self.place(at), source=source)
