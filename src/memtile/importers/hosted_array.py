"""A design with its host sequence and the arguments of that, run as designs in Python are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

import numpy as np
import numpy.typing as npt

from memtile.design.array import Array
from memtile.errors import InputFileError, MemtileError, Problem
from memtile.explain.results import Result, Status
from memtile.importers.timed_alone import is_of_words
from memtile.runs.array_names import Given, Wanted
from memtile.runs.options import RunKeywords, RunOptions
from memtile.runs.program import Run
from memtile.sim.loop.engine import OF_CORES

if TYPE_CHECKING:
    from memtile.importers.loaded import Loaded


class Verdict(NamedTuple):
    """What is said of the data of a run.

    Attributes:
        wrong: what is wrong with them; empty if nothing is.
        expected: arrays that should have come out instead, by name, as far as they are known.
    """

    wrong: str = ""
    expected: Mapping[str, npt.NDArray[Any]] = MappingProxyType({})


def of_changed(
    verdict: Callable[[Run], Verdict] | None, expected: Mapping[str, npt.NDArray[Any]]
) -> Callable[[Run], Verdict] | None:
    """The verdict on a design that was changed, of a program that has said what it expects.

    The program runs again only where that came out: it may compare more behind it.

    Args:
        verdict: that of the program.
        expected: what it expects, by the names of the arguments.
    """
    if verdict is None or not expected:
        return verdict
    return lambda done: (
        verdict(done)
        if all(np.array_equal(done.arrays[name], array) for name, array in expected.items())
        else Verdict()
    )


class HostedArray(Array):
    """The array of a design that is loaded; :meth:`run` also runs its host sequence.

    Attributes:
        loaded: the design.
        arguments: of the host sequence.
        verdict: says what is wrong with the data of a run; None = nobody knows.
    """

    loaded: Loaded
    arguments: Sequence[Any]
    verdict: Callable[[Run], Verdict] | None

    @property
    def compares(self) -> bool:
        """Whether a run needs its words: what cores do may depend on them."""
        return True

    @classmethod
    def of(cls, loaded: Loaded, arguments: Sequence[Any] = ()) -> Self:
        """The array of a design, with what its host sequence is run with."""
        made = cls.__new__(cls)
        made.__dict__ = vars(loaded.array)  # the same array, whoever looks at it
        made.loaded, made.arguments, made.verdict = loaded, arguments, None
        return made

    def give(self, given: Given) -> None:
        """Put an array in the place of an argument.

        Raises:
            InputFileError: its name is no number of an argument.
        """
        many = len(self.loaded.arguments)
        if not given.name.isdecimal() or int(given.name) >= many:
            raise InputFileError(_no_argument(given.name, many))
        rest = [None] * (many - len(self.arguments))
        self.arguments = [*self.arguments, *rest]
        self.arguments[int(given.name)] = given.array
        self.verdict = None  # of other data the program knows nothing

    def run_once(self, options: RunOptions, wanted: Sequence[Wanted] = ()) -> Run:
        """Run the host sequence.

        Args:
            options: of the run; without data cores compute nothing unless words decide what they do, and no
                verdict is asked for.
            wanted: arguments to take, by number, with their types and shapes.

        Raises:
            InputFileError: as loaded designs raise it; a wanted array that is no argument.
        """
        done = self._run_loaded(options)
        if not done.result.words:
            return done
        for each in wanted:
            if each.name not in done.arrays:
                raise InputFileError(_no_argument(each.name, len(self.loaded.arguments)))
        if self.verdict is not None and options.data and done.result.status is Status.FINISHED:
            said = self.verdict(done)
            errors = (*done.result.errors, *filter(None, [said.wrong]))
            done = replace(done, result=replace(done.result, errors=errors), expected=said.expected)
            done = done.against(said.expected) if said.expected else done
        arrays = {each.name: _as_wanted(done.arrays[each.name], each) for each in wanted}
        return replace(done, arrays={**done.arrays, **arrays})

    def _run_loaded(self, options: RunOptions) -> Run:
        """Run without data if that is asked for and words decide nothing, else with them."""
        try:
            return self.loaded.run(*self.arguments, options=options)
        except MemtileError as error:
            if options.data or not is_of_words(error):
                raise
        done = self.loaded.run(*self.arguments, options=replace(options, data=True))
        return replace(done, result=replace(done.result, words_needed_by=(OF_CORES,)))

    def run(self, options: RunOptions | int | None = None, **more: Unpack[RunKeywords]) -> Result:
        """Run the host sequence."""
        given = RunOptions(max_cycles=options) if isinstance(options, int) else options
        return self.run_once(RunOptions.of(given or RunOptions(), more)).result


def _as_wanted(array: npt.NDArray[Any], wanted: Wanted) -> npt.NDArray[Any]:
    found = array if wanted.dtype is None else np.ascontiguousarray(array).reshape(-1).view(wanted.dtype)
    return found if wanted.shape is None else found.reshape(wanted.shape)


def _no_argument(name: str, many: int) -> Problem:
    says = f"array {name} is no argument: the host sequence has {many or 'none'}"
    return Problem(
        "arguments",
        name,
        f"0..{many - 1}" if many else "none",
        says,
        reason="mlir_arguments",
        where="MLIR design",
        source="mlir-aie: aie.runtime_sequence",
    )
