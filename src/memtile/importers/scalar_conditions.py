"""Runs of a design of MLIR with other numbers of its host: with which of them it finishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from memtile.errors import MemtileError
from memtile.explain.conditions import SECONDS, Outcome, condition, outcome_of
from memtile.explain.findings import End, Finding
from memtile.explain.repairs import OutOfTimeError, spent, until_late
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.runtime_scalars import RuntimeScalar, runtime_scalars
from memtile.importers.mlir.sequence.program import SequenceProgram
from memtile.importers.mlir.token_packets import Text
from memtile.runs.options import USUAL, RunOptions
from memtile.runs.program import Run

_LONGER = 16  # times as many cycles as with the given value, for others


class WithScalars(Protocol):
    """What :class:`~memtile.importers.loaded.Loaded` has for this."""

    @property
    def configured(self) -> Configured:
        """The device."""
        ...

    @property
    def sequence(self) -> SequenceProgram | None:
        """The host sequence."""
        ...

    @property
    def source(self) -> Text | None:
        """The text."""
        ...

    @property
    def loads(self) -> Callable[..., Any]:
        """What loads another text, or with other parameters."""
        ...

    @property
    def parameters(self) -> Mapping[str, float]:
        """Of the scratchpad, and of arguments by name."""
        ...


@dataclass(frozen=True, slots=True)
class ScalarConditions:
    """What runs a design with other numbers of its host.

    Attributes:
        design: as it was loaded.
        once: runs it, or one like it, with the same arrays.
        scalars: values of arguments that are numbers, by position.
    """

    design: WithScalars
    once: Callable[[Any, RunOptions], Run]
    scalars: Mapping[int, int]

    def search(self, options: RunOptions = USUAL, *, seconds: float = SECONDS) -> list[Finding]:
        """The numbers on which the end of the design depends, each with the values of each end.

        Args:
            options: of a run.
            seconds: of the processor, for all runs.
        """
        design = self.design
        if design.source is None:
            return []
        found = runtime_scalars(design.configured, design.sequence, design.parameters, self.scalars)
        end = spent() + seconds
        asked = replace(options, check=False, history=False, pad_arguments=True, progress=None)
        made = (_Tries(self, each, asked, end).condition() for each in found)
        return [each for each in made if each is not None]

    def outcome(self, scalar: RuntimeScalar, value: int, options: RunOptions = USUAL) -> Outcome:
        """How the design ends with a value.

        Raises:
            OutOfTimeError: as the progress of the options raises it.
        """
        try:
            done = self.once(self.with_value(scalar, value), options)
        except MemtileError as error:
            return Outcome(End.REFUSED, None, str(error).partition("\n")[0])
        found = outcome_of(done.result)
        waits = done.stopped and found.end is End.FINISHES  # the host, for what does not come
        return replace(found, end=End.HANGS, says=done.stopped) if waits else found

    def with_value(self, scalar: RuntimeScalar, value: int) -> Any:
        """The design, loaded anew, in which the host brings another value."""
        design = self.design
        assert design.source is not None
        if scalar.write is not None:
            return design.loads(scalar.written(design.source, value))
        if scalar.parameter:
            return design.loads(design.source, parameters={**design.parameters, scalar.parameter: value})
        assert scalar.argument is not None
        return replace(design.loads(design.source), instead={scalar.argument: value})


class _Tries:
    """Runs of a design with the values of one number."""

    def __init__(self, of: ScalarConditions, scalar: RuntimeScalar, options: RunOptions, end: float) -> None:
        self._of, self._scalar, self._options, self._end = of, scalar, options, end
        self._longest = 0

    def condition(self) -> Finding | None:
        """What the end of the design says of the number."""
        return condition(self._scalar.scalar, self._attempt, lambda: spent() > self._end)

    def _attempt(self, value: int) -> Outcome:
        limit = self._options.max_cycles
        most = min(limit, _LONGER * self._longest) if self._longest else limit
        try:
            options = replace(self._options, max_cycles=most, progress=until_late(self._end))
            found = self._of.outcome(self._scalar, value, options)
        except OutOfTimeError:
            return Outcome(End.OPEN)
        self._longest = max(self._longest, found.cycles)
        return found
