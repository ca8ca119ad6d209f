"""The exception tree: every error names where, what was given, what is allowed, why, and the next step."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Self

from memtile.plain_text import printable

NO_MEMORY = "more memory is needed than is allowed. Raise the limit (ulimit -v, --sandbox-memory) or run less"
_NO_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread")
_LINES = "\n"  # a message may show lines of a file
_RANGE = re.compile(r"-?(0x)?[0-9a-f]+\.\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input.

    A message is ``where: sentence (source). Next step.`` Its sentence is ``says``; without it, ``field is
    given, allowed are low..high`` where a range is allowed, else ``field is given; it must be allowed``.
    A module whose problems have one reason, place or source binds it once with :func:`functools.partial`.

    Attributes:
        reason: stable snake_case code that scripts may compare, e.g. ``"step_d0"``.
        where: the place, e.g. ``"memory tile, BD 5"``.
        field: the field or argument concerned, e.g. ``"D0_Stepsize"``.
        given: the value as the user gave it, with its unit; addresses in hex, counts in decimal.
        allowed: the accepted values, with their unit, in the same number base.
        source: the manual, register or driver rule that says so.
        says: a sentence without its full stop, if the fields above do not make a good one.
        next_step: what the user can do, one or more sentences; empty when there is nothing to add.
    """

    reason: str = dataclasses.field(kw_only=True)
    where: str = dataclasses.field(kw_only=True)
    field: str
    given: str
    allowed: str
    source: str = dataclasses.field(kw_only=True)
    says: str = ""
    next_step: str = ""

    @property
    def message(self) -> str:
        """Return the problem in sentences, followed by the input lines that it shows."""
        sentence, _, lines = (self.says or self._sentence()).partition("\n")
        text = f"{printable(self.where)}: {sentence} ({self.source}). {self.next_step}".rstrip(" ")
        return printable(f"{text}\n{lines}".rstrip("\n"), _LINES)

    def _sentence(self) -> str:
        rule = "; it must be"
        if _RANGE.match(self.allowed):
            rule = ", allowed are"
        return printable(f"{self.field} is {self.given}{rule} {self.allowed}")

    def as_json(self) -> dict[str, str]:
        """Plain data for ``--json`` output: all attributes but ``says``, and ``message``."""
        data = asdict(self)
        del data["says"]
        return {**data, "message": self.message}


class MemtileError(Exception):
    """Base of all errors that a user's input can cause.

    Args:
        problems: all problems, in the order of the input; or one sentence.

    Attributes:
        problems: all problems; empty if the error was made from one sentence.
        reason: snake_case code of the class, for scripts, where no problem has one of its own.
    """

    reason = "error"

    def __init__(self, problems: Problem | Iterable[Problem] | str) -> None:
        if isinstance(problems, str):
            self.problems: Sequence[Problem] = ()
            text = printable(problems, _LINES)
        else:
            self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
            text = "\n".join(p.message for p in self.problems)
        super().__init__(text)

    @classmethod
    def of(
        cls,
        field: str,
        given: str,
        allowed: str,
        says: str = "",
        next_step: str = "",
        *,
        reason: str,
        where: str,
        source: str,
    ) -> Self:
        """Return the error of one problem.

        Args:
            field: see :class:`Problem`, as of the others.
            given: the given value.
            allowed: the allowed values.
            says: what happened, if the other fields do not express it.
            next_step: how to fix it.
            reason: snake_case code of the kind of problem.
            where: where it is.
            source: manual, register or driver rule behind it.
        """
        problem = Problem(field, given, allowed, says, next_step, reason=reason, where=where, source=source)
        return cls(problem)

    @property
    def messages(self) -> list[str]:
        """Return a sentence for each problem, or the sentence that the error was made from."""
        return [problem.message for problem in self.problems] or [str(self)]


class DescriptorError(MemtileError):
    """A buffer descriptor that the registers cannot hold or the tile cannot run."""

    reason = "descriptor"


class TransferError(MemtileError):
    """A requested transfer that no legal descriptors can express."""

    reason = "transfer"


class RegisterError(MemtileError):
    """An access to the memory-mapped AXI4 space that the tile answers with an error."""

    reason = "register"


class DesignError(MemtileError):
    """A design that contradicts itself or the device, found before it runs."""

    reason = "design"


class InputFileError(MemtileError):
    """A file with contents that the command does not expect."""

    reason = "input_file"


class SimulationError(MemtileError):
    """A run that ended without finishing the design: deadlock, halted channel, cycle limit."""

    reason = "simulation"


def raise_if(problems: Sequence[Problem], error: type[MemtileError]) -> None:
    """Raise ``error`` with all ``problems`` when there are any."""
    if problems:
        raise error(problems)


def cannot_write(path: object, error: Exception, what: str = "file") -> InputFileError:
    """The error of an output file, or another ``what``, that the system refuses."""
    why = getattr(error, "strerror", None) or error
    return InputFileError(f"{printable(str(path))}: the {what} cannot be written: {why}.")


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, says that there is no more memory."""
    while error is not None:
        if isinstance(error, MemoryError) or any(text in str(error).lower() for text in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False
