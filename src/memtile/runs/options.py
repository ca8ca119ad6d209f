"""The options of a run: declared once, here, and taken by every front end.

A front end takes them as keywords (``RunKeywords``) or as one :class:`RunOptions`, and hands that on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from operator import index
from typing import Any, Self, SupportsIndex, TypedDict

from memtile.arch.dispatch import Dispatch
from memtile.errors import DesignError, Problem

MAX_CYCLES = 10_000_000
Progress = Callable[[int], None]


class RunKeywords(TypedDict, total=False):
    """The fields of :class:`RunOptions` as keywords."""

    max_cycles: int
    untimed: bool
    check: bool
    history: bool
    fast_forward: bool
    data: bool
    recall: bool
    pad_arguments: bool
    dispatch: Dispatch | None
    progress: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of a run. Every function that runs a program takes these as keywords too.

    Attributes:
        max_cycles: limit in cycles of the array clock; an untimed run stops when it has moved more words than
            a timed run of that many cycles could, and after some 268 million words.
        untimed: move the data without a clock.
        check: look for memory accesses without a defined order; ``Result.findings`` lists them.
        history: record the events of each cycle, for ``Result.report`` and ``Result.perfetto``; slower.
        fast_forward: skip periodic stretches of time, with the same results; False = simulate every cycle.
        data: move words; False = find cycles, causes and findings alone, in little time and memory, with no
            outputs and no comparisons. ``Result.words_needed_by`` says why words were moved after all. For
            designs in Python, with a clock.
        recall: take the outcome of a run without words from an equal one that was run before, where all that
            decides about it is known (``docs/speed.md``), with no calls of ``progress``; False = run it.
        pad_arguments: pad with zeros arrays that are missing or shorter than the program reads.
        dispatch: how a program is launched: "elf" or "xclbin"; None = as is usual on its device. It sets how
            fast firmware pushes tasks, and what happens to a task when its queue is full (DEV-QUEUE-2).
        progress: called now and then with the cycles done, or the words that an untimed run moved.

    Raises:
        DesignError: an unknown dispatch.
    """

    max_cycles: int = MAX_CYCLES
    untimed: bool = False
    check: bool = False
    history: bool = False
    fast_forward: bool = True
    data: bool = True
    recall: bool = True
    pad_arguments: bool = False
    dispatch: Dispatch | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.dispatch is not None and self.dispatch not in list(Dispatch):
            raise DesignError.of(
                "dispatch",
                repr(self.dispatch),
                " or ".join(Dispatch),
                reason="dispatch",
                where="run",
                source="docs/deviations.md, DEV-QUEUE-2",
            )

    @classmethod
    def of(cls, given: Self | int | None, more: RunKeywords) -> Self:
        """Return the options of a caller.

        Args:
            given: some of them, or the limit in cycles alone.
            more: other options, which override ``given``.

        Raises:
            TypeError: an unknown option, or a limit given twice.
        """
        if isinstance(given, cls):
            return replace(given, **more)
        return cls(**more) if given is None else cls(max_cycles=given, **more)  # type: ignore[arg-type, misc]

    def run_again(self) -> Self:
        """Return options to repeat the run for its cycles, without checks, history, timing or progress."""
        return replace(self, untimed=False, check=False, history=False, progress=None)

    def refuse(self, where: str, *names: str) -> Self:
        """Return these options, for runs that some of them do not apply to.

        Args:
            where: name of the input, for the message.
            names: of those options.

        Raises:
            DesignError: one of them does not have its default value.
        """
        usual = {each.name: each.default for each in fields(RunOptions)}
        wrong = [name for name in names if getattr(self, name) != usual[name]]
        if wrong:
            raise DesignError([_without(where, name, getattr(self, name)) for name in wrong])
        return self

    def changed(self) -> dict[str, Any]:
        """The options with a value other than the default, by name."""
        given = {each.name: (getattr(self, each.name), each.default) for each in fields(RunOptions)}
        return {name: value for name, (value, usual) in given.items() if value != usual}


USUAL = RunOptions()


def whole_cycles(given: object) -> int:
    """A number of cycles as users give it; raises :class:`DesignError` unless it is a whole number."""
    if isinstance(given, SupportsIndex) and index(given) >= 0:
        return index(given)
    raise DesignError.of(
        "max_cycles",
        repr(given),
        "a whole number of 0 or more",
        f"max_cycles is {given!r}; it must be a whole number of 0 or more",
        reason="max_cycles",
        where="run",
        source="cycles of the model",
    )


def _without(where: str, name: str, value: object) -> Problem:
    return Problem(
        name,
        repr(value),
        "its usual value",
        f"{where} has no use for {name}",
        f"Leave {name} out.",
        reason="option",
        where=where,
        source="options of a run (memtile.RunOptions)",
    )
