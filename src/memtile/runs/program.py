"""What is run, and what a run leaves, whatever front end it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.dispatch import Launch
from memtile.errors import DesignError
from memtile.explain.bd_chains import BdChains
from memtile.explain.checks import Check
from memtile.explain.deadlock.planned_words import PlannedWords
from memtile.explain.edge_streams import NO_EDGES, EdgeStreams
from memtile.explain.exchanged_outputs import with_exchanges
from memtile.explain.oddities import NONE_ODD, Oddities
from memtile.explain.results import Result, Status
from memtile.explain.walk_culprits import WalkCulprits
from memtile.explain.word_sources import WordSources
from memtile.explain.wrong_words import with_words, without_followers, wrong_words
from memtile.plain_text import markup_text, printable
from memtile.runs.array_names import Given, Wanted
from memtile.runs.arrays import ExternalArray
from memtile.runs.core_kernels import Kernels
from memtile.runs.live_run import LiveHost
from memtile.runs.machine import HostProgram
from memtile.runs.operation_table import OperationTable

_LONGEST = 400  # characters of a line in a notebook


@dataclass(frozen=True, slots=True)
class Program:
    """What runs on a machine beside what its design has set up already.

    Attributes:
        operations: register writes, polls and waits of a host; None = there are none, the design runs.
        given: arrays for external memory, tile memories and streams.
        wanted: arrays to return at the end.
        kernels: kernel of each core, by column and row of its tile; it runs once the program enables the
            core.
        running: kernels that run already; they restart after a reset of their core.
        programs: kernels that operations load, by number, see ``firmware.PROGRAM``.
        before: a host sequence to run before the operations.
        after: a host sequence to run after them.
        launch: how many of the first operations load the array long before the host begins (DEV-HOST-3).
        launched: the array is loaded already; cores come to where they wait before the host begins.
        said: how the files say that it is launched; None = they do not.
        live: a host that acts from outside meanwhile; then there are no operations, sequences and arrays.
    """

    operations: OperationTable | None = None
    given: Sequence[Given] = ()
    wanted: Sequence[Wanted] = ()
    kernels: Kernels = field(default_factory=dict)
    running: Kernels = field(default_factory=dict)
    programs: Sequence[Kernels] = ()
    before: HostProgram | None = None
    after: HostProgram | None = None
    launch: int = 0
    launched: bool = False
    said: Launch | None = None
    live: LiveHost | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """The outcome of a program.

    Attributes:
        result: of the run, with the cycles of all channels.
        arrays: the requested arrays, by name.
        buffers: external memory as it is at the end.
        stopped: why the program did not finish; empty if it did.
        notes: one line for each array that the program does not use, or that was filled up with zeros.
        launch: the launch method and its reason; None = without firmware.
        oddities: in the text: possible explanations for wrong words.
        expected: arrays that the program itself expected where others came, by name.
    """

    result: Result
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    buffers: Sequence[ExternalArray] = ()
    stopped: str = ""
    notes: Sequence[str] = ()
    launch: Launch | None = None
    oddities: Oddities = NONE_ODD
    expected: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    def explained(self) -> Run:
        """Return the run with the oddities of its text, unless all expected outputs are exact."""
        result = self.result
        finished = result.status is Status.FINISHED and not self.stopped
        findings = self.oddities.before(result.findings, finished=finished)
        if finished and result.exact:
            findings = self.oddities.without(result.findings)
        elif finished:
            findings = self.oddities.causes_first(findings)
        findings = without_followers(findings)
        return (
            self if findings == result.findings else replace(self, result=replace(result, findings=findings))
        )

    def against(self, expected: Mapping[str, npt.NDArray[Any]]) -> Run:
        """Return the run with its arrays compared bit by bit with the expected ones.

        Args:
            expected: by the names of ``arrays``; of the same type, in any shape of the same order.

        Returns:
            The run, with a check in ``result.checks`` and a finding for each array that differs.

        Raises:
            DesignError: an array that the run did not leave, or that has another type.
        """
        checks = [_compared(name, self.arrays.get(name), array) for name, array in expected.items()]
        flat = [(self.arrays[name].reshape(-1), array.reshape(-1)) for name, array in expected.items()]
        return replace(self, result=judged(self.result, with_exchanges(checks, flat))).explained()

    def _repr_html_(self) -> str:
        shapes = ", ".join(f"{name}: {array.dtype} {array.shape}" for name, array in self.arrays.items())
        said = [f"arrays: {shapes}"] if shapes else []
        if self.stopped:
            said.append(f"stopped: {self.stopped}")
        return self.result._repr_html_() + "".join(f"<p>{markup_text(line[:_LONGEST])}</p>" for line in said)

    def __repr__(self) -> str:
        arrays = (f"{name}: {array.dtype} {array.shape}" for name, array in self.arrays.items())
        stopped = f", stopped: {self.stopped}" if self.stopped else ""
        return printable(f"Run({self.result!r}, arrays {{{', '.join(arrays)}}}{stopped})")


def judged(result: Result, checks: Sequence[Check], edges: EdgeStreams = NO_EDGES) -> Result:
    """A result with comparisons, and a finding for each that is not exact.

    Args:
        result: of a run.
        checks: of what it left.
        edges: streams from and to what lies beside the array.
    """
    finished = result.status is Status.FINISHED
    planned = _planned(result) if finished and not all(check.exact for check in checks) else None
    if planned is not None:
        found = wrong_words(checks, WordSources(planned, (), edges), WalkCulprits(planned, edges))
    else:
        found = wrong_words(checks if finished else ())
    findings = with_words(result.findings, tuple(found))
    return replace(result, checks=(*result.checks, *checks), findings=findings)


def _planned(result: Result) -> PlannedWords | None:
    """The descriptors of a run; None where nobody has the model any more."""
    try:
        engine = None if result.kept is None else result.kept.engine()
    except DesignError:
        return None
    return None if engine is None else PlannedWords.of(engine, BdChains(engine))


def _compared(name: str, got: npt.NDArray[Any] | None, expected: npt.NDArray[Any]) -> Check:
    if got is None or got.dtype != expected.dtype:
        given = f"an array of {expected.dtype}" if got is not None else "an array"
        allowed = f"one of {got.dtype}" if got is not None else "the name of an array that the run leaves"
        raise DesignError.of(
            f"expected array {name!r}",
            given,
            allowed,
            reason="expected_array",
            where="run",
            source="arrays of the run",
        )
    title = f"argument {name}" if name.isdecimal() else name
    return Check.compare(
        title, got.reshape(-1), np.ascontiguousarray(expected).reshape(-1), (expected.shape,)
    )


ProgramResult = Run
"""The name that :class:`Run` had before; it goes with the next release."""
