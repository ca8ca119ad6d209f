"""The exception tree: every error names where, what was given, what is allowed, why, and the next step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with an input.

    Attributes:
        reason: stable snake_case code that scripts may compare, e.g. ``"step_d0"``.
        where: the place, e.g. ``"memory tile, BD 5"``.
        field: the field or argument concerned, e.g. ``"D0_Stepsize"``.
        given: the value as the user gave it, with its unit.
        allowed: what would be accepted, with its unit.
        source: the manual, register or driver rule that says so.
        next_step: what the user can do; empty when there is nothing to add.
    """

    reason: str
    where: str
    field: str
    given: str
    allowed: str
    source: str
    next_step: str = ""

    @property
    def message(self) -> str:
        """The problem as one sentence for a person."""
        text = f"{self.where}: {self.field}: {self.given} given, {self.allowed} allowed ({self.source})"
        return f"{text}; {self.next_step}" if self.next_step else text

    def as_json(self) -> dict[str, str]:
        """Plain data for ``--json`` output: all attributes and ``message``."""
        return {**asdict(self), "message": self.message}


class MemtileError(Exception):
    """Base of all errors that a user's input can cause.

    Args:
        problems: everything that is wrong, in the order of the input; or one sentence.
    """

    def __init__(self, problems: Problem | Iterable[Problem] | str) -> None:
        if isinstance(problems, str):
            self.problems: Sequence[Problem] = ()
            text = problems
        else:
            self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
            text = "\n".join(p.message for p in self.problems)
        super().__init__(text)

    @property
    def messages(self) -> list[str]:
        """A sentence for each problem, or the one that the error was made from."""
        return [problem.message for problem in self.problems] or [str(self)]


class DescriptorError(MemtileError):
    """A buffer descriptor that the registers cannot hold or the tile cannot run."""


class TransferError(MemtileError):
    """A requested transfer that no legal descriptors can express."""


class RegisterError(MemtileError):
    """An access to the memory-mapped AXI4 space that the tile answers with an error."""


class DesignError(MemtileError):
    """A design that contradicts itself or the device, found before it runs."""


class InputFileError(MemtileError):
    """A file that is not what the command expects."""


class SimulationError(MemtileError):
    """A run that ended without finishing the design: deadlock, halted channel, cycle limit."""


def raise_if(problems: Sequence[Problem], error: type[MemtileError]) -> None:
    """Raise ``error`` with all ``problems`` when there are any."""
    if problems:
        raise error(problems)


def cannot_write(path: object, error: OSError) -> InputFileError:
    """The error of an output file that the system refuses."""
    return InputFileError(f"{path}: cannot be written: {error.strerror}")
