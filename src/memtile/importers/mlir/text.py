"""A text with its name: places in it, and problems that show them."""

from __future__ import annotations

from dataclasses import dataclass, field

from memtile.errors import InputFileError, Problem
from memtile.limits import LIMITS, how_to_raise, limit

_SHOWN = 100  # characters of a line that a message shows
_LONGEST = 1000  # characters of a sentence, which may name something of any length
_SOURCE = "MLIR language reference"


@dataclass(frozen=True, slots=True)
class Text:
    """A text and what it is called.

    Attributes:
        name: of the file, as the user gave it.
        content: all of it.
    """

    name: str
    content: str = field(repr=False)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, counted from 1."""
        line = self.content.count("\n", 0, offset) + 1
        return line, offset - self.content.rfind("\n", 0, offset)

    def where(self, offset: int) -> str:
        """Place of a character as messages have it, ``file:line:column``."""
        line, column = self.place(offset)
        return f"{self.name}:{line}:{column}"

    def caret(self, offset: int) -> str:
        """The line of a character, and below it a caret under the character."""
        begin = self.content.rfind("\n", 0, offset) + 1
        end = self.content.find("\n", offset)
        column = offset - begin
        first = max(0, column - _SHOWN // 2)
        line = self.content[
            begin + first : min(len(self.content) if end < 0 else end, begin + first + _SHOWN)
        ]
        shown = "".join(each if each.isprintable() else " " if each.isspace() else "\ufffd" for each in line)
        return f"{shown}\n{' ' * (column - first)}^"

    def beyond(self, name: str, offset: int, *, reason: str = "mlir_size") -> InputFileError:
        """The error of a text that exceeds a limit at a character.

        Args:
            name: of the limit.
            offset: of the character.
            reason: stable code, see :class:`~memtile.errors.Problem`.
        """
        allowed = f"up to {limit(name)} {LIMITS[name].what}"
        says = f"the text has more than {limit(name)} {LIMITS[name].what}"
        return self.error(offset, says, reason=reason, allowed=allowed, step=how_to_raise(name))

    def error(
        self,
        offset: int,
        says: str,
        *,
        reason: str = "mlir",
        allowed: str,
        given: str = "",
        step: str = "",
    ) -> InputFileError:
        """The error of one thing that is wrong at a character.

        Args:
            offset: of the character.
            says: what is wrong, a sentence without its full stop.
            allowed: what could stand there.
            given: what stands there; the text itself if empty.
            reason: stable code, see :class:`~memtile.errors.Problem`.
            step: what the user can do.
        """
        problem = Problem(
            "MLIR",
            _short(given) or self.content[offset : offset + 20].split("\n")[0] or "the end",
            allowed,
            f"{_short(says)}\n{self.caret(offset)}\n",
            step,
            reason=reason,
            where=self.where(offset),
            source=_SOURCE,
        )
        return InputFileError(problem)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_SHOWN]}..{text[-_SHOWN:]}"
